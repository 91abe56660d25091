"""Passes an onnx.ModelProto above 2 GiB to every function that takes one: up to 8 GiB of memory and 6 GiB of disk."""

from __future__ import annotations

import pathlib
import unittest
from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir
from onnx import TensorProto, helper
from sites import spellings
from support import FolderTest, status

import onnxar

SIZE, COUNT = 64 << 20, 35
TENSORS = [f"w{index}" for index in range(COUNT)]


def data_of(index: int) -> np.ndarray:
    return np.full(SIZE // 4, index + 1, np.float32)


def model_over_2_gib() -> onnx.ModelProto:
    """Returns a chain of Add. The tensors are spelled in every way."""
    nodes = [helper.make_node("Add", [f"x{index}", name], [f"x{index + 1}"]) for index, name in enumerate(TENSORS)]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE // 4]) for name in ("x0", f"x{COUNT}")]
    model = helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:]), ir_version=10)
    forms = [tensor for _, tensor in spellings(0)]
    for index, name in enumerate(TENSORS):
        tensor = model.graph.initializer.add()
        tensor.CopyFrom(forms[index % len(forms)])
        tensor.ClearField("dims")
        tensor.dims.append(SIZE // 4)
        tensor.name = name
        tensor.raw_data = data_of(index).tobytes()
    return model


class Over2GiB(FolderTest):
    model: onnx.ModelProto

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = model_over_2_gib()

    @classmethod
    def tearDownClass(cls) -> None:
        del cls.model

    def base(self) -> pathlib.Path:
        path = self.folder / "base.onnxar"
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [])), path)
        return path

    def expect_weights(self, path: pathlib.Path) -> None:
        if path.suffix == ".onnx":
            onnxar.pack(path, path := self.folder / "packed.onnxar", sync=False)
        with onnxar.open(path) as archive:
            self.assertEqual(list(archive), TENSORS)
            for index, array in enumerate(archive.values()):
                self.assertEqual((array[0], array[-1], array.size), (index + 1, index + 1, SIZE // 4))
        self.assertEqual([finding for finding in onnxar.check(path) if finding.severity == "error"], [])

    def edited(self) -> pathlib.Path:
        path = self.base()
        with onnxar.edit(path, sync=False) as e:
            e.model.graph.CopyFrom(self.model.graph)
        return path

    def replaced(self) -> pathlib.Path:
        path = self.base()
        onnxar.replace(path, self.model, sync=False)
        return path

    def written(self, write: Callable[..., object]) -> pathlib.Path:
        write(self.model, self.folder / "m.onnxar", sync=False)
        return self.folder / "m.onnxar"

    def unpacked(self) -> pathlib.Path:
        report = onnxar.unpack(self.model, self.folder / "plain.onnx", external_data="plain.data", sync=False)
        self.assertEqual(report.tensors_outside, COUNT)
        return self.folder / "plain.onnx"

    def with_ir(self) -> pathlib.Path:
        onnxar.save(onnx_ir.from_proto(self.model), self.folder / "m.onnxar", sync=False)
        return self.folder / "m.onnxar"

    def registered(self) -> pathlib.Path:
        onnxar.register()
        onnx.save(self.model, self.folder / "m.onnxar")
        return self.folder / "m.onnxar"

    def test_functions_that_write_an_archive(self):
        one = SIZE + (96 << 20)
        whole = COUNT * SIZE
        # The functions, and the promised memory: that of one tensor, except where others need whole files.
        cases: dict[str, tuple[Callable[[], pathlib.Path], int]] = {
            "save": (lambda: self.written(onnxar.save), one),
            "pack": (lambda: self.written(onnxar.pack), one),
            "freeze": (lambda: self.written(onnxar.freeze), one),
            "onnx_ir": (self.with_ir, one),
            "unpack": (self.unpacked, one),
            "replace": (self.replaced, one),
            "edit": (self.edited, whole + one),  # the message that the edit got
            "register": (self.registered, one),
        }
        for name, (write, memory) in cases.items():
            with self.subTest(name):
                for each in self.folder.iterdir():
                    each.unlink()
                more, path = self.measured(write)
                self.assertLess(more, memory)
                self.expect_weights(path)

    def measured(self, action: Callable[[], pathlib.Path]) -> tuple[int, pathlib.Path]:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = status("VmRSS")
        path = action()
        return status("VmHWM") - before, path

    def test_functions_that_look_at_a_model(self):
        one, parameters = SIZE + (96 << 20), COUNT * SIZE // 4
        cases: dict[str, tuple[Callable[[], object], object]] = {
            "show": (lambda: onnxar.show(self.model).parameters, parameters),
            "dump": (lambda: onnxar.dump(self.model).count("left out here"), COUNT),
            "diff": (lambda: onnxar.diff(self.model, self.model).same, True),
            "pack, dry run": (lambda: onnxar.pack(self.model, self.folder / "none.onnxar", dry_run=True).tensors_outside, COUNT),
        }
        for name, (look, expected) in cases.items():
            with self.subTest(name):
                found: list[object] = []
                more, _ = self.measured(lambda look=look, found=found: found.append(look()))
                self.assertLess(more, one)
                self.assertEqual(found, [expected])
        self.assertEqual(self.names(), set())

    def test_onnx_load_makes_one_copy(self):
        onnxar.register()
        onnxar.save(self.model, self.folder / "m.onnxar", sync=False)
        more, loaded = self.measured(lambda: onnx.load(self.folder / "m.onnxar"))
        self.assertEqual(loaded.graph.initializer[-1].raw_data, self.model.graph.initializer[-1].raw_data)
        self.assertLess(more, 2 * COUNT * SIZE + (512 << 20))  # and the mapped file


if __name__ == "__main__":
    unittest.main()

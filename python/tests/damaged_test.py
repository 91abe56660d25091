"""Archives with one wrong bit in the model, in a graph or in a weight: no call writes it with a new CRC-32, and every
verifying call reports it."""

from __future__ import annotations

import io
import unittest
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper
from support import FolderTest, weights

import onnxar
import onnxar.numpy
import onnxar.onnxruntime

SMALL, LARGE = weights(16, seed=1), weights(512, seed=2)


def made(small: np.ndarray = SMALL) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(small, "small"), numpy_helper.from_array(LARGE, "large")]
    node = helper.make_node("Add", ["x", "small"], ["y"])
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, [16])], [helper.make_tensor_value_info("y", 1, [16])], tensors)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


class Damaged(FolderTest):
    wrong = SMALL
    """The data in which a bit is wrong."""

    def setUp(self) -> None:
        super().setUp()
        self.path, self.output = self.folder / "m.onnxar", self.folder / "out.onnxar"
        for name, model in {"m": made(), "g": made(SMALL * 2)}.items():
            onnx.save(model, self.folder / f"{name}.onnx")
        self.damage()

    def damage(self) -> None:
        onnxar.pack({"m": self.folder / "m.onnx", "g": self.folder / "g.onnx"}, self.path, side_files={"a.json": b"{}"}, overwrite=True)
        data = bytearray(self.path.read_bytes())
        at = data.find(self.wrong.tobytes())
        self.assertGreater(at, 0)
        data[at + 2] ^= 0x40
        self.path.write_bytes(data)
        self.before = bytes(data)

    def edited(self, change: Callable[[onnxar.Edit], object]) -> None:
        with onnxar.edit(self.path) as e:
            change(e)

    def unverified_model(self) -> bytes:
        with onnxar.open(self.path) as archive:
            return bytes(archive.entry("__MODEL_PROTO"))

    def expect_damage_found(self, calls: dict[str, Callable[[], object]], entry: str) -> None:
        for name, call in calls.items():
            with self.subTest(name):
                self.damage()
                error = self.refused("zip.data.crc", call)
                self.assertEqual(error.entry, entry)
                self.assertIn("it was damaged", str(error))
                self.assertEqual(self.path.read_bytes(), self.before)
                self.assertFalse(self.output.exists())


def put_large(e: onnxar.Edit) -> None:
    e["large"] = np.zeros_like(LARGE)


def put_file(e: onnxar.Edit) -> None:
    e.files["b.json"] = b"1"


def put_producer(e: onnxar.Edit) -> None:
    e.model.producer_name = "me"


class OfModel(Damaged):
    def test_no_call_blesses_damaged_model(self):
        replace = onnxar.replace
        self.expect_damage_found(
            {
                "edit of a tensor": lambda: self.edited(put_large),
                "edit of a file": lambda: self.edited(put_file),
                "edit of the model": lambda: self.edited(put_producer),
                "edit that reads": lambda: self.edited(lambda e: e["small"]),
                "edit, dry": lambda: onnxar.edit(self.path, dry_run=True).model,
                "replace, its own bytes": lambda: replace(self.path, self.unverified_model()),
                "replace, side files": lambda: replace(self.path, side_files={"b.json": b"1"}),
                "replace, dry": lambda: replace(self.path, side_files={"b.json": b"1"}, dry_run=True),
                "replace, remove": lambda: replace(self.path, remove=["a.json"]),
                "replace, itself": lambda: replace(self.path, onnxar.open(self.path)),
                "replace, a graph": lambda: replace(self.path, self.folder / "g.onnx", graph="h"),
                "save load_ir": lambda: onnxar.save(onnxar.load_ir(self.path), self.output),
                "save load": lambda: onnxar.save(onnxar.load(self.path), self.output),
                "save path": lambda: onnxar.save(self.path, self.output),
                "save archive": lambda: onnxar.save(onnxar.open(self.path), self.output),
                "save, side files kept": lambda: onnxar.save(made(), self.path, overwrite=True),
                "numpy, side files kept": lambda: onnxar.numpy.save_file({"w": LARGE}, self.path, overwrite=True),
                "pack": lambda: onnxar.pack(self.path, self.output),
                "pack, a family": lambda: onnxar.pack([self.folder / "g.onnx", self.path], self.output),
                "pack, with its side files": lambda: onnxar.save(made(), self.output, keep_side_files=self.path),
                "unpack": lambda: onnxar.unpack(self.path, self.output),
                "repack": lambda: onnxar.repack(self.path, self.output),
                "extract": lambda: onnxar.extract(self.path, "small", self.output),
                "link": lambda: onnxar.link(self.path, self.output),
                "freeze": lambda: onnxar.freeze(self.path, self.output),
                "cat": lambda: onnxar.cat(self.path),
                "cat, by name": lambda: onnxar.cat(self.path, "__MODEL_PROTO"),
                "model": lambda: onnxar.open(self.path).model(),
                "digest": lambda: onnxar.digest(self.path),
                "session": lambda: onnxar.onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"]),
                "verify": lambda: onnxar.open(self.path).verify("__MODEL_PROTO"),
                "load, all": lambda: onnxar.open(self.path).load("*", verify=True),
                "load, the other tensor": lambda: onnxar.open(self.path).load("large", verify=True),
                "consolidate": lambda: onnxar.open(self.path).consolidate(1),
                "consolidate, the other tensor": lambda: onnxar.open(self.path).consolidate(1024),
                "load in memory": lambda: onnxar.load(self.before),
                "load of a file": lambda: onnxar.load(io.BytesIO(self.before)),
            },
            "__MODEL_PROTO",
        )


class OfGraph(Damaged):
    wrong = SMALL * 2

    def test_no_call_blesses_damaged_graph(self):
        self.expect_damage_found(
            {
                "replace, by its bytes": lambda: onnxar.replace(self.path, (self.folder / "g.onnx").read_bytes(), graph="g"),
                "model": lambda: onnxar.open(self.path).graph("g").model(),
                "load_ir": lambda: onnxar.save(onnxar.load_ir(onnxar.open(self.path).graph("g")), self.output),
                "load": lambda: onnxar.load(self.path, graph="g"),
                "load, a tensor": lambda: onnxar.open(self.path).graph("g").load("large", verify=True),
                "consolidate": lambda: onnxar.open(self.path).graph("g").consolidate(1),
                "pack": lambda: onnxar.pack(self.path, self.output),
                "pack, the graph": lambda: onnxar.pack(self.path, self.output, graph="g"),
                "repack": lambda: onnxar.repack(self.path, self.output),
                "link": lambda: onnxar.link(self.path, self.output, graph="g"),
                "extract": lambda: onnxar.extract(self.path, "small", self.output, graph="g"),
                "cat": lambda: onnxar.cat(self.path, "g.onnx"),
                "files of an edit": lambda: self.edited(lambda e: e.files["g.onnx"]),
                "save, side files kept": lambda: onnxar.save(made(), self.path, overwrite=True),
            },
            "g.onnx",
        )

    def test_edit_of_model_leaves_damaged_graph_as_it_is(self):
        self.edited(put_large)
        self.assertEqual([each.entry for each in onnxar.check(self.path, data=True) if each.code == "zip.data.crc"], ["g.onnx"])


class OfWeight(Damaged):
    wrong = LARGE

    def test_no_call_blesses_damaged_weight(self):
        self.expect_damage_found(
            {
                "edit": lambda: self.edited(lambda e: e.put("copy", e["large"] * 2)),
                "save load_ir": lambda: onnxar.save(onnxar.load_ir(self.path), self.output),
                "save load_ir, inside": lambda: onnxar.save(onnxar.load_ir(self.path), self.output, threshold=1 << 20),
                "load": lambda: onnxar.open(self.path).load("large", verify=True),
                "consolidate": lambda: onnxar.open(self.path).consolidate(1),
                "cat": lambda: onnxar.cat(self.path, "large"),
            },
            "large",
        )


if __name__ == "__main__":
    unittest.main()

"""Saving and loading models of onnx, of onnx_ir and of files: all ways make the same archive."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import tracemalloc
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnx_ir
from onnx import TensorProto, helper, numpy_helper
from sites import every_site, every_site_of_ir
from support import FolderTest, arrays_of, matmul_model, weights

import onnxar
import onnxar.numpy
from onnxar import _proto


def by_position(path: pathlib.Path) -> dict[str, bytes]:
    """Returns the data of initializers of 1024 bytes and more, as a reader finds it that ignores the keys of
    external_data."""
    found = {}
    with onnxar.open(path) as archive:
        for tensor in onnx.ModelProto.FromString(archive.model()).graph.initializer:
            if tensor.data_location != TensorProto.EXTERNAL:
                continue
            location, offset, length = (pair.value for pair in tensor.external_data)
            data = bytes(archive.entry(location))[int(offset) :][: int(length)]
            found |= {tensor.name: data} if len(data) >= 1024 else {}
    return found


class Protos(FolderTest):
    def test_the_archive_is_the_one_that_pack_makes(self):
        model = matmul_model()
        onnx.save(model, self.folder / "m.onnx")
        report = onnxar.pack(self.folder / "m.onnx", self.folder / "packed.onnxar")
        saved = onnxar.save(model, self.folder / "saved.onnxar")
        self.assertEqual(saved, dataclasses.replace(report, model_path=self.folder / "saved.onnxar"))
        self.assertEqual((self.folder / "saved.onnxar").read_bytes(), (self.folder / "packed.onnxar").read_bytes())
        self.assertEqual(report.tensors_outside, 2)
        onnxar.save(self.folder / "m.onnx", self.folder / "of_file.onnxar")
        self.assertEqual((self.folder / "of_file.onnxar").read_bytes(), (self.folder / "packed.onnxar").read_bytes())

    def test_what_is_loaded_is_what_was_saved(self):
        model = matmul_model()
        onnxar.save(model, self.folder / "m.onnxar")
        self.assertEqual(onnxar.load(self.folder / "m.onnxar"), model)
        self.assertEqual(onnxar.load((self.folder / "m.onnxar").read_bytes()), model)

    def test_every_site_comes_back(self):
        model = every_site()
        onnxar.save(model, self.folder / "m.onnxar", 16, all_sites=True)
        self.assertEqual(onnxar.load(self.folder / "m.onnxar"), model)
        with onnxar.open(self.folder / "m.onnxar") as archive:
            self.assertEqual(len(archive.entries()) - 1, 8)  # indices never move, nor do small integers

    def test_readers_by_position_find_the_weights(self):
        model = matmul_model()
        path = self.folder / "m.onnxar"
        ways = {
            "onnx": lambda: onnxar.save(model, path, overwrite=True),
            "onnx_ir": lambda: onnxar.save(onnx_ir.from_proto(model), path, overwrite=True),
            "arrays": lambda: onnxar.numpy.save_file(arrays_of(model), path, overwrite=True),
        }
        for way, save in ways.items():
            with self.subTest(way):
                save()
                self.assertEqual(by_position(path), {"w": weights(64, 64).tobytes()})

    def test_unloaded_data_is_read_from_data_dir(self):
        model = matmul_model()
        onnx.save(model, self.folder / "m.onnx", save_as_external_data=True, location="m.data")
        linked = onnx.load(self.folder / "m.onnx", load_external_data=False)
        self.refused("onnx.external_data.missing", onnxar.save, linked, self.folder / "m.onnxar")
        self.assertEqual(self.names(), {"m.onnx", "m.data"})
        onnxar.save(linked, self.folder / "m.onnxar", data_dir=self.folder)
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))

    def test_keys_of_tensors_differ_in_more_than_case(self):
        tensors = [numpy_helper.from_array(weights(512, seed=seed), name) for seed, name in ((1, "a"), (2, "a/"), (3, "A_"))]
        model = helper.make_model(helper.make_graph([], "g", [], [], tensors))
        onnxar.save(model, self.folder / "m.onnxar")
        with onnxar.open(self.folder / "m.onnxar") as archive:
            self.assertEqual([entry.name for entry in archive.entries()][:3], ["a", "a_", "A__2"])
        self.assertEqual(onnxar.load(self.folder / "m.onnxar"), model)

    def test_unknown_types_are_kept(self):
        tensor = TensorProto(name="new", data_type=77, dims=[4], raw_data=bytes(range(200)) * 10)
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        onnxar.save(model, self.folder / "m.onnxar")
        self.assertEqual(onnxar.load(self.folder / "m.onnxar"), model)
        with onnxar.open(self.folder / "m.onnxar") as archive:
            self.refused("usage.argument", archive.tensor, "new")

    def test_damaged_data_is_not_loaded(self):
        path = self.folder / "m.onnxar"
        onnxar.save(matmul_model(), path)
        entry = onnxar.open(path).entries()[1]
        data = bytearray(path.read_bytes())
        data[entry.offset + 3] ^= 4
        self.assertEqual(self.refused("zip.data.crc", onnxar.load, bytes(data)).entry, "w")
        self.assertNotEqual(onnxar.load(bytes(data), verify=False), matmul_model())

    def test_value_that_is_not_a_model_is_named(self):
        for wrong in (None, 3, {}, onnx.TensorProto(), object()):
            error = self.refused("usage.argument", onnxar.save, wrong, self.folder / "m.onnxar")
            self.assertIn(type(wrong).__name__, str(error))
        self.assertEqual(self.names(), set())

    def test_bad_arguments_are_refused_before_writing(self):
        for arguments in ({"alignment": 48}, {"alignment": -1}, {"threshold": -1}, {"checksum": "md5"}, {"side_files": [("a.json", b"")]}):
            self.refused("usage.argument", onnxar.save, matmul_model(), self.folder / "m.onnxar", **arguments)
        self.assertEqual(self.names(), set())

    def test_alignment_is_honoured(self):
        onnxar.save(matmul_model(), self.folder / "m.onnxar", alignment=32768)
        for entry in onnxar.open(self.folder / "m.onnxar").entries():
            self.assertEqual((entry.offset % 32768, entry.alignment), (0, 32768))


class Cancelling(FolderTest):
    def test_progress_ends_at_the_total_and_may_cancel(self):
        seen = []
        onnxar.save(matmul_model(), self.folder / "m.onnxar", progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1][0], seen[-1][1])

        def stop(done: int, total: int) -> None:
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            onnxar.save(matmul_model(), self.folder / "n.onnxar", progress=stop)
        self.assertEqual(self.names(), {"m.onnxar"})

    def test_interrupt_ends_long_work_and_leaves_nothing(self):
        self.write_zeros("m", 256 << 20)
        with self.assertRaises(KeyboardInterrupt):
            self.interrupt_after(0.005)
            onnxar.pack(self.folder / "m.onnx", self.folder / "m.onnxar", sync=False)
        self.assertEqual(self.names(), {"m.onnx", "m.data"})


def ir_model(*makers, dtype=onnx_ir.DataType.FLOAT, shape=(512,)) -> onnx_ir.Model:
    """Returns a model whose weights are computed on demand."""
    values = []
    for index, make in enumerate(makers):
        tensor = onnx_ir.LazyTensor(lambda make=make: onnx_ir.Tensor(make()), dtype=dtype, shape=onnx_ir.Shape(shape),
                                    name=f"w{index}")  # fmt: skip
        values.append(onnx_ir.Value(name=f"w{index}", const_value=tensor, shape=onnx_ir.Shape(shape),
                                    type=onnx_ir.TensorType(dtype)))  # fmt: skip
    graph = onnx_ir.Graph([], [], nodes=[], initializers=values, name="lazy", opset_imports={"": 20})
    return onnx_ir.Model(graph, ir_version=10)


class IrModels(FolderTest):
    def test_a_model_of_onnx_ir_is_saved_as_the_proto_is(self):
        for model in (matmul_model(), every_site_of_ir()):
            ir = onnx_ir.from_proto(model)
            onnxar.save(ir, self.folder / "ir.onnxar", 16, overwrite=True)
            onnxar.save(onnx_ir.to_proto(ir), self.folder / "proto.onnxar", 16, overwrite=True)
            loaded = [onnxar.load(self.folder / name) for name in ("ir.onnxar", "proto.onnxar")]
            self.assertEqual(*loaded)
            entries = [[entry.name for entry in onnxar.open(self.folder / name).entries()] for name in ("ir.onnxar", "proto.onnxar")]
            self.assertEqual(*entries)

    def test_lazy_tensors_are_made_once_and_one_at_a_time(self):
        alive, most, made = 0, 0, 0

        class Tracked(np.ndarray):
            def __del__(self) -> None:
                nonlocal alive
                if self.base is None:
                    alive -= 1

        def make() -> np.ndarray:
            nonlocal alive, most, made
            made, alive = made + 1, alive + 1
            most = max(most, alive)
            array = np.ndarray.__new__(Tracked, (512,), np.float32)
            array[:] = made
            return array

        model = ir_model(*[make] * 5)
        onnxar.save(model, self.folder / "m.onnxar")
        self.assertEqual((made, most), (5, 1))
        with onnxar.open(self.folder / "m.onnxar") as archive:
            self.assertEqual([float(archive[f"w{i}"][0]) for i in range(5)], [1, 2, 3, 4, 5])

    # It is unchanged after an error, too.
    def test_save_leaves_the_model_unchanged(self):
        def fail() -> np.ndarray:
            raise RuntimeError("no such weight")

        model = ir_model(lambda: weights(512), fail)
        tensors = [value.const_value for value in model.graph.initializers.values()]
        with self.assertRaisesRegex(RuntimeError, "no such weight"):
            onnxar.save(model, self.folder / "m.onnxar")
        for value, tensor in zip(model.graph.initializers.values(), tensors, strict=True):
            self.assertIs(value.const_value, tensor)
        self.assertEqual(self.names(), set())

        ir = onnx_ir.from_proto(matmul_model())
        several = [onnx_ir.Tensor(weights(512, seed=seed)) for seed in (1, 2)]
        ir.graph.append(onnx_ir.node("Several", [], {"several": onnx_ir.AttrTensors("several", several)}, domain="mine"))
        attributes = [attribute for node in ir.graph for attribute in node.attributes.values()]
        onnxar.save(ir, self.folder / "m.onnxar")
        for before, after in zip(attributes, (a for node in ir.graph for a in node.attributes.values()), strict=True):
            self.assertIs(before, after)
        node = next(node for node in onnxar.load_ir(self.folder / "m.onnxar").graph if node.op_type == "Several")
        for before, after in zip(several, node.attributes["several"].value, strict=True):
            np.testing.assert_array_equal(before.numpy(), after.numpy())

    def test_weight_of_another_size_than_shape_is_refused(self):
        for wrong in (511, 513):
            self.refused("io.source_size", onnxar.save, ir_model(lambda wrong=wrong: weights(wrong)), self.folder / "m.onnxar")
        self.assertEqual(self.names(), set())

    def test_packed_and_scattered_tensors_round_trip(self):
        integers = np.arange(-8, 7).astype(ml_dtypes.int4)
        tensors = {"packed": onnx_ir.Tensor(integers), "turned": onnx_ir.Tensor(weights(32, 16).T)}
        values = [onnx_ir.Value(name=name, const_value=tensor) for name, tensor in tensors.items()]
        graph = onnx_ir.Graph([], [], nodes=[], initializers=values, name="g", opset_imports={"": 20})
        onnxar.save(onnx_ir.Model(graph, ir_version=10), self.folder / "m.onnxar", 1)
        with onnxar.open(self.folder / "m.onnxar") as archive:
            np.testing.assert_array_equal(archive["turned"], weights(32, 16).T)
            np.testing.assert_array_equal(archive["packed"], integers, strict=True)

    def test_bytes_equal_those_of_onnx_ir_for_every_array(self):
        numbers = np.arange(-100, 100)
        arrays = [numbers.astype(dtype) for dtype in (np.float64, np.int8, np.bool_, np.uint64, np.complex64, ml_dtypes.bfloat16,
                                                      ml_dtypes.float8_e5m2, ml_dtypes.uint4, ml_dtypes.int2)]  # fmt: skip
        tensors = [onnx_ir.Tensor(array, name=f"w{index}") for index, array in enumerate(arrays)]
        tensors.append(onnx_ir.Tensor(numbers.astype(np.uint16), onnx_ir.DataType.BFLOAT16, name="bits"))
        tensors.append(onnx_ir.Tensor(np.asfortranarray(weights(16, 32)), name="by_columns"))
        values = [onnx_ir.Value(name=tensor.name, const_value=tensor) for tensor in tensors]
        graph = onnx_ir.Graph([], [], nodes=[], initializers=values, name="g", opset_imports={"": 20})
        onnxar.save(onnx_ir.Model(graph, ir_version=10), self.folder / "m.onnxar", 1)
        with onnxar.open(self.folder / "m.onnxar") as archive:
            for tensor in tensors:
                self.assertEqual(bytes(archive.entry(tensor.name)), tensor.tobytes(), tensor)

    def test_an_array_is_written_from_where_it_lies(self):
        array = weights(4 << 20)
        model = ir_model(lambda: array, shape=array.shape)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        onnxar.save(model, self.folder / "m.onnxar", sync=False)
        self.assertLess(tracemalloc.get_traced_memory()[1], array.nbytes / 4)
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w0"], array)

    def test_a_program_of_torch_is_saved_by_its_model(self):
        class Program:  # torch.onnx.ONNXProgram has more members, but they are not read; with_torch.py has real ones
            model = onnx_ir.from_proto(matmul_model())

        onnxar.save(Program(), self.folder / "m.onnxar")
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))

    def test_external_tensors_are_copied_from_their_file(self):
        onnx_ir.save(onnx_ir.from_proto(matmul_model()), self.folder / "m.onnx", external_data="m.data")
        onnxar.save(onnx_ir.load(self.folder / "m.onnx"), self.folder / "m.onnxar")
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))


    def linked(self) -> onnx_ir.Model:
        """Returns a model whose data is in the archive m.onnxar, and is read from there when it is written."""
        path = self.folder / "m.onnxar"
        onnxar.save(matmul_model(), path, overwrite=True)
        onnxar.link(path, self.folder / "m.onnx", overwrite=True)
        return onnx_ir.load(self.folder / "m.onnx")

    def expect_data(self, path) -> None:
        expected = {tensor.name: tensor for tensor in tensors_of(matmul_model())}
        found = {tensor.name: tensor for tensor in tensors_of(onnxar.load(path))}
        self.assertEqual(found, expected)

    def test_model_keeps_its_data_in_the_replaced_archive(self):
        for target in ("m.onnxar", "link.onnxar"):
            model = self.linked()
            if target == "link.onnxar":
                (self.folder / target).symlink_to("m.onnxar")
            onnxar.save(model, self.folder / target, alignment=4096, overwrite=True)
            onnxar.save(model, self.folder / "again.onnxar", overwrite=True)
            for saved in ("m.onnxar", "again.onnxar"):
                self.expect_data(self.folder / saved)
            np.testing.assert_array_equal(model.graph.initializers["w"].const_value.numpy(), weights(64, 64))

    def test_link_to_a_rewritten_archive_is_refused(self):
        model, other = self.linked(), self.linked()
        onnxar.save(other, self.folder / "m.onnxar", alignment=4096, overwrite=True)
        before = self.names()
        for target in ("new.onnxar", "m.onnxar"):
            self.refused("onnx.link.stale", onnxar.save, model, self.folder / target, overwrite=True)
        self.assertEqual(self.names(), before)
        self.expect_data(self.folder / "m.onnxar")

    def test_small_external_tensors_are_read_from_file(self):
        model = self.linked()
        (self.folder / "other").mkdir()
        onnxar.save(model, self.folder / "other" / "m.onnxar", 1 << 20)
        self.expect_data(self.folder / "other" / "m.onnxar")
        self.assertEqual(len(onnxar.open(self.folder / "other" / "m.onnxar").entries()), 1)

    def test_message_without_its_data_names_data_dir(self):
        self.linked()
        with self.assertRaises(onnxar.Error) as raised:
            onnxar.save(onnx.load(self.folder / "m.onnx", load_external_data=False), self.folder / "new.onnxar")
        self.assertTrue(raised.exception.message.endswith("name one with data_dir"), raised.exception)


class Registry(FolderTest):
    def test_onnx_saves_and_loads_archives_once_registered(self):
        onnxar.register()
        onnxar.register()
        onnx.save(matmul_model(), self.folder / "m.onnxar")
        self.assertEqual([entry.name for entry in onnxar.open(self.folder / "m.onnxar").entries()][:2], ["scale", "w"])
        self.assertEqual(onnx.load(self.folder / "m.onnxar"), matmul_model())
        lazy = onnx_ir.load(self.folder / "m.onnxar")
        for name, array in arrays_of(matmul_model()).items():
            np.testing.assert_array_equal(lazy.graph.initializers[name].const_value.numpy(), array)
        with self.assertRaises(onnxar.Error):
            onnx.save_tensor(onnx.TensorProto(), self.folder / "t.onnxar")
        (self.folder / "none.onnxar").write_bytes(b"no zip")
        with self.assertRaises(onnxar.Error):
            onnx.load(self.folder / "none.onnxar")


def tensors_of(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [tensor for _, tensor in _proto.placed(model)]


class Reservation(FolderTest):
    """Dims claim more data than the tensor has: no memory is reserved for it, and the error names the tensor."""

    PROGRAM = """
import resource, sys, onnx, onnx_ir, onnxar
from onnx import helper
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))  # the system reserves no more
for elements in (1 << 33, 1 << 40, 1 << 61):
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[elements], raw_data=bytes(4096))
    model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
    ir_model, outside = onnx_ir.from_proto(model), onnx_ir.from_proto(model)
    outside.graph.initializers["w"].const_value = onnx_ir.ExternalTensor(
        "data", None, 4 * elements, onnx_ir.DataType.FLOAT, shape=onnx_ir.Shape([elements]), name="w", base_dir=sys.argv[2])
    for save, model in ((onnxar.save, model), (onnxar.pack, model), (onnxar.save, ir_model), (onnxar.save, outside)):
        try:
            save(model, sys.argv[1])
        except onnxar.Error as error:
            print(error.code)
"""

    def test_claimed_size_is_not_reserved(self):
        (self.folder / "data").write_bytes(bytes(4096))
        program = [sys.executable, "-c", self.PROGRAM, self.folder / "m.onnxar", self.folder]
        done = subprocess.run(program, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["onnx.tensor.length"] * 12), done.stderr)
        self.assertEqual(self.names(), {"data"})

    def test_full_disk_is_believed_after_measuring(self):
        tensor = onnx.TensorProto(name="w", data_type=1, dims=[4096], raw_data=bytes(4096))
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        tries = []

        def use(skeleton: bytes, writer: object) -> None:
            tries.append(len(skeleton))
            raise onnxar._errors.fault("io.disk_full", "no room")

        self.refused("io.disk_full", _proto.with_weights, model, use)
        self.assertLess(tries[0], 1024)
        self.assertGreater(tries[1], 4096)  # the data of a wrong size is in the message, which the library refuses


if __name__ == "__main__":
    unittest.main()

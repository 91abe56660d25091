"""Saving and loading models of onnx, of onnx_ir and of files: all ways give the same archive."""

from __future__ import annotations

import dataclasses
import pathlib
import signal
import tracemalloc
import unittest
from collections.abc import Iterator
from unittest import mock

import ml_dtypes
import numpy as np
import onnx
import onnx_ir
from building import block, number, varint
from google.protobuf.internal import api_implementation
from google.protobuf.message import Message
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest, arrays_of, matmul_model, memory_of, weights

import onnxar
import onnxar.numpy
from onnxar import _proto


def by_position(path: pathlib.Path) -> dict[str, bytes]:
    """The data of initializers of 1024 bytes and more, as a reader finds it that looks at no key of external_data."""
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

    def test_readers_that_take_links_by_position_find_the_weights(self):
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

    def test_data_that_was_not_loaded_is_taken_from_its_folder(self):
        model = matmul_model()
        onnx.save(model, self.folder / "m.onnx", save_as_external_data=True, location="m.data")
        linked = onnx.load(self.folder / "m.onnx", load_external_data=False)
        self.refused("onnx.external_data.missing", onnxar.save, linked, self.folder / "m.onnxar")
        self.assertEqual(self.names(), {"m.onnx", "m.data"})
        onnxar.save(linked, self.folder / "m.onnxar", data_dir=self.folder)
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))

    def test_two_tensors_of_one_name_keep_it_and_get_two_keys(self):
        tensors = [numpy_helper.from_array(weights(512, seed=seed), name) for seed, name in ((1, "a"), (2, "a"), (3, "A"))]
        model = helper.make_model(helper.make_graph([], "g", [], [], tensors))
        onnxar.save(model, self.folder / "m.onnxar")
        with onnxar.open(self.folder / "m.onnxar") as archive:
            self.assertEqual([entry.name for entry in archive.entries()][:3], ["a", "a_2", "A_3"])
        self.assertEqual(onnxar.load(self.folder / "m.onnxar"), model)

    def test_types_that_nobody_knows_yet_are_carried_along(self):
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

    def test_what_is_no_model_is_named(self):
        for wrong in (None, 3, {}, onnx.TensorProto(), object()):
            error = self.refused("usage.argument", onnxar.save, wrong, self.folder / "m.onnxar")
            self.assertIn(type(wrong).__name__, str(error))
        self.assertEqual(self.names(), set())

    def test_bad_arguments_are_refused_before_anything_is_written(self):
        for arguments in ({"alignment": 48}, {"alignment": -1}, {"threshold": -1}, {"checksum": "md5"}, {"side_files": [("a.json", b"")]}):
            self.refused("usage.argument", onnxar.save, matmul_model(), self.folder / "m.onnxar", **arguments)
        self.assertEqual(self.names(), set())

    def test_alignment_is_honoured(self):
        onnxar.save(matmul_model(), self.folder / "m.onnxar", alignment=32768)
        for entry in onnxar.open(self.folder / "m.onnxar").entries():
            self.assertEqual((entry.offset % 32768, entry.alignment), (0, 32768))


class Parts(FolderTest):
    """The data of a message goes to the writer tensor by tensor, and the archive is that of the serialised message."""

    def expect_same(self, model: onnx.ModelProto, **options: object) -> onnxar.ConvertReport:
        before = model.SerializeToString()
        packed = onnxar.save(before, self.folder / "packed", overwrite=True, **options)
        saved = onnxar.save(model, self.folder / "saved", overwrite=True, **options)
        self.assertEqual((self.folder / "saved").read_bytes(), (self.folder / "packed").read_bytes())
        self.assertEqual(model.SerializeToString(), before)
        self.assertEqual([remark.code for remark in saved.remarks], [remark.code for remark in packed.remarks])
        self.assertEqual(dataclasses.replace(saved, remarks=packed.remarks, model_path=packed.model_path), packed)
        return saved

    def test_every_site_gives_the_archive_of_the_serialised_model(self):
        model = every_site(1024)
        for smallest in (1, 1024):
            for options in ({}, {"all_sites": True}, {"threshold": 0, "all_sites": True}, {"threshold": 1 << 30}, {"checksum": "sha1"},
                            {"attributes": False}, {"subgraphs": False}, {"alignment": 4096}):  # fmt: skip
                with self.subTest(smallest=smallest, **options), mock.patch.object(_proto, "LINKED_FROM", smallest):
                    self.expect_same(model, **options)
        self.assertEqual(self.expect_same(model, all_sites=True).tensors_outside, 16)

    def test_every_field_of_a_tensor_is_kept(self):
        model = helper.make_model(helper.make_graph([], "g", [], [], list(tensors_of_all_kinds())))
        for smallest in (1, 1024):
            for threshold in (1, 1024):
                with self.subTest(smallest=smallest, threshold=threshold), mock.patch.object(_proto, "LINKED_FROM", smallest):
                    self.expect_same(model, threshold=threshold)
        self.assertEqual(self.expect_same(model).tensors_outside, 6)

    def test_fields_that_the_schema_lacks_are_kept_at_every_message(self):
        newer = number(9000, 1 << 40) + block(9001, "of a newer onnx") + varint(9002 << 3 | 5) + b"four"
        newer += varint(9003 << 3 | 1) + b"eightful" + number(9000, 7)
        model = every_site(1024)
        count = add_to_every_message(model, newer)
        self.assertGreater(count, 60)
        self.expect_same(model, all_sites=True)
        self.assertEqual(onnxar.load(self.folder / "saved").SerializeToString().count(newer), count)

    @unittest.skipIf(api_implementation.Type() == "python", "it refuses such text when it parses a model")
    def test_text_that_is_not_utf8_is_kept(self):
        tensor = number(1, 512) + number(2, 1) + block(8, b"w\xff") + block(9, bytes(2048)) + block(12, b"doc \xff")
        attribute = block(1, b"value\xff") + block(5, tensor) + number(20, onnx.AttributeProto.TENSOR)
        node = block(1, "x") + block(1, b"\xff") + block(2, b"y\xff") + block(3, b"n\xff") + block(4, "Constant") + block(5, attribute)
        graph = block(1, node) + block(2, b"g\xff") + block(5, tensor)
        data = number(1, 10) + block(2, b"producer \xff") + block(7, graph) + block(8, number(2, 21))
        model = onnx.ModelProto.FromString(data)
        self.assertEqual(self.expect_same(model, all_sites=True).tensors_outside, 2)
        self.assertEqual(onnxar.load(self.folder / "saved").SerializeToString(), data)

    def test_longer_data_than_the_dims_call_for_stays_in_the_model(self):
        model = matmul_model()
        model.graph.initializer.append(TensorProto(name="long", data_type=TensorProto.FLOAT, dims=[300], raw_data=bytes(1201)))
        model.graph.initializer.append(numpy_helper.from_array(weights(1 << 20), "large"))
        report = self.expect_same(model)
        self.assertEqual([remark.code for remark in report.remarks], ["onnx.tensor.long_raw"])
        told: list[tuple[int, int]] = []
        model.graph.initializer[-1].ClearField("raw_data")
        model.graph.initializer[-1].raw_data = bytes((1 << 22) + 4)
        model.graph.initializer.insert(0, numpy_helper.from_array(weights(8 << 20), "first"))
        onnxar.save(model, self.folder / "told", progress=lambda done, total: told.append((done, total)))
        self.assertGreater(len(told), 1)
        self.assertEqual(sorted(set(told)), told)
        self.assertEqual(*told[-1])

    def test_shorter_data_than_the_dims_call_for_is_refused(self):
        model = matmul_model()
        model.graph.initializer[0].raw_data = bytes(64 * 64 * 4 - 1)
        before = model.SerializeToString()
        self.assertIn("w", str(self.refused("onnx.tensor.length", onnxar.save, model, self.folder / "m.onnxar")))
        self.assertEqual((self.names(), model.SerializeToString()), (set(), before))

    def test_a_tensor_at_the_deepest_level_stays_in_the_model(self):
        for levels, outside in ((31, 1), (32, 0)):
            graph = helper.make_graph([helper.make_node("Constant", [], ["c"], value=float_tensor("t", 512))], "g", [], [])
            for _ in range(levels):
                graph = helper.make_graph([helper.make_node("If", ["x"], ["c"], then_branch=graph)], "g", [], [])
            self.assertEqual(self.expect_same(helper.make_model(graph)).tensors_outside, outside)

    def test_a_model_takes_the_memory_of_one_tensor(self):
        size, count = 32 << 20, 8
        data = np.random.default_rng(5).bytes(size)
        tensors = [TensorProto(name=f"w{index}", data_type=TensorProto.UINT8, dims=[size], raw_data=data) for index in range(count)]
        model = helper.make_model(helper.make_graph([], "g", [], [], tensors), ir_version=10)
        del tensors
        self.assertGreater(memory_of(lambda: bytearray(data)), size // 2)
        for kind in (model, onnx_ir.from_proto(model)):
            with self.subTest(type(kind).__module__):
                more = memory_of(lambda kind=kind: onnxar.save(kind, self.folder / "m", sync=False, overwrite=True))
                self.assertLess(more, size + (64 << 20))
        self.assertEqual(bytes(onnxar.open(self.folder / "m").entry(f"w{count - 1}")), data)


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

    def test_an_interrupt_ends_long_work_and_leaves_nothing(self):
        size = 256 << 20
        with (self.folder / "m.data").open("wb") as file:
            file.truncate(size)
        tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size])
        _proto.set_link(tensor, "m.data", size)
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        (self.folder / "m.onnx").write_bytes(model.SerializeToString())

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        with self.assertRaises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            onnxar.pack(self.folder / "m.onnx", self.folder / "m.onnxar", sync=False)
        self.assertEqual(self.names(), {"m.onnx", "m.data"})


def ir_model(*makers, dtype=onnx_ir.DataType.FLOAT, shape=(512,)) -> onnx_ir.Model:
    """A model whose weights are made when they are asked for."""
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

    def test_the_model_is_afterwards_as_it_was_also_after_an_error(self):
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
        attributes = [attribute for node in ir.graph for attribute in node.attributes.values()]
        onnxar.save(ir, self.folder / "m.onnxar")
        for before, after in zip(attributes, (a for node in ir.graph for a in node.attributes.values()), strict=True):
            self.assertIs(before, after)

    def test_a_weight_of_another_size_than_its_shape_is_refused(self):
        for wrong in (511, 513):
            self.refused("io.source_size", onnxar.save, ir_model(lambda wrong=wrong: weights(wrong)), self.folder / "m.onnxar")
        self.assertEqual(self.names(), set())

    def test_packed_and_scattered_tensors_come_out_as_they_are(self):
        integers = np.arange(-8, 7).astype(ml_dtypes.int4)
        tensors = {"packed": onnx_ir.Tensor(integers), "turned": onnx_ir.Tensor(weights(32, 16).T)}
        values = [onnx_ir.Value(name=name, const_value=tensor) for name, tensor in tensors.items()]
        graph = onnx_ir.Graph([], [], nodes=[], initializers=values, name="g", opset_imports={"": 20})
        onnxar.save(onnx_ir.Model(graph, ir_version=10), self.folder / "m.onnxar", 1)
        with onnxar.open(self.folder / "m.onnxar") as archive:
            np.testing.assert_array_equal(archive["turned"], weights(32, 16).T)
            np.testing.assert_array_equal(archive["packed"], integers, strict=True)

    def test_the_bytes_are_those_of_onnx_ir_whatever_the_array_is_like(self):
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
        class Program:  # torch.onnx.ONNXProgram has more, of which nothing is looked at; with_torch.py has real ones
            model = onnx_ir.from_proto(matmul_model())

        onnxar.save(Program(), self.folder / "m.onnxar")
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))

    def test_external_tensors_of_onnx_ir_are_copied_from_their_file(self):
        onnx_ir.save(onnx_ir.from_proto(matmul_model()), self.folder / "m.onnx", external_data="m.data")
        onnxar.save(onnx_ir.load(self.folder / "m.onnx"), self.folder / "m.onnxar")
        np.testing.assert_array_equal(onnxar.open(self.folder / "m.onnxar")["w"], weights(64, 64))


    def linked(self) -> onnx_ir.Model:
        """A model whose data is in the archive m.onnxar, and is read from there when it is written."""
        path = self.folder / "m.onnxar"
        onnxar.save(matmul_model(), path, overwrite=True)
        onnxar.link(path, self.folder / "m.onnx", overwrite=True)
        return onnx_ir.load(self.folder / "m.onnx")

    def expect_data(self, path) -> None:
        expected = {tensor.name: tensor for tensor in tensors_of(matmul_model())}
        found = {tensor.name: tensor for tensor in tensors_of(onnxar.load(path))}
        self.assertEqual(found, expected)

    def test_a_model_whose_data_is_in_the_archive_that_it_replaces_keeps_its_data(self):
        for target in ("m.onnxar", "link.onnxar"):
            model = self.linked()
            if target == "link.onnxar":
                (self.folder / target).symlink_to("m.onnxar")
            onnxar.save(model, self.folder / target, alignment=4096, overwrite=True)
            onnxar.save(model, self.folder / "again.onnxar", overwrite=True)
            for saved in ("m.onnxar", "again.onnxar"):
                self.expect_data(self.folder / saved)
            np.testing.assert_array_equal(model.graph.initializers["w"].const_value.numpy(), weights(64, 64))

    def test_a_model_of_a_link_whose_archive_was_written_anew_is_refused(self):
        model, other = self.linked(), self.linked()
        onnxar.save(other, self.folder / "m.onnxar", alignment=4096, overwrite=True)
        before = self.names()
        for target in ("new.onnxar", "m.onnxar"):
            self.refused("onnx.link.stale", onnxar.save, model, self.folder / target, overwrite=True)
        self.assertEqual(self.names(), before)
        self.expect_data(self.folder / "m.onnxar")

    def test_external_tensors_below_the_threshold_are_read_from_their_file_too(self):
        model = self.linked()
        (self.folder / "other").mkdir()
        onnxar.save(model, self.folder / "other" / "m.onnxar", 1 << 20)
        self.expect_data(self.folder / "other" / "m.onnxar")
        self.assertEqual(len(onnxar.open(self.folder / "other" / "m.onnxar").entries()), 1)

    def test_a_message_without_its_data_names_the_argument_that_helps(self):
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
        self.assertEqual(onnx_ir.to_proto(onnx_ir.load(self.folder / "m.onnxar")).graph.node, matmul_model().graph.node)
        with self.assertRaises(onnxar.Error):
            onnx.save_tensor(onnx.TensorProto(), self.folder / "t.onnxar")
        (self.folder / "none.onnxar").write_bytes(b"no zip")
        with self.assertRaises(onnxar.Error):
            onnx.load(self.folder / "none.onnxar")


def float_tensor(name: str, count: int = 8) -> onnx.TensorProto:
    return numpy_helper.from_array(weights(count, seed=count), name)


def every_site_of_ir(more: int = 0) -> onnx.ModelProto:
    """A tensor at every site that onnx_ir keeps: initializers, attributes, subgraphs, function bodies."""
    inner = helper.make_graph(
        [helper.make_node("Constant", [], ["inner"], value=float_tensor("in_subgraph", 9 + more))], "then", [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, [9])], [float_tensor("initializer_of_subgraph", 10 + more)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Constant", [], ["c"], value=float_tensor("in_attribute", 11 + more)),
        helper.make_node("If", ["condition"], ["d"], then_branch=inner, else_branch=inner),
        helper.make_node("F", [], ["e"], domain="mine"),
    ]
    body = [helper.make_node("Constant", [], ["out"], value=float_tensor("in_function", 12 + more))]
    function = helper.make_function("mine", "F", [], ["out"], body, [helper.make_opsetid("", 20)])
    small = numpy_helper.from_array(np.arange(4, dtype=np.int64), "small_integers")
    condition = numpy_helper.from_array(np.array(True), "condition")
    graph = helper.make_graph(nodes, "sites", [], [], [float_tensor("initializer", 8 + more), small, condition])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, functions=[function], ir_version=10, opset_imports=opsets)


def every_site(more: int = 0) -> onnx.ModelProto:
    """A tensor at every site that a model has. `more` elements are added to all but the small ones."""
    model = every_site_of_ir(more)

    def sparse(name: str) -> onnx.SparseTensorProto:
        made = onnx.SparseTensorProto(values=float_tensor(f"values_{name}", 13 + more), dims=[20 + more])
        made.indices.CopyFrom(numpy_helper.from_array(np.arange(13 + more, dtype=np.int64), f"indices_{name}"))
        return made

    model.graph.sparse_initializer.append(sparse("of_graph"))
    if more:
        several = model.graph.node.add(op_type="Several", domain="mine", doc_string="attributes that few operators have")
        several.attribute.add(name="tensors", type=onnx.AttributeProto.TENSORS).tensors.extend(
            [float_tensor("one", 8 + more), float_tensor("small", 2), float_tensor("two", 9 + more)])  # fmt: skip
        several.attribute.add(name="graphs", type=onnx.AttributeProto.GRAPHS).graphs.extend(
            [model.graph.node[1].attribute[0].g, helper.make_graph([], "empty", [], [])])  # fmt: skip
        several.attribute.add(name="sparse", type=onnx.AttributeProto.SPARSE_TENSOR).sparse_tensor.CopyFrom(sparse("of_node"))
        several.attribute.add(name="sparses", type=onnx.AttributeProto.SPARSE_TENSORS).sparse_tensors.append(sparse("in_list"))
        several.attribute.add(name="text", type=onnx.AttributeProto.STRINGS).strings.extend([b"a", b"\xff"])
        several.attribute.add(name="numbers", type=onnx.AttributeProto.FLOATS).floats.extend([1.5, 2.5])
        training = model.training_info.add()
        training.initialization.initializer.append(float_tensor("in_initialization", 8 + more))
        training.algorithm.node.append(helper.make_node("Constant", [], ["c"], value=float_tensor("in_algorithm", 8 + more)))
        training.initialization_binding.add(key="a", value="b")
        model.metadata_props.add(key="k", value="v")
    return model


def tensors_of_all_kinds() -> Iterator[TensorProto]:
    """Raw data with and without each other field, in and out of order, and values in every typed field."""
    raw = {"data_type": TensorProto.FLOAT, "dims": [512], "raw_data": weights(512).tobytes()}
    yield TensorProto(name="plain", **raw)
    described = TensorProto(name="described", doc_string="what it is", **raw)
    described.metadata_props.add(key="k", value="v")
    yield described
    yield TensorProto(**raw)
    yield TensorProto(name="said_to_be_inside", data_location=TensorProto.DEFAULT, **raw)
    yield TensorProto(name="packed", data_type=TensorProto.INT4, dims=[3, 1001], raw_data=bytes(1502))
    yield TensorProto(name="of_a_new_type", data_type=77, dims=[512], raw_data=bytes(2048))
    yield TensorProto(name="part", segment=TensorProto.Segment(begin=0, end=512), **raw)
    yield TensorProto(name="twice", float_data=[1.0] * 512, **raw)
    yield TensorProto(name="empty", data_type=TensorProto.FLOAT, dims=[0], raw_data=b"")
    for data_type, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.INT64, np.int64), (TensorProto.INT8, np.int8),
                             (TensorProto.DOUBLE, np.float64), (TensorProto.UINT64, np.uint64)):  # fmt: skip
        yield helper.make_tensor(f"typed_{data_type}", data_type, [30], np.arange(30).astype(dtype))
    yield helper.make_tensor("strings", TensorProto.STRING, [2], [b"a" * 2000, b"\xff"])


def tensors_of(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [tensor for _, tensor in _proto.placed(model)]


def add_to_every_message(message: Message, fields: bytes) -> int:
    """Adds fields to a message and those in it, and returns how many there are."""
    count = 1
    for field, value in message.ListFields():
        if field.message_type is not None:
            several = value if hasattr(value, "extend") else [value]
            count += sum(add_to_every_message(each, fields) for each in several)
    message.MergeFromString(fields)
    return count


if __name__ == "__main__":
    unittest.main()

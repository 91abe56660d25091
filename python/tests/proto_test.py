"""A message in memory is saved tensor by tensor, as the archive of the serialised message."""

from __future__ import annotations

import dataclasses
import io
import unittest
from unittest import mock

import numpy as np
import onnx
import onnx_ir
from building import block, number, varint
from google.protobuf.internal import api_implementation
from google.protobuf.message import Message
from onnx import TensorProto, helper, numpy_helper
from sites import every_site, float_tensor, plain, spellings, tensors_of_all_kinds
from support import FolderTest, matmul_model, memory_of, weights

import onnxar
from onnxar import _core, _proto


class Parts(FolderTest):
    def expect_same(self, model: onnx.ModelProto, **options: object) -> onnxar.ConvertReport:
        before = model.SerializeToString()
        packed = onnxar.save(before, self.folder / "packed", overwrite=True, **options)
        saved = onnxar.save(model, self.folder / "saved", overwrite=True, **options)
        self.assertEqual((self.folder / "saved").read_bytes(), (self.folder / "packed").read_bytes())
        self.assertEqual(model.SerializeToString(), before)
        self.assertEqual([remark.code for remark in saved.remarks], [remark.code for remark in packed.remarks])
        self.assertEqual(dataclasses.replace(saved, remarks=packed.remarks, model_path=packed.model_path, reencoded=packed.reencoded), packed)
        return saved

    def test_every_site_is_saved_as_its_serialised_model(self):
        model = every_site(1024)
        for smallest in (1, 1024):
            for options in ({}, {"all_sites": True}, {"threshold": 0, "all_sites": True}, {"threshold": 1 << 30}, {"checksum": "sha1"},
                            {"attributes": False}, {"subgraphs": False}, {"alignment": 4096}):  # fmt: skip
                with self.subTest(smallest=smallest, **options), mock.patch.object(_proto, "LARGE_FROM", smallest):
                    self.expect_same(model, **options)
        self.assertEqual(self.expect_same(model, all_sites=True).tensors_outside, 16)

    def test_leaves_every_spelling_to_the_writer(self):
        for spelling, tensor in spellings(512):
            with self.subTest(spelling):
                model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
                model.graph.node.append(helper.make_node("Constant", [], ["c"], value=tensor))
                self.assertLess(len(_proto.skeleton(model, _core.ModelWriter())), 1024)
                self.assertEqual(self.expect_same(model).tensors_outside, 2)
                loaded = onnxar.load(self.folder / "saved").graph.initializer[0]
                self.assertEqual(loaded.SerializeToString(), plain(tensor).SerializeToString())

    def test_inline_data_keeps_no_old_link(self):
        tensors = [tensor for _, tensor in spellings(512)]
        model = helper.make_model(helper.make_graph([], "g", [], [], tensors))
        onnxar.save(model, self.folder / "m.onnxar", threshold=1 << 20)
        inside = onnxar.load(self.folder / "m.onnxar").graph.initializer
        self.assertEqual([plain(each).SerializeToString() for each in inside], [plain(each).SerializeToString() for each in tensors])
        self.assertFalse([each for each in inside if each.external_data or each.data_location != TensorProto.DEFAULT])

    def test_refuses_data_inside_and_outside(self):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[512], raw_data=bytes(2048), data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="w.data")
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        for save in (lambda: onnxar.save(model), lambda: onnxar.save(model.SerializeToString()), lambda: onnxar.pack(model, self.folder / "m")):
            self.refused("onnx.external.data_beside", save)
        self.refused("onnx.external_data.missing", lambda: onnxar.freeze(model, self.folder / "m"))  # looks for the data first

    def test_pieces_equal_the_serialised_model(self):
        models = [every_site(1024), helper.make_model(helper.make_graph([], "g", [], [], list(tensors_of_all_kinds())))]
        models[0].graph.initializer.extend(tensor for _, tensor in spellings(512))
        add_to_every_message(models[0], number(9000, 1))
        for model in models:
            for smallest in (1, 1024, 1 << 40):
                with mock.patch.object(_proto, "LARGE_FROM", smallest):
                    _proto.write(model, file := io.BytesIO())
                    self.assertEqual(file.getvalue(), model.SerializeToString(), smallest)

    def test_dry_runs_find_wrong_sizes(self):
        path = self.folder / "m.onnxar"
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [])), path)
        for size, code in ((2047, "onnx.tensor.length"), (2049, None)):
            tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[512], raw_data=bytes(size))
            model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
            for call in (lambda dry: onnxar.pack(model, self.folder / "new.onnxar", dry_run=dry), lambda dry: onnxar.replace(path, model, dry_run=dry),
                         lambda dry: onnxar.unpack(model, self.folder / "new.onnx", dry_run=dry)):  # fmt: skip
                if code:
                    self.refused(code, call, True)
                    self.refused(code, call, False)
                else:
                    self.assertEqual(call(True).remarks, call(False).remarks)

    def test_strings_in_raw_data_stay_in_the_model(self):
        tensor = TensorProto(name="w", data_type=TensorProto.STRING, dims=[512], raw_data=bytes(2048))
        self.expect_same(helper.make_model(helper.make_graph([], "g", [], [], [tensor])))

    def test_replace_takes_tensor_by_tensor(self):
        path, model = self.folder / "m.onnxar", matmul_model()
        for tensor in model.graph.initializer:
            tensor.data_location = TensorProto.DEFAULT
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [])), path)
        with mock.patch.object(_proto, "skeleton", wraps=_proto.skeleton) as used:
            onnxar.replace(path, model, graph="further")
            onnxar.replace(path, model)
        self.assertEqual(used.call_count, 2)
        with onnxar.open(path) as archive:
            self.assertEqual(set(archive), set(archive.graph("further")))
            self.assertEqual([entry.name for entry in archive.entries()][:2], ["scale", "w"])

    def test_edit_takes_data_out_of_its_message(self):
        path = self.folder / "m.onnxar"
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [])), path)
        for expected in (1, None):
            with onnxar.edit(path) as e:
                if expected:
                    e.model.graph.initializer.append(next(tensor for name, tensor in spellings(512) if name == "described"))
                else:
                    self.assertFalse(e.model.graph.initializer[0].raw_data)
            self.assertEqual(e.report and e.report.entries_added, expected)

    def test_file_without_weights_has_holes(self):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 20], raw_data=b"abcd" * (1 << 20))
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        _proto.write(model, file := io.BytesIO(), weights=False)
        tensor.raw_data = bytes(4 << 20)
        self.assertEqual(file.getvalue(), helper.make_model(helper.make_graph([], "g", [], [], [tensor])).SerializeToString())

    def test_every_field_of_a_tensor_is_kept(self):
        model = helper.make_model(helper.make_graph([], "g", [], [], list(tensors_of_all_kinds())))
        for smallest in (1, 1024):
            for threshold in (1, 1024):
                with self.subTest(smallest=smallest, threshold=threshold), mock.patch.object(_proto, "LARGE_FROM", smallest):
                    self.expect_same(model, threshold=threshold)
        self.assertEqual(self.expect_same(model).tensors_outside, 6)

    def test_unknown_fields_are_kept_in_every_message(self):
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

    def test_data_longer_than_its_dims_stays_in_model(self):
        model = matmul_model()
        model.graph.initializer.append(TensorProto(name="long", data_type=TensorProto.FLOAT, dims=[300], raw_data=bytes(1201)))
        model.graph.initializer.append(numpy_helper.from_array(weights(1 << 20), "large"))
        report = self.expect_same(model)
        self.assertEqual([remark.code for remark in report.remarks], ["onnx.tensor.long_raw"])
        reports: list[tuple[int, int]] = []
        model.graph.initializer[-1].ClearField("raw_data")
        model.graph.initializer[-1].raw_data = bytes((1 << 22) + 4)
        model.graph.initializer.insert(0, numpy_helper.from_array(weights(8 << 20), "first"))
        onnxar.save(model, self.folder / "reports", progress=lambda done, total: reports.append((done, total)))
        self.assertGreater(len(reports), 1)
        self.assertEqual(sorted(set(reports)), reports)
        self.assertEqual(*reports[-1])

    def test_data_shorter_than_its_dims_is_refused(self):
        model = matmul_model()
        model.graph.initializer[0].raw_data = bytes(64 * 64 * 4 - 1)
        before = model.SerializeToString()
        self.assertIn("w", str(self.refused("onnx.tensor.length", onnxar.save, model, self.folder / "m.onnxar")))
        self.assertEqual((self.names(), model.SerializeToString()), (set(), before))

    def test_tensor_at_the_deepest_level_stays_in_model(self):
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

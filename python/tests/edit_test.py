"""Edits of an archive in place: tensors, graph and side files in one step, or nothing."""

from __future__ import annotations

import sys
import unittest
import unittest.mock

import ml_dtypes
import numpy as np
import onnx
from building import archive, head, linked, model
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest, matmul_model, weights

import onnxar
import onnxar.numpy
from onnxar import _proto


class EditTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"
        onnxar.save(matmul_model(), self.path, side_files={"old.json": b"old"})
        self.before = self.path.read_bytes()

    def assert_unchanged(self) -> None:
        self.assertEqual(self.path.read_bytes(), self.before)


class Edits(EditTest):
    def test_tensor_graph_and_files_change_in_one_edit(self):
        with onnxar.edit(self.path) as e:
            e["w"] = e["w"] * 2
            e.model.producer_name = "me"
            e.files["tokenizer.json"] = b"{}"
            del e.files["old.json"]
        self.assertEqual({finding.severity for finding in onnxar.check(self.path, data=True)}, {"note"})
        with onnxar.open(self.path) as archive:
            np.testing.assert_array_equal(archive["w"], weights(64, 64) * 2, strict=True)
            np.testing.assert_array_equal(archive["b"], weights(64, seed=8), strict=True)
            self.assertEqual(archive.side_files(), ["tokenizer.json"])
            self.assertEqual(bytes(archive.entry("tokenizer.json")), b"{}")
        self.assertEqual(onnxar.load(self.path).producer_name, "me")
        self.assertEqual((e.report.entries_added, e.report.bytes_added), (2, 64 * 64 * 4 + 2))
        onnxar.undo(self.path)
        self.assert_unchanged()

    def test_edit_keeps_old_bytes_and_their_views(self):
        with onnxar.open(self.path) as archive:
            view = archive["w"]
            with onnxar.edit(self.path) as e:
                inside = e["w"]
                e["w"] = np.zeros((64, 64), np.float32)
                self.assertEqual(e["w"].sum(), 0)
            for old in (view, inside, archive["w"]):
                np.testing.assert_array_equal(old, weights(64, 64))
        self.assertTrue(self.path.read_bytes().startswith(self.before[: e.report.file_bytes_before // 2]))

    def test_an_exception_in_the_block_changes_nothing(self):
        with self.assertRaises(ZeroDivisionError), onnxar.edit(self.path) as e:
            e["w"] = np.zeros((64, 64), np.float32)
            e.files["new.json"] = b"new"
            1 / 0  # noqa: B018
        self.assert_unchanged()
        self.assertIsNone(e.report)

    def test_added_graph_shares_the_weights(self):
        with onnxar.edit(self.path) as e:
            other = onnx.ModelProto()
            other.CopyFrom(e.model)
            other.producer_name = "other"
            e.add_graph("decoder", other)
            e.add_graph("bytes.onnx", other.SerializeToString())
            e.add_graph("unet/model", other)
        self.assertEqual({finding.severity for finding in onnxar.check(self.path, data=True)}, {"note"})
        for name in ("decoder", "bytes", "unet/model"):
            with onnxar.open(self.path) as archive:
                np.testing.assert_array_equal(archive.graph(name)["w"], weights(64, 64), strict=True)
            self.assertEqual(onnxar.load(self.path, graph=name).producer_name, "other")
        with onnxar.edit(self.path) as e:
            other.producer_name = "again"
            e.add_graph("decoder", other)
        self.assertEqual(onnxar.load(self.path, graph="decoder").producer_name, "again")
        for _ in range(2):
            onnxar.undo(self.path)
        self.assert_unchanged()

    def test_graph_goes_into_a_folder(self):
        with onnxar.edit(self.path) as e:
            e.add_graph("unet/model", e.model)
        self.assertEqual(onnxar.load(self.path, graph="unet/model").graph.initializer[0].name, onnxar.load(self.path).graph.initializer[0].name)

    def test_graph_is_a_model_or_its_bytes(self):
        with onnxar.edit(self.path) as e:
            e.add_graph("buffer", bytearray(e.model.SerializeToString()))
            for wrong in (None, "model", e.model.graph):
                with self.assertRaisesRegex(onnxar.ArgumentError, f"not {type(wrong).__name__}"):
                    e.add_graph("wrong", wrong)
        self.assertEqual(onnxar.open(self.path).graphs(), ["buffer.onnx"])

    def test_graph_with_new_data_is_for_a_further_edit(self):
        with onnxar.edit(self.path) as e:
            e.put("added", np.ones(512, np.float32))
            with self.assertRaisesRegex(onnxar.ArgumentError, "its tensor 'added' was set in this block"):
                e.add_graph("copy", e.model)
        with onnxar.edit(self.path) as e:
            e.add_graph("copy", e.model)
        with onnxar.open(self.path) as archive:
            np.testing.assert_array_equal(archive.graph("copy")["added"], np.ones(512, np.float32))

    def test_graph_needs_a_name(self):
        with onnxar.edit(self.path) as e:
            for name in ("", ".onnx", "a/", "a/.onnx"):
                with self.assertRaises(onnxar.ArgumentError):
                    e.add_graph(name, e.model)
        self.assert_unchanged()

    def test_graph_that_names_no_entry_changes_nothing(self):
        with self.assertRaises(onnxar.Error) as raised, onnxar.edit(self.path) as e:
            e.add_graph("bad", model(linked("w", 64, 64, location="nowhere", length=16384)))
        self.assertEqual(raised.exception.code, "onnx.external_data.missing")
        self.assert_unchanged()

    def test_an_error_in_the_step_changes_nothing(self):
        with self.assertRaises(onnxar.Error) as raised, onnxar.edit(self.path) as e:
            e["w"] = np.zeros((64, 64), np.float32)
            tensor = e.model.graph.initializer.add(name="lost", data_type=TensorProto.FLOAT, dims=[512])
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="nowhere")
        self.assertEqual(raised.exception.code, "onnx.external_data.missing")
        with self.assertRaises(FileNotFoundError), onnxar.edit(self.path) as e:
            e["w"] = np.zeros((64, 64), np.float32)
            e.files["new.json"] = self.folder / "none"
        self.assert_unchanged()

    def test_an_edit_without_changes_writes_nothing(self):
        with onnxar.edit(self.path) as e:
            self.assertEqual(e.model.graph.name, "matmul")
            self.assertEqual(e["w"].shape, (64, 64))
        self.assertIsNone(e.report)
        self.assert_unchanged()

    def test_a_dry_run_reports_and_writes_nothing(self):
        with onnxar.edit(self.path, dry_run=True) as e:
            e["w"] = np.zeros((64, 64), np.float32)
        self.assertEqual(e.report.bytes_added, 64 * 64 * 4)
        self.assert_unchanged()

    def test_edit_of_model_without_entries_discards_states(self):
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [], [numpy_helper.from_array(weights(3), "w")])),
                    self.path, overwrite=True, keep_side_files=False)  # fmt: skip
        for dry_run in (True, False):
            with onnxar.edit(self.path, dry_run=dry_run) as e:
                e["w"] = weights(3, seed=2)
            self.assertTrue(e.report.discards_states)
        error = self.refused("usage.nothing_to_undo", onnxar.undo, self.path)
        self.assertIn("the edit kept no entry in place and rewrote the file", str(error))
        self.path.write_bytes(self.before)
        with onnxar.edit(self.path) as e:
            e["b"] = weights(64)
        self.assertFalse(e.report.discards_states)

    def test_an_edit_that_came_between_is_not_lost(self):
        sizes = iter((32, 48))
        for between in (lambda: onnxar.replace(self.path, side_files={"other.json": b"other"}),
                        lambda: onnxar.save(matmul_model(next(sizes)), self.path, overwrite=True)):  # fmt: skip
            with self.assertRaises(onnxar.FileError) as raised, onnxar.edit(self.path) as e:
                e.model.producer_name = "late"
                between()
                kept = self.path.read_bytes()
            self.assertEqual((raised.exception.code, raised.exception.path), ("io.changed", str(self.path)))
            self.assertEqual(self.path.read_bytes(), kept)
            with self.assertRaises(onnxar.FileError), onnxar.edit(self.path) as e:
                e.files["late.json"] = b"late"
                between()

    def test_two_edits_after_each_other_both_count(self):
        for number in (1, 2):
            with onnxar.edit(self.path) as e:
                e.files[f"{number}.json"] = b"x"
                e["b"] = np.full(64, number, np.float32)
        with onnxar.open(self.path) as archive:
            self.assertEqual(archive.side_files(), ["old.json", "1.json", "2.json"])
            self.assertEqual(archive["b"][0], 2)

    def test_files_are_a_mapping_of_bytes(self):
        (self.folder / "file").write_bytes(b"from a file")
        with onnxar.edit(self.path) as e:
            self.assertEqual(dict(e.files), {"old.json": b"old"})
            e.files["a.json"] = bytearray(b"a")
            e.files["b.json"] = self.folder / "file"
            self.assertEqual(dict(e.files), {"a.json": b"a", "b.json": b"from a file", "old.json": b"old"})
            self.assertEqual(len(e.files), 3)
            del e.files["old.json"], e.files["a.json"]
            self.assertNotIn("old.json", e.files)
            for missing in ("old.json", "none.json"):
                with self.assertRaises(KeyError):
                    del e.files[missing]
            with self.assertRaises(ValueError):
                e.files["c.json"] = 5
        self.assertEqual(onnxar.open(self.path).side_files(), ["b.json"])
        with self.assertRaises(ValueError):
            e.files["late.json"] = b"lost"


class TensorsSet(EditTest):
    def test_missing_name_raises_key_error_with_near_names(self):
        with onnxar.edit(self.path) as e, self.assertRaises(KeyError) as raised:
            e["scal"] = np.zeros(512, np.float32)
        self.assertIn("did you mean 'scale'?", str(raised.exception))

    def test_only_put_changes_type_or_shape(self):
        with onnxar.edit(self.path) as e:
            for array in (np.zeros((64, 64)), np.zeros((64, 63), np.float32), np.zeros(4096, np.float32)):
                with self.assertRaises(ValueError) as raised:
                    e["w"] = array
                self.assertIn("the tensor is FLOAT [64, 64]", str(raised.exception))
            e.put("w", np.ones((3, 5)))
            e.put("new", np.arange(1000, dtype=np.int64))
        with onnxar.open(self.path) as archive:
            np.testing.assert_array_equal(archive["w"], np.ones((3, 5)), strict=True)
            np.testing.assert_array_equal(archive["new"], np.arange(1000), strict=True)

    def test_what_is_not_an_array_is_refused(self):
        with onnxar.edit(self.path) as e:
            for value in ([1.0], 5, None, b"bytes", np.ma.array(weights(64, 64), mask=True)):
                with self.assertRaises(ValueError):
                    e["w"] = value

    def test_a_name_that_no_tensor_can_have_is_refused(self):
        for name in (b"w", None, 5, "", "\udce9"):
            with self.subTest(name), onnxar.edit(self.path) as e, self.assertRaises(onnxar.ArgumentError):
                e.put(name, weights(64, 64))
        self.assert_unchanged()

    def test_many_tensors_anywhere_are_found_by_one_walk(self):
        arrays = {f"k{number}": np.full(300, number, np.float32) for number in range(40)}
        tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
        nodes = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in tensors]
        onnxar.save(helper.make_model(helper.make_graph(nodes, "g", [], [])), self.path, overwrite=True)
        new = {name: -array for name, array in arrays.items()} | {f"new{name}": array for name, array in arrays.items()}
        with unittest.mock.patch.object(_proto, "placed", wraps=_proto.placed) as walked, onnxar.edit(self.path) as e:
            for name, array in new.items():
                e.put(name, array)
        self.assertLess(walked.call_count, 10 * len(arrays))
        with onnxar.open(self.path) as archive:
            self.assertEqual(archive.keys(), new.keys())
            for name, array in archive.items():
                np.testing.assert_array_equal(array, new[name], strict=True)

    def test_new_names_do_not_serialise_the_model_each(self):
        calls: list[str] = []
        with onnxar.edit(self.path) as e:
            self.addCleanup(sys.setprofile, None)
            sys.setprofile(lambda frame, event, function: calls.append(function.__name__) if event == "c_call" else None)
            for number in range(50):
                e.put(f"new{number}", np.full(300, number, np.float32))
            e.put("new7", np.zeros(300, np.float32))
            sys.setprofile(None)
            self.assertGreaterEqual(calls.count("add"), 50)
            self.assertLess(calls.count("SerializeToString"), 3)
            e.model.graph.node.add(op_type="Constant", output=["c"]).attribute.add(
                name="value", type=onnx.AttributeProto.TENSOR, t=numpy_helper.from_array(weights(300), "added_to_the_model"))  # fmt: skip
            e["added_to_the_model"] = weights(300, seed=5)
        with onnxar.open(self.path) as archive:
            self.assertEqual([archive[f"new{number}"][0] for number in (0, 6, 7, 49)], [0, 6, 0, 49])
            np.testing.assert_array_equal(archive["added_to_the_model"], weights(300, seed=5))

    def test_small_empty_and_narrow_arrays_can_be_set(self):
        tensors = [helper.make_tensor("i4", TensorProto.INT4, [3], [1, -2, 3]), numpy_helper.from_array(weights(0, 4), "none"),
                   numpy_helper.from_array(np.float32(5), "scalar"), helper.make_tensor("bf", TensorProto.BFLOAT16, [2], [1, 2])]  # fmt: skip
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [], tensors)), self.path, overwrite=True)
        new = {"i4": np.array([7, -8, 0], ml_dtypes.int4), "none": weights(0, 4), "scalar": np.array(6, np.float32),
               "bf": np.array([3, 4], ml_dtypes.bfloat16)}  # fmt: skip
        with onnxar.edit(self.path) as e:
            for name, array in new.items():
                e[name] = array
        self.assertEqual([finding.severity for finding in onnxar.check(self.path, data=True) if finding.severity == "error"], [])
        with onnxar.open(self.path) as archive:
            for name, array in new.items():
                np.testing.assert_array_equal(archive[name], array, strict=True)

    def test_scattered_big_endian_array_is_stored_whole(self):
        array = np.asfortranarray(weights(64, 64, seed=3)).astype(">f4")
        with onnxar.edit(self.path) as e:
            e["w"] = array
        np.testing.assert_array_equal(onnxar.open(self.path)["w"], weights(64, 64, seed=3))

    def test_tensor_in_a_node_and_moved_one_are_found(self):
        with onnxar.edit(self.path) as e:
            e["scale"] = np.zeros((1, 512), np.float32)
            e.model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["unused"]))
            e["scale"] = np.ones((1, 512), np.float32)
            moved = [onnx.TensorProto.FromString(each.SerializeToString()) for each in e.model.graph.initializer]
            del e.model.graph.initializer[:]
            e.model.graph.initializer.extend(reversed(moved))
            e["b"] = np.ones(64, np.float32)
        loaded = onnxar.load(self.path)
        self.assertEqual([each.name for each in loaded.graph.initializer], ["shape", "b", "w"])
        with onnxar.open(self.path) as archive:
            np.testing.assert_array_equal(archive["b"], np.ones(64, np.float32))
            np.testing.assert_array_equal(archive["scale"], np.ones((1, 512), np.float32))
            np.testing.assert_array_equal(archive["w"], weights(64, 64))

    def test_a_name_that_several_tensors_have_is_refused(self):
        data = np.arange(512, dtype=np.float32).tobytes()
        proto = model(*(linked("same", 512, location=key, length=2048) for key in ("a", "b")), head("x", 0))
        self.path.write_bytes(archive(proto, a=data, b=data[::-1]))
        with onnxar.edit(self.path) as e, self.assertRaises(KeyError) as raised:
            e["same"] = np.zeros(512, np.float32)
        self.assertEqual((raised.exception.code, raised.exception.entry), ("usage.ambiguous_tensor", "same"))

    def test_data_in_the_message_becomes_an_entry(self):
        with onnxar.edit(self.path) as e:
            e.model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights(64, 64, seed=5), "w"))
        self.assertEqual(e.report.entries_added, 1)
        np.testing.assert_array_equal(onnxar.open(self.path)["w"], weights(64, 64, seed=5))

    def test_the_same_data_again_adds_no_entry(self):
        with onnxar.edit(self.path) as e:
            e["w"] = np.array(e["w"])
        self.assertEqual(e.report.entries_added, 0)

    # New weights do not count as expansion.
    def test_many_weights_beside_small_model_are_allowed(self):
        onnxar.numpy.save_file({"w": np.zeros(1, np.float32)}, self.path, overwrite=True)
        with onnxar.edit(self.path) as e:
            for number in range(20):
                e.put(f"w{number}", np.full(100_000, number, np.float32))
        self.assertEqual(e.report.entries_added, 20)


if __name__ == "__main__":
    unittest.main()

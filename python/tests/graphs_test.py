"""Archives of several graphs: all functions keep the graphs, and the weights that only further graphs use."""

from __future__ import annotations

import unittest
import warnings

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper
from support import FolderTest, matmul_model, weights

import onnxar
import onnxar.numpy


def linked(name: str, key: str, count: int) -> TensorProto:
    """Returns a tensor whose data is an entry of the archive."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[count], raw_data=b"")
    external_data_helper.set_external_data(tensor, key, offset=0, length=4 * count)
    tensor.ClearField("raw_data")
    return tensor


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    return helper.make_model(helper.make_graph([], "graph", [], [], tensors), ir_version=10)


class Graphs(FolderTest):
    """`b.onnx` shares `b` with the model, and `own` is its own."""

    def setUp(self) -> None:
        super().setUp()
        self.archive = self.folder / "several.onnxar"
        model = self.folder / "m.onnx"
        onnx.save(matmul_model(512), model)
        own = numpy_helper.from_array(weights(300, seed=3), "own")
        onnx.save(model_of(numpy_helper.from_array(weights(512, seed=8), "b"), own), self.folder / "b.onnx")
        onnxar.pack(self.folder / "b.onnx", self.folder / "b.onnxar")
        keys = {"b": "b", "own": "own"}
        graph = model_of(linked("b", keys["b"], 512), linked("own", keys["own"], 300))
        self.graph = self.written("graph", graph.SerializeToString())
        # A model that has both weights, and then one that leaves the second one to the graph.
        both = matmul_model(512)
        both.graph.initializer.append(own)
        onnx.save(both, model)
        onnxar.pack(model, self.archive, side_files={"b.onnx": self.graph, "t.json": self.written("t", b"{}")},
                    overwrite=True)  # fmt: skip
        onnxar.replace(self.archive, matmul_model(512))

    def written(self, name: str, data: bytes):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def holds_graph(self, path) -> None:
        self.assertTrue(all(finding.severity != "error" for finding in onnxar.check(path, data=True)))
        with onnxar.open(path) as archive:
            self.assertEqual(archive.graphs(), ["b.onnx"])
            self.assertEqual(archive.side_files(), ["t.json"])
            graph = onnx.ModelProto.FromString(bytes(archive.entry("b.onnx")))
            found = {}
            for tensor in graph.graph.initializer:
                info = external_data_helper.ExternalDataInfo(tensor)
                data = archive.resolve(info.location, info.offset or 0, info.length)
                found[tensor.name] = np.frombuffer(data, np.float32)
        np.testing.assert_array_equal(found["b"], weights(512, seed=8))
        np.testing.assert_array_equal(found["own"], weights(300, seed=3))

    def test_archive_lists_graphs_and_their_entries(self):
        with onnxar.open(self.archive) as archive:
            self.assertEqual(archive.graphs(), ["b.onnx"])
            self.assertEqual(archive.side_files(), ["t.json"])
            self.assertEqual(sorted(archive.entries_of_graphs()), ["b", "own"])
            kinds = {entry.name: entry.kind for entry in archive.entries()}
            self.assertEqual((kinds["own"], kinds["b.onnx"], kinds["t.json"]), ("weight", "graph", "side file"))
            self.assertEqual(kinds["__MODEL_PROTO"], "model")
        self.holds_graph(self.archive)

    def test_save_keeps_graphs(self):
        model = onnxar.load(self.archive)
        self.assertEqual(onnxar.save(model, self.archive, overwrite=True).graphs, 1)
        self.holds_graph(self.archive)
        other = self.folder / "other.onnxar"
        onnxar.save(model, other, keep_side_files=self.archive)
        self.holds_graph(other)

    def test_save_file_keeps_graphs_and_shares_weights(self):
        arrays = {"x": weights(512, seed=8), "new": weights(300, seed=4), "own": weights(300, seed=5)}
        onnxar.numpy.save_file(arrays, self.archive, overwrite=True)
        self.holds_graph(self.archive)
        loaded = onnxar.numpy.load_file(self.archive)
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
        with onnxar.open(self.archive) as archive:
            names = [entry.name for entry in archive.entries()]
            self.assertEqual(names, ["new", "own_2", *sorted(["b", "own"], key=names.index), "t.json", "b.onnx",
                                     "__MODEL_PROTO"])  # fmt: skip

    def test_pack_unpack_and_repack_count_graphs(self):
        again = self.folder / "again.onnxar"
        self.assertEqual(onnxar.pack(self.archive, again).graphs, 1)
        self.holds_graph(again)
        onnxar.repack(again, again, overwrite=True)
        self.holds_graph(again)
        self.assertEqual(onnxar.unpack(again, self.folder / "alone.onnx").graphs_left_out, 1)
        onnxar.unpack(again, f"{self.folder}/restored/")
        restored = onnx.load(self.folder / "restored" / "b.onnx")
        self.assertEqual([tensor.name for tensor in restored.graph.initializer], ["b", "own"])

    def test_onnx_load_warns_of_graphs(self):
        onnxar.register()
        onnxar.replace(self.archive, remove=["t.json"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            onnx.load(self.archive)
        self.assertTrue(any("b.onnx" in str(warning.message) for warning in caught))

    def test_replace_puts_files_and_graphs_in_place(self):
        before = self.archive.read_bytes()
        text = self.written("new", b"[1]")
        report = onnxar.replace(self.archive, side_files={"t.json": text})
        self.assertEqual((report.entries_added, report.bytes_added), (1, 3))
        self.assertEqual(self.archive.read_bytes()[: len(before)], before)
        self.holds_graph(self.archive)
        with onnxar.open(self.archive) as archive:
            self.assertEqual(bytes(archive.entry("t.json")), b"[1]")
        edited = matmul_model(512)
        edited.producer_name = "edited"
        onnxar.replace(self.archive, edited, side_files={"c.onnx": self.graph}, remove=["b.onnx"])
        with onnxar.open(self.archive) as archive:
            self.assertEqual(archive.graphs(), ["c.onnx"])
        self.assertEqual(onnxar.load(self.archive), edited)
        for _ in range(2):
            onnxar.undo(self.archive)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_replace_refuses_to_lose_weights_or_do_nothing(self):
        before = self.archive.read_bytes()
        for code, arguments in (
            ("usage.argument", {"remove": ["own"]}),
            ("usage.argument", {"remove": "b.onnx"}),
            ("usage.argument", {}),
            ("usage.no_such_entry", {"remove": ["none"]}),
            ("usage.own_name", {"side_files": {self.archive.name: self.graph}}),
        ):
            self.refused(code, onnxar.replace, self.archive, **arguments)
        self.assertEqual(self.archive.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()

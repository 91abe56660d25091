"""Several models in one archive: packing them, and using one of them by its name."""

from __future__ import annotations

import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from support import FolderTest, weights

import onnxar


def matmul(*, scale: float) -> onnx.ModelProto:
    """y = (x @ table) * scale: all share the table."""
    table = numpy_helper.from_array(weights(64, 64, seed=5), "table")
    factor = numpy_helper.from_array(np.full((64,), scale, np.float32), "factor")
    nodes = [helper.make_node("MatMul", ["x", "table"], ["h"]), helper.make_node("Mul", ["h", "factor"], ["y"])]
    row = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 64])
    graph = helper.make_graph(nodes, "g", [row("x")], [row("y")], [table, factor])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class FamilyTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.models = {"encoder": matmul(scale=2), "decoder": matmul(scale=3)}
        self.files = {name: self.folder / f"{name}.onnx" for name in self.models}
        for name, model in self.models.items():
            onnx.save(model, self.files[name])
        self.archive = self.folder / "family.onnxar"
        self.report = onnxar.pack(list(self.files.values()), self.archive)


class Families(FamilyTest):
    def test_equal_tensors_share_an_entry(self) -> None:
        self.assertEqual((self.report.graphs, self.report.tensors_outside, self.report.payloads), (1, 2, 1))
        (entry,) = (entry for entry in onnxar.ls(self.archive) if entry.name == "table")
        self.assertEqual(entry.graphs, ("__MODEL_PROTO", "decoder.onnx"))

    # The data may be raw or typed.
    def test_large_tensors_are_compared_to_their_end(self) -> None:
        table = weights(9 << 18, seed=9)[1:]  # nearly 9 MiB, whose digests are made in parts
        middle, end = table.copy(), table.copy()
        middle[5 << 18] += 1
        end[-1] += 1
        tensors = {"raw": numpy_helper.from_array(table, "t"), "typed": helper.make_tensor("t", onnx.TensorProto.FLOAT, table.shape, table)}
        tensors |= {"middle": numpy_helper.from_array(middle, "t"), "end": numpy_helper.from_array(end, "t")}
        paths = {}
        for name, tensor in tensors.items():
            graph = helper.make_graph([helper.make_node("Identity", ["t"], ["y"])], "g", [], [helper.make_tensor_value_info("y", 1, table.shape)], [tensor])
            paths[name] = self.folder / f"{name}.onnx"
            onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), paths[name])
        for threads in (1, 2):
            report = onnxar.pack(paths, self.archive, overwrite=True, threads=threads)
            self.assertEqual((report.tensors_outside, report.payloads), (4, 3))

    def test_dict_names_graphs_and_folder_is_packed_whole(self) -> None:
        named = self.folder / "named.onnxar"
        onnxar.pack({"a": self.files["encoder"], "b": self.files["decoder"]}, named)
        with onnxar.open(named) as archive:
            self.assertEqual(archive.graphs(), ["a.onnx", "b.onnx"])
            self.assertEqual([archive.graph(name).model() for name in archive.graphs()], [archive.model(), archive.entry("b.onnx")])
            self.assertEqual(archive.metadata(), {"onnxar.model.name": "a"})
            self.assertIn("graph 'a.onnx'", repr(archive))
            self.assertIn("2 graphs", repr(archive))
            self.assertIn("graph 'b.onnx'", repr(archive.graph("b")))
        export = self.folder / "export"
        export.mkdir()
        (export / "config.json").write_bytes(b"{}")
        for name, path in self.files.items():
            (export / path.name).write_bytes(path.read_bytes())
            self.assertTrue(name)
        onnxar.pack(export, named, overwrite=True)
        with onnxar.open(named) as archive:
            self.assertEqual((archive.graphs(), archive.side_files()), (["decoder.onnx", "encoder.onnx"], ["config.json"]))

    def test_what_cannot_be_packed_together_is_refused(self) -> None:
        for models in ([], {}, {5: self.files["encoder"]}, [5], [self.files["encoder"], self.files["encoder"]], {"a/": self.files["encoder"]}):
            with self.assertRaises(onnxar.ArgumentError):
                onnxar.pack(models, self.folder / "x.onnxar")
        self.assertFalse((self.folder / "x.onnxar").exists())

    def test_one_graph_of_an_open_archive(self) -> None:
        with onnxar.open(self.archive) as archive, archive.graph("decoder") as decoder:
            np.testing.assert_array_equal(decoder["factor"], np.full(64, 3, np.float32))
            np.testing.assert_array_equal(archive["factor"], np.full(64, 2, np.float32))
            self.assertEqual(decoder["table"].ctypes.data, archive["table"].ctypes.data)
            self.assertEqual(decoder.graphs(), ["encoder.onnx", "decoder.onnx"])
            archive.close()
            self.assertEqual(sorted(decoder), ["factor", "table"])
            with self.assertRaises(onnxar.ArgumentError):
                onnxar.unpack(decoder, self.folder / "x.onnx")
        with onnxar.open(self.archive) as archive, self.assertRaises(onnxar.NotFoundError):
            archive.graph("nowhere")

    def test_functions_take_the_name_of_a_graph(self) -> None:
        out = self.folder / "out.onnx"
        onnxar.unpack(self.archive, out, graph="decoder")
        self.assertEqual(out.read_bytes(), self.files["decoder"].read_bytes())
        self.assertEqual(onnxar.load(self.archive, graph="decoder"), self.models["decoder"])
        onnxar.pack(self.archive, self.folder / "one.onnxar", graph="decoder")
        self.assertEqual(onnxar.load(self.folder / "one.onnxar"), self.models["decoder"])
        with open(self.archive, "rb") as file:
            self.assertEqual(onnxar.load(file.read(), graph="decoder"), self.models["decoder"])
        onnxar.extract(self.archive, "factor", self.folder / "f.npy", graph="decoder")
        np.testing.assert_array_equal(np.load(self.folder / "f.npy"), np.full(64, 3, np.float32))

    def test_replace_changes_one_graph(self) -> None:
        onnxar.replace(self.archive, matmul(scale=7), graph="decoder")
        onnxar.replace(self.archive, self.files["encoder"], graph="third")
        for name, scale in (("encoder", 2), ("decoder", 7), ("third", 2)):
            self.assertEqual(onnxar.load(self.archive, graph=name).graph, matmul(scale=scale).graph)
        with self.assertRaises(onnxar.ArgumentError):
            onnxar.replace(self.archive, graph="decoder", remove=["third.onnx"])

    def test_link_of_one_graph(self) -> None:
        path = self.folder / "decoder_link.onnx"
        link = onnxar.link(self.archive, path, graph="decoder")
        self.assertEqual(path.read_bytes(), link.model)
        for linked, expected in zip(onnx.load(path).graph.initializer, self.models["decoder"].graph.initializer, strict=True):
            np.testing.assert_array_equal(numpy_helper.to_array(linked), numpy_helper.to_array(expected))


if __name__ == "__main__":
    unittest.main()

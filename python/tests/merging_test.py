"""Graphs merged from two archives compute with the weights of both, or a warning says that some are missing."""

from __future__ import annotations

import unittest
import warnings

import numpy as np
import onnx
import onnx.compose
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support import FolderTest, weights

import onnxar


def layer(source: str, target: str, seed: int) -> onnx.ModelProto:
    """target = source @ w. All layers have weights of one name and size."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 32]) for name in (source, target)]
    graph = helper.make_graph([helper.make_node("MatMul", [source, "w"], [target])], target, ends[:1], ends[1:],
                              [numpy_helper.from_array(weights(32, 32, seed=seed), "w")])  # fmt: skip
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def merged(first: onnx.GraphProto, second: onnx.GraphProto) -> onnx.GraphProto:
    return onnx.compose.merge_graphs(first, second, [("y", "y")], prefix1="first/", prefix2="second/")


class Merging(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.first, self.second, self.both = (self.folder / f"{name}.onnxar" for name in ("first", "second", "both"))
        onnxar.save(layer("x", "y", 1), self.first)
        onnxar.save(layer("y", "z", 2), self.second)

    def expect_both(self) -> None:
        x = weights(2, 32, seed=3)
        (found,) = ReferenceEvaluator(onnxar.load(self.both)).run(None, {"first/x": x})
        np.testing.assert_allclose(found, x @ weights(32, 32, seed=1) @ weights(32, 32, seed=2), rtol=1e-3, atol=1e-3)

    def test_graphs_of_one_archive_are_merged(self) -> None:
        onnxar.pack({"first": self.first, "second": self.second}, self.both)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with onnxar.edit(self.both) as e:
                second = onnx.ModelProto.FromString(e.files["second.onnx"])
                e.model.graph.CopyFrom(merged(e.model.graph, second.graph))
                del e.files["second.onnx"]
        self.assertEqual((e.report.entries_added, e.report.remarks), (0, []))
        self.expect_both()
        self.assertEqual([each for each in onnxar.check(self.both, data=True) if each.severity != "note"], [])

    def test_equal_weights_of_a_family_are_no_loss(self) -> None:
        onnxar.save(layer("y", "z", 1), self.second, overwrite=True)
        onnxar.pack({"first": self.first, "second": self.second}, self.both)
        with warnings.catch_warnings(), onnxar.edit(self.both) as e:
            warnings.simplefilter("error")
            e.model.graph.CopyFrom(merged(e.model.graph, onnx.ModelProto.FromString(e.files["second.onnx"]).graph))

    def test_graphs_of_two_archives_are_warned_of(self) -> None:
        wrong = onnx.ModelProto.FromString(onnxar.open(self.first).model())
        wrong.graph.CopyFrom(merged(wrong.graph, onnx.ModelProto.FromString(onnxar.open(self.second).model()).graph))
        with self.assertWarnsRegex(UserWarning, 'tensors "first/w" and "second/w" now have the same data'):
            report = onnxar.replace(self.first, wrong)
        self.assertEqual([remark.code for remark in report.remarks], ["archive.entry.shared"])
        onnxar.undo(self.first)
        with self.assertWarnsRegex(UserWarning, "merged from two archives"), onnxar.edit(self.first) as e:
            e.model.CopyFrom(wrong)

    def test_added_graph_of_two_archives_is_warned_of(self) -> None:
        wrong = onnx.ModelProto.FromString(onnxar.open(self.first).model())
        wrong.graph.CopyFrom(merged(wrong.graph, onnx.ModelProto.FromString(onnxar.open(self.second).model()).graph))
        with self.assertWarnsRegex(UserWarning, "merged from two archives"), onnxar.edit(self.first) as e:
            e.add_graph("both", wrong)
        self.assertEqual([remark.code for remark in e.report.remarks], ["archive.entry.shared"])

    def test_checksums_refuse_graph_of_another_archive(self) -> None:
        onnxar.save(layer("x", "y", 1), self.first, checksum="sha1", overwrite=True)
        self.refused("onnx.external_data.checksum", onnxar.replace, self.second, onnxar.open(self.first).model())

    def test_link_to_another_archive_is_refused(self) -> None:
        onnxar.link(self.first, self.folder / "link.onnx")
        self.refused("onnx.external_data.missing", onnxar.replace, self.second, self.folder / "link.onnx")
        self.second.rename(self.first)
        self.refused("onnx.link.stale", onnxar.replace, self.first, self.folder / "link.onnx")


if __name__ == "__main__":
    unittest.main()

"""The printed form of objects fits a screen, in terminals and notebooks."""

from __future__ import annotations

import html.parser
import unittest

import numpy as np
import onnx
from building import archive, head, model
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest, matmul_model, weights

import onnxar
from onnxar import _summary

COLUMNS, LINES = 80, 24


class Page(html.parser.HTMLParser):
    """Collects the text of a page, and the tags that are open at its end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.open, self.said = set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said += data


class Summaries(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"
        onnxar.save(matmul_model(), self.path, side_files={"a.json": b"a"})

    def assert_fits(self, shown: object) -> str:
        text = repr(shown)
        self.assertLessEqual(len(text.splitlines()), LINES, text)
        self.assertLess(max(map(len, text.splitlines())), COLUMNS, text)
        page = Page(shown._repr_html_())
        self.assertEqual(page.open, [])
        self.assertLessEqual(page.tags, {"p", "b", "div", "table", "tr", "th", "td"})
        self.assertLess(len(page.said.splitlines()), 2 * LINES)
        return text

    def test_difference_has_names_and_sites(self):
        changed = matmul_model()
        weight = changed.graph.initializer[0]
        weight.CopyFrom(numpy_helper.from_array(weights(64, 64) + 1, weight.name))
        onnxar.save(changed, self.folder / "changed.onnxar")
        self.assertIn("w (graph.initializer[0])", self.assert_fits(onnxar.diff(self.path, self.folder / "changed.onnxar")))

    def large(self) -> onnx.ModelProto:
        """300 operators of long names, and tensors."""
        nodes = [helper.make_node(f"Operator{'o' * 90}{i}", [f"x{i}"], [f"x{i + 1}"], domain="d" * 50) for i in range(300)]
        tensors = [numpy_helper.from_array(np.zeros(4, np.float32), f"tensor{'t' * 100}{i}") for i in range(300)]
        value = [helper.make_tensor_value_info("x0" + "x" * 100, TensorProto.FLOAT, ["batch" * 20, None, 4])]
        graph = helper.make_graph(nodes, "g" * 200, value * 20, [helper.make_tensor_value_info("x300", TensorProto.FLOAT, None)], tensors)
        return helper.make_model(graph, producer_name="p" * 200)

    def test_an_archive_says_what_is_in_it(self):
        with onnxar.open(self.path) as archive:
            text = repr(archive)
            for part in ("m.onnxar", "4 tensors", "kB", "1 file"):
                self.assertIn(part, text)
            self.assertEqual(len(text.splitlines()), 1)
            page = Page(archive._repr_html_())
            for part in ("w", "FLOAT", "64x64", "scale", "INT64"):
                self.assertIn(part, page.said)
        self.assertIn("(closed)", repr(archive))
        self.assertIn("(closed)", archive._repr_html_())

    def test_a_large_archive_shows_its_first_tensors(self):
        archive = onnxar.open(onnxar.save(self.large()))
        self.assertIn("300 tensors", repr(archive))
        page = Page(archive._repr_html_())
        self.assertIn("... and 284 more", page.said)
        self.assertEqual(page.open, [])

    def test_damaged_archive_prints_its_fault(self):
        broken = onnxar.open(archive(model(head("w", 5), more=b"\xff")))
        self.assertIn("wire.", repr(broken))
        self.assertIn("wire.", broken._repr_html_())

    def test_names_are_escaped(self):
        hostile = "<script>\x1b[2J\n"
        tensor = numpy_helper.from_array(weights(4), hostile)
        archive = onnxar.open(onnxar.save(helper.make_model(helper.make_graph([], hostile, [], [], [tensor]))))
        for shown in (archive, onnxar.show(archive), onnxar.diff(archive, matmul_model())):
            page = Page(shown._repr_html_())
            self.assertNotIn("script", page.tags)
            self.assertNotIn("\x1b", page.said + repr(shown))

    def test_an_inspection_says_what_the_model_is(self):
        text = self.assert_fits(onnxar.show(self.path))
        for part in ("archive", "4,674", "matmul", "x: FLOAT ?x64", "multiply-adds", "MatMul", "Reshape"):
            self.assertIn(part, text)
        self.assert_fits(onnxar.show(self.large()))

    def test_partial_cost_is_none_and_prints_at_least(self):
        graph = matmul_model()
        graph.graph.node.append(helper.make_node("Mystery", ["y"], ["m"], domain="custom"))
        found = onnxar.show(graph)
        self.assertEqual((found.cost.multiply_adds, found.cost.polynomial), (None, None))
        self.assertIn("at least", repr(found))

    def test_a_cost_follows_from_open_dimensions(self):
        found = onnxar.show(self.path)
        self.assertIsNone(found.cost.multiply_adds)
        self.assertIn("4096*x[0] multiply-adds", repr(found))
        polynomial = found.cost.polynomial
        self.assertEqual(polynomial.at({"x[0]": 3, "other": 1}), 3 * 64 * 64)
        for sizes in ({}, {"x[0]": 0}, {"x[0]": 2**31}):
            with self.assertRaises(onnxar.Error) as caught:
                polynomial.at(sizes)
            self.assertEqual(caught.exception.code, "usage.argument")
            self.assertIn("'x[0]'", caught.exception.message)

    def test_named_dimensions_are_bound(self):
        graph = matmul_model()
        graph.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        self.assertIsNone(onnxar.show(graph).cost.multiply_adds)
        bound = onnxar.show(graph, dims={"batch": 3})
        self.assertEqual((bound.cost.multiply_adds, bound.cost.polynomial), (3 * 64 * 64, None))
        self.assertIn("12,288 multiply-adds", repr(bound))

    def test_a_difference_shows_the_first_changes(self):
        self.assertIn("none", self.assert_fits(onnxar.diff(self.path, self.path)))
        other = matmul_model()
        other.producer_name = "other"
        other.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights(64, 64) + 1, "w"))
        text = self.assert_fits(onnxar.diff(self.path, other))
        for part in ("w", "4,096 of 4,096 elements, by up to 1", "producer_name"):
            self.assertIn(part, text)
        self.assertIn("more", self.assert_fits(onnxar.diff(self.path, self.large())))

    def test_a_link_does_not_print_its_model(self):
        link = onnxar.link(self.path)
        text = self.assert_fits(link)
        self.assertIn(f"{len(link.model):,} bytes", text)

    def test_sizes_have_units(self):
        for count, said in ((0, "0 bytes"), (999, "999 bytes"), (26_214_400, "26.2 MB"), (3_100_000_000, "3.1 GB")):
            self.assertEqual(_summary.size(count), said)


if __name__ == "__main__":
    unittest.main()

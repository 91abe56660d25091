"""The cost of models, also of those whose dimensions are bound: `show --dim`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper, shape_inference
from onnx.helper import make_node

from cli.showing import ShowCase
from support import architectures, command_line
from support.command_line import USAGE, ToolCase, run

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Dims = list[Any]


def constant(name: str, values: Any, kind: Any = np.int64) -> TensorProto:
    return numpy_helper.from_array(np.array(values, kind), name)


class Costs(ShowCase):
    """Operator by operator; the numbers are worked out by hand."""

    # Operator, attributes, its input, its weights, and the count.
    COUNTS = (
        ("MatMul", {}, [2, 3], [[3, 5]], 30),
        ("MatMul", {}, [7, 1, 2, 3], [[4, 3, 5]], 7 * 4 * 30),
        ("MatMul", {}, [3], [[3, 5]], 15),
        ("MatMul", {}, [2, 3], [[3]], 6),
        ("MatMul", {}, [3], [[3]], 3),
        ("Gemm", {"transA": 1, "transB": 1}, [3, 2], [[5, 3]], 30),
        ("Conv", {}, [1, 3, 8, 8], [[4, 3, 3, 3]], 4 * 6 * 6 * 27),
        ("Conv", {"group": 3}, [2, 3, 8, 8], [[6, 1, 3, 3]], 2 * 6 * 6 * 6 * 9),
        ("Conv", {"strides": [2, 3], "pads": [1, 0, 1, 0]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 5 * 3 * 9),
        ("Conv", {"dilations": [2, 2]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 25 * 9),
        ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 25 * 9),
        ("Conv", {"auto_pad": "VALID"}, [1, 1, 9], [[1, 1, 3]], 7 * 3),
        ("ConvTranspose", {"strides": [2, 2]}, [1, 8, 5, 5], [[8, 4, 3, 3]], 8 * 25 * 36),
        ("LSTM", {"hidden_size": 5}, [7, 4, 3], [[2, 20, 3], [2, 20, 5]], 7 * 4 * 2 * 20 * 8),
    )

    def test_products_convolutions_and_recurrent_layers(self) -> None:
        for op, attributes, x, given, expected in self.COUNTS:
            with self.subTest(op=op, attributes=attributes, x=x, weights=given):
                initializers = {f"w{i}": dims for i, dims in enumerate(given)}
                node = make_node(op, ["x", *initializers], ["y"], **attributes)
                self.assertEqual(self.cost([node], {"x": x}, initializers), expected)

    def test_shapes_that_nodes_calculate(self) -> None:
        """Flattening with Shape, Gather, Concat and Reshape, as exporters write it."""
        nodes = [
            make_node("Shape", ["x"], ["shape"]),
            make_node("Constant", [], ["zero"], value=helper.make_tensor("", TensorProto.INT64, [], [0])),
            make_node("Gather", ["shape", "zero"], ["batch"]),
            make_node("Constant", [], ["axes"], value_ints=[0]),
            make_node("Unsqueeze", ["batch", "axes"], ["batches"]),
            make_node("Constant", [], ["rest"], value_ints=[-1]),
            make_node("Concat", ["batches", "rest"], ["flat"], axis=0),
            make_node("Reshape", ["x", "flat"], ["y"]),
            make_node("MatMul", ["y", "w"], ["z"]),
        ]
        self.assertEqual(self.cost(nodes, {"x": [2, 3, 4]}, {"w": [12, 5]}), 2 * 12 * 5)

    def test_agreement_with_shape_inference_of_onnx(self) -> None:
        """Each operator between a tensor and a product, whose count then depends on its shape."""
        steps = {
            "Transpose": ([], {"perm": [2, 0, 1]}), "Flatten": ([], {"axis": 2}), "Squeeze": ([[1]], {}),
            "Unsqueeze": ([[0, -1]], {}), "Slice": ([[1, -5], [100, -1], [0, 2], [1, 2]], {}),
            "Pad": ([[0, 0, 1, 2, 0, 3]], {}), "ReduceSum": ([[1]], {"keepdims": 0}), "ReduceMean": ([], {"axes": [0]}),
            "Gather": ([[0, 1, 1]], {"axis": 2}), "Expand": ([[5, 1, 1, 1]], {}), "Reshape": ([[0, -1, 2]], {}),
            "MaxPool": ([], {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}), "GlobalAveragePool": ([], {}),
            "AveragePool": ([], {"kernel_shape": [2], "pads": [1, 0]}), "Softmax": ([], {}), "Identity": ([], {}),
            "Split": ([[2, 4]], {"axis": 0}), "Concat": ([], {"axis": 0}), "Add": ([], {}),
        }  # fmt: skip
        for op, (constants, attributes) in steps.items():
            names = [f"c{i}" for i in range(len(constants))]
            nodes = [
                make_node("Constant", [], [name], value=helper.make_tensor("", TensorProto.INT64, [len(values)], values))
                for name, values in zip(names, constants)
            ]
            outputs = ["y", "other"] if op == "Split" else ["y"]
            nodes += [
                make_node(op, ["x", *names, *(["x"] if op == "Add" else [])], outputs, **attributes),
                make_node("Reshape", ["y", "flat"], ["row"]),
                make_node("MatMul", ["row", "row_t"], ["z"]),
            ]
            nodes.insert(-2, make_node("Constant", [], ["flat"], value_ints=[1, -1]))
            nodes.insert(-1, make_node("Transpose", ["row"], ["row_t"]))
            path = self.save(nodes, {"x": [6, 1, 8]}, opset_imports=[helper.make_opsetid("", 13)])
            inferred = shape_inference.infer_shapes(onnx.load(path), strict_mode=True, data_prop=True)
            [y] = [each for each in inferred.graph.value_info if each.name == "y"]
            elements = math.prod(dim.dim_value for dim in y.type.tensor_type.shape.dim)
            with self.subTest(op=op, elements=elements):
                self.assertGreater(elements, 0)
                self.assertEqual(self.shown(path)["cost"]["multiply_adds"], elements)

    def test_functions_are_counted_at_each_call(self) -> None:
        body = [make_node("MatMul", ["a", "b"], ["c"])]
        function = helper.make_function("f", "Twice", ["a", "b"], ["c"], body, [helper.make_opsetid("", 13)])
        nodes = [
            make_node("Twice", ["x", "w"], ["y"], domain="f"),
            make_node("Twice", ["y", "v"], ["z"], domain="f"),
        ]
        cost = self.cost(nodes, {"x": [2, 3]}, {"w": [3, 4], "v": [4, 5]}, functions=[function])
        self.assertEqual(cost, 2 * 3 * 4 + 2 * 4 * 5)

    def test_subgraphs_count_apart(self) -> None:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        branch = helper.make_graph([make_node("MatMul", ["x", "w"], ["y"])], "b", [], value)
        node = make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
        cost = self.shown(self.save([node], {"c": [], "x": [2, 3]}, {"w": [3, 4]}))["cost"]
        self.assertEqual((cost["multiply_adds"], cost["at_least"], cost["in_subgraphs"]), (None, 0, 48))

    def test_what_is_not_known_is_named_and_not_guessed(self) -> None:
        for op, domain in (("Einsum", ""), ("Magic", "custom")):
            node = make_node(op, ["x"], ["y"], domain=domain)
            self.assertEqual(len(self.cost([node], {"x": [2]})), 1)
            ops = self.shown(self.folder / "m.onnx")["graph"]["ops"]
            self.assertEqual(ops, [{"domain": domain, "op": op, "nodes": 1}])
        self.assertEqual(self.cost([make_node("Relu", ["x"], ["y"])], {"x": [2]}), 0)


class DimsCase(ToolCase):
    def saved(self, nodes: list[NodeProto], inputs: dict[str, tuple[int, Dims]], weights: list[TensorProto]) -> Path:
        values = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()]
        output = helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)
        graph = helper.make_graph(nodes, "g", values, [output], weights)
        return self.write("m.onnx", helper.make_model(graph).SerializeToString())

    def product(self, nodes: list[NodeProto], dims: Dims, weights: list[TensorProto]) -> Path:
        """The model of `h` times a matrix of 4 x 1; `nodes` make `h` of x."""
        last, matrix = make_node("MatMul", ["h", "w"], ["y"]), constant("w", np.zeros((4, 1)), np.float32)
        return self.saved([*nodes, last], {"x": (FLOAT, dims)}, [*weights, matrix])

    def cost(self, path: Path, *dims: str) -> dict[str, Any]:
        options = [word for each in dims for word in ("--dim", each)]
        return json.loads(self.succeeds("show", "--json", path, *options).stdout)["cost"]


class Binding(DimsCase):
    def batches(self) -> Path:
        nodes = [make_node("MatMul", ["x", "w"], ["y"])]
        weights = [constant("w", np.zeros((8, 16)), np.float32)]
        return self.saved(nodes, {"x": (FLOAT, ["batch", "sequence", 8])}, weights)

    def test_named_dimensions_are_bound(self) -> None:
        for given in (("batch=2,sequence=5",), ("batch=2", "sequence=5")):
            self.assertEqual(self.cost(self.batches(), *given)["multiply_adds"], 2 * 5 * 8 * 16)

    def test_a_partial_cost_has_no_number(self) -> None:
        cost = self.cost(self.batches(), "batch=2")
        self.assertIsNone(cost["multiply_adds"])
        self.assertEqual((cost["at_least"], cost["not_known"][0]["op"]), (0, "MatMul"))

    def test_the_summary_says_what_can_be_bound(self) -> None:
        text = self.succeeds("show", self.batches()).stdout.decode()
        self.assertIn("`--dim batch=N,sequence=N` counts for these sizes", text)
        text = self.succeeds("show", self.batches(), "--dim", "batch=1,sequence=1").stdout.decode()
        self.assertNotIn("--dim", text)

    def test_names_with_commas_are_bound(self) -> None:
        nodes = [make_node("MatMul", ["x", "w"], ["y"])]
        dims = ["Max(1, s0)", "a=b,c", 8]
        path = self.saved(nodes, {"x": (FLOAT, dims)}, [constant("w", np.zeros((8, 16)), np.float32)])
        for given in (("Max(1, s0)=2,a=b,c=5",), ("a=b,c=5", "Max(1, s0)=2")):
            self.assertEqual(self.cost(path, *given)["multiply_adds"], 2 * 5 * 8 * 16)

    def test_unnamed_dimension_is_bound_by_its_place(self) -> None:
        nodes = [make_node("MatMul", ["x", "w"], ["y"])]
        path = self.saved(nodes, {"x": (FLOAT, [None, 8])}, [constant("w", np.zeros((8, 4)), np.float32)])
        self.assertEqual(self.cost(path, "x[0]=3")["multiply_adds"], 3 * 8 * 4)

    def test_bound_architecture_costs_as_much_as_the_fixed(self) -> None:
        fixed = self.cost(architectures.bert_base(self.folder / "fixed.onnx", 128))
        bound = self.cost(architectures.bert_base(self.folder / "open.onnx", "length"), "length=128")
        self.assertIsNotNone(fixed["multiply_adds"])
        self.assertEqual(bound, fixed)

    def test_wrong_names_and_sizes_are_refused(self) -> None:
        for given, told in {
            "bach=1": 'no input has the dimension "bach"; there are: "batch", "sequence"',
            "batch": "`batch` is not NAME=SIZE",
            "batch=": "is not NAME=SIZE",
            "batch=x": "is not NAME=SIZE",
            "batch=1x": "is not NAME=SIZE",
            "batch=1,sequence": "`sequence` is not NAME=SIZE",
            "batch=1,": "`` is not NAME=SIZE",
            "batch=-1": "must not be negative",
            "batch=99999999999999999999": "is not NAME=SIZE",
        }.items():
            done = run("show", self.batches(), "--dim", given)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), given)
            self.assertIn(told, done.stderr)


class Inference(DimsCase):
    """Shapes that nodes compute. Each graph ends in a product whose cost shows the shape."""

    def product_after(self, nodes: list[NodeProto], dims: Dims, weights: list[TensorProto], *bound: str) -> Any:
        return self.cost(self.product(nodes, dims, weights), *bound)["multiply_adds"]

    def test_arithmetic_on_shapes(self) -> None:
        for op, size in {"Add": 12, "Sub": 4, "Mul": 32, "Div": 2}.items():
            nodes = [
                make_node("Shape", ["x"], ["s"]),
                make_node("Gather", ["s", "zero"], ["n"], axis=0),
                make_node(op, ["n", "four"], ["m"]),
                make_node("Concat", ["m", "four"], ["shape"], axis=0),
                make_node("ConstantOfShape", ["shape"], ["h"]),
            ]
            found = self.product_after(nodes, ["n"], [constant("zero", [0]), constant("four", [4])], "n=8")
            self.assertEqual(found, size * 4, op)

    def test_a_division_with_a_rest_is_not_guessed(self) -> None:
        nodes = [
            make_node("Shape", ["x"], ["s"]),
            make_node("Div", ["s", "four"], ["m"]),
            make_node("Concat", ["m", "four"], ["shape"], axis=0),
            make_node("ConstantOfShape", ["shape"], ["h"]),
        ]
        self.assertIsNone(self.product_after(nodes, ["n"], [constant("four", [4])], "n=9"))

    def test_resize_by_scales_and_by_sizes(self) -> None:
        scales = constant("scales", [1, 2, 1], np.float32)
        nodes = [make_node("Resize", ["x", "", "scales"], ["h"])]
        self.assertEqual(self.product_after(nodes, [1, "n", 4], [scales], "n=5"), 10 * 4)
        nodes = [make_node("Resize", ["x", "", "", "sizes"], ["h"])]
        self.assertEqual(self.product_after(nodes, [1, "n", 4], [constant("sizes", [1, 7, 4])], "n=5"), 7 * 4)

    def test_fractional_scale_is_not_guessed(self) -> None:
        scales = constant("scales", [1, 1.5, 1], np.float32)
        self.assertIsNone(self.product_after([make_node("Resize", ["x", "", "scales"], ["h"])], [1, "n", 4], [scales], "n=5"))

    def test_range(self) -> None:
        nodes = [
            make_node("Shape", ["x"], ["s"]),
            make_node("Squeeze", ["s"], ["n"]),
            make_node("Range", ["zero", "n", "two"], ["r"]),
            make_node("Unsqueeze", ["r", "last"], ["column"]),
            make_node("Expand", ["column", "wide"], ["h"]),
        ]
        weights = [constant("zero", 0), constant("two", 2), constant("last", [1]), constant("wide", [1, 4])]
        self.assertEqual(self.product_after(nodes, ["n"], weights, "n=7"), 4 * 4)

    def test_pads_as_an_exporter_computes_them(self) -> None:
        nodes = [  # PyTorch: pairs from the last axis on, reversed and transposed
            make_node("Reshape", ["pads", "pairs"], ["p"]),
            make_node("Slice", ["p", "minus", "least", "zero", "minus"], ["q"]),
            make_node("Transpose", ["q"], ["t"], perm=[1, 0]),
            make_node("Reshape", ["t", "minus"], ["flat"]),
            make_node("Pad", ["x", "flat"], ["h"]),
        ]
        weights = [constant("pads", [0, 1, 2, 3]), constant("pairs", [-1, 2]), constant("minus", [-1]),
                   constant("least", [-(2**63) + 1]), constant("zero", [0])]  # fmt: skip
        self.assertEqual(self.product_after(nodes, ["n", 3], weights, "n=5"), (5 + 2 + 3) * 4)

    def test_the_branch_that_runs_counts_as_the_graph(self) -> None:
        def branch(name: str, weight: str) -> Any:
            return helper.make_graph([make_node("MatMul", ["x", weight], [name])], name, [],
                                     [helper.make_tensor_value_info(name, FLOAT, None)])  # fmt: skip

        nodes = [
            make_node("Equal", ["rate", "known"], ["c"]),
            make_node("If", ["c"], ["y"], then_branch=branch("t", "a"), else_branch=branch("e", "b")),
        ]
        products = [constant(name, np.zeros((2, size)), np.float32) for name, size in (("a", 3), ("b", 5))]
        weights = [constant("known", 16000), *products]
        path = self.saved(nodes, {"x": (FLOAT, [1, 2]), "rate": (INT64, [])}, weights)
        self.assertEqual(self.cost(path, "rate=16000")["multiply_adds"], 6)
        self.assertEqual(self.cost(path, "rate=8000")["multiply_adds"], 10)
        self.assertIsNone(self.cost(path)["multiply_adds"])


def value_of(polynomial: dict[str, Any], sizes: dict[str, int]) -> int:
    return sum(
        term["coefficient"] * math.prod(sizes[each["name"]] ** each["power"] for each in term["factors"])
        for term in polynomial["terms"]
    )


class Polynomials(DimsCase):
    """The cost in terms of open dimensions, against the counts for numbers."""

    def polynomial_after(self, nodes: list[NodeProto], dims: Dims, weights: list[TensorProto]) -> tuple[str, Path]:
        """The cost, as `show` prints it, without its label."""
        path = self.product(nodes, dims, weights)
        lines = self.succeeds("show", path).stdout.decode().splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("multiply-adds"))
        text = [line[15:] for line in lines[begin : begin + 3]]
        return "; ".join(text[: next(i for i, each in enumerate(text) if "--dim" in each or i == 2)]), path

    def expect_agreement(self, path: Path, sizes: list[dict[str, int]]) -> None:
        cost = self.cost(path)
        self.assertIsNone(cost["multiply_adds"])
        for each in sizes:
            bound = self.cost(path, *(f"{name}={size}" for name, size in each.items()))
            self.assertEqual(value_of(cost["polynomial"], each), bound["multiply_adds"], each)
            self.assertIsNone(bound["polynomial"])

    def test_a_product(self) -> None:
        text, path = self.polynomial_after([make_node("Relu", ["x"], ["h"])], ["b", None, 4], [])
        self.assertEqual(text, "4*b*x[1]")
        self.expect_agreement(path, [{"b": 1, "x[1]": 1}, {"b": 3, "x[1]": 7}])

    def test_attention_is_quadratic(self) -> None:
        path = architectures.bert_base(self.folder / "open.onnx", "length")
        self.expect_agreement(path, [{"length": 1}, {"length": 128}, {"length": 512}])
        degrees = [sum(each["power"] for each in term["factors"]) for term in self.cost(path)["polynomial"]["terms"]]
        self.assertEqual(degrees, [2, 1])

    def test_shapes_that_nodes_compute(self) -> None:
        """As exporters write a reshape that keeps the batch and merges the rest."""
        nodes = [
            make_node("Shape", ["x"], ["s"]),
            make_node("Gather", ["s", "zero"], ["n"], axis=0),
            make_node("Concat", ["n", "open", "four"], ["shape"], axis=0),
            make_node("Equal", ["shape", "open"], ["c"]),
            make_node("ConstantOfShape", ["three"], ["ones"], value=constant("", [1])),
            make_node("Where", ["c", "ones", "shape"], ["wide"]),
            make_node("Reshape", ["x", "shape"], ["r"]),
            make_node("Expand", ["r", "wide"], ["h"]),
        ]
        weights = [constant("zero", [0]), constant("open", [-1]), constant("four", [4]), constant("three", [3])]
        text, path = self.polynomial_after(nodes, ["b", "t", 8], weights)
        self.assertEqual(text, "8*b*t")
        self.expect_agreement(path, [{"b": 2, "t": 5}])

    def test_windows_restrict_the_sizes(self) -> None:
        nodes = [
            make_node("Conv", ["x", "kernel"], ["c"]),
            make_node("Transpose", ["c"], ["h"], perm=[0, 2, 1]),
        ]
        text, path = self.polynomial_after(nodes, [1, 1, "t"], [constant("kernel", np.zeros((4, 1, 5)), np.float32)])
        self.assertEqual(text, "24*t - 96; for t >= 5")
        self.expect_agreement(path, [{"t": 5}, {"t": 100}])
        self.assertEqual(self.cost(path, "t=3")["multiply_adds"], 0)  # where the polynomial would be negative

    def test_slices_restrict_the_sizes(self) -> None:
        nodes = [
            make_node("Shape", ["x"], ["s"]),
            make_node("Slice", ["table", "zero", "s", "zero"], ["h"]),
        ]
        weights = [constant("zero", [0]), constant("table", np.zeros((512, 4)), np.float32)]
        text, path = self.polynomial_after(nodes, ["t"], weights)
        self.assertEqual(text, "4*t; for t <= 512")
        self.expect_agreement(path, [{"t": 1}, {"t": 512}])
        self.assertEqual(self.cost(path, "t=600")["multiply_adds"], 4 * 512)  # where the polynomial would be too large

    def test_slices_from_the_end_and_to_the_end(self) -> None:
        for start, end, expected in (
            (0, 10**9, "4*t; for t <= 1000000000"),
            (0, 3, "12; for t >= 3"),
            (0, 2**63 - 1, "4*t"), (2, 2**31 - 1, "4*t - 8; for t >= 3"), (2, -1, "4*t - 12; for t >= 4")):
            nodes = [make_node("Slice", ["x", "start", "end", "axis"], ["h"])]
            weights = [constant("start", [start]), constant("end", [end]), constant("axis", [0])]
            text, path = self.polynomial_after(nodes, ["t", 4], weights)
            self.assertEqual(text, expected)
            self.expect_agreement(path, [{"t": 4}, {"t": 9}])

    def test_strides_that_round_are_not_a_polynomial(self) -> None:
        kernel = [constant("kernel", np.zeros((4, 1, 1)), np.float32)]
        nodes = [make_node("Conv", ["x", "kernel"], ["c"], strides=[2]), make_node("Transpose", ["c"], ["h"], perm=[0, 2, 1])]
        text, path = self.polynomial_after(nodes, [1, 1, "t"], kernel)
        self.assertEqual(text.partition(";")[0], "not known")
        self.assertIsNone(self.cost(path)["polynomial"])
        doubled = make_node("Concat", ["x", "x"], ["d"], axis=2)
        nodes[0].input[0] = "d"
        text, path = self.polynomial_after([doubled, *nodes], [1, 1, "t"], kernel)
        self.assertEqual(text, "8*t")
        self.expect_agreement(path, [{"t": 1}, {"t": 7}])

    def test_what_a_squeeze_would_remove_is_excluded(self) -> None:
        text, path = self.polynomial_after([make_node("Squeeze", ["x"], ["h"])], [1, "t", 4], [])
        self.assertEqual(text, "4*t; for t >= 2")
        self.expect_agreement(path, [{"t": 2}])

    def test_one_unknown_operator_leaves_no_polynomial(self) -> None:
        nodes = [make_node("Mystery", ["x"], ["z"], domain="custom"), make_node("Relu", ["x"], ["h"])]
        text, path = self.polynomial_after(nodes, ["t", 4], [])
        self.assertEqual((text.partition(";")[0], self.cost(path)["polynomial"]), ("not known", None))

    def test_unbound_dimensions_stay_in_the_polynomial(self) -> None:
        _, path = self.polynomial_after([make_node("Relu", ["x"], ["h"])], ["b", "t", 4], [])
        polynomial = self.cost(path, "b=3")["polynomial"]
        self.assertEqual(polynomial["terms"], [{"coefficient": 12, "factors": [{"name": "t", "power": 1}]}])
        self.assertEqual(polynomial["sizes"], [{"name": "t", "least": 1, "most": 2**31 - 1}])


if __name__ == "__main__":
    command_line.main()

"""Models that seeds.py writes for targets that look into graphs: layers, subgraphs, functions, faulty graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from onnx import ModelProto, TensorProto, helper

Seeds = Iterator[tuple[str, bytes]]


def value(name: str, *dims: object, kind: int = TensorProto.FLOAT) -> object:
    return helper.make_tensor_value_info(name, kind, dims)


def graph_of(nodes: list, inputs: list, outputs: list, weights: dict[str, tuple[int, ...]] = {}, **more: object) -> bytes:
    """A model whose weights have only shapes."""
    tensors = [helper.make_tensor(name, 1, dims, [0.5] * math.prod(dims)) for name, dims in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors, value_info=more.pop("values", None))
    return helper.make_model(graph, **more).SerializeToString()


def layers() -> Seeds:
    """Nodes with computable shapes and multiply-adds."""
    node, x = helper.make_node, value("x", 1, 3, 8, 8)
    convolution = node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2], group=1)
    yield "conv", graph_of([convolution, node("Relu", ["y"], ["z"])], [x], [value("z", 1, 4, 4, 4)], {"w": (4, 3, 3, 3)})
    pooled = [node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], ceil_mode=1), node("Flatten", ["p"], ["f"], axis=1)]
    yield "pool", graph_of([*pooled, node("Gemm", ["f", "w"], ["y"], transB=1)], [x], [value("y", 1, 5)], {"w": (5, 48)})
    shape = [
        node("Shape", ["x"], ["s"]), node("Constant", [], ["zero"], value=helper.make_tensor("", 7, [1], [0])),
        node("Gather", ["s", "zero"], ["n"]), node("Constant", [], ["rest"], value_ints=[-1]),
        node("Concat", ["n", "rest"], ["flat"], axis=0), node("Reshape", ["x", "flat"], ["y"]),
    ]  # fmt: skip
    yield "shapes", graph_of([*shape, node("MatMul", ["y", "w"], ["z"])], [x], [value("z", 1, 2)], {"w": (192, 2)})
    moved = [node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]), node("Split", ["t"], ["a", "b"], axis=1), node("Squeeze", ["a"], ["q"], axes=[0])]
    yield "moved", graph_of([*moved, node("MatMul", ["q", "b"], ["y"])], [x], [value("y", "n")])
    yield "recurrent", graph_of([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2)], [value("x", 3, 1, 2)], [value("y", "n")], {"w": (1, 8, 2), "r": (1, 8, 2)})
    yield "unknown", graph_of([node("Magic", ["x"], ["y"], domain="odd"), node("Einsum", ["y"], ["z"], equation="ij->ji")], [x], [value("z", None)])


def graphs() -> Seeds:
    """Subgraphs, functions, and faulty graphs."""
    yield from layers()
    node, x, y = helper.make_node, value("x", 2), value("y", 2)
    branch = helper.make_graph([node("Add", ["x", "w"], ["b"]), node("Neg", ["b"], ["dead"])], "b", [], [value("b", 2)])
    condition = node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    yield "subgraphs", graph_of([condition], [x, value("c", kind=TensorProto.BOOL)], [y], {"w": (2,), "unused": (3,)})
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("f", 1), helper.make_opsetid("unused", 1)]
    functions = [
        helper.make_function("f", "Inner", ["a"], ["b"], [node("Gemm", ["a", "a"], ["b"])], opsets),
        helper.make_function("f", "Outer", ["a"], ["b"], [node("Inner", ["a"], ["b"], domain="f")], opsets, ["alpha"]),
        helper.make_function("f", "Unused", ["a"], ["b"], [node("Neg", ["a"], ["b"])], opsets),
    ]
    yield "functions", graph_of([node("Outer", ["x"], ["y"], domain="f")], [x], [y], functions=functions, opset_imports=opsets)
    yield "dead", graph_of([node("Neg", ["x"], ["y"]), node("Mul", ["x", "w"], ["gone"])], [x], [y], {"w": (2,)}, values=[value("gone", 2)])
    yield "cycle", graph_of([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"]), node("Neg", ["b"], ["y"])], [x], [y])
    yield "dangling", graph_of([node("Add", ["x", "gone"], ["y"])], [x], [y])
    yield "markup", graph_of([node("<b>\x1b[31m", ["x"], ["y"], name="</title>&\"'")], [value("x", "<i>")], [y], producer_name="<script>")
    quantized = ModelProto.FromString(graph_of([node("Neg", ["x"], ["y"])], [x], [y], {"scale": (1,)}))
    note = quantized.graph.quantization_annotation.add(tensor_name="y")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    quantized.training_info.add().algorithm.CopyFrom(branch)
    yield "annotated", quantized.SerializeToString()

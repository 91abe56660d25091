"""The models of the interoperability matrix. Each has one input `x` and one output `y`, both float32, and is made of a seed.

All use operator set 17 and IR version 8, which the oldest of the tools know. Weights have at least 1024 bytes, so that
`pack` moves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = helper.make_opsetid("", 17)
IR_VERSION = 8
LARGE_ROWS, LARGE_COLUMNS, LARGE_TABLES = 98_304, 2_048, 3  # of float32: 2.25 GiB


class Maker:
    """Nodes and weights of one graph."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def values(self, *dims: int) -> np.ndarray:
        return (self.random.standard_normal(dims) / np.sqrt(dims[0])).astype(np.float32)

    def tensor(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, name: str, *dims: int) -> str:
        return self.tensor(name, self.values(*dims))

    def node(self, op_type: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [output], **attributes))
        return output

    def model(self, x: list[int], y: list[int], **more: object) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "graph", [value("x", x)], [value("y", y)], self.weights)
        return helper.make_model(graph, opset_imports=more.pop("opset_imports", [OPSET]), ir_version=IR_VERSION, **more)


def value(name: str, dims: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def mlp() -> onnx.ModelProto:
    m = Maker(1)
    hidden = m.node("Relu", [m.node("Gemm", ["x", m.weight("w1", 64, 256), m.weight("b1", 256)], "h")], "r")
    m.node("Gemm", [hidden, m.weight("w2", 256, 32), "b2"], "y")
    m.weight("b2", 32)
    return m.model([1, 64], [1, 32])


def cnn() -> onnx.ModelProto:
    m = Maker(2)
    one = m.node("Relu", [m.node("Conv", ["x", m.weight("k1", 16, 3, 3, 3)], "c1", pads=[1, 1, 1, 1], strides=[1, 1])], "r1")
    small = m.node("MaxPool", [one], "p", kernel_shape=[2, 2], strides=[2, 2])
    two = m.node("Relu", [m.node("Conv", [small, m.weight("k2", 32, 16, 3, 3)], "c2", pads=[1, 1, 1, 1], strides=[1, 1])], "r2")
    flat = m.node("Flatten", [m.node("GlobalAveragePool", [two], "g")], "f")
    m.node("Gemm", [flat, m.weight("w", 32, 16), m.weight("b", 16)], "y")
    return m.model([1, 3, 16, 16], [1, 16])


def transformer() -> onnx.ModelProto:
    """One block with attention of four heads, over 8 positions of 32 numbers."""
    m = Maker(3)
    shape = m.tensor("heads", np.array([1, 8, 4, 8], np.int64))
    flat = m.tensor("flat", np.array([1, 8, 32], np.int64))
    scale = m.tensor("scale", np.array(8**-0.5, np.float32))
    n = m.node("LayerNormalization", ["x", m.weight("g1", 32), m.weight("o1", 32)], "n1")
    heads = {}
    for name, turn in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        line = m.node("MatMul", [n, m.weight(f"w{name}", 32, 32)], f"{name}0")
        heads[name] = m.node("Transpose", [m.node("Reshape", [line, shape], f"{name}1")], name, perm=turn)
    scores = m.node("Mul", [m.node("MatMul", [heads["q"], heads["k"]], "qk"), scale], "scores")
    mixed = m.node("MatMul", [m.node("Softmax", [scores], "s", axis=-1), heads["v"]], "sv")
    joined = m.node("Reshape", [m.node("Transpose", [mixed], "t", perm=[0, 2, 1, 3]), flat], "j")
    a = m.node("Add", ["x", m.node("MatMul", [joined, m.weight("wo", 32, 32)], "o")], "a")
    n = m.node("LayerNormalization", [a, m.weight("g2", 32), m.weight("o2", 32)], "n2")
    up = m.node("Relu", [m.node("MatMul", [n, m.weight("up", 32, 128)], "u")], "ur")
    m.node("Add", [a, m.node("MatMul", [up, m.weight("down", 128, 32)], "d")], "y")
    return m.model([1, 8, 32], [1, 8, 32])


def quantised() -> onnx.ModelProto:
    """Dynamically quantised: int8 weights, activations that are quantised while it runs."""
    m = Maker(4)
    m.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]))
    weights = m.random.integers(-127, 128, (64, 64)).astype(np.int8)
    ints = m.node("MatMulInteger", ["q", m.tensor("w", weights), "qz", m.tensor("wz", np.array(0, np.int8))], "i")
    scale = m.node("Mul", ["qs", m.tensor("ws", np.array(0.01, np.float32))], "scale")
    m.node("Mul", [m.node("Cast", [ints], "f", to=TensorProto.FLOAT), scale], "y")
    return m.model([1, 64], [1, 64])


def branch(m: Maker, name: str) -> onnx.GraphProto:
    weight = numpy_helper.from_array(m.values(64, 64), f"{name}_w")
    node = helper.make_node("MatMul", ["x", f"{name}_w"], [f"{name}_y"])
    return helper.make_graph([node], name, [], [value(f"{name}_y", [1, 64])], [weight])


def body(m: Maker) -> onnx.GraphProto:
    weight = numpy_helper.from_array(m.values(64, 64), "step_w")
    nodes = [
        helper.make_node("MatMul", ["before", "step_w"], ["m"]),
        helper.make_node("Tanh", ["m"], ["after"]),
        helper.make_node("Identity", ["goes_on"], ["goes_on_still"]),
    ]
    number = helper.make_tensor_value_info("number", TensorProto.INT64, [])
    goes_on, still = (helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("goes_on", "goes_on_still"))
    return helper.make_graph(nodes, "body", [number, goes_on, value("before", [1, 64])], [still, value("after", [1, 64])], [weight])


def subgraphs() -> onnx.ModelProto:
    """Weights in both branches of an If, and in the body of a Loop."""
    m = Maker(5)
    total = m.node("ReduceSum", ["x"], "total", keepdims=0)
    positive = m.node("Greater", [total, m.tensor("zero", np.array(0, np.float32))], "positive")
    taken = m.node("If", [positive], "taken", then_branch=branch(m, "then"), else_branch=branch(m, "else"))
    count = m.tensor("count", np.array(3, np.int64))
    m.node("Loop", [count, m.tensor("true", np.array(True)), taken], "y", body=body(m))
    return m.model([1, 64], [1, 64])


def attributes() -> onnx.ModelProto:
    """Weights in attributes of Constant nodes."""
    m = Maker(6)
    for name, dims in (("w1", (64, 64)), ("w2", (64, 32))):
        m.node("Constant", [], name, value=numpy_helper.from_array(m.values(*dims)))
    m.node("MatMul", [m.node("Relu", [m.node("MatMul", ["x", "w1"], "h")], "r"), "w2"], "y")
    return m.model([1, 64], [1, 32])


def functions() -> onnx.ModelProto:
    """Weights in the body of a function, and of the graph that calls it twice."""
    m = Maker(7)
    domain = "interop"
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(m.values(64, 64))),
        helper.make_node("MatMul", ["a", "k"], ["p"]),
        helper.make_node("Relu", ["p"], ["b"]),
    ]
    layer = helper.make_function(domain, "Layer", ["a"], ["b"], nodes, [OPSET])
    twice = m.node("Layer", [m.node("Layer", ["x"], "one", domain=domain)], "two", domain=domain)
    m.node("MatMul", [twice, m.weight("w", 64, 32)], "y")
    return m.model([1, 64], [1, 32], functions=[layer], opset_imports=[OPSET, helper.make_opsetid(domain, 1)])


def second_graph(first: onnx.ModelProto) -> onnx.ModelProto:
    """A graph with some weights of the first one."""
    kept = onnx.ModelProto()
    kept.CopyFrom(first)
    del kept.graph.node[1:]
    kept.graph.node[0].output[0] = "y"
    kept.graph.output[0].CopyFrom(value("y", [1, 256]))
    return kept


def large(folder: Path) -> Path:
    """Rows of three tables added; 2.25 GiB of weights in a data file."""
    m = Maker(9)
    m.node("Cast", ["x"], "rows", to=TensorProto.INT64)
    picked = [m.node("Gather", [f"table{i}", "rows"], f"picked{i}") for i in range(LARGE_TABLES)]
    m.node("Sum", picked, "y")
    model = m.model([1, 8], [1, 8, LARGE_COLUMNS])
    size = LARGE_ROWS * LARGE_COLUMNS * 4
    with (folder / "large.data").open("wb") as file:
        for i in range(LARGE_TABLES):
            tensor = model.graph.initializer.add(name=f"table{i}", data_type=TensorProto.FLOAT, dims=[LARGE_ROWS, LARGE_COLUMNS])
            tensor.data_location = TensorProto.EXTERNAL
            for key, given in (("location", "large.data"), ("offset", i * size), ("length", size)):
                tensor.external_data.add(key=key, value=str(given))
            for _ in range(LARGE_ROWS // 4096):
                file.write(m.random.random((4096, LARGE_COLUMNS), np.float32).tobytes())
    path = folder / "large.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


SMALL: dict[str, Callable[[], onnx.ModelProto]] = {
    "MLP": mlp,
    "CNN": cnn,
    "transformer": transformer,
    "quantised": quantised,
    "subgraphs": subgraphs,
    "attributes": attributes,
    "functions": functions,
    "several graphs": mlp,  # with a second graph and a side file in the archive
}
LARGE = "over 2 GiB"
NESTED = ("subgraphs", "attributes", "functions")  # models with weights elsewhere than among the graph's initializers


def input_of(model: str, dims: list[int]) -> np.ndarray:
    random = np.random.default_rng(100)
    if model == LARGE:
        return random.integers(0, LARGE_ROWS, dims).astype(np.float32)
    return random.standard_normal(dims).astype(np.float32)

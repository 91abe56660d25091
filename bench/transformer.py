"""Builds all-MiniLM-L6-v2, a sentence transformer that people use, as ONNX: transformer.py SAFETENSORS MODEL.onnx. It has no outputs
but the hidden states, and only standard operators. Run by the Python that has the wheel."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import safetensors.numpy
from onnx import TensorProto, helper, numpy_helper

LAYERS, HIDDEN, HEADS = 6, 384, 12
LENGTH = 128  # tokens, which the mask may leave out
EPSILON = 1e-12


class Graph:
    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights, self.nodes, self.stored = weights, [], {}

    def value(self, name: str, array: np.ndarray) -> str:
        self.stored[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def linear(self, x: str, name: str) -> str:
        product = self.node("MatMul", x, self.value(f"{name}.weight", self.weights[f"{name}.weight"].T))
        return self.node("Add", product, self.value(f"{name}.bias", self.weights[f"{name}.bias"]))

    def norm(self, x: str, name: str) -> str:
        scale, bias = (self.value(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, scale, bias, epsilon=EPSILON)

    def heads(self, x: str, order: list[int]) -> str:
        shape = self.value("heads", np.array([0, 0, HEADS, HIDDEN // HEADS], np.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def layer(self, x: str, mask: str, name: str) -> str:
        query, key, value = (self.linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        scores = self.node("MatMul", self.heads(query, [0, 2, 1, 3]), self.heads(key, [0, 2, 3, 1]))
        root = self.value("root", np.float32(np.sqrt(HIDDEN // HEADS)))
        part = self.node("Softmax", self.node("Add", self.node("Div", scores, root), mask), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", part, self.heads(value, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", mixed, self.value("joined", np.array([0, 0, HIDDEN], np.int64)))
        x = self.norm(self.node("Add", self.linear(joined, f"{name}.attention.output.dense"), x), f"{name}.attention.output.LayerNorm")
        inner = self.node("Gelu", self.linear(x, f"{name}.intermediate.dense"))
        return self.norm(self.node("Add", self.linear(inner, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")


def build(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    g = Graph(weights)
    words = g.value("words", weights["embeddings.word_embeddings.weight"])
    places = weights["embeddings.position_embeddings.weight"][:LENGTH] + weights["embeddings.token_type_embeddings.weight"][0]
    x = g.node("Add", g.node("Gather", words, "input_ids"), g.value("places", places))
    x = g.norm(x, "embeddings.LayerNorm")
    there = g.node("Cast", g.node("Unsqueeze", "attention_mask", g.value("axes", np.array([1, 2], np.int64))), to=TensorProto.FLOAT)
    absent = g.node("Sub", g.value("float_one", np.float32(1)), there)
    mask = g.node("Mul", absent, g.value("least", np.float32(np.finfo(np.float32).min)))
    for index in range(LAYERS):
        x = g.layer(x, mask, f"encoder.layer.{index}")
    g.nodes[-1].output[0] = "last_hidden_state"
    tokens = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", LENGTH]) for name in ("input_ids", "attention_mask")]
    states = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", LENGTH, HIDDEN])
    graph = helper.make_graph(g.nodes, "all-MiniLM-L6-v2", tokens, [states], list(g.stored.values()))
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


if __name__ == "__main__":
    made = build(safetensors.numpy.load_file(sys.argv[1]))
    onnx.checker.check_model(made)
    onnx.save(made, sys.argv[2])

"""A model with the shape of Whisper: an encoder, a decoder for the first token, and a decoder for the following ones, which takes the keys and values
of earlier tokens. All sizes are those of whisper-tiny, divided by `SCALE`, so that weights have the same proportions. As the usual exporters do, weights
of matrix products are stored transposed, under names that differ from graph to graph. Attention has one head and no mask."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SCALE = 4
WIDTH, INNER, LAYERS, VOCABULARY, MELS = 384 // SCALE, 1536 // SCALE, 4, 51865 // SCALE, 80
FRAMES, POSITIONS = 1500 // SCALE, 448


class Weights:
    """The weights of all three, each made once: a name leads to the same bytes in every graph."""

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}

    def get(self, name: str, *shape: int) -> np.ndarray:
        if name not in self._known:
            noise = np.random.default_rng([len(self._known), 9]).standard_normal(shape, np.float32)
            self._known[name] = noise / np.float32(np.sqrt(shape[0]))
        return self._known[name]


class Graph:
    def __init__(self, name: str, weights: Weights) -> None:
        self.name, self.weights = name, weights
        self.nodes: list[onnx.NodeProto] = []
        self.stored: dict[str, onnx.TensorProto] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def named(self, name: str, *shape: int) -> str:
        """Returns a weight under its own name."""
        self.stored.setdefault(name, numpy_helper.from_array(self.weights.get(name, *shape), name))
        return name

    def linear(self, x: str, name: str, *shape: int) -> str:
        """x @ the weight, which is stored under a number as exporters have it."""
        number = f"onnx::MatMul_{len(self.nodes) + 1000 * (1 + len(self.name))}"
        self.stored[number] = numpy_helper.from_array(self.weights.get(name, *shape), number)
        return self.op("MatMul", x, number)

    def attention(self, query: str, keys: str, values: str) -> str:
        scores = self.op("MatMul", query, self.op("Transpose", keys, perm=[0, 2, 1]))
        return self.op("MatMul", self.op("Softmax", scores, axis=-1), values)

    def attend(self, x: str, name: str, keys: str, values: str) -> str:
        found = self.attention(self.linear(x, f"{name}.q_proj", WIDTH, WIDTH), keys, values)
        return self.op("Add", x, self.linear(found, f"{name}.out_proj", WIDTH, WIDTH))

    def project(self, x: str, name: str) -> tuple[str, str]:
        return self.linear(x, f"{name}.k_proj", WIDTH, WIDTH), self.linear(x, f"{name}.v_proj", WIDTH, WIDTH)

    def feed_forward(self, x: str, name: str) -> str:
        inner = self.op("Relu", self.linear(x, f"{name}.fc1", WIDTH, INNER))
        return self.op("Add", x, self.linear(inner, f"{name}.fc2", INNER, WIDTH))

    def takes(self, name: str, kind: int, *dims: int | str) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def gives(self, value: str, name: str) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, f"{name}_rows", None]))

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.stored.values()))
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def encoder(weights: Weights) -> onnx.ModelProto:
    graph = Graph("encoder", weights)
    x = graph.takes("input_features", TensorProto.FLOAT, 1, FRAMES, MELS)
    x = graph.op("Relu", graph.linear(x, "encoder.conv1", MELS, WIDTH))
    x = graph.op("Relu", graph.linear(x, "encoder.conv2", WIDTH, WIDTH))
    x = graph.op("Add", x, graph.named("encoder.embed_positions.weight", FRAMES, WIDTH))
    for layer in range(LAYERS):
        name = f"encoder.layers.{layer}"
        x = graph.attend(x, f"{name}.self_attn", *graph.project(x, f"{name}.self_attn"))
        x = graph.feed_forward(x, name)
    graph.gives(x, "last_hidden_state")
    return graph.model()


def decoder(weights: Weights, *, past: bool) -> onnx.ModelProto:
    """With a past, keys and values of the encoder's state are inputs, so that their projections are not there."""
    graph = Graph("decoder_with_past" if past else "decoder", weights)
    tokens = graph.takes("input_ids", TensorProto.INT64, 1, "tokens")
    positions = graph.takes("position_ids", TensorProto.INT64, 1, "tokens")
    state = "" if past else graph.takes("encoder_hidden_states", TensorProto.FLOAT, 1, FRAMES, WIDTH)
    table = graph.named("decoder.embed_tokens.weight", VOCABULARY, WIDTH)
    x = graph.op("Gather", table, tokens)
    x = graph.op("Add", x, graph.op("Gather", graph.named("decoder.embed_positions.weight", POSITIONS, WIDTH), positions))
    for layer in range(LAYERS):
        name = f"decoder.layers.{layer}"
        keys, values = graph.project(x, f"{name}.self_attn")
        if past:
            earlier = [graph.takes(f"past.{layer}.{kind}", TensorProto.FLOAT, 1, "past", WIDTH) for kind in ("k", "v")]
            keys = graph.op("Concat", earlier[0], keys, axis=1)
            values = graph.op("Concat", earlier[1], values, axis=1)
        graph.gives(keys, f"present.{layer}.k")
        graph.gives(values, f"present.{layer}.v")
        x = graph.attend(x, f"{name}.self_attn", keys, values)
        cross = (
            (graph.takes(f"cross.{layer}.k", TensorProto.FLOAT, 1, FRAMES, WIDTH), graph.takes(f"cross.{layer}.v", TensorProto.FLOAT, 1, FRAMES, WIDTH))
            if past
            else graph.project(state, f"{name}.encoder_attn")
        )
        if not past:
            graph.gives(cross[0], f"present_cross.{layer}.k")
            graph.gives(cross[1], f"present_cross.{layer}.v")
        x = graph.attend(x, f"{name}.encoder_attn", *cross)
        x = graph.feed_forward(x, name)
    graph.gives(graph.op("MatMul", x, graph.op("Transpose", table, perm=[1, 0])), "logits")
    return graph.model()


def trio() -> dict[str, onnx.ModelProto]:
    weights = Weights()
    return {"encoder_model": encoder(weights), "decoder_model": decoder(weights, past=False), "decoder_with_past_model": decoder(weights, past=True)}

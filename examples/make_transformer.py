#!/usr/bin/env python3
"""Writes an ONNX model of a transformer: a file to try archives on, the same bytes on every run.

The weights are random, the graph is real: token embedding, blocks of attention and MLP, a final
projection. It runs on any ONNX runtime with `tokens` (int64, batch x sequence) as its input.

Usage: make_transformer.py OUT.onnx [--megabytes 500]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

import onnx
from onnx import TensorProto, helper

BLOCKS = 8
HEAD = 64  # width of one attention head
SEED = 20
FLOAT_SIZE = 4
PROTOBUF_LIMIT_MB = 2000  # a model with its weights inside stays below 2 GiB


class Weight(NamedTuple):
    """A float initializer that is made when it is written, so that memory never holds all of them."""

    name: str
    shape: tuple[int, ...]
    mean: float
    spread: float

    @property
    def size(self) -> int:
        return math.prod(self.shape) * FLOAT_SIZE

    def head(self) -> bytes:
        """The tensor without its raw_data, which is the last field."""
        tensor = TensorProto(dims=self.shape, data_type=TensorProto.FLOAT, name=self.name)
        return tensor.SerializeToString()

    def values(self, bits: np.random.PCG64) -> bytes:
        """Evenly spread; from the generator's raw stream, which no numpy version changes."""
        count = math.prod(self.shape)
        words = bits.random_raw((count + 1) // 2).view(np.uint32)[:count]
        unit = (words >> 8).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
        return (np.float32(self.mean) + unit * np.float32(self.spread)).astype("<f4").tobytes()


class Transformer:
    """Collects nodes and weights; each method adds a layer and gives the name of its output."""

    def __init__(self, width: int, vocabulary: int) -> None:
        self.width = width
        self.vocabulary = vocabulary
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[Weight] = []
        self.constants: list[onnx.TensorProto] = []

    def op(self, kind: str, output: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], output, **attributes))
        return output

    def weight(self, name: str, *shape: int, mean: float = 0.0, spread: float = 0.02) -> str:
        self.weights.append(Weight(name, shape, mean, spread))
        return name

    def number(self, name: str, value: float) -> str:
        self.constants.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name

    def shape(self, name: str, *dims: int) -> str:
        raw = np.array(dims, "<i8").tobytes()
        self.constants.append(
            helper.make_tensor(name, TensorProto.INT64, [len(dims)], raw, raw=True)
        )
        return name

    def linear(self, name: str, x: str, inputs: int, outputs: int) -> str:
        product = self.op(
            "MatMul", f"{name}.matmul", x, self.weight(f"{name}.weight", inputs, outputs)
        )
        return self.op("Add", f"{name}.out", product, self.weight(f"{name}.bias", outputs))

    def norm(self, name: str, x: str) -> str:
        """LayerNorm over the last axis."""
        mean = self.op("ReduceMean", f"{name}.mean", x, axes=[-1], keepdims=1)
        centred = self.op("Sub", f"{name}.centred", x, mean)
        square = self.op("Mul", f"{name}.square", centred, centred)
        variance = self.op("ReduceMean", f"{name}.variance", square, axes=[-1], keepdims=1)
        padded = self.op("Add", f"{name}.padded", variance, "epsilon")
        deviation = self.op("Sqrt", f"{name}.deviation", padded)
        unit = self.op("Div", f"{name}.unit", centred, deviation)
        gain = self.weight(f"{name}.gain", self.width, mean=1.0)
        scaled = self.op("Mul", f"{name}.scaled", unit, gain)
        return self.op("Add", f"{name}.out", scaled, self.weight(f"{name}.bias", self.width))

    def heads(self, name: str, x: str, order: list[int]) -> str:
        """A projection, split into heads: batch x head x sequence x HEAD, permuted by `order`."""
        projected = self.linear(name, x, self.width, self.width)
        split = self.op("Reshape", f"{name}.split", projected, "split_heads")
        return self.op("Transpose", f"{name}.heads", split, perm=order)

    def attention(self, name: str, x: str) -> str:
        query = self.heads(f"{name}.query", x, [0, 2, 1, 3])
        key = self.heads(f"{name}.key", x, [0, 2, 3, 1])
        value = self.heads(f"{name}.value", x, [0, 2, 1, 3])
        scores = self.op("MatMul", f"{name}.scores", query, key)
        scaled = self.op("Mul", f"{name}.scaled", scores, "attention_scale")
        weights = self.op("Softmax", f"{name}.weights", scaled, axis=-1)
        mixed = self.op("MatMul", f"{name}.mixed", weights, value)
        turned = self.op("Transpose", f"{name}.turned", mixed, perm=[0, 2, 1, 3])
        merged = self.op("Reshape", f"{name}.merged", turned, "merge_heads")
        return self.linear(f"{name}.output", merged, self.width, self.width)

    def gelu(self, name: str, x: str) -> str:
        scaled = self.op("Div", f"{name}.scaled", x, "sqrt_two")
        error = self.op("Erf", f"{name}.erf", scaled)
        gate = self.op("Add", f"{name}.gate", error, "one")
        half = self.op("Mul", f"{name}.half", x, "one_half")
        return self.op("Mul", f"{name}.out", half, gate)

    def mlp(self, name: str, x: str) -> str:
        wide = self.linear(f"{name}.up", x, self.width, 4 * self.width)
        return self.linear(
            f"{name}.down", self.gelu(f"{name}.gelu", wide), 4 * self.width, self.width
        )

    def block(self, name: str, x: str) -> str:
        attended = self.attention(f"{name}.attention", self.norm(f"{name}.norm_1", x))
        x = self.op("Add", f"{name}.middle", x, attended)
        return self.op(
            "Add", f"{name}.out", x, self.mlp(f"{name}.mlp", self.norm(f"{name}.norm_2", x))
        )

    def build(self) -> None:
        """All layers, from `tokens` to `logits`."""
        self.number("epsilon", 1e-5)
        self.number("one", 1.0)
        self.number("one_half", 0.5)
        self.number("sqrt_two", math.sqrt(2.0))
        self.number("attention_scale", 1 / math.sqrt(HEAD))
        self.shape("split_heads", 0, 0, self.width // HEAD, HEAD)
        self.shape("merge_heads", 0, 0, self.width)
        table = self.weight("embedding.weight", self.vocabulary, self.width)
        x = self.op("Gather", "embedding.out", table, "tokens")
        for number in range(BLOCKS):
            x = self.block(f"blocks.{number}", x)
        projection = self.weight("projection.weight", self.width, self.vocabulary)
        self.op("MatMul", "logits", self.norm("norm", x), projection)


def dimensions(size: int) -> tuple[int, int]:
    """Width and vocabulary of a model of about `size` bytes; words take the bytes that blocks leave."""
    block, word = 12 * FLOAT_SIZE, 2 * FLOAT_SIZE  # bytes for width**2, and for width
    usual_vocabulary = 8  # times the width
    width = math.isqrt(size // (BLOCKS * block + usual_vocabulary * word)) // HEAD * HEAD
    width = max(width, HEAD)
    vocabulary = (size - BLOCKS * block * width**2) // (word * width)
    return width, max(vocabulary, 256)


# --- writing -------------------------------------------------------------------------------------
# A serialised message is its fields one after another, so a graph can be written in pieces, and a
# weight made when its turn comes.

MODEL_GRAPH, GRAPH_INITIALIZER, TENSOR_RAW_DATA = 7, 5, 9


def prefix(field: int, length: int) -> bytes:
    """Tag and length of a length-delimited field."""
    out = bytearray([field << 3 | 2])
    while length > 0x7F:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*out, length])


def framed(weight: Weight) -> bytes:
    """A weight as a field of the graph, up to its first value."""
    head = weight.head() + prefix(TENSOR_RAW_DATA, weight.size)
    return prefix(GRAPH_INITIALIZER, len(head) + weight.size) + head


def pieces(model: Transformer) -> tuple[bytes, bytes]:
    """The parts of the graph before and after the weights."""
    axes = ["batch", "sequence"]
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, axes)
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*axes, model.vocabulary])
    front = onnx.GraphProto(node=model.nodes, name="transformer", initializer=model.constants)
    back = onnx.GraphProto(input=[tokens], output=[logits])
    return front.SerializeToString(), back.SerializeToString()


def chunks(model: Transformer) -> Iterator[bytes]:
    """The file, one weight after another."""
    front, back = pieces(model)
    frames = [framed(weight) for weight in model.weights]
    size = len(front) + sum(map(len, frames)) + sum(w.size for w in model.weights) + len(back)
    yield onnx.ModelProto(ir_version=8, producer_name="make_transformer").SerializeToString()
    yield prefix(MODEL_GRAPH, size) + front
    bits = np.random.PCG64(SEED)
    for weight, frame in zip(model.weights, frames, strict=True):
        yield frame
        yield weight.values(bits)
    yield back
    yield onnx.ModelProto(opset_import=[helper.make_opsetid("", 13)]).SerializeToString()


def write(file: BinaryIO, parts: Iterable[bytes]) -> int:
    return sum(file.write(part) for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes an ONNX model of a transformer.")
    parser.add_argument("out", type=Path, metavar="OUT.onnx")
    parser.add_argument("--megabytes", type=int, default=500, help="about this large (default 500)")
    arguments = parser.parse_args()
    if not 1 <= arguments.megabytes <= PROTOBUF_LIMIT_MB:
        parser.error(f"--megabytes must lie between 1 and {PROTOBUF_LIMIT_MB}")

    width, vocabulary = dimensions(arguments.megabytes * 10**6)
    model = Transformer(width, vocabulary)
    model.build()
    with arguments.out.open("wb") as file:
        size = write(file, chunks(model))
    print(f"{arguments.out}: {size} bytes, {BLOCKS} blocks, width {width}, vocabulary {vocabulary}")


if __name__ == "__main__":
    main()

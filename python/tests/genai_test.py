"""ONNX Runtime GenAI runs two models over links into one archive. Its builder needs PyTorch, some GB, so the models are
made here, in the shape that the builder uses for decoders; with_builder.py has folders of the builder."""

from __future__ import annotations

import json
import pathlib
import unittest

import numpy as np
import onnx
import onnxruntime_genai as genai
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest, weights

import onnxar

VOCABULARY, HEADS, HEAD, LAYERS = 64, 2, 16, 2
WIDTH = HEADS * HEAD
CONFIG = {
    "model": {
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "context_length": 64, "vocab_size": VOCABULARY, "type": "llama",
        "decoder": {
            "filename": "target.onnx", "head_size": HEAD, "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
            "num_hidden_layers": LAYERS,
            "session_options": {"provider_options": []},
            "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask", "past_key_names": "past_key_values.%d.key",
                       "past_value_names": "past_key_values.%d.value"},
            "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
        },
    },
    "search": {"do_sample": False, "max_length": 16, "past_present_share_buffer": False},
}  # fmt: skip


class Decoder:
    """A decoder whose layers and table depend on nothing, and whose head depends on `seed`."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.stored = [numpy_helper.from_array(np.array(dims), name) for name, dims in (("split", [0, 0, HEADS, HEAD]), ("joined", [0, 0, WIDTH]))]
        value = helper.make_tensor_value_info
        cache = ["batch", HEADS, "past", HEAD]
        inputs = [value("input_ids", TensorProto.INT64, ["batch", "tokens"]), value("attention_mask", TensorProto.INT64, ["batch", "all"])]
        outputs = [value("logits", TensorProto.FLOAT, ["batch", "tokens", VOCABULARY])]
        x = self.op("Gather", self.weight("table", VOCABULARY, WIDTH), "input_ids")
        for layer in range(LAYERS):
            inputs += [value(f"past_key_values.{layer}.{kind}", TensorProto.FLOAT, cache) for kind in ("key", "value")]
            outputs += [value(f"present.{layer}.{kind}", TensorProto.FLOAT, cache) for kind in ("key", "value")]
            x = self.feed_forward(self.attend(x, layer), layer)
        self.op("MatMul", x, self.weight("head", WIDTH, VOCABULARY, seed=seed), output="logits")
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.stored)
        self.model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: object) -> str:
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def weight(self, name: str, *shape: int, seed: int = 0) -> str:
        self.stored.append(numpy_helper.from_array(weights(*shape, seed=seed or len(self.stored)) / np.float32(np.sqrt(shape[0])), name))
        return name

    def attend(self, x: str, layer: int) -> str:
        def heads(kind: str) -> str:
            return self.op("Transpose", self.op("Reshape", self.op("MatMul", x, self.weight(f"{layer}.{kind}", WIDTH, WIDTH)), "split"), perm=[0, 2, 1, 3])

        query, *new = [heads(kind) for kind in ("query", "key", "value")]
        key, value = (
            self.op("Concat", f"past_key_values.{layer}.{kind}", each, output=f"present.{layer}.{kind}", axis=2) for kind, each in zip(("key", "value"), new)
        )
        scores = self.op("Softmax", self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2])), axis=-1)
        found = self.op("Reshape", self.op("Transpose", self.op("MatMul", scores, value), perm=[0, 2, 1, 3]), "joined")
        return self.op("Add", x, self.op("MatMul", found, self.weight(f"{layer}.out", WIDTH, WIDTH)))

    def feed_forward(self, x: str, layer: int) -> str:
        inner = self.op("Relu", self.op("MatMul", x, self.weight(f"{layer}.up", WIDTH, 4 * WIDTH)))
        return self.op("Add", x, self.op("MatMul", inner, self.weight(f"{layer}.down", 4 * WIDTH, WIDTH)))


def tokens_of(folder: pathlib.Path, model: str) -> list[int]:
    config = genai.Config(str(folder))
    config.overlay(json.dumps({"model": {"decoder": {"filename": model}}}))
    opened = genai.Model(config)
    options = genai.GeneratorParams(opened)
    options.set_search_options(max_length=12)
    generator = genai.Generator(opened, options)
    generator.append_tokens([[3, 5, 7]])
    while not generator.is_done():
        generator.generate_next_token()
    return [int(token) for token in generator.get_sequence(0)]


class TwoHeads(FolderTest):
    def test_both_run_over_links_into_one_archive(self) -> None:
        plain, served = self.folder / "plain", self.folder / "served"
        plain.mkdir()
        served.mkdir()
        for name, seed in (("target", 101), ("draft", 102)):
            onnx.save(Decoder(seed).model, plain / f"{name}.onnx")
        (plain / "genai_config.json").write_text(json.dumps(CONFIG))
        archive = served / "family.onnxar"
        onnxar.pack(plain, archive)
        shared = [entry for entry in onnxar.ls(archive) if len(entry.graphs) == 2]
        self.assertEqual(len(shared), 1 + 6 * LAYERS)
        for name in ("target", "draft"):
            onnxar.link(archive, served / f"{name}.onnx", graph=name)
        (served / "genai_config.json").write_bytes(onnxar.cat(archive, "genai_config.json"))
        found = {name: tokens_of(served, f"{name}.onnx") for name in ("target", "draft")}
        self.assertEqual(found, {name: tokens_of(plain, f"{name}.onnx") for name in found})
        self.assertNotEqual(found["target"], found["draft"])
        self.assertEqual({path.name for path in served.iterdir()}, {"family.onnxar", "target.onnx", "draft.onnx", "genai_config.json"})


if __name__ == "__main__":
    unittest.main()

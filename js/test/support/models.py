#!/usr/bin/env python3
"""Makes the models that the tests of sessions run, as users have them: with Debian's onnx, and packed by the command.

Usage: ONNXAR=path/to/onnxar models.py ROOT FOLDER

- subgraphs.onnxar: weights in the branches of If, in the body of Loop, and in a Constant
- classifier.onnxar: a folder of transformers.js in one file, with the graph for the dtype fp32
- large.onnxar: 5 GiB of holes, and after them the graph classifier.onnx with its weights
- docs/: what the programs of docs/web.md read
- typed.onnxar: a repository of transformers.js, with a graph for each of seven dtypes; q4 says the opposite
- linked/typed, copied/typed: that repository as `link` gives it, with symbolic links to the archive, and with a copy
- pair.onnxar: a folder of transformers.js with encoder and decoder over one embedding; unpacked/pair: that folder, as
  `unpack` gives it back
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper, save

OPSET = 17
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "bad", "model"]
WIDTH = 64
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def weight(name: str, value: object) -> TensorProto:
    return numpy_helper.from_array(np.asarray(value, np.float32), name)


def model(graph: GraphProto) -> ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def filled(name: str, value: float) -> TensorProto:
    return weight(name, np.full((WIDTH, WIDTH), value))


def body(name: str, node: NodeProto, inputs: list, outputs: list, weights: list[TensorProto]) -> GraphProto:
    return helper.make_graph([node], name, inputs, outputs, weights)


def value(name: str, kind: int = FLOAT, shape: list | None = None) -> object:
    return helper.make_tensor_value_info(name, kind, [WIDTH, WIDTH] if shape is None else shape)


def loop_body() -> GraphProto:
    """Returns a loop body that adds 3 to its state."""
    nodes = [
        helper.make_node("Identity", ["condition_in"], ["condition_out"]),
        helper.make_node("Add", ["carried_in", "step"], ["carried_out"]),
    ]
    inputs = [value("iteration", INT64, []), value("condition_in", BOOL, []), value("carried_in")]
    return helper.make_graph(nodes, "body", inputs, [value("condition_out", BOOL, []), value("carried_out")], [filled("step", 3)])


def subgraphs() -> ModelProto:
    """y = (10 if flag else 20) + 3 * 4 + 100, in each of its elements."""
    yes = body("yes", helper.make_node("Identity", ["ten"], ["chosen_yes"]), [], [value("chosen_yes")], [filled("ten", 10)])
    no = body("no", helper.make_node("Identity", ["twenty"], ["chosen_no"]), [], [value("chosen_no")], [filled("twenty", 20)])
    nodes = [
        helper.make_node("If", ["flag"], ["chosen"], then_branch=yes, else_branch=no),
        helper.make_node("Loop", ["count", "", "chosen"], ["looped"], body=loop_body()),
        helper.make_node("Constant", [], ["hundred"], value=filled("hundred", 100)),
        helper.make_node("Add", ["looped", "hundred"], ["y"]),
    ]
    count = numpy_helper.from_array(np.array(4, np.int64), "count")
    return model(helper.make_graph(nodes, "subgraphs", [value("flag", BOOL, [])], [value("y")], [count]))


def embedding() -> TensorProto:
    """Words are one-hot; `good` and `bad` have the values that the classifier looks at."""
    return weight("embedding", np.eye(len(WORDS), WIDTH))


def classifier(factor: float = 8) -> ModelProto:
    """The logits are how often `bad` and `good` are there."""
    looks = np.zeros((WIDTH, 2))
    looks[WORDS.index("bad"), 0] = looks[WORDS.index("good"), 1] = factor
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["embedded"]),
        helper.make_node("ReduceSum", ["embedded", "axis"], ["summed"], keepdims=0),
        helper.make_node("MatMul", ["summed", "looks"], ["scored"]),
        helper.make_node("Add", ["scored", "bias"], ["logits"]),
    ]
    axis = numpy_helper.from_array(np.array([1], np.int64), "axis")
    inputs = [value("input_ids", INT64, ["batch", "words"]), value("attention_mask", INT64, ["batch", "words"])]
    weights = [embedding(), axis, weight("looks", looks), weight("bias", [0, 0])]
    return model(helper.make_graph(nodes, "classifier", inputs, [value("logits", FLOAT, ["batch", 2])], weights))


def half(name: str, outputs: str) -> ModelProto:
    """Looks its words up in the embedding that encoder and decoder share, and scales them by a weight of its own."""
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["embedded"]),
        helper.make_node("Mul", ["embedded", name], [outputs]),
    ]
    own = weight(name, np.full((300, 1, 1), len(name)))
    shape = [300, "words", WIDTH]
    return model(helper.make_graph(nodes, name, [value("input_ids", INT64, ["batch", "words"])], [value(outputs, FLOAT, shape)], [embedding(), own]))


def tokenizer() -> dict:
    special = [
        {"id": i, "content": word, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for i, word in enumerate(WORDS[:5])
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(WORDS)}},
    }  # fmt: skip


TOKENIZER_CONFIG = {"tokenizer_class": "BertTokenizer", "model_max_length": 16, "pad_token": "[PAD]"}
CLASSIFIER_CONFIG = {
    "model_type": "bert",
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "BAD", "1": "GOOD"},
    "label2id": {"BAD": 0, "GOOD": 1},
    # As in repositories of models with external data. An archive has none beside it.
    "transformers.js_config": {"use_external_data_format": True},
}
PAIR_CONFIG = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True,
               "num_layers": 1, "num_decoder_layers": 1, "num_heads": 1, "d_kv": WIDTH}  # fmt: skip


def pack(folder: Path, made: ModelProto, archive: Path, files: dict[str, object]) -> None:
    source = folder / f"{archive.stem}.onnx"
    save(made, source)
    words = []
    for name, content in files.items():
        path = folder / f"{archive.stem}_{name}"
        path.write_text(json.dumps(content))
        words += ["--add", f"{name}={path}"]
    subprocess.run([os.environ["ONNXAR"], "pack", source, "-o", archive, "-f", "-q", "--threshold", "128", *words], check=True)


def pack_folder(export: Path, models: dict[str, ModelProto], files: dict[str, object], archive: Path) -> None:
    """Packs a folder of several models."""
    export.mkdir()
    for name, content in files.items():
        (export / name).write_text(json.dumps(content))
    for name, made in models.items():
        (export / name).parent.mkdir(exist_ok=True)
        save(made, export / name)
    subprocess.run([os.environ["ONNXAR"], "pack", export, "-o", archive, "-f", "-q", "--threshold", "128"], check=True)


def unpack(archive: Path, unpacked: Path) -> None:
    shutil.rmtree(unpacked.parent, ignore_errors=True)
    unpacked.parent.mkdir()
    subprocess.run([os.environ["ONNXAR"], "unpack", archive, "-o", f"{unpacked}/", "-q"], check=True)


def link(archive: Path, folder: Path, *options: str) -> None:
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.parent.mkdir()
    subprocess.run([os.environ["ONNXAR"], "link", archive, "-o", f"{folder}/", "-f", "-q", *options], check=True)


def linked(made: ModelProto, entries: dict[str, str]) -> ModelProto:
    """The model with tensors that are entries of the archive: entry by tensor name."""
    for tensor in made.graph.initializer:
        if tensor.name not in entries:
            continue
        size = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in (("location", entries[tensor.name]), ("offset", "0"), ("length", str(size))):
            tensor.external_data.add(key=key, value=text)
    return made


def write_large(root: Path, path: Path) -> None:
    sys.path.insert(0, str(root / "tests"))
    from support.sparse_archive import write_sparse_archive

    made = classifier()
    weights = {each.name: each.raw_data for each in made.graph.initializer if each.name in ("embedding", "looks")}
    graph = linked(made, {name: name for name in weights}).SerializeToString()
    write_sparse_archive(path, 5, after={**weights, "classifier.onnx": graph})


def write_docs(root: Path, folder: Path, made: Path) -> None:
    """The model that the blocks of all documents have, and the classifier."""
    folder.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-B", root / "examples/make_model.py", made / "docs.onnx"], check=True)
    subprocess.run([os.environ["ONNXAR"], "pack", made / "docs.onnx", "-o", folder / "model.onnxar", "-f", "-q"], check=True)
    shutil.copyfile(folder.parent / "classifier.onnxar", folder / "classifier.onnxar")


def main() -> None:
    root, out = Path(sys.argv[1]), Path(sys.argv[2])
    write_large(root, out / "large.onnxar")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = {"tokenizer.json": tokenizer(), "tokenizer_config.json": TOKENIZER_CONFIG}
        pack(folder, subgraphs(), out / "subgraphs.onnxar", {})
        pack(folder, classifier(), out / "classifier.onnxar", {"config.json": CLASSIFIER_CONFIG, **files})
        pair = {"encoder_model.onnx": half("encoder", "last_hidden_state"), "decoder_model_merged.onnx": half("decoder_gain", "logits")}
        pack_folder(folder / "pair", pair, {"config.json": PAIR_CONFIG, **files}, out / "pair.onnxar")
        unpack(out / "pair.onnxar", out / "unpacked" / "pair")
        dtypes = {f"_{name}": 8 for name in ("fp16", "int8", "quantized", "q4f16", "bnb4")} | {"": 8, "_q4": -8}
        typed = {f"onnx/model{name}.onnx": classifier(factor) for name, factor in dtypes.items()}
        typed["onnx/model_fp16.onnx"].graph.initializer[2].raw_data = np.zeros((WIDTH, 2), np.float32).tobytes()
        config = {**CLASSIFIER_CONFIG, "transformers.js_config": {}}
        pack_folder(folder / "typed", typed, {"config.json": config, **files}, out / "typed.onnxar")
        link(out / "typed.onnxar", out / "linked" / "typed")
        link(out / "typed.onnxar", out / "copied" / "typed", "--copy")
        write_docs(root, out / "docs", folder)


if __name__ == "__main__":
    main()

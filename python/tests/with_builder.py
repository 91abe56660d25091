"""Folders that ONNX Runtime GenAI's own model builder writes, packed and run by GenAI over links into one archive. The checkpoints are tiny, random and made
here, so that nothing is downloaded. `./dev python --torch` runs this."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnxruntime_genai as genai
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen3_5Config, Qwen3_5ForConditionalGeneration
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5DecoderLayer

import onnxar

TEXT, LENGTH, VOCABULARY, WIDTH = "the quick brown fox jumps over the lazy dog", 40, 320, 64
SIZES = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 128, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}  # fmt: skip


def save_tokenizer(folder: pathlib.Path) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    first = {"special_tokens": ["<s>", "</s>"], "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=VOCABULARY, show_progress=False, **first))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>").save_pretrained(folder)


def save_llama(folder: pathlib.Path) -> None:
    LlamaForCausalLM(LlamaConfig(**SIZES)).save_pretrained(folder)


def save_qwen(folder: pathlib.Path) -> None:
    """With a second head, which predicts the token after the next one from the first head's state, and has the same table and the same output matrix."""
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [3, 3, 2], "mrope_interleaved": True}
    text = {**SIZES, "head_dim": 32, "layer_types": 2 * ["full_attention"], "mtp_num_hidden_layers": 1, "rope_parameters": rope}
    vision = {"depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "out_hidden_size": WIDTH, "num_position_embeddings": 16}
    config = Qwen3_5Config(text_config=text, vision_config=vision)
    Qwen3_5ForConditionalGeneration(config).save_pretrained(folder)
    head = {f"mtp.layers.0.{name}": each for name, each in Qwen3_5DecoderLayer(config.text_config, layer_idx=0).state_dict().items()}
    norms = {f"mtp.{name}.weight": torch.zeros(WIDTH) for name in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")}
    state = load_file(folder / "model.safetensors") | head | norms | {"mtp.fc.weight": torch.randn(WIDTH, 2 * WIDTH) / 8}
    save_file(state, folder / "model.safetensors", {"format": "pt"})


def built(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", checkpoint, "-o", folder, "-p", "fp32", "-e", "cpu", "-c", checkpoint]
    done = subprocess.run(command, env=os.environ | {"HF_HUB_OFFLINE": "1"}, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)


def prepared(model: genai.Model) -> genai.Generator:
    options = genai.GeneratorParams(model)
    options.set_search_options(max_length=LENGTH, do_sample=False)
    return genai.Generator(model, options)


def continued(model: genai.Model, tokens: Sequence[int]) -> tuple[list[int], bytes]:
    """Returns the likeliest tokens, and the last logits."""
    generator = prepared(model)
    generator.append_tokens(np.array(tokens, np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    return [int(token) for token in generator.get_sequence(0)], np.asarray(generator.get_logits()).tobytes()


def text_of(folder: pathlib.Path) -> tuple[str, bytes]:
    model = genai.Model(str(folder))
    tokenizer = genai.Tokenizer(model)
    tokens, logits = continued(model, tokenizer.encode(TEXT))
    return tokenizer.decode(tokens), logits


class BuilderTest(unittest.TestCase):
    @classmethod
    def build(cls, save_checkpoint: Callable[[pathlib.Path], None]) -> None:
        """`plain`: the builder's folder. `served`: the archive, a link for each graph, and the files that GenAI opens by their names."""
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="onnxar_test_")))
        checkpoint, cls.plain, cls.served = (folder / name for name in ("checkpoint", "plain", "served"))
        checkpoint.mkdir()
        torch.manual_seed(7)
        save_tokenizer(checkpoint)
        save_checkpoint(checkpoint)
        built(checkpoint, cls.plain)
        cls.served.mkdir()
        cls.archive = cls.served / "family.onnxar"
        onnxar.pack(cls.plain, cls.archive)
        for path in cls.plain.glob("*.onnx"):
            onnxar.link(cls.archive, cls.served / path.name, graph=path.stem)
        with onnxar.open(cls.archive) as archive:
            files = archive.side_files()
        for name in files:
            (cls.served / name).write_bytes(onnxar.cat(cls.archive, name))

    def expect_links_in_place_of_data(self) -> None:
        plain = {path.name for path in self.plain.iterdir() if path.is_file() and path.suffix != ".data"}
        self.assertEqual({path.name for path in self.served.iterdir() if path.is_file()}, plain | {self.archive.name})


class Llama(BuilderTest):
    @classmethod
    def setUpClass(cls) -> None:
        cls.build(save_llama)

    def test_link_continues_a_text_like_the_folder(self) -> None:
        self.expect_links_in_place_of_data()
        found = text_of(self.served)
        self.assertEqual(found, text_of(self.plain))
        self.assertTrue(found[0].startswith(TEXT))
        self.assertGreater(len(found[0]), len(TEXT))


class TwoHeads(BuilderTest):
    """model.onnx and mtp.onnx, whose table and output matrix are in model.onnx.data alone, and named in `shared_initializers` of genai_config.json."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.build(save_qwen)

    def config(self, folder: pathlib.Path) -> dict:
        return json.loads((folder / "genai_config.json").read_text())

    def shared(self, folder: pathlib.Path, head: str) -> list[dict]:
        return self.config(folder)["model"][head]["shared_initializers"]

    def model(self, folder: pathlib.Path, head: str) -> genai.Model:
        """Without `shared_initializers`, which GenAI 0.18 does not take on the CPU."""
        config = self.config(folder)
        decoder, second = config["model"]["decoder"], config["model"].pop("mtp")
        del decoder["shared_initializers"]
        if head == "mtp":
            decoder |= {name: second[name] for name in ("filename", "num_hidden_layers", "inputs", "outputs")}
        alone = folder / head  # this configuration, and all other files under further names
        alone.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.is_file() and not (alone / path.name).exists() and path.name != "genai_config.json":
                os.link(path, alone / path.name)
        (alone / "genai_config.json").write_text(json.dumps(config))
        return genai.Model(str(alone))

    def drafted(self, folder: pathlib.Path) -> tuple[list[int], bytes, bytes]:
        """Returns the tokens of the first head, and the logits of the second head for a following token."""
        first, second = self.model(folder, "decoder"), self.model(folder, "mtp")
        tokens = [5, 9, 30]  # the builder names a class of tokenizer that GenAI 0.18 does not know
        generator, draft = prepared(first), prepared(second)
        generator.append_tokens(np.array(tokens, np.int32))
        following = int(np.asarray(generator.get_output("logits"))[0, -1].argmax())
        draft.set_hidden_states(np.asarray(generator.get_output("hidden_states")))
        draft.append_tokens(np.array([*tokens[1:], following], np.int32))
        return *continued(first, tokens), np.asarray(draft.get_output("logits")).tobytes()

    def test_both_heads_draft_the_same_text_over_links(self) -> None:
        self.assertEqual(self.drafted(self.served), self.drafted(self.plain))

    def test_both_heads_map_the_archive(self) -> None:
        opened = []
        for head in ("decoder", "mtp"):
            opened.append(self.model(self.served, head))
            mapped = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()}
            self.assertIn(str(self.served / head / self.archive.name), mapped)

    def test_what_the_builder_shares_is_one_entry_each(self) -> None:
        self.expect_links_in_place_of_data()
        for each in self.shared(self.plain, "mtp"):
            data = self.bytes_at(self.plain, each["data_file"], each)
            found = [entry for entry in onnxar.ls(self.archive) if entry.size == len(data) and onnxar.cat(self.archive, entry.name) == data]
            self.assertEqual([set(entry.graphs) for entry in found], [{"__MODEL_PROTO", "mtp.onnx"}], each["name"])

    def test_links_share_the_places_of_shared_initializers(self) -> None:
        first, second = ({tensor.name: tensor for tensor in self.link(name).graph.initializer} for name in ("model", "mtp"))
        self.assertEqual(len(self.shared(self.plain, "decoder")), 2)
        for each in self.shared(self.plain, "decoder"):
            place = self.place_of(first[each["name"]])
            self.assertEqual(place, self.place_of(second[each["name"]]))
            self.assertEqual(place["location"], self.archive.name)
            self.assertEqual(self.bytes_at(self.served, place["location"], place), self.bytes_at(self.plain, each["data_file"], each))

    def link(self, name: str) -> onnx.ModelProto:
        return onnx.load(self.served / f"{name}.onnx", load_external_data=False)

    def place_of(self, tensor: onnx.TensorProto) -> dict[str, str]:
        return {each.key: each.value for each in tensor.external_data}

    def bytes_at(self, folder: pathlib.Path, name: str, place: dict[str, str]) -> bytes:
        begin = int(place["offset"])
        return (folder / name).read_bytes()[begin : begin + int(place["length"])]

    # It refuses them in the plain folder too.
    def test_genai_refuses_shared_initializers_on_the_cpu(self) -> None:
        """If this fails, a newer GenAI takes them: run both heads with them, and change docs/families.md."""
        with self.assertRaisesRegex(RuntimeError, "GetMemoryInfo for CPU should not be used"):
            genai.Model(str(self.plain))


if __name__ == "__main__":
    unittest.main()

"""Whisper's three graphs, exported by torch from the model that transformers has, in one archive. `./dev python --torch` runs this."""

from __future__ import annotations

import contextlib
import io
import logging
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime as ort
import torch
from transformers import DynamicCache, EncoderDecoderCache, WhisperConfig, WhisperForConditionalGeneration

import onnxar
import onnxar.onnxruntime

logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns about packages that are not needed here
CPU = ["CPUExecutionProvider"]
SCALE, LAYERS, HEADS = 4, 4, 6  # all sizes are those of whisper-tiny, the larger ones divided by SCALE
WIDTH, VOCABULARY, POSITIONS, MELS, FRAMES = 384 // SCALE, 51865 // SCALE, 448, 80, 1500 // SCALE
PAST = [f"past.{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]
CROSS = [f"cross.{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]
PRESENT = [name.replace("past", "present") for name in PAST]


def whisper() -> WhisperForConditionalGeneration:
    torch.manual_seed(7)
    sizes = {"encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS}
    widths = {"d_model": WIDTH, "encoder_ffn_dim": 4 * WIDTH, "decoder_ffn_dim": 4 * WIDTH, "vocab_size": VOCABULARY, "num_mel_bins": MELS}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}
    config = WhisperConfig(**sizes, **widths, **tokens, max_source_positions=FRAMES, max_target_positions=POSITIONS)
    return WhisperForConditionalGeneration(config).eval()


def tensors_of(cache: DynamicCache) -> list[torch.Tensor]:
    return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]


def cache_of(tensors: tuple[torch.Tensor, ...]) -> DynamicCache:
    cache = DynamicCache()
    for layer in range(LAYERS):
        cache.update(*tensors[2 * layer : 2 * layer + 2], layer)
    return cache


class Encoder(torch.nn.Module):
    def __init__(self, model: WhisperForConditionalGeneration) -> None:
        super().__init__()
        self.encoder = model.model.encoder

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.encoder(features).last_hidden_state


class Decoder(torch.nn.Module):
    """For the first tokens: makes keys and values of these, and of the encoder's state."""

    def __init__(self, model: WhisperForConditionalGeneration) -> None:
        super().__init__()
        self.decoder, self.head = model.model.decoder, model.proj_out

    def forward(self, tokens: torch.Tensor, state: torch.Tensor) -> list[torch.Tensor]:
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        found = self.decoder(tokens, encoder_hidden_states=state, past_key_values=cache, use_cache=True)
        own, cross = cache.self_attention_cache, cache.cross_attention_cache
        return [self.head(found.last_hidden_state), *tensors_of(own), *tensors_of(cross)]


class DecoderWithPast(Decoder):
    """For the following tokens: takes the keys and values."""

    def forward(self, tokens: torch.Tensor, *past: torch.Tensor) -> list[torch.Tensor]:
        cache = EncoderDecoderCache(cache_of(past[: 2 * LAYERS]), cache_of(past[2 * LAYERS :]))
        state = past[-1]  # required, but nothing reads it, because its keys and values are known
        found = self.decoder(tokens, encoder_hidden_states=state, past_key_values=cache, use_cache=True)
        return [self.head(found.last_hidden_state), *tensors_of(cache.self_attention_cache)]


def export(module: torch.nn.Module, inputs: tuple, path: pathlib.Path, names: tuple[list[str], list[str]], shapes: object = None) -> None:
    program = torch.onnx.export(module.eval(), inputs, dynamo=True, verbose=False, input_names=names[0], output_names=names[1], dynamic_shapes=shapes)
    program.save(path, external_data=True)


@torch.no_grad()
def export_all(model: WhisperForConditionalGeneration, folder: pathlib.Path) -> None:
    grows = torch.export.Dim.DYNAMIC
    features, tokens = torch.randn(1, MELS, 2 * FRAMES), torch.tensor([[3, 5, 7]])
    export(Encoder(model), (features,), folder / "encoder_model.onnx", (["features"], ["state"]))
    state = Encoder(model)(features)
    names = ["tokens", "state"], ["logits", *PRESENT, *CROSS]
    export(Decoder(model), (tokens, state), folder / "decoder_model.onnx", names, ({1: grows}, None))
    past = tuple(Decoder(model)(tokens, state)[1:])
    names = ["tokens", *PAST, *CROSS], ["logits", *PRESENT]
    shapes = None, (*({2: grows} for _ in PAST), *(None for _ in CROSS))
    export(DecoderWithPast(model), (tokens[:, -1:], *past), folder / "decoder_with_past_model.onnx", names, shapes)


class Whisper(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="onnxar_test_")))
        cls.plain, cls.archive, cls.model = cls.folder / "plain", cls.folder / "whisper.onnxar", whisper()
        cls.plain.mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            export_all(cls.model, cls.plain)
        onnxar.pack(cls.plain, cls.archive)
        cls.names = sorted(path.stem for path in cls.plain.glob("*.onnx"))

    def test_it_has_each_weight_once(self) -> None:
        graphs = [onnx.load(self.plain / f"{name}.onnx").graph for name in self.names]
        tensors = {(tensor.data_type, tensor.raw_data) for graph in graphs for tensor in graph.initializer}
        entries = onnxar.ls(self.archive)
        protos = sum(entry.size for entry in entries if entry.kind in ("graph", "model"))
        headers = sum(entry.alignment + 200 + 2 * len(entry.name) for entry in entries)
        size, parts = self.archive.stat().st_size, sum(path.stat().st_size for path in self.plain.iterdir())
        self.assertLess(size, sum(len(data) for _, data in tensors) + protos + headers)
        self.assertLess(size, 0.65 * parts)
        print(f"{len(self.names)} graphs: {parts} bytes as files, {size} bytes as an archive")

    def test_differently_named_weights_are_shared(self) -> None:
        names = [{tensor.name for tensor in onnx.load(self.plain / f"{name}.onnx", load_external_data=False).graph.initializer} for name in self.names]
        shared = [entry for entry in onnxar.ls(self.archive) if entry.kind == "weight" and len(entry.graphs) > 1]
        self.assertGreater(len(shared), len(set.intersection(*names)))

    def logits(self, sessions: dict[str, ort.InferenceSession], features: np.ndarray) -> list[np.ndarray]:
        """Returns the logits of three first tokens, and of the five that follow if the likeliest is always chosen."""
        (state,) = sessions["encoder_model"].run(None, {"features": features})
        session, given = sessions["decoder_model"], {"tokens": np.array([[3, 5, 7]]), "state": state}
        logits, cross = [], {}
        for _ in range(6):
            found = dict(zip([output.name for output in session.get_outputs()], session.run(None, given), strict=True))
            logits.append(found["logits"])
            cross |= {name: found[name] for name in CROSS if name in found}
            past = {name: found[present] for name, present in zip(PAST, PRESENT, strict=True)}
            session, given = sessions["decoder_with_past_model"], {"tokens": logits[-1][:, -1:].argmax(-1), **past, **cross}
        return logits

    def test_it_decodes_as_the_plain_files_and_torch_do(self) -> None:
        features = np.random.default_rng(1).standard_normal((1, MELS, 2 * FRAMES), np.float32)
        plain = {name: ort.InferenceSession(self.plain / f"{name}.onnx", providers=CPU) for name in self.names}
        packed = {name: onnxar.onnxruntime.InferenceSession(self.archive, graph=name, providers=CPU) for name in self.names}
        expected, found = self.logits(plain, features), self.logits(packed, features)
        self.assertEqual([each.tobytes() for each in found], [each.tobytes() for each in expected])
        tokens = [3, 5, 7, *(int(each[0, -1].argmax()) for each in found[:-1])]
        with torch.no_grad():
            whole = self.model(torch.from_numpy(features), decoder_input_ids=torch.tensor([tokens])).logits
        np.testing.assert_allclose(np.concatenate(found, axis=1), whole.numpy(), rtol=1e-3, atol=1e-4)

    def test_its_links_run(self) -> None:
        served = self.folder / "served"
        served.mkdir()
        archive = served / "whisper.onnxar"
        archive.write_bytes(self.archive.read_bytes())
        for name in self.names:
            onnxar.link(archive, served / f"{name}.onnx", graph=name)
        features = np.ones((1, MELS, 2 * FRAMES), np.float32)
        linked, plain = ({name: ort.InferenceSession(folder / f"{name}.onnx", providers=CPU) for name in self.names} for folder in (served, self.plain))
        self.assertEqual([each.tobytes() for each in self.logits(linked, features)], [each.tobytes() for each in self.logits(plain, features)])


if __name__ == "__main__":
    unittest.main()

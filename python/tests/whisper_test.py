"""A model of three graphs, with the proportions of Whisper: made by whisper.py, without an exporter. with_whisper.py has what torch exports."""

from __future__ import annotations

import unittest

import numpy as np
import onnxruntime as ort
import whisper
from support import FolderTest

import onnxar
import onnxar.onnxruntime

ON_CPU = ["CPUExecutionProvider"]


class Whisper(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.models = whisper.trio()
        self.files = {name: self.folder / f"{name}.onnx" for name in self.models}
        for name, model in self.models.items():
            self.files[name].write_bytes(model.SerializeToString())
        self.archive = self.folder / "whisper.onnxar"
        self.report = onnxar.pack(list(self.files.values()), self.archive)

    def test_it_has_each_weight_once(self) -> None:
        tensors = [bytes(tensor.raw_data) for model in self.models.values() for tensor in model.graph.initializer]
        entries = onnxar.ls(self.archive)
        graphs = sum(entry.size for entry in entries if entry.kind in ("graph", "model"))
        headers = sum(entry.alignment + 200 + 2 * len(entry.name) for entry in entries)
        size = self.archive.stat().st_size
        self.assertLess(size, sum(map(len, set(tensors))) + graphs + headers)
        self.assertLess(size, 0.6 * sum(path.stat().st_size for path in self.files.values()))

    def test_its_folder_comes_back(self) -> None:
        onnxar.unpack(self.archive, f"{self.folder}/back/")
        self.assertEqual({path.name for path in (self.folder / "back").iterdir()}, {path.name for path in self.files.values()})
        for path in self.files.values():
            self.assertEqual((self.folder / "back" / path.name).read_bytes(), path.read_bytes())

    def decoded(self, sessions: dict[str, ort.InferenceSession]) -> list[np.ndarray]:
        """The logits of a first token, and of three more with the keys and values of the earlier ones."""
        features = np.random.default_rng(1).standard_normal((1, whisper.FRAMES, whisper.MELS), np.float32)
        (state,) = sessions["encoder_model"].run(None, {"input_features": features})
        session = sessions["decoder_model"]
        given: dict[str, np.ndarray] = {"encoder_hidden_states": state}
        tokens, logits, past, cross = np.array([[7]], np.int64), [], {}, {}
        for position in range(4):
            given |= {"input_ids": tokens, "position_ids": np.array([[position]], np.int64)}
            found = dict(zip([output.name for output in session.get_outputs()], session.run(None, given)))
            logits.append(found["logits"])
            tokens = logits[-1][:, -1:].argmax(-1)
            past = {name.replace("present", "past"): value for name, value in found.items() if name.startswith("present.")}
            cross |= {name.replace("present_", ""): value for name, value in found.items() if name.startswith("present_cross")}
            session, given = sessions["decoder_with_past_model"], past | cross
        return logits

    def test_it_decodes_as_its_parts_do(self) -> None:
        plain = {name: ort.InferenceSession(path, providers=ON_CPU) for name, path in self.files.items()}
        packed = {name: onnxar.onnxruntime.InferenceSession(self.archive, graph=name, providers=ON_CPU) for name in self.files}
        for one, other in zip(self.decoded(plain), self.decoded(packed), strict=True):
            np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    unittest.main()

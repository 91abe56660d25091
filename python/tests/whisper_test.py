"""A model of three graphs, with the proportions of Whisper: made by whisper.py, without an exporter. with_whisper.py has what torch exports."""

from __future__ import annotations

import unittest

import whisper
from support import FolderTest

import onnxar


class WhisperTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.models = whisper.trio()
        self.files = {name: self.folder / f"{name}.onnx" for name in self.models}
        for name, model in self.models.items():
            self.files[name].write_bytes(model.SerializeToString())
        self.archive = self.folder / "whisper.onnxar"
        onnxar.pack(list(self.files.values()), self.archive)


class Whisper(WhisperTest):
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


if __name__ == "__main__":
    unittest.main()

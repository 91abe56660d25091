"""Archives with known digests, and copies of them in which an attacker has changed something. CRC-32s are always right."""

from __future__ import annotations

import hashlib
import pathlib
import zipfile

import onnx
from building import MODEL, archive
from graphs_test import linked, model_of
from support import FolderTest, matmul_model, weights

import onnxar

GRAPH, FILE = "b.onnx", "t.json"


class Known:
    """An argument for `verify`: digests that the caller trusts."""

    def __init__(self, entries: dict[str, bytes]) -> None:
        self.known = {name: hashlib.sha256(data).digest() for name, data in entries.items()}

    def digests(self, archive: object, path: str, beside: str | None) -> dict[str, bytes]:
        return self.known


def entries_of(path: pathlib.Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


class GuardedTest(FolderTest):
    """`path` is an archive of a model with the weights `w`, `b` and `scale`, a graph with `b` and `own`, and a side file."""

    def setUp(self) -> None:
        super().setUp()
        model = matmul_model(512)
        whole = self.folder / "whole.onnxar"
        onnxar.save(model, whole)
        graph = model_of(linked("b", "b", 512), linked("own", "own", 300)).SerializeToString()
        self.entries = {**entries_of(whole), "own": weights(300, seed=3).tobytes(), GRAPH: graph, FILE: b"{}"}
        self.path = self.folder / "m.onnxar"
        self.written(self.entries)
        self.known = Known(self.entries)

    def written(self, entries: dict[str, bytes], path: pathlib.Path | None = None) -> pathlib.Path:
        """Writes an archive of these entries, the model last."""
        rest = {name: data for name, data in entries.items() if name != MODEL}
        (path or self.path).write_bytes(archive(entries[MODEL], **rest))
        return path or self.path

    def changed(self, name: str) -> dict[str, bytes]:
        """Returns the entries with different, equally valid bytes in one of them."""
        data = self.entries[name]
        if name in (MODEL, GRAPH):
            model = onnx.ModelProto.FromString(data)
            model.doc_string = "changed"
            return {**self.entries, name: model.SerializeToString()}
        return {**self.entries, name: data[:-1] + bytes([data[-1] ^ 1])}

    def wrong(self, entry: str, call: object, *arguments: object, **named: object) -> onnxar.Error:
        """Expects that the call is refused because of this entry."""
        error = self.refused("signature.mismatch", call, *arguments, **named)
        self.assertEqual(error.entry, entry, error)
        return error

"""Archives that earlier versions wrote stay valid, and hold the same tensors."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL
from support.command_line import ToolCase, onnxar
from support.onnx_walk import parse, sites

FOLDER = Path(__file__).resolve().parents[1] / "data" / "archives_of_draft"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def each() -> Iterator[tuple[Path, dict[str, Any]]]:
    for row in json.loads((FOLDER / "manifest.json").read_text()):
        yield FOLDER / row["file"], row


class DraftArchives(ToolCase):
    """Each of tests/data/archives_of_draft."""

    def test_there_are_ten_as_they_were_written(self) -> None:
        files = {path.name for path in FOLDER.glob("*.onnxar")}
        self.assertEqual(len(files), 10)
        self.assertEqual(files, {path.name for path, _ in each()})
        for path, row in each():
            with self.subTest(path.name):
                self.assertEqual(sha256(path.read_bytes()), row["sha256"])

    def test_check_finds_no_error(self) -> None:
        for path, _ in each():
            with self.subTest(path.name):
                report = json.loads(onnxar("check", "--data", "--json", path))
                errors = [each for each in report["findings"] if each["severity"] == "error"]
                self.assertEqual((report["ok"], errors), (True, []))

    def test_entries_are_where_they_were(self) -> None:
        for path, row in each():
            with self.subTest(path.name):
                listing = json.loads(onnxar("ls", "--json", path))
                listed = [*listing["entries"], {"name": MODEL, **listing["model"]}]
                keys = ("name", "offset", "size", "crc32")
                self.assertEqual([{key: each[key] for key in keys} for each in listed], row["entries"])

    def test_tensors_are_read_in_place(self) -> None:
        for path, row in each():
            with self.subTest(path.name):
                names = [tensor["name"] for tensor in row["tensors"]]
                for tensor in row["tensors"]:
                    is_alone = names.count(tensor["name"]) == 1  # else the name is ambiguous
                    if not is_alone or tensor["type"] == wire.STRING:
                        continue
                    output = self.folder / "tensor.bin"
                    onnxar("extract", path, tensor["name"], "--raw", "-f", "-o", output)
                    self.assertEqual(sha256(output.read_bytes()), tensor["sha256"], tensor["name"])

    def test_the_model_comes_out_with_the_same_tensors(self) -> None:
        for path, row in each():
            with self.subTest(path.name):
                output = self.folder / "model.onnx"
                onnxar("unpack", path, "-f", "-q", "-o", output)
                self.assertEqual(sha256(output.read_bytes()), row["model_sha256"])
                self.assertEqual(list(map(told, sites(parse(output.read_bytes())))), row["tensors"])

    def test_repack_keeps_the_tensors(self) -> None:
        for path, row in each():
            with self.subTest(path.name):
                output, model = self.folder / "again.onnxar", self.folder / "again.onnx"
                onnxar("repack", path, "-f", "-q", "-o", output)
                onnxar("unpack", output, "-f", "-q", "-o", model)
                self.assertEqual(sha256(model.read_bytes()), row["model_sha256"])

    def test_they_can_be_edited_and_the_edit_undone(self) -> None:
        for path, row in each():
            with self.subTest(path.name):
                edited = self.folder / "edited.onnxar"
                shutil.copy(path, edited)
                with zipfile.ZipFile(path) as archive:
                    model = self.folder / "linked.onnx"
                    model.write_bytes(archive.read(MODEL))
                onnxar("replace", edited, model)
                self.assertGreater(edited.stat().st_size, path.stat().st_size)
                onnxar("check", "--data", edited)
                onnxar("undo", "--force", edited)
                self.assertEqual(sha256(edited.read_bytes()), row["sha256"])


def told(site: Any) -> dict[str, Any]:
    tensor = site.tensor
    return {
        "site": site.path,
        "name": tensor.name,
        "type": tensor.data_type,
        "dims": list(tensor.dims),
        "sha256": sha256(tensor.raw_data),
    }


if __name__ == "__main__":
    command_line.main()

"""Archives with one wrong entry, by name, storage or model: refused with a code and a place.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests bad_entry_test.py
"""

from __future__ import annotations

import struct
import zlib

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights
from support.command_line import FORMAT, Fault, ToolCase


class Names(ToolCase):
    def test_duplicate_names(self) -> None:
        archive = Archive([*weights("a", "b", "a"), model_of(linked("a"))])
        self.refuses_archive(archive, "zip.name.duplicate", "a", archive.central[2])

    def test_names_equal_under_folding(self) -> None:
        archive = Archive([*weights("Weight", "weighT"), model_of(linked("Weight"))])
        self.refuses_archive(archive, "zip.name.folded", "weighT", archive.central[1])

    def test_name_that_is_a_file_and_a_folder(self) -> None:
        archive = Archive([*weights("a", "a/b"), model_of(linked("a"))])
        self.refuses_archive(archive, "zip.name.prefix", "a/b", archive.central[1])

    NAMES = (
        ("/etc/passwd", "zip.name.absolute"),
        ("../x", "zip.name.part"),
        ("a/../../x", "zip.name.part"),
        ("a//b", "zip.name.part"),
        ("a/", "zip.name.directory"),
        ("C:x", "zip.name.character"),
        ("weights;1", "zip.name.character"),
        ("a../x", "zip.name.part_end"),
        ("nul.txt", "zip.name.device"),
        ("n" * 256, "zip.name.part_too_long"),
        ("n" * 1025, "zip.name.too_long"),
        ("__MODEL_PROTO2", "archive.name.reserved"),
    )

    def test_names_that_no_entry_may_have(self) -> None:
        for name, code in self.NAMES:
            with self.subTest(name=name[:20]):
                archive = Archive([Entry(name, b"data"), model_of(wire.tensor("w"))])
                path = self.write("broken.onnxar", archive.file)
                self.finds(Fault(code, name, archive.central[0]), path)
                self.fails(FORMAT, f"onnxar: error[{code}] {path}: entry ", "ls", path)

    def test_names_that_a_terminal_would_obey(self) -> None:
        for name, spelt in (
            ("a\x1b[31m", r"a\x1b[31m"),
            ("a\n", r"a\x0a"),
            ("a\x7f", r"a\x7f"),
            ("a\0", r"a\x00"),
        ):
            with self.subTest(name=name):
                archive = Archive([Entry(name, b"data"), model_of(wire.tensor("w"))])
                path = self.write("broken.onnxar", archive.file)
                self.finds(Fault("zip.name.character", name, archive.central[0]), path)
                fault = Fault("zip.name.character", spelt, archive.central[0])
                self.fails(FORMAT, fault.line(path), "ls", path)

    def test_name_that_is_no_utf8(self) -> None:
        archive = Archive([Entry("a\udcff", b"data"), model_of(wire.tensor("w"))])
        fault = Fault("zip.name.character", "a\\xff", archive.central[0])
        path = self.write("broken.onnxar", archive.file)
        self.fails(FORMAT, fault.line(path), "ls", path)
        self.finds(fault._replace(entry="a\ufffd"), path)


class Storage(ToolCase):
    def test_deflated_entry(self) -> None:
        data = zlib.compress(bytes(1200))[2:-4]
        archive = Archive([Entry("a", data), model_of(linked("a"))])
        archive.set_both(0, method=8, size=1200)
        message = self.refuses_archive(archive, "zip.entry.method", "a", archive.central[0])
        self.assertIn("onnxar repack", message)

    def test_unaligned_entry(self) -> None:
        for zeros in (0, 26, 28, 60):
            with self.subTest(zeros=zeros):
                extra = struct.pack("<HHH", 0xD935, 2 + zeros, 64) + bytes(zeros)
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, padding=extra), model_of(linked("a"))])
                message = self.refuses_archive(archive, "zip.padding.alignment", "a", 0)
                self.assertIn("onnxar repack", message)

    PADDINGS = (  # 33 bytes each, so that the data is aligned all the same
        ("not zero, and longer", struct.pack("<HHH", 0xD935, 93, 64) + b"\1" * 91, "record"),
        ("not zero", struct.pack("<HHH", 0xD935, 29, 64) + b"\1" * 27, "record"),
        ("alignment 0", struct.pack("<HHH", 0xD935, 29, 0) + bytes(27), "alignment"),
        ("alignment 32", struct.pack("<HHH", 0xD935, 29, 32) + bytes(27), "alignment"),
        ("alignment 96", struct.pack("<HHH", 0xD935, 29, 96) + bytes(27), "alignment"),
        ("alignment 128", struct.pack("<HHH", 0xD935, 29, 128) + bytes(27), "alignment"),
    )

    def test_padding_records(self) -> None:
        for label, extra, code in self.PADDINGS:
            with self.subTest(label):
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, padding=extra), model_of(linked("a"))])
                self.refuses_archive(archive, f"zip.padding.{code}", "a", 0)

    def test_padding_of_other_makers(self) -> None:
        for label, extra, code in (
            ("zipalign", bytes(33), "zip.extra.unknown"),
            ("PyTorch", b"FB" + struct.pack("<H", 29) + b"Z" * 29, "zip.extra.unknown"),
            ("none", b"", "zip.padding.alignment"),
        ):
            with self.subTest(label):
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, padding=extra), model_of(linked("a"))])
                self.assertIn("onnxar repack", self.refuses_archive(archive, code, "a", 0))


class ModelEntry(ToolCase):
    def test_model_that_is_missing(self) -> None:
        archive = Archive(weights("a"))
        self.refuses_archive(archive, "archive.model.missing", None, archive.directory)

    def test_second_model(self) -> None:
        model = model_of(linked("a"))
        archive = Archive([*weights("a"), model, model])
        self.refuses_archive(archive, "zip.name.duplicate", MODEL, archive.central[2])

    def test_model_that_is_not_last(self) -> None:
        archive = Archive([model_of(linked("a")), *weights("a")])
        self.refuses_archive(archive, "archive.model.not_last", MODEL, archive.central[0])

    def test_model_that_does_not_parse(self) -> None:
        good = wire.plain(linked("a"))
        for label, model, code, at in (
            ("cut short", good[:-1], "wire.truncated", good.rindex(b"\x42")),
            ("no field", b"\x00" + good, "wire.tag", 0),
            ("group", b"\x0b" + good, "wire.type", 0),
            ("endless number", b"\x08" + b"\xff" * 11, "wire.varint", 1),
            ("no graph", b"\x08\x08", "onnx.model.invalid", 0),
            ("empty", b"", "onnx.model.invalid", 0),
        ):
            with self.subTest(label):
                archive = Archive([*weights("a"), Entry(MODEL, model)])
                self.refuses_archive(archive, code, MODEL, archive.data[1] + at)


if __name__ == "__main__":
    command_line.main(__doc__)

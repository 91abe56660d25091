"""Archives with a wrong field, a wrong order or bytes around them: every verb refuses them with a code and a place.

One fault of each kind; the vectors and the tests of `zip` have all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from support import command_line
from support.archives import Archive, Entry, linked, model_of, sound, weights
from support.command_line import FORMAT, Fault, ToolCase


class SoundArchive(ToolCase):
    """The archive that all faults are made from is valid."""

    def test_is_good(self) -> None:
        path = self.write("sound.onnxar", sound().file)
        self.succeeds("check", "--strict", "--data", path)

    def test_is_what_pack_writes(self) -> None:
        for alignment in (64, 4096):
            entries = (*weights("a", "b"), model_of(linked("a"), linked("b")))
            made = Archive(Entry(each.name, each.data, alignment) for each in entries)
            path = self.write("made.onnxar", made.file)
            self.succeeds("pack", path, "-o", self.output, "-f", "--align", alignment)
            self.assertEqual(self.output.read_bytes(), bytes(made.file))


class Damage(NamedTuple):
    """What is done to the sound archive, and the expected error; `at` gives the offset."""

    change: Callable[[Archive], None]
    code: str
    entry: str | None
    at: Callable[[Archive], int]


FAULTS = {
    "a local header": Damage(lambda it: it.set_local(1, crc32=0), "zip.local.field", "b", lambda it: it.headers[1]),
    "a directory header": Damage(lambda it: it.set_central(1, flags=1), "zip.entry.encrypted", "b", lambda it: it.central[1]),
    "a nameless header": Damage(lambda it: it.set_central(1, name_length=0), "zip.name.empty", None, lambda it: it.central[1]),
    "the end record": Damage(lambda it: it.set_end(disk=1), "zip.end.multi_disk", None, lambda it: it.end),
    "the count": Damage(lambda it: it.set_end(entries=0, entries_here=0), "zip.directory.empty", None, lambda it: it.directory),
    "an overlap": Damage(lambda it: it.set_both(0, size=1400, compressed=1400), "zip.entry.overlap", "a", lambda it: 0),
    "bytes after the end": Damage(lambda it: it.file.extend(bytes(21)), "zip.end.not_last", None, lambda it: it.end),
    "many bytes after the end": Damage(lambda it: it.file.extend(bytes(70_000)), "zip.end.missing", None, lambda it: len(it.file)),
}


class Faults(ToolCase):
    def test_every_verb_reports_code_entry_and_offset(self) -> None:
        for label, damage in FAULTS.items():
            with self.subTest(label):
                archive = sound()
                damage.change(archive)
                self.refuses_archive(archive, damage.code, damage.entry, damage.at(archive))

    # Also bytes that begin as a model or a text: a file that ends as a zip is a zip.
    PREFIXES = (b"#", b"#!/bin/sh\n", b"\x08\x08", bytes(64), b"x" * 70_000)

    def test_prepended_bytes(self) -> None:
        for prefix in self.PREFIXES:
            with self.subTest(prefix=prefix[:10]):
                archive = sound()
                archive.file[:0] = prefix
                end = archive.end + len(prefix)
                self.expect_prepended(archive, Fault("zip.end.directory_bounds", None, end))

    def test_prepended_bytes_that_all_offsets_know_of(self) -> None:
        for prefix in self.PREFIXES:
            with self.subTest(prefix=prefix[:10]):
                archive = sound()
                archive.prepend(prefix)
                place = archive.directory + len(prefix)
                self.expect_prepended(archive, Fault("zip.entry.first_offset", "a", place))

    def expect_prepended(self, archive: Archive, fault: Fault) -> None:
        """All verbs see the zip in the file, and report the faults of the zip."""
        message = self.refuses_archive(archive, *fault)
        self.assertRegex(message, "bytes (precede the archive|were inserted)")
        self.assertNotRegex(message.lower(), "protobuf|message|wire")
        path = self.folder / "broken.onnxar"
        self.fails(FORMAT, fault.line(path), "cat", path, "a")


if __name__ == "__main__":
    command_line.main()

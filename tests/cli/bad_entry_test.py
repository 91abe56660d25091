"""Archives with one wrong entry, by name, storage or model: refused with a code and a place."""

from __future__ import annotations

import zlib

from support import command_line
from support import wire_writer as wire
from support.archives import Archive, Entry, linked, model_of
from support.command_line import FORMAT, Fault, ToolCase


class Names(ToolCase):
    # As the JSON has them, and as a line on stderr does.
    NAMES = (
        ("a\x1b[31m", "a\x1b[31m", r"a\x1b[31m"),
        ("a\n", "a\n", r"a\x0a"),
        ("a\x7f", "a\x7f", r"a\x7f"),
        ("a\0", "a\0", r"a\x00"),
        ("a\udcff", "a\ufffd", r"a\xff"),  # is not UTF-8
    )

    def test_names_that_a_terminal_would_obey_are_escaped(self) -> None:
        for name, told, spelt in self.NAMES:
            with self.subTest(name=name):
                archive = Archive([Entry(name, b"data"), model_of(wire.tensor("w"))])
                path = self.write("broken.onnxar", archive.file)
                self.finds(Fault("zip.name.character", told, archive.central[0]), path)
                fault = Fault("zip.name.character", spelt, archive.central[0])
                self.fails(FORMAT, fault.line(path), "ls", path)


class Storage(ToolCase):
    def test_deflated_entry(self) -> None:
        data = zlib.compress(bytes(1200))[2:-4]
        archive = Archive([Entry("a", data), model_of(linked("a"))])
        archive.set_both(0, method=8, size=1200)
        message = self.refuses_archive(archive, "zip.entry.method", "a", archive.central[0])
        self.assertIn("onnxar repack", message)


if __name__ == "__main__":
    command_line.main()

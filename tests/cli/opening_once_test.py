"""Verbs open each input once, so that no other file can take its name between two looks at it."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import ToolCase


class OpeningOnceTest(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.model = self.write("m.onnx", wire.plain(wire.tensor("w")))
        self.archive = self.folder / "a.onnxar"
        self.succeeds("pack", self.model, "-o", self.archive)

    def opened(self, path: Path, *command: object) -> int:
        """The number of times that the command opens the file."""
        self.natively()
        if shutil.which("strace") is None:
            self.skipTest("strace counts the calls, and is not there")
        log = self.folder / "log"
        strace = ["strace", "-f", "-o", str(log), "-e", "trace=open,openat,openat2", os.environ["ONNXAR"]]
        # The leak detector does not work in a program that is traced.
        self.succeeds(*command, tool=strace, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        self.output.unlink(missing_ok=True)
        return len(re.findall(rf'"(?:[^"]*/)?{re.escape(path.name)}"', log.read_text()))

    def test_model_and_archive_are_opened_once(self) -> None:
        for path, verb in ((self.model, "pack"), (self.archive, "unpack"), (self.model, "check"), (self.archive, "dump")):
            with self.subTest(verb=verb):
                options = () if verb in ("check", "dump") else ("-o", self.output)
                self.assertEqual(self.opened(path, verb, path, *options), 1)

    def test_foreign_zip_is_opened_once(self) -> None:
        path = self.folder / "z.zip"
        for front in (b"", b"#!/bin/sh\n"):
            with self.subTest(front=front):
                with path.open("wb") as file:
                    file.write(front)
                    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
                        made.write(self.model, "m.onnx")
                self.assertEqual(self.opened(path, "pack", path, "-o", self.output), 1)

    def test_compared_archives_are_read_once(self) -> None:
        other = self.folder / "b.onnxar"
        shutil.copy(self.archive, other)
        for path in (self.archive, other):
            # At the end it is opened twice more, to see that it is still the file that was read.
            self.assertEqual(self.opened(path, "diff", self.archive, other), 3)

    def test_models_of_a_folder_are_opened_once(self) -> None:
        plain = self.model.read_bytes()
        first, second = (self.write(f"export/{name}", plain) for name in ("model.onnx", "b.onnx"))
        for path in (first, second):
            self.assertEqual(self.opened(path, "pack", first.parent, "-o", self.output), 1)


if __name__ == "__main__":
    command_line.main()

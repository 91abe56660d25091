"""Files that are not archives, parts of archives, and damaged archives are refused with a code and a place."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from support import command_line
from support.archives import sound
from support.command_line import FORMAT, FOUND, IO, Fault, ToolCase, run


class NoArchive(ToolCase):
    READERS = (
        ("pack", "-o", "out"),
        ("unpack", "-o", "out"),
        ("ls",),
        ("check", "-q"),
        ("cat", "--model"),
    )

    def all_refuse(self, exit_code: int, code: str, path: Path, **options: Any) -> None:
        for verb, *rest in self.READERS:
            line = Fault(code).line(path)
            self.fails(exit_code, line, verb, path, *rest, cwd=self.folder, **options)

    def test_missing_file(self) -> None:
        self.all_refuse(IO, "io.not_found", self.folder / "nowhere.onnxar")

    def test_fifo(self) -> None:
        os.mkfifo(self.folder / "fifo")
        self.all_refuse(IO, "io.not_a_file", self.folder / "fifo")

    def test_unreadable_file(self) -> None:
        path = self.model()
        path.chmod(0)
        self.all_refuse(IO, "io.permission", path, tool=self.as_ordinary_user())

    def test_random_bytes(self) -> None:
        for seed in range(20):
            path = self.write("noise", random.Random(seed).randbytes(3000))
            with self.subTest(seed=seed), self.nothing_changes():
                self.assertEqual(run("check", path).returncode, FOUND)
                for verb in ("pack", "unpack"):
                    self.assertEqual(run(verb, path, "-o", self.output).returncode, FORMAT)
                self.assertEqual(run("ls", path).returncode, FORMAT)


class WrongChecksum(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        archive = sound()
        archive.file[archive.data[1] + 700] ^= 1
        self.fault = Fault("zip.data.crc", "b", archive.data[1])
        self.path = self.write("damaged.onnxar", archive.file)

    def test_every_verb_that_copies_the_data_refuses(self) -> None:
        line = self.fault.line(self.path)
        self.fails(FORMAT, line, "pack", self.path, "-o", self.output)
        self.fails(FORMAT, line, "unpack", self.path, "-o", self.output)
        data = ("--external-data", "weights.bin")
        self.fails(FORMAT, line, "unpack", self.path, "-o", self.output, *data)
        self.fails(FORMAT, line, "cat", self.path, "b")


if __name__ == "__main__":
    command_line.main()

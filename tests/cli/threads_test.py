"""`-j N`: the results do not depend on N, and with 1 only the first thread runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import Entry, model_of
from support.command_line import FOUND, MIB, USAGE, ToolCase, run

NAMES = ["a", "b", "c", "d"]


class Threads(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.source = self.model(*(wire.tensor(name, wire.UINT8, 3 * MIB) for name in NAMES))
        self.made = self.folder / "made.onnxar"
        self.succeeds("pack", self.source, "-o", self.made)

    def commands(self) -> dict[str, tuple[object, ...]]:
        return {
            "pack": ("pack", self.source, "-o", self.output),
            "pack ARCHIVE": ("pack", self.made, "-o", self.output),
            "repack": ("repack", self.made, "-o", self.output),
            "unpack": ("unpack", self.made, "-o", self.output),
            "check": ("check", "--data", self.made),
            "digest": ("digest", self.made),
        }

    def test_results_are_the_same(self) -> None:
        expected = {"unpack": self.source.read_bytes()}
        for name, command in self.commands().items():
            for threads in (1, 2, 64):
                with self.subTest(command=name, threads=threads):
                    self.succeeds(*command, "-j", threads)
                    if self.output.exists():
                        self.assertTrue(self.output.read_bytes() == expected.get(name, self.made.read_bytes()))
                        self.output.unlink()

    def started(self, *command: object) -> int:
        """The number of threads that the command starts."""
        log = self.folder / "log"
        strace = ["strace", "-f", "-o", str(log), "-e", "trace=clone,clone3", os.environ["ONNXAR"]]
        # The leak detector does not work in a program that is traced.
        self.succeeds(*command, tool=strace, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        return sum(" clone" in line and "resumed" not in line for line in log.read_text().splitlines())

    def test_one_is_one(self) -> None:
        self.natively()
        if shutil.which("strace") is None:
            self.skipTest("no strace to see threads with")
        for name, command in self.commands().items():
            with self.subTest(command=name):
                self.assertEqual(self.started(*command, "-j", 1), 0)
                self.output.unlink(missing_ok=True)
                self.assertGreater(self.started(*command, "-j", 2), 0)
                self.output.unlink(missing_ok=True)

    def test_no_numbers_of_threads(self) -> None:
        for threads in ("0", "-1", "1.5", "many", "", "1025"):
            with self.subTest(threads=threads), self.nothing_changes():
                self.assertEqual(run("check", self.made, "-j", threads).returncode, USAGE)

    def test_damaged_entries_are_reported_in_their_order(self) -> None:
        entries = [Entry(name, wire.content(wire.UINT8, MIB, name), 4096) for name in NAMES]
        links = [wire.fields_of(name, wire.UINT8, [MIB], wire.DataFile(name).link(length=MIB)) for name in NAMES]
        path = self.archive_of(*entries, model_of(*links), name="damaged.onnxar")
        self.damage(path)
        told = [run("check", "--data", "-q", path, "-j", threads) for threads in (1, 2, 8)]
        self.assertEqual([each.returncode for each in told], [FOUND] * 3)
        lines = told[0].stdout.decode().splitlines()
        self.assertEqual([line.split('"')[1] for line in lines], NAMES)
        self.assertEqual(len({each.stdout for each in told}), 1)

    def damage(self, path: Path) -> None:
        """Damages one byte of every weight."""
        with open(path, "r+b") as file:
            for entry in self.listing(path)["entries"]:
                if entry["name"] in NAMES:
                    file.seek(entry["offset"] + 1000)
                    [byte] = file.read(1)
                    file.seek(-1, os.SEEK_CUR)
                    file.write(bytes([byte ^ 1]))


if __name__ == "__main__":
    command_line.main()

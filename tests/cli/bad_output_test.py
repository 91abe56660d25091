"""Outputs that cannot be written are refused, and nothing is lost."""

from __future__ import annotations

import os
import resource
from functools import partial
from pathlib import Path
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.command_line import IO, MIB, USAGE, Fault, ToolCase


class WriterCase(ToolCase):
    """Writing `self.source` to the target is refused."""

    source: Path

    def all_fail(
        self, exit_code: int, begins: str, target: Path, *options: str, **how: Any
    ) -> list[str]:
        """Expects that every way to write to the target fails like this; returns the lines."""
        commands = self.each_way_to_write(self.source)
        calls = [(*command, "-o", target, *options) for command in commands]
        return [self.fails(exit_code, begins, *call, **how) for call in calls]


class Outputs(WriterCase):
    def setUp(self) -> None:
        super().setUp()
        self.source = self.archive("w")

    def test_exists(self) -> None:
        self.write("out", b"precious")
        line = Fault("output.exists").line(self.output)
        for told in self.all_fail(USAGE, line, self.output):
            self.assertIn("--force", told)

    def test_folder_is_missing(self) -> None:
        nowhere = self.folder / "nowhere"
        self.all_fail(IO, Fault("io.not_found").line(nowhere), nowhere / "out")

    def test_folder_is_a_file(self) -> None:
        self.all_fail(IO, "onnxar: error[io.not_found]", self.source / "out")

    def test_is_a_folder(self) -> None:
        self.write("out/precious", b"")
        unpack = ("unpack", self.source)  # it writes into a folder, if that is empty
        for command in self.each_way_to_write(self.source):
            fault = Fault("output.not_empty" if command[:2] == unpack else "io.not_a_file").line(self.output)
            for options in ((), ("-f",)):
                self.fails(USAGE if command[:2] == unpack else IO, fault, *command, "-o", self.output, *options)

    def test_is_the_input(self) -> None:
        (self.folder / "link").symlink_to(self.source.name)
        for target in (self.source, self.folder / "." / self.source.name, self.folder / "link"):
            for command in (("extract", self.source, "w", "-f", "-o"), ("show", self.source, "-f", "--html")):
                self.fails(USAGE, Fault("usage.argument").line(target), *command, target)

    def test_is_larger_than_the_limit_of_the_shell(self) -> None:
        self.on_posix("it has none")
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (64, 64))
        self.all_fail(IO, "onnxar: error[io.failed] ", self.output, preexec_fn=limit)
        edit = ("replace", self.source, "--add", f"notes.txt={self.source}")
        self.fails(IO, "onnxar: error[io.failed] ", *edit, preexec_fn=limit)

    def test_group_that_cannot_be_kept_gets_no_rights(self) -> None:
        self.on_posix("modes are those of POSIX")
        tool = self.as_ordinary_user()
        if os.geteuid() != 0:
            self.skipTest("needs a file of another group")
        target = self.write("shared/out", b"old")
        target.chmod(0o664)
        target.parent.chmod(0o777)
        pack = ("pack", self.source, "-f", "-o", target)
        self.succeeds(*pack, tool=tool)
        self.assertEqual(target.stat().st_mode & 0o777, 0o644)
        self.succeeds(*pack)  # by root, who keeps the owner
        self.assertNotEqual(target.stat().st_uid, 0)

    def test_data_file_is_a_folder(self) -> None:
        (self.folder / "data").mkdir()
        command = ("unpack", self.source, "--external-data", "data", "-o", self.output)
        for force in ((), ("-f",)):
            self.fails(IO, Fault("io.not_a_file").line(self.folder / "data"), *command, *force)

    def test_folder_is_not_writable(self) -> None:
        tool = self.as_ordinary_user()
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.all_fail(IO, Fault("io.permission").line(closed), closed / "out", tool=tool)

    def test_writable_output_in_a_folder_that_is_not(self) -> None:
        tool = self.as_ordinary_user()
        target = self.write("closed/out", b"precious")
        target.chmod(0o666)
        target.parent.chmod(0o555)
        self.all_fail(IO, Fault("io.permission").line(target.parent), target, "-f", tool=tool)


class FullDisk(WriterCase):
    """A file system of 1 MiB, and a model of 4 MiB."""

    def setUp(self) -> None:
        super().setUp()
        self.source = self.model(wire.tensor("w", wire.UINT8, 4 * MIB))
        self.small = self.small_disk("1m")

    def test_nothing_is_left(self) -> None:
        for command in self.each_way_to_write(self.source):
            target = self.small / "out"
            place = target.with_name("weights.bin") if "--external-data" in command else target
            line = self.fails(IO, Fault("io.disk_full").line(place), *command, "-o", target)
            self.assertIn("disk is full", line)

    def test_replaced_output_stays(self) -> None:
        target = self.write("small/out", b"precious")
        self.all_fail(IO, "onnxar: error[io.disk_full]", target, "-f")


if __name__ == "__main__":
    command_line.main()

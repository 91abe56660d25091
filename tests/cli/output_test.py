"""Outputs: modes, links, dry runs, outputs that are the input, the same bytes every time.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests output_test.py
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import IO, MIB, USAGE, ToolCase, snapshot


class DryRun(ToolCase):
    def test_writes_nothing(self) -> None:
        for command in self.each_way_to_write(self.archive("w")):
            for flag in ("-n", "--dry-run"):
                with self.subTest(command=command, flag=flag), self.nothing_changes():
                    done = self.succeeds(*command, "-o", self.output, flag)
                    self.assertIn("would", done.stderr)
                    self.assertEqual(done.stdout, b"")


class DryRunInAReadOnlyPlace(ToolCase):
    """A dry run only plans: it opens nothing for writing."""

    def setUp(self) -> None:
        super().setUp()
        self.tool = self.as_ordinary_user()
        self.model_file = self.archive("w")
        self.closed = self.folder / "closed"
        self.closed.mkdir()

    def close(self) -> None:
        self.closed.chmod(0o555)

    def every_command(self) -> list[tuple[object, ...]]:
        commands = list(self.each_way_to_write(self.model_file))
        return [*commands, ("repack", self.model_file), ("freeze", self.model_file), ("extract", self.model_file, "w")]

    def test_every_verb_plans(self) -> None:
        self.close()
        for command in self.every_command():
            with self.subTest(command=command), self.nothing_changes():
                self.succeeds(*command, "-o", self.closed / "out", "-n", tool=self.tool)
                self.fails(IO, "onnxar: error[io.permission]", *command, "-o", self.closed / "out", tool=self.tool)

    def test_a_folder_that_would_be_made_is_planned(self) -> None:
        self.close()
        for command in (("unpack", self.model_file), ("extract", self.model_file, "*")):
            with self.subTest(command=command), self.nothing_changes():
                self.succeeds(*command, "-o", f"{self.closed}/new/", "-n", tool=self.tool)

    def test_what_planning_can_know_is_still_a_fault(self) -> None:
        Path(self.closed, "out").write_bytes(b"precious")
        self.close()
        for command in self.every_command():
            with self.subTest(command=command):
                line = "onnxar: error[output.exists]"
                self.fails(USAGE, line, *command, "-o", self.closed / "out", "-n", tool=self.tool)
                line = "onnxar: error[io.not_found]"
                self.fails(IO, line, *command, "-o", self.closed / "no" / "out", "-n", tool=self.tool)

    def test_an_archive_that_cannot_be_written_is_planned_to_be_edited(self) -> None:
        archive = self.closed / "a.onnxar"
        archive.write_bytes(self.model_file.read_bytes())
        archive.chmod(0o444)
        self.close()
        added = self.write("notes.txt", b"notes")
        edit = ("replace", archive, "--add", f"notes.txt={added}")
        with self.nothing_changes():
            done = self.succeeds(*edit, "-n", tool=self.tool)
        self.assertIn("would replace", done.stderr)
        self.fails(IO, "onnxar: error[io.permission]", *edit, tool=self.tool)

    def test_a_plan_of_an_edit_gives_the_size_of_the_file(self) -> None:
        added = self.write("notes.txt", b"notes" * 1000)
        edit = ("replace", self.model_file, "--add", f"notes.txt={added}")
        planned = self.succeeds(*edit, "-n").stderr
        self.assertEqual(planned.replace("would replace", "replaced"), self.succeeds(*edit).stderr)


class Modes(ToolCase):
    def mode(self, path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    def test_force_keeps_the_mode(self) -> None:
        self.on_posix("it has access lists instead of modes")
        for mode in (0o600, 0o644, 0o755, 0o444):
            for command in self.each_way_to_write(self.archive("w")):
                with self.subTest(command=command, mode=oct(mode)):
                    for name in ("out", "weights.bin"):
                        self.write(name, b"old").chmod(mode)
                    self.succeeds(*command, "-o", self.output, "-f")
                    self.assertEqual(self.mode(self.output), mode)
                    self.assertEqual(self.mode(self.folder / "weights.bin"), mode)
                    self.assertNotEqual(self.output.read_bytes(), b"old")
                    self.output.unlink()
                    (self.folder / "weights.bin").unlink()

    def test_force_follows_a_link(self) -> None:
        self.on_posix("Wine 8 shows no symbolic links")
        (self.folder / "sub").mkdir()
        for command in self.each_way_to_write(self.archive("w")):
            with self.subTest(command=command):
                real = self.write("sub/real", b"old")
                self.output.unlink(missing_ok=True)
                self.output.symlink_to("sub/real")
                self.succeeds(*command, "-o", self.output, "-f")
                self.assertEqual(os.readlink(self.output), "sub/real")
                self.succeeds("check", real)

    def test_nothing_else_is_left_in_the_folder(self) -> None:
        source = self.archive("w")
        for command in self.each_way_to_write(source):
            for force in ((), ("-f",)):
                self.succeeds(*command, "-o", self.output, *force)
            names = {*snapshot(self.folder)} - {"weights.bin"}
            self.assertEqual(names, {"model.onnxar", "out"})
            self.output.unlink()


class SameFile(ToolCase):
    """Input and output are one file."""

    def test_pack_archive_onto_itself(self) -> None:
        path = self.packed(wire.tensor("a b"), wire.tensor("large", wire.UINT8, 3 * MIB))
        before = path.read_bytes()
        self.succeeds("pack", path, "-o", path, "-f")
        self.assertTrue(path.read_bytes() == before)


class Repeatable(ToolCase):
    def test_whatever_the_place_the_time_zone_and_the_mode(self) -> None:
        one, other = self.model(name="one.onnx"), self.model(name="sub/other.onnx")
        other.chmod(0o600)
        os.utime(other, (0, 0))
        self.succeeds("pack", one, "-o", self.output)
        far = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8"}
        self.succeeds("pack", other, "-o", self.folder / "sub" / "x", "--no-sync", env=far)
        self.assertEqual(self.output.read_bytes(), (self.folder / "sub" / "x").read_bytes())


if __name__ == "__main__":
    command_line.main(__doc__)

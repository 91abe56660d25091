"""Outputs: dry runs, what is left beside them, the same bytes every time."""

from __future__ import annotations

import os
from pathlib import Path

from support import command_line
from support.command_line import IO, USAGE, ToolCase, snapshot


class DryRun(ToolCase):
    def test_writes_nothing(self) -> None:
        source = self.archive("w")
        for command in (*self.each_way_to_write(source), ("repack", source)):
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

    def test_dry_run_plans_edit_of_a_read_only_archive(self) -> None:
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


class Folder(ToolCase):
    def test_nothing_else_is_left_in_the_folder(self) -> None:
        source = self.archive("w")
        for command in self.each_way_to_write(source):
            for force in ((), ("-f",)):
                self.succeeds(*command, "-o", self.output, *force)
            names = {*snapshot(self.folder)} - {"weights.bin"}
            self.assertEqual(names, {"model.onnxar", "out"})
            self.output.unlink()


class Beside(ToolCase):
    """Without -o, the output of pack and unpack is beside the input."""

    def test_pack_and_unpack_write_beside_the_input(self) -> None:
        model = self.model(name="sub/my.model.onnx")
        self.succeeds("pack", model)
        packed = model.with_suffix(".onnxar")
        self.succeeds("pack", model, "-o", self.output)
        self.assertEqual(packed.read_bytes(), self.output.read_bytes())
        before = model.read_bytes()
        model.unlink()
        self.succeeds("unpack", packed)
        self.assertEqual(model.read_bytes(), before)

    def test_the_ending_may_have_capitals(self) -> None:
        self.succeeds("pack", self.model(name="A.ONNX"))
        self.assertTrue((self.folder / "A.onnxar").is_file())

    def test_an_existing_file_is_not_replaced(self) -> None:
        archive = self.archive("w", name="a.onnxar")
        model = self.model(name="a.onnx")
        for command in (("pack", model), ("unpack", archive)):
            with self.nothing_changes():
                self.fails(USAGE, "onnxar: error[output.exists]", *command)
        self.succeeds("pack", model, "-f")

    def test_other_inputs_need_an_output(self) -> None:
        model, archive = self.model(), self.archive("w")
        for command in (("pack", model, archive), ("pack", archive), ("pack", "-"), ("unpack", model),
                        ("pack", model, "--graph", f"g={model}"), ("pack", "https://host/model.onnx"), ("unpack", archive, "--text"),
                        ("unpack", "s3://bucket/model.onnxar"), ("pack", self.write(".onnx", b""))):  # fmt: skip
            with self.subTest(command=command), self.nothing_changes():
                self.fails(USAGE, "onnxar: error[usage.argument] --output FILE is needed: only for a single file NAME.onnx", *command)


class Repeatable(ToolCase):
    def test_archive_is_independent_of_place_zone_and_mode(self) -> None:
        one, other = self.model(name="one.onnx"), self.model(name="sub/other.onnx")
        other.chmod(0o600)
        os.utime(other, (0, 0))
        self.succeeds("pack", one, "-o", self.output)
        far = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8"}
        self.succeeds("pack", other, "-o", self.folder / "sub" / "x", "--no-sync", env=far)
        self.assertEqual(self.output.read_bytes(), (self.folder / "sub" / "x").read_bytes())


if __name__ == "__main__":
    command_line.main()

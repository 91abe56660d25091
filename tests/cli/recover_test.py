"""recover: cuts off what an interrupted edit left."""

from __future__ import annotations


from support import command_line
from support.archives import linked, model_of, sound, weights
from support.command_line import FORMAT, IO, Fault, ToolCase


class Torn(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.before = bytes(sound().file)
        archive = sound()
        archive.edit(*weights("new"), model_of(linked("b"), linked("new")))
        self.whole = bytes(archive.file)
        self.path = self.write("model.onnxar", self.whole[:-5])
        self.fault = Fault("archive.torn", None, len(self.before))

    def test_every_verb_names_it(self) -> None:
        self.assertIn("onnxar recover", self.refuses(self.fault, self.path, "pack unpack ls"))
        line = self.fault.line(self.path)
        self.fails(FORMAT, line, "cat", self.path, "a")
        self.fails(FORMAT, line, "replace", self.path, self.model(linked("a")))
        self.fails(FORMAT, line, "undo", "--force", self.path)
        for what in (("-o", self.output), ("-c", 64)):
            self.assertIn("onnxar recover", self.fails(FORMAT, line, "repack", self.path, *what))

    def test_state_before_comes_back(self) -> None:
        told = self.succeeds("recover", self.path).stderr
        self.assertEqual(self.path.read_bytes(), self.before)
        cut = len(self.whole) - 5 - len(self.before)
        state = f"to the state of {len(self.before)} bytes with 3 entries"
        self.assertTrue(told.startswith(f"cut {cut} bytes, {state}"), told)
        self.succeeds("check", "--data", "--strict", "-q", self.path)

    def test_dry_run(self) -> None:
        with self.nothing_changes():
            told = self.succeeds("recover", "-n", self.path).stderr
        self.assertTrue(told.startswith("would cut "), told)

    def test_dry_run_needs_no_right_to_write(self) -> None:
        tool = self.as_ordinary_user()
        self.path.chmod(0o444)
        with self.nothing_changes():
            told = self.succeeds("recover", "-n", self.path, tool=tool).stderr
            self.assertTrue(told.startswith("would cut "), told)
            self.fails(IO, "onnxar: error[io.permission]", "recover", self.path, tool=tool)

    def test_complete_archive_needs_no_right_to_write(self) -> None:
        tool = self.as_ordinary_user()
        self.path.write_bytes(self.whole)
        self.path.chmod(0o444)
        with self.nothing_changes():
            self.assertIn("nothing to cut", self.succeeds("recover", self.path, tool=tool).stderr)

    def test_quiet(self) -> None:
        self.assertEqual(self.succeeds("recover", "-q", "--no-sync", self.path).stderr, "")
        self.assertEqual(self.path.read_bytes(), self.before)

    def test_complete_but_damaged_edit_needs_force(self) -> None:
        damaged = bytearray(self.whole)
        damaged[len(self.before) + 40] ^= 1  # in the header of what the edit added
        self.path.write_bytes(damaged)
        with self.nothing_changes():
            for dry in ((), ("-n",)):
                line = Fault("archive.unrecoverable", None, len(self.before)).line(self.path)
                told = self.fails(FORMAT, line, "recover", *dry, self.path)
                for part in ("--force", "onnxar repack", f"{len(self.before)} of {len(self.whole)} bytes", "\"new\""):
                    self.assertIn(part, told)
            self.succeeds("recover", "-n", "-f", self.path)
        self.succeeds("recover", "--force", self.path)
        self.assertEqual(self.path.read_bytes(), self.before)

    def test_edit_that_is_whole_stays(self) -> None:
        self.path.write_bytes(self.whole)
        with self.nothing_changes():
            self.assertIn("nothing to cut", self.succeeds("recover", self.path).stderr)


if __name__ == "__main__":
    command_line.main()

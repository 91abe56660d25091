"""undo: cuts off the last edit."""

from __future__ import annotations


from support import command_line
from support.archives import linked, model_of, sound, weights
from support.command_line import IO, USAGE, Fault, ToolCase


class Undone(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        archive = sound()
        self.states = [bytes(archive.file)]
        archive.edit(*weights("new"), model_of(linked("b"), linked("new")))
        self.states.append(bytes(archive.file))
        archive.edit(model_of(linked("new")))
        self.states.append(bytes(archive.file))
        self.path = self.write("model.onnxar", self.states[-1])

    def test_edit_after_edit(self) -> None:
        for state in reversed(self.states[:-1]):
            told = self.succeeds("undo", "--force", self.path).stderr
            self.assertEqual(self.path.read_bytes(), state)
            self.assertIn(f"to the state of {len(state)} bytes", told)
        line = Fault("usage.nothing_to_undo").line(self.path)
        self.fails(USAGE, line, "undo", "--force", self.path)

    def test_wants_force(self) -> None:
        told = self.fails(USAGE, Fault("usage.argument").line(self.path), "undo", self.path)
        self.assertIn("--force", told)

    def test_dry_run(self) -> None:
        with self.nothing_changes():
            told = self.succeeds("undo", "-n", self.path).stderr
        self.assertTrue(told.startswith("would cut "), told)

    def test_dry_run_needs_no_right_to_write(self) -> None:
        tool = self.as_ordinary_user()
        self.path.chmod(0o444)
        with self.nothing_changes():
            told = self.succeeds("undo", "-n", self.path, tool=tool).stderr
            self.assertTrue(told.startswith("would cut "), told)
            self.fails(IO, "onnxar: error[io.permission]", "undo", "--force", self.path, tool=tool)


if __name__ == "__main__":
    command_line.main()

"""replace: gives an archive a new model, in place."""

from __future__ import annotations

import fcntl

from support import command_line
from support import wire_writer as wire
from support.archives import Archive, linked, model_of, sound, weights
from support.command_line import FORMAT, IO, USAGE, Fault, ToolCase, entries_of, keys_of, run


class Replaced(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.write("model.onnxar", sound().file)

    def replaced(self, *tensors: bytes, options: tuple[str, ...] = ()) -> str:
        """The line that reports the edit."""
        model = self.model(*tensors)
        done = self.succeeds("replace", self.path, model, "--no-sync", *options)
        self.succeeds("check", "--data", "-q", self.path)
        return done.stderr

    def test_is_what_an_edit_makes_of_it(self) -> None:
        expected = sound()
        expected.edit(*weights("new"), model_of(linked("b"), linked("new")))
        told = self.replaced(linked("b"), wire.tensor("new"))
        self.assertEqual(self.path.read_bytes(), expected.file)
        self.assertIn("2 tensors outside, 1 new entry", told)

    def test_listing_counts_what_is_unused(self) -> None:
        archive = sound()
        behind = len(archive.file) - archive.headers[-1]  # model, directory, end record
        self.assertEqual(self.listing(self.path)["unused_bytes"], 0)
        self.replaced(linked("b"))
        self.assertEqual(self.listing(self.path)["unused_bytes"], behind)
        self.assertIn(f"unused {behind} bytes", self.succeeds("ls", self.path).stdout.decode())

    def test_data_files_come_along_if_that_is_wanted(self) -> None:
        data = wire.DataFile("w.bin")
        model = self.model(data.tensor("w"), linked("a"))
        self.write("data/w.bin", data.data)
        line = Fault("onnx.external_data.missing").line(model).partition(": ")[0]
        told = self.fails(FORMAT, line, "replace", self.path, model)
        self.assertIn('tensor "w"', told)
        self.assertIn("--append-external", told)
        options = ("--append-external", "--data-dir", self.folder / "data")
        self.succeeds("replace", self.path, model, *options, "--no-sync")
        self.assertEqual(entries_of(self.path)["w"], data.data)

    def test_threshold(self) -> None:
        self.replaced(wire.tensor("small", count=20))
        self.assertEqual(keys_of(self.path), ["a", "b"])
        self.replaced(wire.tensor("small", count=20), options=("--threshold", "80"))
        self.assertEqual(keys_of(self.path), ["a", "b", "small"])

    def test_says_that_earlier_states_are_discarded(self) -> None:
        alone = self.write("alone.onnxar", Archive([model_of(wire.tensor("small", count=3))]).file)
        model = self.model(linked("b"))
        small = self.write("small.onnx", wire.plain(wire.tensor("small", count=4)))
        reason = ": no entry stays in place, so the file is rewritten without its earlier states\n"
        self.assertIn("undo would not be possible" + reason, self.succeeds("replace", "-n", alone, small).stderr)
        self.assertIn("undo is not possible" + reason, self.succeeds("replace", alone, small).stderr)
        told = self.fails(USAGE, Fault("usage.nothing_to_undo").line(alone), "undo", "-n", alone)
        self.assertIn("kept no entry in place and rewrote the file", told)
        self.assertNotIn("undo", self.succeeds("replace", self.path, model).stderr)

    def test_quiet(self) -> None:
        self.assertEqual(self.succeeds("replace", "-q", self.path, self.model(linked("b"))).stderr, "")


class Refused(ToolCase):
    """The archive stays as it was, byte for byte."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.write("model.onnxar", sound().file)

    def test_usage(self) -> None:
        for arguments in ((), (self.path,), (self.path, self.path, self.path)):
            with self.nothing_changes():
                self.assertEqual(run("replace", *arguments).returncode, USAGE)

    def test_edit_of_another_process_is_busy(self) -> None:
        self.on_posix("Wine does not see the locks of this system")
        model = self.model(linked("b"))
        line = Fault("archive.busy").line(self.path)
        with open(self.path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            told = self.fails(IO, line, "replace", self.path, model)
            self.assertIn("try again", told)
            self.succeeds("ls", self.path)  # it is still whole
            with open(self.path, "ab") as tail:
                tail.write(b"PK\3\4 the beginning of an edit")
            for verb, *rest in (("ls",), ("check",), ("cat", "--model"), ("pack", "-o", self.output)):
                self.fails(IO, line, verb, self.path, *rest)
        self.fails(FORMAT, Fault("archive.torn", None, len(sound().file)).line(self.path), "ls", self.path)


if __name__ == "__main__":
    command_line.main()

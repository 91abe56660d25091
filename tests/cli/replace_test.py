"""replace: gives an archive a new model, in place.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests replace_test.py
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, linked, model_of, sound, weights
from support.command_line import FORMAT, IO, MIB, ON_WINDOWS, USAGE, Fault, ToolCase, entries_of, keys_of, run


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

    def test_model_that_was_printed_goes_back_in(self) -> None:
        skeleton = self.write("m.onnx", self.succeeds("cat", self.path, "--model").stdout)
        self.succeeds("replace", self.path, skeleton, "--no-sync")
        self.assertEqual(entries_of(self.path)[MODEL], skeleton.read_bytes())
        self.assertEqual(keys_of(self.path), ["a", "b"])

    def test_model_that_was_unpacked_goes_back_in(self) -> None:
        inline = self.unpacked(self.path)
        self.succeeds("replace", self.path, self.write("m.onnx", inline), "--no-sync")
        self.assertEqual(keys_of(self.path), ["a", "b"])
        self.assertEqual(self.unpacked(self.path), inline)

    def test_weights_stay_where_they_are(self) -> None:
        before = {each["name"]: each["offset"] for each in self.listing(self.path)["entries"]}
        self.replaced(linked("b"), wire.tensor("new"))
        after = {each["name"]: each["offset"] for each in self.listing(self.path)["entries"]}
        self.assertEqual({name: after[name] for name in before}, before)

    def test_listing_counts_what_is_unused(self) -> None:
        archive = sound()
        behind = len(archive.file) - archive.headers[-1]  # model, directory, end record
        self.assertEqual(self.listing(self.path)["unused_bytes"], 0)
        self.replaced(linked("b"))
        self.assertEqual(self.listing(self.path)["unused_bytes"], behind)
        self.assertIn(f"unused {behind} bytes", self.succeeds("ls", self.path).stdout.decode())

    def test_check_notes_what_is_left_and_strict_refuses(self) -> None:
        self.replaced(linked("b"))
        report = json.loads(self.succeeds("check", "--json", "-q", self.path).stdout)
        found = [(each["severity"], each["code"], each["entry"]) for each in report["findings"]]
        expected = [("note", "archive.tail.superseded", "b"), ("note", "archive.entry.unused", "a")]
        self.assertEqual(found, expected)
        end = sound().headers[-1]
        self.finds(Fault("archive.tail.superseded", "b", end), self.path, "--strict")

    def test_packing_removes_what_is_left(self) -> None:
        self.replaced(linked("b"))
        self.succeeds("pack", self.path, "-o", self.output)
        self.assertEqual(self.output.read_bytes(), Archive([*weights("b"), model_of(linked("b"))]).file)

    def test_data_files_come_along_if_that_is_wanted(self) -> None:
        data = wire.DataFile("w.bin")
        model = self.model(data.tensor("w"), linked("a"))
        self.write("w.bin", data.data)
        line = Fault("onnx.external_data.missing").line(model).partition(": ")[0]
        told = self.fails(FORMAT, line, "replace", self.path, model)
        self.assertIn('tensor "w"', told)
        self.assertIn("--append-external", told)
        self.succeeds("replace", self.path, model, "--append-external", "--no-sync")
        self.assertEqual(entries_of(self.path)["w"], data.data)

    def test_data_files_may_lie_elsewhere(self) -> None:
        data = wire.DataFile("w.bin")
        model = self.model(data.tensor("w"))
        self.write("data/w.bin", data.data)
        options = ("--append-external", "--data-dir", self.folder / "data")
        self.succeeds("replace", self.path, model, *options)
        self.assertEqual(entries_of(self.path)["w"], data.data)

    def test_links_may_lead_into_the_archives_file(self) -> None:
        offset = sound().data[1] + 400
        link = wire.DataFile("model.onnxar").link(offset=offset, length=800)
        self.replaced(wire.fields_of("part", wire.FLOAT, [200], link))
        link = wire.DataFile("b").link(offset=400, length=800)
        expected = wire.plain(wire.fields_of("part", wire.FLOAT, [200], link))
        self.assertEqual(entries_of(self.path)[MODEL], expected)

    def test_threshold(self) -> None:
        self.replaced(wire.tensor("small", count=20))
        self.assertEqual(keys_of(self.path), ["a", "b"])
        self.replaced(wire.tensor("small", count=20), options=("--threshold", "80"))
        self.assertEqual(keys_of(self.path), ["a", "b", "small"])

    def test_archive_may_be_reached_by_a_link(self) -> None:
        link = self.folder / "link.onnxar"
        link.symlink_to("model.onnxar")
        self.succeeds("replace", link, self.model(linked("b")))
        self.assertTrue(link.is_symlink())
        self.assertEqual(entries_of(self.path)[MODEL], wire.plain(linked("b")))

    def test_archive_of_a_model_alone(self) -> None:
        self.path.write_bytes(Archive([model_of(wire.tensor("s", count=3))]).file)
        self.path.chmod(0o640)
        self.replaced(wire.tensor("w"))
        self.assertEqual(self.path.read_bytes(), Archive([*weights("w"), model_of(linked("w"))]).file)
        if not ON_WINDOWS:  # it has access lists
            self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)

    def test_dry_run(self) -> None:
        model = self.model(linked("b"), wire.tensor("new"))
        with self.nothing_changes():
            told = self.succeeds("replace", "-n", self.path, model).stderr
        self.assertTrue(told.startswith("would replace the model:"), told)
        done = self.succeeds("replace", self.path, model)
        self.assertEqual(done.stderr.partition("the model")[2], told.partition("the model")[2])

    def test_quiet(self) -> None:
        self.assertEqual(self.succeeds("replace", "-q", self.path, self.model(linked("b"))).stderr, "")


class Refused(ToolCase):
    """The archive stays as it was, byte for byte."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.write("model.onnxar", sound().file)

    def test_link_that_leads_nowhere(self) -> None:
        model = self.model(linked("a"), linked("none"))
        told = self.fails(FORMAT, "onnxar: error[onnx.external_data.missing]", "replace", self.path, model)
        self.assertIn('tensor "none" (graph.initializer[1])', told)

    def test_broken_model(self) -> None:
        model = self.write("m.onnx", b"this is no model")
        self.fails(FORMAT, "onnxar: error[wire.type]", "replace", self.path, model)
        self.fails(IO, "onnxar: error[io.not_found]", "replace", self.path, self.folder / "none")

    def test_what_is_no_archive(self) -> None:
        plain = self.model(wire.tensor("w"))
        self.fails(FORMAT, "onnxar: error[zip.end.missing]", "replace", plain, plain)
        self.fails(IO, "onnxar: error[io.not_found]", "replace", self.folder / "none", plain)
        self.fails(IO, "onnxar: error[io.not_a_file]", "replace", self.folder, plain)

    def test_damaged_archive(self) -> None:
        archive = sound()
        archive.set_central(1, flags=1)
        path = self.write("broken.onnxar", archive.file)
        fault = Fault("zip.entry.encrypted", "b", archive.central[1])
        self.fails(FORMAT, fault.line(path), "replace", path, self.model(linked("a")))

    def test_archive_that_is_not_writable(self) -> None:
        tool = self.as_ordinary_user()
        model = self.model(linked("b"))
        self.path.chmod(0o444)
        line = Fault("io.permission").line(self.path)
        self.fails(IO, line, "replace", self.path, model, tool=tool)

    def test_usage(self) -> None:
        for arguments in ((), (self.path,), (self.path, self.path, self.path)):
            with self.nothing_changes():
                self.assertEqual(run("replace", *arguments).returncode, USAGE)

    def test_while_somebody_else_edits(self) -> None:
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


class FullDisk(ToolCase):
    """A file system of 1 MiB."""

    def setUp(self) -> None:
        super().setUp()
        small = self.folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "onnxar-test", str(small)]
        done = subprocess.run(mount, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)

    def refused(self, path: Path, model: Path) -> None:
        line = self.fails(IO, Fault("io.disk_full").line(path), "replace", path, model)
        self.assertIn("disk is full", line)

    def test_too_large_a_tensor(self) -> None:
        path = self.write("small/model.onnxar", sound().file)
        self.refused(path, self.model(linked("a"), wire.tensor("w", wire.UINT8, 4 * MIB)))

    def test_no_room_for_the_model(self) -> None:
        path = self.write("small/model.onnxar", sound().file)
        room = os.statvfs(path).f_bavail * os.statvfs(path).f_frsize
        self.write("small/filler", bytes(room))
        model = self.write("large.onnx", wire.model(wire.Part(), doc="x" * 20_000))
        self.refused(path, model)


if __name__ == "__main__":
    command_line.main(__doc__)

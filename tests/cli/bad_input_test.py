"""What the tool cannot read or write it refuses: with a code, a place, and nothing lost.

Usage: ONNXAR=path/to/onnxar bad_input_test.py
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import zoo
from archives import CENTRAL, LOCAL, MODEL, Archive, Entry, linked, model_of, weights

DONE, FOUND, USAGE, IO, FORMAT = range(5)  # exit codes
MIB, GIB = 1 << 20, 1 << 30
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
IN_BRIEF = 64 * MIB  # files of this size and more, which are sparse, are compared by their size


# --- the tool, and the folder that it works in ----------------------------------------------------

Done = subprocess.CompletedProcess  # with bytes in stdout, text in stderr


def run(*arguments: object, tool: list[str] | None = None, **options: Any) -> Done:
    """Runs the tool; `tool` is the beginning of a command that runs it in another way."""
    command = [*(tool or [os.environ["ONNXAR"]]), *map(str, arguments)]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, **{**given, **options})
    done.stderr = (done.stderr or b"").decode(errors="replace")
    return done


def start(*arguments: object, **options: Any) -> subprocess.Popen:
    return subprocess.Popen([os.environ["ONNXAR"], *map(str, arguments)], **options)


def look(path: Path) -> tuple[object, ...]:
    """All of a file that a failed command must leave as it is."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return status.st_mode, os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return (status.st_mode,)
    brief = status.st_size >= IN_BRIEF
    return status.st_mode, status.st_size, brief or zlib.crc32(path.read_bytes())


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    return {str(path.relative_to(folder)): look(path) for path in sorted(folder.rglob("*"))}


class Fault(NamedTuple):
    """What the tool has to say of a bad input: a code, and the place."""

    code: str
    entry: str | None = None
    offset: int | None = None

    def line(self, path: Path) -> str:
        """How the line on stderr begins."""
        words = [f'entry "{self.entry}"'] if self.entry else []
        words += [f"at 0x{self.offset:x}"] if self.offset is not None else []
        place = " ".join(words)
        return f"onnxar: error[{self.code}] {path}: {place}{': ' if place else ''}"


class ToolCase(unittest.TestCase):
    """A test with a folder of its own; `model` and `archive` write inputs into it."""

    def setUp(self) -> None:
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.folder = Path(home.name)
        self.output = self.folder / "out"

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def model(self, *tensors: bytes, name: str = "model.onnx") -> Path:
        return self.write(name, zoo.plain(*(tensors or [zoo.tensor("w")])))

    def archive(self, *names: str, name: str = "model.onnxar") -> Path:
        return self.write(name, Archive([*weights(*names), model_of(*map(linked, names))]).file)

    def sparse(self, size: int, name: str = "weights.bin") -> Path:
        """A model with one large tensor in a data file that takes no room on the disk."""
        with open(self.folder / name, "wb") as file:
            file.truncate(size)
        link = zoo.DataFile(name).link(length=size)
        return self.model(zoo.fields_of("w", zoo.UINT8, [size], link))

    def as_ordinary_user(self) -> list[str]:
        """Begins a command that runs the tool as a user whom permissions bind."""
        if os.geteuid() != 0:
            return [os.environ["ONNXAR"]]
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv to become an ordinary user with")
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        for folder in (home.name, self.folder):
            os.chmod(folder, 0o755)
        tool = [*NOBODY, shutil.copy(os.environ["ONNXAR"], home.name)]
        if subprocess.run([*tool, "--version"], capture_output=True).returncode != 0:
            self.skipTest("an ordinary user cannot run the tool here")
        return tool

    def each_way_to_write(self, source: Path) -> Iterator[tuple[object, ...]]:
        """Commands, but for the output."""
        yield "pack", source
        yield "unpack", source
        yield "unpack", source, "--external-data", "weights.bin"

    def succeeds(self, *arguments: object, **options: Any) -> Done:
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, DONE, f"{arguments}: {done.stderr}")
        return done

    @contextlib.contextmanager
    def nothing_changes(self) -> Iterator[None]:
        before = snapshot(self.folder)
        yield
        self.assertEqual(snapshot(self.folder), before)

    def fails(self, exit_code: int, begins: str, *arguments: object, **options: Any) -> str:
        """Fails with this code and such a line on stderr, leaves all as it was; gives the line."""
        with self.nothing_changes():
            done = run(*arguments, **options)
        told = f"{' '.join(map(str, arguments))}: {done.stderr}"
        self.assertEqual(done.returncode, exit_code, told)
        self.assertEqual(done.stdout or b"", b"", told)
        self.assertTrue(done.stderr.startswith(begins), f"{told}\nshould begin: {begins}")
        self.assertEqual(done.stderr.count("\n"), 1, told)
        return done.stderr

    def finds(self, fault: Fault, path: Path, *options: str) -> str:
        """`check` puts this error first; gives its message."""
        with self.nothing_changes():
            done = run("check", "--json", "-q", path, *options)
        self.assertEqual((done.returncode, done.stderr), (FOUND, ""))
        report = json.loads(done.stdout)
        errors = [each for each in report["findings"] if each["severity"] == "error"]
        self.assertFalse(report["ok"])
        self.assertEqual(Fault(*(errors[0][key] for key in Fault._fields)), fault, errors[0])
        return errors[0]["message"]

    def refuses(self, fault: Fault, path: Path, verbs: str = "pack unpack") -> str:
        """`check` and the verbs say this of the input; gives the message."""
        message = self.finds(fault, path)
        for verb in verbs.split():
            target = [] if verb == "ls" else ["-o", self.output]
            line = self.fails(FORMAT, fault.line(path), verb, path, *target)
            self.assertTrue(line.endswith(message + "\n"), line)
        return message


# --- files that are something else ----------------------------------------------------------------


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

    def test_folder(self) -> None:
        (self.folder / "models").mkdir()
        self.all_refuse(IO, "io.not_a_file", self.folder / "models")

    def test_fifo(self) -> None:
        os.mkfifo(self.folder / "fifo")
        self.all_refuse(IO, "io.not_a_file", self.folder / "fifo")

    def test_unreadable_file(self) -> None:
        path = self.model()
        path.chmod(0)
        self.all_refuse(IO, "io.permission", path, tool=self.as_ordinary_user())

    def test_empty_file(self) -> None:
        path = self.write("empty", b"")
        self.refuses(Fault("onnx.model.invalid", None, 0), path)
        self.fails(FORMAT, Fault("zip.end.missing", None, 0).line(path), "ls", path)

    def test_random_bytes(self) -> None:
        for seed in range(20):
            path = self.write("noise", random.Random(seed).randbytes(3000))
            with self.subTest(seed=seed), self.nothing_changes():
                self.assertEqual(run("check", path).returncode, FOUND)
                for verb in ("pack", "unpack"):
                    self.assertEqual(run(verb, path, "-o", self.output).returncode, FORMAT)
                self.assertEqual(run("ls", path).returncode, FORMAT)

    def test_text(self) -> None:
        path = self.write("notes.txt", b"hello world, this is no model\n")
        self.refuses(Fault("wire.type", None, 2), path)
        line = Fault("zip.end.missing", None, path.stat().st_size).line(path)
        self.fails(FORMAT, line, "ls", path)

    def test_message_without_a_graph(self) -> None:
        self.refuses(Fault("onnx.model.invalid", None, 0), self.write("PK", b"PK"))

    def plain_zip(self, method: int) -> Path:
        path = self.folder / "plain.zip"
        with zipfile.ZipFile(path, "w", method) as file:
            file.writestr("w", zoo.content(zoo.FLOAT, 300, "w"))
            file.writestr(MODEL, zoo.plain(linked("w")))
        return path

    def test_plain_stored_zip(self) -> None:
        path = self.plain_zip(zipfile.ZIP_STORED)
        self.assertIn("onnxar repack", self.finds(Fault("zip.padding.missing", "w", 0), path))
        line = self.fails(FORMAT, Fault("zip.padding.missing", "w", 0).line(path), "ls", path)
        self.assertIn("onnxar repack", line)

    def test_plain_deflated_zip(self) -> None:
        path = self.plain_zip(zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(path) as file:
            fault = Fault("zip.entry.method", "w", file.start_dir)
        self.assertIn("onnxar repack", self.finds(fault, path))
        self.assertIn("onnxar repack", self.fails(FORMAT, fault.line(path), "ls", path))

    def test_zip_without_a_model(self) -> None:
        archive = Archive(weights("a", "b"))
        path = self.write("other.zip", archive.file)
        fault = Fault("archive.model.missing", None, archive.directory)
        self.refuses(fault, path, "pack unpack ls")


# --- archives with one fault ----------------------------------------------------------------------


def sound() -> Archive:
    """Two weights, then their model."""
    return Archive([*weights("a", "b"), model_of(linked("a"), linked("b"))])


class SoundArchive(ToolCase):
    """What all faults here are made from has none."""

    def test_is_good(self) -> None:
        path = self.write("sound.onnxar", sound().file)
        self.succeeds("check", "--strict", "--data", path)

    def test_is_what_pack_writes(self) -> None:
        for alignment in (64, 4096):
            entries = (*weights("a", "b"), model_of(linked("a"), linked("b")))
            made = Archive(Entry(each.name, each.data, alignment) for each in entries)
            path = self.write("made.onnxar", made.file)
            self.succeeds("pack", path, "-o", self.output, "-f", "--align", alignment)
            self.assertEqual(self.output.read_bytes(), bytes(made.file))


class BrokenArchive(ToolCase):
    def expect(self, archive: Archive, code: str, entry: str | None, offset: int | None) -> str:
        path = self.write("broken.onnxar", archive.file)
        return self.refuses(Fault(code, entry, offset), path, "pack unpack ls")

    # Every field of the records: a value that contradicts the rest, and the code that says so.

    LOCAL_FIELDS = (
        ("version", 45, "zip.local.field"),
        ("flags", 0x800, "zip.local.field"),
        ("flags", 0x8, "zip.local.field"),
        ("method", 8, "zip.local.field"),
        ("time", 1, "zip.local.field"),
        ("date", 0x22, "zip.local.field"),
        ("crc32", 0, "zip.local.field"),
        ("compressed", 1199, "zip.local.size"),
        ("compressed", 0xFFFFFFFF, "zip.zip64.extra"),
        ("size", 1201, "zip.local.size"),
        ("size", 0xFFFFFFFF, "zip.zip64.extra"),
        ("name_length", 0, "zip.local.name"),
        ("name_length", 2, "zip.local.name"),
        ("name_length", 0xFFFF, "zip.local.header"),
        ("extra_length", 0, "zip.padding.missing"),
        ("extra_length", 3, "zip.extra.malformed"),
        ("extra_length", 0xFFFF, "zip.local.header"),
    )

    def test_each_field_of_a_local_header(self) -> None:
        self.assertLessEqual(LOCAL.fields.keys(), {name for name, *_ in self.LOCAL_FIELDS})
        for index, entry in ((0, "a"), (1, "b")):
            for name, value, code in self.LOCAL_FIELDS:
                with self.subTest(entry=entry, field=name, value=value):
                    archive = sound()
                    archive.set_local(index, **{name: value})
                    self.expect(archive, code, entry, archive.headers[index])

    def test_local_signature(self) -> None:
        archive = sound()
        archive.put(archive.headers[1], b"PK\3\5")
        self.expect(archive, "zip.local.header", "b", archive.headers[1])

    def test_local_name(self) -> None:
        archive = sound()
        archive.put(archive.headers[1] + LOCAL.size, b"c")
        self.expect(archive, "zip.local.name", "b", archive.headers[1])

    # The offset is that of the directory header, unless the local one is named.
    CENTRAL_FIELDS = (
        ("version", 46, "zip.entry.version"),
        ("version", 9, "zip.entry.version"),
        ("flags", 0x1, "zip.entry.encrypted"),
        ("flags", 0x8, "zip.entry.descriptor"),
        ("flags", 0x2, "zip.entry.flags"),
        ("flags", 0x800, "zip.entry.flags"),
        ("method", 8, "zip.entry.method"),
        ("compressed", 1199, "zip.entry.sizes"),
        ("compressed", 0xFFFFFFFF, "zip.zip64.extra"),
        ("size", 1201, "zip.entry.sizes"),
        ("size", 0xFFFFFFFF, "zip.zip64.extra"),
        ("comment_length", 1, "zip.entry.comment"),
        ("disk", 1, "zip.entry.disk"),
        ("internal", 1, "zip.entry.attributes"),
        ("external", 0x10, "zip.entry.attributes"),
        ("external", 0o120777 << 16, "zip.entry.attributes"),
        ("offset", 0xFFFFFFFF, "zip.zip64.extra"),
        ("offset", 0, "zip.entry.order"),
        ("version", 45, "zip.local.field local"),
        ("time", 1, "zip.local.field local"),
        ("date", 0x22, "zip.local.field local"),
        ("crc32", 1, "zip.local.field local"),
        ("name_length", 0, "zip.name.empty unnamed"),
        ("extra_length", 4, "zip.extra.malformed"),
    )
    FREE = {"made_by"}  # the reader does not care

    def test_each_field_of_a_directory_header(self) -> None:
        covered = {name for name, *_ in self.CENTRAL_FIELDS} | self.FREE
        self.assertLessEqual(CENTRAL.fields.keys(), covered)
        for name, value, expected in self.CENTRAL_FIELDS:
            code, *where = expected.split()
            with self.subTest(field=name, value=value):
                archive = sound()
                archive.set_central(1, **{name: value})
                place = (archive.headers if where == ["local"] else archive.central)[1]
                self.expect(archive, code, None if where == ["unnamed"] else "b", place)

    def test_directory_signature(self) -> None:
        archive = sound()
        archive.put(archive.central[1], b"PK\1\1")
        self.expect(archive, "zip.directory.header", None, archive.central[1])

    # The offset is that of the end record, unless the directory is named.
    END_FIELDS = (
        ("disk", 1, "zip.end.multi_disk"),
        ("directory_disk", 1, "zip.end.multi_disk"),
        ("entries_here", 2, "zip.end.multi_disk"),
        ("entries", 2, "zip.end.multi_disk"),
        ("entries", 0xFFFF, "zip.zip64.locator"),
        ("directory_size", 1, "zip.end.directory_bounds"),
        ("directory_size", 0xFFFFFFFF, "zip.zip64.locator"),
        ("directory_offset", 1, "zip.end.directory_bounds"),
        ("directory_offset", 0x7FFFFFFF, "zip.end.directory_bounds"),
        ("comment_length", 1, "zip.end.comment"),
    )

    def test_each_field_of_the_end_record(self) -> None:
        for name, value, code in self.END_FIELDS:
            with self.subTest(field=name, value=value):
                archive = sound()
                archive.set_end(**{name: value})
                self.expect(archive, code, None, archive.end)

    def test_entry_counts_that_agree_on_a_wrong_number(self) -> None:
        for count, code, where in (
            (0, "zip.directory.empty", "directory"),
            (2, "zip.directory.count", "central"),
            (1000, "zip.directory.count", "directory"),
        ):
            with self.subTest(count=count):
                archive = sound()
                archive.set_end(entries=count, entries_here=count)
                place = archive.central[2] if where == "central" else getattr(archive, where)
                self.expect(archive, code, None, place)

    # Order and bounds

    def test_prepended_bytes(self) -> None:
        archive = sound()
        archive.file[:0] = b"#"
        self.expect_prepended(archive, Fault("zip.end.directory_bounds", None, archive.end + 1))

    def test_prepended_bytes_that_all_offsets_know_of(self) -> None:
        archive = sound()
        archive.prepend(b"#!/bin/sh\n")
        fault = Fault("zip.entry.first_offset", "a", archive.directory + 10)
        self.expect_prepended(archive, fault)

    def expect_prepended(self, archive: Archive, fault: Fault) -> None:
        """Verbs that also take .onnx go by how a file begins: to them this is no zip."""
        path = self.write("broken.onnxar", archive.file)
        self.fails(FORMAT, fault.line(path), "ls", path)
        self.fails(FORMAT, fault.line(path), "cat", path, "a")
        with self.nothing_changes():
            self.assertEqual(run("check", path).returncode, FOUND)
        for verb in ("pack", "unpack"):
            self.fails(FORMAT, "onnxar: error[", verb, path, "-o", self.output)

    def test_appended_bytes(self) -> None:
        for more in (1, 21, 22, 65535):
            with self.subTest(more=more):
                archive = sound()
                archive.file += bytes(more)
                self.expect(archive, "zip.end.not_last", None, archive.end)

    def test_more_appended_bytes_than_a_comment_holds(self) -> None:
        archive = sound()
        archive.file += bytes(70_000)
        self.expect(archive, "zip.end.missing", None, len(archive.file))

    def test_two_archives_in_one_file(self) -> None:
        archive = sound()
        archive.file *= 2
        self.expect(archive, "zip.end.directory_bounds", None, len(archive.file) - 22)

    def test_overlap(self) -> None:
        archive = sound()
        archive.set_both(0, size=1400, compressed=1400)
        self.expect(archive, "zip.entry.overlap", "a", 0)

    def test_overlap_of_the_directory(self) -> None:
        archive = sound()
        archive.set_both(-1, size=400, compressed=400)
        self.expect(archive, "zip.entry.bounds", MODEL, archive.headers[-1])

    def test_two_entries_on_the_same_bytes(self) -> None:
        archive = sound()
        archive.set_central(1, offset=archive.headers[0])
        self.expect(archive, "zip.entry.order", "b", archive.central[1])

    def test_entry_behind_the_directory(self) -> None:
        archive = sound()
        archive.set_central(-1, offset=archive.end)
        self.expect(archive, "zip.entry.bounds", MODEL, archive.central[-1])

    def test_entry_far_behind_the_file(self) -> None:
        archive = sound()
        archive.set_central(1, offset=0x7FFFFFFF)
        self.expect(archive, "zip.entry.order", MODEL, archive.central[2])

    def test_gap(self) -> None:
        archive = Archive([*weights("a", count=301), *weights("b"), model_of(linked("a"))])
        archive.set_both(0, size=1200, compressed=1200)
        self.expect(archive, "zip.entry.gap", "a", archive.data[0] + 1200)

    # Names

    def test_duplicate_names(self) -> None:
        archive = Archive([*weights("a", "b", "a"), model_of(linked("a"))])
        self.expect(archive, "zip.name.duplicate", "a", archive.central[2])

    def test_names_equal_under_folding(self) -> None:
        archive = Archive([*weights("Weight", "weighT"), model_of(linked("Weight"))])
        self.expect(archive, "zip.name.folded", "weighT", archive.central[1])

    def test_name_that_is_a_file_and_a_folder(self) -> None:
        archive = Archive([*weights("a", "a/b"), model_of(linked("a"))])
        self.expect(archive, "zip.name.prefix", "a/b", archive.central[1])

    NAMES = (
        ("/etc/passwd", "zip.name.absolute"),
        ("../x", "zip.name.part"),
        ("a/../../x", "zip.name.part"),
        ("a//b", "zip.name.part"),
        ("a/", "zip.name.directory"),
        ("C:x", "zip.name.drive"),
        ("n" * 1025, "zip.name.too_long"),
        ("__MODEL_PROTO2", "archive.name.reserved"),
    )

    def test_names_that_no_entry_may_have(self) -> None:
        for name, code in self.NAMES:
            with self.subTest(name=name[:20]):
                archive = Archive([Entry(name, b"data"), model_of(zoo.tensor("w"))])
                path = self.write("broken.onnxar", archive.file)
                self.finds(Fault(code, name, archive.central[0]), path)
                self.fails(FORMAT, f"onnxar: error[{code}] {path}: entry ", "ls", path)

    def test_names_that_a_terminal_would_obey(self) -> None:
        for name, spelt in (
            ("a\x1b[31m", r"a\x1b[31m"),
            ("a\n", r"a\x0a"),
            ("a\x7f", r"a\x7f"),
            ("a\0", r"a\x00"),
        ):
            with self.subTest(name=name):
                archive = Archive([Entry(name, b"data"), model_of(zoo.tensor("w"))])
                path = self.write("broken.onnxar", archive.file)
                self.finds(Fault("zip.name.control", name, archive.central[0]), path)
                fault = Fault("zip.name.control", spelt, archive.central[0])
                self.fails(FORMAT, fault.line(path), "ls", path)

    def test_name_that_is_no_utf8(self) -> None:
        archive = Archive([Entry("a\udcff", b"data"), model_of(zoo.tensor("w"))])
        fault = Fault("zip.name.encoding", "a\\xff", archive.central[0])
        path = self.write("broken.onnxar", archive.file)
        self.fails(FORMAT, fault.line(path), "ls", path)
        self.finds(fault._replace(entry="a\ufffd"), path)

    # Storage

    def test_deflated_entry(self) -> None:
        data = zlib.compress(bytes(1200))[2:-4]
        archive = Archive([Entry("a", data), model_of(linked("a"))])
        archive.set_both(0, method=8, size=1200)
        message = self.expect(archive, "zip.entry.method", "a", archive.central[0])
        self.assertIn("onnxar repack", message)

    def test_unaligned_entry(self) -> None:
        for zeros in (0, 26, 28, 60):
            with self.subTest(zeros=zeros):
                extra = struct.pack("<HHH", 0xD935, 2 + zeros, 64) + bytes(zeros)
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, extra=extra), model_of(linked("a"))])
                message = self.expect(archive, "zip.padding.alignment", "a", 0)
                self.assertIn("onnxar repack", message)

    PADDINGS = (  # 33 bytes each, so that the data is aligned nevertheless
        ("longer than needed", struct.pack("<HHH", 0xD935, 93, 64) + bytes(91), "record"),
        ("not zero", struct.pack("<HHH", 0xD935, 29, 64) + b"\1" * 27, "record"),
        ("alignment 0", struct.pack("<HHH", 0xD935, 29, 0) + bytes(27), "alignment"),
        ("alignment 32", struct.pack("<HHH", 0xD935, 29, 32) + bytes(27), "alignment"),
        ("alignment 96", struct.pack("<HHH", 0xD935, 29, 96) + bytes(27), "alignment"),
        ("alignment 128", struct.pack("<HHH", 0xD935, 29, 128) + bytes(27), "alignment"),
    )

    def test_padding_records(self) -> None:
        for label, extra, code in self.PADDINGS:
            with self.subTest(label):
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, extra=extra), model_of(linked("a"))])
                self.expect(archive, f"zip.padding.{code}", "a", 0)

    def test_padding_of_other_makers(self) -> None:
        for label, extra, code in (
            ("zipalign", bytes(33), "zip.extra.unknown"),
            ("PyTorch", b"FB" + struct.pack("<H", 29) + b"Z" * 29, "zip.extra.unknown"),
            ("none", b"", "zip.padding.missing"),
        ):
            with self.subTest(label):
                [a] = weights("a")
                archive = Archive([Entry(a.name, a.data, extra=extra), model_of(linked("a"))])
                self.assertIn("onnxar repack", self.expect(archive, code, "a", 0))

    # The model

    def test_model_that_is_missing(self) -> None:
        archive = Archive(weights("a"))
        self.expect(archive, "archive.model.missing", None, archive.directory)

    def test_second_model(self) -> None:
        model = model_of(linked("a"))
        archive = Archive([*weights("a"), model, model])
        self.expect(archive, "zip.name.duplicate", MODEL, archive.central[2])

    def test_model_that_is_not_last(self) -> None:
        archive = Archive([model_of(linked("a")), *weights("a")])
        self.expect(archive, "archive.model.not_last", MODEL, archive.central[0])

    def test_model_that_does_not_parse(self) -> None:
        good = zoo.plain(linked("a"))
        for label, model, code, at in (
            ("cut short", good[:-1], "wire.truncated", good.rindex(b"\x42")),
            ("no field", b"\x00" + good, "wire.tag", 0),
            ("group", b"\x0b" + good, "wire.type", 0),
            ("endless number", b"\x08" + b"\xff" * 11, "wire.varint", 1),
            ("no graph", b"\x08\x08", "onnx.model.invalid", 0),
            ("empty", b"", "onnx.model.invalid", 0),
        ):
            with self.subTest(label):
                archive = Archive([*weights("a"), Entry(MODEL, model)])
                self.expect(archive, code, MODEL, archive.data[1] + at)


class WrongChecksum(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        archive = sound()
        archive.file[archive.data[1] + 700] ^= 1
        self.fault = Fault("zip.data.crc", "b", archive.data[1])
        self.path = self.write("damaged.onnxar", archive.file)

    def test_check_sees_it_when_asked_to_read_the_data(self) -> None:
        self.succeeds("check", self.path)
        self.finds(self.fault, self.path, "--data")

    def test_ls_does_not_read_data(self) -> None:
        self.succeeds("ls", self.path)

    def test_whatever_copies_the_data_refuses(self) -> None:
        line = self.fault.line(self.path)
        self.fails(FORMAT, line, "pack", self.path, "-o", self.output)
        self.fails(FORMAT, line, "unpack", self.path, "-o", self.output)
        data = ("--external-data", "weights.bin")
        self.fails(FORMAT, line, "unpack", self.path, "-o", self.output, *data)
        self.fails(FORMAT, line, "cat", self.path, "b")

    def test_other_entries_can_be_read(self) -> None:
        done = self.succeeds("cat", self.path, "a")
        self.assertEqual(done.stdout, weights("a")[0].data)

    def test_of_the_model(self) -> None:
        archive = sound()
        at = archive.file.index(b"zoo", archive.data[-1])
        archive.put(at, b"ZOO")
        path = self.write("model.onnxar", archive.file)
        fault = Fault("zip.data.crc", MODEL, archive.data[-1])
        self.finds(fault, path, "--data")
        for verb in ("pack", "unpack"):
            self.fails(FORMAT, fault.line(path), verb, path, "-o", self.output)

    def test_of_an_empty_entry(self) -> None:
        archive = Archive([Entry("empty.txt", b""), model_of(zoo.tensor("w"))])
        archive.set_both(0, crc32=1)
        path = self.write("empty.onnxar", archive.file)
        self.finds(Fault("zip.entry.empty_crc", "empty.txt", archive.central[0]), path)


class Truncated(ToolCase):
    """No part of an archive is an archive."""

    def test_at_every_byte(self) -> None:
        archive = Archive([*weights("w"), model_of(linked("w"))])
        whole = bytes(archive.file)

        def judge(size: int) -> str:
            path = self.write(f"{size}.onnxar", whole[:size])
            done = run("check", "--json", "-q", path)
            path.unlink()
            found = json.loads(done.stdout)["findings"]
            place = [(each["code"], each["entry"], each["offset"]) for each in found]
            as_zip = size >= LOCAL.size  # with less of it, it does not begin as a zip
            right = place == [("zip.end.missing", None, size)] if as_zip else len(place) == 1
            return "" if done.returncode == FOUND and right else f"{size}: {place}"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(filter(None, pool.map(judge, range(len(whole)))))
        self.assertEqual(faults, [])
        self.assertEqual(snapshot(self.folder), {})

    def test_other_verbs_refuse(self) -> None:
        archive = sound()
        sizes = (30, 64, archive.data[1], archive.directory, archive.end, archive.end + 21)
        for size in sizes:
            with self.subTest(size=size):
                path = self.write("cut.onnxar", archive.file[:size])
                self.refuses(Fault("zip.end.missing", None, size), path, "pack unpack ls")


# --- links ----------------------------------------------------------------------------------------


class Links(ToolCase):
    """Links of a model into its archive; the place is that of the tensor."""

    def expect(self, code: str, tensor: bytes, *, data: bytes | None = None) -> str:
        entry = Entry("w", weights("w")[0].data if data is None else data)
        archive = Archive([entry, model_of(zoo.tensor("before"), tensor)])
        offset = archive.file.index(tensor, archive.data[1])
        path = self.write("links.onnxar", archive.file)
        return self.refuses(Fault(code, MODEL, offset), path)

    def test_to_a_missing_entry(self) -> None:
        for location in ("v", "W", "./w", "w/", "../w", "/w", " w"):
            with self.subTest(location=location):
                message = self.expect("onnx.external_data.missing", linked("w", location=location))
                self.assertIn(f'"{location}"', message)

    def test_without_a_location(self) -> None:
        self.expect("onnx.external_data.no_location", linked("w", location=""))

    def test_outside_the_entry(self) -> None:
        code = "onnx.external_data.out_of_range"
        for offset, count in ((1, 300), (1200, 300), (1201, 300), (2**64 - 1, 300), (0, 301)):
            with self.subTest(offset=offset, count=count):
                self.expect(code, linked("w", count, offset=offset))

    NUMBERS = (
        *("", "x", "-1", "+0", " 0", "0 ", "00", "01", "0x10", "1e3", "0.0", "1,200"),
        *(str(2**64), str(2**64 + 1200), "9" * 50, "１"),
    )

    def test_offset_that_is_no_plain_decimal(self) -> None:
        for spelt in self.NUMBERS:
            with self.subTest(offset=spelt):
                self.expect("onnx.external_data.bad_offset", linked("w", offset=spelt))

    def test_length_that_is_no_plain_decimal(self) -> None:
        for spelt in (*self.NUMBERS, "+1200", "01200", "1200 "):
            with self.subTest(length=spelt):
                self.expect("onnx.external_data.bad_length", linked("w", length=spelt))

    def test_key_given_twice(self) -> None:
        again = zoo.block(zoo.EXTERNAL_DATA, zoo.entry("offset", "0"))
        tensor = linked("w", offset=0) + again
        archive = Archive([*weights("w"), model_of(tensor)])
        path = self.write("links.onnxar", archive.file)
        last = archive.file.rindex(zoo.entry("offset", "0"))
        self.refuses(Fault("onnx.external_data.duplicate_key", MODEL, last), path)

    def test_length_against_the_shape(self) -> None:
        for dims in ([299], [301], [], [0], [10, 31], [2**40]):
            with self.subTest(dims=dims):
                self.expect("onnx.tensor.length", linked("w", dims=dims))

    def test_length_against_the_type(self) -> None:
        link = zoo.DataFile("w").link(length=1200)
        for kind in ("DOUBLE", "UINT8", "FLOAT16", "INT4", "COMPLEX64"):
            with self.subTest(kind=kind):
                tensor = zoo.fields_of("w", zoo.TYPES[kind], [300], link)
                self.expect("onnx.tensor.length", tensor)

    def test_entry_too_short_for_the_shape(self) -> None:
        whole = zoo.fields_of("w", zoo.FLOAT, [300], zoo.DataFile("w").link())
        self.expect("onnx.external_data.out_of_range", whole, data=bytes(1199))

    def test_impossible_dimensions(self) -> None:
        for dims in ([-300], [2**40, 2**40], [2**63]):
            with self.subTest(dims=dims):
                self.expect("onnx.tensor.dims", linked("w", dims=dims))

    def test_strings(self) -> None:
        link = zoo.DataFile("w").link(length=1200)
        tensor = zoo.scalar(zoo.DIMS, 300) + zoo.scalar(zoo.DATA_TYPE, zoo.STRING) + link
        self.expect("onnx.external.string", tensor)

    def test_data_beside_the_link(self) -> None:
        data = zoo.content(zoo.FLOAT, 300, "w")
        for encode in zoo.ENCODINGS.values():
            tensor = linked("w") + encode(zoo.FLOAT, data)
            self.expect("onnx.external.data_beside", tensor)

    def test_markers_of_other_processes(self) -> None:
        for location in ("*/_ORT_MEM_ADDR_/*", "#onnxar:0:0", "#onnxar:12345:1"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.marker", linked("w", location=location))

    def test_to_the_model_itself(self) -> None:
        model = model_of(linked("w", 2, location=MODEL))
        archive = Archive([*weights("w"), model])
        done = run("unpack", self.write("self.onnxar", archive.file), "-o", self.output)
        self.assertIn(done.returncode, (DONE, FORMAT), done.stderr)  # but never a crash

    def test_inline_data_too_short(self) -> None:
        short = zoo.fields_of("w", zoo.FLOAT, [300], zoo.block(zoo.RAW_DATA, bytes(1196)))
        archive = Archive([model_of(short)])
        offset = archive.file.index(short)
        path = self.write("short.onnxar", archive.file)
        self.finds(Fault("onnx.tensor.length", MODEL, offset), path)


class DataFiles(ToolCase):
    """Links of a model into files beside it."""

    def expect(self, code: str, location: str, count: int = 300, **link: object) -> str:
        tensor = linked("w", count, location=location, **link)
        path = self.model(zoo.tensor("before"), tensor, name="models/model.onnx")
        fault = Fault(code, None, path.read_bytes().index(tensor))
        message = self.refuses(fault, path)
        for verb in ("pack", "unpack"):  # also with the data in another place
            wide = ("--data-dir", path.parent, "-o", self.output)
            self.fails(FORMAT, fault.line(path), verb, path, *wide)
        return message

    def test_missing(self) -> None:
        message = self.expect("onnx.external_data.missing", "w.bin")
        self.assertIn("w.bin", message)
        self.assertIn("--data-dir", message)

    def test_in_a_folder_that_is_missing_or_a_file(self) -> None:
        self.write("models/file", b"")
        for location in ("nowhere/w.bin", "file/w.bin"):
            self.expect("onnx.external_data.missing", location)

    def test_outside_the_folder(self) -> None:
        outside = self.write("outside.bin", bytes(1200))
        (self.folder / "models" / "sub").mkdir(parents=True)
        for location in ("../outside.bin", "sub/../../outside.bin", str(outside), "/etc/passwd"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.bad_location", location)

    def test_link_that_leaves_the_folder(self) -> None:
        outside = self.write("outside.bin", bytes(1200))
        folder = self.folder / "models"
        folder.mkdir()
        (folder / "absolute.bin").symlink_to(outside)
        (folder / "relative.bin").symlink_to("../outside.bin")
        (folder / "chain.bin").symlink_to("relative.bin")
        (folder / "up").symlink_to("..")
        (folder / "loop.bin").symlink_to("loop.bin")
        for location in ("absolute.bin", "relative.bin", "chain.bin", "up/outside.bin", "loop.bin"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.outside", location)

    def test_link_within_the_folder_is_followed(self) -> None:
        path = self.model(linked("w", location="here.bin"), name="models/model.onnx")
        self.write("models/real.bin", bytes(1200))
        (path.parent / "here.bin").symlink_to("real.bin")
        self.succeeds("pack", path, "-o", self.output)

    def test_too_short(self) -> None:
        self.write("models/w.bin", bytes(1199))
        message = self.expect("onnx.external_data.out_of_range", "w.bin")
        self.assertIn("1199", message)

    def test_empty(self) -> None:
        self.write("models/w.bin", b"")
        self.expect("onnx.external_data.out_of_range", "w.bin")

    def test_offset_behind_the_end(self) -> None:
        self.write("models/w.bin", bytes(1200))
        for offset in (1, 1200, 5000, 2**63, 2**64 - 1200):
            with self.subTest(offset=offset):
                self.expect("onnx.external_data.out_of_range", "w.bin", offset=offset)

    def test_length_against_the_shape(self) -> None:
        self.write("models/w.bin", bytes(1200))
        self.expect("onnx.tensor.length", "w.bin", count=300, length=1199)

    def test_no_regular_file(self) -> None:
        path = self.model(linked("w", location="w.bin"), name="models/model.onnx")
        data = path.parent / "w.bin"
        for make in (data.mkdir, lambda: os.mkfifo(data)):
            make()
            for verb in ("pack", "unpack"):
                line = Fault("io.not_a_file").line(data)
                self.fails(IO, line, verb, path, "-o", self.output)
            data.rmdir() if data.is_dir() else data.unlink()

    def test_data_dir_that_is_missing(self) -> None:
        path = self.model(linked("w", location="w.bin"))
        nowhere = self.folder / "nowhere"
        line = Fault("io.not_found").line(nowhere)
        self.fails(IO, line, "pack", path, "-o", self.output, "--data-dir", nowhere)


# --- outputs --------------------------------------------------------------------------------------


class Outputs(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.source = self.archive("w")

    def test_exists(self) -> None:
        self.write("out", b"precious")
        for command in self.each_way_to_write(self.source):
            line = Fault("output.exists").line(self.output)
            self.assertIn("--force", self.fails(USAGE, line, *command, "-o", self.output))

    def test_exists_as_a_link(self) -> None:
        self.write("real", b"precious")
        self.output.symlink_to("real")
        for command in self.each_way_to_write(self.source):
            line = Fault("output.exists").line(self.folder / "real")
            self.fails(USAGE, line, *command, "-o", self.output)

    def test_data_file_exists(self) -> None:
        data = self.write("weights.bin", b"precious")
        command = ("unpack", self.source, "--external-data", data.name, "-o", self.output)
        self.fails(USAGE, Fault("output.exists").line(data), *command)

    def test_folder_is_missing(self) -> None:
        for command in self.each_way_to_write(self.source):
            target = self.folder / "nowhere" / "out"
            line = Fault("io.not_found").line(target.parent)
            self.fails(IO, line, *command, "-o", target)

    def test_folder_is_a_file(self) -> None:
        for command in self.each_way_to_write(self.source):
            target = self.source / "out"
            self.fails(IO, "onnxar: error[io.not_found]", *command, "-o", target)

    def test_is_a_folder(self) -> None:
        self.output.mkdir()
        for command in self.each_way_to_write(self.source):
            for force in ((), ("-f",)):
                line = Fault("io.not_a_file").line(self.output)
                self.fails(IO, line, *command, "-o", self.output, *force)

    def test_is_a_fifo(self) -> None:
        os.mkfifo(self.output)
        for command in self.each_way_to_write(self.source):
            for force in ((), ("-f",)):
                line = Fault("io.not_a_file").line(self.output)
                self.fails(IO, line, *command, "-o", self.output, *force)

    def test_data_file_is_a_folder(self) -> None:
        (self.folder / "data").mkdir()
        command = ("unpack", self.source, "--external-data", "data", "-o", self.output)
        for force in ((), ("-f",)):
            self.fails(IO, Fault("io.not_a_file").line(self.folder / "data"), *command, *force)

    def test_is_a_device(self) -> None:
        for command in self.each_way_to_write(self.source):
            line = Fault("io.not_a_file").line(Path("/dev/null"))
            self.fails(IO, line, *command, "-o", "/dev/null", "-f")

    def test_is_a_link_to_itself(self) -> None:
        self.output.symlink_to("out")
        for command in self.each_way_to_write(self.source):
            self.fails(IO, Fault("io.failed").line(self.output), *command, "-o", self.output)

    def test_folder_is_not_writable(self) -> None:
        tool = self.as_ordinary_user()
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        for command in self.each_way_to_write(self.source):
            line = Fault("io.permission").line(closed)
            self.fails(IO, line, *command, "-o", closed / "out", tool=tool)

    def test_writable_output_in_a_folder_that_is_not(self) -> None:
        tool = self.as_ordinary_user()
        target = self.write("closed/out", b"precious")
        target.chmod(0o666)
        target.parent.chmod(0o555)
        for command in self.each_way_to_write(self.source):
            line = Fault("io.permission").line(target.parent)
            self.fails(IO, line, *command, "-o", target, "-f", tool=tool)


class FullDisk(ToolCase):
    """A file system of 1 MiB, and a model of 4 MiB."""

    def setUp(self) -> None:
        super().setUp()
        self.small = self.folder / "small"
        self.small.mkdir()
        self.source = self.model(zoo.tensor("w", zoo.UINT8, 4 * MIB))
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "onnxar-test", str(self.small)]
        done = subprocess.run(mount, capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", str(self.small)], check=True)

    def test_nothing_is_left(self) -> None:
        for command in self.each_way_to_write(self.source):
            target = self.small / "out"
            place = target.with_name("weights.bin") if "--external-data" in command else target
            line = self.fails(IO, Fault("io.disk_full").line(place), *command, "-o", target)
            self.assertIn("disk is full", line)

    def test_replaced_output_stays(self) -> None:
        target = self.write("small/out", b"precious")
        for command in self.each_way_to_write(self.source):
            self.fails(IO, "onnxar: error[io.disk_full]", *command, "-o", target, "-f")


# --- large inputs, in sparse files ----------------------------------------------------------------


class Large(ToolCase):
    def test_inline_model_over_2_gib(self) -> None:
        path = self.sparse(2 * GIB)
        line = Fault("onnx.model.too_large").line(self.output)
        for options in ((), ("-n",), ("--threshold", "4GiB")):
            told = self.fails(FORMAT, line, "unpack", path, "-o", self.output, *options)
            self.assertIn("--external-data", told)

    def test_model_entry_over_2_gib(self) -> None:
        path = self.sparse(2 * GIB)
        command = ("pack", path, "-o", self.output, "--threshold", "4GiB")
        told = self.fails(FORMAT, Fault("onnx.model.too_large").line(self.output), *command)
        self.assertIn("--threshold", told)


def written(process: subprocess.Popen) -> int:
    """How many bytes a process has written so far; -1 once it has ended."""
    if process.poll() is not None:
        return -1
    fields = Path(f"/proc/{process.pid}/io").read_text().split()
    return int(fields[fields.index("wchar:") + 1])


class Killed(ToolCase):
    """Killed while it writes 1 GiB: the output is whole or not there, and nothing else is."""

    SIZE, TIMES = GIB, 6

    def setUp(self) -> None:
        super().setUp()
        self.need_nameless_files()
        self.source = self.sparse(self.SIZE)
        self.inputs = snapshot(self.folder)
        self.random = random.Random(1973)

    def need_nameless_files(self) -> None:
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
        except OSError as error:
            self.skipTest(f"the file system has no files without a name: {error.strerror}")

    def kill(self, *options: str) -> bool:
        """Kills after a random part of the work; gives whether it came before the end."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = start("pack", self.source, "-o", self.output, *options, **quiet)
        part = self.random.randrange(self.SIZE)
        while 0 <= written(process) < part:
            time.sleep(0.002)
        process.kill()
        return process.wait() != DONE

    def assert_whole(self) -> None:
        self.assertGreater(self.output.stat().st_size, self.SIZE)
        self.succeeds("check", "-q", self.output)

    def test_new_output(self) -> None:
        hits = 0
        for _ in range(self.TIMES):
            hits += self.kill("--no-sync")
            files = snapshot(self.folder)
            if files.pop("out", None):
                self.assert_whole()
                self.output.unlink()
            self.assertEqual(files, self.inputs)
        self.assertGreater(hits, 0)

    def test_replaced_output(self) -> None:
        hits = 0
        for _ in range(self.TIMES):
            self.output.write_bytes(b"precious")
            hits += self.kill("--no-sync", "-f")
            files = snapshot(self.folder)
            if files.pop("out")[1] != len(b"precious"):
                self.assert_whole()
            self.assertEqual(files, self.inputs)
        self.assertGreater(hits, 0)


class Shrinking(ToolCase):
    """An input that another process cuts short while the tool reads it."""

    def test_data_file(self) -> None:
        path = self.sparse(4 * GIB)
        for verb, *options in (("pack",), ("unpack", "--external-data", "copy.bin")):
            with self.subTest(verb), open(self.folder / "weights.bin", "r+b") as data:
                data.truncate(4 * GIB)
                command = (verb, path, "-o", self.output, "--no-sync", *options)
                process = start(*command, stderr=subprocess.PIPE)
                while 0 <= written(process) < 64 * MIB:
                    time.sleep(0.001)
                data.truncate(MIB)
                self.assert_ended(process, process.communicate()[1])
                names = {each.name for each in self.folder.iterdir()}
                self.assertEqual(names, {"model.onnx", "weights.bin"})

    def test_archive_while_it_is_printed(self) -> None:
        entry = Entry("w", zoo.content(zoo.UINT8, 8 * MIB, "w"), 4096)
        tensor = zoo.fields_of("w", zoo.UINT8, [8 * MIB], zoo.DataFile("w").link(length=8 * MIB))
        path = self.write("model.onnxar", Archive([entry, model_of(tensor)]).file)
        process = start("cat", path, "w", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)  # a pipe holds 64 KiB, so it cannot have ended
        os.truncate(path, MIB)
        self.assert_ended(process, process.communicate()[1])

    def assert_ended(self, process: subprocess.Popen, told: bytes) -> None:
        self.assertEqual(process.returncode, IO, told)
        self.assertIn("error[io.failed]", told.decode())
        self.assertIn("shortened", told.decode())


# --- standard streams -----------------------------------------------------------------------------


class Streams(ToolCase):
    """What cannot be printed must not look printed."""

    def setUp(self) -> None:
        super().setUp()
        self.source = self.archive("w")
        self.printing = {
            "cat": ("cat", self.source, "w"),
            "cat --model": ("cat", self.source, "--model"),
            "ls": ("ls", self.source),
            "ls --json": ("ls", self.source, "--json"),
            "check --json": ("check", self.source, "--json", "-q"),
            "--version": ("--version",),
            "--help": ("--help",),
            "ls --help": ("ls", "--help"),
        }

    def judge_unprinted(self, **options: Any) -> None:
        for label, command in self.printing.items():
            with self.subTest(label):
                self.assertEqual(run(*command, **options).returncode, IO)

    def test_full_device(self) -> None:
        with open("/dev/full", "wb") as full:
            self.judge_unprinted(stdout=full)

    def test_full_device_hides_no_findings(self) -> None:
        path = self.write("broken.onnxar", sound().file[:-1])
        with open("/dev/full", "wb") as full:
            done = run("check", path, stdout=full)
        self.assertIn(done.returncode, (FOUND, IO))

    def test_closed_output(self) -> None:
        self.judge_unprinted(preexec_fn=lambda: os.close(1))

    def test_pipe_without_a_reader(self) -> None:
        path = self.folder / "large.onnxar"
        model = self.model(zoo.tensor("w", zoo.UINT8, 4 * MIB))
        self.succeeds("pack", model, "-o", path)
        process = start("cat", path, "w", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        process.stderr.read()
        process.stderr.close()
        self.assertIn(process.wait(), (-signal.SIGPIPE, IO))

    def test_closed_streams_do_not_become_outputs(self) -> None:
        """A file that is opened takes the lowest free number: what is printed must not go there."""
        self.succeeds("pack", self.source, "-o", self.output)
        expected = self.output.read_bytes()
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed):
                path = self.folder / f"out{closed}"
                close = partial(list, map(os.close, closed))
                self.succeeds("pack", self.source, "-o", path, preexec_fn=close)
                self.assertEqual(path.read_bytes(), expected)


if __name__ == "__main__":
    if "ONNXAR" not in os.environ:
        sys.exit(__doc__)
    unittest.main()

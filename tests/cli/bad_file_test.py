"""Files that are not archives, parts of archives, and damaged archives are refused with a code and a place.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests bad_file_test.py
"""

from __future__ import annotations

import json
import os
import random
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.archives import LOCAL, MODEL, Archive, Entry, linked, model_of, sound, weights
from support.command_line import FORMAT, FOUND, IO, Fault, ToolCase, run, snapshot


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
            file.writestr("w", wire.content(wire.FLOAT, 300, "w"))
            file.writestr(MODEL, wire.plain(linked("w")))
        return path

    def test_plain_stored_zip(self) -> None:
        path = self.plain_zip(zipfile.ZIP_STORED)
        self.assertIn("onnxar repack", self.finds(Fault("zip.padding.alignment", "w", 0), path))
        line = self.fails(FORMAT, Fault("zip.padding.alignment", "w", 0).line(path), "ls", path)
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
        archive = Archive([Entry("empty.txt", b""), model_of(wire.tensor("w"))])
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
            as_zip = size >= LOCAL.size  # a shorter part does not begin as a zip
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


if __name__ == "__main__":
    command_line.main(__doc__)

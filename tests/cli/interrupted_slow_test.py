"""Work that is cut off: no half outputs, and no crash when an input shrinks.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests interrupted_slow_test.py
"""

from __future__ import annotations

import os
import random
import subprocess
import time
import zlib
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.accounting import written
from support.archives import Archive, Entry, model_of
from support.command_line import DONE, GIB, IO, MIB, ToolCase, snapshot, start


class Killed(ToolCase):
    """Killed while it writes 1 GiB: the output is whole or absent, and no other file is left."""

    SIZE, TIMES, VERB = GIB, 6, "pack"

    def make_source(self) -> Path:
        return self.sparse(self.SIZE)

    def setUp(self) -> None:
        super().setUp()
        self.need_nameless_files()
        self.source = self.make_source()
        self.inputs = snapshot(self.folder)
        self.random = random.Random(1973)

    def need_nameless_files(self) -> None:
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
        except OSError as error:
            self.skipTest(f"the file system has no files without a name: {error.strerror}")

    def kill(self, *options: str) -> bool:
        """Kills after a random part of the work; returns whether that was before the end."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = start(self.VERB, self.source, "-o", self.output, *options, **quiet)
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


class KilledRepack(Killed):
    """`repack` is killed in the same way, also if it replaces its input."""

    SIZE, TIMES, VERB = GIB // 4, 4, "repack"

    def make_source(self) -> Path:
        return self.sparse_zip(self.SIZE)

    def sparse_zip(self, size: int) -> Path:
        """A stored zip with one large entry of zeros that takes no room on the disk."""
        entries = [Entry("m.onnx", wire.plain(wire.tensor("w"))), Entry("zeros", b"")]
        archive = Archive(entries)
        crc = 0
        for _ in range(size // MIB):
            crc = zlib.crc32(bytes(MIB), crc)
        archive.set_both(1, size=size, compressed=size, crc32=crc)
        archive.set_end(directory_offset=archive.directory + size)
        path = self.folder / "zeros.zip"
        with open(path, "wb") as file:
            file.write(archive.file[: archive.directory])
            file.seek(archive.directory + size)
            file.write(archive.file[archive.directory :])
        return path

    def test_replaced_input(self) -> None:
        self.output = self.source
        before = self.source.stat().st_size
        hits = 0
        for _ in range(self.TIMES):
            hits += self.kill("--no-sync", "-f")
            self.assertEqual(set(snapshot(self.folder)), set(self.inputs))
            if self.source.stat().st_size == before:
                self.succeeds("repack", "-q", "-c", 64, self.source)
            else:
                self.assert_whole()
        self.assertGreater(hits, 0)


class Shrinking(ToolCase):
    """A second process truncates the input while the tool reads it."""

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

    def test_zip_that_is_repacked(self) -> None:
        path = KilledRepack.sparse_zip(self, GIB)
        command = ("repack", path, "-o", self.output, "--no-sync")
        process = start(*command, stderr=subprocess.PIPE)
        while 0 <= written(process) < 64 * MIB:
            time.sleep(0.001)
        os.truncate(path, MIB)
        self.assert_ended(process, process.communicate()[1])
        self.assertEqual({each.name for each in self.folder.iterdir()}, {path.name})

    def cat_and_cut(self, size: int) -> tuple[subprocess.Popen, bytes, bytes]:
        """Truncates the archive once the tool has printed a part of an entry; returns stdout and stderr."""
        entry = Entry("w", bytes(size), 4096)
        tensor = wire.fields_of("w", wire.UINT8, [size], wire.DataFile("w").link(length=size))
        path = self.write("model.onnxar", Archive([entry, model_of(tensor)]).file)
        process = start("cat", path, "w", stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        first = process.stdout.read(1)  # a pipe holds 64 KiB, so it cannot have ended
        os.truncate(path, MIB)
        printed, told = process.communicate()
        return process, first + printed, told

    def test_archive_while_a_large_entry_is_printed(self) -> None:
        process, _, told = self.cat_and_cut(80 * MIB)
        self.assert_ended(process, told)

    def test_small_entry_is_copied_before_it_is_printed(self) -> None:
        process, printed, told = self.cat_and_cut(8 * MIB)
        self.assertEqual((process.returncode, told), (DONE, b""))
        self.assertEqual(printed, bytes(8 * MIB))

    def assert_ended(self, process: subprocess.Popen, told: bytes) -> None:
        self.assertEqual(process.returncode, IO, told)
        self.assertIn("error[io.changed]", told.decode())
        self.assertIn("shortened", told.decode())


if __name__ == "__main__":
    command_line.main(__doc__)

"""No crash, and no half output, when an input shrinks. tests/faults kills the tool."""

from __future__ import annotations

import os
import subprocess
import time
import zlib
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.accounting import written
from support.archives import Archive, Entry, model_of
from support.command_line import DONE, GIB, IO, MIB, ToolCase, start


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

    def test_zip_that_is_repacked(self) -> None:
        path = self.sparse_zip(GIB)
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
    command_line.main()

"""replace in archives of 1, 10 and 40 GiB: it writes only as much as model and directory take.

The archives are sparse, so they take no room; the weights are neither read nor written.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.accounting import bytes_written
from support.archives import MODEL
from support.command_line import GIB, MIB, ToolCase
from support.sparse_archive import linked, write_sparse_archive

SIZES = (1, 10, 40)  # GiB, of an entry each
SLACK = 4096


def directory_size(path: Path) -> int:
    """With the end records."""
    with zipfile.ZipFile(path) as file:
        return path.stat().st_size - file.start_dir


def room_on_disk(path: Path) -> int:
    return path.stat().st_blocks * 512


class LargeArchives(ToolCase):
    def sparse_archive(self, gib: int) -> Path:
        path = self.folder / f"{gib}.onnxar"
        write_sparse_archive(path, gib)
        return path

    def replace(self, path: Path, model: bytes) -> None:
        """Writes little more than model and directory, and touches nothing else of the file."""
        size, room = path.stat().st_size, room_on_disk(path)
        offsets = {each["name"]: each["offset"] for each in self.listing(path)["entries"]}
        file = self.write("m.onnx", model)
        written = bytes_written([os.environ["ONNXAR"], "replace", "-q", str(path), str(file)])
        self.assertLessEqual(written, 1.1 * (len(model) + directory_size(path)) + SLACK)
        # Bytes that were changed through a mapping would not be counted, but would fill holes.
        self.assertLessEqual(room_on_disk(path) - room, path.stat().st_size - size + 64 * 1024)
        listing = self.listing(path)
        self.assertEqual({each["name"]: each["offset"] for each in listing["entries"]}, offsets)
        self.succeeds("check", "-q", path)
        with zipfile.ZipFile(path) as file:
            self.assertEqual(file.read(MODEL), model)

    def test_bytes_written(self) -> None:
        for gib in SIZES:
            path = self.sparse_archive(gib)
            self.succeeds("check", "--strict", "-q", path)
            for doc in ("", "x" * 5000, "y" * 3 * MIB):
                with self.subTest(gib=gib, model=len(doc)):
                    parts = wire.initializers(*(linked(f"w{index}", GIB) for index in range(gib)))
                    self.replace(path, wire.model(wire.Part(parts), doc=doc))

    def test_no_write_leaves_the_end_of_the_file(self) -> None:
        """By the system calls themselves."""
        if shutil.which("strace") is None:
            self.skipTest("no strace to see them with")
        path = self.sparse_archive(10)
        size = path.stat().st_size
        model = self.write("m.onnx", wire.plain(linked("w3", GIB), wire.tensor("new")))
        log = self.folder / "calls"
        trace = "trace=write,pwrite64,writev,pwritev,pwritev2,mmap,mprotect,ftruncate,fallocate,copy_file_range,sendfile"
        strace = ["strace", "-f", "-y", "-e", trace, "-o", str(log), os.environ["ONNXAR"]]
        self.succeeds("replace", "-q", path, model, tool=strace)
        lines = [line for line in log.read_text().splitlines() if f"<{path}>" in line]
        self.assertGreaterEqual(len(lines), 4)
        for line in lines:
            call = line.split()[1].partition("(")[0]
            with self.subTest(line):
                self.assertIn(call, ("mmap", "pwritev", "fallocate", "ftruncate"))
                self.assertNotIn("PROT_WRITE", line)
                if call == "pwritev":
                    self.assertGreaterEqual(int(line.rpartition(") = ")[0].rpartition(", ")[2]), size)
                if call == "ftruncate":
                    self.assertEqual(int(line.rpartition(")")[0].rpartition(", ")[2]), path.stat().st_size)

    def test_new_weights_behind_four_gibibytes(self) -> None:
        path = self.sparse_archive(10)
        self.succeeds("replace", path, self.model(linked("w9", GIB), wire.tensor("new")))
        with zipfile.ZipFile(path) as file:
            self.assertEqual(file.read("new"), wire.content(wire.FLOAT, 300, "new"))
        self.succeeds("undo", "-f", path)
        self.succeeds("check", "--strict", "-q", path)

    def test_edit_that_crosses_four_gibibytes(self) -> None:
        """Zip64 end records come where they are needed for the first time, and stay."""
        path = self.folder / "four.onnxar"
        write_sparse_archive(path, 4, GIB - MIB)
        with open(self.folder / "more.bin", "wb") as file:
            file.truncate(6 * MIB)
        link = wire.DataFile("more.bin").link(length=6 * MIB)
        model = self.model(linked("w0", GIB - MIB), wire.fields_of("more", wire.UINT8, [6 * MIB], link))
        for _ in range(2):
            self.succeeds("replace", path, model, "--append-external")
            self.succeeds("check", "-q", path)
            self.assertTrue(self.tail(path).startswith(b"PK\6\7"))
        self.assertEqual(len(self.listing(path)["entries"]), 5)

    def tail(self, path: Path) -> bytes:
        """The places of the zip64 locator, if present, and of the end record."""
        with open(path, "rb") as file:
            file.seek(-42, os.SEEK_END)
            return file.read()


if __name__ == "__main__":
    command_line.main()

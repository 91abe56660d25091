"""Entries and archives over 4 GiB, from sparse sources, read by this tool and by other programs."""

from __future__ import annotations

import mmap
import random
import shutil
import struct
import zipfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import LOCAL, MODEL
from support.command_line import GIB, MIB, ToolCase, output_of

LIMIT32 = 0xFFFFFFFF
NEEDED = 16 * GIB


class LargeCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        free = shutil.disk_usage(self.folder).free
        if free < NEEDED:
            self.fail(f"needs {NEEDED / GIB:.0f} GiB free in {self.folder.parent}, not {free / GIB:.1f}")

    def others_accept(self, path: Path) -> None:
        """Names and CRCs, by programs that share no code with ours."""
        with zipfile.ZipFile(path) as file:
            self.assertIsNone(file.testzip())
            names = file.namelist()
        self.assertEqual(names[-1], MODEL)
        self.assertEqual(output_of("bsdtar", "-tf", path).decode().splitlines(), names)
        output_of("7z", "t", path)


def marks(size: int) -> dict[int, bytes]:
    """Bytes at both ends and in between; all others of a sparse file are zero."""
    source = random.Random(size)
    inner = (source.randrange(64, size - 128) for _ in range(6))
    return {at: source.randbytes(64) for at in (0, size - 64, *inner)}


class AroundTheLimit(LargeCase):
    def marked(self, size: int) -> Path:
        """A model with a weight of this size, and a second weight after it."""
        with open(self.folder / "weights.bin", "wb") as file:
            file.truncate(size)
            for at, data in marks(size).items():
                file.seek(at)
                file.write(data)
        link = wire.DataFile("weights.bin").link(length=size)
        weight = wire.fields_of("w", wire.UINT8, [size], link)
        return self.model(weight, wire.tensor("behind"))

    def archive_keeps(self, size: int) -> None:
        path = self.output
        self.succeeds("pack", self.marked(size), "-o", path, "--no-sync")
        self.succeeds("check", "--data", "--strict", "-q", path)
        weight, behind = self.listing(path)["entries"]
        self.assertEqual((weight["name"], weight["size"]), ("w", size))
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as bytes_:
            for at, data in marks(size).items():
                self.assertEqual(bytes_[weight["offset"] + at :][: len(data)], data)
            start = behind["offset"]
            self.assertEqual(
                bytes_[start : start + behind["size"]], wire.content(wire.FLOAT, 300, "behind")
            )
            self.assert_zip64_as_needed(bytes_, size)
        self.others_accept(path)
        path.unlink()

    def assert_zip64_as_needed(self, file: mmap.mmap, size: int) -> None:
        """The first local header has a zip64 field only from 0xFFFFFFFF on, with both sizes."""
        version, extra = struct.unpack_from("<H", file, 4)[0], file[LOCAL.size + 1 :][:20]
        needed = size >= LIMIT32
        self.assertEqual(version, 45 if needed else 10)
        self.assertEqual(struct.unpack_from("<I", file, 22)[0], min(size, LIMIT32))
        field = struct.pack("<HHQQ", 1, 16, size, size)
        self.assertEqual(extra == field, needed)

    def test_one_byte_less(self) -> None:
        self.archive_keeps(LIMIT32 - 1)

    def test_exactly_the_sentinel(self) -> None:
        self.archive_keeps(LIMIT32)

    def test_one_byte_more(self) -> None:
        self.archive_keeps(LIMIT32 + 1)


class SixGibibytes(LargeCase):
    """A model of many weights is packed and unpacked in little private memory."""

    COUNT, SIZE = 1536, 4 * MIB

    def source(self) -> Path:
        """Each weight begins and ends with its number."""
        tensors = []
        with open(self.folder / "weights.bin", "wb") as file:
            for index in range(self.COUNT):
                for at in (index * self.SIZE, (index + 1) * self.SIZE - 8):
                    file.seek(at)
                    file.write(struct.pack("<Q", index + 1))
                link = wire.DataFile("weights.bin").link(offset=index * self.SIZE, length=self.SIZE)
                tensors.append(wire.fields_of(f"w{index}", wire.UINT8, [self.SIZE], link))
        return self.model(*tensors)

    def bounded(self, model: Path) -> list[str]:
        """The tool under a limit of private memory: 64 MiB, 1 KiB a tensor, twice the skeleton."""
        limit = 64 * MIB + self.COUNT * 1024 + 2 * model.stat().st_size
        return self.in_memory(limit)

    def test_there_and_back(self) -> None:
        model = self.source()
        tool = self.bounded(model)
        self.succeeds("pack", model, "-o", self.output, "--no-sync", tool=tool)
        self.assertGreater(self.output.stat().st_size, 6 * GIB)
        self.succeeds("check", "--data", "--strict", "-q", self.output, tool=tool)
        self.others_accept(self.output)
        back = self.folder / "back.onnx"
        self.succeeds("unpack", self.output, "-o", back, "--external-data", "back.bin", "--no-sync", tool=tool)
        output_of("cmp", self.folder / "weights.bin", self.folder / "back.bin")


if __name__ == "__main__":
    command_line.main()

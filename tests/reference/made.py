"""Archives that the tests of the reference reader begin with, and where their free bits are."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from support.archives import (
    CENTRAL,
    END,
    LOCAL,
    MODEL,
    Archive,
    Entry,
    Record,
    encoded,
    linked,
    model_of,
    padding,
    weights,
)

SENTINEL_16, SENTINEL_32 = 0xFFFF, 0xFFFFFFFF
ZIP64_END = Record(
    b"PK\6\6",
    "record_size:Q, made_by:H, version:H, disk:I, first_disk:I, "
    "here:Q, entries:Q, size:Q, offset:Q",
)
LOCATOR = Record(b"PK\6\7", "disk:I, offset:Q, disks:I")


class Made(Archive):
    """Remembers where data lies, also of an entry that was superseded."""

    def __init__(self, *entries: Entry) -> None:
        self.payloads: list[range] = []
        super().__init__(entries)

    def _append(self, entry: Entry) -> None:
        super()._append(entry)
        self.payloads.append(range(self.data[-1], len(self.file)))


class Zip64Archive(Made):
    """Every size and offset stands in a zip64 field, all end records are there."""

    def _append(self, entry: Entry) -> None:
        at, size = len(self.file), len(entry.data)
        zip64 = struct.pack("<HHQQ", 1, 16, size, size)
        end = at + LOCAL.size + len(encoded(entry.name)) + len(zip64)
        alike = Entry(entry.name, entry.data, extra=zip64 + padding(end, entry.alignment))
        super()._append(alike)
        self.set_local(-1, version=45, size=SENTINEL_32, compressed=SENTINEL_32)

    def _finish(self) -> None:
        self.directory = len(self.file)
        self.central = []
        for entry, at in zip(self.entries, self.headers):
            self.central.append(len(self.file))
            self.file += self._central(entry, at) + encoded(entry.name)
            self.file += struct.pack("<HHQQQ", 1, 24, len(entry.data), len(entry.data), at)
        self.zip64_end = len(self.file)
        count, size = len(self.entries), self.zip64_end - self.directory
        self.file += ZIP64_END.pack(
            record_size=44,
            made_by=45,
            version=45,
            here=count,
            entries=count,
            size=size,
            offset=self.directory,
        )
        self.file += LOCATOR.pack(offset=self.zip64_end, disks=1)
        self.end = len(self.file)
        self.file += END.pack(
            entries_here=SENTINEL_16,
            entries=SENTINEL_16,
            directory_size=SENTINEL_32,
            directory_offset=SENTINEL_32,
        )

    @staticmethod
    def _central(entry: Entry, at: int) -> bytes:
        wide = dict.fromkeys(("size", "compressed", "offset"), SENTINEL_32)
        rest = {"made_by": 45, "version": 45, "extra_length": 28}
        return CENTRAL.pack(**{**entry.fields, **wide, **rest})


def plain() -> Made:
    return Made(*weights("a", "b"), model_of(linked("a"), linked("b")))


def zip64() -> Made:
    return Zip64Archive(*weights("a", "b"), model_of(linked("a"), linked("b")))


def edited() -> Made:
    """With a superseded tail, and an entry that the edit added behind it."""
    archive = Made(*weights("a"), model_of(linked("a")))
    archive.edit(*weights("b"), model_of(linked("a"), linked("b")))
    return archive


def smallest() -> Made:
    """The example of chapter 13."""
    return Made(Entry(MODEL, b"\x3a\x00"))


MADE = {"plain": plain, "zip64": zip64, "edited": edited}


# --- bits ----------------------------------------------------------------------------------------


def header_bits(archive: Made) -> Iterator[int]:
    """All bits but those of the data of entries; also of an entry that was superseded."""
    for at in range(len(archive.file)):
        if not any(at in data for data in archive.payloads):
            yield from range(8 * at, 8 * at + 8)


def free_bits(file: bytes) -> set[int]:
    """Chapter 12, of single bits: one bit of an alignment never makes it another power of two, and
    time and date are not free in one of both headers."""
    free: set[int] = set()

    def add(record: Record, at: int, field: str, bits: Iterable[int]) -> None:
        first = 8 * (at + record.fields[field][0])
        free.update(first + bit for bit in bits)

    def add_version(record: Record, at: int) -> None:
        (version,) = struct.unpack_from("<H", file, at + record.fields["version"][0])
        kept = (bit for bit in range(16) if 10 <= version ^ 1 << bit <= 45)
        add(record, at, "version", kept)

    for at in places(file, LOCAL.signature):
        add_version(LOCAL, at)
        add(LOCAL, at, "flags", [11])
    for at in places(file, CENTRAL.signature):
        add(CENTRAL, at, "made_by", range(8))  # one bit never makes host 3 of host 0
        (external,) = struct.unpack_from("<I", file, at + CENTRAL.fields["external"][0])
        assert external >> 28 in (0, 8)
        add(CENTRAL, at, "external", {*range(28), 31} - {3, 4, 10})
        add_version(CENTRAL, at)
        add(CENTRAL, at, "flags", [11])
        add(CENTRAL, at, "internal", [0])
    for at in places(file, ZIP64_END.signature):
        add(ZIP64_END, at, "made_by", range(16))
        add_version(ZIP64_END, at)
    return free


def places(file: bytes, signature: bytes) -> Iterator[int]:
    at = file.find(signature)
    while at >= 0:
        yield at
        at = file.find(signature, at + 1)

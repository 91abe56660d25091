"""Archives that the tests of the reference reader begin with, and where their free bits are."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from support.archives import ALIGNMENT_ID, CENTRAL, LOCAL, MODEL, SENTINEL32, ZIP64_END, Record
from support.archives import Archive, Entry, alignment_field, linked, model_of, weights, zip64_field


class Made(Archive):
    """Remembers where data lies, also of an entry that was superseded."""

    def __init__(self, *entries: Entry, zip64: bool = False) -> None:
        self.payloads: list[range] = []
        super().__init__(entries, zip64=zip64)

    def add(self, entry: Entry) -> None:
        super().add(entry)
        self.payloads.append(range(self.data[-1], len(self.file)))


@dataclass(frozen=True)
class WideEntry(Entry):
    """Every size and offset is in a zip64 field."""

    def __post_init__(self) -> None:
        size = len(self.data)
        sentinels = {"version": 45, "size": SENTINEL32, "compressed": SENTINEL32}
        object.__setattr__(self, "both", sentinels)
        object.__setattr__(self, "extra", zip64_field(size, size))

    def directory_header(self, offset: int) -> bytes:
        size = len(self.data)
        object.__setattr__(self, "central_extra", zip64_field(size, size, offset))
        object.__setattr__(self, "central", {"made_by": 45, "offset": SENTINEL32})
        return super().directory_header(offset)


def stock_entry(entry: Entry) -> Entry:
    """As Apache Commons Compress writes: record 0xA11E, which the directory repeats, and bit 11."""
    both, repeated = {"flags": 0x800}, alignment_field(entry.alignment)
    return Entry(entry.name, entry.data, both=both, central={"made_by": 20}, record=ALIGNMENT_ID, central_extra=repeated)


def model_and_weights() -> list[Entry]:
    return [*weights("a", "b"), model_of(linked("a"), linked("b"))]


def plain() -> Made:
    return Made(*model_and_weights())


def stock() -> Made:
    return Made(*map(stock_entry, model_and_weights()))


def zip64() -> Made:
    return Made(*(WideEntry(each.name, each.data) for each in model_and_weights()), zip64=True)


def edited() -> Made:
    """With a superseded tail, and an entry that the edit added behind it."""
    archive = Made(*weights("a"), model_of(linked("a")))
    archive.edit(*weights("b"), model_of(linked("a"), linked("b")))
    return archive


def smallest() -> Made:
    """The example of writing.md."""
    return Made(Entry(MODEL, b"\x3a\x00"))


MADE = {"plain": plain, "stock": stock, "zip64": zip64, "edited": edited}


# --- bits ----------------------------------------------------------------------------------------


def header_bits(archive: Made) -> Iterator[int]:
    """All bits but those of the data of entries; also of an entry that was superseded."""
    for at in range(len(archive.file)):
        if not any(at in data for data in archive.payloads):
            yield from range(8 * at, 8 * at + 8)


def free_bits(file: bytes) -> set[int]:
    """What no rule looks at (checking.md), of single bits: one bit of an alignment never makes it
    another power of two, and time and date are not free in one of both headers."""
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

"""Places and local headers (P, L, T1). `Archive` is what a reader opens."""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from dataclasses import dataclass

from directory import ALIGNMENT_ID, LOCAL, MIB, NONE_32, PADDING_IDS, ZIP64_ID
from directory import Entry, Limits, check_counts, check_names, is_alignment
from directory import Keeps, fold, read_directory, read_end, read_extra
from rules import Refused, refuse, require

MODEL = "__MODEL_PROTO"


@dataclass(frozen=True)
class Place:
    """The values of a local header that keeps its rules."""

    data: int  # offset of the data
    has_zip64: bool


@dataclass(frozen=True)
class Tail:
    """The bytes that P5 takes for a superseded tail. A state of the file ends at their end."""

    entry: Entry  # the one before it
    begin: int
    end: int


class Archive:
    """An archive whose end, directory and places keep their rules (stage open)."""

    def __init__(
        self, file: memoryview, limits: Limits, zeros: dict[int, bool] | None = None
    ) -> None:
        """If this is a superseded state, `zeros` is that of its archive: states share local
        headers, so the padding of each, up to 64 KiB, is read only once."""
        self.file = file
        self.zeros = {} if zeros is None else zeros  # by offset of the local header
        self.limits = limits
        self.directory = read_end(file)
        check_counts(self.directory, limits)
        self.entries = list(read_directory(file, self.directory))
        self.by_name = {entry.key: entry for entry in self.entries}
        self.folded = {fold(entry.name) for entry in self.entries}
        self.tails: dict[int, Tail] = {}  # by their begin
        self._next = self._check_places()
        self._places: dict[int, Place] = {}  # by offset of the local header
        check_names(self.entries)
        for entry in self.entries:
            if self._next[entry.offset] not in usual_ends(entry):
                self.place(entry)  # P5
        self._check_model()

    def _check_places(self) -> dict[int, int]:
        """Checks P1 to P4. Returns what follows each entry: the next local header, or the
        directory."""
        first, begin = self.entries[0], self.directory.offset
        require("P1", first.offset == 0, first.header, first.name)
        following_of: dict[int, int] = {}
        for entry, following in zip(self.entries, [*self.entries[1:], None]):
            limit = following.offset if following else begin
            if following:
                require("P2", entry.offset < limit, following.header, following.name)
            else:
                require("P4", entry.offset < limit, entry.header, entry.name)
            rule = "P3" if following else "P4"
            require(rule, least_end(entry) <= limit, entry.offset, entry.name)
            following_of[entry.offset] = limit
        return following_of

    def _check_model(self) -> None:
        """Checks P6 to P8 and N13."""
        model = self.by_name.get(MODEL.encode())
        if model is None:
            refuse("P6", self.directory.offset)
        require("P7", model is self.entries[-1], model.header, MODEL)
        require("P8", model.size <= self.limits.model, model.header, MODEL)
        for entry in self.entries[:-1]:
            require("N13", not re.match("__[A-Z]", entry.name), entry.header, entry.name)

    @property
    def model(self) -> Entry:
        return self.entries[-1]

    def data(self, entry: Entry) -> memoryview:
        """Returns the bytes of an entry, after it proved its local header (stage use)."""
        begin = self.place(entry).data
        return self.file[begin : begin + entry.size]

    def place(self, entry: Entry) -> Place:
        """Returns the place of the data, after the same proof."""
        if entry.offset not in self._places:
            following = self._next[entry.offset]
            place = read_local(self.file, entry, following, self.zeros)
            self._check_gap(entry, place.data + entry.size, following)
            self._places[entry.offset] = place
        return self._places[entry.offset]

    def _check_gap(self, entry: Entry, end: int, following: int) -> None:
        """Checks P5."""
        is_last = entry is self.entries[-1]
        require("P4" if is_last else "P3", end <= following, entry.offset, entry.name)
        if end == following:
            return
        require("P5", not is_last, end, entry.name)
        try:
            superseded = read_end(self.file[:following])
        except Refused:
            refuse("P5", end, entry.name)
        require("P5", superseded.offset >= end, end, entry.name)
        require("P5", self.directory.has_zip64 or not superseded.has_zip64, end, entry.name)
        self.tails[end] = Tail(entry, end, following)

    def check_crc(self, entry: Entry) -> None:
        """Checks T1 (stage check data)."""
        is_right = crc32(self.data(entry)) == entry.crc32
        require("T1", is_right, self.place(entry).data, entry.name)


def open_archive(data: bytes | mmap.mmap, limits: Limits = Limits()) -> Archive:
    return Archive(memoryview(data), limits)


def least_end(entry: Entry) -> int:
    """Returns the end of the data if the local header has no extra fields."""
    return entry.offset + LOCAL.size + len(entry.key) + entry.size


def usual_ends(entry: Entry) -> set[int]:
    """Returns the ends of data that begins where W6 puts it by default, or at the first multiple of
    64 with or without a padding record (P5)."""
    alignment = 4096 if entry.size >= MIB else 64
    zip64 = 20 if entry.size >= NONE_32 else 0
    least = entry.offset + LOCAL.size + len(entry.key) + zip64
    begins = (align(least + 6, alignment), align(least, 64), align(least + 6, 64))
    return {begin + entry.size for begin in begins}


def align(offset: int, alignment: int) -> int:
    return offset + -offset % alignment


def read_local(
    file: memoryview, entry: Entry, following: int, zeros: dict[int, bool]
) -> Place:
    """Checks L1 to L15."""

    def keeps(rule: str, is_kept: bool) -> None:
        require(rule, is_kept, entry.offset, entry.name)

    local = LOCAL.read(file, entry.offset, following)
    keeps("L1", local is not None)
    name_at = entry.offset + LOCAL.size
    extra_at = name_at + local.name
    data_at = extra_at + local.extra
    keeps("L1", data_at <= following)
    keeps("L15", data_at - entry.offset <= 65535)
    keeps("L2", file[name_at:extra_at] == entry.key)
    for field in ("method", "time", "date", "crc32"):
        keeps("L3", getattr(local, field) == getattr(entry.fields, field))
    keeps("L3", (local.flags ^ entry.fields.flags) & ~(1 << 11) == 0)
    keeps("L13", 10 <= local.version <= 45)

    room = file[extra_at:data_at]
    extra = dict(read_extra(room, {ZIP64_ID, *PADDING_IDS}, ("L4", "L5", "L6"), keeps))
    field = extra.pop(ZIP64_ID, None)
    own = (local.size, local.compressed)
    keeps("L7", NONE_32 not in own if field is None else len(field) == 16)
    wide = own if field is None else struct.unpack("<2Q", field)
    keeps("L8", wide == (entry.size, entry.size))
    keeps("L8", all(said in (NONE_32, entry.size) for said in own))

    check_padding(extra, data_at, entry, zeros, keeps)
    return Place(data_at, field is not None)


def check_padding(
    records: dict[int, memoryview],
    data_at: int,
    entry: Entry,
    zeros: dict[int, bool],
    keeps: Keeps,
) -> None:
    """Checks L10 to L12 and L14; there is at most one record (L6)."""
    padding, alignment = memoryview(b""), 64
    for field_id, padding in records.items():
        keeps("L10", len(padding) >= 2)
        alignment = int.from_bytes(padding[:2], "little")
        keeps("L11", is_alignment(field_id, alignment))
    keeps("L12", data_at % alignment == 0)
    repeated = entry.alignment
    keeps("L14", repeated is None or (ALIGNMENT_ID in records and repeated == alignment))
    if entry.offset not in zeros:
        zeros[entry.offset] = not any(padding[2:])
    keeps("L10", zeros[entry.offset])


def crc32(data: memoryview) -> int:
    """Reads the data in pieces, so that mapped data need not be in memory all at once."""
    crc = 0
    for at in range(0, len(data), MIB):
        crc = zlib.crc32(data[at : at + MIB], crc)
    return crc

"""Lays archives out as ../onnx-archive.md wants them, and remembers where each record lies.

The vectors and the project's own tests build their files with it.

What is made conforms, unless an entry says otherwise or a record is changed afterwards: everything
that a change does not name is computed around it, so that a file has the one fault it is made for.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MODEL = "__MODEL_PROTO"
SMALLEST_MODEL = b"\x3a\x00"  # a ModelProto whose graph is empty
ZIP64_ID, PADDING_ID, ALIGNMENT_ID = 0x0001, 0xD935, 0xA11E
UTF8_FLAG = 0x800
DATE = 0x0021  # 1980-01-01
SENTINEL16, SENTINEL32 = 0xFFFF, 0xFFFFFFFF


# --- records -------------------------------------------------------------------------------------


class Record:
    """A zip record without its variable parts: a signature, then fields in order."""

    def __init__(self, signature: bytes, layout: str) -> None:
        pairs = [pair.split(":") for pair in layout.split(", ")]
        self.signature = signature
        self.struct = struct.Struct("<4s" + "".join(code for _, code in pairs))
        self.size = self.struct.size
        self.zeros = dict.fromkeys((name for name, _ in pairs), 0)
        self.fields: dict[str, tuple[int, str]] = {}  # offset and struct code
        at = len(signature)
        for name, code in pairs:
            self.fields[name] = (at, f"<{code}")
            at += struct.calcsize(f"<{code}")

    def pack(self, **values: int) -> bytes:
        """Fields without a value are 0."""
        every = {**self.zeros, **values}  # in the order of the fields
        if len(every) != len(self.zeros):
            raise KeyError(f"no such fields: {sorted(values.keys() - self.zeros.keys())}")
        return self.struct.pack(self.signature, *every.values())

    def put(self, file: bytearray, at: int, **values: int) -> None:
        for name, value in values.items():
            offset, code = self.fields[name]
            struct.pack_into(code, file, at + offset, value)


# What a local header and its directory header both say.
_COMMON = (
    "version:H, flags:H, method:H, time:H, date:H, "
    "crc32:I, compressed:I, size:I, name_length:H, extra_length:H"
)
_ENTRIES = "entries_here:{0}, entries:{0}, directory_size:{1}, directory_offset:{1}"
LOCAL = Record(b"PK\3\4", _COMMON)
CENTRAL = Record(
    b"PK\1\2",
    f"made_by:H, {_COMMON}, comment_length:H, disk:H, internal:H, external:I, offset:I",
)
ZIP64_END = Record(
    b"PK\6\6",
    f"record_size:Q, made_by:H, version:H, disk:I, directory_disk:I, {_ENTRIES.format('Q', 'Q')}",
)
LOCATOR = Record(b"PK\6\7", "disk:I, offset:Q, disks:I")
END = Record(b"PK\5\6", f"disk:H, directory_disk:H, {_ENTRIES.format('H', 'I')}, comment_length:H")


# --- entries -------------------------------------------------------------------------------------


def encoded(name: str) -> bytes:
    """Also of what is no UTF-8, spelt with surrogates."""
    return name.encode(errors="surrogateescape")


def extra_field(number: int, payload: bytes) -> bytes:
    return struct.pack("<HH", number, len(payload)) + payload


def zip64_field(*values: int, disk: int | None = None) -> bytes:
    """A zip64 field of these values of 64 bits, and the disk number if one is given."""
    tail = b"" if disk is None else struct.pack("<I", disk)
    return extra_field(ZIP64_ID, struct.pack(f"<{len(values)}Q", *values) + tail)


def padding(end: int, alignment: int, record: int = PADDING_ID) -> bytes:
    """The shortest padding record that, put at `end`, ends at a multiple of the alignment."""
    return extra_field(record, struct.pack("<H", alignment) + bytes(-(end + 6) % alignment))


def alignment_field(alignment: int) -> bytes:
    """The record of Apache Commons Compress and Rust's zip, as a directory header may repeat it."""
    return extra_field(ALIGNMENT_ID, struct.pack("<H", alignment))


@dataclass(frozen=True)
class Entry:
    """An entry as it conforms; what follows the alignment is how it differs from that."""

    name: str
    data: bytes = b""
    alignment: int = 64
    both: Mapping[str, int] = field(default_factory=dict)  # fields of both headers
    local: Mapping[str, int] = field(default_factory=dict)  # fields of the local header
    central: Mapping[str, int] = field(default_factory=dict)  # fields of the directory header
    local_name: str | None = None
    extra: bytes = b""  # local extra fields before the padding
    padding: bytes | None = None  # instead of the right padding record
    record: int = PADDING_ID  # the id of that record
    where_needed: bool = False  # no record where the data is aligned without one
    after: bytes = b""  # local extra fields after the padding
    central_extra: bytes = b""
    comment: bytes = b""
    before: bytes = b""  # bytes in front of the local header that belong to no entry
    behind: bytes = b""  # and behind the data

    def fields(self) -> dict[str, int]:
        """What both headers say, apart from the length of the extra fields."""
        return {
            "version": 10,
            "flags": 0 if self.name.isascii() else UTF8_FLAG,
            "date": DATE,
            "crc32": zlib.crc32(self.data),
            "compressed": len(self.data),
            "size": len(self.data),
            **self.both,
        }

    def local_header(self, at: int) -> bytes:
        """With name and extra fields, for a header at this offset."""
        name = encoded(self.name if self.local_name is None else self.local_name)
        extra = self.extra + self.after
        end = at + LOCAL.size + len(name) + len(extra)
        if self.padding is not None:
            record = self.padding
        elif self.where_needed and end % self.alignment == 0:
            record = b""
        else:
            record = padding(end, self.alignment, self.record)
        extra = self.extra + record + self.after
        lengths = {"name_length": len(name), "extra_length": len(extra)}
        return LOCAL.pack(**{**self.fields(), **lengths, **self.local}) + name + extra

    def directory_header(self, offset: int) -> bytes:
        """With name, extra fields and comment, for a local header at this offset."""
        name = encoded(self.name)
        own = {
            "made_by": 10,
            "name_length": len(name),
            "extra_length": len(self.central_extra),
            "comment_length": len(self.comment),
            "offset": offset,
        }
        header = CENTRAL.pack(**{**self.fields(), **own, **self.central})
        return header + name + self.central_extra + self.comment


# --- archives ------------------------------------------------------------------------------------


class Archive:
    """`file`, and the offsets in it: `headers` of local headers, `data` of data, `central` of
    directory headers, `directory`, `end`; `zip64_end` and `locator` where they are there."""

    def __init__(self, entries: Iterable[Entry], *, zip64: bool = False) -> None:
        self.file = bytearray()
        self.entries: list[Entry] = []
        self.headers: list[int] = []
        self.data: list[int] = []
        for entry in entries:
            self.add(entry)
        self.finish(zip64=zip64)

    def add(self, entry: Entry) -> None:
        self.file += entry.before
        self.entries.append(entry)
        self.headers.append(len(self.file))
        self.file += entry.local_header(len(self.file))
        self.data.append(len(self.file))
        self.file += entry.data + entry.behind

    def finish(self, *, zip64: bool = False, listed: Sequence[int] | None = None) -> None:
        """Appends a directory of all entries, or of those listed, and the end records."""
        self.directory = len(self.file)
        self.central: list[int] = []
        for index in range(len(self.entries)) if listed is None else listed:
            self.central.append(len(self.file))
            self.file += self.entries[index].directory_header(self.headers[index])
        self.finish_end(len(self.central), zip64=zip64)

    def finish_end(self, count: int, *, zip64: bool = False) -> None:
        """Appends the end records for a directory that ends here."""
        size = len(self.file) - self.directory
        values = {
            "entries_here": count,
            "entries": count,
            "directory_size": size,
            "directory_offset": self.directory,
        }
        if zip64:
            values = self._finish_zip64(values)
        self.end = len(self.file)
        self.file += END.pack(**values)

    def _finish_zip64(self, values: dict[str, int]) -> dict[str, int]:
        """Appends record and locator; returns what is left for the end record to say."""
        self.zip64_end = len(self.file)
        own = {"record_size": ZIP64_END.size - 12, "made_by": 45, "version": 45}
        self.file += ZIP64_END.pack(**{**own, **values})
        self.locator = len(self.file)
        self.file += LOCATOR.pack(offset=self.zip64_end, disks=1)
        counts = dict.fromkeys(("entries_here", "entries"), SENTINEL16)
        return {**counts, **dict.fromkeys(("directory_size", "directory_offset"), SENTINEL32)}

    def edit(self, *entries: Entry, zip64: bool = False) -> Archive:
        """Appends as an edit does: the last entry, which is the model, is superseded."""
        for per_entry in (self.entries, self.headers, self.data):
            per_entry.pop()
        for entry in entries:
            self.add(entry)
        self.finish(zip64=zip64)
        return self

    # Changes of what stands there; they return the archive, so that one can follow another.

    def set_local(self, index: int, **values: int) -> Archive:
        LOCAL.put(self.file, self.headers[index], **values)
        return self

    def set_central(self, index: int, **values: int) -> Archive:
        CENTRAL.put(self.file, self.central[index], **values)
        return self

    def set_zip64_end(self, **values: int) -> Archive:
        ZIP64_END.put(self.file, self.zip64_end, **values)
        return self

    def set_locator(self, **values: int) -> Archive:
        LOCATOR.put(self.file, self.locator, **values)
        return self

    def set_end(self, **values: int) -> Archive:
        END.put(self.file, self.end, **values)
        return self

    def put(self, at: int, data: bytes) -> Archive:
        """Overwrites bytes."""
        self.file[at : at + len(data)] = data
        return self

    # Places; an index of -1 is the model.

    def data_end(self, index: int) -> int:
        return self.data[index] + len(self.entries[index].data)

    def listing(self) -> list[tuple[str, int, int, int]]:
        """Name, offset of the data, size and CRC-32 of each entry."""
        return [
            (entry.name, at, len(entry.data), zlib.crc32(entry.data))
            for entry, at in zip(self.entries, self.data)
        ]

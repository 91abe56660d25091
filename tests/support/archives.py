"""Archives in plain Python, from the format's rules alone: right ones, and ones with one fault.

`Archive` lays entries out as the strict profile demands and remembers where every record lies, so
that a test can change one field of one of them. Entries are small: nothing here needs zip64.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from support import wire_writer as wire

MODEL = "__MODEL_PROTO"
PADDING_ID = 0xD935
DATE = 0x0021  # 1980-01-01


# --- records -------------------------------------------------------------------------------------


class Record:
    """A zip record without its variable parts: a signature, then fields in order."""

    def __init__(self, signature: bytes, layout: str) -> None:
        self.signature = signature
        self.fields: dict[str, tuple[int, str]] = {}  # offset and struct code
        self.size = len(signature)
        for field in layout.split(", "):
            name, code = field.split(":")
            self.fields[name] = (self.size, f"<{code}")
            self.size += struct.calcsize(code)

    def pack(self, **values: int) -> bytes:
        """Fields without a value are 0."""
        out = bytearray(self.signature.ljust(self.size, b"\0"))
        for name, value in values.items():
            self.put(out, 0, name, value)
        return bytes(out)

    def put(self, file: bytearray, at: int, name: str, value: int) -> None:
        offset, code = self.fields[name]
        struct.pack_into(code, file, at + offset, value)


# What a local header and its directory header both say.
_COMMON = (
    "version:H, flags:H, method:H, time:H, date:H, "
    "crc32:I, compressed:I, size:I, name_length:H, extra_length:H"
)
LOCAL = Record(b"PK\3\4", _COMMON)
CENTRAL = Record(
    b"PK\1\2",
    f"made_by:H, {_COMMON}, comment_length:H, disk:H, internal:H, external:I, offset:I",
)
END = Record(
    b"PK\5\6",
    "disk:H, directory_disk:H, entries_here:H, entries:H, "
    "directory_size:I, directory_offset:I, comment_length:H",
)


# --- entries -------------------------------------------------------------------------------------


def encoded(name: str) -> bytes:
    """Also of what is no UTF-8, spelt with surrogates."""
    return name.encode(errors="surrogateescape")


@dataclass(frozen=True)
class Entry:
    name: str
    data: bytes
    alignment: int = 64  # 4096 from 1 MiB on
    extra: bytes | None = None  # the local extra field, where it is not to be the right padding

    @property
    def fields(self) -> dict[str, int]:
        """The fields that both headers hold, apart from the length of the extra field."""
        name = encoded(self.name)
        return {
            "version": 10,
            "flags": 0 if self.name.isascii() else 0x800,
            "date": DATE,
            "crc32": zlib.crc32(self.data),
            "compressed": len(self.data),
            "size": len(self.data),
            "name_length": len(name),
        }


def padding(end_of_name: int, alignment: int) -> bytes:
    """The shortest padding record, 6 bytes or more, that ends at a multiple of the alignment."""
    zeros = -(end_of_name + 6) % alignment
    return struct.pack("<HHH", PADDING_ID, 2 + zeros, alignment) + bytes(zeros)


def linked(name: str, count: int = 300, dims: Iterable[int] | None = None, **link: object) -> bytes:
    """A tensor of floats whose data is the entry of its name, in a writer's words; `link` changes what leads there."""
    fields = wire.DataFile(name).link(**{"offset": 0, "length": 4 * count, **link})
    return wire.fields_of(name, wire.FLOAT, [count] if dims is None else dims, fields)


def weights(*names: str, count: int = 300) -> list[Entry]:
    return [Entry(name, wire.content(wire.FLOAT, count, name)) for name in names]


def model_of(*tensors: bytes) -> Entry:
    return Entry(MODEL, wire.plain(*tensors))


# --- archives ------------------------------------------------------------------------------------


class Archive:
    """`file` conforms as it is made, if its entries do; `headers`, `data`, `central`, `end` are
    the offsets in it: of local headers, of data, of directory headers, of the end record."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.file = bytearray()
        self.entries: list[Entry] = []
        self.headers: list[int] = []
        self.data: list[int] = []
        for entry in entries:
            self._append(entry)
        self._finish()

    def edit(self, *entries: Entry) -> None:
        """Appends as an edit does: the last entry, which is the model, is superseded."""
        for per_entry in (self.entries, self.headers, self.data):
            per_entry.pop()
        for entry in entries:
            self._append(entry)
        self._finish()

    def _append(self, entry: Entry) -> None:
        name, at = encoded(entry.name), len(self.file)
        extra = entry.extra
        if extra is None:
            extra = padding(at + LOCAL.size + len(name), entry.alignment)
        header = LOCAL.pack(**entry.fields, extra_length=len(extra))
        self.entries.append(entry)
        self.headers.append(at)
        self.file += header + name + extra
        self.data.append(len(self.file))
        self.file += entry.data

    def _finish(self) -> None:
        self.directory = len(self.file)
        self.central: list[int] = []
        for entry, at in zip(self.entries, self.headers):
            self.central.append(len(self.file))
            unix = {} if entry.name.isascii() else {"made_by": 0x030A, "external": 0o100644 << 16}
            fields = {"made_by": 10, **entry.fields, **unix, "offset": at}
            self.file += CENTRAL.pack(**fields) + encoded(entry.name)
        self.end = len(self.file)
        count, size = len(self.entries), self.end - self.directory
        self.file += END.pack(
            entries_here=count, entries=count, directory_size=size, directory_offset=self.directory
        )

    # Changes; an index of -1 is the model.

    def set_local(self, index: int, **values: int) -> None:
        for name, value in values.items():
            LOCAL.put(self.file, self.headers[index], name, value)

    def set_central(self, index: int, **values: int) -> None:
        for name, value in values.items():
            CENTRAL.put(self.file, self.central[index], name, value)

    def set_both(self, index: int, **values: int) -> None:
        self.set_local(index, **values)
        self.set_central(index, **values)

    def set_end(self, **values: int) -> None:
        for name, value in values.items():
            END.put(self.file, self.end, name, value)

    def put(self, at: int, data: bytes) -> None:
        """Overwrites bytes."""
        self.file[at : at + len(data)] = data

    def prepend(self, data: bytes) -> None:
        """Puts bytes in front and moves every offset, as makers of self-extracting zips do."""
        for index, at in enumerate(self.headers):
            self.set_central(index, offset=at + len(data))
        self.set_end(directory_offset=self.directory + len(data))
        self.file[:0] = data


def sound() -> Archive:
    """What the tests of faults begin with; it has none."""
    return Archive([*weights("a", "b"), model_of(linked("a"), linked("b"))])


# --- other zips ----------------------------------------------------------------------------------


def exported_files() -> list[tuple[str, bytes]]:
    """The model first, as exporters have it."""
    large = Entry("large", wire.content(wire.UINT8, 2 << 20, "large"))
    model = model_of(linked("a"), linked("b"))
    return [(each.name, each.data) for each in (model, *weights("a", "b"), large)]


def plain_zip(entries: Iterable[tuple[str, bytes]], order: list[int] | None = None) -> bytes:
    """No archive: headers without any extra field; the directory lists them in `order`."""
    file, headers = bytearray(), []
    for name, data in entries:
        fields = Entry(name, data).fields
        headers.append((name, fields, len(file)))
        file += LOCAL.pack(**fields) + name.encode() + data
    directory = len(file)
    for name, fields, at in [headers[i] for i in order or range(len(headers))]:
        file += CENTRAL.pack(**fields, made_by=20, offset=at) + name.encode()
    size = len(file) - directory
    count = len(order or headers)
    file += END.pack(
        entries_here=count, entries=count, directory_size=size, directory_offset=directory
    )
    return bytes(file)

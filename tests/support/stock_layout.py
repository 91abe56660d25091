"""Archives in the layouts of other languages' zip libraries: equal entries, different headers.

Independent of the code under test: entries are read with Python's zipfile, headers are written here.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from support.archives import ALIGNMENT_ID, CENTRAL, DATE, END, LOCAL, PADDING_ID

ALL = 0xFFFFFFFF
UTF8, TEXT = 0x800, 1
UNIX = {"made_by": 3 << 8 | 20, "external": 0o100644 << 16}


def record(number: int, alignment: int, zeros: int) -> bytes:
    return struct.pack("<HHH", number, 2 + zeros, alignment) + bytes(zeros)


def zip64_sizes(size: int) -> bytes:
    return struct.pack("<HHQQ", 1, 16, size, size)


@dataclass(frozen=True)
class Layout:
    """The way in which a library writes entries."""

    padding_id: int = PADDING_ID
    where_needed: bool = False  # no record if the data is aligned without one
    longer: int = 0  # additional zeros, a multiple of the alignment
    zip64: str = ""  # an unneeded local field of both sizes, before or after the padding
    repeated: bool = False  # the directory repeats the alignment
    both: dict[str, int] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    central: dict[str, int] = field(default_factory=dict)

    @property
    def has_warnings(self) -> bool:
        return bool(self.zip64)

    def extra(self, end_of_name: int, size: int, alignment: int) -> bytes:
        """The local extra fields of a header whose name ends there."""
        wide = zip64_sizes(size) if self.zip64 else b""
        end = end_of_name + len(wide)
        if self.where_needed and end % alignment == 0:
            return wide
        padding = record(self.padding_id, alignment, -(end + 6) % alignment + self.longer)
        return wide + padding if self.zip64 == "before" else padding + wide

    def headers(self, at: int, name: bytes, data: bytes, alignment: int) -> tuple[bytes, bytes]:
        """Local and directory header of an entry at this offset."""
        extra = self.extra(at + LOCAL.size + len(name), len(data), alignment)
        fields = {
            "version": 10,
            "date": DATE,
            "crc32": zlib.crc32(data),
            "compressed": len(data),
            "size": len(data),
            "name_length": len(name),
            **self.both,
        }
        wide = {"compressed": ALL, "size": ALL} if self.zip64 else {}
        local = LOCAL.pack(**{**fields, **wide, **self.local, "extra_length": len(extra)})
        more = struct.pack("<HHH", ALIGNMENT_ID, 2, alignment) if self.repeated else b""
        own = {"made_by": 10, "offset": at, "extra_length": len(more)}
        central = CENTRAL.pack(**{**fields, **own, **self.central})
        return local + name + extra, central + name + more


LAYOUTS = {
    "python": Layout(both={"version": 20, "time": 0x6000, "date": 0x5B76}, central=UNIX),
    "python with zip64": Layout(zip64="after", both={"version": 45}, central=UNIX),
    "python far": Layout(local={"version": 20}, central={**UNIX, "version": 45}),
    "rust": Layout(ALIGNMENT_ID, where_needed=True, central=UNIX),
    "rust with zip64": Layout(ALIGNMENT_ID, zip64="before", both={"version": 45}, central=UNIX),
    "java": Layout(ALIGNMENT_ID, repeated=True, both={"flags": UTF8}),
    "go": Layout(both={"version": 20}, central={"version": 45, "made_by": 20}),
    "flags and text": Layout(local={"flags": UTF8}, central={"internal": TEXT}),
    "longer padding": Layout(longer=4096),
}


def relaid(
    archive: bytes, layout: Layout, alignment_of: Callable[[int], int] = lambda size: 64
) -> bytes:
    """Lays out the entries in their order; `alignment_of` returns an entry's alignment by its size."""
    file, directory, count = bytearray(), bytearray(), 0
    with zipfile.ZipFile(io.BytesIO(archive)) as entries:
        for info in entries.infolist():
            data = entries.read(info)
            name = info.filename.encode()
            local, central = layout.headers(len(file), name, data, alignment_of(len(data)))
            file += local + data
            directory += central
            count += 1
    return bytes(file + directory) + END.pack(
        entries_here=count,
        entries=count,
        directory_size=len(directory),
        directory_offset=len(file),
    )

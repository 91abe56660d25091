"""Archives of any size that take almost no space on the disk: their weights are zeros, stored as holes in the file.

As `archives`, from the format's rules alone; what lies beyond 4 GiB is said by zip64 fields.

Usage: sparse_archive.py FILE GIB [MIB], where MIB is the size of each weight, without which it is 1 GiB
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for a run as a script

from support import wire_writer as wire
from support.archives import CENTRAL, END, LOCAL, LOCATOR, MODEL, SENTINEL16, ZIP64_END, Entry, padding, zip64_field

GIB = 1 << 30
LIMIT32 = 0xFFFFFFFF
PAGE = 4096


def crc_of_zeros(size: int) -> int:
    crc, piece = 0, bytes(1 << 20)
    for _ in range(size >> 20):
        crc = zlib.crc32(piece, crc)
    return crc


def linked(name: str, size: int) -> bytes:
    return wire.fields_of(name, wire.UINT8, [size], wire.DataFile(name).link(offset=0, length=size))


def write_sparse_archive(path: Path, count: int, size: int = GIB, after: Mapping[str, bytes] | None = None) -> None:
    """`count` weights of `size` bytes, whole MiB below 4 GiB, named w0, w1, ...; the entries `after` them; and their model."""
    crc = crc_of_zeros(size)
    entries = [(f"w{index}", size, crc, None) for index in range(count)]
    model = Entry(MODEL, wire.plain(*(linked(f"w{index}", size) for index in range(count))))
    entries += [(name, len(data), zlib.crc32(data), data) for name, data in (after or {}).items()]
    entries.append((MODEL, len(model.data), zlib.crc32(model.data), model.data))
    directory = b""
    with open(path, "wb") as file:
        for name, length, crc32, data in entries:
            at = file.tell()
            header, central = _headers(name, length, crc32, at)
            directory += central
            file.write(header)
            if data is None:
                file.seek(length, 1)
            else:
                file.write(data)
        offset = file.tell()
        file.write(directory + _end(len(entries), len(directory), offset))


def _headers(name: str, size: int, crc: int, at: int) -> tuple[bytes, bytes]:
    """Local header with name and padding; directory header."""
    far = at >= LIMIT32
    fields = {
        "version": 45 if far else 10,
        "date": 0x0021,
        "crc32": crc,
        "compressed": size,
        "size": size,
        "name_length": len(name),
    }
    extra = padding(at + LOCAL.size + len(name), PAGE if size >= 1 << 20 else 64)
    local = LOCAL.pack(**fields, extra_length=len(extra)) + name.encode() + extra
    wide = zip64_field(at) if far else b""
    place = {"offset": min(at, LIMIT32), "extra_length": len(wide), "made_by": fields["version"]}
    return local, CENTRAL.pack(**fields, **place) + name.encode() + wide


def _end(count: int, size: int, offset: int) -> bytes:
    if offset < LIMIT32:
        return END.pack(entries_here=count, entries=count, directory_size=size, directory_offset=offset)
    values = {"entries_here": count, "entries": count, "directory_size": size, "directory_offset": offset}
    record = ZIP64_END.pack(record_size=44, made_by=45, version=45, **values)
    locator = LOCATOR.pack(offset=offset + size, disks=1)
    sentinels = {"entries_here": SENTINEL16, "entries": SENTINEL16}
    sentinels |= {"directory_size": LIMIT32, "directory_offset": LIMIT32}
    return record + locator + END.pack(**sentinels)


if __name__ == "__main__":
    mib = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    write_sparse_archive(Path(sys.argv[1]), int(sys.argv[2]) * 1024 // mib, mib << 20)

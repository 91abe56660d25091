"""Builds archives byte by byte, from the spec, independently of the package under test."""

from __future__ import annotations

import struct
import zlib

MODEL = "__MODEL_PROTO"
FLOAT, UINT8, STRING = 1, 2, 8


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def block(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def pair(key: str, value: str) -> bytes:
    """One key of external_data."""
    return block(13, block(1, key) + block(2, value))


EXTERNAL = number(14, 1)


def head(name: str, *dims: int, dtype: int = FLOAT) -> bytes:
    return b"".join(number(1, dim) for dim in dims) + number(2, dtype) + block(8, name)


def linked(name: str, *dims: int, location: str, length: int, offset: int | None = None) -> bytes:
    links = pair("location", location) + (b"" if offset is None else pair("offset", str(offset))) + pair("length", str(length))
    return head(name, *dims) + links + EXTERNAL


def graph(*tensors: bytes) -> bytes:
    return block(2, "g") + b"".join(block(5, tensor) for tensor in tensors)


def model(*tensors: bytes, more: bytes = b"") -> bytes:
    return number(1, 10) + block(7, graph(*tensors)) + more + block(8, number(2, 21))


def _entry(offset: int, name: str, data: bytes) -> tuple[bytes, bytes]:
    alignment = 4096 if len(data) >= 1 << 20 else 64
    padding = -(offset + 30 + len(name) + 6) % alignment
    extra = struct.pack("<HHH", 0xD935, 2 + padding, alignment) + bytes(padding)
    sums = (zlib.crc32(data), len(data), len(data), len(name))
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 10, 0, 0, 0, 0x21, *sums, len(extra)) + name.encode() + extra
    central = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 10, 10, 0, 0, 0, 0x21, *sums, 0, 0, 0, 0, 0, offset) + name.encode()
    return local + data, central


def archive(proto: bytes, **entries: bytes) -> bytes:
    """Entries in the order given, then the model."""
    out, directory = bytearray(), bytearray()
    for name, data in [*entries.items(), (MODEL, proto)]:
        local, central = _entry(len(out), name, data)
        out += local
        directory += central
    count = len(entries) + 1
    return bytes(out + directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), len(out), 0))

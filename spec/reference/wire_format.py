"""The wire format of protobuf (M2 to M5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from archive import MODEL
from rules import refuse, require

VARINT, FIXED64, BLOCK, FIXED32 = 0, 1, 2, 5  # wire types


class Field(NamedTuple):
    """A field of a message; offsets count from the start of the file."""

    at: int  # of its tag
    number: int
    wire_type: int
    begin: int  # of its value, after tag and length
    end: int


class Wire:
    """Reads from one serialised message, which is the entry `name` and lies in a file at `base`."""

    def __init__(self, data: memoryview, base: int, name: str = MODEL) -> None:
        self._data = data
        self._base = base
        self.name = name

    def bytes(self, begin: int, end: int) -> bytes:
        return bytes(self._data[begin - self._base : end - self._base])

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """Returns the value and the offset after it (M2, M3)."""
        value = 0
        for index in range(10):
            require("M2", at + index < end, at, self.name)
            byte = self._data[at + index - self._base]
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                require("M3", value < 1 << 64, at, self.name)
                return value, at + index + 1
        refuse("M3", at, self.name)

    def fields(self, begin: int, end: int) -> Iterator[Field]:
        at = begin
        while at < end:
            following = self.field(at, end)
            yield following
            at = following.end

    def field(self, at: int, end: int) -> Field:
        """Reads a field, and checks M2 to M5."""
        tag, begin = self.varint(at, end)
        number, wire_type = tag >> 3, tag & 7
        require("M4", begin - at <= 5 and 1 <= number < 1 << 29, at, self.name)
        require("M5", wire_type in (VARINT, FIXED64, BLOCK, FIXED32), at, self.name)
        if wire_type == VARINT:
            _, stop = self.varint(begin, end)
        elif wire_type == BLOCK:
            length, begin = self.varint(begin, end)
            stop = begin + length
        else:
            stop = begin + {FIXED64: 8, FIXED32: 4}[wire_type]
        require("M2", stop <= end, at, self.name)
        return Field(at, number, wire_type, begin, stop)

    def varints(self, at: Field) -> Iterator[int]:
        """Yields one number, or the numbers of a packed run."""
        begin = at.begin
        while begin < at.end:
            value, begin = self.varint(begin, at.end)
            yield value


class Key(NamedTuple):
    """A pair of external_data or metadata_props."""

    at: int
    key: bytes
    value: bytes


def read_key(wire: Wire, message: Field) -> Key:
    key = value = b""
    for each in wire.fields(message.begin, message.end):
        match each.number, each.wire_type:
            case 1, 2:
                key = wire.bytes(each.begin, each.end)
            case 2, 2:
                value = wire.bytes(each.begin, each.end)
    return Key(message.begin, key, value)

"""Reads serialised models without protobuf, to compare how they are encoded.

Only the schema's field numbers come from the installed onnx package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from support.onnx_walk import Model


class Field(NamedTuple):
    """One field of a message on the wire."""

    number: int
    wire_type: int
    begin: int  # of the value
    end: int
    is_minimal: bool  # tag and length have the shortest encoding


class Wire:
    """A serialised model in which sites are found by path, without protobuf."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        whole = Field(0, 2, 0, len(data), True)
        self._known: dict[str, tuple[Field, Any]] = {"": (whole, Model.DESCRIPTOR)}
        self._fields: dict[tuple[int, int], list[Field]] = {}

    def fields(self, message: Field) -> list[Field]:
        """The fields of an embedded message in the order of the wire."""
        key = (message.begin, message.end)
        if key not in self._fields:
            self._fields[key] = list(self._read(*key))
        return self._fields[key]

    def is_minimal(self, path: str) -> bool:
        """Whether all messages on the way to `path` have the shortest tags and lengths."""
        steps = path.split(".")
        return all(self.find(".".join(steps[: n + 1])).is_minimal for n in range(len(steps)))

    def find(self, path: str) -> Field:
        """The message at a site's path, such as `graph.node[3].attribute[0].t`."""
        return self._find(path)[0]

    def _find(self, path: str) -> tuple[Field, Any]:
        if path not in self._known:
            parent, _, step = path.rpartition(".")
            name, index = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", step).groups()
            message, descriptor = self._find(parent)
            field = descriptor.fields_by_name[name]
            hits = [hit for hit in self.fields(message) if hit.number == field.number]
            if index is None and len(hits) != 1:
                raise ValueError(f"{path}: {len(hits)} times on the wire")
            self._known[path] = (hits[int(index or 0)], field.message_type)
        return self._known[path]

    def is_location(self, field: Field) -> bool:
        """Whether the field of a tensor is a data_location other than DEFAULT."""
        return field.number == _TENSOR["data_location"].number and self._varint(field.begin)[0] & 0xFFFFFFFF != 0

    def _read(self, at: int, end: int) -> Iterator[Field]:
        while at < end:
            tag, begin = self._varint(at)
            value, stop, is_minimal = self._value(tag, begin)
            yield Field(tag >> 3, tag & 7, value, stop, is_minimal and begin - at == _width(tag))
            at = stop
            if tag & 7 == 3:  # an unknown group: its end tag follows its fields
                _, at = self._varint(stop)

    def _value(self, tag: int, at: int) -> tuple[int, int, bool]:
        wire_type = tag & 7
        if wire_type == 0:
            value, stop = self._varint(at)
            return at, stop, stop - at == _width(value)
        if wire_type == 2:
            length, begin = self._varint(at)
            return begin, begin + length, begin - at == _width(length)
        if wire_type == 3:
            return at, self._group_end(at), True
        return at, at + {1: 8, 5: 4}[wire_type], True

    def _group_end(self, at: int) -> int:
        while True:
            tag, begin = self._varint(at)
            if tag & 7 == 4:
                return at
            _, stop, _ = self._value(tag, begin)
            at = stop if tag & 7 != 3 else self._varint(stop)[1]

    def _varint(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self._data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7


def _width(value: int) -> int:
    return max(1, (value.bit_length() + 6) // 7)


_TENSOR = Model.DESCRIPTOR.file.message_types_by_name["TensorProto"].fields_by_name


def identity_promised(original: bytes, moved_sites: Iterable[str]) -> bool:
    """Whether packing and unpacking must give `original` back bit for bit, if these tensors moved.

    Each of them had raw_data and no link, with fields in ascending order. Lengths spelt longer than
    they need are outside the promise: those around a payload are written anew when it moves.
    """
    wire = Wire(original)
    return all(_splices_back(wire, path) for path in moved_sites)


def _splices_back(wire: Wire, path: str) -> bool:
    fields = wire.fields(wire.find(path))
    numbers = [field.number for field in fields]
    raw = [field for field in fields if field.number == _TENSOR["raw_data"].number]
    linked = [field for field in fields if field.number == _TENSOR["external_data"].number or wire.is_location(field)]
    return (
        len(raw) == 1
        and raw[0].is_minimal
        and numbers == sorted(numbers)
        and not linked
        and wire.is_minimal(path)
    )

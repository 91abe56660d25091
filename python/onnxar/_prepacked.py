"""Aligns the data of a model that ONNX Runtime stored. It aligns only data of a MiB and more, and maps the rest as it lies in the file;
but kernels read prepacked weights with instructions that need aligned addresses, and the process crashes."""

from __future__ import annotations

from onnxar import _wire

# Messages on the way to the initializers of a graph and its subgraphs: the fields of onnx.proto that lead on.
_CHILDREN = {"model": {7: "graph"}, "graph": {1: "node", 5: "tensor"}, "node": {5: "attribute"}, "attribute": {6: "graph", 11: "graph"}}
_EXTERNAL_DATA = 13
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
LEAST, PAGE, LARGE = 256, 4096, 1 << 20  # bytes; ONNX Runtime's own memory is aligned by 256 at most


class Layout:
    """New places for ranges of the data file at `location`, which has `available` bytes, in the order in which they are asked for."""

    def __init__(self, location: str, available: int) -> None:
        self._location, self._available = location, available
        self.ranges: dict[tuple[int, int], int] = {}
        """The new offset of each range, which is an offset and a length."""
        self.size = 0

    def place(self, offset: int, length: int) -> int:
        """Returns the new offset. Errors: ValueError (the range is not in the file)."""
        if offset < 0 or length < 0 or offset + length > self._available:
            raise ValueError(f"data at {offset} of {length} bytes is outside of the file of {self._available} bytes")
        if (offset, length) not in self.ranges:
            alignment = PAGE if length >= LARGE else LEAST
            begin = -(-self.size // alignment) * alignment
            self.ranges[offset, length] = begin
            self.size = begin + length
        return self.ranges[offset, length]

    def moved(self, model: bytes) -> bytes:
        """Returns the serialised model with all its data in new places. Errors: ValueError, KeyError, IndexError, RecursionError (it is not a
        model that ONNX Runtime wrote with this data)."""
        return self._message(memoryview(model), "model")

    def _message(self, message: memoryview, kind: str) -> bytes:
        if kind == "tensor":
            return self._tensor(message)
        out, leading = bytearray(), _CHILDREN[kind]
        for number, whole, value in _fields(message):
            child = leading.get(number) if value is not None else None
            out += whole if child is None or value is None else _wire.data(number, self._message(value, child))
        return bytes(out)

    def _tensor(self, tensor: memoryview) -> bytes:
        pairs = [_pair(value) for number, _, value in _fields(tensor) if number == _EXTERNAL_DATA and value is not None]
        given = dict(pairs)
        if "location" not in given:
            return bytes(tensor)
        if given["location"] != self._location:
            raise ValueError(f"data is in {given['location']!r}")
        begin = self.place(int(given["offset"]), int(given["length"]))
        changed = [(key, str(begin) if key == "offset" else self._blobs(value) if key.startswith("prepacked") else value) for key, value in pairs]
        others = b"".join(bytes(whole) for number, whole, _ in _fields(tensor) if number != _EXTERNAL_DATA)
        return others + b"".join(_wire.pair(_EXTERNAL_DATA, key, value) for key, value in changed)

    def _blobs(self, value: str) -> str:
        """Moves the ranges of `kernel|offset;length;checksum|...`."""
        kernel, *blobs = value.split("|")
        moved = []
        for blob in blobs:
            offset, length, checksum = blob.split(";")
            moved.append(f"{self.place(int(offset), int(length))};{length};{checksum}")
        return "|".join([kernel, *moved])


def _fields(message: memoryview) -> list[tuple[int, memoryview, memoryview | None]]:
    """Returns number, bytes and, if it has a length, value of each field."""
    found, position = [], 0
    while position < len(message):
        begin = position
        tag, position = _varint(message, position)
        value, wire = None, tag & 7
        if wire == _VARINT:
            _, position = _varint(message, position)
        elif wire == _BYTES:
            length, position = _varint(message, position)
            value = message[position : position + length]
            position += length
        elif wire in (_FIXED64, _FIXED32):
            position += 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"the model has a field of type {wire}")
        found.append((tag >> 3, message[begin:position], value))
    return found


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _pair(pair: memoryview) -> tuple[str, str]:
    values = {number: bytes(value).decode() for number, _, value in _fields(pair) if value is not None}
    return values.get(_wire.PAIR_KEY, ""), values.get(_wire.PAIR_VALUE, "")

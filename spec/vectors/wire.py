"""ONNX messages byte by byte, as far as the vectors need them. Field numbers are onnx.proto's."""

from __future__ import annotations

from collections.abc import Iterable

FLOAT, INT64, STRING = 1, 7, 8


def varint(value: int, width: int = 0) -> bytes:
    """`width` bytes wide, even if fewer would do."""
    value &= (1 << 64) - 1  # negative numbers take ten bytes
    out = bytearray()
    while value > 0x7F or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def scalar(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def block(number: int, value: bytes | str, width: int = 0) -> bytes:
    """A string, bytes, packed field or message; its length takes at least `width` bytes."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data), width) + data


# --- tensors -------------------------------------------------------------------------------------


def tensor(name: str, *data: bytes, kind: int = FLOAT, dims: Iterable[int] = (256,)) -> bytes:
    """A TensorProto; `data` are the fields that hold its data or say where it is."""
    shape = b"".join(scalar(1, dim) for dim in dims)
    return shape + scalar(2, kind) + block(8, name) + b"".join(data)


def raw(data: bytes) -> bytes:
    return block(9, data)


def pair(key: str, value: str) -> bytes:
    """A StringStringEntryProto."""
    return block(1, key) + block(2, value)


def link(*pairs: tuple[str, object]) -> bytes:
    """The fields of a tensor whose data is elsewhere."""
    return b"".join(block(13, pair(key, str(value))) for key, value in pairs) + scalar(14, 1)


def linked(
    name: str,
    location: str | None = None,
    offset: object = 0,
    length: object = 1024,
    *,
    kind: int = FLOAT,
    dims: Iterable[int] = (256,),
) -> bytes:
    """A tensor whose data is the entry of its name, or of another location, in a writer's words.
    None leaves a pair out."""
    pairs: list[tuple[str, object]] = [("location", name if location is None else location)]
    pairs += [("offset", offset)] if offset is not None else []
    pairs += [("length", length)] if length is not None else []
    return tensor(name, link(*pairs), kind=kind, dims=dims)


# --- graphs --------------------------------------------------------------------------------------


def graph(*fields: bytes) -> bytes:
    return block(2, "graph") + b"".join(fields)


def initializer(message: bytes) -> bytes:
    return block(5, message)


def node(*attributes: bytes) -> bytes:
    """A node as a field of a graph."""
    return block(1, block(2, "out") + block(4, "Op") + b"".join(block(5, a) for a in attributes))


def attribute(number: int, *values: bytes) -> bytes:
    """An AttributeProto that holds messages in the field of this number."""
    return block(1, "value") + b"".join(block(number, value) for value in values)


def model(*fields: bytes, behind: bytes = b"") -> bytes:
    """A ModelProto whose graph has these fields; `behind` are fields of the model itself."""
    opset = block(8, block(1, "") + scalar(2, 17))
    return scalar(1, 8) + block(7, graph(*fields)) + opset + behind


def model_of(*tensors: bytes) -> bytes:
    return model(*(initializer(each) for each in tensors))

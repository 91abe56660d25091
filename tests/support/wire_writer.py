"""Writes ONNX messages byte by byte, without a protobuf library.

Many legal spellings are never what a library writes: unpacked fields, fields out of order, padded
lengths. What is written here can be parsed; it need not make sense to a checker.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2]))

from spec.vectors.wire import block, pair, scalar, varint

# --- data types ----------------------------------------------------------------------------------

STRING, INT64 = 8, 7


class DataType(NamedTuple):
    name: str
    value: int
    bits: int
    field: int  # number of the typed field
    code: str  # struct code of one value of the typed field, as raw bytes
    mask: bytes = b"\xff"  # applied to random bytes, makes them valid


FLOAT_DATA, INT32_DATA, STRING_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA = 4, 5, 6, 7, 10, 11

# One bit of the exponent stays clear: a signalling NaN would turn quiet in a Python float.
_FLOAT_MASK = b"\xff\xff\x7f\xff"
_DOUBLE_MASK = b"\xff\xff\xff\xff\xff\xff\xef\xff"

TYPES = {
    kind.name: kind
    for kind in (
        DataType("FLOAT", 1, 32, FLOAT_DATA, "f", _FLOAT_MASK),
        DataType("UINT8", 2, 8, INT32_DATA, "B"),
        DataType("INT8", 3, 8, INT32_DATA, "b"),
        DataType("UINT16", 4, 16, INT32_DATA, "H"),
        DataType("INT16", 5, 16, INT32_DATA, "h"),
        DataType("INT32", 6, 32, INT32_DATA, "i"),
        DataType("INT64", INT64, 64, INT64_DATA, "q"),
        DataType("BOOL", 9, 8, INT32_DATA, "B", b"\x01"),
        DataType("FLOAT16", 10, 16, INT32_DATA, "H"),
        DataType("DOUBLE", 11, 64, DOUBLE_DATA, "d", _DOUBLE_MASK),
        DataType("UINT32", 12, 32, UINT64_DATA, "I"),
        DataType("UINT64", 13, 64, UINT64_DATA, "Q"),
        DataType("COMPLEX64", 14, 64, FLOAT_DATA, "f", _FLOAT_MASK),
        DataType("COMPLEX128", 15, 128, DOUBLE_DATA, "d", _DOUBLE_MASK),
        DataType("BFLOAT16", 16, 16, INT32_DATA, "H"),
        DataType("FLOAT8E4M3FN", 17, 8, INT32_DATA, "B"),
        DataType("FLOAT8E4M3FNUZ", 18, 8, INT32_DATA, "B"),
        DataType("FLOAT8E5M2", 19, 8, INT32_DATA, "B"),
        DataType("FLOAT8E5M2FNUZ", 20, 8, INT32_DATA, "B"),
        DataType("UINT4", 21, 4, INT32_DATA, "B"),
        DataType("INT4", 22, 4, INT32_DATA, "B"),
        DataType("FLOAT4E2M1", 23, 4, INT32_DATA, "B"),
        DataType("FLOAT8E8M0", 24, 8, INT32_DATA, "B"),
        DataType("UINT2", 25, 2, INT32_DATA, "B"),
        DataType("INT2", 26, 2, INT32_DATA, "B"),
    )
}
FLOAT, UINT8 = TYPES["FLOAT"], TYPES["UINT8"]


def content(kind: DataType, count: int, seed: object) -> bytes:
    """Raw bytes of `count` elements, any valid values of the type, determined by the seed."""
    size = (count * kind.bits + 7) // 8
    data = random.Random(str(seed)).randbytes(size)
    mask = (kind.mask * (size // len(kind.mask) + 1))[:size]
    if unused := size * 8 - count * kind.bits:  # the last byte of a type below a byte
        mask = mask[:-1] + bytes([0xFF >> unused])
    masked = int.from_bytes(data, "little") & int.from_bytes(mask, "little")
    return masked.to_bytes(size, "little")


# --- tensors -------------------------------------------------------------------------------------

Encoding = Callable[[DataType, bytes], bytes]  # of raw bytes as a field of a tensor
DIMS, DATA_TYPE, SEGMENT, NAME, RAW_DATA, DOC_STRING = 1, 2, 3, 8, 9, 12
EXTERNAL_DATA, DATA_LOCATION, TENSOR_METADATA = 13, 14, 16


def raw(kind: DataType, data: bytes) -> bytes:
    return block(RAW_DATA, data)


def packed(kind: DataType, data: bytes) -> bytes:
    return block(kind.field, data if kind.code in "fd" else b"".join(_varints(kind, data)))


def unpacked(kind: DataType, data: bytes) -> bytes:
    if kind.code in "fd":
        width = struct.calcsize(kind.code)
        tag = varint(kind.field << 3 | {4: 5, 8: 1}[width])
        return b"".join(tag + data[at : at + width] for at in range(0, len(data), width))
    tag = varint(kind.field << 3)
    return b"".join(tag + value for value in _varints(kind, data))


def split_runs(kind: DataType, data: bytes) -> bytes:
    """A packed run, an unpacked value and a second packed run, which a parser joins."""
    width = struct.calcsize(kind.code)
    cut = len(data) // width // 2 * width
    middle = unpacked(kind, data[cut : cut + width])
    return packed(kind, data[:cut]) + middle + packed(kind, data[cut + width :])


def _varints(kind: DataType, data: bytes) -> Iterator[bytes]:
    return (varint(value) for (value,) in struct.iter_unpack("<" + kind.code, data))


ENCODINGS: dict[str, Encoding] = {"raw": raw, "packed": packed, "unpacked": unpacked}


def head(kind: DataType, dims: Iterable[int]) -> bytes:
    return b"".join(scalar(DIMS, dim) for dim in dims) + scalar(DATA_TYPE, kind.value)


def fields_of(name: str | None, kind: DataType, dims: Iterable[int], typed: bytes) -> bytes:
    """A TensorProto in ascending order; `typed` is its payload, already encoded."""
    label = b"" if name is None else block(NAME, name)
    is_typed = typed and (typed[0] >> 3) < NAME
    return head(kind, dims) + (typed + label if is_typed else label + typed)


def tensor(
    name: str | None,
    kind: DataType = FLOAT,
    count: int = 300,
    encode: Encoding = raw,
    seed: object = None,
) -> bytes:
    """A vector of `count` elements; its values depend on the seed, or else on its name."""
    data = content(kind, count, name if seed is None else seed)
    return fields_of(name, kind, [count], encode(kind, data))


def strings(name: str) -> bytes:
    texts = b"".join(block(STRING_DATA, text) for text in ("zero", "", "zwölf", "x" * 2000))
    return scalar(DIMS, 4) + scalar(DATA_TYPE, STRING) + texts + block(NAME, name)


# --- graphs --------------------------------------------------------------------------------------

GRAPH_NODE, INITIALIZER, SPARSE_INITIALIZER = 1, 5, 15
T, G, TENSORS, GRAPHS, SPARSE_TENSOR, SPARSE_TENSORS = 5, 6, 10, 11, 22, 23
ATTRIBUTE_TYPES = {T: 4, G: 5, TENSORS: 9, GRAPHS: 10, SPARSE_TENSOR: 11, SPARSE_TENSORS: 12}
GRAPH, TRAINING_INFO, FUNCTIONS = 7, 20, 25
INITIALIZATION, ALGORITHM = 1, 2


def attribute(number: int, *values: bytes) -> bytes:
    body = b"".join(block(number, value) for value in values)
    kind = scalar(20, ATTRIBUTE_TYPES[number])
    return block(1, "value") + (body + kind if number < 20 else kind + body)


def node(op_type: str, *attributes: bytes) -> bytes:
    return block(2, "out") + block(4, op_type) + b"".join(block(5, each) for each in attributes)


def initializers(*tensors: bytes) -> bytes:
    return b"".join(block(INITIALIZER, each) for each in tensors)


def graph(body: bytes, name: str = "graph") -> bytes:
    return block(2, name) + body


def sparse(values: bytes) -> bytes:
    """A sparse tensor whose indices are long enough to move, if indices could."""
    kind = TYPES["INT64"]
    data = raw(kind, struct.pack("<200q", *range(200)))
    return block(1, values) + block(2, fields_of("indices", kind, [200], data)) + scalar(3, 4096)


class Part(NamedTuple):
    """The fields that a tensor adds to a model: in the graph, and in the model after the graph."""

    graph: bytes = b""
    model: bytes = b""


def model(*parts: Part, doc: str = "") -> bytes:
    body = graph(b"".join(part.graph for part in parts))
    start = scalar(1, 8) + block(2, "zoo") + (block(6, doc) if doc else b"")
    rest = block(8, block(1, "") + scalar(2, 17))
    return start + block(GRAPH, body) + rest + b"".join(part.model for part in parts)


def plain(*tensors: bytes) -> bytes:
    return model(Part(initializers(*tensors)))


# --- links ---------------------------------------------------------------------------------------


class DataFile:
    """A file of weights under construction, and the links into it."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.data = bytearray()

    def add(self, data: bytes, align: int = 1) -> int:
        self.data += bytes(-len(self.data) % align)
        self.data += data
        return len(self.data) - len(data)

    def link(self, **values: object) -> bytes:
        pairs = {"location": self.location, **values}
        entries = (block(EXTERNAL_DATA, pair(key, str(value))) for key, value in pairs.items())
        return b"".join(entries) + scalar(DATA_LOCATION, 1)

    def tensor(self, name: str, kind: DataType = FLOAT, count: int = 300, align: int = 1) -> bytes:
        data = content(kind, count, name)
        link = self.link(offset=self.add(data, align), length=len(data))
        return fields_of(name, kind, [count], link)

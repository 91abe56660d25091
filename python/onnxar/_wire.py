"""Writes a model without nodes. Field numbers are those of onnx.proto. The library encodes links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onnxar import _core

MODEL_IR_VERSION, MODEL_PRODUCER, MODEL_GRAPH, MODEL_OPSET, MODEL_METADATA = 1, 2, 7, 8, 14
GRAPH_NAME, GRAPH_INITIALIZER = 2, 5
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW = 1, 2, 8, 9
PAIR_KEY, PAIR_VALUE = 1, 2
OPSET_VERSION = 2
OPSET = 21
# The first IR version that has a data type. Version 10 has all other types.
IR_VERSION, IR_VERSION_OF_TYPE = 10, {23: 11, 24: 12, 25: 13, 26: 13, 27: 14, 28: 14}


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def head(field: int, size: int) -> bytes:
    """Returns the bytes that precede `size` bytes of data."""
    return varint(field << 3 | 2) + varint(size)


def data(field: int, value: bytes | str) -> bytes:
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return head(field, len(raw)) + raw


def pair(field: int, key: str, value: str) -> bytes:
    return data(field, data(PAIR_KEY, key) + data(PAIR_VALUE, value))


def tensor(name: str, dtype: int, shape: Sequence[int], key: str | None, size: int) -> bytes:
    """Returns a tensor whose data is the whole entry `key`; without a key, an empty tensor."""
    head = b"".join(number(TENSOR_DIMS, dim) for dim in shape) + number(TENSOR_TYPE, dtype) + data(TENSOR_NAME, name)
    if key is None:
        return head + data(TENSOR_RAW, b"")
    return head + _core.link_fields(key, size)


def model(tensors: Iterable[bytes], dtypes: Iterable[int], metadata: Mapping[str, str]) -> bytes:
    graph = data(GRAPH_NAME, "tensors") + b"".join(data(GRAPH_INITIALIZER, each) for each in tensors)
    version = max([IR_VERSION, *(IR_VERSION_OF_TYPE.get(dtype, 0) for dtype in dtypes)])
    return b"".join([
        number(MODEL_IR_VERSION, version),
        data(MODEL_PRODUCER, "onnxar"),
        data(MODEL_GRAPH, graph),
        data(MODEL_OPSET, number(OPSET_VERSION, OPSET)),
        *(pair(MODEL_METADATA, key, value) for key, value in metadata.items()),
    ])  # fmt: skip


"""As much of protobuf's wire format as a model without nodes needs: field numbers are those of onnx.proto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

MODEL_IR_VERSION, MODEL_PRODUCER, MODEL_GRAPH, MODEL_OPSET, MODEL_METADATA = 1, 2, 7, 8, 14
GRAPH_NAME, GRAPH_INITIALIZER = 2, 5
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW, TENSOR_EXTERNAL, TENSOR_LOCATION = 1, 2, 8, 9, 13, 14
PAIR_KEY, PAIR_VALUE = 1, 2
OPSET_VERSION = 2
EXTERNAL = 1
OPSET = 21
# The first version of the IR that has a data type; all others were there before.
IR_VERSION, IR_VERSION_OF_TYPE = 10, {23: 11, 24: 12, 25: 13, 26: 13}


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes | str) -> bytes:
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def pair(field: int, key: str, value: str) -> bytes:
    return data(field, data(PAIR_KEY, key) + data(PAIR_VALUE, value))


def tensor(name: str, dtype: int, shape: Sequence[int], key: str | None, size: int) -> bytes:
    """A tensor whose data is all of the entry `key`; without a key it has none."""
    head = b"".join(number(TENSOR_DIMS, dim) for dim in shape) + number(TENSOR_TYPE, dtype) + data(TENSOR_NAME, name)
    if key is None:
        return head + data(TENSOR_RAW, b"")
    links = pair(TENSOR_EXTERNAL, "location", key) + pair(TENSOR_EXTERNAL, "length", str(size))
    return head + links + number(TENSOR_LOCATION, EXTERNAL)


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


def _read_varint(buffer: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def fields(buffer: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and bytes of each length-delimited field of a message that the library has walked already."""
    position, skipped = 0, {1: 8, 5: 4}
    while position < len(buffer):
        tag, position = _read_varint(buffer, position)
        kind = tag & 7
        if kind == 0:
            _, position = _read_varint(buffer, position)
        elif kind in skipped:
            position += skipped[kind]
        else:
            size, position = _read_varint(buffer, position)
            yield tag >> 3, buffer[position : position + size]
            position += size


def metadata(buffer: memoryview) -> dict[str, str]:
    """The metadata_props of a serialised model. REQUIRES: one that the library has walked."""
    pairs = {}
    for field, value in fields(buffer):
        if field == MODEL_METADATA:
            parts = {part: str(text, "utf-8", "surrogateescape") for part, text in fields(value)}
            pairs[parts.get(PAIR_KEY, "")] = parts.get(PAIR_VALUE, "")
    return pairs

"""Finds the tensors of a serialised ModelProto and reads their fields (M1, M6, M7, M10, M17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from directory import GIB
from rules import require
from wire_format import BLOCK, Field, Key, Wire, read_key

# --- where tensors are ---------------------------------------------------------------------------


class Child(NamedTuple):
    message: str
    is_repeated: bool


ONE, MANY = False, True
CHILDREN = {  # field numbers of the messages on the way to a tensor
    "Model": {
        7: Child("Graph", ONE),  # graph
        20: Child("TrainingInfo", MANY),  # training_info
        25: Child("Function", MANY),  # functions
    },
    "TrainingInfo": {
        1: Child("Graph", ONE),  # initialization
        2: Child("Graph", ONE),  # algorithm
    },
    "Function": {
        7: Child("Node", MANY),  # node
        11: Child("Attribute", MANY),  # attribute_proto
    },
    "Graph": {
        1: Child("Node", MANY),  # node
        5: Child("Tensor", MANY),  # initializer
        15: Child("SparseTensor", MANY),  # sparse_initializer
    },
    "Node": {
        5: Child("Attribute", MANY),  # attribute
    },
    "Attribute": {
        5: Child("Tensor", ONE),  # t
        6: Child("Graph", ONE),  # g
        10: Child("Tensor", MANY),  # tensors
        11: Child("Graph", MANY),  # graphs
        22: Child("SparseTensor", ONE),  # sparse_tensor
        23: Child("SparseTensor", MANY),  # sparse_tensors
    },
    "SparseTensor": {
        1: Child("Tensor", ONE),  # values
        2: Child("Tensor", ONE),  # indices
    },
}
DEEPEST = 100


def tensors_in(wire: Wire, message: str, begin: int, end: int, depth: int = 0) -> Iterator[Tensor]:
    """Yields the tensors of a message in their order on the wire (M6, M7; M1 of a model). As in
    every parser, a known field with another wire type is an unknown field."""
    seen: set[int] = set()
    for each in wire.fields(begin, end):
        child = CHILDREN[message].get(each.number)
        if child is None or each.wire_type != BLOCK:
            continue
        require("M7", child.is_repeated or each.number not in seen, each.at, wire.name)
        require("M6", depth < DEEPEST, each.at, wire.name)
        seen.add(each.number)
        if child.message == "Tensor":
            yield read_tensor(wire, each, depth + 1)
        else:
            yield from tensors_in(wire, child.message, each.begin, each.end, depth + 1)
    require("M1", message != "Model" or 7 in seen, begin, wire.name)


# --- tensors -------------------------------------------------------------------------------------

UNDEFINED, STRING = 0, 8
RAW_DATA = 9
MOST_DIMS = 1024
MOST_BYTES = 2 * GIB - 1  # of a message
KNOWN_KEYS = frozenset({b"location", b"offset", b"length", b"checksum"})
BITS = {
    **dict.fromkeys((25, 26), 2),  # UINT2, INT2
    **dict.fromkeys((21, 22, 23), 4),  # UINT4, INT4, FLOAT4E2M1
    **dict.fromkeys((27, 28), 6),  # FLOAT6E2M3, FLOAT6E3M2
    **dict.fromkeys((2, 3, 9, 17, 18, 19, 20, 24), 8),  # UINT8, INT8, BOOL, FLOAT8*
    **dict.fromkeys((4, 5, 10, 16), 16),  # UINT16, INT16, FLOAT16, BFLOAT16
    **dict.fromkeys((1, 6, 12), 32),  # FLOAT, INT32, UINT32
    **dict.fromkeys((7, 11, 13, 14), 64),  # INT64, DOUBLE, UINT64, COMPLEX64
    15: 128,  # COMPLEX128
}
FIELD = {  # of typed data, by data type
    **dict.fromkeys(BITS, 5),  # int32_data
    **dict.fromkeys((1, 14), 4),  # FLOAT, COMPLEX64: float_data
    **dict.fromkeys((11, 15), 10),  # DOUBLE, COMPLEX128: double_data
    **dict.fromkeys((12, 13), 11),  # UINT32, UINT64: uint64_data
    7: 7,  # INT64: int64_data
    STRING: 6,  # string_data
}


@dataclass
class Tensor:
    at: int
    graph: str  # the entry that it is in
    dims: list[int] = field(default_factory=list)
    data_type: int = 0
    raw_size: int | None = None
    typed: dict[int, int] = field(default_factory=dict)  # how many values, by field
    is_external: bool = False
    keys: dict[bytes, bytes] = field(default_factory=dict)  # of external_data
    has_unknown_key: bool = False

    @property
    def values(self) -> int:
        """Returns the product of the dimensions. A product above 2^80, which is too many for any
        type, may be any such number."""
        count = 0 if 0 in self.dims else 1
        for dim in self.dims:
            count *= dim
            if count >> 80:
                break
        return count

    @property
    def size(self) -> int | None:
        """Returns the bytes that data type and dimensions need; None if the size of the elements is
        unknown."""
        bits = BITS.get(self.data_type) if self.values else 0
        return None if bits is None else (self.values * bits + 7) // 8

    @property
    def typed_values(self) -> int | None:
        """Returns the number of values that data type and dimensions need; None if the type has no
        known field."""
        if self.data_type not in FIELD:
            return None
        if self.data_type in (14, 15):  # COMPLEX
            return 2 * self.values
        return self.size if BITS.get(self.data_type) in (2, 4) else self.values

    @property
    def held(self) -> dict[int, int]:
        """Returns the amount of data in each field of values, in bytes or values, without empty
        fields."""
        fields = {RAW_DATA: self.raw_size or 0, **self.typed}
        return {number: count for number, count in fields.items() if count}

    @property
    def has_surplus(self) -> bool:
        """True if the tensor has more values than needed."""
        held = self.typed.get(FIELD.get(self.data_type, 0), 0)
        return self.typed_values is not None and held > self.typed_values

    @property
    def lacks_data(self) -> bool:
        return not self.is_external and not self.held and self.values != 0


def read_tensor(wire: Wire, message: Field, depth: int) -> Tensor:
    """Checks M10 and M17 while it reads the fields, and packed runs afterwards."""
    tensor = Tensor(message.begin, wire.name)
    runs: list[Field] = []
    for each in wire.fields(message.begin, message.end):
        match each.number, each.wire_type:
            case 1, (0 | 2):
                for value in wire.varints(each):
                    tensor.dims.append(value)
                    is_bad = value >> 63 or len(tensor.dims) > MOST_DIMS
                    require("M17", not is_bad, each.at, wire.name)
            case 2, 0:
                tensor.data_type = low_32_bits(next(wire.varints(each)))
            case (4 | 5 | 7 | 10 | 11), 2:  # a packed run
                runs.append(each)
            case (4, 5) | (5, 0) | (6, 2) | (7, 0) | (10, 1) | (11, 0):  # one value
                tensor.typed[each.number] = tensor.typed.get(each.number, 0) + 1
            case 9, 2:
                tensor.raw_size = each.end - each.begin
            case 13, 2:
                require("M6", depth < DEEPEST, each.at, wire.name)
                add_key(tensor, read_key(wire, each))
            case 14, 0:
                location = low_32_bits(next(wire.varints(each)))
                tensor.is_external = location == 1 if location <= 1 else tensor.is_external
    if tensor.size is not None:
        require("M17", max(tensor.values, tensor.size) < 1 << 64, tensor.at, wire.name)
    for run in runs:
        tensor.typed[run.number] = tensor.typed.get(run.number, 0) + count_run(wire, run)
    return tensor


def count_run(wire: Wire, run: Field) -> int:
    """Counts the values of a packed run of typed data (M2, M3)."""
    if width := {4: 4, 10: 8}.get(run.number):
        require("M2", (run.end - run.begin) % width == 0, run.at, wire.name)
        return (run.end - run.begin) // width
    return sum(1 for _ in wire.varints(run))


def add_key(tensor: Tensor, key: Key) -> None:
    """Checks M10."""
    if key.key not in KNOWN_KEYS:
        tensor.has_unknown_key = True
        return
    require("M10", key.key not in tensor.keys, key.at, tensor.graph)
    tensor.keys[key.key] = key.value


def low_32_bits(value: int) -> int:
    return value & 0xFFFF_FFFF

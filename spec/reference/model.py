"""Finds the tensors of a serialised ModelProto and checks their data: the model (M) and each
further graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from archive import MODEL, Archive
from directory import GIB, Entry, fold, read_name
from rules import Finding, Refused, refuse, require
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


# --- links ---------------------------------------------------------------------------------------

MARKERS = (b"*/_ORT_", b"#onnxar:")


@dataclass(frozen=True)
class Link:
    """A linked tensor and the bytes of an entry that are its data."""

    tensor: Tensor
    entry: Entry
    offset: int  # in the entry
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


def read_link(tensor: Tensor, archive: Archive) -> Link:
    """Checks M8 to M16, M18, M19 and G6 of a linked tensor."""

    def keeps(rule: str, is_kept: bool) -> None:
        require(rule, is_kept, tensor.at, tensor.graph)

    keeps("M19", tensor.data_type != UNDEFINED)
    keeps("M15", tensor.data_type != STRING)
    keeps("M16", tensor.raw_size is None and not tensor.held)
    values = tensor.keys
    location = values.get(b"location", b"")
    keeps("M8", location != b"")
    keeps("M14", not location.startswith(MARKERS))
    offset, length = plain_decimal(values.get(b"offset", b"0")), tensor.size
    keeps("M11", offset is not None)
    if b"length" in values:
        length = plain_decimal(values[b"length"])
        keeps("M12", length is not None)
    keeps("M18", tensor.size in (None, length))
    entry = archive.by_name.get(location)
    keeps("M9", entry is not None)
    archive.place(entry)  # its local header keeps its rules, or that is what is refused
    if length is None:
        length = max(0, entry.size - offset)
    keeps("M13", offset + length <= entry.size)
    if tensor.graph != MODEL and "/" in tensor.graph:
        folder = tensor.graph.rpartition("/")[0].encode()
        keeps("G6", folder + b"/" + location not in archive.by_name)
    return Link(tensor, entry, offset, length)


def plain_decimal(text: bytes) -> int | None:
    """Returns the number; None if it is not a plain decimal number below 2^64."""
    if not re.fullmatch(rb"0|[1-9][0-9]{0,19}", text):
        return None
    return int(text) if int(text) < 1 << 64 else None


def check_inline(tensor: Tensor) -> None:
    """Checks M18 to M21 of a tensor that is not linked."""

    def keeps(rule: str, is_kept: bool) -> None:
        require(rule, is_kept, tensor.at, tensor.graph)

    keeps("M19", tensor.data_type != UNDEFINED)
    held = tensor.held
    keeps("M20", len(held) <= 1)
    own = FIELD.get(tensor.data_type)
    for number in held if own else ():
        keeps("M21", number == own or (number == RAW_DATA and tensor.data_type != STRING))
    keeps("M18", tensor.values != 0 or not held)
    if tensor.raw_size is not None and tensor.size is not None:
        keeps("M18", tensor.raw_size >= tensor.size)
    if own in held:
        keeps("M18", held[own] >= tensor.typed_values)


# --- all of it -----------------------------------------------------------------------------------


@dataclass
class Model:
    tensors: list[Tensor] = field(default_factory=list)
    duplicates: list[tuple[int, str]] = field(default_factory=list)  # offset, and the entry
    links: list[Link] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)


def read_model(archive: Archive) -> Model:
    """Reads the model (and then checks G4) and each further graph (G1 to G3, G6), in the order of
    the directory."""
    model = Model()
    read_graph(model, archive, archive.model)
    for entry in archive.entries[:-1]:
        if is_graph(entry.name):
            read_graph(model, archive, entry)
    return model


def is_graph(name: str) -> bool:
    """True if the name is that of a graph (G1)."""
    return re.fullmatch(r"(.*/)?[^/]+\.onnx", name, re.DOTALL) is not None


def read_graph(model: Model, archive: Archive, entry: Entry) -> None:
    """Reads as much of a graph as possible. Reports one error for each tensor, and nothing after an
    error of the wire format."""
    try:
        require("G2", entry.size <= MOST_BYTES, entry.header, entry.name)
        data = archive.data(entry)
        begin = archive.place(entry).data
        end = begin + len(data)
        wire = Wire(data, begin, entry.name)
        for tensor in tensors_in(wire, "Model", begin, end):
            model.tensors.append(tensor)
            check_tensor(model, tensor, archive)
        model.duplicates += [(at, entry.name) for at in duplicates_in(wire, "Model", begin, end)]
        check_metadata(wire, metadata_in(wire, begin, end), archive)
    except Refused as refused:
        model.errors.append(refused.finding)


def duplicates_in(wire: Wire, message: str, begin: int, end: int) -> Iterator[int]:
    """Yields the places where graphs and functions define a name again (R14)."""
    names: set[bytes] = set()
    for each in wire.fields(begin, end):
        child = CHILDREN.get(message, {}).get(each.number)
        if child is None or each.wire_type != BLOCK:
            continue
        if message in ("Graph", "Function"):
            at, defined = defined_by(wire, child.message, each)
            count = len(names) + len(defined)
            names.update(defined)
            if len(names) < count:
                yield at
        yield from duplicates_in(wire, child.message, each.begin, each.end)


def defined_by(wire: Wire, message: str, at: Field) -> tuple[int, list[bytes]]:
    """Returns the offset for a finding, and the names that an initializer or a node defines."""

    def blocks(number: int) -> list[Field]:
        fields = wire.fields(at.begin, at.end)
        return [each for each in fields if (each.number, each.wire_type) == (number, BLOCK)]

    def texts(number: int) -> list[bytes]:
        return [wire.bytes(each.begin, each.end) for each in blocks(number)]

    match message:
        case "Node":
            return at.begin, [name for name in texts(2) if name]
        case "Tensor":
            return at.begin, (texts(8) or [b""])[-1:]
        case "SparseTensor" if values := blocks(1):
            return defined_by(wire, "Tensor", values[0])
    return at.begin, []


METADATA_PROPS = 14
LINK_KEYS, NAME_KEY = b"onnxar.link.", b"onnxar.model.name"


def metadata_in(wire: Wire, begin: int, end: int) -> Iterator[Key]:
    """Yields the pairs of metadata_props, each with its field. Skips damaged pairs."""
    for each in wire.fields(begin, end):
        if (each.number, each.wire_type) == (METADATA_PROPS, BLOCK):
            try:
                yield read_key(wire, each)._replace(at=each.at)
            except Refused:
                pass


def check_metadata(wire: Wire, pairs: Iterator[Key], archive: Archive) -> None:
    """Checks G3 of a graph, G4 of the model."""
    if wire.name != MODEL:
        for each in pairs:
            require("G3", not each.key.startswith(LINK_KEYS), each.at, wire.name)
        return
    names = [each for each in pairs if each.key == NAME_KEY]
    for each in names[1:]:
        refuse("G4", each.at, wire.name)
    for each in names:
        require("G4", is_free(each.value + b".onnx", archive), each.at, wire.name)


def is_free(name: bytes, archive: Archive) -> bool:
    """True if a graph of this name could be added."""
    if not is_graph(name.decode("latin-1")) or re.match(rb"__[A-Z]", name):
        return False
    try:
        own = fold(read_name(name, 0))
    except Refused:
        return False
    folders = [own[:at] for at, character in enumerate(own) if character == "/"]
    taken = archive.folded
    return taken.isdisjoint([own, *folders]) and not any(e.startswith(own + "/") for e in taken)


def check_tensor(model: Model, tensor: Tensor, archive: Archive) -> None:
    try:
        if tensor.is_external:
            model.links.append(read_link(tensor, archive))
        else:
            check_inline(tensor)
    except Refused as refused:
        model.errors.append(refused.finding)

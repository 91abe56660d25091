"""Checks the data of the tensors of the model (M) and each further graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from archive import MODEL, Archive
from directory import Entry, fold, read_name
from rules import Finding, Refused, refuse, require
from tensors import CHILDREN, FIELD, MOST_BYTES, RAW_DATA, STRING, UNDEFINED, Tensor, tensors_in
from wire_format import BLOCK, Field, Key, Wire, read_key

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

"""An independent view of ONNX models: every tensor, its payload, whether two models are equal.

Built on the protobuf classes of the installed onnx package and on the ONNX specification alone,
so that tests can hold the project's own reader and writer against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

import onnx

INT32, INT64, STRING = 6, 7, 8
EXTERNAL = 1


# --- the schema ----------------------------------------------------------------------------------


def _model_class() -> type[Message]:
    """ModelProto of the installed onnx, plus the one field with tensors that older ones lack.

    In a separate pool: the default pool holds one definition of a message for the whole process.
    """
    file = descriptor_pb2.FileDescriptorProto()
    onnx.ModelProto.DESCRIPTOR.file.CopyToProto(file)
    function = next(message for message in file.message_type if message.name == "FunctionProto")
    if all(field.name != "attribute_proto" for field in function.field):
        function.field.add(
            name="attribute_proto",
            number=11,
            type=descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE,
            label=descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED,
            type_name=f".{file.package}.AttributeProto",
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{file.package}.ModelProto")
    if hasattr(message_factory, "GetMessageClass"):  # since protobuf 4.22
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


Model = _model_class()


def parse(data: bytes) -> Message:
    """The model in `data`, with all of its tensor sites in reach of `sites`."""
    return Model.FromString(data)


# --- the sites -----------------------------------------------------------------------------------


class Site(NamedTuple):
    """A place that holds a tensor; kind: initializer, attribute, sparse_values, sparse_indices."""

    path: str
    kind: str
    tensor: Message

    @property
    def in_plain_scope(self) -> bool:
        """Whether it is dense, in a graph or function body: such tensors move by default."""
        aside = self.path.startswith("training_info") or ".attribute_proto[" in self.path
        return not aside and not self.kind.startswith("sparse")


def sites(model: Message) -> Iterator[Site]:
    """Every tensor of a model parsed by `parse`."""
    if model.HasField("graph"):
        yield from _graph(model.graph, "graph")
    for path, info in _each(model, "training_info", ""):
        for name in ("initialization", "algorithm"):
            if info.HasField(name):
                yield from _graph(getattr(info, name), f"{path}.{name}")
    for path, function in _each(model, "functions", ""):
        yield from _nodes(function, path)
        yield from _attributes(function, "attribute_proto", path)


def _each(message: Message, field: str, prefix: str) -> Iterator[tuple[str, Message]]:
    stem = f"{prefix}.{field}" if prefix else field
    for index, item in enumerate(getattr(message, field)):
        yield f"{stem}[{index}]", item


def _graph(graph: Message, prefix: str) -> Iterator[Site]:
    for path, tensor in _each(graph, "initializer", prefix):
        yield Site(path, "initializer", tensor)
    for path, sparse in _each(graph, "sparse_initializer", prefix):
        yield from _sparse(sparse, path)
    yield from _nodes(graph, prefix)


def _nodes(owner: Message, prefix: str) -> Iterator[Site]:
    for path, node in _each(owner, "node", prefix):
        yield from _attributes(node, "attribute", path)


def _attributes(owner: Message, field: str, prefix: str) -> Iterator[Site]:
    for path, attribute in _each(owner, field, prefix):
        if attribute.HasField("t"):
            yield Site(f"{path}.t", "attribute", attribute.t)
        if attribute.HasField("g"):
            yield from _graph(attribute.g, f"{path}.g")
        if attribute.HasField("sparse_tensor"):
            yield from _sparse(attribute.sparse_tensor, f"{path}.sparse_tensor")
        for item, tensor in _each(attribute, "tensors", path):
            yield Site(item, "attribute", tensor)
        for item, graph in _each(attribute, "graphs", path):
            yield from _graph(graph, item)
        for item, sparse in _each(attribute, "sparse_tensors", path):
            yield from _sparse(sparse, item)


def _sparse(sparse: Message, prefix: str) -> Iterator[Site]:
    for name in ("values", "indices"):
        if sparse.HasField(name):
            yield Site(f"{prefix}.{name}", f"sparse_{name}", getattr(sparse, name))


# --- payloads ------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """How a data type stores its elements: as raw bytes, and in a typed field."""

    bits: int  # of one element
    field: str  # the typed field
    lane: str  # numpy type that one value of the typed field becomes in raw bytes

    def size(self, count: int) -> int:
        return (count * self.bits + 7) // 8


# The typed fields, with the numpy type of their values.
_TYPED_FIELDS = {
    "float_data": "<f4",
    "int32_data": "<i4",
    "int64_data": "<i8",
    "double_data": "<f8",
    "uint64_data": "<u8",
}
_BYTE_FLOATS = (17, 18, 19, 20, 24)
_FOUR_BITS = (21, 22, 23)
_TWO_BITS = (25, 26)

# Types below a byte hold one whole byte, so two or four elements, in an int32.
LAYOUTS = {
    1: Layout(32, "float_data", "<f4"),
    2: Layout(8, "int32_data", "u1"),
    3: Layout(8, "int32_data", "i1"),
    4: Layout(16, "int32_data", "<u2"),
    5: Layout(16, "int32_data", "<i2"),
    INT32: Layout(32, "int32_data", "<i4"),
    INT64: Layout(64, "int64_data", "<i8"),
    9: Layout(8, "int32_data", "u1"),
    10: Layout(16, "int32_data", "<u2"),
    11: Layout(64, "double_data", "<f8"),
    12: Layout(32, "uint64_data", "<u4"),
    13: Layout(64, "uint64_data", "<u8"),
    14: Layout(64, "float_data", "<f4"),
    15: Layout(128, "double_data", "<f8"),
    16: Layout(16, "int32_data", "<u2"),
    **{value: Layout(8, "int32_data", "u1") for value in _BYTE_FLOATS},
    **{value: Layout(4, "int32_data", "u1") for value in _FOUR_BITS},
    **{value: Layout(2, "int32_data", "u1") for value in _TWO_BITS},
}


def element_count(tensor: Message) -> int:
    count = 1
    for dim in tensor.dims:
        count *= dim
    return count


def payload(tensor: Message) -> bytes | None:
    """The bytes that raw_data holds or would hold; None if a typed field does not convert exactly."""
    layout = LAYOUTS.get(tensor.data_type)
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    if layout is None:
        return None
    return _from_typed(tensor, layout)


def _from_typed(tensor: Message, layout: Layout) -> bytes | None:
    if any(getattr(tensor, field) for field in _TYPED_FIELDS if field != layout.field):
        return None
    lane = np.dtype(layout.lane)
    wide = np.array(getattr(tensor, layout.field), _TYPED_FIELDS[layout.field])
    if lane.kind != "f":
        limits = np.iinfo(lane)
        if np.any((wide < limits.min) | (wide > limits.max)):
            return None
    raw = wide.astype(lane).tobytes()
    return raw if len(raw) == layout.size(element_count(tensor)) else None


def has_payload(tensor: Message) -> bool:
    """Whether it holds values itself, raw or typed."""
    return tensor.HasField("raw_data") or any(getattr(tensor, field) for field in _TYPED_FIELDS)


def is_sized_right(tensor: Message) -> bool:
    """Whether raw_data has the length that dims and data type require."""
    layout = LAYOUTS.get(tensor.data_type)
    return layout is not None and len(tensor.raw_data) == layout.size(element_count(tensor))


# --- external data -------------------------------------------------------------------------------


def link(tensor: Message) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


KEYS = ["location", "offset", "length"]  # of a link that we write, in this order


def keys_of_link(tensor: Message) -> list[str]:
    return [entry.key for entry in tensor.external_data]


def link_by_position(tensor: Message) -> tuple[str, int, int]:
    """Location, offset and length as readers that ignore the keys, such as MIGraphX, find them."""
    location, offset, length = (entry.value for entry in tensor.external_data[:3])
    return location, int(offset), int(length)


def is_external(tensor: Message) -> bool:
    return tensor.data_location == EXTERNAL


def external_sites(model: Message) -> list[Site]:
    return [site for site in sites(model) if is_external(site.tensor)]


def load(path: Path) -> Message:
    """The model in a file, with its external data loaded."""
    model = parse(path.read_bytes())
    load_external(model, path.parent)
    return model


def load_external(model: Message, folder: Path) -> None:
    """Fills raw_data at every external site; locations are relative to `folder`."""

    def read(location: str, offset: int, length: int | None) -> bytes:
        with (folder / location).open("rb") as file:
            file.seek(offset)
            return file.read() if length is None else file.read(length)

    resolve_external(model, read)


def resolve_external(model: Message, read: Callable[[str, int, int | None], bytes]) -> None:
    """Fills raw_data at every external site with the result of `read(location, offset, length)`."""
    for site in external_sites(model):
        target = link(site.tensor)
        length = int(target["length"]) if "length" in target else None
        data = read(target["location"], int(target.get("offset", 0)), length)
        if length is not None and len(data) != length:
            raise ValueError(f"{site.path}: {len(data)} bytes where the link says {length}")
        site.tensor.raw_data = data
        _unlink(site.tensor)


def _unlink(tensor: Message) -> None:
    tensor.ClearField("data_location")
    tensor.ClearField("external_data")


# --- comparing -----------------------------------------------------------------------------------


def normalise(model: Message) -> None:
    """One form for equal tensors: raw_data without a link. Tensors that do not convert stay unchanged."""
    for site in sites(model):
        if is_external(site.tensor):
            raise ValueError(f"{site.path}: its external data is not loaded")
        _unlink(site.tensor)
        if site.tensor.data_type != STRING:
            _normalise_tensor(site.tensor)


def _normalise_tensor(tensor: Message) -> None:
    data = payload(tensor)
    if data is None:
        return
    for field in (*_TYPED_FIELDS, "raw_data"):
        tensor.ClearField(field)
    if data:
        tensor.raw_data = data


def differences(a: Message, b: Message) -> list[str]:
    """The differences, in sentences, between two models whose external data is loaded."""
    left, right = _normalised(a), _normalised(b)
    return list(_differences(left, right, ""))


def _normalised(model: Message) -> Message:
    copy = Model()
    copy.CopyFrom(model)
    normalise(copy)
    return copy


def _bytes(message: Message) -> bytes:
    return message.SerializePartialToString(deterministic=True)


def _differences(a: Message, b: Message, path: str) -> Iterator[str]:
    """Compares serialised, so that unknown fields and a NaN's bits count; then finds the place."""
    if _bytes(a) == _bytes(b):
        return
    found = False
    for field in a.DESCRIPTOR.fields:
        for sentence in _field_differences(a, b, field, f"{path}.{field.name}".lstrip(".")):
            found = True
            yield sentence
    if not found:
        yield f"{path or 'model'}: unknown fields or the bits of a number differ"


def _field_differences(a: Message, b: Message, field: Any, path: str) -> Iterator[str]:
    left, right = getattr(a, field.name), getattr(b, field.name)
    is_message = field.type == field.TYPE_MESSAGE
    if field.label == field.LABEL_REPEATED:
        if len(left) != len(right):
            yield f"{path}: {len(left)} against {len(right)} items"
        elif is_message:
            for index, (x, y) in enumerate(zip(left, right, strict=True)):
                yield from _differences(x, y, f"{path}[{index}]")
        elif list(left) != list(right):
            yield f"{path}: {_brief(list(left))} against {_brief(list(right))}"
    elif a.HasField(field.name) != b.HasField(field.name):
        yield f"{path}: only in the {'first' if a.HasField(field.name) else 'second'}"
    elif is_message:
        if a.HasField(field.name):  # otherwise a recursive type would never end
            yield from _differences(left, right, path)
    elif isinstance(left, bytes) and left != right:
        pairs = enumerate(zip(left, right, strict=False))
        same = next((at for at, (x, y) in pairs if x != y), min(len(left), len(right)))
        yield f"{path}: {len(left)} against {len(right)} bytes, unlike from byte {same}"
    elif left != right:
        yield f"{path}: {_brief(left)} against {_brief(right)}"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

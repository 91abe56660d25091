"""Takes messages of onnx apart and puts them together. The library decides which data a tensor has, and where.

Depends only on the messages, not on the package onnx.
"""

from __future__ import annotations

import collections
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple, TypeVar

from onnxar import _core, _wire
from onnxar._errors import Error, fault

# The messages that may contain a tensor.
_CARRIERS = {"ModelProto", "GraphProto", "NodeProto", "AttributeProto", "FunctionProto", "TrainingInfoProto",
             "SparseTensorProto", "TensorProto"}  # fmt: skip
EXTERNAL = 1  # TensorProto.DataLocation
_TYPED = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_NOT_MOVED = (0, 8)  # TensorProto.DataType: UNDEFINED and STRING


def _carriers(message: Any) -> Iterator[tuple[Any, list[Any], bool]]:
    """Yields the fields that may contain a tensor: descriptor, messages, and whether the field is repeated."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name in _CARRIERS:
            several = _is_repeated(value)
            yield field, list(value) if several else [value], several


def parse(message: Any, data: bytes, path: str) -> None:
    """Fills an empty message. Without its C extension, as on musl, protobuf also refuses text that is not UTF-8."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    try:
        message.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise fault("onnx.model.invalid", f"protobuf cannot parse the model: {error}", path=path) from error


def parsed(kind: type[Any], data: bytes, path: str) -> Any:
    """Returns the message of this type in the bytes."""
    message = kind()
    parse(message, data, path)
    return message


Steps = tuple[tuple[str, int | None], ...]


def placed(message: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yields every TensorProto of a model, with the steps of a Descent to it."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield steps, message
        return
    for field, values, several in _carriers(message):
        for index, value in enumerate(values):
            yield from placed(value, (*steps, (field.name, index if several else None)))


def site_of(steps: Steps) -> str:
    """Returns the steps as text, such as `graph.node[3].attribute[0].t`."""
    return ".".join(field if index is None else f"{field}[{index}]" for field, index in steps)


def definitions(graph: Any) -> collections.Counter[str]:
    """Counts how often a graph or function defines each name: as initializers, sparse ones, and outputs of nodes."""
    names = [tensor.name for tensor in getattr(graph, "initializer", ())]
    names += [sparse.values.name for sparse in getattr(graph, "sparse_initializer", ())]
    return collections.Counter(names + [name for node in graph.node for name in node.output if name])


def defined_twice(model: Any) -> Iterator[Any]:
    """Yields the tensors whose name, or whose node's output, their graph defines more than once."""
    for _, graph in _messages(model):
        if graph.DESCRIPTOR.name not in ("GraphProto", "FunctionProto"):
            continue
        twice = {name for name, count in definitions(graph).items() if count > 1}
        named = [*getattr(graph, "initializer", ()), *(sparse.values for sparse in getattr(graph, "sparse_initializer", ()))]
        yield from (tensor for tensor in named if tensor.name in twice)
        for node in graph.node:
            if not twice.isdisjoint(node.output):
                yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))


def with_unknown_fields(model: Any) -> Iterator[str]:
    """Yields the sites of messages with fields that the schema of the installed onnx lacks."""
    known = type(model)()
    known.CopyFrom(model)
    known.DiscardUnknownFields()
    if known.ByteSize() != model.ByteSize():  # this takes a hundredth of the time of the walk
        yield from (site_of(steps) for steps, message in _messages(model) if _unknown_fields(message))


def _messages(message: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yields a message and all messages in it."""
    yield steps, message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for index, each in enumerate(value) if _is_repeated(value) else [(None, value)]:
                yield from _messages(each, (*steps, (field.name, index)))


class Descent:
    """Follows steps from a message to messages in it. Keeps the last path, because consecutive tensors share most steps."""

    def __init__(self, message: Any) -> None:
        self._steps: list[tuple[str, int | None]] = []
        self._messages = [message]

    def to(self, steps: Sequence[tuple[str, int | None]]) -> Any:
        kept = 0
        while kept < min(len(self._steps), len(steps)) and self._steps[kept] == steps[kept]:
            kept += 1
        del self._messages[kept + 1 :]
        self._steps = list(steps)
        for field, index in steps[kept:]:
            value = getattr(self._messages[-1], field)
            self._messages.append(value if index is None else value[index])
        return self._messages[-1]


def has_data(tensor: Any) -> bool:
    """Returns True if a TensorProto has data in one of its fields, or outside the model."""
    return tensor.HasField("raw_data") or tensor.data_location == EXTERNAL or any(len(getattr(tensor, name)) for name in _TYPED)


def set_data(tensor: Any, data: bytes) -> None:
    """Replaces a link in the message by the data. Raises onnx.model.invalid (the message has no link)."""
    if tensor.data_location != EXTERNAL:
        raise fault("onnx.model.invalid", "protobuf and the library read the model differently: their schemas have different fields", tensor.name)
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = data


def set_link(tensor: Any, location: str, size: int) -> None:
    tensor.MergeFromString(_core.link_fields(location, size))


# The large tensors in a message, by field and index (None if the field is not repeated). {}: it is one itself.
_Tree = dict[str, dict[int | None, "_Tree"]]
LARGE_FROM = 1024  # bytes of data; the fields of a link take about 100
DEEPEST = 100  # protobuf's limit for nested messages; a link is one more below its tensor
_RAW_DATA, _DATA_LOCATION = 9, 14
# The fields that a tensor may have beside its raw_data. The last two have no effect there, and are dropped with it.
# A tensor with other fields stays in the message, and the library decides.
_BESIDE_RAW_DATA = {"dims", "data_type", "name", "doc_string", "metadata_props", "external_data", "data_location"}


class _RawData(NamedTuple):
    """A piece of a serialised message that is copied out of the message when it is written. `size`: in bytes."""

    tensor: Any
    size: int

    def write_to(self, file: Any) -> None:
        file.write(self.tensor.raw_data)


_Pieces = list["bytes | _RawData"]
Result = TypeVar("Result")


def is_model(source: Any) -> bool:
    """Returns True if this is an onnx.ModelProto, also of a copy of the schema in another package."""
    return getattr(getattr(source, "DESCRIPTOR", None), "full_name", None) == "onnx.ModelProto"


def with_weights(
    model: Any, use: Callable[[bytes, _core.ModelWriter], Result], *, dry_run: bool = False, writer: _core.ModelWriter | None = None
) -> Result:  # fmt: skip
    """Returns `use(skeleton, writer)`: the serialised model without its large raw_data, which is left to the writer. It copies
    them out of `model` one after another, so the model may have any size.

    The size of raw_data is computed from type and dims, because protobuf would make a copy to return it. The writer reserves disk
    space for it. All sizes are measured in three cases: in a dry run, which reads no data; if they exceed what this process ever had in
    memory; and if one is wrong, which the writer notices."""

    def used(measured: bool) -> Result:
        known = _core.ModelWriter() if writer is None else writer
        return use(skeleton(model, known, measured), known)

    try:
        return used(measured=dry_run or raw_size(model) > most_memory())
    except Error as error:
        if error.code not in ("io.source_size", "io.disk_full"):
            raise
    return used(measured=True)


def most_memory() -> int:
    """Returns the most bytes that this process has had in memory; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def skeleton(model: Any, writer: _core.ModelWriter, measured: bool = False) -> bytes:
    """Returns the serialised model, with large raw_data left to the writer. With `measured`, raw_data of a wrong size stays in
    the message. Raises onnx.model.too_large (a part of the model that has values in typed fields)."""
    pieces = _pieces(model, _large_in(model), functools.partial(_with_link, writer=writer, measured=measured))
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


def write(model: Any, file: IO[bytes], *, weights: bool = True) -> None:
    """Writes the serialised model, at any size. Without `weights`, large raw_data is left out as holes of the file. Raises what `skeleton` raises."""
    for piece in _pieces(model, _large_in(model), _around_raw_data):
        if isinstance(piece, bytes):
            file.write(piece)
        elif weights:
            piece.write_to(file)
        else:
            file.seek(piece.size, os.SEEK_CUR)
    file.truncate()  # a hole at the end


def _large_in(model: Any) -> _Tree:
    """Finds the tensors whose data is large, or has a size that only protobuf knows."""
    large: _Tree = {}
    for steps, tensor in placed(model):
        size = _size_of(tensor)
        if len(steps) < DEEPEST and (size is None or size >= LARGE_FROM):
            tree = large
            for field, index in steps:
                tree = tree.setdefault(field, {}).setdefault(index, {})
    return large


def raw_size(model: Any) -> int:
    """Returns the size of raw_data that the types and dims of the model's tensors need."""
    return sum(_size_of(tensor) or 0 for _, tensor in placed(model) if tensor.HasField("raw_data"))


def _size_of(tensor: Any) -> int | None:
    """Returns the size of the data that type and dims need; None if the library does not know the type."""
    return _core.payload_size(tensor.data_type, list(tensor.dims))


def _pieces(message: Any, large: _Tree, pieces_of_tensor: Callable[[Any], _Pieces], top: bool = True) -> _Pieces:
    """Returns what `message.SerializeToString()` would return, in pieces. The pieces of large tensors are those of
    `pieces_of_tensor`."""
    if not large:
        return [bytes_of(message)] if top else pieces_of_tensor(message)
    pieces: _Pieces = []
    for field, value in message.ListFields():  # in the order in which protobuf serialises
        if field.name not in large:
            pieces.append(_field_alone(message, field, value))
            continue
        below, several = large[field.name], _is_repeated(value)
        for index, each in enumerate(value if several else [value]):
            tree = below.get(index if several else None)
            inner = [bytes_of(each)] if tree is None else _pieces(each, tree, pieces_of_tensor, top=False)
            pieces.append(_wire.head(field.number, sum(piece.size if isinstance(piece, _RawData) else len(piece) for piece in inner)))
            pieces += inner
    pieces.append(_unknown_fields(message))
    return pieces


def _with_link(tensor: Any, writer: _core.ModelWriter, measured: bool) -> _Pieces:
    """Returns a tensor whose raw_data the writer has, if the library would make an entry of it; else the tensor itself."""
    if not tensor.HasField("raw_data"):
        return [bytes_of(tensor)]
    beside = list(_beside_raw_data(tensor))
    external = tensor.data_location == EXTERNAL
    size = _size_of(tensor)
    if size is None or measured:
        length = len(tensor.raw_data)
        size = length if size in (None, length) else 0
    if external or any(field.name not in _BESIDE_RAW_DATA for field, _ in beside) or tensor.data_type in _NOT_MOVED or size < LARGE_FROM:
        return [bytes_of(tensor)]
    # As the library writes it: the fields of the link follow a data_location of DEFAULT, and the last one counts.
    link = _core.link_fields(writer.add(size, _RawData(tensor, size).write_to), size)
    before = _tensor_of(tensor, (each for each in beside if each[0].name != "external_data" and each[0].number <= _DATA_LOCATION), unknown=False)
    return [bytes_of(before) + link + bytes_of(_tensor_of(tensor, (each for each in beside if each[0].number > _DATA_LOCATION)))]


def _around_raw_data(tensor: Any) -> _Pieces:
    """Returns the fields before raw_data, raw_data, and the fields after it."""
    size = len(tensor.raw_data)
    if size < LARGE_FROM:
        return [bytes_of(tensor)]
    beside = list(_beside_raw_data(tensor))
    before = _tensor_of(tensor, (each for each in beside if each[0].number < _RAW_DATA), unknown=False)
    after = _tensor_of(tensor, (each for each in beside if each[0].number > _RAW_DATA))
    return [bytes_of(before), _wire.head(_RAW_DATA, size), _RawData(tensor, size), bytes_of(after)]


def _tensor_of(tensor: Any, fields: Iterable[tuple[Any, Any]], unknown: bool = True) -> Any:
    """Returns a message of the same type with these fields, and with the unknown ones."""
    made = type(tensor)()
    for field, value in fields:
        _copy_field(made, field, value)
    if unknown:
        made.MergeFromString(_unknown_fields(tensor))
    return made


def _field_alone(message: Any, field: Any, value: Any) -> bytes:
    """Returns one field of the message, serialised."""
    alone = type(message)()
    _copy_field(alone, field, value)
    return bytes_of(alone)


def bytes_of(message: Any) -> bytes:
    """Serialises a message. Raises onnx.model.too_large."""
    from google.protobuf.message import EncodeError

    try:
        return bytes(message.SerializeToString())
    except EncodeError as error:
        raise fault("onnx.model.too_large", f"protobuf cannot serialise this part of the model, a {message.DESCRIPTOR.name} ({error}): its limit is "
                    "2 GiB, and everything except the raw_data of tensors counts; store values of typed fields, such as float_data, as raw_data",
                    getattr(message, "name", "")) from error  # fmt: skip


def _beside_raw_data(tensor: Any) -> Iterator[tuple[Any, Any]]:
    """Yields what ListFields returns, except raw_data, which that would copy."""
    for field in tensor.DESCRIPTOR.fields:
        if field.number != _RAW_DATA:
            value = getattr(tensor, field.name)
            if len(value) if _is_repeated(value) else tensor.HasField(field.name):
                yield field, value


def _unknown_fields(message: Any) -> bytes:
    """Returns the unknown fields of the message itself, serialised. A newer onnx may have written them."""
    from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped,unused-ignore]

    return _serialised_fields(UnknownFieldSet(message))


_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)  # wire types


def _serialised_fields(fields: Any) -> bytes:
    out = bytearray()
    for field in fields:
        out += _wire.varint(field.field_number << 3 | field.wire_type)
        if field.wire_type == _VARINT:
            out += _wire.varint(field.data)
        elif field.wire_type == _BYTES:
            out += _wire.varint(len(field.data)) + field.data
        elif field.wire_type == _GROUP:
            out += _serialised_fields(field.data) + _wire.varint(field.field_number << 3 | _GROUP_END)
        else:
            out += field.data.to_bytes(8 if field.wire_type == _FIXED64 else 4, "little")
    return bytes(out)


def _copy_field(target: Any, field: Any, value: Any) -> None:
    if field.cpp_type == field.CPPTYPE_STRING:  # serialised, since text that is not UTF-8 is read as bytes, and cannot be set
        texts = value if _is_repeated(value) else [value]
        target.MergeFromString(b"".join(_wire.data(field.number, text) for text in texts))
    elif _is_repeated(value):
        getattr(target, field.name).extend(value)
    elif field.message_type is None:
        setattr(target, field.name, value)
    else:
        getattr(target, field.name).CopyFrom(value)


def _is_repeated(value: Any) -> bool:
    return hasattr(value, "extend")

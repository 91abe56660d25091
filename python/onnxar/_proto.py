"""Takes messages of onnx apart and puts them together. The library decides which data a tensor has, and where. Depends
only on the messages, not on the package onnx."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from onnxar import _core, _wire
from onnxar._errors import fault

# The messages that may contain a tensor.
_CARRIERS = {"ModelProto", "GraphProto", "NodeProto", "AttributeProto", "FunctionProto", "TrainingInfoProto",
             "SparseTensorProto", "TensorProto"}  # fmt: skip
EXTERNAL = 1  # TensorProto.DataLocation


def _carriers(message: Any) -> Iterator[tuple[Any, list[Any], bool]]:
    """Yields the fields that may contain a tensor: descriptor, messages, and whether the field is repeated."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name in _CARRIERS:
            several = _is_repeated(value)
            yield field, list(value) if several else [value], several


def parsed(kind: type[Any], data: bytes, path: str) -> Any:
    """The message of this type in the bytes. protobuf without its C extension, as it comes for musl, also refuses text that is not UTF-8."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    try:
        return kind.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise fault("onnx.model.invalid", f"protobuf cannot parse the model: {error}", path=path) from error


Steps = tuple[tuple[str, int | None], ...]


def placed(message: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yields every TensorProto of a model, with the steps of a Descent to it."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield steps, message
        return
    for field, values, several in _carriers(message):
        for index, value in enumerate(values):
            yield from placed(value, (*steps, (field.name, index if several else None)))


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


def set_data(tensor: Any, data: bytes) -> None:
    """Replaces a link in the message by the data. Errors: onnx.model.invalid (the message has no link)."""
    if tensor.data_location != EXTERNAL:
        raise fault("onnx.model.invalid", "protobuf and the library read the model differently: their schemas have different fields", tensor.name)
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = data


def set_link(tensor: Any, location: str, size: int) -> None:
    tensor.MergeFromString(_core.link_fields(location, size))


# The tensors in a message that may get links, by field and index (None if the field is not repeated). {}: it is one itself.
_Tree = dict[str, dict[int | None, "_Tree"]]
LINKED_FROM = 1024  # bytes of data; the fields of a link take about 100
DEEPEST = 100  # protobuf's limit for nested messages; a link is one more below its tensor
# The fields of a tensor beside its raw_data. One with other fields stays in the message, where the library judges it.
_OF_ANY_TENSOR = {"dims", "data_type", "name", "doc_string", "metadata_props"}


def serialised(model: Any, writer: _core.ModelWriter, measured: bool) -> bytes:
    """Returns the model, with large raw_data left to the writer, which copies it out of `model` one tensor at a time.

    The size of raw_data is taken from type and dims, since protobuf tells it only by making a copy. If it is wrong, the
    writer raises io.source_size. With `measured`, the copies are made, and raw_data of a wrong size stays in the message."""
    linked: _Tree = {}
    for steps, tensor in placed(model):
        if tensor.HasField("raw_data") and _size_of(tensor) >= LINKED_FROM and len(steps) < DEEPEST:
            tree = linked
            for field, index in steps:
                tree = tree.setdefault(field, {}).setdefault(index, {})
    if not linked:
        return _bytes_of(model)
    skeleton = type(model)()
    _copy_linked(model, skeleton, linked, functools.partial(_copy_tensor, writer=writer, measured=measured))
    return _bytes_of(skeleton)


def _bytes_of(message: Any) -> bytes:
    from google.protobuf.message import EncodeError

    try:
        return bytes(message.SerializeToString())
    except EncodeError as error:
        raise fault("onnx.model.too_large", f"protobuf cannot serialise the model without the raw_data of its tensors ({error}): "
                    "its limit is 2 GiB, and values in typed fields, such as float_data, count; store them as raw_data") from error  # fmt: skip


def _size_of(tensor: Any) -> int:
    return _core.payload_size(tensor.data_type, list(tensor.dims)) or 0


def _copy_linked(source: Any, target: Any, linked: _Tree, copy_tensor: Callable[[Any, Any], None]) -> None:
    """Copies `source` to the empty message `target`."""
    if not linked:
        copy_tensor(source, target)
        return
    target.MergeFromString(_unknown_fields(source))
    for field, value in source.ListFields():
        if field.name not in linked:
            _copy_field(target, field, value)
            continue
        below, room = linked[field.name], getattr(target, field.name)
        if not _is_repeated(value):
            _copy_linked(value, room, below[None], copy_tensor)
            continue
        for index, each in enumerate(value):
            if index in below:
                _copy_linked(each, room.add(), below[index], copy_tensor)
            else:
                room.add().CopyFrom(each)


def _copy_tensor(source: Any, target: Any, writer: _core.ModelWriter, measured: bool) -> None:
    size, beside = _size_of(source), list(_beside_raw_data(source))
    if any(field.name not in _OF_ANY_TENSOR for field, _ in beside) or (measured and len(source.raw_data) != size):
        target.CopyFrom(source)
        return
    target.MergeFromString(_unknown_fields(source))
    for field, value in beside:
        _copy_field(target, field, value)
    set_link(target, writer.add(size, lambda file: file.write(source.raw_data)), size)


def _beside_raw_data(tensor: Any) -> Iterator[tuple[Any, Any]]:
    """Yields what ListFields returns, except raw_data, which that would copy."""
    for field in tensor.DESCRIPTOR.fields:
        if field.name != "raw_data":
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

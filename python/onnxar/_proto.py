"""Takes messages of onnx apart and puts them together. The library decides which data a tensor has, and where. Depends
only on the messages, not on the package onnx."""

from __future__ import annotations

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
            single = field.message_type.name == getattr(getattr(value, "DESCRIPTOR", None), "name", None)
            yield field, [value] if single else list(value), not single


def parsed(kind: type[Any], data: bytes, path: str) -> Any:
    """The message of this type in the bytes. protobuf without its C extension, as it comes for musl, also refuses text that is not UTF-8."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    try:
        return kind.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise fault("onnx.model.invalid", f"protobuf cannot parse the model: {error}", path=path) from error


Steps = tuple[tuple[str, int | None], ...]


def tensors(message: Any) -> Iterator[Any]:
    """Yields every TensorProto of a model, at every site."""
    return (tensor for _, tensor in placed(message))


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


def copy_without_data(source: Any, target: Any, link: Callable[[Any, Any], bool]) -> None:
    """Copies `source` to the empty message `target`. `link` may fill in a tensor itself; it then returns True."""
    if source.DESCRIPTOR.name == "TensorProto":
        if not link(source, target):
            target.CopyFrom(source)
        return
    if unknown := unknown_fields(source):
        target.MergeFromString(unknown)
    carried = {field.number: (field, values, several) for field, values, several in _carriers(source)}
    for field, value in source.ListFields():
        if field.number not in carried:
            copy_field(source, target, field, value)
            continue
        _, values, several = carried[field.number]
        room = getattr(target, field.name)
        for each in values:
            copy_without_data(each, room.add() if several else room, link)
        if not several:
            room.SetInParent()


def unknown_fields(message: Any) -> bytes:
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


def copy_field(source: Any, target: Any, field: Any, value: Any) -> None:
    if field.message_type is None and not _is_repeated(value):
        setattr(target, field.name, value)
    elif _is_repeated(value):
        getattr(target, field.name).extend(value)
    else:
        getattr(target, field.name).CopyFrom(value)


def _is_repeated(value: Any) -> bool:
    return hasattr(value, "extend")


"""What onnx_ir has no place for: it keeps one of several elements with the same name, and what belongs to a value of the graph."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnxar import _proto

if TYPE_CHECKING:
    import onnx

# Fields whose elements onnx_ir has in a dict, and what their keys are made of.
_KEYED = {
    "metadata_props": ("key",), "quant_parameter_tensor_names": ("key",), "opset_import": ("domain",), "value_info": ("name",),
    "quantization_annotation": ("tensor_name",), "functions": ("domain", "name", "overload"), "attribute": ("name",),
    "attribute_proto": ("name",),
}  # fmt: skip
CHANGING = {"functions", "attribute", "attribute_proto"}  # without one of these, the model may compute something else
_PLAIN = {"TypeProto"}  # has none of these
_OF_VALUES = {"value_info": "name", "quantization_annotation": "tensor_name"}


def left_out_of(proto: onnx.ModelProto, tensors: Sequence[tuple[_proto.Steps, onnx.TensorProto]]) -> tuple[list[str], list[str]]:
    """Returns what onnx_ir leaves out, and what it leaves out although the model does not work without it."""
    left_out = [f"training_info[{index}]" for index in range(len(proto.training_info))]
    refused = []
    for steps, tensor in tensors:
        site = _proto.site_of(steps)
        if steps[0][0] == "training_info":
            continue
        if steps[-1][0] == "values":
            refused.append(f"the sparse tensor {tensor.name!r} at {_proto.site_of(steps[:-1])}")
        if tensor.HasField("segment"):
            left_out.append(f"the segment of {site}")
        if steps[-1][0] == "initializer" and not tensor.name:
            left_out.append(f"{site}, which has no name")
    for kind, lost in _dropped(proto):
        (refused if kind in CHANGING else left_out).append(lost)
    return left_out + [f"unknown fields of {site or 'the model'}" for site in _proto.with_unknown_fields(proto)], refused


def _dropped(message: Any, steps: _proto.Steps = ()) -> Iterator[tuple[str, str]]:
    """Yields what onnx_ir drops of a message and of those in it: the field, and a text that names the element."""
    where = _proto.site_of(steps) or "the model"
    names = _values_of(message) if message.DESCRIPTOR.name in ("GraphProto", "FunctionProto") else None
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None or field.message_type.name in _PLAIN or not _proto.may_have(message, field):
            continue
        value = getattr(message, field.name)
        is_repeated = hasattr(value, "extend")
        several = list(value) if is_repeated else [value]
        if key := _KEYED.get(field.name):
            how = "several of" if field.name in CHANGING else "all but the last of"
            yield from ((field.name, f"{how} {field.name} named {text!r} in {where}") for text in _repeated(several, key))
        if names is not None and (of := _OF_VALUES.get(field.name)):
            yield from ((field.name, f"the {field.name} of {getattr(each, of)!r} in {where}, which has no such value")
                        for each in several if getattr(each, of) not in names)  # fmt: skip
        for index, each in enumerate(several):
            yield from _dropped(each, (*steps, (field.name, index if is_repeated else None)))


def _repeated(messages: Sequence[Any], key: Sequence[str]) -> list[str]:
    if len(messages) < 2:
        return []
    counts = collections.Counter(" ".join(getattr(each, part, "") for part in key).strip() for each in messages)
    return [text for text, count in counts.items() if count > 1]


def _values_of(graph: Any) -> set[str]:
    """Returns the names of the values that a graph or function has."""
    inputs = [each if isinstance(each, str) else each.name for each in (*graph.input, *graph.output)]
    inputs += [tensor.name for tensor in getattr(graph, "initializer", ())]
    return {*inputs, *(name for node in graph.node for name in (*node.input, *node.output))}

"""Lists what onnx_ir drops: all but one of several elements with the same key, and annotations of values that the graph lacks."""

from __future__ import annotations

import collections
import functools
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
_HOLDERS = {"GraphProto", "NodeProto", "AttributeProto", "FunctionProto", "ValueInfoProto", "TensorProto", "TensorAnnotation"}
_OF_VALUES = {"value_info": "name", "quantization_annotation": "tensor_name"}


def left_out_of(proto: onnx.ModelProto, tensors: Sequence[tuple[_proto.Steps, onnx.TensorProto]]) -> tuple[list[str], list[str]]:
    """Returns what onnx_ir leaves out, and separately those parts without which the model does not work."""
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
    for field, is_repeated in _fields_of(message.DESCRIPTOR):
        if not is_repeated:
            if message.HasField(field):
                yield from _dropped(getattr(message, field), (*steps, (field, None)))
            continue
        several = getattr(message, field)
        if not several:
            continue
        if field in _KEYED:
            yield from ((field, text) for text in _lost_keys(message, field, several, _proto.site_of(steps) or "the model"))
        if several[0].DESCRIPTOR.name in _HOLDERS:
            for index, each in enumerate(several):
                yield from _dropped(each, (*steps, (field, index)))


@functools.cache
def _fields_of(descriptor: Any) -> list[tuple[str, bool]]:
    """Returns the fields to look at, and whether they are repeated. A walk over all of them takes as long as onnx_ir itself."""
    wanted = (field for field in descriptor.fields if field.name in _KEYED or (field.message_type and field.message_type.name in _HOLDERS))
    message = descriptor._concrete_class()
    return [(field.name, hasattr(getattr(message, field.name), "extend")) for field in wanted if field.message_type]


def _lost_keys(message: Any, field: str, several: Sequence[Any], where: str) -> Iterator[str]:
    how = "several of" if field in CHANGING else "all but the last of"
    yield from (f"{how} {field} named {text!r} in {where}" for text in _repeated(several, _KEYED[field]))
    if of := _OF_VALUES.get(field):
        names = _values_of(message)
        yield from (f"the {field} of {name!r} in {where}, which has no such value" for each in several if (name := getattr(each, of)) not in names)


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

"""Models of onnx_ir: their tensors are asked for their bytes when these are written, one after another."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxar import _core, _dtypes
from onnxar._options import Path

if TYPE_CHECKING:
    import onnx_ir

LINK = "onnxar.link."  # what keys in metadata_props begin with that say what a link is for


def serialised(model: onnx_ir.Model, writer: _core.ModelWriter, threshold: int) -> bytes:
    """The ModelProto, with data of at least `threshold` bytes left to the writer."""
    import onnx_ir

    with contextlib.ExitStack() as restored:
        for tensor, put in list(_places(model)):
            external = isinstance(tensor, onnx_ir.ExternalTensor) and tensor.nbytes > 0  # its folder is not in the message
            if tensor.dtype != onnx_ir.DataType.STRING and (tensor.nbytes >= threshold or external):
                put(_linked(tensor, writer))
                restored.callback(put, tensor)
        return bytes(onnx_ir.to_proto(model).SerializeToString())


def verify_links(model: onnx_ir.Model) -> None:
    """A model that was read from a link says in its metadata which state of the archive it is for. onnx_ir reads the data
    and looks at nothing of that. Errors: as `onnxar.verify_link`."""
    import onnx
    import onnx_ir

    marker = {key: value for key, value in model.metadata_props.items() if key.startswith(LINK)}
    if not marker:
        return
    archive = marker.get(LINK + "archive")
    external = (tensor for tensor, _ in _places(model) if isinstance(tensor, onnx_ir.ExternalTensor))
    in_folder = {os.fspath(tensor.base_dir): tensor for tensor in external if os.fspath(tensor.location) == archive}
    pairs = [onnx.StringStringEntryProto(key=key, value=value) for key, value in marker.items()]
    for folder, tensor in in_folder.items():  # one tensor leads to the archive as all of them would
        link = onnx.ModelProto(metadata_props=pairs)
        link.graph.initializer.append(onnx_ir.to_proto(tensor))
        _core.verify_link_bytes(link.SerializeToString(), folder or os.curdir)


def keep_data_of(output: Path, model: onnx_ir.Model) -> None:
    """Has tensors whose data is in the file `output` keep it when that file is replaced: onnx_ir opens the path each time
    that it writes such a tensor, and would read the new file's bytes. The old ones are mapped, and not copied."""
    import onnx_ir

    @functools.cache
    def is_output(path: str) -> bool:
        return os.path.exists(path) and os.path.samefile(path, output)

    mapped: dict[int, Any] = {}
    for tensor, put in list(_places(model)):
        if isinstance(tensor, onnx_ir.ExternalTensor) and is_output(tensor.path):
            if id(tensor) not in mapped:
                mapped[id(tensor)] = onnx_ir.Tensor(
                    tensor.numpy(), dtype=tensor.dtype, shape=tensor.shape, name=tensor.name, doc_string=tensor.doc_string,
                    metadata_props=dict(tensor.metadata_props),
                )  # fmt: skip
            put(mapped[id(tensor)])


Put = Callable[[Any], None]


def _places(model: onnx_ir.Model) -> Iterator[tuple[Any, Put]]:
    """Every tensor of the model and a function that puts another one in its place."""
    import onnx_ir

    roots: list[Any] = [model.graph, *model.functions.values()]
    for root in roots:
        graphs: list[Any] = []
        nodes = list(onnx_ir.traversal.RecursiveGraphIterator(root, enter_graph=graphs.append))
        for graph in {id(graph): graph for graph in graphs}.values():  # the iterator tells of some twice
            for value in getattr(graph, "initializers", {}).values():
                if value.const_value is not None:
                    yield value.const_value, _putting(value)
        for node in nodes:
            for attribute in list(node.attributes.values()):
                if attribute.is_ref():
                    continue
                if attribute.type == onnx_ir.AttributeType.TENSOR:
                    yield attribute.value, _putting_attribute(node, attribute)
                elif attribute.type == onnx_ir.AttributeType.TENSORS:
                    for index, tensor in enumerate(attribute.value):
                        yield tensor, _putting_attribute(node, attribute, index)


def _putting(value: Any) -> Put:
    def put(tensor: Any) -> None:
        value.const_value = tensor

    return put


def _putting_attribute(node: Any, attribute: Any, index: int | None = None) -> Put:
    """Attributes cannot be changed, only replaced; the one that there was comes back as itself."""

    def put(tensor: Any) -> None:
        now = node.attributes[attribute.name].value
        value = tensor if index is None else [*now[:index], tensor, *now[index + 1 :]]
        same = value is attribute.value if index is None else all(a is b for a, b in zip(value, attribute.value))
        node.attributes[attribute.name] = attribute if same else type(attribute)(
            attribute.name, attribute.type, value, doc_string=attribute.doc_string
        )  # fmt: skip

    return put


def _linked(tensor: Any, writer: _core.ModelWriter) -> Any:
    """A tensor of the same name and shape whose data is the writer's."""
    import onnx_ir

    return onnx_ir.ExternalTensor(
        writer.add(tensor.nbytes, lambda file: _write(tensor, file)),
        offset=None,
        length=tensor.nbytes,
        dtype=tensor.dtype,
        shape=tensor.shape,
        name=tensor.name or "",
        doc_string=tensor.doc_string,
        metadata_props=dict(tensor.metadata_props),
    )


def _write(tensor: Any, file: _core.Sink) -> None:
    import onnx_ir

    # Arrays are written from where they lie: into what is no file of the system's, onnx_ir writes a copy.
    is_array = type(tensor) is onnx_ir.Tensor and isinstance(tensor.raw, np.ndarray)
    if is_array or isinstance(tensor, onnx_ir.LazyTensor):
        file.write(_dtypes.raw_bytes(tensor.numpy(), tensor.dtype.value))
    elif hasattr(tensor, "tofile"):  # no part of onnx_ir's protocol
        tensor.tofile(file)
    else:
        file.write(tensor.tobytes())

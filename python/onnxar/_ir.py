"""Models of onnx_ir. Their tensors provide their bytes one after another, when these are written."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxar import _core, _dtypes, _proto
from onnxar._errors import fault
from onnxar._options import Path

if TYPE_CHECKING:
    import onnx_ir

LINK = "onnxar.link."  # prefix of the keys in metadata_props that describe a link


def skeleton(model: onnx_ir.Model, writer: _core.ModelWriter) -> bytes:
    """Returns the serialised ModelProto, with large data left to the writer."""
    import onnx_ir

    def linked(tensor: Any) -> Any:
        external = isinstance(tensor, onnx_ir.ExternalTensor) and tensor.nbytes > 0  # the message does not have its folder
        moves = tensor.dtype != onnx_ir.DataType.STRING and (tensor.nbytes >= _proto.LARGE_FROM or external)
        return _linked(tensor, writer) if moves else tensor

    with contextlib.ExitStack() as restored:
        _replace(model, linked, restored)
        return _proto.skeleton(onnx_ir.to_proto(model), writer)


def verify_links(model: onnx_ir.Model) -> None:
    """Verifies a model that was read from a link. Its metadata states which version of the archive it belongs to, but
    onnx_ir reads the data without checking that. Errors: as `onnxar.verify_link`."""
    import onnx
    import onnx_ir

    marker = {key: value for key, value in model.metadata_props.items() if key.startswith(LINK)}
    if not marker:
        return
    archive = marker.get(LINK + "archive")
    external = (each for tensors, _ in _places(model) for each in tensors if isinstance(each, onnx_ir.ExternalTensor))
    in_folder = {os.fspath(tensor.base_dir): tensor for tensor in external if os.fspath(tensor.location) == archive}
    pairs = [onnx.StringStringEntryProto(key=key, value=value) for key, value in marker.items()]
    for folder, tensor in in_folder.items():  # one tensor suffices: all of them lead to the archive
        link = onnx.ModelProto(metadata_props=pairs)
        link.graph.initializer.append(onnx_ir.to_proto(tensor))
        _core.verify_link_bytes(link.SerializeToString(), folder or os.curdir)


def keep_data_of(output: Path, model: onnx_ir.Model) -> None:
    """Makes tensors whose data is in the file `output` keep their data when the file is replaced. onnx_ir opens the path
    each time that it writes such a tensor, and would read the new file. The old file is mapped, not copied."""
    import onnx_ir

    @functools.cache
    def is_output(path: str) -> bool:
        return os.path.exists(path) and os.path.samefile(path, output)

    made: dict[int, Any] = {}

    def mapped(tensor: Any) -> Any:
        if not isinstance(tensor, onnx_ir.ExternalTensor) or not is_output(tensor.path):
            return tensor
        if id(tensor) not in made:
            made[id(tensor)] = onnx_ir.Tensor(
                tensor.numpy(), dtype=tensor.dtype, shape=tensor.shape, name=tensor.name, doc_string=tensor.doc_string,
                metadata_props=dict(tensor.metadata_props),
            )  # fmt: skip
        return made[id(tensor)]

    _replace(model, mapped)


def map_tensors(model: onnx_ir.Model, archive: _core.Archive) -> None:
    """Makes tensors with data in entries of `archive` lazy views of it."""
    import onnx_ir

    made: dict[int, Any] = {}

    def lazy(tensor: Any) -> Any:
        if not isinstance(tensor, onnx_ir.ExternalTensor):
            return tensor
        if id(tensor) not in made:
            made[id(tensor)] = _lazy(tensor, archive)
        return made[id(tensor)]

    _replace(model, lazy)


def _lazy(tensor: onnx_ir.ExternalTensor, archive: _core.Archive) -> Any:
    import onnx_ir

    location, offset, length = os.fspath(tensor.location), tensor.offset or 0, tensor.length
    number, shape, name = tensor.dtype.value, tuple(int(dim) for dim in tensor.shape), tensor.name or ""

    def mapped() -> Any:
        data = archive.resolve(location, offset, length)
        wanted = _core.payload_size(number, list(shape))
        if wanted is not None and wanted != len(data):
            raise fault("onnx.tensor.length", f"it has {len(data)} bytes of data, and its type and dims take {wanted}", name)
        return onnx_ir.Tensor(_dtypes.as_array(data, number, shape, name), dtype=tensor.dtype, shape=tensor.shape, name=name)

    return onnx_ir.LazyTensor(
        mapped, tensor.dtype, tensor.shape, name=name, doc_string=tensor.doc_string,
        metadata_props=dict(tensor.metadata_props),
    )  # fmt: skip


Tensors = Sequence[Any]
Put = Callable[[Tensors], None]


def _replace(model: onnx_ir.Model, change: Callable[[Any], Any], restored: contextlib.ExitStack | None = None) -> None:
    """Puts what `change` returns in the place of each tensor of the model. `restored` gets what takes that back."""
    for tensors, put in list(_places(model)):
        changed = [change(tensor) for tensor in tensors]
        if any(new is not old for new, old in zip(changed, tensors)):
            put(changed)
            if restored is not None:
                restored.callback(put, tensors)


def _places(model: onnx_ir.Model) -> Iterator[tuple[Tensors, Put]]:
    """Yields every tensor of the model, with those that are only replaced together and a function that does that."""
    import onnx_ir

    roots: list[Any] = [model.graph, *model.functions.values()]
    for root in roots:
        graphs: list[Any] = []
        nodes = list(onnx_ir.traversal.RecursiveGraphIterator(root, enter_graph=graphs.append))
        for graph in {id(graph): graph for graph in graphs}.values():  # the iterator reports some graphs twice
            for value in getattr(graph, "initializers", {}).values():
                if value.const_value is not None:
                    yield [value.const_value], _putting(value)
        for node in nodes:
            for attribute in list(node.attributes.values()):
                if attribute.is_ref():
                    continue
                if attribute.type == onnx_ir.AttributeType.TENSOR:
                    before = [attribute.value]
                    yield before, _putting_attribute(node, attribute, before)
                elif attribute.type == onnx_ir.AttributeType.TENSORS:
                    yield attribute.value, _putting_attribute(node, attribute, attribute.value)


def _putting(value: Any) -> Put:
    def put(tensors: Tensors) -> None:
        (value.const_value,) = tensors

    return put


def _putting_attribute(node: Any, attribute: Any, before: Tensors) -> Put:
    """Attributes are immutable, so a new one is made. Restoring the tensors that were there before restores the original object."""

    def put(tensors: Tensors) -> None:
        value = tensors if before is attribute.value else tensors[0]
        node.attributes[attribute.name] = attribute if tensors is before else type(attribute)(
            attribute.name, attribute.type, value, doc_string=attribute.doc_string
        )  # fmt: skip

    return put


def _linked(tensor: Any, writer: _core.ModelWriter) -> Any:
    """Returns a tensor of the same name and shape, whose data the writer has."""
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

    # Arrays are written directly. onnx_ir would first copy them, because `file` is not a file of the system.
    is_array = type(tensor) is onnx_ir.Tensor and isinstance(tensor.raw, np.ndarray)
    if is_array or isinstance(tensor, onnx_ir.LazyTensor):
        file.write(_dtypes.raw_bytes(tensor.numpy(), tensor.dtype.value))
    elif hasattr(tensor, "tofile"):  # optional: not part of onnx_ir's protocol
        tensor.tofile(file)
    else:
        file.write(tensor.tobytes())

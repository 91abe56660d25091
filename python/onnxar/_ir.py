"""Models of onnx_ir. Their tensors provide their bytes one after another, when these are written."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxar import _core, _dtypes
from onnxar._errors import fault
from onnxar._options import Path

if TYPE_CHECKING:
    import onnx_ir

LINK = "onnxar.link."  # prefix of the keys in metadata_props that describe a link


def serialised(model: onnx_ir.Model, writer: _core.ModelWriter, threshold: int) -> bytes:
    """Returns the ModelProto, with data of at least `threshold` bytes left to the writer."""
    import onnx_ir

    with contextlib.ExitStack() as restored:
        for tensor, put in list(_places(model)):
            external = isinstance(tensor, onnx_ir.ExternalTensor) and tensor.nbytes > 0  # the message does not have its folder
            if tensor.dtype != onnx_ir.DataType.STRING and (tensor.nbytes >= threshold or external):
                put(_linked(tensor, writer))
                restored.callback(put, tensor)
        return bytes(onnx_ir.to_proto(model).SerializeToString())


def verify_links(model: onnx_ir.Model) -> None:
    """Verifies a model that was read from a link. Its metadata states which version of the archive it belongs to, but
    onnx_ir reads the data without checking that. Errors: as `onnxar.verify_link`."""
    import onnx
    import onnx_ir

    marker = {key: value for key, value in model.metadata_props.items() if key.startswith(LINK)}
    if not marker:
        return
    archive = marker.get(LINK + "archive")
    external = (tensor for tensor, _ in _places(model) if isinstance(tensor, onnx_ir.ExternalTensor))
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

    mapped: dict[int, Any] = {}
    for tensor, put in list(_places(model)):
        if isinstance(tensor, onnx_ir.ExternalTensor) and is_output(tensor.path):
            if id(tensor) not in mapped:
                mapped[id(tensor)] = onnx_ir.Tensor(
                    tensor.numpy(), dtype=tensor.dtype, shape=tensor.shape, name=tensor.name, doc_string=tensor.doc_string,
                    metadata_props=dict(tensor.metadata_props),
                )  # fmt: skip
            put(mapped[id(tensor)])


def map_tensors(model: onnx_ir.Model, archive: _core.Archive) -> None:
    """Makes tensors with data in entries of `archive` lazy views of it."""
    import onnx_ir

    made: dict[int, Any] = {}
    for tensor, put in list(_places(model)):
        if isinstance(tensor, onnx_ir.ExternalTensor):
            if id(tensor) not in made:
                made[id(tensor)] = _lazy(tensor, archive)
            put(made[id(tensor)])


def _lazy(tensor: onnx_ir.ExternalTensor, archive: _core.Archive) -> Any:
    import onnx_ir

    location, offset, length = os.fspath(tensor.location), tensor.offset or 0, tensor.length
    number, shape, name = tensor.dtype.value, tuple(int(dim) for dim in tensor.shape), tensor.name or ""

    def mapped() -> Any:
        data = archive.resolve(location, offset, length)
        wanted = _core.payload_size(number, list(shape))
        if wanted is not None and wanted != len(data):
            raise fault("onnx.tensor.length", f"it has {len(data)} bytes of data, and its type and dims take {wanted}", name)
        return onnx_ir.Tensor(_dtypes.as_array(data, number, shape), dtype=tensor.dtype, shape=tensor.shape, name=name)

    return onnx_ir.LazyTensor(
        mapped, tensor.dtype, tensor.shape, name=name, doc_string=tensor.doc_string,
        metadata_props=dict(tensor.metadata_props),
    )  # fmt: skip


Put = Callable[[Any], None]


def _places(model: onnx_ir.Model) -> Iterator[tuple[Any, Put]]:
    """Yields every tensor of the model, with a function that replaces it."""
    import onnx_ir

    roots: list[Any] = [model.graph, *model.functions.values()]
    for root in roots:
        graphs: list[Any] = []
        nodes = list(onnx_ir.traversal.RecursiveGraphIterator(root, enter_graph=graphs.append))
        for graph in {id(graph): graph for graph in graphs}.values():  # the iterator reports some graphs twice
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
    """Attributes are immutable, so a new one is made. Restoring the old tensor restores the original object."""

    def put(tensor: Any) -> None:
        now = node.attributes[attribute.name].value
        value = tensor if index is None else [*now[:index], tensor, *now[index + 1 :]]
        same = value is attribute.value if index is None else all(a is b for a, b in zip(value, attribute.value))
        node.attributes[attribute.name] = attribute if same else type(attribute)(
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

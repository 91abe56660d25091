"""Reads and writes models of onnx_ir, whose tensors provide their bytes one at a time, when they are written."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onnxar import _core, _dtypes, _proto
from onnxar._errors import Error, fault, printable, unreadable, usage
from onnxar._losses import left_out_of
from onnxar._options import Path

if TYPE_CHECKING:
    import onnx
    import onnx_ir

_WITH_NAMES = {"GraphProto", "FunctionProto", "NodeProto", "AttributeProto", "TrainingInfoProto"}  # and those that may contain them
LINK = "onnxar.link."  # prefix of the keys in metadata_props that describe a link
LEFT_OUT = "onnxar.left_out"  # key in the `meta` of a model, which is not serialised


def skeleton(model: onnx_ir.Model, writer: _core.ModelWriter) -> bytes:
    """Returns the serialised ModelProto, with large data left to the writer."""
    import onnx_ir

    def linked(tensor: Any) -> Any:
        external = isinstance(tensor, onnx_ir.ExternalTensor) and tensor.nbytes > 0  # the message does not have its folder
        is_large = tensor.nbytes >= _proto.LARGE_FROM and not _lacks_data(tensor)
        moves = tensor.dtype != onnx_ir.DataType.STRING and (is_large or external)
        if moves:
            _expect_size(tensor)
        if not moves and isinstance(tensor, _stored_class()):
            tensor.verify()  # its data goes into the message
        return _linked(tensor, writer) if moves else tensor

    with contextlib.ExitStack() as restored:
        _replace(model, linked, restored)
        try:
            proto = onnx_ir.to_proto(model)
        except (Error, MemoryError):
            raise
        except Exception as error:
            raise usage(f"onnx_ir cannot serialise this model: {_cause_of(error)}") from error
        return _proto.skeleton(proto, writer)


def refuse_duplicates(message: Any, path: str) -> None:
    """Refuses a model in which a graph or function defines a name more than once: onnx_ir would keep one initializer and drop
    the others. Raises onnx.graph.duplicate."""
    if message.DESCRIPTOR.name in ("GraphProto", "FunctionProto"):
        for name, count in _proto.definitions(message).items():
            if count > 1:
                raise fault("onnx.graph.duplicate", f"the graph {message.name!r} defines this name {count} times, and onnx_ir keeps one "
                            "definition; give each a name of its own", name, path)  # fmt: skip
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name in _WITH_NAMES:
            for each in value if hasattr(value, "extend") else [value]:
                refuse_duplicates(each, path)


def _lacks_data(tensor: Any) -> bool:
    """Returns True if this is a tensor without data, which `freeze` may fill and which stays in the message."""
    import onnx_ir

    return isinstance(tensor, onnx_ir.serde.TensorProtoTensor) and not _proto.has_data(tensor.raw)


def _expect_size(tensor: Any) -> None:
    """Refuses a tensor whose dims claim more data than it has, for which the writer would reserve space. Raises onnx.tensor.length;
    onnx.external_data.*; io.*."""
    import onnx_ir

    there = tensor.nbytes
    if isinstance(tensor, onnx_ir.serde.TensorProtoTensor) and there > _proto.most_memory():
        there = tensor.raw.ByteSize()
    elif isinstance(tensor, onnx_ir.ExternalTensor):
        try:
            there = os.path.getsize(tensor.path) - (tensor.offset or 0)
        except OSError as error:
            raise unreadable(error, os.fspath(tensor.path)) from error
    if there < tensor.nbytes:
        raise _wrong_length(f"at most {max(there, 0)}", tensor.nbytes, tensor.name or "")


def verify_links(model: onnx_ir.Model) -> None:
    """Verifies a model that was read from a link. Its metadata states the version of the archive, but onnx_ir
    reads the data without checking it. Raises what `onnxar.verify_link` raises."""
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


def loaded(proto: onnx.ModelProto, archive: _core.Archive, path: str) -> onnx_ir.Model:
    """Returns the model of an archive, whose tensors with data in entries are lazy views of these. Changes the message. Warns
    of what onnx_ir leaves out. Raises usage.argument (what onnx_ir cannot represent); onnx.graph.duplicate."""
    import onnx_ir

    refuse_duplicates(proto, path)
    tensors = list(_proto.placed(proto))
    links = _detached(tensor for _, tensor in tensors)
    left_out, refused = left_out_of(proto, tensors)
    try:
        if refused:
            raise NotImplementedError(f"it has {_listed(refused)}")
        model: onnx_ir.Model = onnx_ir.from_proto(proto)
    except (Error, MemoryError):
        raise
    except Exception as error:  # onnx_ir raises those of Python, too
        raise usage(f"onnx_ir cannot represent this model: {_cause_of(error)}; onnxar.load returns all of it", path=path) from error
    made: dict[int, Any] = {}
    verify = functools.cache(archive.verify)  # several tensors may be in one entry

    def lazy(tensor: Any) -> Any:
        if not isinstance(tensor, onnx_ir.ExternalTensor):
            return tensor
        if id(tensor) not in made:
            made[id(tensor)] = _lazy(tensor, archive, links[int(os.fspath(tensor.location)[1:])], verify)
        return made[id(tensor)]

    _replace(model, lazy)
    if left_out:
        model.meta[LEFT_OUT] = left_out
        _warn(left_out, stacklevel=4)
    return model


_Link = dict[str, str]  # the pairs of external_data


def _detached(tensors: Iterable[onnx.TensorProto]) -> list[_Link]:
    """Removes the links from the tensors, and returns them. In their place it leaves an index after a NUL, which no path can have, so
    that a tensor that is not made lazy is never read from a file of the current folder."""
    links: list[_Link] = []
    for tensor in tensors:
        if tensor.data_location == _proto.EXTERNAL:
            pairs = {pair.key: pair.value for pair in tensor.external_data}
            tensor.ClearField("external_data")
            tensor.external_data.add(key="location", value=f"\0{len(links)}")
            links.append(pairs)
    return links


def warn_of_losses(model: onnx_ir.Model) -> None:
    """Warns about what a saved model has lost, or is about to lose."""
    lost = list(model.meta.get(LEFT_OUT, []))
    for root in _graphs_and_functions(model):
        for graph in _subgraphs_of(root)[0]:
            lost += [f"the initializer {name!r}, which has no data" for name, value in getattr(graph, "initializers", {}).items()
                     if value.const_value is None]  # fmt: skip
    if lost:
        _warn(lost, stacklevel=5)


def _warn(lost: Sequence[str], stacklevel: int) -> None:
    """Warns at the line of the caller's program."""
    warnings.warn(f"onnx_ir leaves out a part of this model: {_listed(lost)}", stacklevel=stacklevel)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(printable, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _cause_of(error: BaseException) -> str:
    """Returns the first error of onnx_ir. Its later messages contain whole graphs."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


@functools.cache
def _stored_class() -> type[Any]:
    import onnx_ir

    class StoredTensor(onnx_ir.LazyTensor):
        """A tensor with its data in an entry. `verify` compares the entry's CRC-32 before the data is written with a new one."""

        __slots__ = ("verify",)

    return StoredTensor


def _lazy(tensor: onnx_ir.ExternalTensor, archive: _core.Archive, link: _Link, verify: Callable[[str], None]) -> Any:
    import onnx_ir

    location = link.get("location", "")
    number, shape, name = tensor.dtype.value, tuple(int(dim) for dim in tensor.shape), tensor.name or ""

    def mapped() -> Any:
        offset, length = _number(link, "offset", name) or 0, _number(link, "length", name)
        wanted = _core.payload_size(number, list(shape))
        data = archive.resolve(location, offset, wanted if length is None else length)
        if wanted is not None and wanted != len(data):
            raise _wrong_length(str(len(data)), wanted, name)
        return onnx_ir.Tensor(_dtypes.as_array(data, number, shape, name), dtype=tensor.dtype, shape=tensor.shape, name=name)

    stored = _stored_class()(
        mapped, tensor.dtype, tensor.shape, name=name, doc_string=tensor.doc_string,
        metadata_props=dict(tensor.metadata_props),
    )  # fmt: skip
    stored.verify = functools.partial(verify, location)
    return stored


def _wrong_length(held: str, wanted: int, name: str) -> Error:
    return fault("onnx.tensor.length", f"it has {held} bytes of data, but its type and dims need {wanted}", name)


def _number(link: _Link, key: str, name: str) -> int | None:
    """Returns the number. Raises onnx.external_data.bad_offset, .bad_length."""
    text = link.get(key)
    if text is not None and not re.fullmatch("0|[1-9][0-9]{0,18}", text):
        raise fault(f"onnx.external_data.bad_{key}", f"external_data {key} {printable(text)!r} is not a plain decimal number", name)
    return None if text is None else int(text)


Tensors = Sequence[Any]
Put = Callable[[Tensors], None]


def _replace(model: onnx_ir.Model, change: Callable[[Any], Any], restored: contextlib.ExitStack | None = None) -> None:
    """Replaces each tensor of the model by what `change` returns. `restored` gets the functions that undo this."""
    for tensors, put in list(_places(model)):
        changed = [change(tensor) for tensor in tensors]
        if any(new is not old for new, old in zip(changed, tensors)):
            put(changed)
            if restored is not None:
                restored.callback(put, tensors)


def _places(model: onnx_ir.Model) -> Iterator[tuple[Tensors, Put]]:
    """Yields groups of tensors that are replaced together, each with the function that replaces them."""
    import onnx_ir

    for root in _graphs_and_functions(model):
        graphs, owners = _subgraphs_of(root)
        for graph in graphs:
            for value in getattr(graph, "initializers", {}).values():
                if value.const_value is not None:
                    yield [value.const_value], _putting(value)
        for owner in owners:
            for attribute in list(owner.attributes.values()):
                if attribute.is_ref():
                    continue
                if attribute.type == onnx_ir.AttributeType.TENSOR:
                    before = [attribute.value]
                    yield before, _putting_attribute(owner, attribute, before)
                elif attribute.type == onnx_ir.AttributeType.TENSORS and attribute.value is not None:
                    yield attribute.value, _putting_attribute(owner, attribute, attribute.value)


def _graphs_and_functions(model: onnx_ir.Model) -> Iterator[Any]:
    """Yields the model's graph, its functions, and the graphs that are defaults of their attributes."""
    import onnx_ir

    yield model.graph
    for function in model.functions.values():
        yield function
        for attribute in function.attributes.values():
            if attribute.type == onnx_ir.AttributeType.GRAPH and attribute.value is not None:
                yield attribute.value
            elif attribute.type == onnx_ir.AttributeType.GRAPHS and attribute.value is not None:
                yield from attribute.value


def _subgraphs_of(root: Any) -> tuple[list[Any], list[Any]]:
    """Returns the graph or function with all graphs in it, and what has attributes: its nodes, and itself if it is a function."""
    import onnx_ir

    graphs: list[Any] = []
    owners: list[Any] = list(onnx_ir.traversal.RecursiveGraphIterator(root, enter_graph=graphs.append))
    if isinstance(root, onnx_ir.Function):
        owners.append(root)
    return list({id(graph): graph for graph in graphs}.values()), owners  # the iterator reports some graphs twice


def _putting(value: Any) -> Put:
    def put(tensors: Tensors) -> None:
        (value.const_value,) = tensors

    return put


def _putting_attribute(owner: Any, attribute: Any, before: Tensors) -> Put:
    """Attributes are immutable, so a new one is made. Restoring the tensors that were there before restores the original object."""

    def put(tensors: Tensors) -> None:
        value = tensors if before is attribute.value else tensors[0]
        owner.attributes[attribute.name] = attribute if tensors is before else type(attribute)(
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
    if isinstance(tensor, _stored_class()):
        tensor.verify()
    if is_array or isinstance(tensor, onnx_ir.LazyTensor):
        file.write(_dtypes.raw_bytes(tensor.numpy(), tensor.dtype.value))
    elif hasattr(tensor, "tofile"):  # optional: not part of onnx_ir's protocol
        tensor.tofile(file)
    else:
        file.write(tensor.tobytes())

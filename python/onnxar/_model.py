"""Loading and saving models of onnx, onnx_ir and torch."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Mapping
from typing import Any

from onnxar import _core, _deprecated, _ir, _operations, _proto
from onnxar._errors import Error, usage
from onnxar._options import Path, Progress, kept_from, load_options, save_options
from onnxar._types import ConvertReport, report

# A model with more data than this is not serialised as a whole: that saves memory, and protobuf's limit is 2 GiB.
SERIALISED_AT_MOST = 512 << 20


def load(path: Path | bytes | bytearray | memoryview | mmap.mmap, *, verify: bool = True, max_expansion: int = 8) -> Any:
    """Returns the model of an archive as an onnx.ModelProto with all data inside, like onnx.load, but also above 2 GiB.
    Refuses everything that `check` reports as an error. With `verify`, compares the CRC-32 of each entry, and the
    checksums of links.

    Tensors that share bytes of the archive get separate copies; all tensors together may take at most `max_expansion`
    times the size of the archive. Side files are not part of a model: `save` keeps those of the archive that it
    replaces. Errors: as `onnxar.open`; onnx.*, zip.data.crc; onnx.model.expansion."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    options = load_options(max_expansion=max_expansion, verify_data=verify)
    if isinstance(path, str | os.PathLike):
        name = os.path.abspath(path)
        reader = _core.ModelReader.open(name, options)
    else:
        name, reader = "", _core.ModelReader.open_buffer(path, options)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(reader.model())
    except DecodeError as error:
        raise Error("onnx.model.invalid", f"protobuf cannot parse the model: {error}", path=name) from error
    descent = _proto.Descent(model)
    reader.for_each(lambda index, steps: _proto.set_data(descent.to(steps), reader.read(index)))
    return model


@_deprecated.threshold
def save(
    model: Any,
    path: Path,
    threshold: int = 1024,
    alignment: int = 64,
    *,
    all_sites: bool = False,
    attributes: bool = True,
    checksum: str | None = None,
    side_files: Mapping[str, Path] | None = None,
    keep_side_files: bool | Path = True,
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    progress: Progress | None = None,
    max_expansion: int = 8,
) -> ConvertReport:
    """Saves an onnx.ModelProto, an onnx_ir.Model, torch's ONNXProgram, or the model in a file, as an archive.

    The weights of an onnx_ir.Model are evaluated one after another, so lazy weights are never all in memory. The model is
    not changed, except that tensors whose data is in the replaced file keep that data as a mapping. External data of a
    ModelProto is in `data_dir`. If `path` exists, `save` raises OutputExistsError; with `overwrite`, it replaces the
    file by renaming.

    A model in memory has no side files. With `keep_side_files`, the output keeps those of the archive that it replaces:
    `save(load(a), a, overwrite=True)`. The argument may also be the path of a different archive that provides them:
    `save(load(a), b, keep_side_files=a)`. `side_files` replace those of the same name. Other arguments and errors: as
    `onnxar.pack`.
    """
    options = save_options(
        threshold=threshold, alignment=alignment, all_sites=all_sites, attributes=attributes,
        checksum=checksum, side_files=side_files, side_files_of=kept_from(path, overwrite, keep_side_files),
        overwrite=overwrite, sync=sync, progress=progress,
    )  # fmt: skip
    if isinstance(model, str | os.PathLike):
        return _operations.packed(model, path, options, data_dir, max_expansion)
    model = _ir_model_of(model)
    if _is_ir_model(model):
        _ir.verify_links(model)
        if overwrite and os.path.exists(path):
            _ir.keep_data_of(path, model)
    writer = _core.ModelWriter()
    serialised = _serialised(model, writer, max(threshold, 1))
    load = load_options(data_dir, max_expansion=max_expansion)
    return report(ConvertReport, writer.save(serialised, path, options, load))


def _is_ir_model(model: Any) -> bool:
    onnx_ir = sys.modules.get("onnx_ir")
    return onnx_ir is not None and isinstance(model, onnx_ir.Model)


def _ir_model_of(model: Any) -> Any:
    """Returns the onnx_ir model inside a torch.onnx.ONNXProgram, else `model` itself."""
    program = getattr(model, "model", None)
    return program if _is_ir_model(program) else model


def _serialised(model: Any, writer: _core.ModelWriter, threshold: int) -> bytes:
    """Returns the ModelProto, with data of at least `threshold` bytes left to the writer if that saves memory."""
    onnx = sys.modules.get("onnx")
    if _is_ir_model(model):
        return _ir.serialised(model, writer, threshold)
    if onnx is not None and isinstance(model, onnx.ModelProto):
        return _serialised_proto(model, writer, threshold)
    raise usage(f"{type(model).__name__} is not a model: it may be an onnx.ModelProto, an onnx_ir.Model, a torch.onnx."
                "ONNXProgram or a path")  # fmt: skip


# The fields of a tensor beside its data. A tensor with other fields is serialised whole: the library judges it.
_OF_ANY_TENSOR = {"dims", "data_type", "name", "doc_string", "metadata_props"}


def _raw_size(tensor: Any) -> int:
    """Returns the size of raw_data by type and dimensions. Access to raw_data itself would copy it."""
    return (_core.payload_size(tensor.data_type, list(tensor.dims)) or 0) if tensor.HasField("raw_data") else 0


def _serialised_proto(model: Any, writer: _core.ModelWriter, threshold: int, limit: int = SERIALISED_AT_MOST) -> bytes:
    if sum(map(_raw_size, _proto.tensors(model))) <= limit:
        return bytes(model.SerializeToString())

    def link(source: Any, target: Any) -> bool:
        size = _raw_size(source)
        beside = [(field, value) for field, value in source.ListFields() if field.name != "raw_data"]
        known = all(field.name in _OF_ANY_TENSOR for field, _ in beside) and not _proto.unknown_fields(source)
        if size < threshold or not known or len(source.raw_data) != size:
            return False
        for field, value in beside:
            _proto.copy_field(source, target, field, value)
        _proto.set_link(target, writer.add(size, lambda file: file.write(source.raw_data)), size)
        return True

    skeleton = type(model)()
    _proto.copy_without_data(model, skeleton, link)
    return bytes(skeleton.SerializeToString())

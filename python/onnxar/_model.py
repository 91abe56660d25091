"""Loading and saving models of onnx, onnx_ir and torch."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from onnxar import _core, _ir, _operations, _proto
from onnxar._archive import Archive, open_archive
from onnxar._errors import Error, usage
from onnxar._options import Path, Progress, load_options, save_options
from onnxar._types import ConvertReport, report

# A model with more data than this is not serialised as a whole: protobuf ends at 2 GiB, and memory is spared.
SERIALISED_AT_MOST = 512 << 20


def load(path: Path | bytes, *, verify: bool = True) -> Any:
    """The model as an onnx.ModelProto with all data inside, as onnx.load gives it: larger than 2 GiB, too. With `verify`
    the CRC-32 of each entry is compared. Errors: as `onnxar.open`, zip.data.crc, onnx.external_data.*."""
    import onnx

    model, verified = onnx.ModelProto(), set()
    with open_archive(path) as archive:
        model.ParseFromString(archive.model())
        for tensor in _proto.tensors(model):
            if tensor.data_location != _proto.EXTERNAL:
                continue
            entry, data = _external_data(archive, tensor)
            if verify and entry not in verified:
                archive.verify(entry)
                verified.add(entry)
            tensor.raw_data = bytes(data)
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return model


def _external_data(archive: Archive, tensor: Any) -> tuple[str, memoryview]:
    """The entry that a tensor's data is in, and the data."""
    link = _proto.external_data(tensor)
    for key in ("offset", "length"):
        if not link.get(key, "0").isdecimal():
            raise Error(f"onnx.external_data.bad_{key}", f"the {key} {link[key]!r} is no number", tensor.name)
    location, size = link.get("location", ""), _size(tensor)
    data = archive.resolve(location, int(link.get("offset", "0")), int(link["length"]) if "length" in link else size)
    if size is not None and len(data) != size:
        raise Error("onnx.tensor.length", f"the data is {len(data)} bytes long, type and dimensions call for {size}",
                    tensor.name)  # fmt: skip
    return location, data


def _size(tensor: Any) -> int | None:
    """The bytes that type and dimensions call for, where these say so."""
    bits = int(_core.dtype_bits(tensor.data_type))
    if not bits or any(dim < 0 for dim in tensor.dims):
        return None
    return -(-int(math.prod(tensor.dims)) * bits // 8)


def save(
    model: Any,
    path: Path,
    size_threshold: int = 1024,
    alignment: int = 64,
    *,
    all_sites: bool = False,
    attributes: bool = True,
    checksum: str | None = None,
    side_files: Mapping[str, Path] | None = None,
    data_dir: Path | None = None,
    overwrite: bool = True,
    sync: bool = True,
    progress: Progress | None = None,
) -> ConvertReport:
    """Saves an onnx.ModelProto, an onnx_ir.Model, torch's ONNXProgram, or the model in a file, as an archive.

    The weights of an onnx_ir.Model are asked for one after another, so lazy ones never stand in memory together, and
    the model is afterwards as it was. Data of a ModelProto that is external lies in `data_dir`. Other arguments are
    those of `onnxar.pack`; an archive that exists is replaced, by renaming, unless `overwrite` says no.
    """
    options = save_options(
        size_threshold=size_threshold, alignment=alignment, all_sites=all_sites, attributes=attributes,
        checksum=checksum, side_files=side_files, overwrite=overwrite, sync=sync, progress=progress,
    )  # fmt: skip
    if isinstance(model, str | os.PathLike):
        return _operations.packed(model, path, options, data_dir)
    writer = _core.ModelWriter()
    serialised = _serialised(model, writer, max(size_threshold, 1))
    return report(ConvertReport, writer.save(serialised, path, options, load_options(data_dir)))


def _serialised(model: Any, writer: _core.ModelWriter, threshold: int) -> bytes:
    """The ModelProto, with data of at least `threshold` bytes left to the writer where that spares memory."""
    onnx, onnx_ir = sys.modules.get("onnx"), sys.modules.get("onnx_ir")
    if onnx_ir is not None:
        program = getattr(model, "model", None)  # torch.onnx.ONNXProgram has its onnx_ir model there
        model = program if isinstance(program, onnx_ir.Model) else model
        if isinstance(model, onnx_ir.Model):
            return _ir.serialised(model, writer, threshold)
    if onnx is not None and isinstance(model, onnx.ModelProto):
        return _serialised_proto(model, writer, threshold)
    raise usage(f"{type(model).__name__} is no model: it may be an onnx.ModelProto, an onnx_ir.Model, a torch.onnx."
                "ONNXProgram or a path")  # fmt: skip


def _raw_size(tensor: Any) -> int:
    """The bytes of raw_data, by type and dimensions: looking at raw_data itself copies it."""
    return (_size(tensor) or 0) if tensor.HasField("raw_data") else 0


def _serialised_proto(model: Any, writer: _core.ModelWriter, threshold: int, limit: int = SERIALISED_AT_MOST) -> bytes:
    if sum(map(_raw_size, _proto.tensors(model))) <= limit:
        return bytes(model.SerializeToString())

    def link(source: Any, target: Any) -> bool:
        size = _raw_size(source)
        if size < threshold:
            return False
        for field, value in source.ListFields():
            if field.name != "raw_data":
                _proto.copy_field(source, target, field, value)
        _proto.set_link(target, writer.add(size, lambda file: file.write(source.raw_data)), size)
        return True

    skeleton = type(model)()
    _proto.copy_without_data(model, skeleton, link)
    return bytes(skeleton.SerializeToString())

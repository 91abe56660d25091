"""Saves and loads tensors of PyTorch by name, with the functions of safetensors.torch.

The file is the one that `onnxar.numpy` writes. Each module reads what the other one wrote.
"""

from __future__ import annotations

import functools
import mmap
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from onnxar import _core, _dtypes, _weights
from onnxar._archive import Archive, open_archive
from onnxar._errors import fault, needs, usage
from onnxar._options import Path
from onnxar._progress import Count, Progress, reporting
from onnxar._sources import file_of

with needs("onnxar.torch"):
    import torch

# TensorProto.DataType -> name in torch. An old torch may lack the last ones.
_NAMES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 24: "float8_e8m0fnu",
}  # fmt: skip
_DTYPES = {number: getattr(torch, name) for number, name in _NAMES.items() if hasattr(torch, name)}
_NUMBERS = {dtype: number for number, dtype in _DTYPES.items()}


def save_file(
    tensors: Mapping[str, torch.Tensor],
    filename: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    overwrite: bool = False,
    keep_side_files: bool | Path = True,
    progress: Progress = None,
) -> None:
    """Writes an archive in which every nonempty tensor is an entry. Tensors with the same memory, such as tied weights, share one.
    Tensors on other devices, and those that are not contiguous, are copied, one at a time.

    Args:
        tensors: Maps names to tensors.
        filename: The archive.

    Other arguments: see `onnxar.numpy.save_file`.

    Raises:
        Error: usage.argument (sparse and quantised tensors, names that are not text); io.*.
    """
    weights = {name: _weight(name, tensor) for name, tensor in tensors.items()}
    with reporting(progress, "saving") as tell:
        _weights.save(weights, filename, metadata, overwrite, keep_side_files, tell)


def save(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Returns the archive that `save_file` writes. Raises what `save_file` raises."""
    return _weights.to_bytes(lambda path: save_file(tensors, path, metadata))


def load_file(
    filename: Path, device: str | int | torch.device = "cpu", *, progress: Progress = None
) -> dict[str, torch.Tensor]:  # fmt: skip
    """Returns all tensors of an archive, without strings. Tensors that share bytes share memory.

    Args:
        filename: The archive.
        device: Where the tensors are. On the CPU, their memory is a private mapping of the file: nothing is read before it is
            used, and writing to a tensor affects only this process.
        progress: See `onnxar.pack`.

    Raises:
        Error: What `onnxar.open` raises; usage.argument (a type that torch lacks, such as INT4).
    """
    path = file_of(filename, "load_file")
    open_archive(path).close()  # waits for edits, and says what is wrong with the file by its path
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return _tensors(mapped, device, progress)


def load(data: bytes) -> dict[str, torch.Tensor]:
    """Returns all tensors of an archive in memory, as copies. Raises what `load_file` raises."""
    return _tensors(bytearray(data), "cpu", None)


def _weight(name: str, tensor: Any) -> _weights.Tensor:
    if not isinstance(name, str) or _weights.has_surrogates(name):
        raise usage(f"the name of a tensor must be a text of valid Unicode, not {name!r}")
    if not isinstance(tensor, torch.Tensor):
        raise usage(f"this is {type(tensor).__name__}, not a tensor of torch; onnxar.numpy saves arrays", name)
    if tensor.layout != torch.strided or tensor.dtype not in _NUMBERS or tensor.is_meta:
        raise usage(f"a tensor of {tensor.dtype}, {tensor.layout} on {tensor.device} cannot be raw data; convert it", name)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    size = tensor.numel() * tensor.element_size()
    memory = (tensor.device, tensor.data_ptr(), size, tensor.dtype) if tensor.is_contiguous() and size else None
    return _weights.Tensor(_NUMBERS[tensor.dtype], tuple(tensor.shape), size, functools.partial(_raw, tensor), memory)


def _raw(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    flat = tensor.cpu().contiguous().reshape(-1).view(torch.uint8)
    raw: np.ndarray[Any, Any] = flat.numpy()
    if sys.byteorder == "big":
        raw = raw.reshape(-1, tensor.element_size())[:, ::-1].reshape(-1)
    return raw


def _tensors(memory: mmap.mmap | bytearray, device: Any, progress: Progress) -> dict[str, torch.Tensor]:
    """Returns the tensors of the archive in `memory`, which is writable and which they keep alive."""
    begin = np.frombuffer(memory, np.uint8).ctypes.data
    with open_archive(memory) as archive, reporting(progress, "loading") as tell:
        loaded: dict[str, torch.Tensor] = {}
        count = Count(tell, sum(len(archive._handle.data(archive._tensors[key])) for key in archive))
        for key in archive:
            loaded[key] = _tensor(archive, key, memory, begin).to(device)
            count.add(loaded[key].nbytes)
    return loaded


def _empty(shape: tuple[int, ...], dtype: torch.dtype, key: str) -> torch.Tensor:
    """Returns a tensor without elements. Torch multiplies its other dimensions all the same."""
    try:
        return torch.empty(shape, dtype=dtype)
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise fault("onnx.tensor.dims", f"torch's tensors cannot have the dimensions {list(shape)}: {reason}", key) from error


def _tensor(archive: Archive, key: str, memory: mmap.mmap | bytearray, begin: int) -> torch.Tensor:
    stored = archive._tensors[key]
    if stored.dtype not in _DTYPES:
        raise usage(f"torch lacks the type {_dtypes.name_of(stored.dtype)}; onnxar.numpy.load_file returns it", key)
    dtype, data = _DTYPES[stored.dtype], archive._handle.data(stored)
    if not len(data):
        return _empty(stored.shape, dtype, key)
    offset = np.frombuffer(memoryview(data), np.uint8).ctypes.data - begin
    count = len(data) * 8 // _core.dtype_bits(stored.dtype)
    if sys.byteorder == "big" or not 0 <= offset <= len(memory) - len(data) or offset % dtype.itemsize:
        array = np.frombuffer(memoryview(data), np.uint8).reshape(count, -1)
        flat = torch.from_numpy(np.ascontiguousarray(array[:, ::-1] if sys.byteorder == "big" else array).reshape(-1).copy())
        return flat.view(dtype).reshape(stored.shape)
    return torch.frombuffer(memory, dtype=dtype, count=count, offset=offset).reshape(stored.shape)

"""Saves and loads arrays by name, with the functions of safetensors.numpy.

The file is an ordinary ONNX archive. Its model is a graph of initializers only, and its metadata is in metadata_props.
The package onnx is not needed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from onnxar import _dtypes, _weights
from onnxar._errors import usage
from onnxar._open import open_archive
from onnxar._options import Path
from onnxar._progress import Progress, reporting
from onnxar._sources import Source
from onnxar._weights import PIECE as PIECE

Array = np.ndarray[Any, Any]


def save_file(
    tensor_dict: Mapping[str, Array],
    filename: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    overwrite: bool = False,
    keep_side_files: bool | Path = True,
    progress: Progress = None,
) -> None:
    """Writes an archive in which every nonempty array is an entry. Arrays that are not contiguous or not little-endian are
    copied, one at a time. If a graph that is kept uses a weight with the same bytes, both share an entry.

    Args:
        tensor_dict: Maps names to arrays.
        filename: The archive.
        metadata: Maps keys to texts, for metadata_props.
        overwrite: Replace an existing file, and keep its side files and graphs, like `onnxar.save`. Otherwise an existing file
            raises OutputExistsError.
        progress: See `onnxar.pack`.

    Other arguments: see `onnxar.save`.

    Raises:
        Error: usage.argument (an array of objects, strings or dates; a name or metadata that is not text); output.exists; io.*.
    """
    tensors = {name: _tensor(name, _weights.checked(name, array)) for name, array in tensor_dict.items()}
    with reporting(progress, "saving") as tell:
        _weights.save(tensors, filename, metadata, overwrite, keep_side_files, tell)


def save(tensor_dict: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """Returns the archive that `save_file` writes. Raises what `save_file` raises."""
    return _weights.to_bytes(lambda path: save_file(tensor_dict, path, metadata))


def load_file(filename: Source, *, backend: str = "mmap", threads: int = 0) -> dict[str, Array]:
    """Returns all tensors of an archive. Raises what `onnxar.open` raises.

    Args:
        filename: The archive.
        backend: "mmap" returns read-only views of the mapped file; "pread" first reads the file into memory.
        threads: The number of threads that read; 0: one per core.
    """
    if backend not in ("mmap", "pread"):
        raise usage(f'backend is {backend!r}; it may be "mmap" or "pread"')
    with open_archive(filename, no_copy=backend == "mmap", threads=threads) as archive:
        return dict(archive)


def load(data: bytes) -> dict[str, Array]:
    """Returns all tensors of an archive in memory, as read-only views of it. Raises what `onnxar.open` raises."""
    return load_file(data)


def _tensor(name: str, array: Array) -> _weights.Tensor:
    number = _dtypes.number_of(array, name)
    raw = functools.partial(_dtypes.raw_bytes, array, number)
    return _weights.Tensor(number, array.shape, _dtypes.raw_size(array, number), raw)

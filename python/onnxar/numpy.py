"""Saves and loads arrays by name, with the functions of safetensors.numpy.

The file is an ordinary ONNX archive. Its model is a graph of initializers only, and its metadata is in metadata_props.
The package onnx is not needed.
"""

from __future__ import annotations

import functools
import mmap
import os
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from onnxar import _core, _dtypes, _wire
from onnxar._archive import open_archive
from onnxar._errors import Error, usage
from onnxar._options import Path, kept_from

Array = np.ndarray[Any, Any]
PIECE = 16 << 20  # bytes that are written between two checks for Ctrl-C
MOST_COMPARED = 4  # weights of one size and CRC-32


def save_file(
    tensor_dict: Mapping[str, Array],
    filename: Path,
    metadata: Mapping[str, str] | None = None,
    *,
    overwrite: bool = False,
    keep_side_files: bool | Path = True,
) -> None:
    """Writes an archive in which every nonempty array is an entry. Arrays that are not contiguous or not little-endian are
    copied, one at a time. If the file exists, raises OutputExistsError; with `overwrite`, replaces it, and keeps its side
    files and graphs as `onnxar.save` does. A weight that a graph keeps is not written twice. Errors: usage.argument (an
    array of objects, strings or dates; a name or metadata that is not text); io.*."""
    arrays = {name: _checked(name, array) for name, array in tensor_dict.items()}
    pairs = _checked_metadata(metadata or {})
    dtypes = {name: _dtypes.number_of(array, name) for name, array in arrays.items()}
    weights, side_files = _kept(kept_from(filename, overwrite, keep_side_files))
    writer = _core.ArchiveWriter.create(filename, 64, overwrite, True)
    keys, tensors = _core.KeyMaker(), []
    for name in (*weights, *side_files):
        keys.reserve(name)
    kept = _Kept(weights)
    for name, array in arrays.items():
        size = _dtypes.raw_size(array, dtypes[name])
        key = kept.name_of(array, dtypes[name], size) if size else None
        if key is None and size:
            key = keys.make(name)
            writer.add(key, size, functools.partial(_write, array=array, dtype=dtypes[name]))
        tensors.append(_wire.tensor(name, dtypes[name], array.shape, key, size))
    for name, side_file in (*weights.items(), *side_files.items()):
        writer.add(name, len(side_file.data), functools.partial(_write_side_file, side_file=side_file))
    writer.finish(_wire.model(tensors, dtypes.values(), pairs))


def load_file(filename: Path, *, backend: str = "mmap") -> dict[str, Array]:
    """Returns all tensors of an archive. With the backend "mmap", arrays are read-only views of the mapped file; "pread"
    first reads the file into memory. Errors: as `onnxar.open`."""
    if backend not in ("mmap", "pread"):
        raise usage(f'backend is {backend!r}; it may be "mmap" or "pread"')
    with open_archive(filename, no_copy=backend == "mmap") as archive:
        return dict(archive)


class _SideFile(NamedTuple):
    data: memoryview
    crc32: int
    archive: str


def _kept(kept: Path | None) -> tuple[dict[str, _SideFile], dict[str, _SideFile]]:
    """Returns the verified entries of an archive to keep: weights that further graphs use, and side files and graphs. A
    file that is not a zip has none."""
    if kept is None or not _is_zip(kept):
        return {}, {}
    with open_archive(kept) as archive:
        crc32 = {entry.name: entry.crc32 for entry in archive.entries()}
        files, graphs = archive.side_files(), archive.graphs()
        weights = [name for name in archive.entries_of_graphs() if name not in graphs]

        def verified(name: str) -> _SideFile:
            archive.verify(name)
            return _SideFile(archive.entry(name), crc32[name], os.fspath(kept))

        return {name: verified(name) for name in weights}, {name: verified(name) for name in (*files, *graphs)}


class _Kept:
    """Finds a kept weight of graphs by its bytes."""

    def __init__(self, weights: Mapping[str, _SideFile]) -> None:
        self._sizes = {len(weight.data) for weight in weights.values()}
        self._by_crc: dict[tuple[int, int], list[tuple[str, _SideFile]]] = {}
        for name, weight in weights.items():
            same = self._by_crc.setdefault((len(weight.data), weight.crc32), [])
            if len(same) < MOST_COMPARED:  # more are likely crafted collisions of the CRC-32
                same.append((name, weight))

    def name_of(self, array: Array, dtype: int, size: int) -> str | None:
        if size not in self._sizes:
            return None
        raw = _dtypes.raw_bytes(array, dtype)
        same = self._by_crc.get((size, zlib.crc32(raw)), [])
        return next((name for name, weight in same if np.array_equal(raw, np.frombuffer(weight.data, np.uint8))), None)


def _is_zip(path: Path) -> bool:
    """Returns True also for an unreadable file: opening it as an archive then reports the reason."""
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_of_file:
                return _core.is_zip(bytes_of_file)
    except OSError:
        return True


def _checked(name: str, array: Any) -> Array:
    if not isinstance(name, str):
        raise usage(f"the name of a tensor must be a text, not {type(name).__name__}: {name!r}")
    if _has_surrogates(name):
        raise usage("the name has surrogates, so it is not valid Unicode", name)
    if not isinstance(array, np.ndarray | np.generic):
        raise usage(f"this is {type(array).__name__}, not a NumPy array; numpy.asarray makes one", name)
    return np.asarray(array)


def _checked_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise usage(f"keys and values of metadata must be texts, not {key!r}: {value!r}")
        if _has_surrogates(key + value):
            raise usage(f"the metadata {key!r} has surrogates, so it is not valid Unicode")
    return metadata


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _write(file: _core.Sink, array: Array, dtype: int) -> None:
    raw = _dtypes.raw_bytes(array, dtype)
    for begin in range(0, raw.size, PIECE):
        file.write(raw[begin : begin + PIECE])


def _write_side_file(file: _core.Sink, side_file: _SideFile) -> None:
    """Writes copies and compares their CRC-32: the bytes are mapped, and may have changed since they were verified."""
    crc32 = 0
    for begin in range(0, len(side_file.data), PIECE):
        piece = bytes(side_file.data[begin : begin + PIECE])
        crc32 = zlib.crc32(piece, crc32)
        file.write(piece)
    if crc32 != side_file.crc32:
        raise Error("io.changed", "the file was changed while it was read; try again", path=side_file.archive)

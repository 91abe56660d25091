"""Writes archives of tensors without a graph, for `onnxar.numpy` and `onnxar.torch`."""

from __future__ import annotations

import functools
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from onnxar import _core, _wire
from onnxar._arrays import Array
from onnxar._errors import changed_while_read, usage, without_folder
from onnxar._open import open_archive
from onnxar._options import Path, kept_from
from onnxar._paths import is_unicode
from onnxar._progress import Count, Report
from onnxar._sources import file_of

PIECE = 16 << 20  # bytes that are written between two checks for Ctrl-C
MOST_COMPARED = 4  # weights of one size and CRC-32


class Tensor(NamedTuple):
    """A tensor to write. `raw` returns its bytes as an array of uint8. Tensors with the same `memory` share an entry."""

    dtype: int
    shape: tuple[int, ...]
    size: int
    raw: Callable[[], Array]
    memory: Hashable = None


def save(
    tensors: Mapping[str, Tensor], filename: Path, metadata: Mapping[str, str] | None, overwrite: bool,
    keep_side_files: bool | Path, report: Report | None,
) -> None:  # fmt: skip
    """Saves tensors. Raises usage.argument (metadata that is not text); io.*; output.exists."""
    pairs, filename = _checked_metadata(metadata or {}), file_of(filename, "save_file")
    weights, side_files = _kept(kept_from(filename, overwrite, keep_side_files))
    writer = _core.ArchiveWriter.create(filename, 64, overwrite, True)
    keys, written = _core.KeyMaker(), []
    for name in (*weights, *side_files):
        keys.reserve(name)
    kept, shared = _Kept(weights), dict[Hashable, str]()
    count = Count(report, sum(tensor.size for tensor in tensors.values()))
    for name, tensor in tensors.items():
        key = (shared.get(tensor.memory) or kept.name_of(tensor)) if tensor.size else None
        if key is not None:
            count.add(tensor.size)
        elif tensor.size:
            key = keys.make(name)
            writer.add(key, tensor.size, functools.partial(_write, tensor=tensor, count=count))
        if tensor.memory is not None and key is not None:
            shared[tensor.memory] = key
        written.append(_wire.tensor(name, tensor.dtype, tensor.shape, key, tensor.size))
    for name, side_file in (*weights.items(), *side_files.items()):
        writer.add(name, len(side_file.data), functools.partial(write_stored, stored=side_file))
    writer.finish(_wire.model(written, [tensor.dtype for tensor in tensors.values()], pairs))


def to_bytes(save_file: Callable[[str], None]) -> bytes:
    """Returns the bytes of the archive that `save_file` writes."""
    with tempfile.TemporaryDirectory(prefix="onnxar_") as folder, without_folder(folder):
        path = os.path.join(folder, "weights.onnxar")
        save_file(path)
        with open(path, "rb") as file:
            return file.read()


def _write(file: _core.Sink, tensor: Tensor, count: Count) -> None:
    raw = tensor.raw()
    for begin in range(0, raw.size, PIECE):
        count.add(file.write(raw[begin : begin + PIECE]))


class Stored(NamedTuple):
    """An entry of an archive that is copied to another archive."""

    data: memoryview
    crc32: int
    archive: str


def _kept(kept: Path | None) -> tuple[dict[str, Stored], dict[str, Stored]]:
    """Returns the verified entries of an archive to keep: weights that additional graphs use, and side files and graphs. A
    file that is not a zip has none."""
    if kept is None or not _is_zip(kept):
        return {}, {}
    with open_archive(kept) as archive:
        archive.verify(archive._handle.model_name())  # its links tell side files from weights
        crc32 = {entry.name: entry.crc32 for entry in archive.entries()}
        files, graphs = archive.side_files(), archive._handle.graphs()
        weights = [name for name in archive.entries_of_graphs() if name not in graphs]

        def verified(name: str) -> Stored:
            archive.verify(name)
            return Stored(archive.entry(name), crc32[name], os.fspath(kept))

        return {name: verified(name) for name in weights}, {name: verified(name) for name in (*files, *graphs)}


class _Kept:
    """Finds a kept weight of graphs by its bytes."""

    def __init__(self, weights: Mapping[str, Stored]) -> None:
        self._sizes = {len(weight.data) for weight in weights.values()}
        self._by_crc: dict[tuple[int, int], list[tuple[str, Stored]]] = {}
        for name, weight in weights.items():
            same = self._by_crc.setdefault((len(weight.data), weight.crc32), [])
            if len(same) < MOST_COMPARED:  # more are likely crafted collisions of the CRC-32
                same.append((name, weight))

    def name_of(self, tensor: Tensor) -> str | None:
        if tensor.size not in self._sizes:
            return None
        raw = tensor.raw()
        same = self._by_crc.get((tensor.size, zlib.crc32(raw.data)), [])
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


def _checked_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise usage(f"keys and values of metadata must be texts, not {key!r}: {value!r}")
        if not is_unicode(key + value):
            raise usage(f"the metadata {key!r} has surrogates, so it is not valid Unicode")
    return metadata


def checked(name: Any, array: Any) -> Array:
    """Returns the array that a tensor gets. Raises usage.argument."""
    if not isinstance(name, str):
        raise usage(f"the name of a tensor must be a text, not {type(name).__name__}: {name!r}")
    if not is_unicode(name):
        raise usage("the name has surrogates, so it is not valid Unicode", name)
    if not isinstance(array, np.ndarray | np.generic):
        raise usage(f"this is {type(array).__name__}, not a NumPy array; numpy.asarray makes one", name)
    if np.ma.is_masked(array):
        raise usage("the array has masked elements, and a tensor has no mask; its method filled() replaces them", name)
    return np.asarray(array)


def write_stored(file: _core.Sink, stored: Stored) -> None:
    """Writes copies and compares their CRC-32: the bytes are mapped, and may have changed since they were verified."""
    crc32 = 0
    for begin in range(0, len(stored.data), PIECE):
        piece = bytes(stored.data[begin : begin + PIECE])
        crc32 = zlib.crc32(piece, crc32)
        file.write(piece)
    if crc32 != stored.crc32:
        raise changed_while_read(path=stored.archive)

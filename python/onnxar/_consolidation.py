"""Copies the large tensors of an archive to one buffer."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from onnxar import _core, _dtypes
from onnxar._arrays import Array
from onnxar._errors import fault
from onnxar._guard import Guarded
from onnxar._pool import Pool
from onnxar._progress import Count, Progress, reporting
from onnxar._selection import Selection


@dataclasses.dataclass(frozen=True)
class _Place:
    """The address of a tensor's bytes and their size as an array. Tensors that share bytes have equal places."""

    address: int
    raw_size: int
    packed: tuple[int, int] | None  # type and number of elements, where these are below 8 bits
    size: int

    @classmethod
    def of(cls, raw: memoryview, tensor: _core.StoredTensor) -> _Place:
        if not raw.nbytes:
            return cls(0, 0, None, 0)
        address, count = np.frombuffer(raw, np.uint8).ctypes.data, math.prod(tensor.shape)
        if _core.dtype_bits(tensor.dtype) < 8:
            return cls(address, raw.nbytes, (tensor.dtype, count), count)
        return cls(address, raw.nbytes, None, raw.nbytes)


def consolidated(
    selection: Selection, threshold: int, alignment: int, max_expansion: int, threads: int, progress: Progress
) -> tuple[Array, dict[str, Array]]:  # fmt: skip
    """Returns the buffer, and the arrays in it by their keys; see `Archive.consolidate`. Raises onnx.model.expansion; zip.data.crc."""
    handle, stored = selection.handle, dict(selection.with_arrays)
    if isinstance(handle, Guarded):
        handle.verify_entries([name for name, keys in selection.by_entry.items() if stored.keys() & keys], threads)
    raw = {key: memoryview(handle.data(tensor)) for key, tensor in stored.items()}
    places = {key: _Place.of(raw[key], tensor) for key, tensor in stored.items()}
    places = {key: place for key, place in places.items() if place.size >= max(threshold, 1)}
    offsets, size = {}, 0
    for place in places.values():
        if place not in offsets:
            offsets[place] = size
            size += -(-place.size // alignment) * alignment
    _expect_expansion(selection, sum(place.size for place in offsets), max_expansion)
    room = np.empty(size + alignment, np.uint8)
    begin = -room.ctypes.data % alignment
    buffer = room[begin : begin + size]

    def copied(key: str) -> Array:
        """Returns the array in the buffer. Only the first array of each place is copied."""
        place, tensor = places[key], stored[key]
        source = _dtypes.as_array(raw[key], tensor.dtype, tensor.shape, key)
        target: Array = buffer[offsets[place] : offsets[place] + place.size].view(source.dtype).reshape(source.shape)
        if first[place] == key:
            np.copyto(target, source)
        target.setflags(write=False)
        return target

    first: dict[_Place, str] = {}
    for key, place in places.items():
        first.setdefault(place, key)
    with Pool(threads or None) as pool, reporting(progress, "consolidating") as tell:
        count, arrays = Count(tell, sum(place.size for place in places.values())), {}
        for (key, place), array in zip(places.items(), pool.map(copied, places), strict=True):
            arrays[key] = array
            count.add(place.size)
        # Verified after the copy: bytes that change in between would otherwise be in the buffer unnoticed.
        used = [name for name, keys in selection.by_entry.items() if places.keys() & keys]
        list(pool.map(handle.verify, [handle.model_name(), *used]))
    return buffer, arrays


def _expect_expansion(selection: Selection, copied: int, max_expansion: int) -> None:
    present = sum(entry["size"] for entry in selection.handle.entries())
    if copied > present * max_expansion:
        message = (f"its tensors overlap: copies of them would take {copied} bytes, more than {max_expansion} times the "
                   f"{present} in the archive; a higher max_expansion allows more")  # fmt: skip
        raise fault("onnx.model.expansion", message, path=selection.path or "")

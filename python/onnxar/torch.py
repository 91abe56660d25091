"""Saves and loads tensors of PyTorch by name, with the functions of safetensors.torch.

The file is the one that `onnxar.numpy` writes. Each module reads what the other one wrote.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from onnxar import _core, _dtypes, _streaming, _weights
from onnxar._archive import Archive
from onnxar._errors import Error, changed_while_read, expect_list_of, fault, make_error, needs, usage
from onnxar._open import open_archive
from onnxar._options import Path, expect_natural
from onnxar._paths import is_unicode
from onnxar._progress import Count, Progress, Report, reporting
from onnxar._selection import MOST_CANDIDATES
from onnxar._sources import file_of
from onnxar._streaming import Buffer, Entry, Part, Span, Wait

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
        Error: usage.argument (sparse and quantised tensors, names that are not text); output.exists; io.*.
    """
    weights = {name: _weight(name, tensor) for name, tensor in tensors.items()}
    with reporting(progress, "saving") as tell:
        _weights.save(weights, filename, metadata, overwrite, keep_side_files, tell)


def save(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Returns the archive that `save_file` writes. Raises what `save_file` raises."""
    return _weights.to_bytes(lambda path: save_file(tensors, path, metadata))


def load_file(
    filename: Path,
    device: str | int | torch.device = "cpu",
    *,
    names: Iterable[str] | None = None,
    verify: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, torch.Tensor]:
    """Returns the tensors of an archive, without strings. Tensors that share bytes share memory on the CPU and on CUDA devices.

    On the CPU, their memory is a private mapping of the file: nothing is read before it is used, and writing to a tensor affects only
    this process. To a CUDA device the file is copied in its order: threads read it into 64 MiB of pinned memory while the device
    copies, and no other memory of the host is used. (This was tested with torch's CPU device in place of a GPU, not on a GPU.) For
    other devices, each tensor is mapped and then copied by torch.

    Args:
        filename: The archive.
        device: Where the tensors are.
        names: The keys of the tensors to load; None: all.
        verify: Compare the CRC-32 of the model and of the tensors' entries: for CUDA while they are copied, otherwise before.
        threads: The number of threads that read for a CUDA device; 0: one per core, at most 8.
        progress: See `onnxar.pack`.

    Raises:
        Error: What `onnxar.open` raises; usage.argument (a type that torch lacks, such as INT4); usage.no_such_tensor; zip.data.crc;
            io.changed.
        torch.OutOfMemoryError: The device is too small. Memory is allocated before the file is read, and all of it is released.
    """
    expect_natural(threads=threads)
    with _opened(file_of(filename, "load_file")) as source, reporting(progress, "loading") as tell:
        return _tensors(source, torch.device(device), _chosen(source.archive, names), _How(verify, threads, tell))


def load_into(
    module: torch.nn.Module,
    filename: Path,
    *,
    strict: bool = True,
    verify: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> tuple[list[str], list[str]]:
    """Copies the tensors of an archive into the parameters and buffers of these names, on whatever devices they are. On CUDA devices the
    bytes go to the parameter's memory, as in `load_file`, without a second copy on the device. Other types are converted.

    Args:
        module: The module. Names and shapes are compared before anything is written. After a later error, some tensors may
            already be overwritten.
        filename: The archive.
        strict: Refuse the archive if names are missing or unexpected.

    Other arguments: see `load_file`.

    Returns:
        The names that only the module has, and the names that only the archive has.

    Raises:
        Error: What `load_file` raises; usage.argument (names or shapes differ; a parameter is on the meta device).
    """
    expect_natural(threads=threads)
    path, state = file_of(filename, "load_into"), module.state_dict()
    with _opened(path) as source, reporting(progress, "loading") as tell, torch.no_grad():
        missing = [name for name in state if name not in source.archive]
        unexpected = [key for key in source.archive if key not in state]
        if strict and (missing or unexpected):
            raise usage(f"the archive lacks {_listed(missing)}, and the module lacks {_listed(unexpected)}; strict=False loads the others")
        targets = {key: state[key] for key in source.archive if key in state}
        for key, target in targets.items():
            _expect_target(source.archive, key, target)
        _fill(source, targets, _How(verify, threads, tell))
    return missing, unexpected


def load(data: bytes) -> dict[str, torch.Tensor]:
    """Returns all tensors of an archive in memory, as copies. Raises what `load_file` raises."""
    memory = bytearray(data)
    with open_archive(memory) as archive:
        return _tensors(_Source(archive, memory), torch.device("cpu"), list(archive), _How())


def _weight(name: str, tensor: Any) -> _weights.Tensor:
    if not isinstance(name, str) or not is_unicode(name):
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


class _How(NamedTuple):
    """How to load."""

    verify: bool = False
    threads: int = 0
    tell: Report | None = None


class _Source:
    """The archive in `memory`, which is writable and which its tensors keep alive."""

    def __init__(self, archive: Archive, memory: mmap.mmap | bytearray, read: _streaming.Read | None = None) -> None:
        self.archive, self.memory, self.read = archive, memory, read
        self._begin = np.frombuffer(memory, np.uint8).ctypes.data

    def dtype(self, key: str) -> torch.dtype:
        number = self.archive._selection.tensors[key].dtype
        if number not in _DTYPES:
            raise usage(f"torch lacks the type {_dtypes.name_of(number)}; onnxar.numpy.load_file returns it", key)
        return _DTYPES[number]

    def place(self, key: str) -> tuple[int, int] | None:
        """Returns where the tensor's bytes begin and end in the file. None if they are not there as torch needs them."""
        data = self.archive._handle.data(self.archive._selection.tensors[key])
        if not len(data) or sys.byteorder == "big":
            return None
        offset = np.frombuffer(memoryview(data), np.uint8).ctypes.data - self._begin
        return (offset, offset + len(data)) if 0 <= offset <= len(self.memory) - len(data) else None

    def tensor(self, key: str) -> torch.Tensor:
        dtype, stored, place = self.dtype(key), self.archive._selection.tensors[key], self.place(key)
        data = self.archive._handle.data(stored)
        if not len(data):
            return _empty(stored.shape, dtype, key)
        count = len(data) * 8 // _core.dtype_bits(stored.dtype)
        if place is None or place[0] % dtype.itemsize:
            array = np.frombuffer(memoryview(data), np.uint8).reshape(count, -1)
            flat = torch.from_numpy(np.ascontiguousarray(array[:, ::-1] if sys.byteorder == "big" else array).reshape(-1).copy())
            return flat.view(dtype).reshape(stored.shape)
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=place[0]).reshape(stored.shape)

    def stream(self, targets: list[Span], keys: Iterable[str], how: _How) -> None:
        """Copies bytes of the file to tensors of bytes on one kind of device. With `verify`, compares the CRC-32s of the model and of the
        entries that have the keys. Raises zip.data.crc; io.*; what torch raises."""
        if how.verify:
            self.archive.verify(self.archive._handle.model_name())
        pieces = _streaming.pieces_of(targets, self._entries(keys) if how.verify else [])
        if not pieces:
            return
        assert self.read is not None
        size, kind = max(piece.stop - piece.start for piece in pieces), targets[0].use.device.type
        ring = min(len(pieces), _streaming.RING // size)
        allocate, fence = _RINGS[kind]
        buffers = [Buffer(memoryview(part.numpy()), part) for part in allocate(ring * size).split(size)]
        count = Count(how.tell, sum(piece.stop - piece.start for piece in pieces))

        def copy(buffer: torch.Tensor, parts: list[Part]) -> Wait:
            for part in parts:
                part.use[part.at : part.at + part.end - part.begin].copy_(buffer[part.begin : part.end], non_blocking=True)
            return fence({part.use.device for part in parts})

        for name in _streaming.stream(pieces, self.read, buffers, copy, threads=how.threads, progress=count.add):
            self.archive.verify(name)  # says what differs
            raise changed_while_read(entry=name)

    def _entries(self, keys: Iterable[str]) -> list[Span]:
        handle = self.archive._handle
        used = {handle.entry_of(self.archive._selection.tensors[key]) or handle.model_name() for key in keys}
        return [
            Span(entry.offset, entry.offset + entry.size, Entry(entry.name, entry.size, entry.crc32))
            for entry in self.archive.entries() if entry.name in used and entry.size
        ]  # fmt: skip

    def verify(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.archive._verify_data_of(key)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[_Source]:
    """Opens a file. Errors in the block get its path."""
    open_archive(path).close()  # waits for edits, and says what is wrong with the file by its path
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            with open_archive(mapped) as archive:
                yield _Source(archive, mapped, _streaming.reader_of(file.fileno(), mapped, path))
    except Error as error:
        if error.path:
            raise
        raise make_error(error.code, error.message, error.entry, error.offset, os.path.abspath(path)) from error


def _pinned(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


def _fence(devices: set[torch.device]) -> Wait:
    """Returns a function that waits until what was copied to the devices so far is there."""
    events = [torch.cuda.Event(blocking=True) for _ in devices]
    for event, device in zip(events, devices, strict=True):
        event.record(torch.cuda.current_stream(device))
    return lambda: [event.synchronize() for event in events]


# The kinds of devices to which files are streamed: how buffers are allocated, and how to wait for copies from them.
_RINGS: dict[str, tuple[Callable[[int], torch.Tensor], Callable[[set[torch.device]], Wait]]] = {"cuda": (_pinned, _fence)}


def _chosen(archive: Archive, names: Iterable[str] | None) -> list[str]:
    """Returns the keys to load, in the archive's order. Raises usage.argument; usage.no_such_tensor."""
    if names is None:
        return list(archive)
    expect_list_of("names", "names", names)
    wanted = set(names)
    for name in wanted:
        if name not in archive:
            raise archive._selection.missing(name)
    return [key for key in archive if key in wanted]


def _tensors(source: _Source, device: torch.device, keys: list[str], how: _How) -> dict[str, torch.Tensor]:
    if source.read is not None and device.type in _RINGS:
        return _streamed(source, device, keys, how)
    if how.verify:
        source.verify(keys)
    loaded: dict[str, torch.Tensor] = {}
    count = Count(how.tell, sum(len(source.archive._handle.data(source.archive._selection.tensors[key])) for key in keys))
    for key in keys:
        loaded[key] = source.tensor(key).to(device)
        count.add(loaded[key].nbytes)
    return loaded


def _streamed(source: _Source, device: torch.device, keys: list[str], how: _How) -> dict[str, torch.Tensor]:
    """Returns the tensors on the device. Those whose bytes overlap in the file are views of one tensor."""
    dtypes = {key: source.dtype(key) for key in keys}
    places = {key: place for key in keys if (place := source.place(key)) is not None}
    ranges: list[list[int]] = []
    for start, stop in sorted(places.values()):
        if ranges and start < ranges[-1][1]:
            ranges[-1][1] = max(ranges[-1][1], stop)
        else:
            ranges.append([start, stop])
    spans = [Span(start, stop, torch.empty(stop - start, dtype=torch.uint8, device=device)) for start, stop in ranges]
    source.stream(spans, places, how)
    starts = [span.start for span in spans]

    def tensor(key: str) -> torch.Tensor:
        if key not in places:
            return source.tensor(key).to(device)
        start, stop = places[key]
        span = spans[bisect.bisect_right(starts, start) - 1]
        flat = span.use[start - span.start : stop - span.start]
        flat = flat.clone() if flat.storage_offset() % dtypes[key].itemsize else flat
        return flat.view(dtypes[key]).reshape(source.archive._selection.tensors[key].shape)

    return {key: tensor(key) for key in keys}


def _fill(source: _Source, targets: dict[str, torch.Tensor], how: _How) -> None:
    """Copies tensors into the targets: bytes as they are, where the target's memory is laid out like the file."""
    spans: dict[tuple[int, int, torch.device, int], Span] = {}  # tied tensors are one
    streamed = set()
    for key, target in targets.items():
        place = source.place(key)
        plain = type(target) is torch.Tensor and target.is_contiguous() and not target.is_conj() and not target.is_neg()
        if place is not None and plain and target.device.type in _RINGS and target.dtype == source.dtype(key):
            streamed.add(key)
            memory = (*place, target.device, target.data_ptr())
            spans[memory] = Span(*place, target.reshape(-1).view(torch.uint8))
    rest = [key for key in targets if key not in streamed]
    if how.verify:
        source.verify(rest)
    source.stream(list(spans.values()), streamed, how)
    for key in rest:
        targets[key].copy_(source.tensor(key))


def _expect_target(archive: Archive, key: str, target: Any) -> None:
    """Refuses a target that cannot get the tensor. Raises usage.argument."""
    shape = archive._selection.tensors[key].shape
    if not isinstance(target, torch.Tensor) or tuple(target.shape) != shape:
        found = list(target.shape) if isinstance(target, torch.Tensor) else type(target).__name__
        raise usage(f"the module has {found}, and the archive has the shape {list(shape)}", key)
    if target.is_meta:
        raise usage("the module's tensor is on the meta device and has no memory; module.to_empty(device=...) allocates it", key)


def _listed(names: list[str]) -> str:
    more = ", ..." if len(names) > MOST_CANDIDATES else ""
    return ", ".join(map(repr, names[:MOST_CANDIDATES])) + more if names else "nothing"


def _empty(shape: tuple[int, ...], dtype: torch.dtype, key: str) -> torch.Tensor:
    """Returns a tensor without elements. Torch multiplies its other dimensions all the same."""
    try:
        return torch.empty(shape, dtype=dtype)
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise fault("onnx.tensor.dims", f"torch's tensors cannot have the dimensions {list(shape)}: {reason}", key) from error

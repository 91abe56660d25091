"""Copies parts of a file to other memory, such as a GPU's, through a ring of buffers that several threads fill."""

from __future__ import annotations

import bisect
import collections
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from onnxar import _core, _ranges
from onnxar._errors import fault
from onnxar._pool import Pool

RING = 64 << 20  # bytes of all buffers
MOST_THREADS = 8  # unless the caller wants more: these fill the buffers of the ring

Read = Callable[[memoryview, int], object]
Wait = Callable[[], object]


class Span(NamedTuple):
    """Bytes of the file, from `start` to `stop`, and their use: a target to copy them to, or an entry to verify."""

    start: int
    stop: int
    use: Any


class Part(NamedTuple):
    """The bytes of a span that are in one piece. They are at `begin` to `end` in the buffer, and begin at `at` in the span."""

    begin: int
    end: int
    at: int
    use: Any


class Piece(NamedTuple):
    """Bytes of the file that are read together."""

    start: int
    stop: int
    copies: list[Part]
    entries: list[Part]


class Entry(NamedTuple):
    """An entry whose CRC-32 is compared."""

    name: str
    size: int
    crc32: int


class Buffer(NamedTuple):
    """A buffer of the ring: its bytes, for reading the file, and the object that `copy` takes."""

    view: memoryview
    memory: Any


def pieces_of(targets: Sequence[Span], entries: Sequence[Span]) -> list[Piece]:
    """Returns the pieces to read, in the order of the file. Bytes that several spans need are read once."""
    spans = sorted((span.start, span.stop) for span in (*targets, *entries))
    ranges = _ranges.pieces_of(spans, max((stop for _, stop in spans), default=0))
    copies, sums = _parts(ranges, targets), _parts(ranges, entries)
    return [Piece(*each, *parts) for each, *parts in zip(ranges, copies, sums, strict=True)]


def _parts(ranges: list[_ranges.Range], spans: Sequence[Span]) -> list[list[Part]]:
    """Returns the parts of the spans in each range. The ranges are in order and contain all spans."""
    starts, parts = [start for start, _ in ranges], [list[Part]() for _ in ranges]
    for span in spans:
        for index in range(bisect.bisect_right(starts, span.start) - 1, bisect.bisect_left(starts, span.stop)):
            start, stop = ranges[index]
            begin = max(span.start, start)
            parts[index].append(Part(begin - start, min(span.stop, stop) - start, begin - span.start, span.use))
    return parts


def stream(
    pieces: Sequence[Piece], read: Read, buffers: Sequence[Buffer], copy: Callable[[Any, list[Part]], Wait], *,
    threads: int = 0, progress: Callable[[int], None] = lambda count: None,
) -> list[str]:  # fmt: skip
    """Reads pieces into the buffers on threads, and copies them from there in order, on the caller's thread. An exception, such as
    KeyboardInterrupt, stops the threads before it is raised.

    Args:
        pieces: The pieces to read.
        read: Fills a buffer with the bytes of the file from an offset on.
        buffers: The ring; each buffer has room for the largest piece.
        copy: Begins to copy parts of a buffer, and returns a function that waits until this is done.
        threads: The number of threads that read; 0: one per core, at most MOST_THREADS.
        progress: Called with the size of each piece that is being copied.

    Returns:
        The names of entries whose CRC-32 differs.

    Raises:
        Exception: What `read`, `copy` and the functions that wait raise.
    """
    sums = _Sums()
    free = collections.deque[tuple[Buffer, Wait]]((buffer, lambda: None) for buffer in buffers)
    ahead = collections.deque[tuple[Piece, Buffer, Any]]()

    def copy_next() -> None:
        piece, buffer, filled = ahead.popleft()
        sums.add(piece, filled.result())
        free.append((buffer, copy(buffer.memory, piece.copies)))
        progress(piece.stop - piece.start)

    pool = Pool(threads or min(os.cpu_count() or 1, MOST_THREADS), "onnxar")
    try:
        for piece in pieces:
            if not free:
                copy_next()
            buffer, wait = free.popleft()
            ahead.append((piece, buffer, pool.submit(_fill, piece, buffer.view, wait, read)))
        while ahead:
            copy_next()
        for _, wait in free:
            wait()
    finally:
        pool.shutdown(cancel_futures=True)
    return sums.different


def _fill(piece: Piece, view: memoryview, wait: Wait, read: Read) -> list[int]:
    """Reads a piece once its buffer is free. Returns the CRC-32s of its parts of entries."""
    wait()
    read(view[: piece.stop - piece.start], piece.start)
    return [zlib.crc32(view[part.begin : part.end]) for part in piece.entries]


class _Sums:
    """Combines the CRC-32s of the parts of entries, which come in the order of the file."""

    def __init__(self) -> None:
        self.different: list[str] = []
        self._sums: dict[str, int] = {}

    def add(self, piece: Piece, sums: list[int]) -> None:
        for part, crc32 in zip(piece.entries, sums, strict=True):
            entry, size = part.use, part.end - part.begin
            crc32 = _core.crc32_of_both(self._sums.pop(entry.name, 0), crc32, size)
            if part.at + size < entry.size:
                self._sums[entry.name] = crc32
            elif crc32 != entry.crc32:
                self.different.append(entry.name)


def reader_of(descriptor: int, mapped: Any, path: str) -> Read:
    """Returns a function that reads an open file. Where the system cannot read at an offset, it copies from the mapping.
    The function raises io.changed if the file is shorter than it was, and OSError."""

    def read(view: memoryview, offset: int) -> None:
        while view:
            count = os.preadv(descriptor, [view], offset)
            if not count:
                raise fault("io.changed", "the file was cut while it was read; try again", path=path)
            view, offset = view[count:], offset + count

    def copy(view: memoryview, offset: int) -> None:
        view[:] = memoryview(mapped)[offset : offset + len(view)]

    return read if hasattr(os, "preadv") else copy

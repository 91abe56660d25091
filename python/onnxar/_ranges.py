"""Reads ranges of files through other packages: the end of a file first, then what is used, in few requests."""

from __future__ import annotations

import bisect
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from onnxar._errors import Error, fault, usage
from onnxar._paths import shown

Range = tuple[int, int]  # the first byte, and the byte after the last one
Targets = Sequence[tuple[int, memoryview]]

END = 256 << 10  # bytes at the end of a file that are read when it is opened
GAP = 32 << 10  # bytes that are read in vain to save a request
PIECE = 8 << 20  # bytes of a large range, so that several connections share it
BATCH = 64 << 20  # bytes that are asked for at the same time


class RemoteFile(Protocol):
    """A file that is read in ranges."""

    @property
    def name(self) -> str:
        """For messages, without secrets."""

    @property
    def size(self) -> int: ...

    def fetch(self, ranges: list[Range]) -> list[Any]:
        """Returns the bytes of each range, all of the version that was opened. Raises io.changed; any exception."""


PASSING = (408, 425, 429, 500, 502, 503, 504)  # statuses after which a client asks again, as in the library


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Raises exceptions of other packages as exceptions of this package."""
    try:
        yield
    except (Error, MemoryError):
        raise
    except FileNotFoundError as error:
        raise _missing(error, name) from None  # the other's text may have secrets
    except PermissionError as error:
        raise fault("io.permission", f"access is denied: {_reason(error)}", path=name) from None
    except ImportError as error:
        raise usage(f"a package that opens this address is not installed: {shown(str(error))}", path=name) from None
    except Exception as error:
        raise _unreachable(error, name) from None


def _missing(error: FileNotFoundError, name: str) -> Error:
    """Returns the error for what fsspec calls a missing file: over HTTP every failure, with the true one as its cause."""
    cause = error.__cause__
    status = getattr(cause, "status", None)
    if status in (401, 403, 407):
        return fault("io.permission", f"the server denies access (status {status})", path=name)
    if status not in (None, 404, 410):
        return fault("remote.unreachable" if status in PASSING else "remote.refused", f"the server answers with status {status}", path=name)
    is_of_connection = isinstance(cause, OSError) or type(cause).__module__.startswith("aiohttp.")
    if status is None and is_of_connection and not isinstance(cause, FileNotFoundError):
        return _unreachable(cause, name)
    return fault("io.not_found", "there is no such file", path=name)


def _unreachable(error: BaseException | None, name: str) -> Error:
    return fault("remote.unreachable", f"the file cannot be read or written: {_reason(error)}", path=name)


def _reason(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {shown(str(error))}" if str(error) else type(error).__name__


def pieces_of(ranges: Iterable[Range], end: int) -> list[Range]:
    """Returns the ranges to request, in the order of the file: ranges that nearly touch are joined, large ones are cut, and
    everything from `end` on is left out."""
    joined: list[list[int]] = []
    for start, stop in ranges:
        stop = min(stop, end)
        if stop <= start:
            continue
        if joined and start - joined[-1][1] <= GAP:
            joined[-1][1] = max(joined[-1][1], stop)
        else:
            joined.append([start, stop])
    return [(at, min(at + PIECE, stop)) for start, stop in joined for at in range(start, stop, PIECE)]


def batches_of(pieces: Sequence[Range]) -> Iterator[list[Range]]:
    batch: list[Range] = []
    size = 0
    for piece in pieces:
        start, stop = piece
        if batch and size + stop - start > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += stop - start
    if batch:
        yield batch


class Reader:
    """Fills memory with ranges of a file. The end of the file is read first and kept."""

    def __init__(self, file: RemoteFile) -> None:
        self.file = file
        self.end_at = max(0, file.size - END)
        self.end: Any = b""
        if file.size > 0:
            with translated(file.name):
                self.end = self._expect([(self.end_at, file.size)])[0]

    def __call__(self, targets: Targets) -> None:
        ends = [offset + len(target) for offset, target in targets]
        for start, data in self.pieces((offset, end) for (offset, _), end in zip(targets, ends)):
            self._scatter(targets, ends, start, data)

    def pieces(self, ranges: Iterable[Range]) -> Iterator[tuple[int, Any]]:
        """Yields bytes that contain the ranges, and where they begin, a batch at a time. The end of the file comes first."""
        yield self.end_at, self.end
        for batch in batches_of(pieces_of(ranges, self.end_at)):
            with translated(self.file.name):
                parts = self._expect(batch)
            yield from ((start, part) for (start, _), part in zip(batch, parts, strict=True))

    def _expect(self, ranges: list[Range]) -> list[Any]:
        parts = [memoryview(part).cast("B") for part in self.file.fetch(ranges)]
        for (start, stop), part in zip(ranges, parts, strict=True):
            if len(part) == self.file.size != stop - start:
                raise fault("remote.no_ranges", "the server sends whole files only, so no part of this one can be read; download it",
                            path=self.file.name)  # fmt: skip
            if len(part) != stop - start:
                raise fault("remote.answer", f"{stop - start} bytes at {start:#x} were asked for, and {len(part)} came",
                            path=self.file.name)  # fmt: skip
        return parts

    @staticmethod
    def _scatter(targets: Targets, ends: list[int], at: int, data: Any) -> None:
        """Copies the requested parts of `data`, which begins at `at`. The targets are in the order of the file."""
        for index in range(bisect.bisect_right(ends, at), len(targets)):
            offset, target = targets[index]
            start, stop = max(offset, at), min(offset + len(target), at + len(data))
            if start >= stop:
                break
            target[start - offset : stop - offset] = data[start - at : stop - at]

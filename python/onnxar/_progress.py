"""Reports progress by calling a function, or with a tqdm bar."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from onnxar._errors import usage

Report = Callable[[int, int], None]
Progress = bool | Report | Any
"""Values of `progress`: True (a tqdm bar; without tqdm, nothing), a class or an object like `tqdm.tqdm`, or a function that is
called with the numbers of bytes done and in total. An exception from it cancels the operation."""


class _Bar:
    """Drives an object with `total` and `update`, like tqdm's."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._bar: Any = None
        self._done = 0

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._make(total)
        if done > self._done:
            self._bar.update(done - self._done)
            self._done = done

    def close(self) -> None:
        if hasattr(self._bar, "close"):
            self._bar.close()


def _tqdm() -> Any:
    try:
        import tqdm.auto
    except ImportError:
        return None
    return tqdm.auto.tqdm


def _given(bar: Any, total: int) -> Any:
    """A bar that the caller made and closes."""
    bar.total = total
    if hasattr(bar, "refresh"):
        bar.refresh()
    return bar


@contextlib.contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Report | None]:
    """Yields the function to call, or None. Closes a bar that it made. Raises usage.argument."""
    if progress is True:
        progress = _tqdm() if sys.stderr is not None else None
    if progress is None or progress is False:
        yield None
        return
    kind = progress.func if isinstance(progress, functools.partial) else progress
    if isinstance(kind, type) and hasattr(kind, "update"):
        make: Any = progress
        bar = _Bar(lambda total: make(total=total, unit="B", unit_scale=True, desc=what))
        with contextlib.closing(bar):
            yield bar
    elif not isinstance(kind, type) and hasattr(kind, "update"):
        yield _Bar(functools.partial(_given, progress))
    elif callable(progress):
        yield progress
    else:
        raise usage(f"progress is {type(progress).__name__}; it must be True, a function of two numbers, or tqdm.tqdm")


def growing(report: Report | None) -> Report | None:
    """Returns a report for work that may start again: it leaves out what was already reported."""
    most = -1

    def tell(done: int, total: int) -> None:
        nonlocal most
        if report is not None and done > most:
            most = done
            report(done, total)

    return report and tell


class Count:
    """Adds up what is done, and reports it."""

    def __init__(self, report: Report | None, total: int) -> None:
        self._report = report
        self._done, self._total = 0, total

    def add(self, count: int) -> None:
        self._done += count
        if self._report is not None:
            self._report(self._done, self._total)

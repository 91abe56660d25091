"""Runs work on threads where threads can start."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any


class Pool(concurrent.futures.ThreadPoolExecutor):
    """An executor for programs that may be exiting. In an `atexit` handler no thread can start, so the caller's thread does the
    work there."""

    def submit(self, work: Callable[..., Any], /, *values: Any, **named: Any) -> concurrent.futures.Future[Any]:
        try:
            return super().submit(work, *values, **named)
        except RuntimeError:
            done: concurrent.futures.Future[Any] = concurrent.futures.Future()
            try:
                done.set_result(work(*values, **named))
            except BaseException as error:
                done.set_exception(error)
            return done

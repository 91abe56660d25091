"""Deprecated names. They still work, and emit a DeprecationWarning."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def renamed_keywords(**names: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Accepts deprecated names of arguments: `old="new"`."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
            for old in names.keys() & named.keys():
                new = names[old]
                if new in named:
                    raise TypeError(f"{function.__name__}() got both {new} and {old}, its deprecated name")
                warnings.warn(f"the argument {old} is deprecated, use {new}", DeprecationWarning, stacklevel=2)
                named[new] = named.pop(old)
            return function(*args, **named)

        return call

    return decorate


threads = renamed_keywords(num_threads="threads")
threshold = renamed_keywords(size_threshold="threshold", num_threads="threads")


def renamed(old: str, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Returns the function under its deprecated name."""

    @functools.wraps(function)
    def call(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
        warnings.warn(f"onnxar.{old} is deprecated, use onnxar.{function.__name__}", DeprecationWarning, stacklevel=2)
        return function(*args, **named)

    call.__name__ = old
    return call

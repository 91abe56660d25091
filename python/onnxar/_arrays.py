"""Arrays by name, as a mapping that compares them bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Arrays(Mapping[str, Array]):
    """Arrays by name. Equal to a mapping with the same names and, for each, an array of the same type, shape and bytes."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.keys() == other.keys() and all(_same(array, other[key]) for key, array in self.items())

    def _ipython_key_completions_(self) -> list[str]:
        """Returns what IPython offers after `archive["`."""
        return list(self)


def _same(a: Array, b: Any) -> bool:
    """Returns True if the bits are equal, NaNs among them."""
    if not isinstance(b, np.ndarray) or (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)

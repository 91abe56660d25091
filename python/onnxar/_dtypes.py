"""Maps ONNX data types to those of NumPy and ml_dtypes, and raw bytes to arrays."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from onnxar import _core
from onnxar._errors import Error, fault, needs, usage

# TensorProto.DataType -> name in NumPy, or in ml_dtypes for types that NumPy lacks.
_OF_NUMPY = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}  # fmt: skip
_OF_ML_DTYPES = {
    16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4",
    22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2",
    27: "float6_e2m3fn", 28: "float6_e3m2fn",
}  # fmt: skip
_NUMBER = {name: number for number, name in (_OF_NUMPY | _OF_ML_DTYPES).items()}

MOST_DIMENSIONS = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32

# The dtypes of numbers whose raw bytes are a NumPy array as they are, by number. Those of ml_dtypes are added once they are needed.
WHOLE: list[np.dtype[Any] | None] = [None] * (1 + max(_OF_NUMPY | _OF_ML_DTYPES))
for _number, _name in _OF_NUMPY.items():
    WHOLE[_number] = np.dtype(_name)

name_of = _core.dtype_name


@functools.cache
def numpy_dtype(number: int) -> np.dtype[Any]:
    """Returns the dtype. Raises usage.argument (strings and unknown types); ImportError (ml_dtypes is missing)."""
    if number in _OF_NUMPY:
        return np.dtype(_OF_NUMPY[number])
    if number not in _OF_ML_DTYPES:
        raise usage(f"tensors of type {name_of(number)} are not available as arrays; onnxar.load returns them as messages")
    with needs(f"an array of type {name_of(number)}"):
        import ml_dtypes
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[number]))
    except AttributeError:
        raise usage(f"this version of ml_dtypes does not have {_OF_ML_DTYPES[number]}; install a newer one") from None
    if _core.dtype_bits(number) >= 8:
        WHOLE[number] = dtype
    return dtype


def is_of_numpy(number: int) -> bool:
    """Returns True if NumPy itself has the type."""
    return number in _OF_NUMPY


def number_of(array: np.ndarray[Any, Any], name: str) -> int:
    """Returns the data type for an array. Raises usage.argument, which names the tensor `name`."""
    known = _NUMBER.get(array.dtype.name)
    if known is not None and array.dtype.names is None:
        return known
    what = "Python objects" if array.dtype.hasobject else f"dtype {array.dtype}"
    raise usage(f"an array of {what} cannot be a tensor's raw data; convert it to a type of numbers", name)


def as_array(buffer: Any, number: int, shape: tuple[int, ...], name: str) -> np.ndarray[Any, Any]:
    """Returns a read-only view of raw bytes; a copy for elements below 8 bits and for unaligned bytes. Raises onnx.tensor.dims,
    which names the tensor `name`, and what `numpy_dtype` raises."""
    dtype, count = numpy_dtype(number), math.prod(shape)
    if len(shape) > MOST_DIMENSIONS:
        raise _too_much(f"the tensor has {len(shape)} dimensions, and NumPy's arrays have at most {MOST_DIMENSIONS}", name)
    if count == 0:
        try:
            array = np.empty(shape, dtype)  # multiplies the other dimensions all the same
        except ValueError as error:
            raise _too_much(f"NumPy's arrays cannot have the dimensions {list(shape)}: {error}", name) from error
    elif (bits := _core.dtype_bits(number)) < 8:
        array = unpacked(np.frombuffer(buffer, np.uint8), bits, count).view(dtype).reshape(shape)
    else:
        array = np.ndarray(shape, dtype, buffer)
        if not array.flags.aligned:
            array = array.copy()
    array.setflags(write=False)
    return array


def _too_much(what: str, name: str) -> Error:
    return fault("onnx.tensor.dims", f"{what}; onnxar.load returns the tensor as a message", name)


def unpacked(packed: np.ndarray[Any, Any], bits: int, count: int) -> np.ndarray[Any, Any]:
    """Returns one byte per element, with zeros above its bits. This is the form of ml_dtypes, also for signed types."""
    if bits == 6:  # four elements are three bytes
        packed = np.concatenate([packed, np.zeros(-packed.size % 3, np.uint8)]).reshape(-1, 3).astype(np.uint32)
        packed = packed[:, 0] | packed[:, 1] << 8 | packed[:, 2] << 16
    per_word = 4 if bits == 6 else 8 // bits
    values = np.empty((packed.size, per_word), np.uint8)
    for place in range(per_word):  # a few passes over all bytes: a short axis takes six times as long
        values[:, place] = packed >> (bits * place) & ((1 << bits) - 1)
    return values.reshape(-1)[:count]


def packed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Reverses `unpacked`. Pads the last byte with zeros."""
    per_word, mask = 4 if bits == 6 else 8 // bits, (1 << bits) - 1
    values = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    joined: np.ndarray[Any, np.dtype[Any]] = np.zeros(-(-values.size // per_word), np.uint32 if bits == 6 else np.uint8)
    for place in range(per_word):
        part = values[place::per_word] & mask
        joined[: part.size] |= part.astype(joined.dtype) << (bits * place)
    if bits < 6:
        return joined
    return joined.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].reshape(-1)[: -(-values.size * 6 // 8)]


def raw_bytes(array: np.ndarray[Any, Any], number: int) -> np.ndarray[Any, Any]:
    """Returns little-endian bytes in row-major order; a view if the array already has this layout."""
    bits = _core.dtype_bits(number)
    if bits < 8:
        return packed(array, bits)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def raw_size(array: np.ndarray[Any, Any], number: int) -> int:
    return -(-array.size * int(_core.dtype_bits(number)) // 8)

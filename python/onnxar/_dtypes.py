"""Data types of ONNX as those of NumPy and ml_dtypes, and raw bytes as arrays."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from onnxar import _core
from onnxar._errors import usage

# TensorProto.DataType -> NumPy's name, and ml_dtypes' name for what NumPy itself has not.
_OF_NUMPY = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}  # fmt: skip
_OF_ML_DTYPES = {
    16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4",
    22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2",
}  # fmt: skip
_NUMBER = {name: number for number, name in (_OF_NUMPY | _OF_ML_DTYPES).items()}

MOST_DIMENSIONS = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32

name_of = _core.dtype_name


@functools.cache
def numpy_dtype(number: int) -> np.dtype[Any]:
    """Errors: usage.argument for strings and types that are not known; ImportError without ml_dtypes."""
    if number in _OF_NUMPY:
        return np.dtype(_OF_NUMPY[number])
    if number not in _OF_ML_DTYPES:
        raise usage(f"tensors of type {name_of(number)} have no array; onnxar.load gives them as messages")
    import ml_dtypes

    try:
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[number]))
    except AttributeError:
        raise usage(f"this version of ml_dtypes has no {_OF_ML_DTYPES[number]}; a newer one does") from None
    return dtype


def number_of(array: np.ndarray[Any, Any], name: str) -> int:
    """The data type for an array. Errors: usage.argument, naming the tensor `name`."""
    known = _NUMBER.get(array.dtype.name)
    if known is not None and array.dtype.names is None:
        return known
    what = "Python objects" if array.dtype.hasobject else f"dtype {array.dtype}"
    raise usage(f"an array of {what} cannot be a tensor's raw data; convert it to a type of numbers", name)


def as_array(buffer: Any, number: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A read-only view of raw bytes; of elements below 8 bits, and of bytes that lie across, a read-only copy."""
    dtype, count = numpy_dtype(number), math.prod(shape)
    if len(shape) > MOST_DIMENSIONS:
        raise usage(f"the tensor has {len(shape)} dimensions, and NumPy's arrays have at most {MOST_DIMENSIONS}")
    if count == 0:
        array = np.empty(shape, dtype)
    elif (bits := _core.dtype_bits(number)) < 8:
        array = unpacked(np.frombuffer(buffer, np.uint8), bits, count).view(dtype).reshape(shape)
    else:
        array = np.frombuffer(buffer, dtype, count).reshape(shape)
        if not array.flags.aligned:
            array = array.copy()
    array.setflags(write=False)
    return array


def unpacked(packed: np.ndarray[Any, Any], bits: int, count: int) -> np.ndarray[Any, Any]:
    """One byte an element, with zeros above its bits: as ml_dtypes has them, signed ones too."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return ((packed[:, np.newaxis] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count]


def packed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """The reverse, of an array with one byte an element; the last byte is filled with zeros."""
    per_byte = 8 // bits
    values = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    rows = np.pad(values, (0, -values.size % per_byte)).reshape(-1, per_byte)
    shifted = rows << np.arange(0, 8, bits, dtype=np.uint8)
    joined: np.ndarray[Any, Any] = np.bitwise_or.reduce(shifted, axis=1)
    return joined


def raw_bytes(array: np.ndarray[Any, Any], number: int) -> np.ndarray[Any, Any]:
    """Little-endian bytes in row-major order; a view where the array lies that way already."""
    bits = _core.dtype_bits(number)
    if bits < 8:
        return packed(array, bits)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def raw_size(array: np.ndarray[Any, Any], number: int) -> int:
    return -(-array.size * int(_core.dtype_bits(number)) // 8)

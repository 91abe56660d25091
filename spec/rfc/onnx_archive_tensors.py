# Copyright (c) ONNX Project Contributors
#
# SPDX-License-Identifier: Apache-2.0
"""Tensors of models, for onnx.archive: their sizes, values and links, and their places."""

from __future__ import annotations

import collections
import math
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

import onnx.numpy_helper
from onnx.onnx_pb import FunctionProto, GraphProto, TensorProto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Data = bytes | memoryview

# The name that NumPy or ml_dtypes has for a data type, by the bits of an element.
_DTYPES_BY_BITS = {
    128: {15: "complex128"},
    64: {7: "int64", 11: "float64", 13: "uint64", 14: "complex64"},
    32: {1: "float32", 6: "int32", 12: "uint32"},
    16: {4: "uint16", 5: "int16", 10: "float16", 16: "bfloat16"},
    8: {2: "uint8", 3: "int8", 9: "bool", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz"}
    | {19: "float8_e5m2", 20: "float8_e5m2fnuz", 24: "float8_e8m0fnu"},
    6: {27: "float6_e2m3fn", 28: "float6_e3m2fn"},
    4: {21: "uint4", 22: "int4", 23: "float4_e2m1fn"},
    2: {25: "uint2", 26: "int2"},
}
_BITS = {number: bits for bits, names in _DTYPES_BY_BITS.items() for number in names}
_DTYPES = {n: name for names in _DTYPES_BY_BITS.values() for n, name in names.items()}
_TYPED_FIELDS = {
    **dict.fromkeys(("float32", "complex64"), "float_data"),
    **dict.fromkeys(("float64", "complex128"), "double_data"),
    **dict.fromkeys(("uint32", "uint64"), "uint64_data"),
    "int64": "int64_data",
}
_OTHERS_FIELD = "int32_data"
_ALL_TYPED_FIELDS = {*_TYPED_FIELDS.values(), _OTHERS_FIELD, "string_data"}
_PLACE_FIELDS = {"raw_data", "external_data", "data_location"}
_KEYS = ("location", "offset", "length", "checksum")  # of external data
_BYTE, _SINGLY = 8, 6  # bits; typed fields of 4 and 2 bits hold bytes, not elements
_MOST_DIMS = 1024
_MOST_DEEP = 100  # nested messages
_SMALL_INTEGERS = 1024  # bytes of INT32 and INT64; runtimes need them in the model
_STAYS = {"sparse_initializer", "sparse_tensor", "sparse_tensors"}  # inside the model
_STAYS |= {"training_info", "attribute_proto"}
_HOLDERS = {"Graph", "Function", "Node", "Attribute", "SparseTensor", "TrainingInfo"}
_NOT_NAMES = "(?i:con|prn|aux|nul|(com|lpt)[0-9])"  # devices, and then texts
_NOT_NAMES += "|LICEN[CS]E|NOTICE|COPYING|README|AUTHORS"


class ArchiveError(ValueError):
    """An archive is broken, or a model cannot become one."""


def require(holds: bool, rule: str, what: str) -> None:
    if not holds:
        raise ArchiveError(f"{what} (rule {rule} of the archive format)")


class Link(NamedTuple):
    """The place of a tensor's bytes in an archive."""

    location: str  # the name of an entry
    offset: int  # in the entry
    length: int


def is_external(tensor: TensorProto) -> bool:
    return bool(tensor.data_location == TensorProto.EXTERNAL)


def size_of(tensor: TensorProto) -> int | None:
    """Returns the bytes that type and dimensions need; None for an unknown type."""
    fits = len(tensor.dims) <= _MOST_DIMS and min(tensor.dims, default=0) >= 0
    count, bits = math.prod(tensor.dims) if fits else 0, _BITS.get(tensor.data_type)
    size = -(-count * (bits or 0) // 8)
    fits = fits and (bits is None or max(count, size) < 1 << 64)
    require(fits, "M17", f"the dimensions of {tensor.name!r} are not possible")
    return size if bits or not count else None


def external_data_of(tensor: TensorProto) -> tuple[str, int, int | None]:
    """Returns location, offset and length of a tensor's external data."""
    keys = [pair.key for pair in tensor.external_data]
    said = {pair.key: pair.value for pair in tensor.external_data}
    what = f"external data of tensor {tensor.name!r}"
    require(all(keys.count(k) <= 1 for k in _KEYS), "M10", f"{what}: two of a key")
    require(bool(said.get("location")), "M8", f"{what}: there is no location")
    for key, rule in (("offset", "M11"), ("length", "M12")):
        text = said.get(key, "0")
        is_number = isinstance(text, str) and re.fullmatch("0|[1-9][0-9]{0,19}", text)
        fits = bool(is_number) and int(text) < 1 << 64
        require(fits, rule, f"{what}: the {key} is {text!r}")
    length = int(said["length"]) if "length" in said else None
    return said["location"], int(said.get("offset", "0")), length


def set_external_data(tensor: TensorProto, link: Link) -> None:
    for key, value in zip(_KEYS, link, strict=False):
        tensor.external_data.add(key=key, value=str(value))


def shared_range(tensor: TensorProto, length: int) -> Link | None:
    """Returns the former place of a tensor's bytes, if it states one, to share them."""
    said = {pair.key: pair.value for pair in tensor.external_data}
    if "location" not in said or ("offset" not in said and tensor.HasField("raw_data")):
        return None  # such as what convert_model_to_external_data prepares
    return Link(said["location"], int(said.get("offset", "0")), length)


def array_of(tensor: TensorProto, data: memoryview) -> np.ndarray:
    """Returns these bytes as numpy_helper.to_array does, as a view if possible."""
    name, bits = _DTYPES.get(tensor.data_type, ""), _BITS.get(tensor.data_type, 0)
    require(bits > 0, "M19", f"{tensor.name!r} has an unknown type")
    if bits < _BYTE:  # NumPy has a byte for each element
        whole = TensorProto(data_type=tensor.data_type, dims=tensor.dims)
        whole.raw_data = bytes(data)
        return onnx.numpy_helper.to_array(whole)
    if name in np.sctypeDict:
        dtype = np.dtype(name)
    else:
        import ml_dtypes  # noqa: PLC0415 only these types need it

        dtype = np.dtype(getattr(ml_dtypes, name))
    array = np.frombuffer(data, dtype).reshape(tensor.dims)
    if not array.flags.aligned:  # a link may begin at any byte of an entry
        array = array.copy()
    return array if sys.byteorder == "little" else array.byteswap()


def typed_fields(tensor: TensorProto) -> list[str]:
    """Returns the typed fields in which a tensor has values."""
    return [name for name in _ALL_TYPED_FIELDS if len(getattr(tensor, name)) > 0]


def typed_bytes(tensor: TensorProto) -> bytes | None:
    """Returns typed data as raw_data; None if it does not convert exactly."""
    name, bits = _DTYPES.get(tensor.data_type, ""), _BITS.get(tensor.data_type, 0)
    field = _TYPED_FIELDS.get(name, _OTHERS_FIELD)
    if typed_fields(tensor) != [field]:
        return None
    values, size = getattr(tensor, field), size_of(tensor)
    if field in ("float_data", "double_data"):
        if len(values) * (4 if field == "float_data" else 8) != size:
            return None
        # A serialized field ends in its numbers. Python would change signalling NaNs.
        alone = TensorProto()
        alone.CopyFrom(tensor)
        alone.DiscardUnknownFields()
        for each, _ in tensor.ListFields():
            if each.name != field:
                alone.ClearField(each.name)
        return bytes(memoryview(alone.SerializeToString())[-size:])
    numbers = np.array(values, np.uint64 if field == "uint64_data" else np.int64)
    low, high = _range_of(name, bits)
    if not low <= int(numbers.min()) <= int(numbers.max()) <= high:
        return None
    data = numbers.astype(f"<u{max(bits // 8, 1)}")
    if bits == _SINGLY:
        if data.size != math.prod(tensor.dims):
            return None
        parts = np.unpackbits(data[:, np.newaxis], axis=1, count=6, bitorder="little")
        data = np.packbits(parts, bitorder="little")
    return data.tobytes() if data.nbytes == size else None


def _range_of(name: str, bits: int) -> tuple[int, int]:
    """Returns the least and greatest value of a typed field of integers."""
    if bits < _SINGLY:
        return -128, 255  # onnx 1.16 writes bytes of several elements with a sign
    if name == "bool":
        return 0, 1
    if name.startswith("int"):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def fields_without_data(tensor: TensorProto) -> list[tuple[Any, Any]]:
    """Returns the result of ListFields without the data, which it would copy."""
    skipped = _ALL_TYPED_FIELDS | _PLACE_FIELDS
    fields = [f for f in tensor.DESCRIPTOR.fields if f.name not in skipped]
    is_there = [not f.has_presence or tensor.HasField(f.name) for f in fields]
    return [
        (f, getattr(tensor, f.name)) for f, i in zip(fields, is_there, strict=True) if i
    ]


def tensors_in(field: Any, value: Any) -> list[Any]:
    """Returns the messages in a field that are tensors or may hold some."""
    kind = field.message_type.name[: -len("Proto")] if field.message_type else ""
    if kind not in _HOLDERS and kind != "Tensor":
        return []
    return [value] if isinstance(value, Message) else list(value)


def doubled_tensors(graph: GraphProto | FunctionProto) -> Iterator[TensorProto]:
    """Yields tensors whose name initializers or Constant nodes define twice in a graph.

    Runtimes choose one by where its data is, so it stays inside or outside the model.
    """
    nodes = [node for node in graph.node if node.op_type == "Constant"]
    tensors: list[TensorProto] = []
    if isinstance(graph, GraphProto):
        tensors = [*graph.initializer, *(e.values for e in graph.sparse_initializer)]
    names = [e.name for e in tensors] + [name for node in nodes for name in node.output]
    twice = {name for name, n in collections.Counter(names).items() if name and n > 1}
    for node in graph.node if twice else ():
        if node.op_type != "Constant":  # a second definition that runtimes refuse
            twice.difference_update(node.output)
    yield from (each for each in tensors if each.name in twice)
    for attribute in (
        a for n in nodes if not twice.isdisjoint(n.output) for a in n.attribute
    ):
        yield from (attribute.t, *attribute.tensors, attribute.sparse_tensor.values)
        yield from (each.values for each in attribute.sparse_tensors)


def external_tensors(message: Message) -> tuple[list[TensorProto], dict[int, Any]]:
    """Returns the tensors with external data; by id, those with a doubled name."""
    tensors: list[TensorProto] = []
    doubled: dict[int, Any] = {}
    if isinstance(message, (GraphProto, FunctionProto)):
        doubled = {id(each): each for each in doubled_tensors(message)}
    for each in (e for f, v in message.ListFields() for e in tensors_in(f, v)):
        if not isinstance(each, TensorProto):
            inner, more = external_tensors(each)
            tensors += inner
            doubled |= more
        elif is_external(each):
            tensors.append(each)
    return tensors, doubled


class EntryNames:
    """Makes names of entries: C identifiers that are not taken in any case."""

    def __init__(self, taken: str) -> None:
        self._taken, self._counters = {taken.lower()}, dict[str, int]()

    def make(self, name: str) -> str:
        stem = re.sub(rb"[^A-Za-z0-9_]", b"_", name.encode()[:200]).decode() or "tensor"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        is_reserved = re.match(f"__[A-Z]|({_NOT_NAMES})$", stem)
        stem = (f"t_{stem}" if is_reserved else stem)[:200]
        key, folded = stem, stem.lower()
        while key.lower() in self._taken:
            self._counters[folded] = self._counters.get(folded, 1) + 1
            key = f"{stem}_{self._counters[folded]}"
        self._taken.add(key.lower())
        return key


class Splitter:
    """Copies a model, and hands out the data of tensors that become entries."""

    def __init__(
        self,
        threshold: int,
        data: Callable[[TensorProto], Data] | None,
        add: Callable[[str, Data], str],  # takes a tensor's name, returns the entry's
    ) -> None:
        self._threshold, self._data, self._add = threshold, data, add
        self._doubled = dict[int, TensorProto]()
        self._shared = dict[Link, tuple[TensorProto, Link]]()

    def copy(self, source: Any, target: Any, depth: int = 0, may: bool = True) -> None:
        """Copies a message without the data of the tensors that become entries."""
        if isinstance(source, (GraphProto, FunctionProto)):
            self._doubled.update((id(each), each) for each in doubled_tensors(source))
        if isinstance(source, TensorProto):
            is_copied = not self._place(source, target, may and depth < _MOST_DEEP)
            fields = [] if is_copied else fields_without_data(source)
        else:
            fields = source.ListFields()
            is_copied = not any(tensors_in(field, value) for field, value in fields)
        if is_copied:
            target.CopyFrom(source)
            return
        if len(UnknownFieldSet(source)) > 0:
            raise ArchiveError("the model has fields of a newer onnx than this one")
        for field, value in fields:
            made = getattr(target, field.name)
            inner_may = may and field.name not in _STAYS
            if isinstance(value, Message):
                made.SetInParent()
                self.copy(value, made, depth + 1, inner_may)
            elif field.message_type is not None:
                for each in value:
                    self.copy(each, made.add(), depth + 1, inner_may)
            elif hasattr(value, "MergeFrom"):
                made.MergeFrom(value)
            else:
                setattr(target, field.name, value)

    def _place(self, source: TensorProto, target: TensorProto, may: bool) -> bool:
        """Puts the data of a tensor where it belongs; if not, copy it as it is."""
        size, least = size_of(source), self._least(source, may)
        is_outside = is_external(source)
        if not is_outside and not source.HasField("raw_data") and (size or 0) < least:
            return False
        data = self._read(source)
        if is_outside:
            what = f"tensor {source.name!r} has {len(data or b'')} of {size} bytes"
            require(data is not None and size in (None, len(data)), "M18", what)
        if data is not None and len(data) >= least and size in (None, len(data)):
            set_external_data(target, self._link(source, data))
            target.data_location = TensorProto.EXTERNAL
        elif is_outside:
            target.raw_data = bytes(data or b"")
        else:
            return False
        return True

    def _least(self, tensor: TensorProto, may: bool) -> int:
        """Returns the least number of bytes of a tensor that becomes an entry."""
        if id(tensor) in self._doubled:
            was_outside = is_external(tensor) or shared_range(tensor, 0)
            return 1 if was_outside else sys.maxsize
        if not may or tensor.HasField("segment"):
            return sys.maxsize
        is_small = tensor.data_type in (TensorProto.INT32, TensorProto.INT64)
        return max(self._threshold, _SMALL_INTEGERS if is_small else 1)

    def _read(self, tensor: TensorProto) -> Data | None:
        """Returns the bytes of a tensor; None if raw_data cannot hold them."""
        if tensor.HasField("raw_data"):
            is_clear = is_external(tensor) or not typed_fields(tensor)
            return tensor.raw_data if is_clear else None
        if not is_external(tensor):
            return typed_bytes(tensor)
        if self._data is None:
            raise ArchiveError(f"load the external data of {tensor.name!r} first")
        return self._data(tensor)

    def _link(self, tensor: TensorProto, data: Data) -> Link:
        """Adds an entry, unless bytes that were shared have one."""
        shared = shared_range(tensor, len(data))
        if shared in self._shared:
            first, link = self._shared[shared]
            if self._read(first) == data:
                return link
        link = Link(self._add(tensor.name, data), 0, len(data))
        if shared:
            self._shared[shared] = (tensor, link)
        return link

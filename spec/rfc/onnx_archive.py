# Copyright (c) ONNX Project Contributors
#
# SPDX-License-Identifier: Apache-2.0
"""ONNX archives: a model and all its weights in one zip file, ready to be mapped.

    save(model, "model.onnxar")        # tensors of 1024 bytes or more become entries
    archive = Archive("model.onnxar")  # maps the file and reads its directory
    model = archive.model()            # linked tensors name entries and have no data
    values = archive.array(tensor)     # a NumPy array in the file, without a copy
    archive.load_tensors(model)        # an ordinary ModelProto with all its data

Entries are stored without compression at multiples of 64 bytes; `__MODEL_PROTO` is the
model. `Archive` checks what the format demands of a loader. Errors name its rules.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import secrets
import struct
import zlib
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx.onnx_pb import ModelProto, TensorProto

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "__MODEL_PROTO"
_NONE_16, _NONE_32 = 0xFFFF, 0xFFFFFFFF  # the value is in a zip64 record
_ZIP64, _PADDING, _ALIGNMENT = 1, 0xD935, 0xA11E  # extra fields
_LOCAL = struct.Struct("<4s5H3I2H")
_HEADER = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_ZIP64_END = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_SIZES = struct.Struct("<2Q")

# What NumPy has for an element in raw_data, by the number of its type: unsigned numbers
# for types that it lacks, and bytes of several elements for those below 8 bits.
_NAMES = "- f4 u1 i1 u2 i2 i4 i8 - ? f2 f8 u4 u8 c8 c16 u2" + " u1" * 12
_DTYPES = {i: np.dtype(f"<{n}") for i, n in enumerate(_NAMES.split()) if n != "-"}
_MOST_DIMS = 1024
_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}
_INNER = {"Graph", "Function", "Node", "Attribute", "SparseTensor", "Tensor"}
_INNER |= {"TrainingInfo"}  # messages that are tensors or may hold some
_KEYS = ("location", "offset", "length", "checksum")  # of external data
_STAYS = {"sparse_initializer", "sparse_tensor", "sparse_tensors"}  # inside the model
_STAYS |= {"training_info", "attribute_proto"}
_FILES = "(?i:con|prn|aux|nul|(com|lpt)[0-9])|LICEN[CS]E|NOTICE|COPYING|README|AUTHORS"
_PLACED = {"raw_data", "external_data", "data_location"}


class ArchiveError(ValueError):
    """An archive is broken, or a model cannot become one."""


def _require(holds: bool, rule: str, what: str) -> None:
    if not holds:
        raise ArchiveError(f"{what} (rule {rule} of the archive format)")


class Archive:
    """The entries of an archive by name: read-only views of the mapped file.

    The file may be renamed and removed while it is mapped, but not changed in place.
    """

    def __init__(self, source: str | os.PathLike[str] | bytes) -> None:
        if isinstance(source, bytes):
            self._file = memoryview(source)
        else:
            with open(source, "rb") as file:
                _require(os.stat(file.fileno()).st_size > 0, "E1", "the file is empty")
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._file = memoryview(mapped)
        count, begin, end = self._read_end()
        at, entries = begin, []
        for _ in range(count):
            name, offset, size, at = self._read_header(at, end)
            entries.append((name, offset, size))
        _require(at == end, "E10", "the directory is longer than its entries")
        _require(entries[0][1] == 0, "P1", "the first entry is not at the file's start")
        limits = [*(offset for _, offset, _ in entries[1:]), begin]
        self.entries: dict[str, tuple[int, int, int]] = {}
        for (name, offset, size), limit in zip(entries, limits, strict=True):
            fits = offset + _LOCAL.size + len(name) + size <= limit
            _require(fits, "P3", f"the entry {name!r} overlaps what follows it")
            self.entries[name] = (offset, size, limit)
        _require(len(self.entries) == count, "N10", "two entries have the same name")
        _require(MODEL in self.entries, "P6", f"there is no entry {MODEL}")

    def __getitem__(self, name: str) -> memoryview:
        begin = self.offset(name)
        return self._file[begin : begin + self.entries[name][1]]

    def offset(self, name: str) -> int:
        """Where in the file the bytes of an entry begin; checks its local header."""
        offset, size, limit = self.entries[name]
        fields = _LOCAL.unpack_from(self._file, offset)
        extra_at = offset + _LOCAL.size + fields[9]
        data_at: int = extra_at + fields[10]
        _require(fields[0] == b"PK\3\4", "L1", f"{name!r} has no local header")
        _require(data_at + size <= limit, "P3", f"the data of {name!r} leaves its room")
        is_same = self._file[offset + _LOCAL.size : extra_at] == name.encode()
        _require(is_same, "L2", f"the local header of {name!r} has another name")
        own, field = fields[7:9], self._read_extra(extra_at, data_at, name).get(_ZIP64)
        fits = _NONE_32 not in own if field is None else len(field) == _SIZES.size
        _require(fits, "L7", f"the zip64 field in {name!r}'s local header does not fit")
        wide = own if field is None else _SIZES.unpack(field)
        is_same = wide == (size, size) and set(own) <= {_NONE_32, size}
        _require(is_same, "L8", f"the local header of {name!r} has another size")
        return data_at

    def model(self, graph: str = MODEL) -> ModelProto:
        """The model as it is stored: linked tensors name entries and have no data.

        `graph` is the entry of another model over the same weights: `unet/model.onnx`.
        """
        model, data = ModelProto(), bytes(self[graph])
        is_whole = model.ParseFromString(data) == len(data)
        _require(is_whole, "M1", f"{graph!r} is not a serialized ModelProto")
        return model

    def data(self, tensor: TensorProto) -> memoryview:
        """The bytes of a linked tensor."""
        what = f"tensor {tensor.name!r}"
        _require(tensor.data_type != 0, "M19", f"{what} has no data type")
        _require(tensor.data_type != TensorProto.STRING, "M15", f"{what} links strings")
        size, (location, offset, length) = _size(tensor), _link(tensor)
        _require(location in self.entries, "M9", f"{what}: no entry {location!r}")
        data = self[location]
        if length is None:
            length = max(len(data) - offset, 0) if size is None else size
        _require(size in (None, length), "M18", f"{what} has {length} of {size} bytes")
        fits = offset + length <= len(data)
        _require(fits, "M13", f"{what} does not lie in the entry {location!r}")
        return data[offset : offset + length]

    def array(self, tensor: TensorProto) -> np.ndarray:
        """The values in the mapped file: bits, flat below 8, of types that NumPy lacks."""
        data, dtype = self.data(tensor), _DTYPES.get(tensor.data_type)
        _require(dtype is not None, "M19", f"{tensor.name!r} has an unknown type")
        shape = (-1,) if tensor.data_type in _BITS else tuple(tensor.dims)
        return np.frombuffer(data, dtype).reshape(shape)

    def load_tensors(self, message: Message) -> None:
        """Takes the data of all linked tensors of a model into the model."""
        for each in (e for f, v in message.ListFields() for e in _inner(f, v)):
            if not isinstance(each, TensorProto):
                self.load_tensors(each)
            elif each.data_location == TensorProto.EXTERNAL:
                each.raw_data = bytes(self.data(each))
                each.ClearField("external_data")
                each.ClearField("data_location")

    def _read_end(self) -> tuple[int, int, int]:
        """The number of entries, and where the directory begins and ends."""
        at = end = len(self._file) - _END.size
        _require(at >= 0, "E1", "the file is too short for an archive")
        signature, *own, comment = _END.unpack_from(self._file, at)
        is_end = signature == b"PK\5\6" and comment == 0
        _require(is_end, "E1", "the last 22 bytes are not a zip end record")
        count, size, offset = own[3:]
        locator_at = at - _LOCATOR.size
        locator = _LOCATOR.unpack_from(self._file, max(locator_at, 0))
        if locator_at >= 0 and locator[0] == b"PK\6\7":
            end = locator_at - _ZIP64_END.size
            _require(end >= 0 and locator[2] == end, "E5", "the zip64 locator is wrong")
            record = _ZIP64_END.unpack_from(self._file, end)
            is_record = record[:2] == (b"PK\6\6", 44) and record[3] in range(10, 46)
            _require(is_record, "E6", "the zip64 end record is missing")
            agree = count in (_NONE_16, record[7]) and size in (_NONE_32, record[8])
            agree = agree and offset in (_NONE_32, record[9])
            _require(agree, "E7", "the two end records disagree")
            count, size, offset = record[7:]
        else:
            is_narrow = count != _NONE_16 and _NONE_32 not in (size, offset)
            _require(is_narrow, "E5", "the zip64 locator is missing")
        _require(offset + size == end, "E8", "the directory ends elsewhere")
        fits = 0 < count <= size // _HEADER.size
        _require(fits, "E10", "the directory does not have this number of entries")
        return count, offset, end

    def _read_header(self, at: int, end: int) -> tuple[str, int, int, int]:
        """Name, offset and size of an entry, and where the next header begins."""
        _require(at + _HEADER.size <= end, "D1", f"the header at {at} is cut off")
        fields = _HEADER.unpack_from(self._file, at)
        _require(fields[0] == b"PK\1\2", "D1", f"there is no directory header at {at}")
        extra_at = at + _HEADER.size + fields[10]
        end_of_extra = extra_at + fields[11]
        next_at = end_of_extra + fields[12]
        _require(next_at <= end, "D1", f"the directory header at {at} is cut off")
        name = str(self._file[at + _HEADER.size : extra_at], "latin-1")
        is_portable = re.fullmatch(r'[^\0-\x1F\x7F-\xFF\\:*?"<>|;]*', name)
        _require(is_portable is not None, "N14", f"the name {name!r} is not portable")
        is_free = name == MODEL or not re.match("__[A-Z]", name)
        _require(is_free, "N13", f"the name {name!r} needs a newer reader")
        _require(fields[3] & 0x2041 == 0, "D2", f"{name!r} is encrypted")
        _require(fields[3] & 8 == 0, "D3", f"{name!r} has a data descriptor")
        _require(fields[4] == 0, "D5", f"{name!r} is compressed")
        extra = self._read_extra(extra_at, end_of_extra, name)
        is_known = extra.keys() <= {_ZIP64, _ALIGNMENT}
        _require(is_known, "D11", f"{name!r} has an unknown extra field")
        own, field = [fields[9], fields[8], fields[16]], extra.get(_ZIP64, b"")
        count = own.count(_NONE_32)
        if len(field) == 8 * count:  # the numbers that do not fit the header
            wide = list(struct.unpack(f"<{count}Q", field))
            values = [wide.pop(0) if value == _NONE_32 else value for value in own]
        else:  # all three, and perhaps the number of the disk
            values = list(struct.unpack("<3Q", field[:24].ljust(24)))
            fits = len(field) in (24, 28) and not any(field[24:])
            fits = fits and own == [_NONE_32] * count + values[count:]
            _require(fits, "D13", f"the zip64 field of {name!r} does not fit")
        _require(values[0] == values[1], "D14", f"{name!r} has two sizes")
        return name, values[2], values[0], next_at

    def _read_extra(self, at: int, end: int, name: str) -> dict[int, bytes]:
        fields: dict[int, bytes] = {}
        while at < end:
            key, size = struct.unpack("<2H", self._file[at : at + 4].tobytes().ljust(4))
            _require(at + 4 + size <= end, "D10", f"extra fields of {name!r} are cut")
            _require(key not in fields, "D12", f"{name!r} has an extra field twice")
            fields[key] = bytes(self._file[at + 4 : at + 4 + size])
            at += 4 + size
        return fields


def _size(tensor: TensorProto) -> int | None:
    """The bytes that type and dimensions need; None for a type that is not known."""
    fits = len(tensor.dims) <= _MOST_DIMS and min(tensor.dims, default=0) >= 0
    dtype, count = _DTYPES.get(tensor.data_type), math.prod(tensor.dims) if fits else 0
    bits = _BITS.get(tensor.data_type, 8 * dtype.itemsize if dtype else 0)
    size = -(-count * bits // 8)
    fits = fits and (dtype is None or max(count, size) < 1 << 64)
    _require(fits, "M17", f"the dimensions of {tensor.name!r} are not possible")
    return size if dtype or not count else None


def _link(tensor: TensorProto) -> tuple[str, int, int | None]:
    """Location, offset and length of external data."""
    keys = [pair.key for pair in tensor.external_data]
    said = {pair.key: pair.value for pair in tensor.external_data}
    what = f"external data of tensor {tensor.name!r}"
    _require(all(keys.count(k) <= 1 for k in _KEYS), "M10", f"{what}: two of a key")
    _require(bool(said.get("location")), "M8", f"{what}: there is no location")
    for key, rule in (("offset", "M11"), ("length", "M12")):
        text = said.get(key, "0")
        is_number = isinstance(text, str) and re.fullmatch("0|[1-9][0-9]{0,19}", text)
        fits = bool(is_number) and int(text) < 1 << 64
        _require(fits, rule, f"{what}: the {key} is {text!r}")
    length = int(said["length"]) if "length" in said else None
    return said["location"], int(said.get("offset", "0")), length


def _inner(field: Any, value: Any) -> list[Any]:
    """The messages in a field that are tensors or may hold some."""
    if field.message_type is None or field.message_type.name[:-5] not in _INNER:
        return []
    return [value] if isinstance(value, Message) else list(value)


def save(
    model: ModelProto,
    f: str | os.PathLike[str] | IO[bytes],
    size_threshold: int = 1024,
    data: Callable[[TensorProto], bytes | memoryview] | None = None,
) -> None:
    """Writes a model of any size; needs memory for one tensor, and leaves the model.

    Tensors of `size_threshold` bytes or more become entries. `data` gives the bytes of
    tensors whose external data is not in the model, such as `Archive.data`.
    """
    if not isinstance(f, (str, os.PathLike)):
        _Writer(f, size_threshold, data).write(model)
        return
    temporary = f"{os.path.abspath(f)}.{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            _Writer(file, size_threshold, data).write(model)
        os.replace(temporary, f)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _zip64(values: list[int]) -> bytes:
    """The extra field for numbers of 64 bits."""
    form = f"<2H{len(values)}Q"
    return struct.pack(form, _ZIP64, 8 * len(values), *values) if values else b""


class _Writer:
    def __init__(self, file: IO[bytes], threshold: int, data: Any) -> None:
        self._file, self._threshold, self._data = file, threshold, data
        self._at, self._headers = 0, list[bytes]()
        self._taken, self._counters = {MODEL.lower()}, dict[str, int]()

    def write(self, model: ModelProto) -> None:
        skeleton = ModelProto()
        self._copy(model, skeleton, True)
        data = skeleton.SerializeToString(deterministic=True)
        _require(len(data) < 1 << 31, "P8", "the model without its weights has 2 GiB")
        self._add(MODEL, data)
        count, begin = len(self._headers), self._at
        self._put(b"".join(self._headers))
        end = self._at
        numbers = (count, count, end - begin, begin)
        if count >= _NONE_16 or max(numbers) >= _NONE_32:
            self._put(_ZIP64_END.pack(b"PK\6\6", 44, 45, 45, 0, 0, *numbers))
            self._put(_LOCATOR.pack(b"PK\6\7", 0, end, 1))
            numbers = (_NONE_16, _NONE_16, _NONE_32, _NONE_32)
        self._put(_END.pack(b"PK\5\6", 0, 0, *numbers, 0))

    def _put(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._at += len(data)

    def _add(self, name: str, data: bytes | memoryview) -> None:
        key, offset, size, crc = name.encode(), self._at, len(data), zlib.crc32(data)
        sizes = [size, size] if size >= _NONE_32 else []
        values = [*sizes, offset] if offset >= _NONE_32 else sizes
        alignment = 4096 if size >= 1 << 20 else 64
        extra, more = _zip64(sizes), _zip64(values)
        zeros = -(offset + _LOCAL.size + len(key) + len(extra) + 6) % alignment
        extra += struct.pack("<3H", _PADDING, 2 + zeros, alignment) + bytes(zeros)
        version, small = 45 if values else 10, min(size, _NONE_32)
        common = (version, 0, 0, 0, 0x21, crc, small, small, len(key))
        self._put(_LOCAL.pack(b"PK\3\4", *common, len(extra)) + key + extra)
        self._put(data)
        last = (len(more), 0, 0, 0, 0, min(offset, _NONE_32))
        header = _HEADER.pack(b"PK\1\2", version, *common, *last)
        self._headers.append(header + key + more)

    def _copy(self, source: Any, target: Any, may: bool) -> None:
        """Copies a message without the data of the tensors that become entries."""
        fields = source.ListFields()
        is_tensor = isinstance(source, TensorProto)
        is_placed = is_tensor and self._place(source, target, may)
        if not is_placed and not any(_inner(field, value) for field, value in fields):
            target.CopyFrom(source)
            return
        _require(not len(UnknownFieldSet(source)), "W8", "fields of a newer onnx")
        for field, value in fields:
            made = getattr(target, field.name)
            inner_may = may and field.name not in _STAYS
            if is_placed and field.name in _PLACED:
                continue
            if isinstance(value, Message):
                made.SetInParent()
                self._copy(value, made, inner_may)
            elif field.message_type is not None:
                for each in value:
                    self._copy(each, made.add(), inner_may)
            elif hasattr(value, "MergeFrom"):
                made.MergeFrom(value)
            else:
                setattr(target, field.name, value)

    def _place(self, source: TensorProto, target: TensorProto, may: bool) -> bool:
        """Puts the data of a tensor where it belongs; if not, copy it as it is."""
        is_external = source.data_location == TensorProto.EXTERNAL
        data: bytes | memoryview = source.raw_data
        if is_external and not source.HasField("raw_data"):
            if self._data is None:
                raise ArchiveError(f"load the external data of {source.name!r} first")
            data = self._data(source)
        is_small = source.data_type in (TensorProto.INT32, TensorProto.INT64)
        least = max(self._threshold, 1024 if is_small else 1)
        moves = may and len(data) >= least and not source.HasField("segment")
        if moves and _size(source) in (None, len(data)):
            name = self._key(source.name)
            self._add(name, data)
            target.data_location = TensorProto.EXTERNAL
            for key, value in zip(_KEYS[:3], (name, "0", str(len(data))), strict=True):
                target.external_data.add(key=key, value=value)
        elif is_external:
            target.raw_data = bytes(data)
        else:
            return False
        return True

    def _key(self, name: str) -> str:
        """A C identifier that is not taken in any case, nor a device or text file."""
        stem = re.sub(rb"[^A-Za-z0-9_]", b"_", name.encode()[:200]).decode() or "tensor"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        stem = (f"t_{stem}" if re.match(f"__[A-Z]|({_FILES})$", stem) else stem)[:200]
        key, folded = stem, stem.lower()
        while key.lower() in self._taken:
            self._counters[folded] = self._counters.get(folded, 1) + 1
            key = f"{stem}_{self._counters[folded]}"
        self._taken.add(key.lower())
        return key

# Copyright (c) ONNX Project Contributors
#
# SPDX-License-Identifier: Apache-2.0
"""ONNX archives: a model and all its weights in one zip file, ready to be mapped.

    save(model, "model.onnxar")       # tensors of 1024 bytes or more become entries
    with Archive("model.onnxar") as archive:  # maps the file, reads its directory
        model = archive.model()       # linked tensors name entries and have no data
        values = archive.array(model.graph.initializer[0])  # lies in the mapped file
        archive.load_tensors(model)   # now an ordinary ModelProto with all its data

Entries are stored without compression at multiples of 64 bytes; `__MODEL_PROTO` is the
model. `Archive` checks what the format demands of a loader. Errors name its rules.
"""

from __future__ import annotations

import collections
import contextlib
import io
import mmap
import os
import re
import secrets
import shutil
import struct
import weakref
import zlib
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from google.protobuf.message import DecodeError, Message

import onnx.numpy_helper
from onnx_archive_tensors import (
    ArchiveError,
    EntryNames,
    Link,
    Splitter,
    array_of,
    external_data_of,
    external_tensors,
    is_external,
    require,
    set_external_data,
    size_of,
)
from onnx.onnx_pb import ModelProto, TensorProto

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

MODEL = "__MODEL_PROTO"
_NONE_16, _NONE_32 = 0xFFFF, 0xFFFFFFFF  # the value is in a zip64 record
_ZIP64, _PADDING, _ALIGNMENT = 1, 0xD935, 0xA11E  # extra fields
_LOCAL = struct.Struct("<4s5H3I2H")
_HEADER = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_ZIP64_END = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_SIZES = struct.Struct("<2Q")


class Entry(NamedTuple):
    """The place of an entry in the file."""

    offset: int  # of its local header
    size: int  # of its data
    limit: int  # where the next entry or the directory begins


class Archive:
    """The entries of an archive by name: read-only views of the mapped file.

    The file may be renamed and removed while it is mapped, but not changed in place.
    """

    def __init__(self, source: str | os.PathLike[str] | bytes) -> None:
        if isinstance(source, bytes):
            self._file, self._descriptor = memoryview(source), -1
        else:
            with open(source, "rb") as file:
                require(os.stat(file.fileno()).st_size > 0, "E1", "the file is empty")
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._descriptor = os.dup(file.fileno())
            self._close = weakref.finalize(self, os.close, self._descriptor)
            self._file = memoryview(mapped)
        count, begin, end = self._read_end()
        at, headers = begin, []
        for _ in range(count):
            name, offset, size, at = self._read_header(at, end)
            headers.append((name, offset, size))
        require(at == end, "E10", "the directory is longer than its entries")
        require(headers[0][1] == 0, "P1", "the first entry is not at the file's start")
        limits = [*(offset for _, offset, _ in headers[1:]), begin]
        self.entries: dict[str, Entry] = {}
        for (name, offset, size), limit in zip(headers, limits, strict=True):
            fits = offset + _LOCAL.size + len(name) + size <= limit
            require(fits, "P3", f"the entry {name!r} overlaps what follows it")
            self.entries[name] = Entry(offset, size, limit)
        require(len(self.entries) == count, "N10", "two entries have the same name")
        require(MODEL in self.entries, "P6", f"there is no entry {MODEL}")

    def __enter__(self) -> Archive:  # noqa: PYI034
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the use of the archive. Arrays stay valid, and keep the file mapped."""
        self._file.release()
        if self._descriptor >= 0:
            self._close()

    def __getitem__(self, name: str) -> memoryview:
        begin = self.offset(name)
        return self._file[begin : begin + self.entries[name].size]

    def offset(self, name: str) -> int:
        """Checks an entry's local header. Returns the offset of its bytes."""
        offset, size, limit = self.entries[name]
        local = _LOCAL.unpack_from(self._file, offset)
        signature, *_, compressed, uncompressed, name_length, extra_length = local
        extra_at = offset + _LOCAL.size + name_length
        data_at: int = extra_at + extra_length
        require(signature == b"PK\3\4", "L1", f"{name!r} has no local header")
        require(data_at + size <= limit, "P3", f"the data of {name!r} leaves its room")
        is_same = self._file[offset + _LOCAL.size : extra_at] == name.encode()
        require(is_same, "L2", f"the local header of {name!r} has another name")
        own = (compressed, uncompressed)
        field = self._read_extra(extra_at, data_at, name).get(_ZIP64)
        fits = _NONE_32 not in own if field is None else len(field) == _SIZES.size
        require(fits, "L7", f"the zip64 field in {name!r}'s local header does not fit")
        wide = own if field is None else _SIZES.unpack(field)
        is_same = wide == (size, size) and set(own) <= {_NONE_32, size}
        require(is_same, "L8", f"the local header of {name!r} has another size")
        return data_at

    def model(self, graph: str = MODEL) -> ModelProto:
        """Returns the stored model: linked tensors name entries and have no data.

        `graph` is the entry of another model over the same weights: `unet/model.onnx`.
        """
        model, data = ModelProto(), bytes(self[graph])
        is_whole = model.ParseFromString(data) == len(data)
        require(is_whole, "M1", f"{graph!r} is not a serialized ModelProto")
        return model

    def data(self, tensor: TensorProto) -> memoryview:
        """Returns the bytes of a linked tensor."""
        location, offset, length = self._find(tensor)
        return self[location][offset : offset + length]

    def array(self, tensor: TensorProto) -> np.ndarray:
        """Returns an array, as numpy_helper.to_array does. Linked data is a view.

        It copies types below 8 bits, and data that is not aligned to its elements.
        """
        if not is_external(tensor):
            return onnx.numpy_helper.to_array(tensor)
        return array_of(tensor, self.data(tensor))

    def load_tensors(self, message: Message) -> None:
        """Copies the data of all linked tensors of a model into the model.

        Tensors that share bytes, or whose name a graph has twice, keep `external_data`:
        it tells `save` what was shared, and what was outside the model.
        """
        tensors, doubled = external_tensors(message)
        links = [self._find(each) for each in tensors]
        counts = collections.Counter(links)
        for tensor, link in zip(tensors, links, strict=True):
            tensor.raw_data = self._copy(link)
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            if link.length and (counts[link] > 1 or id(tensor) in doubled):
                set_external_data(tensor, link)

    def _copy(self, link: Link) -> bytes:
        """Returns the bytes of a link, read because mapping their pages costs more."""
        view = self[link.location][link.offset : link.offset + link.length]
        if self._descriptor >= 0 and hasattr(os, "pread"):
            begin = self.offset(link.location) + link.offset
            data = os.pread(self._descriptor, link.length, begin)
            if len(data) == link.length:  # Linux reads at most 2 GiB at once
                return data
        return bytes(view)

    def _find(self, tensor: TensorProto) -> Link:
        """Returns the place of the bytes of a linked tensor."""
        what = f"tensor {tensor.name!r}"
        require(tensor.data_type != 0, "M19", f"{what} has no data type")
        require(tensor.data_type != TensorProto.STRING, "M15", f"{what} links strings")
        size, (location, offset, length) = size_of(tensor), external_data_of(tensor)
        require(location in self.entries, "M9", f"{what}: no entry {location!r}")
        most = self.entries[location].size
        if length is None:
            length = max(most - offset, 0) if size is None else size
        require(size in (None, length), "M18", f"{what} has {length} of {size} bytes")
        fits = offset + length <= most
        require(fits, "M13", f"{what} does not lie in the entry {location!r}")
        return Link(location, offset, length)

    def _read_end(self) -> tuple[int, int, int]:
        """Returns the number of entries, and where the directory begins and ends."""
        at = end = len(self._file) - _END.size
        require(at >= 0, "E1", "the file is too short for an archive")
        signature, *_, count, size, offset, comment = _END.unpack_from(self._file, at)
        is_end = signature == b"PK\5\6" and comment == 0
        require(is_end, "E1", "the last 22 bytes are not a zip end record")
        locator_at = at - _LOCATOR.size
        signature, _, record_at, _ = _LOCATOR.unpack_from(
            self._file, max(locator_at, 0)
        )
        if locator_at >= 0 and signature == b"PK\6\7":
            end = locator_at - _ZIP64_END.size
            require(end >= 0 and record_at == end, "E5", "the zip64 locator is wrong")
            record = _ZIP64_END.unpack_from(self._file, end)
            signature, record_size, _, version, *_ = record
            is_record = (signature, record_size) == (b"PK\6\6", 44)
            is_record = is_record and version in range(10, 46)
            require(is_record, "E6", "the zip64 end record is missing")
            agree = count in (_NONE_16, record[7]) and size in (_NONE_32, record[8])
            agree = agree and offset in (_NONE_32, record[9])
            require(agree, "E7", "the two end records disagree")
            count, size, offset = record[7:]
        else:
            is_narrow = count != _NONE_16 and _NONE_32 not in (size, offset)
            require(is_narrow, "E5", "the zip64 locator is missing")
        require(offset + size == end, "E8", "the directory ends elsewhere")
        fits = 0 < count <= size // _HEADER.size
        require(fits, "E10", "the directory does not have this number of entries")
        return count, offset, end

    def _read_header(self, at: int, end: int) -> tuple[str, int, int, int]:
        """Returns an entry's name, offset and size, and the next header's offset."""
        require(at + _HEADER.size <= end, "D1", f"the header at {at} is cut off")
        header = _HEADER.unpack_from(self._file, at)
        signature, _, _, flags, method, _, _, _, compressed, size, *lengths = header
        name_length, extra_length, comment_length, _, _, _, offset = lengths
        require(signature == b"PK\1\2", "D1", f"there is no directory header at {at}")
        extra_at = at + _HEADER.size + name_length
        end_of_extra = extra_at + extra_length
        next_at = end_of_extra + comment_length
        require(next_at <= end, "D1", f"the directory header at {at} is cut off")
        name = str(self._file[at + _HEADER.size : extra_at], "latin-1")
        is_portable = re.fullmatch(r'[^\0-\x1F\x7F-\xFF\\:*?"<>|;]*', name)
        require(is_portable is not None, "N14", f"the name {name!r} is not portable")
        is_free = name == MODEL or not re.match("__[A-Z]", name)
        require(is_free, "N13", f"the name {name!r} needs a newer reader")
        require(flags & 0x2041 == 0, "D2", f"{name!r} is encrypted")
        require(flags & 8 == 0, "D3", f"{name!r} has a data descriptor")
        require(method == 0, "D5", f"{name!r} is compressed")
        extra = self._read_extra(extra_at, end_of_extra, name)
        is_known = extra.keys() <= {_ZIP64, _ALIGNMENT}
        require(is_known, "D11", f"{name!r} has an unknown extra field")
        own, field = [size, compressed, offset], extra.get(_ZIP64, b"")
        count = own.count(_NONE_32)
        if len(field) == 8 * count:  # the numbers that do not fit the header
            wide = list(struct.unpack(f"<{count}Q", field))
            values = [wide.pop(0) if value == _NONE_32 else value for value in own]
        else:  # all three, and perhaps the number of the disk
            values = list(struct.unpack("<3Q", field[:24].ljust(24)))
            fits = len(field) in (24, 28) and not any(field[24:])
            fits = fits and own == [_NONE_32] * count + values[count:]
            require(fits, "D13", f"the zip64 field of {name!r} does not fit")
        require(values[0] == values[1], "D14", f"{name!r} has two sizes")
        return name, values[2], values[0], next_at

    def _read_extra(self, at: int, end: int, name: str) -> dict[int, bytes]:
        fields: dict[int, bytes] = {}
        while at < end:
            key, size = struct.unpack("<2H", self._file[at : at + 4].tobytes().ljust(4))
            require(at + 4 + size <= end, "D10", f"extra fields of {name!r} are cut")
            require(key not in fields, "D12", f"{name!r} has an extra field twice")
            fields[key] = bytes(self._file[at + 4 : at + 4 + size])
            at += 4 + size
        return fields


def save(
    model: ModelProto,
    f: str | os.PathLike[str] | IO[bytes],
    size_threshold: int = 1024,
    data: Callable[[TensorProto], bytes | memoryview] | None = None,
) -> None:
    """Writes a model of any size; needs memory for one tensor, and leaves the model.

    Tensors of `size_threshold` bytes or more become entries. `data` returns the bytes of
    tensors whose external data is not in the model, such as `Archive.data`. A file is
    replaced only when the new one is complete, and keeps its owner and mode. An archive
    that holds more than a model and its tensors is not replaced: remove it first.
    """
    if size_threshold < 0:
        raise ValueError(f"size_threshold is {size_threshold}; it must not be negative")
    if not isinstance(f, (str, os.PathLike)):
        _Writer(f, size_threshold, data).write(model)
        return
    path = os.path.realpath(f)  # a symbolic link stays one
    is_replaced = os.path.isfile(path)
    if not is_replaced and os.path.exists(path):  # a pipe or a device
        with open(path, "wb") as file:
            _Writer(file, size_threshold, data).write(model)
        return
    if is_replaced:
        with open(path, "r+b"):  # raises what writing to the file would raise
            _refuse_to_lose_content(path)
    temporary = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if is_replaced:
                _copy_owner_and_mode(path, temporary)
            _Writer(file, size_threshold, data).write(model)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _copy_owner_and_mode(source: str, target: str) -> None:
    status = os.stat(source)
    with contextlib.suppress(AttributeError, PermissionError):  # Windows; not root
        os.chown(target, status.st_uid, status.st_gid)
    shutil.copymode(source, target)


def _refuse_to_lose_content(path: str) -> None:
    """Refuses to replace an archive that holds more than its model's tensors."""
    try:
        with Archive(path) as old:
            tensors, _ = external_tensors(old.model())
            names = [external_data_of(each)[0] for each in tensors]
            lost = sorted(old.entries.keys() - {*names, MODEL})
    except (ArchiveError, DecodeError):  # not an archive
        return
    if lost:
        what = f"{path!r} holds more than its model, such as {lost[0]!r}"
        raise ArchiveError(f"{what}: save to another file, or remove this one first")


def _zip64(values: list[int]) -> bytes:
    """Returns the extra field for numbers of 64 bits."""
    form = f"<2H{len(values)}Q"
    return struct.pack(form, _ZIP64, 8 * len(values), *values) if values else b""


class _Writer:
    def __init__(self, file: IO[bytes], threshold: int, data: Any) -> None:
        self._file, self._splitter = file, Splitter(threshold, data, self._add_tensor)
        self._at, self._headers = 0, list[bytes]()
        self._names = EntryNames(MODEL)

    def write(self, model: ModelProto) -> None:
        skeleton = ModelProto()
        self._splitter.copy(model, skeleton)
        data = skeleton.SerializeToString(deterministic=True)
        require(len(data) < 1 << 31, "P8", "the model without its weights has 2 GiB")
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
        left = memoryview(data)
        while left:  # unbuffered files may take a part
            count = self._file.write(left)
            if count is None and not isinstance(self._file, io.RawIOBase):
                count = len(left)  # of a class that does not say
            if count not in range(1, len(left) + 1):
                raise OSError(f"the file took {count} of {len(left)} bytes")
            left = left[count:]
        self._at += len(data)

    def _add_tensor(self, name: str, data: bytes | memoryview) -> str:
        self._add(key := self._names.make(name), data)
        return key

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

"""The container: a zip file of stored, aligned entries that follow each other without gaps.

`Container` is what the page for loaders (loading.md) demands of a container. `Writer` lays entries
out in the canonical form (writing.md), so the same entries give the same bytes, whichever program
writes them. Ids such as E5 in comments are those of the rules.
"""

from __future__ import annotations

import mmap
import os
import re
import secrets
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Union

MODEL = "__MODEL_PROTO"
MIB = 1 << 20
ZIP64_ID, PADDING_ID, OTHER_PADDING_ID = 1, 0xD935, 0xA11E
NONE_16, NONE_32 = 0xFFFF, 0xFFFFFFFF  # sentinels: the value is in a zip64 record

PORTABLE = r'[^\0-\x1F\x7F-\U0010FFFF\\:*?"<>|;]+'  # characters of names

LOCAL = struct.Struct("<4s5H3I2H")
HEADER = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
ZIP64_END = struct.Struct("<4sQ2H2I4Q")
LOCATOR = struct.Struct("<4sIQI")

PathLike = Union[str, "os.PathLike[str]"]
Data = Union[bytes, bytearray, memoryview, mmap.mmap, BinaryIO]  # of an entry to be written


class ArchiveError(ValueError):
    """An archive that is broken, or a model that cannot become one; `code` names the rule."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(f"{what} [{code}]")
        self.code = code


def require(holds: bool, code: str, what: str) -> None:
    if not holds:
        raise ArchiveError(code, what)


# --- loader --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    name: str
    offset: int  # of the local header
    size: int
    crc32: int


class Container(Mapping[str, memoryview]):
    """An archive, mapped: names of entries and their bytes, which stay valid while they are used.

    Opening reads the directory alone; the local header of an entry is checked before its bytes are
    handed out. The file must not be cut while it is mapped: replace files by renaming new ones."""

    def __init__(self, path: PathLike) -> None:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            require(size >= END.size, "zip.end.missing", "the file is too short for an archive")
            self._file = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        count, begin, end = _read_end(self._file)
        at, entries = begin, []
        for _ in range(count):
            entry, at = _read_header(self._file, at, end)
            entries.append(entry)
        require(at == end, "zip.directory.count", "the directory is longer than its entries")
        self.entries = {entry.name: entry for entry in entries}
        require(len(self.entries) == count, "zip.name.duplicate", "two entries have one name")
        require(MODEL in self.entries, "archive.model.missing", f"there is no {MODEL}")  # P6
        require(entries[0].offset == 0, "zip.entry.first_offset", "no entry is at the file's start")
        limits = [*(each.offset for each in entries[1:]), begin]  # where the next one begins
        self._limits = dict(zip(self.entries, limits))
        for entry, limit in zip(entries, limits):
            what, is_last = f"{entry.name!r} does not end where it has to", entry is entries[-1]
            require(is_last or entry.offset < limit, "zip.entry.order", what)  # P2
            fits = entry.offset + LOCAL.size + len(entry.name) + entry.size <= limit
            require(fits, "zip.entry.bounds" if is_last else "zip.entry.overlap", what)  # P3, P4

    def __getitem__(self, name: str) -> memoryview:
        entry, begin = self.entries[name], self.offset(name)
        return self._file[begin : begin + entry.size]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def offset(self, name: str) -> int:
        """Where in the file the bytes of an entry begin, after a check of its local header."""
        return _read_local(self._file, self.entries[name], self._limits[name])


def _read_end(file: memoryview) -> tuple[int, int, int]:
    """The number of entries, and where the directory begins and ends."""
    at = end = len(file) - END.size
    signature, *_, count, size, offset, comment = END.unpack_from(file, at)
    is_end = signature == b"PK\5\6" and comment == 0
    require(is_end, "zip.end.missing", "the last 22 bytes are not a zip end record")  # E1 to E3
    own = (count, size, offset)
    locator_at = at - LOCATOR.size
    if bytes(file[max(locator_at, 0) : at][:4]) == b"PK\6\7":
        end = locator_at - ZIP64_END.size
        is_right = end >= 0 and LOCATOR.unpack_from(file, locator_at)[2] == end
        require(is_right, "zip.zip64.locator", "the zip64 locator points elsewhere")  # E5
        record = ZIP64_END.unpack_from(file, end)
        is_record = record[:2] == (b"PK\6\6", 44) and 10 <= record[3] <= 45
        require(is_record, "zip.zip64.record", "the zip64 end record is missing")  # E6
        count, size, offset = record[7:]
        agree = all(a in (b, c) for a, b, c in zip(own, (NONE_16, NONE_32, NONE_32), record[7:]))
        require(agree, "zip.zip64.disagree", "the two end records disagree")  # E7
    else:
        is_narrow = count != NONE_16 and NONE_32 not in (size, offset)
        require(is_narrow, "zip.zip64.locator", "the zip64 locator is missing")  # E5
    require(offset + size == end, "zip.end.directory_bounds", "the directory ends elsewhere")
    require(count > 0, "zip.directory.empty", "there are no entries")  # E9
    require(count <= size // HEADER.size, "zip.directory.count", "the directory is too short")
    return count, offset, end


def _read_header(file: memoryview, at: int, end: int) -> tuple[Entry, int]:
    """One directory header, and where the next one begins."""
    fields = HEADER.unpack_from(file, at) if at + HEADER.size <= end else (b"",) * 17
    require(fields[0] == b"PK\1\2", "zip.directory.header", f"no header at {at}")  # D1
    extra_at = at + HEADER.size + fields[10]
    end_of_extra = extra_at + fields[11]
    next_at = end_of_extra + fields[12]
    require(next_at <= end, "zip.directory.header", f"the header at {at} is cut off")  # D1
    name = str(file[at + HEADER.size : extra_at], "latin-1")
    portable = re.fullmatch(PORTABLE, name)
    require(portable is not None, "zip.name.character", f"the name {name!r} is not portable")
    free = name == MODEL or re.match("__[A-Z]", name) is None  # N13
    require(free, "archive.name.reserved", f"the name {name!r} needs a newer reader")
    require(fields[3] & 0x2041 == 0, "zip.entry.encrypted", f"{name!r} is encrypted")  # D2
    require(fields[3] & 8 == 0, "zip.entry.descriptor", f"{name!r} has a data descriptor")  # D3
    require(fields[4] == 0, "zip.entry.method", f"{name!r} is compressed")  # D5
    extra = _read_extra(file[extra_at:end_of_extra], name)
    is_known = extra.keys() <= {ZIP64_ID, OTHER_PADDING_ID}
    require(is_known, "zip.extra.unknown", f"{name!r} has an unknown extra field")  # D11
    values = _wide_values((fields[9], fields[8], fields[16]), extra.get(ZIP64_ID, b""))
    size, compressed, offset = values or (0, 0, 0)
    require(values is not None, "zip.zip64.extra", f"the zip64 field of {name!r} does not fit")
    require(size == compressed, "zip.entry.sizes", f"{name!r} has two sizes")  # D14
    return Entry(name, offset, size, fields[7]), next_at


def _wide_values(own: tuple[int, ...], field: bytes) -> tuple[int, ...] | None:
    """Those of a directory header without sentinels; None if the field does not fit (D13)."""
    is_wide = [value == NONE_32 for value in own]
    if len(field) == 8 * sum(is_wide):
        values = iter(struct.unpack(f"<{sum(is_wide)}Q", field))
        return tuple(next(values) if wide else value for value, wide in zip(own, is_wide))
    # Some writers have all three there, and the number of a disk: sentinels have to come first.
    full = struct.unpack("<3Q", field[:24].ljust(24))
    fits = len(field) in (24, 28) and not any(field[24:]) and is_wide == sorted(is_wide)[::-1]
    return full if fits and all(v in (NONE_32, wide) for v, wide in zip(own, full)) else None


def _read_extra(room: memoryview, name: str) -> dict[int, bytes]:
    fields: dict[int, bytes] = {}
    while len(room) > 0:
        field_id, size = struct.unpack("<2H", room[:4]) if len(room) >= 4 else (0, NONE_16)
        require(4 + size <= len(room), "zip.extra.malformed", f"{name!r}: an extra field is cut")
        require(field_id not in fields, "zip.extra.duplicate", f"{name!r}: two equal extra fields")
        fields[field_id] = bytes(room[4 : 4 + size])
        room = room[4 + size :]
    return fields


def _read_local(file: memoryview, entry: Entry, limit: int) -> int:
    """Where the data begins; the local header has to say what the directory says (L1 to L8)."""
    name, fields = entry.name, LOCAL.unpack_from(file, entry.offset)
    name_at = entry.offset + LOCAL.size
    extra_at = name_at + fields[9]
    data_at: int = extra_at + fields[10]
    is_header = fields[0] == b"PK\3\4" and data_at <= limit
    require(is_header, "zip.local.header", f"{name!r} has no local header")
    fits = data_at + entry.size <= limit
    require(fits, "zip.entry.overlap", f"the data of {name!r} leaves its place")  # P3, P4
    is_same = file[name_at:extra_at] == name.encode()
    require(is_same, "zip.local.name", f"{name!r} has another name in its local header")
    extra = _read_extra(file[extra_at:data_at], name)
    has_two = {PADDING_ID, OTHER_PADDING_ID} <= extra.keys()
    require(not has_two, "zip.extra.duplicate", f"{name!r} has two padding records")  # L6
    own, field = fields[7:9], extra.get(ZIP64_ID)
    fits = NONE_32 not in own if field is None else len(field) == 16
    require(fits, "zip.zip64.extra", f"{name!r} has a wrong zip64 field in its local header")
    wide = own if field is None else struct.unpack("<2Q", field)
    is_same = wide == (entry.size, entry.size) and set(own) <= {NONE_32, entry.size}
    require(is_same, "zip.local.size", f"{name!r} has another size in its local header")
    return data_at


# --- canonical writer ----------------------------------------------------------------------------


def is_name(name: str) -> bool:
    """Whether it is the name of an entry (N1 to N17)."""
    device = r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\..*)?"
    parts = name.split("/")
    return (
        len(name) <= 1024
        and re.fullmatch(PORTABLE, name) is not None
        and all(re.fullmatch(r".{0,254}[^. ]", part) for part in parts)
        and not any(re.fullmatch(device, part, re.IGNORECASE) for part in parts)
    )


class Writer:
    """Writes the entries of a new archive one by one and the model last; it holds none in memory.

    The file appears under its name when `finish` returns. Leaving the `with` block before that
    removes what was written. `alignment` is a power of two from 64 to 32768."""

    def __init__(self, path: PathLike, alignment: int = 64) -> None:
        if not 64 <= alignment <= 32768 or alignment & (alignment - 1):
            raise ValueError(f"alignment {alignment} is not a power of two from 64 to 32768")
        self._path, self._alignment = os.path.abspath(path), alignment
        self._temporary = os.path.join(os.path.dirname(self._path), f".{secrets.token_hex(8)}.tmp")
        self._file = open(self._temporary, "x+b")
        self._headers: list[bytes] = []
        self._names: set[str] = set()  # in lower case, as folders
        self._folders: set[str] = set()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._file.closed:
            self._file.close()
            os.unlink(self._temporary)

    def add(self, name: str, data: Data) -> None:
        """Adds an entry: bytes, or what a file that can seek holds from where it is."""
        is_free = re.match("__[A-Z]", name) is None and name.lower() != MODEL.lower()
        require(is_free, "archive.name.reserved", f"the name {name!r} is reserved")
        self._add(name, data)

    def finish(self, model: bytes) -> None:
        """Adds the serialised model, the directory and the end records, and publishes the file."""
        fits = len(model) < 1 << 31
        require(fits, "archive.model.too_large", "the model itself has 2 GiB or more")
        self._add(MODEL, model)
        begin, count = self._file.tell(), len(self._headers)
        self._file.writelines(self._headers)
        end = self._file.tell()
        numbers = (count, count, end - begin, begin)
        if count >= NONE_16 or max(numbers) >= NONE_32:
            self._file.write(ZIP64_END.pack(b"PK\6\6", 44, 45, 45, 0, 0, *numbers))
            self._file.write(LOCATOR.pack(b"PK\6\7", 0, end, 1))
            numbers = (NONE_16, NONE_16, NONE_32, NONE_32)
        self._file.write(END.pack(b"PK\5\6", 0, 0, *numbers, 0))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._temporary, self._path)

    def _add(self, name: str, data: Data) -> None:
        self._claim(name)
        offset, key = self._file.tell(), name.encode()
        size, pieces = _pieces(data)
        alignment = max(self._alignment, 4096 if size >= MIB else 64)
        sizes = [size, size] if size >= NONE_32 else []
        values = sizes + ([offset] if offset >= NONE_32 else [])
        version, crc, small = (45 if values else 10), 0, min(size, NONE_32)
        extra = _zip64_field(sizes)
        zeros = -(offset + LOCAL.size + len(key) + len(extra) + 6) % alignment
        extra += struct.pack("<3H", PADDING_ID, 2 + zeros, alignment) + bytes(zeros)
        data_at = self._file.seek(LOCAL.size + len(key) + len(extra), os.SEEK_CUR)
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
            self._file.write(piece)
        end = self._file.tell()
        if end != data_at + size:
            raise OSError(f"the file for {name!r} changed its size while it was read")
        common = (version, 0, 0, 0, 0x21, crc, small, small, len(key))
        self._file.seek(offset)
        self._file.write(LOCAL.pack(b"PK\3\4", *common, len(extra)) + key + extra)
        self._file.seek(end)
        more = _zip64_field(values)
        last = (len(more), 0, 0, 0, 0, min(offset, NONE_32))
        self._headers.append(HEADER.pack(b"PK\1\2", version, *common, *last) + key + more)

    def _claim(self, name: str) -> None:
        require(is_name(name), "zip.name.character", f"{name!r} cannot be the name of an entry")
        folder = name.lower() + "/"
        folders = {folder[: at.end()] for at in re.finditer("/", folder)} - {folder}
        is_free = not {folder, *folders} & self._names and folder not in self._folders
        require(is_free, "zip.name.duplicate", f"{name!r} clashes with another entry's name")
        self._names.add(folder)
        self._folders |= folders


def _zip64_field(values: list[int]) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", ZIP64_ID, 8 * len(values), *values) if values else b""


def _pieces(data: Data) -> tuple[int, Iterable[bytes | memoryview]]:
    if isinstance(data, (bytes, bytearray, memoryview, mmap.mmap)):
        view = memoryview(data).cast("B")
        return len(view), (view[at : at + MIB] for at in range(0, len(view), MIB))
    begin = data.tell()
    size = data.seek(0, os.SEEK_END) - begin
    data.seek(begin)
    return size, iter(lambda: data.read(MIB), b"")

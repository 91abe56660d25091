"""The end of the file (E), directory headers (D), names (N)."""

from __future__ import annotations

import re
import struct
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from rules import refuse, require

GIB, MIB = 1 << 30, 1 << 20
NONE_16, NONE_32 = 0xFFFF, 0xFFFFFFFF  # sentinels


@dataclass(frozen=True)
class Limits:
    """The limits that a user may set: E11, E12 and P8."""

    entries: int = 1 << 20
    directory: int = 256 * MIB
    model: int = 2 * GIB - 1


class Record:
    """The fixed part of a zip record: a signature, then fields."""

    def __init__(self, signature: bytes, layout: str) -> None:
        names, codes = zip(*(field.split(":") for field in layout.split()))
        self._signature = signature
        self._values = struct.Struct("<" + "".join(codes))
        self._fields = namedtuple("_fields", names)
        self.size = len(signature) + self._values.size

    def read(self, file: memoryview, at: int, end: int) -> Any | None:
        """Returns the fields; None if there is no such record between `at` and `end`."""
        if at < 0 or at + self.size > end or file[at : at + 4] != self._signature:
            return None
        return self._fields._make(self._values.unpack_from(file, at + 4))


END = Record(b"PK\5\6", "disk:H first_disk:H here:H entries:H size:I offset:I comment:H")
LOCATOR = Record(b"PK\6\7", "disk:I offset:Q disks:I")
ZIP64_END = Record(
    b"PK\6\6",
    "record_size:Q made_by:H version:H disk:I first_disk:I here:Q entries:Q size:Q offset:Q",
)
_BOTH = "version:H flags:H method:H time:H date:H crc32:I compressed:I size:I name:H extra:H"
HEADER = Record(b"PK\1\2", f"made_by:H {_BOTH} comment:H disk:H internal:H external:I offset:I")
LOCAL = Record(b"PK\3\4", _BOTH)


# --- the end of the file -------------------------------------------------------------------------


@dataclass(frozen=True)
class Directory:
    """The values of the end records."""

    entries: int
    size: int
    offset: int
    has_zip64: bool

    @property
    def end(self) -> int:
        return self.offset + self.size


def read_end(file: memoryview) -> Directory:
    """Checks E1 to E8."""
    at = len(file) - END.size
    end = END.read(file, at, len(file))
    if end is None:
        refuse_end(file)
    require("E3", end.comment == 0, at)
    require("E4", end.disk == end.first_disk == 0 and end.here == end.entries, at)
    zip64 = read_zip64(file, at, end)
    said = zip64 or end
    directory = Directory(said.entries, said.size, said.offset, zip64 is not None)
    ends_at = at - (LOCATOR.size + ZIP64_END.size if zip64 else 0)
    require("E8", directory.end == ends_at, at)
    return directory


def refuse_end(file: memoryview) -> NoReturn:
    """Refuses the file by E1, or by E2 or E3 if the last 65557 bytes contain an end record."""
    window = bytes(file[-(END.size + NONE_16) :])
    found = window.rfind(b"PK\5\6", 0, -(END.size - 4))
    if found < 0:
        refuse("E1", len(file))
    at = len(file) - len(window) + found
    comment = END.read(file, at, len(file)).comment
    refuse("E3" if at + END.size + comment == len(file) else "E2", at)


def read_zip64(file: memoryview, end_at: int, end: Any) -> Any | None:
    """Checks E4 to E7 of the zip64 records, if there are any."""
    locator_at = end_at - LOCATOR.size
    locator = LOCATOR.read(file, locator_at, end_at)
    if locator is None:
        sentinels = end.entries == NONE_16 or NONE_32 in (end.size, end.offset)
        require("E5", not sentinels, end_at)
        return None
    at = locator_at - ZIP64_END.size
    require("E4", locator.disk == 0 and locator.disks == 1, locator_at)
    require("E5", locator.offset == at, locator_at)
    zip64 = ZIP64_END.read(file, at, end_at)
    if zip64 is None or zip64.record_size != 44 or not 10 <= zip64.version <= 45:
        refuse("E6", at)
    require("E4", zip64.disk == zip64.first_disk == 0 and zip64.here == zip64.entries, at)
    require("E7", end.entries in (NONE_16, zip64.entries), end_at)
    require("E7", end.size in (NONE_32, zip64.size), end_at)
    require("E7", end.offset in (NONE_32, zip64.offset), end_at)
    return zip64


def check_counts(directory: Directory, limits: Limits) -> None:
    at = directory.offset
    require("E9", directory.entries > 0, at)
    require("E10", directory.entries <= directory.size // HEADER.size, at)
    require("E11", directory.entries <= limits.entries, at)
    require("E12", directory.size <= limits.directory, at)


# --- directory headers ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """The values that the directory states about an entry, including its zip64 field."""

    name: str
    header: int  # offset of the directory header
    offset: int  # of the local header
    size: int
    fields: Any  # of the directory header
    has_zip64: bool
    alignment: int | None  # as D16 has it

    @property
    def key(self) -> bytes:
        return self.name.encode()

    @property
    def crc32(self) -> int:
        return self.fields.crc32


def read_directory(file: memoryview, directory: Directory) -> Iterator[Entry]:
    at = directory.offset
    for _ in range(directory.entries):
        header = HEADER.read(file, at, directory.end)
        require("D1", header is not None, at)
        end = at + HEADER.size + header.name + header.extra + header.comment
        require("D1", end <= directory.end, at)
        yield read_header(file, at, header)
        at = end
    require("E10", at == directory.end, at)


def read_header(file: memoryview, at: int, header: Any) -> Entry:
    """Checks the name, then D2 to D16."""
    name_at = at + HEADER.size
    name = read_name(bytes(file[name_at : name_at + header.name]), at)

    def keeps(rule: str, is_kept: bool) -> None:
        require(rule, is_kept, at, name)

    keeps("D2", header.flags & (1 << 0 | 1 << 6 | 1 << 13) == 0)
    keeps("D3", header.flags & 1 << 3 == 0)
    keeps("D4", header.flags in (0, 1 << 11))
    keeps("D5", header.method == 0)
    keeps("D6", 10 <= header.version <= 45)
    keeps("D7", header.disk == 0)
    keeps("D8", header.comment == 0)
    keeps("D9", header.made_by >> 8 in (0, 3))
    file_type = header.external >> 16 & 0o170000
    keeps("D9", header.internal & ~1 == 0 and file_type in (0, 0o100000))
    keeps("D9", header.external & (1 << 3 | 1 << 4 | 1 << 10) == 0)

    extra_at = name_at + header.name
    room = file[extra_at : extra_at + header.extra]
    extra = dict(read_extra(room, {ZIP64_ID, ALIGNMENT_ID}, ("D10", "D11", "D12"), keeps))
    values = read_zip64_values(header, extra.get(ZIP64_ID))
    keeps("D13", values is not None)
    size, compressed, offset, disk = values
    keeps("D7", disk == 0)
    keeps("D14", size == compressed)
    keeps("D15", size > 0 or header.crc32 == 0)
    field = extra.get(ALIGNMENT_ID)
    keeps("D16", field is None or len(field) == 2)
    alignment = None if field is None else int.from_bytes(field, "little")
    keeps("D16", alignment is None or is_alignment(ALIGNMENT_ID, alignment))
    return Entry(name, at, offset, size, header, ZIP64_ID in extra, alignment)


ZIP64_ID, PADDING_ID, ALIGNMENT_ID = 1, 0xD935, 0xA11E
PADDING_IDS = {PADDING_ID, ALIGNMENT_ID}
Extra = list[tuple[int, memoryview]]
Keeps = Callable[[str, bool], None]


def read_extra(room: memoryview, known: set[int], rules: tuple[str, ...], keeps: Keeps) -> Extra:
    """Returns ids and contents. `rules` are D10 to D12 or L4 to L6, checked field by field."""
    fields, at = [], 0
    well_formed, allowed, once = rules
    while at < len(room):
        keeps(well_formed, at + 4 <= len(room))
        field_id, size = struct.unpack_from("<HH", room, at)
        at += 4
        keeps(well_formed, at + size <= len(room))
        keeps(allowed, field_id in known)
        alike = PADDING_IDS if field_id in PADDING_IDS else {field_id}
        keeps(once, alike.isdisjoint(dict(fields)))
        fields.append((field_id, room[at : at + size]))
        at += size
    return fields


def is_alignment(field_id: int, number: int) -> bool:
    """True if the number keeps D16 or L11."""
    largest = 16384 if field_id == ALIGNMENT_ID else 32768
    return 64 <= number <= largest and number.bit_count() == 1


def read_zip64_values(header: Any, field: memoryview | None) -> tuple[int, int, int, int] | None:
    """Returns size, compressed size, offset and disk, as header and zip64 field state them; None if
    D13 is broken."""
    own = (header.size, header.compressed, header.offset)
    if field is None:
        return None if NONE_32 in own else (*own, 0)
    if len(field) in (24, 28):
        *values, disk = (*struct.unpack("<3Q", field[:24]), int.from_bytes(field[24:], "little"))
        agree = all(said in (NONE_32, value) for said, value in zip(own, values))
        sentinels = [said == NONE_32 for said in own]
        in_step = sentinels == sorted(sentinels, reverse=True)
        return (*values, disk) if agree and in_step else None
    if len(field) != 8 * own.count(NONE_32):
        return None
    wide = iter(value for (value,) in struct.iter_unpack("<Q", field))
    return (*(next(wide) if said == NONE_32 else said for said in own), 0)


# --- names ---------------------------------------------------------------------------------------


DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\.|$)", re.I | re.A)


def read_name(raw: bytes, at: int) -> str:
    """Checks N1, N2, N14, N6, N8, N9 and N15 to N17."""
    require("N1", len(raw) > 0, at)
    name = raw.decode(errors="replace")

    def keeps(rule: str, is_kept: bool) -> None:
        require(rule, is_kept, at, name)

    keeps("N2", len(raw) <= 1024)
    keeps("N14", re.fullmatch(rb'[ -~]+', raw) and not re.search(rb'[\\:*?"<>|;]', raw))
    keeps("N6", not name.startswith("/"))
    keeps("N8", not name.endswith("/"))
    parts = name.split("/")
    keeps("N9", not {"", ".", ".."}.intersection(parts))
    keeps("N15", all(len(part) <= 255 for part in parts))
    keeps("N16", not any(part.endswith((".", " ")) for part in parts))
    keeps("N17", not any(DEVICE.match(part) for part in parts))
    return name


def check_names(entries: list[Entry]) -> None:
    """Checks N10 to N12."""
    names: set[str] = set()
    folded: set[str] = set()
    for entry in entries:
        require("N10", entry.name not in names, entry.header, entry.name)
        require("N11", fold(entry.name) not in folded, entry.header, entry.name)
        names.add(entry.name)
        folded.add(fold(entry.name))
    for entry in entries:
        parts = fold(entry.name).split("/")
        folders = ("/".join(parts[:n]) for n in range(1, len(parts)))
        require("N12", folded.isdisjoint(folders), entry.header, entry.name)


def fold(name: str) -> str:
    """Converts ASCII letters to one case, and leaves all other characters."""
    return name.encode().lower().decode()

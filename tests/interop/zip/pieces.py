"""A zip file in pieces: its records, the data of its entries, and bytes that belong to neither."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from foreign import DESCRIBED, DESCRIPTOR, DESCRIPTOR64
from recipes import END64, S16, S32
from support.archives import CENTRAL, END, LOCAL, LOCATOR, PADDING_ID, ZIP64_ID, Record, extra_field, padding

RECORDS = {
    "local": LOCAL,
    "descriptor": DESCRIPTOR,
    "descriptor64": DESCRIPTOR64,
    "central": CENTRAL,
    "end64": END64,
    "locator": LOCATOR,
    "end": END,
}


@dataclass
class Piece:
    """A header with what follows it (name, extra fields, comment), the data of an entry, or any other bytes."""

    what: str  # a key of RECORDS, "data" or "rest"
    entry: int  # its number; -1 for bytes outside entries
    data: bytearray

    @property
    def record(self) -> Record:
        return RECORDS[self.what]

    def get(self, name: str) -> int:
        offset, code = self.record.fields[name]
        return struct.unpack_from(code, self.data, offset)[0]

    def set(self, name: str, value: int) -> None:
        _, code = self.record.fields[name]
        bits = 8 * struct.calcsize(code)
        self.record.put(self.data, 0, **{name: value % (1 << bits)})

    def name(self) -> bytes:
        return bytes(self.data[self.record.size :][: self.get("name_length")])

    def extra(self) -> bytes:
        return bytes(self.data[self.record.size + self.get("name_length") :][: self.get("extra_length")])

    def comment(self) -> bytes:
        """What follows the extra fields."""
        lengths = [self.get(name) for name in ("name_length", "extra_length") if name in self.record.fields]
        return bytes(self.data[self.record.size + sum(lengths) :])

    def rename(self, name: bytes) -> None:
        self.data[self.record.size :] = name + self.extra() + self.comment()
        self.set("name_length", len(name))

    def set_extra(self, extra: bytes) -> None:
        self.data[self.record.size + self.get("name_length") :] = extra + self.comment()
        self.set("extra_length", len(extra))

    def set_comment(self, comment: bytes) -> None:
        del self.data[len(self.data) - len(self.comment()) :]
        self.data += comment
        self.set("comment_length", len(comment))

    def offset_slot(self) -> tuple[str, int]:
        """The field of the local header's offset: struct code and place."""
        if self.get("offset") != S32:
            return "<I", self.record.fields["offset"][0]
        before = sum(self.get(name) == S32 for name in ("size", "compressed"))
        start = self.record.size + self.get("name_length") + 4
        return "<Q", start + (16 if self.complete_zip64 else 8 * before)

    @property
    def complete_zip64(self) -> bool:
        """Whether its zip64 field, the first extra field, holds all three values."""
        fields = split_extra(self.extra())
        return bool(fields) and fields[0][0] == ZIP64_ID and len(fields[0][1]) >= 24

    @property
    def offset(self) -> int:
        code, at = self.offset_slot()
        return struct.unpack_from(code, self.data, at)[0]

    @offset.setter
    def offset(self, value: int) -> None:
        code, at = self.offset_slot()
        struct.pack_into(code, self.data, at, value)


Pieces = list[Piece]


def pick(pieces: Pieces, what: str) -> Pieces:
    return [piece for piece in pieces if piece.what == what]


def _end_pieces(file: bytes) -> Pieces:
    at = file.rfind(END.signature)
    pieces = [Piece("end", -1, bytearray(file[at:]))]
    before = at - LOCATOR.size
    if file[before:].startswith(LOCATOR.signature):
        pieces.insert(0, Piece("locator", -1, bytearray(file[before:][: LOCATOR.size])))
        pieces.insert(0, Piece("end64", -1, bytearray(file[before - END64.size : before])))
    return pieces


def _directory(file: bytes, at: int, end: int) -> Iterator[tuple[int, Piece]]:
    entry = 0
    while at < end:
        piece = Piece("central", entry, bytearray(file[at:]))
        lengths = (piece.get(name) for name in ("name_length", "extra_length", "comment_length"))
        del piece.data[CENTRAL.size + sum(lengths) :]
        yield at, piece
        at += len(piece.data)
        entry += 1


def dissect(file: bytes) -> Pieces | None:
    """The pieces of a file; None without entries, or if the records are not linked to each other."""
    with contextlib.suppress(struct.error):
        pieces = _dissect(file)
        if pick(pieces, "local") and join(pieces) == file:
            return pieces
    return None


def _dissect(file: bytes) -> Pieces:
    ending = _end_pieces(file)
    stop = len(file) - sum(len(piece.data) for piece in ending)
    placed = list(_directory(file, ending[0].get("directory_offset"), stop))
    for _, central in placed[:]:
        at = central.offset
        local = Piece("local", central.entry, bytearray(file[at:]))
        length = LOCAL.size + local.get("name_length") + local.get("extra_length")
        del local.data[length:]
        placed.append((at, local))
        end = at + length + size_of(central)
        placed.append((at + length, Piece("data", central.entry, bytearray(file[at + length : end]))))
        if local.get("flags") & DESCRIBED:
            placed += _descriptor(file, end, central)
    pieces, at = [], 0
    # Data without bytes begins where the next record does.
    for offset, piece in sorted(placed, key=lambda each: (each[0], each[1].what != "data")):
        if offset > at:
            pieces.append(Piece("rest", -1, bytearray(file[at:offset])))
        pieces.append(piece)
        at = offset + len(piece.data)
    return pieces + ending


def _descriptor(file: bytes, at: int, central: Piece) -> Iterator[tuple[int, Piece]]:
    """The data descriptor, if it has a signature. What follows it tells its two forms apart, or else its sizes. Other
    bytes may be between it and the next record."""
    if file.startswith(DESCRIPTOR.signature, at):
        sizes = (central.get("compressed"), central.get("size"))
        fits, fits_wide = (file.startswith(struct.pack(form, *sizes), at + 8) for form in ("<2I", "<2Q"))
        narrow = file.startswith(b"PK", at + DESCRIPTOR.size) or (fits and not fits_wide)
        what = "descriptor" if narrow else "descriptor64"
        yield at, Piece(what, central.entry, bytearray(file[at : at + RECORDS[what].size]))


def size_of(central: Piece) -> int:
    """The size of an entry's data in the file, from the zip64 field if the header has a sentinel."""
    if central.get("compressed") != S32:
        return central.get("compressed")
    zip64 = dict(split_extra(central.extra())).get(ZIP64_ID, b"")
    return struct.unpack_from("<Q", zip64, 8 * (central.get("size") == S32))[0]


def state(pieces: Pieces, local: Piece, central: Piece, content: bytes, stored: int) -> None:
    """Puts the CRC-32 of an entry's content and both sizes where its records state them without a sentinel."""
    described = [piece for piece in pieces if piece.what.startswith("descriptor") and piece.entry == central.entry]
    for record in (central, *(described or [local])):
        for name, value in {"crc32": zlib.crc32(content), "size": len(content), "compressed": stored}.items():
            if record.get(name) != S32:
                record.set(name, value)


def join(pieces: Pieces) -> bytes:
    return b"".join(piece.data for piece in pieces)


def positions(pieces: Pieces) -> list[int]:
    out, at = [], 0
    for piece in pieces:
        out.append(at)
        at += len(piece.data)
    return out


def put_right(pieces: Pieces) -> Pieces:
    """Corrects offsets and counts. A header whose entry was removed keeps its offset."""
    where: dict[tuple[str, int], int] = {}
    for piece, at in zip(pieces, positions(pieces)):
        where.setdefault((piece.what, piece.entry), at)
    central = pick(pieces, "central")
    for piece in central:
        piece.offset = where.get(("local", piece.entry), piece.offset)
    if not central:
        return pieces
    values = {
        "entries_here": len(central),
        "entries": len(central),
        "directory_size": sum(len(piece.data) for piece in central),
        "directory_offset": min(where["central", piece.entry] for piece in central),
    }
    for piece in pieces:
        for name, value in values.items() if piece.what in ("end64", "end") else ():
            sentinel = S16 if name.startswith("entries") else S32
            if piece.what == "end64" or piece.get(name) != sentinel:
                piece.set(name, value)
        if piece.what == "locator":
            piece.set("offset", where.get(("end64", -1), 0))
    return pieces


def pad_right(pieces: Pieces) -> Pieces:
    """Corrects each padding record 0xD935 that is the last extra field."""
    at = 0
    for piece in pieces:
        if piece.what == "local":
            _pad(piece, at)
        at += len(piece.data)
    return put_right(pieces)


def _pad(piece: Piece, at: int) -> None:
    fields = split_extra(piece.extra())
    if fields and fields[-1][0] == PADDING_ID and len(fields[-1][1]) >= 2:
        (alignment,) = struct.unpack("<H", fields[-1][1][:2])
        kept = b"".join(extra_field(*each) for each in fields[:-1])
        before = at + LOCAL.size + len(piece.name()) + len(kept)
        piece.set_extra(kept + padding(before, alignment or 64))


def split_extra(extra: bytes) -> list[tuple[int, bytes]]:
    fields = []
    while len(extra) >= 4:
        number, size = struct.unpack("<HH", extra[:4])
        fields.append((number, extra[4 : 4 + size]))
        extra = extra[4 + size :]
    return fields

"""Makes ten thousand files that are nearly archives. Every run makes the same files. mutants.py makes more of them.

Each has a kind, which says what was done to it: `field local.crc32`, `remove central`. Most break a
rule; the others are what the test is about.
"""

from __future__ import annotations

import contextlib
import random
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import foreign
import recipes
from foreign import deflate
from pieces import RECORDS, Piece, Pieces, dissect, join, pad_right, pick, positions, put_right, split_extra, state
from recipes import END64, S16, S32
from support.archives import END, LOCAL, MODEL, PADDING_ID, ZIP64_ID, encoded, extra_field


class Mutation(NamedTuple):
    kind: str
    base: str
    file: bytes


class Base(NamedTuple):
    name: str
    file: bytes
    pieces: Pieces | None


Change = Callable[[random.Random, Pieces], str]  # changes the pieces, says what it did
Family = Callable[[random.Random, Base], Iterator[tuple[str, bytes]]]


def header_offsets(base: Base) -> list[int]:
    """Those of bytes that are not data."""
    if base.pieces is None:
        return list(range(len(base.file)))
    out: list[int] = []
    for piece, at in zip(base.pieces, positions(base.pieces)):
        if piece.what != "data":
            out += range(at, at + len(piece.data))
    return out


def bit_flips(rng: random.Random, base: Base) -> Iterator[tuple[str, bytes]]:
    offsets = header_offsets(base)
    while True:
        file = bytearray(base.file)
        file[rng.choice(offsets)] ^= 1 << rng.randrange(8)
        yield "bit flip", bytes(file)


def byte_changes(rng: random.Random, base: Base) -> Iterator[tuple[str, bytes]]:
    offsets = header_offsets(base)
    while True:
        file = bytearray(base.file)
        count = rng.choice([1, 1, 1, 2, 3])
        for at in rng.sample(offsets, count):
            file[at] = rng.choice([0, 1, 0x2F, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        yield f"bytes {count}", bytes(file)


def interesting(rng: random.Random, piece: Piece, name: str, pieces: Pieces) -> int:
    """A value for a field."""
    _, code = piece.record.fields[name]
    bits = 8 * struct.calcsize(code)
    now, top = piece.get(name), (1 << bits) - 1
    others = [each.get(name) for each in pieces if each.what == piece.what]
    flips = [now ^ 1 << rng.randrange(bits) for _ in range(3)]
    near = [now + step for step in (1, -1, 64, -64)]
    fixed = [0, 1, S16, S32, top, top - 1, S16 - 1]
    return rng.choice([*fixed, *near, *flips, *others, rng.randrange(top)])


def change_field(rng: random.Random, pieces: Pieces) -> str:
    piece = rng.choice([piece for piece in pieces if piece.what in RECORDS])
    name = rng.choice(sorted(piece.record.fields))
    piece.set(name, interesting(rng, piece, name, pieces))
    return f"field {piece.what}.{name}"


def change_two_fields(rng: random.Random, pieces: Pieces) -> str:
    change_field(rng, pieces)
    change_field(rng, pieces)
    return "two fields"


def headers_of(rng: random.Random, pieces: Pieces) -> tuple[Piece, Piece]:
    """The two headers of one entry."""
    central = rng.choice(pick(pieces, "central"))
    local = next(each for each in pick(pieces, "local") if each.entry == central.entry)
    return local, central


def change_both_headers(rng: random.Random, pieces: Pieces) -> str:
    local, central = headers_of(rng, pieces)
    name = rng.choice(sorted(LOCAL.fields))
    value = interesting(rng, local, name, pieces)
    local.set(name, value)
    central.set(name, value)
    return f"both {name}"


def change_end_records(rng: random.Random, pieces: Pieces) -> str:
    name = rng.choice(sorted(set(END.fields) & set(END64.fields)))
    ends = [piece for piece in pieces if piece.what in ("end", "end64")]
    value = interesting(rng, ends[-1], name, pieces)
    for piece in ends:
        piece.set(name, value)
    return f"end records {name}"


def change_data(rng: random.Random, pieces: Pieces) -> str:
    """Replaces the data, perhaps by data of a different size, and all values that depend on it."""
    local, central = headers_of(rng, pieces)
    data = next(each for each in pick(pieces, "data") if each.entry == local.entry)
    content = recipes.contents(rng) if rng.random() < 0.5 else rng.randbytes(len(data.data))
    data.data[:] = deflate(content) if central.get("method") == 8 else content
    state(pieces, local, central, content, len(data.data))
    pad_right(pieces)
    return "data"


# Parts of names. Letters are missing, so that most names are odd.
PORTABLE = "".join(c for c in map(chr, range(0x20, 0x7F)) if c not in '\\:*?"<>|;' and not c.isalpha())


def change_name(rng: random.Random, pieces: Pieces) -> str:
    local, central = headers_of(rng, pieces)
    bad = ("../x", "/abs", "C:x", "a\\b", "a\nb", "a\0b", "", "x/", "W", "a", MODEL, "a//b", "./a")
    text = rng.choice([*bad, *recipes.ASCII_NAMES, *recipes.OTHER_NAMES])
    odd = "".join(rng.choices(PORTABLE, k=rng.randrange(1, 9)))
    names = [*map(encoded, (text, text, text, odd, odd, odd)), rng.randbytes(4), b"\xc0\xaf"]
    name = rng.choice(names)
    for header in (local, central):
        header.rename(name)
        if rng.random() < 0.9:
            header.set("flags", 0 if name.isascii() else 0x800)
    if rng.random() < 0.5:
        central.set("made_by", recipes.UNIX << 8 | 10)
    pad_right(pieces)
    return "name"


STRUCTURE = ("swap", "duplicate", "remove", "repeat at end", "move")


def change_structure(rng: random.Random, pieces: Pieces) -> str:
    what, at = rng.choice(STRUCTURE), rng.randrange(len(pieces))
    kind = f"{what} {pieces[at].what}"
    if what == "swap":
        alike = [n for n, each in enumerate(pieces) if each.what == pieces[at].what]
        other = rng.choice(alike)
        pieces[at], pieces[other] = pieces[other], pieces[at]
    elif what == "duplicate":
        pieces.insert(at, deepcopy(pieces[at]))
    elif what == "remove":
        del pieces[at]
    elif what == "repeat at end":
        pieces.append(deepcopy(pieces[at]))
    else:
        pieces.insert(rng.randrange(len(pieces)), pieces.pop(at))
    return kind


def swap_entries(rng: random.Random, pieces: Pieces) -> str:
    """Reorders whole entries, header and data. The directory has the old order or the new."""
    first, second = (rng.choice(pick(pieces, "local")).entry for _ in range(2))
    wanted = ("local", "data", "central") if rng.random() < 0.5 else ("local", "data")
    names = {first: second, second: first}
    moved = {(piece.what, piece.entry): piece for piece in pieces if piece.what in wanted}
    pieces[:] = [moved.get((piece.what, names.get(piece.entry, piece.entry)), piece) for piece in pieces]
    pad_right(pieces)
    return "swap entries"


def drop_entry(rng: random.Random, pieces: Pieces) -> str:
    """Removes an entry from the directory, and perhaps from the file."""
    gone = rng.choice(pick(pieces, "local")).entry
    wanted = rng.choice([("central",), ("central", "local", "data")])
    pieces[:] = [piece for piece in pieces if piece.entry != gone or piece.what not in wanted]
    put_right(pieces)
    if rng.random() < 0.5:
        pad_right(pieces)
    return "drop entry " + ("all" if "local" in wanted else "listing")


def insert_bytes(rng: random.Random, pieces: Pieces) -> str:
    at = rng.randrange(len(pieces) + 1)
    count = rng.choice([1, 4, 8, 20, 22, 46, 64, 128])
    junk = rng.choice([bytes(count), rng.randbytes(count), b"PK\5\6" + bytes(18), recipes.nested()])
    pieces.insert(at, Piece("rest", -1, bytearray(junk)))
    where = pieces[at + 1].what if at + 1 < len(pieces) else "nothing"
    return f"insert before {where}"


def cut_bytes(rng: random.Random, pieces: Pieces) -> str:
    piece = rng.choice([piece for piece in pieces if piece.data])
    start = rng.randrange(len(piece.data))
    del piece.data[start : start + rng.choice([1, 2, 4, 8, 64])]
    return f"cut {piece.what}"


def resize_directory(rng: random.Random, pieces: Pieces) -> str:
    """Moves the begin of the directory in the end record, so that it gains or loses bytes."""
    step = rng.choice([1, -1, 46, -46, 64, -64])
    for piece in pieces:
        if piece.what in ("end", "end64"):
            for name, change in (("directory_offset", -step), ("directory_size", step)):
                piece.set(name, piece.get(name) + change)
    return "resize directory"


def _some_payload(rng: random.Random, number: int, central: Piece) -> bytes:
    if number == ZIP64_ID:
        size = central.get("size")
        at = central.offset
        values = rng.choice([(size, size), (size, size, at), (at,), (), (S32,)])
        return struct.pack(f"<{len(values)}Q", *values) + bytes(rng.choice([0, 0, 0, 4]))
    if number in (0x7075, 0x6375):
        return struct.pack("<BI", 1, zlib.crc32(central.name())) + b"renamed"
    if number == PADDING_ID:
        return struct.pack("<H", 64) + bytes(rng.randrange(80))
    return rng.randbytes(rng.choice([0, 1, 5, 7, 11]))


def add_extra(rng: random.Random, pieces: Pieces) -> str:
    """Adds an extra field to one header or both, before or after the others."""
    local, central = headers_of(rng, pieces)
    known = (ZIP64_ID, 0x7075, 0x5455, PADDING_ID, 0x7875, 0xA11E, 0x9901, 0x6375, 0, 0x0A)
    number = rng.choice(known[:1] * 4 + known)
    added = extra_field(number, _some_payload(rng, number, central))
    where = rng.choice([[local], [central], [local, central]])
    for header in where:
        fields = [added, header.extra()]
        header.set_extra(b"".join(fields if rng.random() < 0.7 else reversed(fields)))
    if number == ZIP64_ID:
        for header in where:
            for name in rng.sample(["size", "compressed"], rng.randrange(3)):
                header.set(name, S32)
    if rng.random() < 0.8:
        pad_right(pieces)
    return f"extra {number:#06x} {'+'.join(header.what for header in where)}"


def drop_zip64(rng: random.Random, pieces: Pieces) -> str:
    """Removes a zip64 field, or the zip64 end records, although they are needed."""
    headers = [each for each in pieces if each.what in ("local", "central")]
    fields = [(each, split_extra(each.extra())) for each in headers]
    having = [each for each in fields if any(number == 1 for number, _ in each[1])]
    if not having:
        pieces[:] = [each for each in pieces if each.what not in ("end64", "locator")]
        return "drop end64"
    header, extra = rng.choice(having)
    header.set_extra(b"".join(extra_field(*each) for each in extra if each[0] != 1))
    return f"drop zip64 {header.what}"


RULED = 0x418  # the bits of DOS attributes that a rule looks at: volume, folder, reparse point


def free_fields(rng: random.Random, pieces: Pieces) -> str:
    """Changes fields that no rule covers, in every entry at once."""
    host = rng.choice([0, recipes.UNIX])
    for central in pick(pieces, "central"):
        local = next((p for p in pick(pieces, "local") if p.entry == central.entry), None)
        central.set("made_by", host << 8 | rng.randrange(256))
        mode = rng.choice([0, recipes.REGULAR]) | rng.randrange(0o10000)
        central.set("external", mode << 16 | rng.randrange(S16 + 1) & ~RULED)
        for name in ("time", "date"):
            value = rng.randrange(S16 + 1)
            for header in (local, central) if local else ():
                header.set(name, value)
    return "free fields"


def of_pieces(change: Change, fix: float = 0) -> Family:
    """A family of mutations; offsets are put right with the probability `fix`."""

    def family(rng: random.Random, base: Base) -> Iterator[tuple[str, bytes]]:
        while base.pieces is not None:
            with contextlib.suppress(struct.error):  # a header too short to put right
                pieces = deepcopy(base.pieces)
                kind = change(rng, pieces)
                if fixed := rng.random() < fix:
                    rng.choice([put_right, pad_right])(pieces)
                yield kind + (", fixed" if fixed else ""), join(pieces)

    return family


def from_recipes(rng: random.Random, base: Base) -> Iterator[tuple[str, bytes]]:
    while True:
        kind, file = recipes.twisted(rng)
        yield f"recipe: {kind}", file


# How many of each family.
FAMILIES: dict[str, tuple[int, Family]] = {
    "bits": (2000, bit_flips),
    "bytes": (1000, byte_changes),
    "field": (2400, of_pieces(change_field)),
    "two fields": (400, of_pieces(change_two_fields)),
    "both": (900, of_pieces(change_both_headers)),
    "ends": (200, of_pieces(change_end_records)),
    "data": (200, of_pieces(change_data)),
    "name": (300, of_pieces(change_name)),
    "structure": (500, of_pieces(change_structure, fix=0.6)),
    "swap": (60, of_pieces(swap_entries)),
    "drop": (100, of_pieces(drop_entry)),
    "insert": (300, of_pieces(insert_bytes, fix=0.6)),
    "cut": (240, of_pieces(cut_bytes, fix=0.5)),
    "resize": (60, of_pieces(resize_directory)),
    "extra": (500, of_pieces(add_extra)),
    "zip64": (80, of_pieces(drop_zip64)),
    "free": (160, of_pieces(free_fields)),
    "recipes": (600, from_recipes),
}


def vectors(folder: Path) -> dict[str, bytes]:
    """Small archives that come with the specification."""
    files = sorted(folder.rglob("*.onnxar"))
    small = [path for path in files if END.size <= path.stat().st_size < 1 << 16]
    return {str(path.relative_to(folder.parent)): path.read_bytes() for path in small}


def mutations(folder: Path) -> Iterator[Mutation]:
    """All files, beginning with the unchanged bases. `folder` holds valid and invalid vectors. Each
    file comes once.

    Half of each family begins with bases of our own, a quarter with valid vectors.
    """
    own = as_bases(recipes.bases())
    valid, invalid = (as_bases(vectors(folder / name)) for name in ("valid", "invalid"))
    others = as_bases(foreign.zips())
    seen: set[bytes] = set()
    yield from _new(seen, (Mutation("none", *each[:2]) for each in own + valid + invalid + others))
    crafted = recipes.crafted().items()
    yield from _new(seen, (Mutation(f"crafted: {name}", "none", file) for name, file in crafted))
    for name, (count, family) in FAMILIES.items():
        for share, group in ((count // 2, own), (count // 4, valid), (count // 4, invalid)):
            made = islice(_in_turn(name, family, group), 8 * count)  # small families run out of new files
            yield from islice(_new(seen, made), share)


def as_bases(files: dict[str, bytes]) -> list[Base]:
    return [Base(name, file, dissect(file)) for name, file in files.items()]


def _new(seen: set[bytes], made: Iterable[Mutation]) -> Iterator[Mutation]:
    for each in made:
        if each.file not in seen:
            seen.add(each.file)
            yield each


def _in_turn(name: str, family: Family, group: list[Base]) -> Iterator[Mutation]:
    running = [(base, family(random.Random(f"{name} {base.name}"), base)) for base in group]
    while running:
        for each in running[:]:
            made = next(each[1], None)
            if made is None:
                running.remove(each)
            else:
                yield Mutation(made[0], each[0].name, made[1])

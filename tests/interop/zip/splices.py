"""Mutations of whole files: records of two archives mixed, archives joined, files cut, ranges copied, comments.

The mutations of mutations.py stay within one archive.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from copy import deepcopy

import recipes
from foreign import deflate
from mutations import Base, headers_of
from pieces import Piece, Pieces, join, pad_right, pick, put_right, state
from support.archives import END, extra_field

Splice = Callable[[random.Random, Base, Base], tuple[str, bytes]]


def beside(pieces: Pieces, others: Pieces) -> Pieces:
    """A copy of the other pieces, with entries that are numbered on."""
    shift = 1 + max(piece.entry for piece in pieces)
    out = deepcopy(others)
    for piece in out:
        piece.entry += shift if piece.entry >= 0 else 0
    return out


def perhaps_right(rng: random.Random, pieces: Pieces, always: bool = False) -> bytes:
    if always or rng.random() < 0.8:
        rng.choice([put_right, pad_right])(pieces)
    return join(pieces)


def joined_raw(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """One after the other; the offsets of the second are those in the whole file, or as they were."""
    gap = rng.choice([b"", b"", bytes(rng.randrange(1, 130))])
    if second.pieces is None or rng.random() < 0.4:
        return "joined", first.file + gap + second.file
    pieces = [Piece("rest", -1, bytearray(first.file + gap)), *deepcopy(second.pieces)]
    return "joined, fixed", perhaps_right(rng, pieces, always=True)


def merged(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """One zip of the entries of both. The directory lists all of them, or those of one."""
    mine, others = deepcopy(first.pieces), beside(first.pieces, second.pieces)
    ending = [p for p in mine if p.what in ("end64", "locator", "end")]
    body = [p for p in mine if p.what not in ("central", "end64", "locator", "end")]
    body += [p for p in others if p.what not in ("central", "end64", "locator", "end")]
    lists = rng.choice([(mine, others), (mine, others), (others, mine), (mine,), (others,)])
    listed = [piece for each in lists for piece in pick(each, "central")]
    return "merged", perhaps_right(rng, [*body, *listed, *ending])


def spliced(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """The head of one and the tail of the other, cut between records."""
    head = deepcopy(first.pieces)[: rng.randrange(1, len(first.pieces))]
    tail = deepcopy(second.pieces)[rng.randrange(len(second.pieces)) :]  # entries keep their numbers, so some meet
    return "spliced", perhaps_right(rng, [*head, *tail])


def record_from_other(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """A record of another file, in the place of one of the same kind or before any."""
    pieces = deepcopy(first.pieces)
    piece = deepcopy(rng.choice(second.pieces))
    alike = [n for n, each in enumerate(pieces) if each.what == piece.what]
    if alike and rng.random() < 0.7:
        pieces[rng.choice(alike)] = piece
    else:
        pieces.insert(rng.randrange(len(pieces)), piece)
    return f"record of another: {piece.what}", perhaps_right(rng, pieces)


def second_directory(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """Directory and end of another zip somewhere in the file: in front, between entries, after the end."""
    pieces = deepcopy(first.pieces)
    others = [p for p in beside(pieces, second.pieces) if p.what in ("central", "end64", "locator", "end")]
    at = rng.choice([0, rng.randrange(len(pieces)), len(pieces)])
    pieces[at:at] = [Piece("rest", -1, bytearray(join(others)))]
    return "second directory", perhaps_right(rng, pieces)


def cut(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    at = rng.randrange(1, len(first.file))
    return rng.choice([("cut tail", first.file[:at]), ("cut front", first.file[at:])])


def copied_range(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """Bytes of the file, or of another, written over others or between them."""
    source, file = rng.choice([first.file, second.file]), bytearray(first.file)
    start, length = rng.randrange(len(source)), rng.choice([1, 4, 30, 46, 64, 200])
    at = rng.randrange(len(file))
    over = rng.random() < 0.5
    copied = source[start : start + length]
    file[at : at + len(copied) * over] = copied
    return "range over" if over else "range between", bytes(file)


def comment(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """A comment of an entry or of the file, which may look like records."""
    pieces = deepcopy(first.pieces)
    texts = (b"a comment", b"PK\5\6" + bytes(18), b"PK\6\7" + bytes(16), second.file, END.pack(comment_length=4) + b"abcd")
    text = rng.choice(texts)[: rng.choice([40, 400, 60000])]
    piece = rng.choice([*pick(pieces, "central")[:1], *pick(pieces, "end")])
    piece.set_comment(text)
    return f"comment {piece.what}", perhaps_right(rng, pieces)


def one_name(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """The name in one of the two headers alone; often as long as before."""
    pieces = deepcopy(first.pieces)
    header = rng.choice(headers_of(rng, pieces))
    name = bytearray(header.name())
    if name and rng.random() < 0.7:
        name[rng.randrange(len(name))] ^= rng.choice([0x20, 1, 0x80])
    else:
        name += rng.choice([b"x", b"/", b"\0", b"\0x", b" ", b"."])
    header.rename(bytes(name))
    return f"name in {header.what}", perhaps_right(rng, pieces)


def names_alike(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """An entry gets the name of another one, or nearly."""
    pieces = deepcopy(first.pieces)
    local, central = headers_of(rng, pieces)
    name = rng.choice(pick(pieces, "central")).name()
    name = rng.choice([name, name.upper(), name + b"/", b"./" + name, name + b"/x", name + b".", name.swapcase()])
    for header in (local, central):
        header.rename(name)
    return "names alike", perhaps_right(rng, pieces, always=True)


def attributes(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """Kind of file, host and DOS attributes, of any kind."""
    pieces = deepcopy(first.pieces)
    central = rng.choice(pick(pieces, "central"))
    kinds = (0, 0o010000, 0o020000, 0o040000, 0o060000, 0o100000, 0o120000, 0o140000)
    central.set("made_by", rng.randrange(22) << 8 | rng.choice([10, 20, 45, 63, 255]))
    mode = rng.choice([0, *kinds]) | rng.randrange(0o10000)
    central.set("external", mode << 16 | rng.choice([0, 0x20, 0x10, 8, rng.randrange(1 << 16)]))
    return "attributes", join(pieces)


# Numbers of extra fields that some reader gives a meaning: stamps, owners, names, links, encryption, padding.
KNOWN_EXTRAS = (
    1, 7, 8, 9, 0xA, 0xC, 0xD, 0xE, 0xF, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x65, 0x7C8, 0x2605, 0x2705, 0x334D,
    0x4154, 0x4246, 0x4341, 0x4453, 0x4704, 0x470F, 0x4B46, 0x4C41, 0x4D49, 0x4D63, 0x4F4C, 0x5356, 0x5455, 0x554E,
    0x5855, 0x6375, 0x6542, 0x6854, 0x6C78, 0x7075, 0x7441, 0x756E, 0x7855, 0x7875, 0x9901, 0x9902, 0xA11E, 0xA220,
    0xCAFE, 0xD935, 0xE57A, 0xFB4A, 0xFD4A,
)  # fmt: skip


def other_extra(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """An extra field that readers know, with bytes that may fit it, in one header or both."""
    pieces = deepcopy(first.pieces)
    local, central = headers_of(rng, pieces)
    number = rng.choice([*KNOWN_EXTRAS, rng.randrange(1 << 16)])
    name = rng.choice([b"renamed", central.name(), b"../x"])
    crc = zlib.crc32(central.name())
    mode = struct.pack("<H", rng.choice([0o120777, 0o040755, 0o100644]))
    payloads = (
        b"", bytes(rng.randrange(40)), rng.randbytes(rng.randrange(40)), struct.pack("<BI", 1, crc) + name,
        struct.pack("<I", zlib.crc32(mode + bytes(8) + name)) + mode + bytes(8) + name,  # ASi Unix
        struct.pack("<BHI", 6, 0o120777, 0) + name, b"\x01" + mode + b"\x00\x00", bytes(4) + b"\1\0\x18\0" + bytes(24),
        struct.pack("<HHBH", 2, 0x4541, 3, 8),
    )  # fmt: skip
    field = extra_field(number, rng.choice(payloads))
    for header in rng.choice([(local,), (central,), (local, central)]):
        header.set_extra(rng.choice([field + header.extra(), header.extra() + field]))
    return f"extra {number:#06x}", perhaps_right(rng, pieces, always=True)


def other_stream(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    """Deflated data in another form, or damaged; headers and descriptor state its size and what it inflates to."""
    pieces = deepcopy(first.pieces)
    local, central = headers_of(rng, pieces)
    data = next(each for each in pick(pieces, "data") if each.entry == central.entry)
    content = rng.choice([b"", bytes(data.data), b"abc" * rng.randrange(99)])
    whole = deflate(content)
    flipped = bytearray(whole)
    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    stored_blocks = b"\0\0\0\xff\xff" * rng.randrange(4) + whole
    streams = (whole, whole + b"\0", whole + whole, whole[:-1], bytes(flipped), stored_blocks, b"")
    data.data[:] = rng.choice(streams)
    for header in (local, central):
        header.set("method", 8)
    state(pieces, local, central, content, len(data.data))
    return "stream", perhaps_right(rng, pieces, always=True)


NEED_PIECES: tuple[Splice, ...] = (
    merged, spliced, record_from_other, second_directory, comment, one_name, names_alike, attributes,
    other_extra, other_stream,
)  # fmt: skip
ANY: tuple[Splice, ...] = (joined_raw, cut, copied_range)


def splice(rng: random.Random, first: Base, second: Base) -> tuple[str, bytes]:
    whole = first.pieces is not None and second.pieces is not None
    made, file = rng.choice([*ANY, *(NEED_PIECES if whole else ())])(rng, first, second)
    if rng.random() < 0.1:
        file += rng.choice([b"\0", bytes(22), recipes.nested()])
        made += ", more"
    return made, file

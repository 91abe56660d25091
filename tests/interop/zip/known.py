"""Lists where other readers may differ from ours, each with a reason.

A difference that is not in this table is a fault of ours, or of the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from foreign import DESCRIBED, DESCRIPTOR, DESCRIPTOR64
from mutations import Mutation
from peers import Read, Refused
from pieces import Pieces, dissect, pick, split_extra
from recipes import S16, S32
from support.archives import END, LOCAL, LOCATOR, ZIP64_ID

Answer = list[Read] | Refused  # of a reader


class Case(NamedTuple):
    """A file that our reader accepts, and how it reads it."""

    mutation: Mutation
    entries: list[Read]
    strict: bool  # as an archive; otherwise as a zip of another maker

    @property
    def pieces(self) -> Pieces:
        return dissect(self.mutation.file) or []


class Known(NamedTuple):
    why: str
    holds: Callable[[Case, Answer], bool]


def files_of(entries: list[Read]) -> list[Read]:
    """Without folders, which hold nothing; in an order of their own, because directories have any."""
    files = (e for e in entries if not (e.name.endswith(b"/") and e.size == 0))
    return sorted(files, key=lambda each: each[:3])


def same(case: Case, answer: Answer) -> bool:
    """Whether both read the same names and bytes; of an archive also in the same order."""
    if isinstance(answer, Refused):
        return False
    return answer == case.entries or (not case.strict and files_of(answer) == files_of(case.entries))


def zip64_of(extra: bytes) -> bytes | None:
    return dict(split_extra(extra)).get(ZIP64_ID)


# --- refusals ------------------------------------------------------------------------------------


def one_local_sentinel(case: Case, answer: Answer) -> bool:
    def odd(sizes: list[int], zip64: bytes | None) -> bool:
        return zip64 is not None and sizes.count(S32) == 1

    local = pick(case.pieces, "local")
    there = any(odd([p.get("size"), p.get("compressed")], zip64_of(p.extra())) for p in local)
    return there and isinstance(answer, Refused)


def greater_local_version(case: Case, answer: Answer) -> bool:
    central = {p.name(): p.get("version") for p in pick(case.pieces, "central")}
    local = pick(case.pieces, "local")
    greater = any(p.get("version") > central.get(p.name(), 0) for p in local)
    return greater and isinstance(answer, Refused)


def sentinel_in_directory(case: Case, answer: Answer) -> bool:
    """Refused, or the sentinel is stated as the size of the right bytes."""
    names = ("size", "compressed", "offset")
    if not any(p.get(name) == S32 for p in pick(case.pieces, "central") for name in names):
        return False
    if isinstance(answer, Refused):
        return True
    stated = [each.stated for each in answer]
    return set(stated) <= {S32, None} and same(case, [e._replace(stated=None) for e in answer])


def size_alone_in_zip64(case: Case, answer: Answer) -> bool:
    """Of the end record's values only the directory's size is in the zip64 end record."""
    ends = pick(case.pieces, "end")
    wide = {"entries": S16, "directory_size": S32, "directory_offset": S32}
    stated = {name for end in ends for name, sentinel in wide.items() if end.get(name) == sentinel}
    return stated == {"directory_size"} and isinstance(answer, Refused)


# --- another archive in the file -----------------------------------------------------------------


def stray_locator(case: Case, answer: Answer) -> bool:
    """A locator lies in data, or in a state before the last edit but one (T2, which `check` verifies),
    and not before the end record."""
    file = case.mutation.file
    proper = file[-END.size - LOCATOR.size :].startswith(LOCATOR.signature)
    stray = LOCATOR.signature in file[-(1 << 16) :]
    return stray and not proper


# --- readers that begin at the front -------------------------------------------------------------


def is_gap(pieces: Pieces, at: int) -> bool:
    """Whether a piece is bytes of no listed entry. A data descriptor without a signature is not."""
    if pieces[at].what != "rest":
        return False
    described = at > 1 and pieces[at - 2].what == "local" and pieces[at - 2].get("flags") & DESCRIBED
    return not (described and bytes(pieces[at].data) in unsigned_descriptors(pieces, pieces[at - 2].entry))


def unsigned_descriptors(pieces: Pieces, entry: int) -> list[bytes]:
    central = next(piece for piece in pick(pieces, "central") if piece.entry == entry)
    values = {name: central.get(name) for name in DESCRIPTOR.fields}
    return [form.pack(**values)[len(form.signature) :] for form in (DESCRIPTOR, DESCRIPTOR64)]


def unlisted_bytes(case: Case, answer: Answer) -> bool:
    """Bytes of no listed entry are between the entries (F1), such as those of superseded models. Entries before them
    are read like ours; those after them are ours or have their header in these bytes."""
    pieces = case.pieces
    directory = next((n for n, piece in enumerate(pieces) if piece.what == "central"), 0)
    gaps = [n for n in range(directory) if is_gap(pieces, n)]
    if not gaps or isinstance(answer, Refused):
        return bool(gaps)
    before = sum(piece.what == "local" for piece in pieces[: gaps[0]])
    unlisted = b"".join(pieces[n].data for n in gaps)
    if len(answer) < before or not all(map(alike, case.entries[:before], answer)):
        return False
    return all(
        any(alike(ours, each) for ours in case.entries) or (LOCAL.signature in unlisted and each.name in unlisted)
        for each in answer[before:]
    )


def alike(ours: Read, theirs: Read) -> bool:
    """Whether the entries are equal, except for how a name beyond ASCII is decoded."""
    return ours == theirs or (not ours.name.isascii() and ours[1:3] == theirs[1:3])


UNLISTED = Known(
    "begins at the front of the file, so it sees records that the directory does not list, or ends at bytes that are "
    "not a record; background.md and F1 of other-zips.md say so",
    unlisted_bytes,
)

def wide_descriptor_of_nothing(case: Case, answer: Answer) -> bool:
    """Ends after an empty entry with a descriptor of 64-bit sizes, whose first 16 bytes also say that it is empty."""
    if isinstance(answer, Refused) or answer != case.entries[: len(answer)] or not answer:
        return False
    wide = {piece.entry for piece in pick(case.pieces, "descriptor64")}
    last = [p for p in pick(case.pieces, "central") if p.name() == answer[-1].name]
    return answer[-1].size == 0 and any(p.entry in wide for p in last)


# --- names ---------------------------------------------------------------------------------------


def beyond_ascii(case: Case, answer: Answer) -> bool:
    """A zip of another maker has names beyond ASCII; all other names, and all bytes, are read alike."""
    if case.strict or isinstance(answer, Refused):
        return False
    ours, theirs = files_of(case.entries), files_of(answer)
    odd = [each for each in ours if not each.name.isascii()]
    for each in ours:
        if each.name.isascii():
            if each not in theirs:
                return False
            theirs.remove(each)
    return odd != [] and sorted(e[1:3] for e in odd) == sorted(e[1:3] for e in theirs)


NAMES = Known(
    "decodes names beyond ASCII in its own way, with bit 11 or without it; other-zips.md says so", beyond_ascii
)

# --- all -----------------------------------------------------------------------------------------

KNOWN: dict[str, list[Known]] = {
    "libzip": [
        Known("refuses a local zip64 field of both sizes, as APPNOTE has it, where only one of the two sends there",
              one_local_sentinel),
        Known("its consistency check, which few programs ask for, refuses a local header that needs a greater version than "
              "the directory says", greater_local_version),
    ],
    "minizip": [
        Known("1.1 on 64-bit machines compares sentinels with 2^64 - 1 and so takes them for values: it seeks to 4 GiB, or "
              "states a size of 4 GiB - 1 and hands out the right bytes", sentinel_in_directory),
        Known("takes the last zip64 locator in the last 64 KiB, wherever it stands, for the archive's: what an entry holds "
              "no format can rule out", stray_locator),
    ],
    "bsdtar piped": [UNLISTED],
    "go": [Known("compares the size of the directory with 0xFFFF instead of 0xFFFFFFFF, so it does not look for the zip64 "
                 "end record if only this size is there", size_alone_in_zip64)],
    "java ZipInputStream": [
        UNLISTED,
        Known("takes a data descriptor with 64-bit sizes for one with 32-bit sizes if the entry is smaller than 4 GiB; after an "
              "empty entry it ends without an error", wide_descriptor_of_nothing),
    ],
}  # fmt: skip
EVERYWHERE = [NAMES]


def reason(peer: str, case: Case, answer: Answer) -> str | None:
    """The reason why the peer may differ; None if it may not."""
    listed = [*KNOWN.get(peer, []), *EVERYWHERE]
    return next((known.why for known in listed if known.holds(case, answer)), None)

"""Lists where other readers may differ from ours, each with a reason.

A difference that is not in this table is a fault of ours, or of the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mutations import Mutation, Pieces, dissect, pick, split_extra
from peers import Read, Refused
from recipes import LOCATOR, S32, ZIP64_ID
from support.archives import END

Answer = list[Read] | Refused


class Case(NamedTuple):
    """A file that our reader accepts, and how it reads it."""

    mutation: Mutation
    entries: list[Read]

    @property
    def pieces(self) -> Pieces:
        return dissect(self.mutation.file) or []


class Known(NamedTuple):
    why: str
    holds: Callable[[Case, Answer], bool]


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
    return {S32, None} == set(stated) and [e._replace(stated=None) for e in answer] == case.entries


# --- another archive in the file -----------------------------------------------------------------


def stray_locator(case: Case, answer: Answer) -> bool:
    """A locator lies in data, or in a state before the last edit but one (T2, which `check` verifies),
    and not before the end record."""
    file = case.mutation.file
    proper = file[-END.size - LOCATOR.size :].startswith(LOCATOR.signature)
    stray = LOCATOR.signature in file[-(1 << 16) :]
    return stray and not proper


KNOWN: dict[str, list[Known]] = {
    "python": [],
    "libzip": [
        Known(
            "refuses a local zip64 field of both sizes, as APPNOTE has it, where only one of the "
            "two sends there",
            one_local_sentinel,
        ),
        Known(
            "its consistency check, which few programs ask for, refuses a local header that needs a "
            "greater version than the directory says",
            greater_local_version,
        ),
    ],
    "minizip": [
        Known(
            "1.1 on 64-bit machines compares sentinels with 2^64 - 1 and so takes them for values: "
            "it seeks to 4 GiB, or states a size of 4 GiB - 1 and hands out the right bytes",
            sentinel_in_directory,
        ),
        Known(
            "takes the last zip64 locator in the last 64 KiB, wherever it stands, for the "
            "archive's: what an entry holds no format can rule out",
            stray_locator,
        ),
    ],
    "bsdtar": [],
    "7z": [],
    "unzip": [],
}


def reason(peer: str, case: Case, answer: Answer) -> str | None:
    """The reason why the peer may differ; None if it may not."""
    return next((known.why for known in KNOWN[peer] if known.holds(case, answer)), None)

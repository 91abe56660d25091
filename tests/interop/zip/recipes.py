"""Makes archives from recipes. They are valid, and cover every way in which two valid ones differ.

A `Recipe` says what stands in each free place: names, times, attributes, forms of zip64, edits.
What is built from it keeps the rules unless the recipe asks for something they forbid.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from support.archives import ALIGNMENT_ID, END, LOCATOR, MODEL, PADDING_ID, alignment_field, builder, zip64_field
from support.archives import SENTINEL16 as S16, SENTINEL32 as S32, ZIP64_END as END64
from support.stock_layout import record

UNIX, REGULAR = 3, 0o100000

# --- recipes -------------------------------------------------------------------------------------


class Zip64(NamedTuple):
    """How a header states its sizes in 64 bits."""

    sentinels: frozenset[str]  # fields of 32 bits that send the reader to the zip64 field
    complete: bool = False  # all three values in the directory, also without sentinels
    disk: bool = False  # and the number of the disk


def sentinels(zip64: Zip64 | None, *names: str) -> dict[str, int]:
    return {name: S32 for name in ("size", "compressed", *names) if zip64 and name in zip64.sentinels}


@dataclass(frozen=True)
class Item:
    """An entry."""

    name: str
    data: bytes
    alignment: int = 64
    shared: dict[str, int] = field(default_factory=dict)  # fields of both headers
    made_by: int = 10
    external: int = 0
    local_zip64: Zip64 | None = None
    central_zip64: Zip64 | None = None
    padding_id: int = PADDING_ID
    where_needed: bool = False  # no padding record where the data is aligned without one
    longer: int = 0  # zeros more than needed, in multiples of the alignment
    zip64_last: bool = False  # the local zip64 field follows the padding
    repeated: bool = False  # the alignment record is also in the directory
    local_own: dict[str, int] = field(default_factory=dict)  # fields of the local header alone
    central_own: dict[str, int] = field(default_factory=dict)
    local_extra: bytes = b""  # before the padding
    central_extra: bytes = b""

    def entry(self, at: int) -> builder.Entry:
        """As the builder of the vectors takes it, for a local header at this offset."""
        wide = zip64_field(len(self.data), len(self.data)) if self.local_zip64 else b""
        before, after = (b"", wide) if self.zip64_last else (wide, b"")
        own = {"made_by": self.made_by, "external": self.external}
        entry = builder.Entry(
            self.name, self.data, self.alignment, record=self.padding_id, where_needed=self.where_needed,
            both={"version": 45 if self.local_zip64 or self.central_zip64 else 10, **self.shared},
            local={**sentinels(self.local_zip64), **self.local_own},
            central={**own, **sentinels(self.central_zip64, "offset"), **self.central_own},
            extra=before + self.local_extra, after=after, central_extra=self.directory_extra(at),
        )  # fmt: skip
        return replace(entry, padding=self.long_padding(at, entry)) if self.longer else entry

    def long_padding(self, at: int, entry: builder.Entry) -> bytes:
        end = at + len(replace(entry, padding=b"").local_header(at))
        if self.where_needed and end % self.alignment == 0:
            return b""
        return record(self.padding_id, self.alignment, -(end + 6) % self.alignment + self.longer * self.alignment)

    def directory_extra(self, at: int) -> bytes:
        extra = self.central_extra + (alignment_field(self.alignment) if self.repeated else b"")
        if (zip64 := self.central_zip64) is None:
            return extra
        real = {"size": len(self.data), "compressed": len(self.data), "offset": at}
        held = [value for name, value in real.items() if zip64.complete or name in zip64.sentinels]
        return zip64_field(*held, disk=0 if zip64.disk else None) + extra


@dataclass(frozen=True)
class State:
    """What one writing of an archive adds: entries, the model last; and how it ends."""

    items: tuple[Item, ...]
    end: frozenset[str] | None = None  # fields of the end record that are sentinels, with zip64
    end_made_by: int = 45


Recipe = tuple[State, ...]  # all but the first are edits


def build(recipe: Recipe) -> bytes:
    archive = builder.Archive([])
    archive.file.clear()
    for state in recipe:
        for per_entry in (archive.entries, archive.headers, archive.data):
            del per_entry[-1:]  # the model is superseded
        for item in state.items:
            archive.add(item.entry(len(archive.file)))
        archive.finish(zip64=state.end is not None)
        if state.end is not None:
            count, size = len(archive.entries), archive.zip64_end - archive.directory
            values = dict(zip(END_VALUES, (count, count, size, archive.directory)))
            archive.set_zip64_end(made_by=state.end_made_by)
            archive.set_end(**{name: value for name, value in values.items() if name not in state.end})
    return bytes(archive.file)


END_VALUES = ("entries_here", "entries", "directory_size", "directory_offset")

# --- what recipes are made of --------------------------------------------------------------------

ASCII_NAMES = (
    "w", "a.b", "dir/tokenizer.json", "with space", " lead", "trail ", "dot.", "CON", "-rf",
    "@list", "*", "w?", "[a-z]", "a[", "~", "$HOME", "%41", "a:b", "12", "a;b", "'q'", '"q"',
    "!x", "#U0041", "__MACOSX/._w", "._w", "META-INF/MANIFEST.MF", "mimetype", "a/b/c/d",
    "x" * 1024, "n" * 255, "...", "a..b", "<>|", "=2D", "__model_protO_", "PK\x5b", "x.zip", "-",
    "{}", "^", "`id`", "a/.b", "..a",
)  # fmt: skip
OTHER_NAMES = (
    "größe", "e\u0301", "\u00e9", "重み", "😀", "\ufeffbom", "a\u202eb", "\u2028", "\u00ad",
    "\u00a0", "\ufffd", "\uffff", "\U0010ffff", "\ue000", "\uef80", "\uf022", "\u0130", "Å/Å",
    "\u200b", "µ" * 512, "дир/вес", "\ufdd0", "\u00b4", "\u2044", "a\u2215b", "\uff0f", "x\u0378",
)  # fmt: skip


def nested() -> bytes:
    """A whole archive, as bytes of an entry."""
    return build((State((Item("inner", b"inner"), Item(MODEL, b"\x3a\x00"))),))


def contents(rng: random.Random) -> bytes:
    choices: tuple[Callable[[], bytes], ...] = (
        lambda: b"",
        lambda: rng.randbytes(rng.randrange(1, 200)),
        lambda: b"PK\3\4" + rng.randbytes(40),
        lambda: b"PK\5\6" + bytes(18),
        lambda: rng.randbytes(8) + b"PK\7\x08" + rng.randbytes(12),
        nested,
        lambda: nested() + b"PK\1\2",
        lambda: bytes(64),
        lambda: b"\xd2\x9d\xfb\x5b",  # anything, the CRC is computed
    )
    return rng.choice(choices)()


def plain(*names: str, seed: object = 0) -> State:
    rng = random.Random(str(seed))
    items = [Item(name, rng.randbytes(60 + 7 * n)) for n, name in enumerate(names)]
    return State((*items, Item(MODEL, b"\x3a\x00")))


ALL_END = frozenset(END_VALUES)
SIZES, OFFSET = frozenset({"size", "compressed"}), frozenset({"offset"})


def zip64_everywhere(state: State) -> State:
    both, all_three = Zip64(SIZES), Zip64(SIZES | OFFSET)
    items = [replace(item, local_zip64=both, central_zip64=all_three) for item in state.items]
    return replace(state, items=tuple(items), end=ALL_END)


def edits(count: int) -> Recipe:
    first = plain("a", "b", seed="first")
    more = [State((*([Item(f"n{n}", bytes(n + 5))] * (n % 2)), Item(MODEL, b"\x3a\x02\x12\x00")))
            for n in range(count)]  # fmt: skip
    return (first, *more)


def bases() -> dict[str, bytes]:
    """The archives that all other mutations begin with."""
    unix = {"made_by": UNIX << 8 | 10, "external": (REGULAR | 0o644) << 16}
    unix_made = State((Item("a b", b"12345678", **unix), *plain("dir/w").items))
    files = {
        "smallest": (plain(),),
        "plain": (plain("a", "b"),),
        "made on Unix": (unix_made,),
        "empty entry": (State((Item("none", b""), *plain("w").items)),),
        "zip64": (zip64_everywhere(plain("a", "b")),),
        "zip64 end": (replace(plain("a", "b"), end=ALL_END),),
        "nested": (State((Item("inner.zip", nested()), *plain().items)),),
        "edited once": edits(1),
        "edited twice": edits(2),
        "edited zip64": tuple(map(zip64_everywhere, edits(1))),
    }
    return {name: build(recipe) for name, recipe in files.items()}


# --- twists: changes of a recipe that keep the rules, or nearly ----------------------------------

def subset(rng: random.Random, names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in sorted(names) if rng.random() < 0.5)


def random_name(rng: random.Random) -> str:
    points = [*range(0x20, 0x7F), *range(0xA0, 0x250), *range(0x4E00, 0x4F00)]
    return "".join(chr(rng.choice(points)) for _ in range(rng.randrange(1, 12)))


def other_central_zip64(rng: random.Random) -> Zip64:
    complete = rng.random() < 0.5
    return Zip64(subset(rng, SIZES | OFFSET), complete, complete and rng.random() < 0.5)


def other_attributes(rng: random.Random) -> int:
    return (rng.choice([0, REGULAR]) | rng.randrange(0o10000)) << 16 | rng.randrange(S16) & ~0x18


def free_bits(rng: random.Random) -> dict[str, Any]:
    text = {"internal": rng.randrange(2)}
    return {"local_own": {"flags": rng.choice([0, 0x800])}, "central_own": {"flags": rng.choice([0, 0x800]), **text}}


def other_maker(rng: random.Random) -> int:
    return rng.choice([0, UNIX, rng.randrange(20)]) << 8 | rng.randrange(256)


# Each says which fields get another value. Headers of the names of "no padding" end at a multiple of 64 in a first entry.
TWISTS: dict[str, Callable[[random.Random, Item], dict[str, Any]]] = {
    "ascii name": lambda rng, item: {"name": rng.choice(ASCII_NAMES)},
    "unicode name": lambda rng, item: {
        "made_by": rng.choice([UNIX << 8 | 10, UNIX << 8 | 63, 10, 20, 45, 63]), "name": rng.choice(OTHER_NAMES)
    },
    "random name": lambda rng, item: {"name": random_name(rng), "made_by": UNIX << 8 | 10},
    "data": lambda rng, item: {"data": contents(rng)},
    "time": lambda rng, item: {
        "shared": item.shared | {"time": rng.choice([0, S16, rng.randrange(S16)]), "date": rng.randrange(S16 + 1)}
    },
    "version": lambda rng, item: {"shared": item.shared | {"version": rng.randrange(10, 46)}},
    "made by": lambda rng, item: {"made_by": other_maker(rng)},
    "attributes": lambda rng, item: {"external": other_attributes(rng)},
    "host and attributes": lambda rng, item: {"external": other_attributes(rng), "made_by": other_maker(rng)},
    "alignment": lambda rng, item: {"alignment": rng.choice([64, 128, 256, 512, 1024, 4096])},
    "padding": lambda rng, item: {
        "longer": rng.choice([0, 0, 0, 1, 5]), "padding_id": ALIGNMENT_ID, "repeated": rng.random() < 0.5
    },
    "no padding": lambda rng, item: {
        "name": rng.choice(("n" * 34, "m" * 98)), "where_needed": True, "data": rng.randbytes(21 + 64)
    },
    "padding before zip64": lambda rng, item: {
        "padding_id": rng.choice([PADDING_ID, ALIGNMENT_ID]), "local_zip64": Zip64(SIZES), "zip64_last": True
    },
    "versions that differ": lambda rng, item: {
        own: {"version": rng.choice([10, 20, 45])} for own in ("local_own", "central_own")
    },
    "free bits": lambda rng, item: free_bits(rng),
    "local zip64": lambda rng, item: {"local_zip64": Zip64(subset(rng, SIZES))},
    "central zip64": lambda rng, item: {"central_zip64": other_central_zip64(rng)},
}  # fmt: skip


def clearly_named(items: list[Item]) -> list[Item]:
    """Numbers the names that occur twice."""
    seen: set[str] = set()
    out = []
    for n, item in enumerate(items):
        name = item.name if item.name.lower() not in seen else f"{n}{item.name[:200]}"
        seen.add(name.lower())
        out.append(replace(item, name=name))
    return out


def twisted(rng: random.Random, only: str | None = None) -> tuple[str, bytes]:
    """A random recipe: the names of its twists, and what is built from it."""
    recipe = [plain(*"abc"[: rng.randrange(4)], seed=rng.random())]
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        added = [Item(f"new{len(recipe)}", rng.randbytes(9))] * rng.randrange(2)
        recipe.append(State((*added, Item(MODEL, b"\x3a\x02" + rng.randbytes(2)))))
    if rng.random() < 0.3:  # readers need not ask for zip64 end records to find them
        n = rng.randrange(len(recipe))
        recipe[n] = replace(recipe[n], end=subset(rng, END_VALUES), end_made_by=rng.randrange(S16))
    chosen = rng.sample(sorted(TWISTS), rng.choice([1, 1, 1, 2, 3])) if only is None else [only]
    for name in chosen:
        n = rng.randrange(len(recipe))
        items = list(recipe[n].items)
        index = rng.randrange(len(items))
        changed = replace(items[index], **TWISTS[name](rng, items[index]))
        if items[index].name == MODEL:
            changed = replace(changed, name=MODEL, data=changed.data or b"\x3a\x00")
        items[index] = changed
        recipe[n] = replace(recipe[n], items=tuple(items))
    numbered = iter(clearly_named([item for state in recipe for item in state.items[:-1]]))
    whole = [
        replace(state, items=(*(next(numbered) for _ in state.items[:-1]), state.items[-1]))
        for state in recipe
    ]
    return " + ".join(sorted(chosen)), build(tuple(whole))


# --- files that invite two readings --------------------------------------------------------------

SAME_CRC = 0x1DB710641  # the polynomial: bytes that differ by it have the same CRC-32


def other_of_same_crc(data: bytes) -> bytes:
    changed = int.from_bytes(data, "little") ^ SAME_CRC << 80
    return changed.to_bytes(len(data), "little")


def zip64_field_out_of_order() -> bytes:
    """A field with all three values although only the offset has a sentinel. A reader that takes the
    first value as the offset finds the model before the edit."""
    w, old = Item("w", bytes(60)), random.Random(0).randbytes(300)
    old_header = len(w.entry(0).local_header(0)) + len(w.data)
    new = Item(MODEL, other_of_same_crc(old[:old_header]), central_zip64=Zip64(OFFSET, True))
    return build((State((w, Item(MODEL, old))), State((new,))))


def end_before_edit() -> bytes:
    """Zip64 end records before an edit, and none after it. minizip uses the former."""
    first, second = edits(1)
    return build((replace(first, end=ALL_END), second))


def long_header_before_edit() -> bytes:
    """The first local header has 65600 bytes, and the next one belongs to a replaced model. 7-Zip
    begins at the latter, and takes the old model."""
    long = Item("n" * 40, b"data", longer=1023)
    old, new = (Item(MODEL, b"\x3a\x02" + text) for text in (b"\x12\x00", b"\x0a\x00"))
    return build((State((long, old)), State((new,))))


def locator_in_data() -> bytes:
    """An entry that holds zip64 end records whose offset is right for the whole file."""
    inner = bytearray(build((replace(plain("x"), end=ALL_END),)))
    at = len(inner) - END.size - LOCATOR.size
    LOCATOR.put(inner, at, offset=at - END64.size + 64)
    return build((State((Item("inner", bytes(inner)), *plain().items)),))


def composed_both_ways() -> bytes:
    unix = {"made_by": UNIX << 8 | 10}
    names = (Item("é", b"1", **unix), Item("e\u0301", b"22", **unix))
    return build((State((*names, *plain().items)),))


def setuid_of_host(host: int) -> bytes:
    """Bits that are valid in a Unix mode, and mean a folder in Amiga attributes."""
    item = Item("a", b"abcd", made_by=host << 8 | 10, external=0o4000 << 16)
    return build((State((item, *plain("w").items)),))


def crafted() -> dict[str, bytes]:
    return {
        "zip64 field out of order": zip64_field_out_of_order(),
        "end before an edit": end_before_edit(),
        "long header before an edit": long_header_before_edit(),
        "locator in data": locator_in_data(),
        "names composed both ways": composed_both_ways(),
        **{f"setuid, host {host}": setuid_of_host(host) for host in range(20)},
    }

"""Archives for tests: valid ones, and ones with exactly one fault.

The records and their layout are those of the vectors (spec/vectors/builder.py), which share nothing with the code under
test. What is added here: names beyond ASCII as zip tools write them, prefixes, and zips that are not archives.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from spec.vectors import builder
from spec.vectors.builder import (
    ALIGNMENT_ID,
    CENTRAL,
    DATE,
    END,
    LOCAL,
    LOCATOR,
    MODEL,
    PADDING_ID,
    SENTINEL16,
    SENTINEL32,
    ZIP64_END,
    ZIP64_ID,
    Record,
    alignment_field,
    encoded,
    extra_field,
    padding,
    zip64_field,
)
from support import wire_writer as wire

UNIX = {"made_by": 0x030A, "external": 0o100644 << 16}


# --- entries -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry(builder.Entry):
    """A non-ASCII name makes unzip evaluate the host that made the file, so the host is Unix then."""

    def __post_init__(self) -> None:
        if not self.name.isascii():
            object.__setattr__(self, "central", {**UNIX, **self.central})


def linked(name: str, count: int = 300, dims: Iterable[int] | None = None, **link: object) -> bytes:
    """A tensor of floats whose data is the entry with its name, linked as writers do; `link` changes the link."""
    fields = wire.DataFile(name).link(**{"offset": 0, "length": 4 * count, **link})
    return wire.fields_of(name, wire.FLOAT, [count] if dims is None else dims, fields)


def weights(*names: str, count: int = 300) -> list[Entry]:
    return [Entry(name, wire.content(wire.FLOAT, count, name)) for name in names]


def model_of(*tensors: bytes) -> Entry:
    return Entry(MODEL, wire.plain(*tensors))


# --- archives ------------------------------------------------------------------------------------


class Archive(builder.Archive):
    """Index -1 is the model."""

    def set_both(self, index: int, **values: int) -> None:
        self.set_local(index, **values)
        self.set_central(index, **values)

    def prepend(self, data: bytes) -> None:
        """Prepends bytes and adjusts every offset, as tools for self-extracting zips do."""
        for index, at in enumerate(self.headers):
            self.set_central(index, offset=at + len(data))
        self.set_end(directory_offset=self.directory + len(data))
        self.file[:0] = data


def sound() -> Archive:
    """The archive without faults to which the tests add one."""
    return Archive([*weights("a", "b"), model_of(linked("a"), linked("b"))])


# --- other zips ----------------------------------------------------------------------------------


def exported_files() -> list[tuple[str, bytes]]:
    """The model first, as exporters write it."""
    large = Entry("large", wire.content(wire.UINT8, 2 << 20, "large"))
    model = model_of(linked("a"), linked("b"))
    return [(each.name, each.data) for each in (model, *weights("a", "b"), large)]


def plain_zip(entries: Iterable[tuple[str, bytes]], order: list[int] | None = None) -> bytes:
    """Not an archive: headers without extra fields; the directory lists them in `order`."""
    archive = builder.Archive([])
    archive.file.clear()
    for name, data in entries:
        archive.add(builder.Entry(name, data, padding=b"", central={"made_by": 20}))
    archive.finish(listed=order)
    return bytes(archive.file)

"""Archives that a reader accepts, as other zip libraries lay them out: padding records or none,
zip64 fields before and after them, versions that differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import wire
from builder import (
    ALIGNMENT_ID,
    LOCAL,
    PADDING_ID,
    SENTINEL32,
    Archive,
    Entry,
    alignment_field,
    extra_field,
    padding,
    zip64_field,
)
from vector import Valid, model, sample, side_file, weight

UNNEEDED = ("zip.zip64.unneeded",)
EDITED = ("archive.tail.superseded",)
UNIX = {"made_by": 3 << 8 | 20, "external": 0o100644 << 16}
STAMP = {"time": 0x6000, "date": 0x5B76}
WIDE = {"compressed": SENTINEL32, "size": SENTINEL32}
LINKED = wire.model_of(wire.linked("a"), wire.linked("b"))
ALIGNED_NAME = "n" * 30 + ".bin"  # data follows a local header and this name at a multiple of 64
BEFORE_MODEL = 64 - LOCAL.size - 13  # so many bytes of data, and the model's follows its name at one


def vectors() -> Iterator[Valid]:
    yield from writers()
    yield from absent()
    yield from longer()
    yield from other_record()
    yield from repeated()
    yield from places_of_zip64()
    yield from edits()


def typical(**how: object) -> list[Entry]:
    """Two weights and the model, all written in the same way."""
    return [weight("a", **how), weight("b", **how), model(LINKED, **how)]


def sized(entry: Entry) -> bytes:
    return zip64_field(len(entry.data), len(entry.data))


# --- as stock libraries write --------------------------------------------------------------------


def writers() -> Iterator[Valid]:
    about = "As Python's zipfile writes: version 20, a Unix mode, padding by the caller."
    python = {"both": {"version": 20, **STAMP}, "central": UNIX}
    yield Valid("stock_python", about, Archive(typical(**python)))
    about = "As Python's zipfile writes with force_zip64: its field follows the caller's padding."
    python = {"both": {"version": 45, **STAMP}, "local": WIDE, "central": UNIX}
    entries = [replace(each, after=sized(each)) for each in typical(**python)]
    yield Valid("stock_python_zip64", about, Archive(entries), warnings=UNNEEDED)
    about = "As Python's zipfile writes beyond 4 GiB: version 20 in the local header, 45 in the directory."
    yield Valid("stock_python_far", about, far({"version": 20, **STAMP}, UNIX), warnings=UNNEEDED)

    about = "As Rust's zip writes: record 0xA11E, and none where the data is aligned without it."
    rust = {"record": ALIGNMENT_ID, "where_needed": True, "central": {**UNIX, "made_by": 3 << 8 | 45}}
    entries = [side_file(ALIGNED_NAME, **rust), *typical(**rust)]
    yield Valid("stock_rust", about, Archive(entries))
    about = "As Rust's zip writes large files: the zip64 field first, then record 0xA11E."
    rust = {"record": ALIGNMENT_ID, "both": {"version": 45}, "local": WIDE, "central": UNIX}
    entries = [replace(each, extra=sized(each)) for each in typical(**rust)]
    yield Valid("stock_rust_zip64", about, Archive(entries), warnings=UNNEEDED)

    about = "As Commons Compress writes: record 0xA11E, its number in the directory, too, and bit 11."
    java = {"record": ALIGNMENT_ID, "both": {"flags": 0x800, **STAMP}}
    java["central_extra"] = alignment_field(64)
    yield Valid("stock_java", about, Archive(typical(**java)))
    about = "As Commons Compress writes with zip64: three values in the directory, then the alignment."
    java = {**java, "both": {"flags": 0x800, "version": 45}, "local": WIDE}
    yield Valid("stock_java_zip64", about, wide_everywhere(java), warnings=UNNEEDED)

    about = "As Go's archive/zip writes with padding by the caller: version 20, no attributes."
    go = {"both": {"version": 20}, "central": {"made_by": 20}}
    yield Valid("stock_go", about, Archive(typical(**go)))
    about = "As Go's archive/zip writes beyond 4 GiB: 20 in the local header, 45 in the directory."
    yield Valid("stock_go_far", about, far({"version": 20}, {"made_by": 20}), warnings=UNNEEDED)
    about = "As Go's archive/zip writes one record into both headers, where it needs no zeros."
    whole = side_file("x" * 24 + ".bin", record=ALIGNMENT_ID, central_extra=alignment_field(64))
    yield Valid("stock_go_both", about, Archive([whole, model()]))


def far(both: dict[str, int], central: dict[str, int]) -> Archive:
    """The directory has each offset in a zip64 field, as if it did not fit; it is 45 there."""
    archive = Archive(typical(both=both))
    del archive.file[archive.directory :]
    for index, at in enumerate(archive.headers):
        values = {**central, "version": 45, "offset": SENTINEL32}
        entry = replace(archive.entries[index], central=values, central_extra=zip64_field(at))
        archive.entries[index] = entry
    archive.finish()
    return archive


def wide_everywhere(how: dict[str, object]) -> Archive:
    """Sizes in zip64 fields after the padding; in the directory sizes and offset before `how`'s."""
    entries = [replace(each, after=sized(each)) for each in typical(**how)]
    archive = Archive(entries)
    del archive.file[archive.directory :]
    for index, at in enumerate(archive.headers):
        entry = archive.entries[index]
        size = len(entry.data)
        field = zip64_field(size, size, at) + entry.central_extra
        central = {**WIDE, "offset": SENTINEL32}
        archive.entries[index] = replace(entry, central=central, central_extra=field)
    archive.finish()
    return archive


# --- padding -------------------------------------------------------------------------------------


def absent() -> Iterator[Valid]:
    about = "No padding record: the name aligns the data by itself."
    bare = side_file(ALIGNED_NAME, padding=b"")
    yield Valid("padding_missing_name", about, Archive([bare, model()]))
    about = "No padding record: a zip64 field aligns the data."
    wide = side_file("a" * 10 + ".bin", both={"version": 45}, local=WIDE, padding=b"")
    wide = replace(wide, extra=sized(wide))
    yield Valid("padding_missing_zip64", about, Archive([wide, model()]), warnings=UNNEEDED)
    about = "No padding record in any entry: names and sizes align the data by themselves."
    first = side_file(ALIGNED_NAME, BEFORE_MODEL, padding=b"")
    yield Valid("padding_missing_model", about, Archive([first, model(padding=b"")]))
    about = "No padding record in an entry without bytes."
    empty = Entry(ALIGNED_NAME, padding=b"")
    yield Valid("padding_missing_empty", about, Archive([empty, model()]))
    about = "Padding records before and after an entry without one."
    entries = [side_file("x.bin", 64), side_file(ALIGNED_NAME, padding=b""), side_file("y.bin")]
    yield Valid("padding_missing_between", about, Archive([*entries, model()]))


def longer() -> Iterator[Valid]:
    for alignment, more in ((64, 64), (64, 192), (128, 128), (64, 4096)):
        about = f"The padding for an alignment of {alignment} is {more} bytes longer than needed."
        record = padding(35, alignment)
        record = extra_field(PADDING_ID, record[4:] + bytes(more))
        archive = Archive([side_file(padding=record), side_file("b.bin"), model()])
        yield Valid(f"padding_longer_{alignment}_{more}", about, archive)
    about = "Data at a multiple of 4096, where the padding record says 64."
    record = extra_field(PADDING_ID, b"\x40\0" + padding(35, 4096)[6:])
    yield Valid("padding_longer_than_said", about, Archive([side_file(padding=record), model()]))
    about = "The longest padding record of a first entry: its data begins at 65472."
    record = extra_field(PADDING_ID, b"\x40\0" + bytes(65472 - 35 - 6))
    yield Valid("padding_longest_extra", about, Archive([Entry("a.bin", padding=record), model()]))


def other_record() -> Iterator[Valid]:
    for alignment in (64, 128, 4096, 16384):
        entries = [side_file(alignment=alignment, record=ALIGNMENT_ID), model()]
        about = f"Record 0xA11E in a local header alone: alignment {alignment}."
        yield Valid(f"alignment_a11e_{alignment}", about, Archive(entries))
    about = "Record 0xA11E without zeros: header, name and record end at 64 by themselves."
    shortest = side_file("x" * 24 + ".bin", record=ALIGNMENT_ID)
    yield Valid("padding_a11e_shortest", about, Archive([shortest, model()]))
    about = "Record 0xA11E with 64 zeros more than needed."
    record = extra_field(ALIGNMENT_ID, padding(35, 64)[4:] + bytes(64))
    yield Valid("padding_a11e_longer", about, Archive([side_file(padding=record), model()]))
    about = "Both padding records, each in entries of its own, and entries without one."
    entries = [
        side_file("x.bin", 64, record=ALIGNMENT_ID),
        side_file(ALIGNED_NAME, padding=b""),
        side_file("y.bin", alignment=128),
    ]
    yield Valid("padding_mixed", about, Archive([*entries, model(record=ALIGNMENT_ID)]))


def repeated() -> Iterator[Valid]:
    def entry(alignment: int, *fields: bytes, **more: object) -> Entry:
        record = {"record": ALIGNMENT_ID, "alignment": alignment}
        return side_file(**record, central_extra=b"".join(fields), **more)

    for alignment in (64, 512, 16384):
        about = f"The directory repeats the alignment of record 0xA11E: {alignment}."
        archive = Archive([entry(alignment, alignment_field(alignment)), model()])
        yield Valid(f"alignment_repeated_{alignment}", about, archive)
    wide = {"central": WIDE, "both": {"version": 45}}
    fields = [zip64_field(20, 20), alignment_field(64)]
    for name, order in (("after", fields), ("before", fields[::-1])):
        about = f"The directory has the alignment {name} a zip64 field."
        archive = Archive([entry(64, *order, **wide), model()])
        yield Valid(f"alignment_repeated_{name}_zip64", about, archive, warnings=UNNEEDED)
    about = "The directory repeats the alignment of one entry, not of the other."
    entries = [entry(64, alignment_field(64)), side_file("b.bin", record=ALIGNMENT_ID), model()]
    yield Valid("alignment_repeated_once", about, Archive(entries))


def places_of_zip64() -> Iterator[Valid]:
    wide = {"both": {"version": 45}, "local": WIDE}
    for name, record in (("", PADDING_ID), ("_a11e", ALIGNMENT_ID)):
        field = zip64_field(20, 20)
        about = f"A zip64 field after the padding record {record:#x}."
        archive = Archive([side_file(record=record, after=field, **wide), model()])
        yield Valid(f"padding_not_last{name}", about, archive, warnings=UNNEEDED)
    about = "A zip64 field before record 0xA11E."
    archive = Archive([side_file(record=ALIGNMENT_ID, extra=zip64_field(20, 20), **wide), model()])
    yield Valid("padding_a11e_after_zip64", about, archive, warnings=UNNEEDED)


# --- edits ---------------------------------------------------------------------------------------


def edits() -> Iterator[Valid]:
    changed = model(wire.model())
    java = {"record": ALIGNMENT_ID, "central_extra": alignment_field(64), "both": {"flags": 0x800}}
    about = "An edit of an archive that Commons Compress wrote."
    archive = Archive(typical(**java)).edit(model(LINKED))
    yield Valid("stock_edited", about, archive, notes=EDITED)
    about = "Edited, and no entry of the state before has a padding record."
    first = side_file(ALIGNED_NAME, BEFORE_MODEL, padding=b"")
    archive = Archive([first, model(padding=b"")]).edit(changed)
    yield Valid("stock_edited_without_padding", about, archive, notes=EDITED)
    about = "An edit by a tool that writes record 0xA11E, of an archive with 0xD935."
    archive = sample().edit(side_file("c.bin", record=ALIGNMENT_ID), replace(changed, **java))
    yield Valid("stock_edit", about, archive, notes=EDITED)

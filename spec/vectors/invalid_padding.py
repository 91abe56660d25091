"""Faults of padding records, and of alignments that the directory repeats (L10 to L12, L14)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from builder import (
    ALIGNMENT_ID,
    PADDING_ID,
    Archive,
    alignment_field,
    extra_field,
    padding,
)
from invalid_local import NAME_END, ROOM, SIZES, WIDE, first
from vector import Invalid, model, side_file


def vectors() -> Iterator[Invalid]:
    yield from missing_padding()
    yield from padding_records()
    yield from alignments()
    yield from repeated_alignments()


# --- L10 to L12 ----------------------------------------------------------------------------------


def missing_padding() -> Iterator[Invalid]:
    about = "No padding record: the data follows the name, at 35."
    yield first("padding_missing", "L12", about, case="a09", padding=b"")
    about = "No padding record: the data follows a zip64 field, at 55."
    differing = {"both": {"version": 45}, "local": WIDE, "extra": SIZES, "padding": b""}
    yield first("padding_missing_zip64_off", "L12", about, **differing)
    for off, spelt in ((63, "a" * 29 + ".bin"), (65, "a" * 31 + ".bin")):
        about = f"No padding record: the data follows the name, at {off}."
        yield first(f"padding_missing_{off}", "L12", about, spelt=spelt, padding=b"")
    about = "Two faults: five zero bytes are an empty field of id 0, and a stray byte."
    yield first("padding_missing_5", "L5", about, padding=bytes(5), also=("L4",))
    yield from rooms()


def rooms() -> Iterator[Invalid]:
    """Without padding records: places come first, names then, local headers of P5 last."""
    bare, far = {"padding": b""}, {"both": {"compressed": 300, "size": 300}}

    def three(*differing: dict) -> Archive:
        names = (f"{letter}.bin" for letter in "abc")
        entries = [side_file(name, **how) for name, how in zip(names, (*differing, {}, {}))]
        return Archive([*entries, model()])

    def refused(name: str, rule: str, about: str, archive: Archive, index: int) -> Invalid:
        at, entry = archive.headers[index], archive.entries[index].name
        return Invalid(f"bare_{name}", about, rule, bytes(archive.file), at, entry)

    about = "The second entry is not padded."
    yield refused("second", "L12", about, three({}, bare), 1)
    about = "The last entry, the model, is not padded."
    archive = Archive([side_file(), side_file("b.bin"), model(padding=b"")])
    yield refused("last", "L12", about, archive, 2)
    about = "The first entry is not padded, and the second runs into the third."
    yield refused("and_overlap", "P3", about, three(bare, far), 1)
    about = "The first entry runs into the second, which is not padded."
    yield refused("behind_overlap", "P3", about, three(far, bare), 0)
    about = "The first entry is not padded, and the last runs into the directory."
    archive = Archive([side_file(**bare), side_file("b.bin"), model(**far)])
    yield refused("and_bounds", "P4", about, archive, 2)
    about = "The first entry is not padded, and the third lies before the second."
    archive = three(bare).set_central(2, offset=1)
    file, at = bytes(archive.file), archive.central[2]
    yield Invalid("bare_and_order", about, "P2", file, at, "c.bin")
    about = "The second entry lies where the first does, and neither is padded."
    archive = three(bare, bare).set_central(1, offset=0)
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("bare_behind_order", about, "P2", file, at, "b.bin")
    about = "The second entry is not padded, and the third has its name."
    archive = Archive([side_file(), side_file("b.bin", **bare), side_file("b.bin"), model()])
    file, at = bytes(archive.file), archive.central[2]
    yield Invalid("bare_and_duplicate", about, "N10", file, at, "b.bin")


def padding_records() -> Iterator[Invalid]:
    zeros = ROOM - 6
    for name, filling in (
        ("first", b"\1" + bytes(zeros - 1)),
        ("last", bytes(zeros - 1) + b"\x80"),
        ("message", b"hidden".ljust(zeros, b"\0")),
    ):
        record = struct.pack("<HHH", PADDING_ID, 2 + zeros, 64) + filling
        about = f"Padding that is not all zeros: {name}."
        yield first(f"padding_not_zero_{name}", "L10", about, case="a18", padding=record)
        record = struct.pack("<HHH", ALIGNMENT_ID, 2 + zeros, 64) + filling
        about = f"Padding in record 0xA11E that is not all zeros: {name}."
        yield first(f"padding_a11e_not_zero_{name}", "L10", about, case="a18", padding=record)
    wide = {"both": {"version": 45}, "local": WIDE}
    record = padding(NAME_END + len(SIZES), 64)[:-1] + b"\1"
    about = "Padding that is not all zeros, before a zip64 field."
    yield first("padding_not_zero_before", "L10", about, **wide, extra=record, padding=SIZES)
    about = "Padding that is longer than needed, and its last byte is not zero."
    record = extra_field(PADDING_ID, padding(NAME_END, 64)[4:] + bytes(63) + b"\1")
    yield first("padding_not_zero_longer", "L10", about, padding=record)
    for number, id_ in (("", PADDING_ID), ("a11e_", ALIGNMENT_ID)):
        for size in (0, 1):
            about = f"A padding record {id_:#x} of {size} bytes, too short for an alignment."
            spelt = "a" * (6 - size) + ".bin"  # 30 + name + 20 + 4 + size = 64
            record = extra_field(id_, bytes(size))
            differing = {**wide, "spelt": spelt, "extra": SIZES, "padding": record}
            yield first(f"padding_{number}size_{size}", "L10", about, **differing)


def alignments() -> Iterator[Invalid]:
    def recorded(alignment: int, size: int = ROOM, record: int = PADDING_ID) -> bytes:
        return struct.pack("<HHH", record, size - 4, alignment) + bytes(size - 6)

    for alignment in (0, 1, 2, 32, 63, 65, 96, 0xFFFF):
        about = f"An alignment of {alignment}, no power of two from 64."
        case = "x28"
        yield first(
            f"alignment_of_{alignment}", "L11", about, case=case, padding=recorded(alignment)
        )
    for alignment in (0, 32, 65, 32768, 0x8040, 0xFFFF):
        about = f"An alignment of {alignment:#x} in record 0xA11E, no power of two from 64 to 16384."
        record = recorded(alignment, record=ALIGNMENT_ID)
        yield first(f"alignment_a11e_of_{alignment:x}", "L11", about, case="x28", padding=record)
    about = "Data at 32768, as record 0xA11E says, which cannot say so."
    record = padding(NAME_END, 32768, ALIGNMENT_ID)
    yield first("alignment_a11e_true", "L11", about, padding=record)
    for name, id_ in (("", PADDING_ID), ("a11e_", ALIGNMENT_ID)):
        for alignment in (128, 4096, 16384 if name else 32768):
            about = f"An alignment of {alignment} is recorded, and the data is at 64."
            record = recorded(alignment, record=id_)
            yield first(
                f"alignment_{name}false_{alignment}", "L12", about, case="x26", padding=record
            )
    for less in (1, 8, 23):
        about = f"Data at {64 - less}, where the padding record says 64."
        record = recorded(64, ROOM - less)
        yield first(f"alignment_off_by_{less}", "L12", about, case="a09", padding=record)
    about = "Data at 41, where record 0xA11E says 64."
    record = recorded(64, 6, ALIGNMENT_ID)
    yield first("alignment_a11e_off", "L12", about, case="a09", padding=record)


# --- L14 -----------------------------------------------------------------------------------------


def repeated_alignments() -> Iterator[Invalid]:
    """The directory says 64 unless something else is given."""

    def repeated(name: str, rule: str, about: str, number: int = 64, **local: object) -> Invalid:
        return first(
            f"alignment_repeated_{name}", rule, about, central_extra=alignment_field(number), **local
        )

    own = {"record": ALIGNMENT_ID}
    about = "The directory says an alignment, and the local header has no record of one."
    yield repeated("alone", "L14", about, spelt="a" * 30 + ".bin", padding=b"")
    about = "The directory says an alignment, and the local header's record is 0xD935."
    yield repeated("d935", "L14", about)
    about = "The directory says alignment 64, the local header 128."
    yield repeated("less", "L14", about, alignment=128, **own)
    about = "The directory says alignment 128, the local header 64, and both hold."
    record = padding(NAME_END, 128, ALIGNMENT_ID)
    record = record[:4] + b"\x40\0" + record[6:]
    yield repeated("more", "L14", about, 128, padding=record)
    about = "The directory says alignment 4096, the local header 64."
    yield repeated("false", "L14", about, 4096, **own)
    about = "Two faults: another alignment in the directory, and data that is not at a multiple."
    record = struct.pack("<HHH", ALIGNMENT_ID, 2, 64)
    yield repeated("and_off", "L12", about, 128, padding=record, also=("L14",))
    about = "Two faults: another alignment in the directory, and padding that is not all zeros."
    record = padding(NAME_END, 64, ALIGNMENT_ID)[:-1] + b"\1"
    yield repeated("and_not_zero", "L14", about, 128, padding=record, also=("L10",))

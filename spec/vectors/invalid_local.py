"""Faults that local headers and data show (L, T1); they are named at the local header."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from builder import (
    MODEL,
    PADDING_ID,
    SENTINEL32,
    SMALLEST_MODEL,
    Archive,
    Entry,
    extra_field,
    padding,
    zip64_field,
)
from vector import Invalid, model, sample, side_file

SIZE = 20
NAME_END = 35  # of a header at 0 with a name of five bytes
ROOM = 64 - NAME_END  # of its extra fields
WIDE = {"compressed": SENTINEL32, "size": SENTINEL32}
SIZES = zip64_field(SIZE, SIZE)


def vectors() -> Iterator[Invalid]:
    yield from headers()
    yield from names()
    yield from fields()
    yield from extra_fields()
    yield from zip64()
    yield from sizes()
    yield from missing_padding()
    yield from padding_records()
    yield from alignments()
    yield from data()


def first(
    name: str,
    rule: str,
    about: str,
    *,
    case: str | None = None,
    spelt: str = "a.bin",
    **differing: object,
) -> Invalid:
    """The first of three entries differs from what conforms."""
    archive = Archive([side_file(spelt, **differing), side_file("b.bin"), model()])
    # Where the directory and the usual alignment lead to another end, `open` looks at the header.
    usual = len(side_file(spelt).local_header(0)) + SIZE
    stage = "use" if archive.headers[1] == usual else "open"
    return Invalid(name, about, rule, bytes(archive.file), 0, spelt, stage=stage, case=case)


# --- L1 to L3 ------------------------------------------------------------------------------------


def headers() -> Iterator[Invalid]:
    for index, entry in enumerate(("a.bin", "b.bin", MODEL)):
        archive = sample()
        at = archive.headers[index]
        archive.put(at, b"PK\3\5")
        about = f"The signature of local header {index} is wrong."
        file = bytes(archive.file)
        yield Invalid(f"local_signature_{index}", about, "L1", file, at, entry, "use", "h113")
    for name, values in (
        ("extra_length", {"extra_length": 0xFFFF}),
        ("name_length", {"name_length": 0xFFFF}),
        ("past_by_1", {"extra_length": ROOM + SIZE + 1}),
    ):
        about = "The lengths in a local header lead into the next one"
        about += f": {', '.join(f'{key} {value}' for key, value in values.items())}."
        file = bytes(sample().set_local(0, **values).file)
        yield Invalid(f"local_{name}", about, "L1", file, 0, "a.bin", "use", "h41")
    archive = sample().set_local(-1, extra_length=0x8000)
    about = "The lengths in the last local header lead behind the file."
    file, at = bytes(archive.file), archive.headers[-1]
    yield Invalid("local_past_end", about, "L1", file, at, MODEL, "use", "h41")


def names() -> Iterator[Invalid]:
    for name, case, spelt, about in (
        ("other", "h01", "z.bin", "another name of the same length"),
        ("case", "h01", "A.bin", "the name in another case"),
        ("longer", "h02", "a.bins", "a longer name"),
        ("shorter", "h02", "a.bi", "a shorter name"),
        ("empty", "h02", "", "no name"),
        ("model", "h01", MODEL, "the model's name"),
    ):
        about = f"The local header has {about}."
        yield first(f"local_name_{name}", "L2", about, case=case, local_name=spelt)


def fields() -> Iterator[Invalid]:
    for name, case, values, about in (
        ("descriptor", "h10", {"flags": 8}, "flag bit 3"),
        ("encrypted", "h12", {"flags": 1}, "flag bit 0"),
        ("utf8", "h18", {"flags": 0x800}, "flag bit 11"),
        ("method", "h08", {"method": 8}, "method 8"),
        ("version", "x06", {"version": 20}, "version needed 20"),
        ("time", "h19", {"time": 1}, "another time"),
        ("date", "h19", {"date": 0x22}, "another date"),
        ("crc", "h04", {"crc32": 0}, "another CRC-32"),
    ):
        about = f"The local header, and not the directory, has {about}."
        yield first(f"local_field_{name}", "L3", about, case=case, local=values)
    about = "The directory has another CRC-32 than data and local header."
    yield first("local_field_crc_central", "L3", about, case="h05", central={"crc32": 0x12345678})
    about = "The directory, and not the local header, has flag bit 11."
    yield first("local_field_utf8_central", "L3", about, case="h18", central={"flags": 0x800})


# --- L4 to L6 ------------------------------------------------------------------------------------


def extra_fields() -> Iterator[Invalid]:
    def sized(size: int) -> bytes:
        """A padding record that fills its room and says that its size is another."""
        return struct.pack("<HHH", PADDING_ID, size, 64) + bytes(ROOM - 6)

    for name, case, record, about in (
        ("overrun", "h43", sized(ROOM - 3), "The padding record announces one byte too many."),
        ("overrun_far", "h43", sized(0xFFFF), "The padding record announces 65535 bytes."),
        ("stray_1", "h43", sized(ROOM - 5), "One byte behind the padding record."),
        ("stray_3", "h43", sized(ROOM - 7), "Three bytes behind the padding record."),
    ):
        yield first(f"local_extra_{name}", "L4", about, case=case, padding=record)
    path = extra_field(0x7075, struct.pack("<BI", 1, 0) + b"c")
    for name, case, field, about in (
        ("time", None, extra_field(0x5455, b"\1" + bytes(4)), "extended timestamp"),
        ("path", "h46", path, "Unicode Path"),
        ("comment", "x20", extra_field(0x6375, struct.pack("<BI", 1, 0)), "Unicode Comment"),
        ("empty", None, extra_field(0xCAFE, b""), "id 0xCAFE without bytes, as of JAR files"),
    ):
        about = f"An extra field before the padding: {about}."
        yield first(f"local_extra_{name}", "L5", about, case=case, extra=field)
    about = "Zeros instead of a padding record: extra fields of id 0."
    yield first("local_extra_zeros", "L5", about, case="a09", spelt="aa.bin", padding=bytes(28))
    about = "Two padding records."
    record = extra_field(PADDING_ID, struct.pack("<H", 64))
    yield first("local_extra_twice", "L6", about, case="x27", extra=record)
    both = {"version": 45}
    about = "Two zip64 fields."
    yield first(
        "local_extra_zip64_twice", "L6", about, case="h37", both=both, local=WIDE, extra=SIZES * 2
    )


# --- L7 and L8 -----------------------------------------------------------------------------------


def zip64() -> Iterator[Invalid]:
    for name, case, local, field, about in (
        ("one", "h38", {"size": SENTINEL32}, zip64_field(SIZE), "one size"),
        ("offset", None, WIDE, zip64_field(SIZE, SIZE, 0), "the offset, too"),
        ("empty", None, {}, zip64_field(), "nothing"),
        ("half", "h38", WIDE, extra_field(1, bytes(15)), "15 bytes"),
    ):
        about = f"The local zip64 field holds {about}."
        differing = {"both": {"version": 45}, "local": local, "extra": field}
        yield first(f"local_zip64_{name}", "L7", about, case=case, **differing)
    for name, local in (
        ("sizes", WIDE),
        ("size", {"size": SENTINEL32}),
        ("packed", {"compressed": SENTINEL32}),
    ):
        about = f"A sentinel in the local header ({', '.join(local)}), and no zip64 field."
        yield first(f"local_zip64_missing_{name}", "L7", about, case="h27", local=local)


def sizes() -> Iterator[Invalid]:
    for name, local in (
        ("both", {"compressed": SIZE + 1, "size": SIZE + 1}),
        ("size", {"size": SIZE - 1}),
        ("packed", {"compressed": SIZE - 1}),
        ("zero", {"compressed": 0, "size": 0}),
    ):
        about = f"The local header says other sizes than the directory: {', '.join(local)}."
        yield first(f"local_size_{name}", "L8", about, case="h03", local=local)
    for name, local, values, about in (
        (
            "zip64",
            WIDE,
            (SIZE + 1, SIZE + 1),
            "The zip64 field says other sizes than the directory",
        ),
        ("zip64_4gib", WIDE, (1 << 32 | SIZE,) * 2, "The zip64 field's sizes are 4 GiB too large"),
        ("zip64_packed", WIDE, (SIZE, 0), "The zip64 field says another compressed size"),
        ("beside", {"size": SIZE + 1}, (SIZE, SIZE), "The size beside the zip64 field is another"),
        (
            "beside_packed",
            {"compressed": 0},
            (SIZE, SIZE),
            "The compressed size beside it is another",
        ),
    ):
        differing = {"both": {"version": 45}, "local": local, "extra": zip64_field(*values)}
        case = "h39" if local is WIDE else "h40"
        yield first(f"local_size_{name}", "L8", f"{about}.", case=case, **differing)


# --- L9 to L12 -----------------------------------------------------------------------------------


def missing_padding() -> Iterator[Invalid]:
    about = "No padding record, and no room for one: the data follows the name."
    yield first("padding_missing", "L9", about, case="a09", padding=b"")
    differing = {"both": {"version": 45}, "local": WIDE, "extra": SIZES, "padding": b""}
    about = "No padding record: a zip64 field aligns the data."
    yield first("padding_missing_zip64", "L9", about, spelt="a" * 10 + ".bin", **differing)
    about = "No padding record: the name aligns the data by itself."
    yield first("padding_missing_name", "L9", about, spelt="a" * 30 + ".bin", padding=b"")
    about = "Five bytes of extra fields, one less than a padding record needs."
    yield first("padding_missing_5", "L9", about, padding=bytes(5))
    yield from rooms()


def rooms() -> Iterator[Invalid]:
    """Each entry in turn: its place, then room for its padding, then those of the next."""
    bare, far = {"padding": b""}, {"both": {"compressed": 300, "size": 300}}

    def three(*differing: dict) -> Archive:
        names = (f"{letter}.bin" for letter in "abc")
        entries = [side_file(name, **how) for name, how in zip(names, (*differing, {}, {}))]
        return Archive([*entries, model()])

    def refused(name: str, rule: str, about: str, archive: Archive, index: int) -> Invalid:
        at, entry = archive.headers[index], archive.entries[index].name
        return Invalid(f"room_{name}", about, rule, bytes(archive.file), at, entry)

    about = "No room for a padding record in the second entry."
    yield refused("second", "L9", about, three({}, bare), 1)
    about = "No room for a padding record in the last entry, the model."
    archive = Archive([side_file(), side_file("b.bin"), model(padding=b"")])
    yield refused("last", "L9", about, archive, 2)
    about = "No room for a padding record in the first entry, and the second runs into the third."
    yield refused("and_overlap", "L9", about, three(bare, far), 0)
    about = "The first entry runs into the second, which has no room for a padding record."
    yield refused("behind_overlap", "P3", about, three(far, bare), 0)
    about = "No room for a padding record in the first entry, and the last runs into the directory."
    archive = Archive([side_file(**bare), side_file("b.bin"), model(**far)])
    yield refused("and_bounds", "L9", about, archive, 0)
    about = "No room for a padding record in the first entry, and the third lies before the second."
    archive = three(bare).set_central(2, offset=1)
    yield refused("and_order", "L9", about, archive, 0)
    about = "The second entry lies where the first does, and there is no room for padding either."
    archive = three(bare, bare).set_central(1, offset=0)
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("room_behind_order", about, "P2", file, at, "b.bin")
    about = "No room for a padding record in the second entry, which the third equals in its name."
    archive = Archive([side_file(), side_file("b.bin", **bare), side_file("b.bin"), model()])
    yield refused("and_duplicate", "L9", about, archive, 1)


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
    wide = {"both": {"version": 45}, "local": WIDE}
    record = padding(NAME_END + len(SIZES), 64)
    about = "The padding record is not the last extra field."
    yield first("padding_not_last", "L10", about, case="x27", **wide, extra=record, padding=SIZES)
    for size in (0, 1):
        about = f"A padding record of {size} bytes, too short for an alignment."
        spelt = "a" * (6 - size) + ".bin"  # 30 + name + 20 + 4 + size = 64
        record = extra_field(PADDING_ID, bytes(size))
        yield first(
            f"padding_size_{size}", "L10", about, spelt=spelt, **wide, extra=SIZES, padding=record
        )
    for alignment, longer in ((64, 64), (64, 192), (128, 128)):
        record = padding(NAME_END, alignment)
        about = f"The padding for an alignment of {alignment} is {longer} bytes too long."
        record = extra_field(PADDING_ID, record[4:] + bytes(longer))
        yield first(f"padding_longer_{alignment}_{longer}", "L10", about, padding=record)


def alignments() -> Iterator[Invalid]:
    def recorded(alignment: int, size: int = ROOM) -> bytes:
        return struct.pack("<HHH", PADDING_ID, size - 4, alignment) + bytes(size - 6)

    for alignment in (0, 1, 2, 32, 63, 65, 96, 0xFFFF):
        about = f"An alignment of {alignment}, no power of two from 64."
        case = "x28"
        yield first(
            f"alignment_of_{alignment}", "L11", about, case=case, padding=recorded(alignment)
        )
    for alignment in (128, 4096, 32768):
        about = f"An alignment of {alignment} is recorded, and the data is at 64."
        yield first(
            f"alignment_false_{alignment}", "L12", about, case="x26", padding=recorded(alignment)
        )
    for less in (1, 8, 23):
        about = f"Data at {64 - less}, where the padding record says 64."
        record = recorded(64, ROOM - less)
        yield first(f"alignment_off_by_{less}", "L12", about, case="a09", padding=record)


# --- T1 ------------------------------------------------------------------------------------------


def data() -> Iterator[Invalid]:
    def damaged(name: str, case: str | None, about: str, archive: Archive, index: int) -> Invalid:
        at, entry = archive.data[index], archive.entries[index].name
        return Invalid(name, about, "T1", bytes(archive.file), at, entry, "data", case)

    archive = Archive([side_file(), side_file("b.bin", both={"crc32": 0xDEADBEEF}), model()])
    yield damaged("data_crc", "h06", "Both headers say a wrong CRC-32.", archive, 1)
    archive = Archive([side_file(), side_file("b.bin", both={"crc32": 0}), model()])
    yield damaged(
        "data_crc_zero", "h07", "Both headers say the CRC-32 0, as if nobody knew.", archive, 1
    )
    archive = sample()
    archive.file[archive.data[0] + 7] ^= 0x10
    yield damaged("data_bit", "h06", "One bit of the data is wrong.", archive, 0)
    archive = Archive([side_file(), Entry(MODEL, SMALLEST_MODEL, both={"crc32": 1})])
    yield damaged("data_model_crc", "h06", "The model's CRC-32 is wrong.", archive, 1)

"""Faults that local headers and data show (L, T1); they are named at the local header."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

import wire
from builder import (
    ALIGNMENT_ID,
    LOCAL,
    MODEL,
    PADDING_ID,
    SENTINEL32,
    SMALLEST_MODEL,
    Archive,
    Entry,
    alignment_field,
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
    yield from lengths()
    yield from names()
    yield from fields()
    yield from versions()
    yield from extra_fields()
    yield from zip64()
    yield from sizes()
    yield from data()


def first(
    name: str,
    rule: str,
    about: str,
    *,
    case: str | None = None,
    spelt: str = "a.bin",
    also: tuple[str, ...] = (),
    **differing: object,
) -> Invalid:
    """The first of three entries differs from what conforms."""
    archive = Archive([side_file(spelt, **differing), side_file("b.bin"), model()])
    # Where the data would not begin at the first multiple of 64, `open` looks at the header (P5).
    least = 30 + len(spelt.encode())
    usual = {begin + -begin % 64 + SIZE for begin in (least, least + 6)}
    stage = "use" if archive.headers[1] in usual else "open"
    file = bytes(archive.file)
    return Invalid(name, about, rule, file, 0, spelt, stage=stage, case=case, also=also)


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
        ("strong", "h12", {"flags": 0x40}, "flag bit 6"),
        ("utf8_descriptor", "h10", {"flags": 0x808}, "flag bits 3 and 11"),
        ("flag_15", "x05", {"flags": 0x8000}, "flag bit 15"),
        ("method", "h08", {"method": 8}, "method 8"),
        ("time", "h19", {"time": 1}, "another time"),
        ("date", "h19", {"date": 0x22}, "another date"),
        ("crc", "h04", {"crc32": 0}, "another CRC-32"),
    ):
        about = f"The local header, and not the directory, has {about}."
        yield first(f"local_field_{name}", "L3", about, case=case, local=values)
    about = "The directory has another CRC-32 than data and local header."
    yield first("local_field_crc_central", "L3", about, case="h05", central={"crc32": 0x12345678})


# --- L15 -----------------------------------------------------------------------------------------


def lengths() -> Iterator[Invalid]:
    def of(size: int, name: str = "a.bin", record: int = PADDING_ID) -> Entry:
        """An entry whose local header has so many bytes with name and padding record."""
        zeros = bytes(size - LOCAL.size - len(name) - 6)
        return side_file(name, padding=extra_field(record, b"\x40\0" + zeros))

    def refused(name: str, about: str, archive: Archive, index: int = 0) -> Invalid:
        entry = archive.entries[index].name
        return Invalid(name, about, "L15", bytes(archive.file), archive.headers[index], entry)

    for name, record in (("", PADDING_ID), ("_a11e", ALIGNMENT_ID)):
        about = f"The first local header has 65536 bytes, most of them in a record {record:#x}."
        archive = Archive([of(65536, record=record), side_file("b.bin"), model()])
        yield refused(f"local_length{name}", about, archive)
    about = "The second local header has 65580 bytes, and its data is aligned."
    archive = Archive([side_file(), of(65580, "b" * 20), model()])
    yield refused("local_length_second", about, archive, 1)
    about = "The first local header has 65600 bytes, and the model was replaced."
    archive = Archive([of(65600, "a" * 40), model(wire.model())]).edit(model())
    yield refused("local_length_edited", about, archive)
    about = "Two faults: a local header of 65537 bytes, after which the data is not aligned."
    yield refused("local_length_and_alignment", about, Archive([of(65537), model()]))
    about = "Two faults: a local header of 65536 bytes, and another name in it."
    archive = Archive([replace(of(65536), local_name="z.bin"), side_file("b.bin"), model()])
    yield refused("local_length_and_name", about, archive)


# --- L13 -----------------------------------------------------------------------------------------


def versions() -> Iterator[Invalid]:
    for version in (0, 9, 46, 63, 99, 0xFFFF):
        about = f"Version needed {version} in the local header."
        local = {"version": version}
        yield first(f"local_version_{version}", "L13", about, case="x06", local=local)
    about = "Host 3 in the upper byte of the local header's version needed."
    yield first("local_version_host", "L13", about, local={"version": 3 << 8 | 20})
    about = "Two faults: the local header has another time and version needed 46."
    local = {"version": 46, "time": 1}
    yield first("local_version_and_time", "L3", about, local=local, also=("L13",))
    about = "Two faults: the local header has version needed 46 and half an extra field."
    record = struct.pack("<HHH", PADDING_ID, ROOM - 3, 64) + bytes(ROOM - 6)
    local = {"version": 46}
    yield first("local_version_and_extra", "L13", about, local=local, padding=record, also=("L4",))
    archive = Archive([side_file(), side_file("b.bin"), model(local={"version": 46})])
    about = "Version needed 46 in the model's local header."
    file, at = bytes(archive.file), archive.headers[-1]
    yield Invalid("local_version_model", about, "L13", file, at, MODEL, "use")


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
    for name, extra in (("", record), ("_reversed", alignment_field(64))):
        own = ALIGNMENT_ID if extra is record else PADDING_ID
        about = f"Two padding records, of both kinds, the one of id {own:#x} last."
        yield first(f"local_extra_both{name}", "L6", about, extra=extra, record=own)
    about = "Two padding records of id 0xA11E."
    twice = {"extra": alignment_field(64), "record": ALIGNMENT_ID}
    yield first("local_extra_a11e_twice", "L6", about, case="x27", **twice)
    about = "Two padding records with a zip64 field between them."
    between = {"both": {"version": 45}, "local": WIDE, "extra": record + SIZES}
    yield first("local_extra_around_zip64", "L6", about, **between)
    about = "The same record in upper and lower byte order: id 0x35D9."
    field = {"padding": padding(NAME_END, 64, 0x35D9)}
    yield first("local_extra_swapped", "L5", about, **field)
    both = {"version": 45}
    about = "Two zip64 fields."
    yield first(
        "local_extra_zip64_twice", "L6", about, case="h37", both=both, local=WIDE, extra=SIZES * 2
    )
    for name, field in (("right", SIZES), ("false", zip64_field(SIZE, SIZE + 1))):
        other = zip64_field(SIZE, SIZE + 1) if name == "right" else SIZES
        about = f"Two faults: two zip64 fields with different sizes, the {name} ones first."
        how = {"both": both, "local": WIDE, "extra": field + other, "also": ("L8",)}
        yield first(f"local_extra_zip64_twice_{name}", "L6", about, case="h37", **how)


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

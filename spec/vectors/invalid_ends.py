"""Faults of chapter 2: the end of the file. An end record's faults are named at its offset."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from builder import END, LOCATOR, SENTINEL16, SENTINEL32, ZIP64_END, Archive
from vector import Invalid, model, sample, side_file

REACH = 0xFFFF  # bytes behind an end record that a reader may still look over


def vectors() -> Iterator[Invalid]:
    yield from missing_ends()
    yield from bytes_behind()
    yield from comments()
    yield from disks()
    yield from orders_of_disks()
    yield from locators()
    yield from zip64_records()
    yield from contradictions()
    yield from directory_bounds()
    yield from counts()
    yield from limits()


# --- E1 to E3 ------------------------------------------------------------------------------------


def missing_ends() -> Iterator[Invalid]:
    whole = bytes(sample().file)

    def missing(name: str, case: str | None, about: str, file: bytes) -> Invalid:
        return Invalid(f"end_{name}", about, "E1", file, len(file), case=case)

    yield missing("empty_file", "h115", "A file of 0 bytes.", b"")
    yield missing("short_file", None, "21 bytes, one less than an end record.", whole[-21:])
    yield missing("missing", "h98", "The end record is cut off.", whole[: -END.size])
    yield missing("truncated", "h99", "The first half of an archive.", whole[: len(whole) // 2])
    yield missing("cut_by_1", None, "The last byte is cut off.", whole[:-1])
    damaged = whole[: -END.size] + b"PK\5\7" + whole[-END.size + 4 :]
    yield missing("signature", None, "The end record's signature is wrong.", damaged)
    about = "65536 bytes follow, out of the reach of those who search."
    yield missing("trailing_65536", "h84", about, whole + bytes(REACH + 1))
    yield missing("trailing_70000", "h85", "70000 bytes follow.", whole + bytes(70000))


def bytes_behind() -> Iterator[Invalid]:
    archive = sample()
    whole = bytes(archive.file)
    for name, case, about, behind in (
        ("1", "h83", "One byte follows the end record.", b"\0"),
        ("22", None, "22 zero bytes follow.", bytes(22)),
        ("65535", "h84", "65535 bytes follow, the most that can be found.", bytes(REACH)),
        ("newline", None, "A line's end follows, as of a transfer as text.", b"\r\n"),
    ):
        file = whole + behind
        yield Invalid(f"end_trailing_{name}", about, "E2", file, archive.end, case=case)
    for name, case, length, behind in (("long", "h86", 10, 5), ("short", "h87", 5, 10)):
        archive = sample().set_end(comment_length=length)
        about = f"A comment of {length} bytes is announced, and {behind} bytes follow."
        file = bytes(archive.file) + bytes(behind)
        yield Invalid(f"end_comment_too_{name}", about, "E2", file, archive.end, case=case)


def comments() -> Iterator[Invalid]:
    def commented(name: str, case: str | None, about: str, comment: bytes) -> Invalid:
        archive = sample().set_end(comment_length=len(comment))
        file = bytes(archive.file) + comment
        return Invalid(f"end_comment{name}", about, "E3", file, archive.end, case=case)

    yield commented("", None, "An archive comment.", b"made by hand")
    archive = sample().set_end(comment_length=10)
    about = "A comment of 10 bytes is announced, and none is there."
    yield Invalid("end_comment_absent", about, "E3", bytes(archive.file), archive.end, case="h86")
    empty = Archive([]).set_end(comment_length=REACH)
    about = "No entries, and the longest comment there is."
    file = bytes(empty.file) + b"c" * REACH
    yield Invalid("end_comment_longest", about, "E3", file, empty.end, case="h116")
    yield from ends_in_comments()


def ends_in_comments() -> Iterator[Invalid]:
    """Whoever does not search takes the inner end record, and what it says is false."""
    empty = END.pack({})
    archive = sample().set_end(comment_length=len(empty))
    about = "The comment is the end record of an empty archive, its directory at 0."
    file = bytes(archive.file) + empty
    at = len(archive.file)
    yield Invalid("end_comment_end_record", about, "E8", file, at, case="h80")
    about = "The comment is the end record of an empty archive, its directory right before it."
    file = bytes(archive.file) + END.pack({"directory_offset": at})
    yield Invalid("end_comment_empty_archive", about, "E9", file, at, case="h80")
    inner = sample()
    archive = sample().set_end(comment_length=len(inner.file))
    about = "The comment is a whole archive, its offsets counted from its own start."
    file = bytes(archive.file + inner.file)
    yield Invalid("end_comment_archive", about, "E8", file, at + inner.end, case="h81")


# --- E4 ------------------------------------------------------------------------------------------


def disks() -> Iterator[Invalid]:
    for name, case, values, about in (
        ("disk", "h92", {"disk": 1}, "This is disk 1."),
        ("directory", None, {"directory_disk": 1}, "The directory is on disk 1."),
        ("count_less", "h91", {"entries_here": 2}, "2 of 3 entries are on this disk."),
        ("count_more", "h91", {"entries_here": 4}, "4 of 3 entries are on this disk."),
        ("count_here", None, {"entries_here": SENTINEL16, "entries": 3}, "One count is a sentinel."),
        ("count_all", None, {"entries_here": 3, "entries": SENTINEL16}, "The other count is one."),
    ):
        archive = sample().set_end(**values)
        yield Invalid(f"disk_end_{name}", about, "E4", bytes(archive.file), archive.end, case=case)
        archive = sample(zip64=True).set_end(**values)
        about += " Zip64 end records stand there."
        file = bytes(archive.file)
        yield Invalid(f"disk_end_{name}_zip64", about, "E4", file, archive.end, case=case)
    for name, values, about in (
        ("disk", {"disk": 1}, "The zip64 end record is on disk 1."),
        (
            "directory",
            {"directory_disk": 1},
            "The directory is on disk 1, says the zip64 end record.",
        ),
        (
            "count",
            {"entries_here": 2},
            "2 of 3 entries are on this disk, says the zip64 end record.",
        ),
    ):
        archive = sample(zip64=True).set_zip64_end(**values)
        file = bytes(archive.file)
        yield Invalid(f"disk_zip64_{name}", about, "E4", file, archive.zip64_end)
    for name, case, values, about in (
        ("two", "h108", {"disks": 2}, "The zip64 locator counts two disks."),
        ("none", None, {"disks": 0}, "The zip64 locator counts no disks."),
        ("record", None, {"disk": 1}, "The zip64 end record is on disk 1, says the locator."),
    ):
        archive = sample(zip64=True).set_locator(**values)
        file = bytes(archive.file)
        yield Invalid(f"disk_locator_{name}", about, "E4", file, archive.locator, case=case)


def orders_of_disks() -> Iterator[Invalid]:
    """Two faults each: E4 is looked at in each record, and comes first there but in the last."""

    def both(name: str, rule: str, about: str, archive: Archive, at: int) -> Invalid:
        about = f"Two faults: {about}."
        return Invalid(f"disk_and_{name}", about, rule, bytes(archive.file), at)

    archive = sample(zip64=True).set_locator(disks=2, offset=0)
    about = "the zip64 locator counts two disks, and points elsewhere"
    yield both("locator", "E4", about, archive, archive.locator)
    archive = sample(zip64=True).set_locator(disks=2).set_end(disk=1)
    about = "the end record is on disk 1, and the zip64 locator counts two"
    yield both("disks", "E4", about, archive, archive.end)
    archive = sample(zip64=True).set_zip64_end(disk=1).set_locator(offset=0)
    about = "the zip64 locator points elsewhere, and the record before it is on disk 1"
    yield both("elsewhere", "E5", about, archive, archive.locator)
    archive = sample(zip64=True).set_zip64_end(disk=1, version=46)
    about = "the zip64 end record is on disk 1, and needs version 46"
    yield both("record", "E6", about, archive, archive.zip64_end)
    archive = sample(zip64=True).set_zip64_end(disk=1).set_end(directory_size=46)
    about = "the zip64 end record is on disk 1, and the end record contradicts it"
    yield both("contradiction", "E4", about, archive, archive.zip64_end)
    archive = sample().set_end(disk=1, comment_length=1)
    about = "the end record is on disk 1, and announces a comment"
    yield both("comment", "E3", about, archive, archive.end)


# --- E5 to E7 ------------------------------------------------------------------------------------


def locators() -> Iterator[Invalid]:
    yield from missing_locators()
    far = (1 << 64) - 56
    base = sample(zip64=True)
    for name, case, offset, about in (
        ("elsewhere", "h100", 0, "The zip64 locator points to the file's start."),
        ("off_by_1", None, base.zip64_end - 1, "The zip64 locator points one byte too far back."),
        ("past_end", "h101", len(base.file) + 1000, "The zip64 locator points behind the file."),
        ("wraps", "h101", far, "The zip64 locator points to 2^64 - 56."),
        ("itself", "x07", base.locator, "The zip64 locator points to itself."),
    ):
        archive = sample(zip64=True).set_locator(offset=offset)
        file = bytes(archive.file)
        yield Invalid(f"locator_{name}", about, "E5", file, archive.locator, case=case)
    yield from displaced_records()
    # No directory, no record: 42 bytes in all.
    file = LOCATOR.pack({"offset": 0, "disks": 1}) + END.pack({})
    about = "There is no room for a zip64 end record before the locator."
    yield Invalid("locator_alone", about, "E5", file, 0, case="x07")


def missing_locators() -> Iterator[Invalid]:
    counts = {"entries_here": SENTINEL16, "entries": SENTINEL16}
    size, offset = {"directory_size": SENTINEL32}, {"directory_offset": SENTINEL32}
    for name, case, values, about in (
        ("all", "h102", {**counts, **size, **offset}, "All sentinels, and no locator."),
        ("count", "x01", counts, "The number of entries is a sentinel, and there is no locator."),
        ("size", "h102", size, "The directory's size is a sentinel, and there is no locator."),
        (
            "offset",
            "h102",
            offset,
            "The directory's offset is a sentinel, and there is no locator.",
        ),
    ):
        archive = sample().set_end(**values)
        file = bytes(archive.file)
        yield Invalid(f"locator_missing_{name}", about, "E5", file, archive.end, case=case)
    archive = sample(zip64=True)
    archive.put(archive.locator, b"PK\6\10")
    about = "The zip64 locator's signature is wrong, so there is none."
    yield Invalid("locator_signature", about, "E5", bytes(archive.file), archive.end)


def displaced_records() -> Iterator[Invalid]:
    """The locator points to a record, which does not stand right before it."""
    base = sample(zip64=True)
    at, locator, end = base.zip64_end, bytes(base.file[base.locator : base.end]), base.end
    before, record = bytes(base.file[:at]), bytes(base.file[at : base.locator])
    end_record = bytes(base.file[end:])
    sector = struct.pack("<HI", 7, 6) + bytes(6)
    long = record[:4] + struct.pack("<Q", 44 + len(sector)) + record[12:] + sector
    two = record + record  # the locator points to the first
    for name, case, between, about in (
        ("gap", "h109", record + bytes(8), "8 bytes stand between zip64 end record and locator."),
        ("extensible", "a19", long, "The zip64 end record has an extensible data sector."),
        ("two", "h110", two, "Two zip64 end records, and the locator points to the first."),
        ("nested", "x17", _other_directory(base), "The record before the locator is another's."),
    ):
        file = before + between + locator + end_record
        offset = at + len(between)
        yield Invalid(f"locator_{name}", about, "E5", file, offset, case=case)


def _other_directory(base: Archive) -> bytes:
    """A zip64 end record as it is, and one that shows a directory inside of an entry."""
    real = bytes(base.file[base.zip64_end : base.locator])
    other = {"record_size": 44, "made_by": 45, "version": 45, "entries_here": 1, "entries": 1}
    return real + ZIP64_END.pack({**other, "directory_size": 59, "directory_offset": base.data[0]})


def zip64_records() -> Iterator[Invalid]:
    def changed(name: str, case: str | None, about: str, **values: int) -> Invalid:
        archive = sample(zip64=True).set_zip64_end(**values)
        file = bytes(archive.file)
        return Invalid(f"zip64_record_{name}", about, "E6", file, archive.zip64_end, case=case)

    yield changed("size_0", "h107", "The zip64 end record's size field is 0.", record_size=0)
    yield changed("size_43", None, "The zip64 end record's size field is 43.", record_size=43)
    about = "The zip64 end record's size field counts the whole record."
    yield changed("size_56", "a19", about, record_size=56)
    yield changed("version_46", "x02", "The zip64 end record needs version 46.", version=46)
    yield changed("version_20", "x02", "The zip64 end record needs version 20.", version=20)
    archive = sample(zip64=True)
    archive.put(archive.zip64_end, b"PK\6\5")
    about = "The zip64 end record's signature is wrong."
    yield Invalid("zip64_record_signature", about, "E6", bytes(archive.file), archive.zip64_end)
    about = "No zip64 end record stands where the locator points: the directory does."
    plain = sample()
    file = bytes(plain.file[: plain.end])
    at = len(file)
    file += LOCATOR.pack({"offset": at - 56, "disks": 1}) + bytes(plain.file[plain.end :])
    yield Invalid("zip64_record_missing", about, "E6", file, at - 56)


def contradictions() -> Iterator[Invalid]:
    base = sample(zip64=True)
    for name, values, about in (
        ("count", {"entries_here": 2, "entries": 2}, "The end record counts 2 entries, not 3."),
        ("size", {"directory_size": 46}, "The end record says another size of the directory."),
        ("offset", {"directory_offset": 0}, "The end record says another offset of the directory."),
        ("nearly", {"directory_size": SENTINEL32 - 1}, "One below a sentinel is no sentinel."),
    ):
        archive = sample(zip64=True).set_end(**values)
        file = bytes(archive.file)
        yield Invalid(f"zip64_disagree_{name}", about, "E7", file, base.end, case="h106")


# --- E8 ------------------------------------------------------------------------------------------


def directory_bounds() -> Iterator[Invalid]:
    base = sample()
    size, at = base.end - base.directory, base.directory
    for name, case, values, about in (
        (
            "size_less",
            "h94",
            {"directory_size": size - 10},
            "The directory's size is 10 too small.",
        ),
        (
            "size_more",
            "h95",
            {"directory_size": size + 10},
            "The directory's size is 10 too large.",
        ),
        ("size_0", "h94", {"directory_size": 0}, "The directory's size is 0."),
        ("past_end", "h96", {"directory_offset": 1 << 24}, "The directory begins behind the file."),
        ("off_by_7", "h97", {"directory_offset": at + 7}, "The directory's offset is 7 too large."),
        ("offset_0", "h97", {"directory_offset": 0}, "The directory's offset is 0."),
    ):
        file = bytes(sample().set_end(**values).file)
        yield Invalid(f"directory_bounds_{name}", about, "E8", file, base.end, case=case)
    yield from moved_directories()
    base = sample(zip64=True)
    wrap = (1 << 64) - 8
    total = base.zip64_end  # what offset and size have to add up to
    for name, case, values, about in (
        ("size_2_62", "h104", {"directory_size": 1 << 62}, "A directory of 2^62 bytes."),
        (
            "wraps",
            "h105",
            {"directory_offset": wrap, "directory_size": total + 8},
            "A sum that wraps.",
        ),
        (
            "into_record",
            "x07",
            {"directory_size": total - at + 10},
            "Its end is in the zip64 record.",
        ),
    ):
        archive = sample(zip64=True).set_zip64_end(**values)
        about = f"Zip64 end record: {about}"
        file = bytes(archive.file)
        yield Invalid(f"directory_bounds_{name}", about, "E8", file, archive.end, case=case)


def moved_directories() -> Iterator[Invalid]:
    """The end record is right for the bytes before they were put in, taken out or moved."""
    base = sample()
    whole = bytes(base.file)
    data, directory, end = (
        whole[: base.directory],
        whole[base.directory : base.end],
        whole[base.end :],
    )
    first = Archive([side_file("x.bin"), model()])
    moved = base.set_end(directory_offset=0)
    for name, case, file, about in (
        ("prefix", "a10", b"#!/bin/sh\n" + whole, "Bytes stand before the archive."),
        ("gap", "a13", data + directory + bytes(16) + end, "A gap before the end record."),
        ("signed", "a20", data + directory + b"PK\5\5\0\0" + end, "A digital signature behind it."),
        ("first_byte", "h114", whole[1:], "The first byte of the file is missing."),
        ("two_archives", "h82", bytes(first.file) + whole, "Two archives, one behind the other."),
        (
            "in_front",
            "h117",
            directory + data + bytes(moved.file[base.end :]),
            "It stands in front.",
        ),
    ):
        yield Invalid(
            f"directory_bounds_{name}", about, "E8", file, len(file) - END.size, case=case
        )


# --- E9 to E12 -----------------------------------------------------------------------------------


def counts() -> Iterator[Invalid]:
    empty = Archive([])
    yield Invalid("directory_empty", "No entries.", "E9", bytes(empty.file), 0, case="a17")
    empty = Archive([], zip64=True)
    about = "No entries, with zip64 end records."
    yield Invalid("directory_empty_zip64", about, "E9", bytes(empty.file), 0, case="a17")
    archive = sample().set_end(entries_here=0, entries=0)
    about = "No entries are counted, and three are there."
    file = bytes(archive.file)
    yield Invalid("directory_count_0", about, "E9", file, archive.directory, case="h90")
    yield from wrong_counts()
    archive = sample(zip64=True).set_zip64_end(entries_here=1 << 40, entries=1 << 40)
    about = "2^40 entries are counted: they do not fit into the directory."
    file = bytes(archive.file)
    yield Invalid("directory_count_2_40", about, "E10", file, archive.directory, case="h103")


def wrong_counts() -> Iterator[Invalid]:
    archive = sample().set_end(entries_here=4, entries=4)
    about = "4 entries are counted, and the directory has no room for more than 3."
    file = bytes(archive.file)
    yield Invalid("directory_count_high", about, "E10", file, archive.directory, case="h88")
    names = ("a" * 40 + ".bin", "b" * 40 + ".bin")
    archive = Archive([*map(side_file, names), model()]).set_end(entries_here=4, entries=4)
    about = "4 entries are counted, and behind the third the directory is over."
    file = bytes(archive.file)
    yield Invalid("directory_count_fits", about, "D1", file, archive.end, case="h88")
    archive = sample().set_end(entries_here=2, entries=2)
    about = "2 entries are counted, and the directory goes on with the third, the model."
    file = bytes(archive.file)
    yield Invalid("directory_count_low", about, "E10", file, archive.central[2], case="h89")
    archive = sample()
    at = archive.end
    file = bytes(archive.file[:at]) + b"PK\5\5\0\0"
    values = {"entries_here": 3, "entries": 3, "directory_offset": archive.directory}
    file += END.pack({**values, "directory_size": len(file) - archive.directory})
    about = "A digital signature stands in the directory, behind the last header."
    yield Invalid("directory_signature", about, "E10", file, at, case="a20")


def limits() -> Iterator[Invalid]:
    archive = sample()
    file, at = bytes(archive.file), archive.directory
    about = "One entry more than the user's limit."
    options = {"max_entries": 2}
    yield Invalid("limit_entries", about, "E11", file, at, case="x24", options=options)
    size = archive.end - at
    about = "A directory one byte longer than the user's limit."
    options = {"max_directory_size": size - 1}
    yield Invalid("limit_directory", about, "E12", file, at, case="x24", options=options)

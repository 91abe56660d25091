"""Faults of the end of the file (E). An end record's faults are named at its offset."""

from __future__ import annotations

from collections.abc import Iterator

from builder import END, SENTINEL16, Archive
from vector import Invalid, model, sample, side_file

REACH = 0xFFFF  # bytes behind an end record that a reader may still look over


def vectors() -> Iterator[Invalid]:
    yield from missing_ends()
    yield from bytes_behind()
    yield from comments()
    yield from disks()
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
    prefix = b"#!/bin/sh\n"
    file, at = prefix + whole + b"\0", len(prefix) + archive.end
    about = "Bytes before the archive, and a byte after it: neither end looks like an archive's."
    yield Invalid("end_trailing_and_prefix", about, "E2", file, at, also=("P1",))
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
    empty = END.pack()
    archive = sample().set_end(comment_length=len(empty))
    about = "The comment is the end record of an empty archive, its directory at 0."
    file = bytes(archive.file) + empty
    at = len(archive.file)
    yield Invalid("end_comment_end_record", about, "E8", file, at, case="h80")
    about = "The comment is the end record of an empty archive, its directory right before it."
    file = bytes(archive.file) + END.pack(directory_offset=at)
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
        file, also = bytes(archive.file), ("E5",) if name == "count_all" else ()
        words = f"Two faults. {about} There are no zip64 records." if also else about
        yield Invalid(f"disk_end_{name}", words, "E4", file, archive.end, case=case, also=also)
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
    file += END.pack(**{**values, "directory_size": len(file) - archive.directory})
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

"""Faults of zip64 end records (E4 to E8), and the order in which those of several are seen."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from builder import END, LOCATOR, SENTINEL16, SENTINEL32, ZIP64_END, Archive
from vector import Invalid, sample


def vectors() -> Iterator[Invalid]:
    yield from locators()
    yield from zip64_records()
    yield from contradictions()
    yield from orders()


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
    file = LOCATOR.pack(offset=0, disks=1) + END.pack()
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
    return real + ZIP64_END.pack(**{**other, "directory_size": 59, "directory_offset": base.data[0]})


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
    yield changed("version_9", "x02", "The zip64 end record needs version 9.", version=9)
    yield changed("version_host", "x02", "Version needed has a host above 45.", version=3 << 8 | 45)
    archive = sample(zip64=True)
    archive.put(archive.zip64_end, b"PK\6\5")
    about = "The zip64 end record's signature is wrong."
    yield Invalid("zip64_record_signature", about, "E6", bytes(archive.file), archive.zip64_end)
    about = "No zip64 end record stands where the locator points: the directory does."
    plain = sample()
    file = bytes(plain.file[: plain.end])
    at = len(file)
    file += LOCATOR.pack(offset=at - 56, disks=1) + bytes(plain.file[plain.end :])
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


# --- E4 among others -----------------------------------------------------------------------------


def orders() -> Iterator[Invalid]:
    """Two faults each: E4 is looked at in each record, and comes first there but in the last."""

    def both(name: str, rules: str, about: str, archive: Archive, at: int) -> Invalid:
        rule, other = rules.split()
        file, about = bytes(archive.file), f"Two faults: {about}."
        return Invalid(f"disk_and_{name}", about, rule, file, at, also=(other,))

    archive = sample(zip64=True).set_locator(disks=2, offset=0)
    about = "the zip64 locator counts two disks, and points elsewhere"
    yield both("locator", "E4 E5", about, archive, archive.locator)
    archive = sample(zip64=True).set_locator(disks=2).set_end(disk=1)
    about = "the end record is on disk 1, and the zip64 locator counts two"
    yield both("disks", "E4 E4", about, archive, archive.end)
    archive = sample(zip64=True).set_zip64_end(disk=1).set_locator(offset=0)
    about = "the zip64 locator points elsewhere, and the record before it is on disk 1"
    yield both("elsewhere", "E5 E4", about, archive, archive.locator)
    archive = sample(zip64=True).set_zip64_end(disk=1, version=46)
    about = "the zip64 end record is on disk 1, and needs version 46"
    yield both("record", "E6 E4", about, archive, archive.zip64_end)
    archive = sample(zip64=True).set_zip64_end(disk=1).set_end(directory_size=46)
    about = "the zip64 end record is on disk 1, and the end record contradicts it"
    yield both("contradiction", "E4 E7", about, archive, archive.zip64_end)
    archive = sample().set_end(disk=1, comment_length=1)
    about = "the end record is on disk 1, and announces a comment"
    yield both("comment", "E3 E4", about, archive, archive.end)

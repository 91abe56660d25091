"""Vectors of many entries or much data: made when they are wanted, not kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from builder import ALIGNMENT_ID, END, PADDING_ID, SENTINEL16
from builder import Archive, Entry, extra_field, padding
from vector import Invalid, Valid, Vector, content, model

MIB = 1 << 20


def vectors() -> Iterator[Vector]:
    yield from large_entries()
    yield from unread_headers()
    yield from many_entries()
    yield from false_counts()


# --- 1 MiB ---------------------------------------------------------------------------------------


def mebibyte(alignment: int, name: str = "big.bin", **differing: object) -> Archive:
    data = content(1, 1000) + bytes(MIB - 1000)
    return Archive([Entry(name, data, alignment, **differing), model()])


def large_entries() -> Iterator[Vector]:
    about = "An entry of 1 MiB, aligned to 4096 as writers do by default."
    yield Valid("entry_1_mib", about, mebibyte(4096))
    about = "An entry of 1 MiB, aligned to 64: readers take any alignment that is recorded."
    yield Valid("entry_1_mib_64", about, mebibyte(64))
    record = padding(37, 4096)  # 37: a local header and the name `big.bin`
    longer = extra_field(PADDING_ID, b"\x40\0" + record[6:])
    about = "An entry of 1 MiB at 4096, where the padding record says 64."
    yield Valid("padding_longer_page", about, mebibyte(64, padding=longer), case="x26")
    about = "An entry of 1 MiB at the first multiple of 64, with record 0xA11E."
    yield Valid("entry_1_mib_a11e", about, mebibyte(64, record=ALIGNMENT_ID))
    about = "An entry of 1 MiB at the first multiple of 64, without a padding record."
    yield Valid("entry_1_mib_no_record", about, mebibyte(64, name="b" * 30 + ".bin", padding=b""))
    about = "An entry of 1 MiB at 128, where 64 is the first multiple of 64 after a record."
    record = extra_field(PADDING_ID, b"\x40\0" + bytes(128 - 37 - 6))
    yield Valid("entry_1_mib_farther", about, mebibyte(64, padding=record))


def unread_headers() -> Iterator[Invalid]:
    """Where the data of 1 MiB is tells the stage at which a wrong local header is seen (P5)."""
    farther = extra_field(PADDING_ID, b"\x40\0" + bytes(128 - 37 - 6))
    for name, stage, archive, place in (
        ("page", "use", mebibyte(4096), "at 4096"),
        ("64", "use", mebibyte(64), "at 64"),
        ("no_record", "use", mebibyte(64, name="b" * 30 + ".bin", padding=b""), "right after its name"),
        ("farther", "open", mebibyte(64, padding=farther), "at 128, where 64 would do"),
        ("128", "open", mebibyte(128), "at 128"),
    ):
        about = f"The local header of an entry of 1 MiB has no signature, and its data is {place}."
        file, entry = bytes(archive.put(0, b"PK\3\5").file), archive.entries[0].name
        yield Invalid(f"entry_1_mib_header_{name}", about, "L1", file, 0, entry, stage)


# --- 65536 entries -------------------------------------------------------------------------------


@cache
def archive_of(count: int) -> Archive:
    """So many entries of no bytes, the model among them; names that are no identifiers."""
    entries = (Entry(f"{i:05}") for i in range(count - 1))
    return Archive([*entries, model()], zip64=count >= SENTINEL16)


def many_entries() -> Iterator[Vector]:
    about = "65534 entries, the most without zip64."
    yield Valid("entries_65534", about, archive_of(65534))
    for count in (65535, 65536, 65537):
        about = f"{count} entries, with zip64 end records."
        yield Valid(f"entries_{count}", about, archive_of(count))


def false_counts() -> Iterator[Vector]:
    about = "65535 entries, counted by the end record alone, where that is a sentinel."
    archive = archive_of(65535)
    file = counted(archive, 65535)
    yield Invalid("entries_65535_plain", about, "E5", file, archive.zip64_end, case="x01")
    for count, rule in ((65536, "E9"), (65537, "E10")):
        archive = archive_of(count)
        said = count % 65536
        file, at = counted(archive, said), archive.central[said]
        about = f"{count} entries, and the end record counts {said}: the number modulo 65536."
        yield Invalid(f"entries_{count}_wrapped", about, rule, file, at, case="h111")


def counted(archive: Archive, count: int) -> bytes:
    """With an end record that counts so many entries, instead of zip64 end records."""
    size = archive.zip64_end - archive.directory
    place = {"directory_size": size, "directory_offset": archive.directory}
    end = END.pack(**{"entries_here": count, "entries": count, **place})
    return bytes(archive.file[: archive.zip64_end]) + end

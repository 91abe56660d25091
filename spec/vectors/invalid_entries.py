"""Faults that the directory shows (P): places, and the model's.

What a directory header says falsely is named at its offset; an entry that runs into something at
its local header's, and unused bytes at their own.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from builder import MODEL, SENTINEL32, Archive, Entry, padding, zip64_field
from vector import Invalid, content, model, sample, side_file

WIDE = {"compressed": SENTINEL32, "size": SENTINEL32}


def vectors() -> Iterator[Invalid]:
    yield from firsts()
    yield from orders()
    yield from overlaps()
    yield from covered_headers()
    yield from bounds()
    yield from gaps()
    yield from models()


def relisted(archive: Archive, listed: list[int]) -> Archive:
    """With a directory of these entries, in this order."""
    del archive.file[archive.directory :]
    archive.finish(listed=listed)
    return archive


# --- P1 and P2 -----------------------------------------------------------------------------------


def firsts() -> Iterator[Invalid]:
    other = bytes(sample().file)
    for name, case, before, about in (
        (
            "script",
            "a11",
            b"#!/bin/sh\nexit\n",
            "A script before the archive; offsets count from it.",
        ),
        ("spanned", "x16", b"PK\7\x08", "The marker of a spanned archive at the front."),
        ("spanned_temporary", "x16", b"PK00", "The marker of a temporary spanned archive."),
        ("gap", "a01", bytes(29), "A gap in front, as of writers that align by gaps."),
        (
            "archive",
            "h82",
            other,
            "Two archives, one behind the other, the second with true offsets.",
        ),
    ):
        archive = Archive([side_file(before=before), model()])
        file, at = bytes(archive.file), archive.central[0]
        yield Invalid(f"first_{name}", about, "P1", file, at, "a.bin", case=case)
    archive = relisted(sample(), [1, 0, 2])
    about = "The second entry of the file is listed first."
    yield Invalid(
        "first_second", about, "P1", bytes(archive.file), archive.central[0], "b.bin", case="a04"
    )


def orders() -> Iterator[Invalid]:
    entries = [side_file(f"{name}.bin") for name in "abc"]
    archive = relisted(Archive([*entries, model()]), [0, 2, 1, 3])
    about = "The third entry of the file is listed before the second."
    yield Invalid(
        "order", about, "P2", bytes(archive.file), archive.central[2], "b.bin", case="a04"
    )
    archive = sample().set_central(1, offset=0)
    about = "Two names for one local header."
    yield Invalid(
        "order_same", about, "P2", bytes(archive.file), archive.central[1], "b.bin", case="h71"
    )
    archive = relisted(sample(), [0, 0, 1, 2])
    about = "One entry listed twice."
    yield Invalid(
        "order_twice", about, "P2", bytes(archive.file), archive.central[1], "a.bin", case="h72"
    )
    for name, case, offset, about in (
        ("past_end", "h29", 1 << 24, "An offset behind the file."),
        ("directory", "h31", sample().central[0], "An offset in the directory."),
        ("nearly_sentinel", "h29", SENTINEL32 - 1, "An offset one below the sentinel."),
    ):
        archive = sample().set_central(1, offset=offset)
        about += " The next entry's is smaller."
        file, at = bytes(archive.file), archive.central[2]
        yield Invalid(f"order_{name}", about, "P2", file, at, MODEL, case=case)


# --- P3 ------------------------------------------------------------------------------------------


def overlaps() -> Iterator[Invalid]:
    def two(size: int = 200, **differing: object) -> Archive:
        return Archive([side_file(size=size, **differing), side_file("b.bin"), model()])

    def overlap(name: str, case: str | None, about: str, archive: Archive) -> Invalid:
        return Invalid(f"overlap_{name}", about, "P3", bytes(archive.file), 0, "a.bin", case=case)

    both = {"compressed": 220, "size": 220}  # 30 + 5 + 220 would still end before the second
    about = "The first entry's size is too large; without its extra fields it would fit."
    yield overlap("extra", "h24", about, two(both=both))
    archive = two()
    archive.set_central(1, offset=archive.data[0] + 8)
    yield overlap("offset", "h30", "The second entry's offset is in the first one's data.", archive)
    for name, case, size, about in (
        ("size", "h24", 300, "The first entry's data runs into the second's."),
        ("size_far", "h24", 1 << 20, "The first entry's size is behind the end of the file."),
        ("size_2_31", "h25", 0x7FFFFFFF, "The first entry's size is 2^31 - 1."),
        ("size_2_32", "h26", 0xFFFFFFFE, "The first entry's size is one below the sentinel."),
    ):
        yield overlap(name, case, about, two(both={"compressed": size, "size": size}))
    huge = (1 << 64) - 256
    archive = two(central=WIDE, central_extra=zip64_field(huge, huge), both={"version": 45})
    about = "The first entry's zip64 sizes are 2^64 - 256: sums with them wrap."
    yield overlap("size_wraps", "h32", about, archive)
    yield overlap("nested", "h70", "The second entry lies in the first one's data.", nested())
    yield Invalid(
        "overlap_local",
        "The first entry's data runs into the second, as its local header alone tells.",
        "P3",
        bytes(pushed().file),
        0,
        "a.bin",
        stage="use",
    )


def nested() -> Archive:
    inner = side_file("b.bin")
    outer = Entry("a.bin", inner.local_header(64) + inner.data)  # data at 64
    archive = Archive([outer, model()])
    archive.entries.insert(1, inner)
    archive.headers.insert(1, 64)
    return relisted(archive, [0, 1, 2])


def pushed() -> Archive:
    """The local header has the padding of an alignment of 128, sizes and places those of 64."""
    archive = Archive([Entry("a.bin", bytes(64) + content(5, 36)), side_file("b.bin"), model()])
    record = padding(35, 128)
    archive.put(35, record)  # its last 64 zeros were data
    crc = zlib.crc32(archive.file[128:228])
    archive.set_local(0, extra_length=len(record), crc32=crc).set_central(0, crc32=crc)
    return archive


def covered_headers() -> Iterator[Invalid]:
    archive = stretched(sample(), 0, 1)
    about = "The first entry's data covers the second one's local header."
    yield Invalid("overlap_header", about, "P3", bytes(archive.file), 0, "a.bin", case="h73")
    names = [f"{i}.bin" for i in range(5)]
    for case, count in (("h74", 2), ("x12", 5)):
        archive = Archive([*map(side_file, names[:count]), model()])
        for index in reversed(range(count)):
            stretched(archive, index, count - 1)
        about = f"Each of {count} entries has all that follow it for its data."
        file = bytes(archive.file)
        yield Invalid(f"overlap_quoted_{count}", about, "P3", file, 0, "0.bin", case=case)


def stretched(archive: Archive, index: int, last: int) -> Archive:
    """The data of an entry goes on to the end of another's; CRCs are right."""
    begin, end = archive.data[index], archive.data_end(last)
    values = {"compressed": end - begin, "size": end - begin}
    values["crc32"] = zlib.crc32(archive.file[begin:end])
    return archive.set_local(index, **values).set_central(index, **values)


# --- P4 ------------------------------------------------------------------------------------------


def bounds() -> Iterator[Invalid]:
    base = sample()
    at, begin = base.headers[-1], base.data[-1]
    for name, case, size, about in (
        ("directory", "h75", base.central[2] - begin, "in the directory"),
        (
            "local",
            "h75",
            base.central[1] - begin,
            "in the directory, as its local header alone tells",
        ),
        ("end", "h76", len(base.file) - begin, "at the end of the file"),
        ("past_end", "h24", 1 << 20, "behind the end of the file"),
        ("size_2_31", "h25", 0x7FFFFFFF, "at 2 GiB"),
        ("size_2_32", "h26", 0xFFFFFFFE, "at 4 GiB"),
    ):
        both = {"compressed": size, "size": size}
        archive = Archive([side_file(), side_file("b.bin"), model(both=both)])
        about = f"The last entry's data ends {about}."
        yield Invalid(f"bounds_{name}", about, "P4", bytes(archive.file), at, MODEL, case=case)
    for name, case, offset, about in (
        ("offset_past_end", "h29", 1 << 24, "behind the end of the file"),
        ("offset_directory", "h31", base.directory, "where the directory begins"),
        ("offset_2_63", "h34", 1 << 63, "at 2^63"),
        ("offset_wraps", "h33", (1 << 64) - 64, "at 2^64 - 64, so that sums wrap"),
    ):
        wide = offset > SENTINEL32
        central = {"offset": SENTINEL32 if wide else offset}
        extra = zip64_field(offset) if wide else b""
        both = {"version": 45 if wide else 10}
        last = model(both=both, central=central, central_extra=extra)
        archive = Archive([side_file(), side_file("b.bin"), last])
        about = f"The last entry begins {about}."
        file, central_at = bytes(archive.file), archive.central[-1]
        yield Invalid(f"bounds_{name}", about, "P4", file, central_at, MODEL, case=case)


# --- P5 ------------------------------------------------------------------------------------------


def gaps() -> Iterator[Invalid]:
    ghost = side_file("ghost.bin")
    at = Archive([side_file()]).directory
    orphan = ghost.local_header(at) + ghost.data
    extra_data = b"PK\6\x08" + struct.pack("<I", 4) + bytes(4)
    for name, case, gap, about in (
        ("1", "a01", b"\0", "A gap of one byte between two entries."),
        ("aligning", "a01", bytes(-at % 64 + 64), "A gap that aligns the next local header."),
        (
            "orphan",
            "a14",
            orphan,
            "Between two entries stands one that the directory does not list.",
        ),
        ("record", "x15", extra_data, "An archive extra data record between two entries."),
        ("descriptor", None, b"PK\7\x08" + bytes(12), "A data descriptor that no flag announces."),
    ):
        archive = Archive([side_file(), side_file("b.bin", before=gap), model()])
        file = bytes(archive.file)
        yield Invalid(f"gap_{name}", about, "P5", file, archive.data_end(0), "a.bin", case=case)
    last = sample().directory
    ghost_last = ghost.local_header(last) + ghost.data
    signing = struct.pack("<Q", 24) + struct.pack("<Q", 24) + b"APK Sig Block 42"
    for name, case, gap, about in (
        ("1", "a12", b"\0", "One byte"),
        ("signing", "a12", signing, "A block as of signed APK files"),
        ("orphan", "a14", ghost_last, "An entry that the directory does not list"),
    ):
        archive = Archive([side_file(), side_file("b.bin"), model(behind=gap)])
        about += " between the last entry and the directory."
        file = bytes(archive.file)
        yield Invalid(f"gap_last_{name}", about, "P5", file, archive.data_end(-1), MODEL, case=case)


# --- P6 to P8 ------------------------------------------------------------------------------------


def models() -> Iterator[Invalid]:
    archive = Archive([side_file(), side_file("b.bin")])
    about = "No model."
    yield Invalid("model_missing", about, "P6", bytes(archive.file), archive.directory, case="a16")
    archive = Archive([side_file(), side_file(f"x/{MODEL}")])
    about = "The model is in a folder."
    yield Invalid(
        "model_in_folder", about, "P6", bytes(archive.file), archive.directory, case="a16"
    )
    for name, entries in (
        ("first", [model(), side_file(), side_file("b.bin")]),
        ("middle", [side_file(), model(), side_file("b.bin")]),
    ):
        archive = Archive(entries)
        index = 0 if name == "first" else 1
        about = f"The model is the {name} entry."
        file, at = bytes(archive.file), archive.central[index]
        yield Invalid(f"model_{name}", about, "P7", file, at, MODEL, case="a05")
    archive = sample()
    options = {"max_model_size": 1}
    about = "The model is one byte longer than the user's limit."
    file, at = bytes(archive.file), archive.central[-1]
    yield Invalid("model_too_large", about, "P8", file, at, MODEL, case="x29", options=options)

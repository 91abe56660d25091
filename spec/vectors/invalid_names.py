"""Faults of chapter 4: names. They are named at the directory header's offset."""

from __future__ import annotations

from collections.abc import Iterator

from builder import MODEL, UTF8_FLAG, Archive
from vector import Invalid, model, side_file

# File, catalogue's row, rule, name, what is wrong with it.
NAMES = (
    ("empty", "h60", "N1", "", "An empty name"),
    ("1025", None, "N2", "n" * 1021 + ".bin", "A name of 1025 bytes"),
    ("65000", "h68", "N2", "n" * 65000, "A name of 65000 bytes"),
    ("invalid", "h61", "N3", "w\udcff.bin", "A byte that is no UTF-8, flag bit 11 set"),
    ("truncated", "h61", "N3", "w\udcc3", "A UTF-8 sequence cut short"),
    ("overlong", "h63", "N3", "..\udcc0\udcafetc", "An overlong slash"),
    ("overlong_3", "h63", "N3", "w\udce0\udc80\udcaf", "A slash in three bytes"),
    ("surrogate", "h61", "N3", "w\udced\udca0\udc80", "A surrogate in UTF-8"),
    ("beyond", "h61", "N3", "w\udcf4\udc90\udc80\udc80", "U+110000"),
    ("nul", "h54", "N4", "w\0.bin", "A NUL in the name"),
    ("model_nul", "h55", "N4", f"{MODEL}\0x", "The model's name, NUL, x"),
    ("newline", "h64", "N4", "w\n.bin", "A newline in the name"),
    ("escape", "h64", "N4", "w\x1b[31m", "An escape sequence for terminals in the name"),
    ("delete", "h64", "N4", "w\x7f", "U+007F in the name"),
    ("c1_first", "h64", "N4", "w\u0080", "U+0080 in the name"),
    ("c1_last", "h64", "N4", "w\u009f", "U+009F in the name"),
    ("signature", "x09", "N4", "PK\6\6", "The zip64 end record's signature as a name"),
    ("backslash", "h58", "N5", "..\\w", "A backslash in the name"),
    ("absolute", "h56", "N6", "/etc/passwd", "An absolute path"),
    ("root", "h56", "N6", "/", "A slash alone"),
    ("drive", "h59", "N7", "C:w", "A drive letter"),
    ("drive_small", "h59", "N7", "z:/w", "A drive letter and a path"),
    ("folder", "a07", "N8", "weights/", "A folder"),
    ("parent", "h57", "N9", "../w", "A path to the parent"),
    ("parent_inside", "h57", "N9", "a/../../w", "A path to the parent, inside"),
    ("parent_last", "h57", "N9", "a/..", "A path that ends in the parent"),
    ("parent_alone", "h57", "N9", "..", "The parent"),
    ("this", "h65", "N9", "./a.bin", "A path from this folder, beside the same name without"),
    ("this_inside", "h65", "N9", "a/./b", "A part that is a dot"),
    ("this_alone", "h65", "N9", ".", "This folder"),
    ("empty_part", None, "N9", "a//b", "An empty part"),
    ("reserved", None, "N13", "__WEIGHTS", "A reserved name"),
    ("reserved_short", None, "N13", "__A", "The shortest reserved name"),
    ("reserved_longer", None, "N13", f"{MODEL}S", "The model's name and a letter"),
    ("duplicate", "h50", "N10", "a.bin", "A name that the first entry has, too"),
    ("folded", "h52", "N11", "A.bin", "A name that differs from the first entry's in case only"),
    ("prefix_behind", "h67", "N12", "a.bin/x", "The first entry's name as a folder"),
    (
        "prefix_folded",
        "h67",
        "N12",
        "A.BIN/x",
        "The first entry's name as a folder, in another case",
    ),
    (
        "prefix_deep",
        "h67",
        "N12",
        "a.bin/x/y/z",
        "The first entry's name as the folder of a folder",
    ),
)


def vectors() -> Iterator[Invalid]:
    for name, case, rule, spelt, about in NAMES:
        yield _second(f"name_{name}", rule, f"{about}.", spelt, case)
    yield _second(
        "name_no_flag", "N3", "A name that is not ASCII, flag bit 11 clear.", "\u00e4", "h62", 0
    )
    about = "A name in Latin-1, flag bit 11 clear."
    yield _second("name_latin1", "N3", about, "w\udce4", "h62", 0)
    about = "A folder that has data."
    yield _second("name_folder_data", "N8", about, "weights/", "h66", size=20)
    yield from orders_of_flags()
    yield from clashes_with_the_model()
    archive = Archive([side_file("a/b"), side_file("a"), model()])
    about = "A name that the first entry has as its folder."
    yield Invalid(
        "name_prefix", about, "N12", bytes(archive.file), archive.central[0], "a/b", case="h67"
    )


def _second(
    name: str,
    rule: str,
    about: str,
    spelt: str,
    case: str | None,
    flags: int = UTF8_FLAG,
    size: int = 0,
) -> Invalid:
    """The second of three entries has this name."""
    both = {} if spelt.isascii() else {"flags": flags}
    archive = Archive([side_file(), side_file(spelt, size, both=both), model()])
    return Invalid(name, about, rule, bytes(archive.file), archive.central[1], spelt, case=case)


def orders_of_flags() -> Iterator[Invalid]:
    """Two faults each: that a name lacks bit 11 is seen behind all other faults of names and
    flags, before those of other fields."""
    for name, rule, spelt, flags, about in (
        ("long", "N2", "\u00e4" * 513, 0, "1026 bytes"),
        ("control", "N4", "\u00e4\n", 0, "a newline"),
        ("c1", "N4", "\u0085", 0, "U+0085"),
        ("backslash", "N5", "\u00e4\\w", 0, "a backslash"),
        ("absolute", "N6", "/\u00e4", 0, "a slash in front"),
        ("drive", "N7", "C:\u00e4", 0, "a drive letter"),
        ("folder", "N8", "\u00e4/", 0, "a slash behind"),
        ("part", "N9", "\u00e4/../w", 0, "a path to the parent"),
        ("encrypted", "D2", "\u00e4", 1 << 0, "flag bit 0"),
        ("descriptor", "D3", "\u00e4", 1 << 3, "flag bit 3"),
        ("patch", "D4", "\u00e4", 1 << 5, "flag bit 5"),
    ):
        about = f"A name that is not ASCII, flag bit 11 clear, and before that: {about}."
        yield _second(f"name_no_flag_{name}", rule, about, spelt, None, flags)
    about = "A name that is not ASCII, flag bit 11 clear, and behind that: method 8."
    both = {"flags": 0, "method": 8}
    archive = Archive([side_file(), side_file("\u00e4", both=both), model()])
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("name_no_flag_method", about, "N3", file, at, "\u00e4")
    about = "A name that is not ASCII, flag bits 11 and 5."
    yield _second("name_flag_patch", "D4", about, "\u00e4", None, UTF8_FLAG | 1 << 5)
    about = "An absolute path, and flag bit 0: encrypted."
    archive = Archive([side_file(), side_file("/w", both={"flags": 1}), model()])
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("name_and_encrypted", about, "N6", file, at, "/w")


def clashes_with_the_model() -> Iterator[Invalid]:
    archive = Archive([side_file(), model(), model()])
    about = "Two models."
    yield Invalid(
        "model_twice", about, "N10", bytes(archive.file), archive.central[2], MODEL, case="h51"
    )
    archive = Archive([side_file(MODEL.lower()), model()])
    about = "The model's name in small letters, which is not reserved, beside the model."
    yield Invalid(
        "model_folded", about, "N11", bytes(archive.file), archive.central[1], MODEL, case="h52"
    )
    archive = Archive([side_file(f"{MODEL}/x"), model()])
    at, entry = archive.central[0], f"{MODEL}/x"
    about = "The model's name as a folder."
    yield Invalid("model_prefix", about, "N12", bytes(archive.file), at, entry, case="h67")

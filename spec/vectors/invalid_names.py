"""Faults of names (N). They are named at the directory header's offset."""

from __future__ import annotations

from collections.abc import Iterator

from builder import MODEL, UTF8_FLAG, Archive
from vector import Invalid, model, side_file

# File, catalogue's row, rule, name, what is wrong with it.
NAMES = (
    ("empty", "h60", "N1", "", "An empty name"),
    ("1025", None, "N2", "n" * 1021 + ".bin", "A name of 1025 bytes"),
    ("65000", "h68", "N2", "n" * 65000, "A name of 65000 bytes"),
    ("invalid", "h61", "N14", "w\udcff.bin", "A byte that is no UTF-8, flag bit 11 set"),
    ("truncated", "h61", "N14", "w\udcc3", "A UTF-8 sequence cut short"),
    ("overlong", "h63", "N14", "..\udcc0\udcafetc", "An overlong slash"),
    ("overlong_3", "h63", "N14", "w\udce0\udc80\udcaf", "A slash in three bytes"),
    ("surrogate", "h61", "N14", "w\udced\udca0\udc80", "A surrogate in UTF-8"),
    ("beyond", "h61", "N14", "w\udcf4\udc90\udc80\udc80", "U+110000"),
    ("nul", "h54", "N14", "w\0.bin", "A NUL in the name"),
    ("model_nul", "h55", "N14", f"{MODEL}\0x", "The model's name, NUL, x"),
    ("newline", "h64", "N14", "w\n.bin", "A newline in the name"),
    ("escape", "h64", "N14", "w\x1b[31m", "An escape sequence for terminals in the name"),
    ("delete", "h64", "N14", "w\x7f", "U+007F in the name"),
    ("c1_first", "h64", "N14", "w\u0080", "U+0080 in the name"),
    ("c1_last", "h64", "N14", "w\u009f", "U+009F in the name"),
    ("signature", "x09", "N14", "PK\6\6", "The zip64 end record's signature as a name"),
    ("backslash", "h58", "N14", "..\\w", "A backslash in the name"),
    ("not_ascii", None, "N14", "gr\u00f6\u00dfe.bin", "A name that is not ASCII, flag bit 11 set"),
    ("semicolon", None, "N14", "weights;1", "A semicolon and digits, which unzip takes off"),
    ("semicolon_in_folder", None, "N14", "a;1/b", "A semicolon in a folder's name"),
    ("colon", None, "N14", "ab:c", "A colon"),
    ("star", None, "N14", "st*r", "A star"),
    ("question_mark", None, "N14", "qu?", "A question mark"),
    ("quote", None, "N14", 'quo"te', "A quotation mark"),
    ("less", None, "N14", "l<t", "A less-than sign"),
    ("greater", None, "N14", "g>t", "A greater-than sign"),
    ("pipe", None, "N14", "pi|pe", "A vertical bar"),
    ("right_to_left", None, "N14", "rtl\u202egpj", "U+202E, which turns listings around"),
    ("nfd", "h53", "N14", "a\u0308.bin", "A letter and a combining mark"),
    ("trailing_dot", "x25", "N16", "dot.", "A dot at the end"),
    ("trailing_dots", None, "N16", "...", "Three dots"),
    ("trailing_space", "x25", "N16", "sp ", "A space at the end"),
    ("trailing_dots_in_folder", None, "N16", "a../w", "A folder that ends in dots"),
    ("trailing_space_in_folder", None, "N16", "a /w", "A folder that ends in a space"),
    ("part_256", None, "N15", "n" * 252 + ".bin", "A name of one part of 256 bytes"),
    ("part_256_in_folder", None, "N15", "n" * 256 + "/w", "A folder whose name has 256 bytes"),
    ("device", "x25", "N17", "CON", "A device"),
    ("device_extension", "x25", "N17", "nul.txt", "A device with an extension"),
    ("device_extensions", None, "N17", "aux.tar.gz", "A device with two extensions"),
    ("device_space", None, "N17", "prn .txt", "A device, a space, and an extension"),
    ("device_com", None, "N17", "com0", "The first serial port's number"),
    ("device_lpt", None, "N17", "Lpt9.bin", "The last printer"),
    ("device_console", None, "N17", "CONIN$", "The console's input"),
    ("device_console_out", None, "N17", "conout$.txt", "The console's output with an extension"),
    ("device_folder", None, "N17", "a/aux/w", "A device as a folder"),
    ("absolute", "h56", "N6", "/etc/passwd", "An absolute path"),
    ("root", "h56", "N6", "/", "A slash alone"),
    ("drive", "h59", "N14", "C:w", "A drive letter"),
    ("drive_small", "h59", "N14", "z:/w", "A drive letter and a path"),
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
    about = "A name that is not ASCII, flag bit 11 clear."
    yield _second("name_no_flag", "N14", about, "\u00e4", "h62", 0)
    about = "A name in Latin-1, flag bit 11 clear."
    yield _second("name_latin1", "N14", about, "w\udce4", "h62", 0)
    about = "A folder that has data."
    yield _second("name_folder_data", "N8", about, "weights/", "h66", size=20)
    yield from two_faults()
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
    also: tuple[str, ...] = (),
) -> Invalid:
    """The second of three entries has this name."""
    both = {} if spelt.isascii() else {"flags": flags}
    archive = Archive([side_file(), side_file(spelt, size, both=both), model()])
    file, at = bytes(archive.file), archive.central[1]
    return Invalid(name, about, rule, file, at, spelt, case=case, also=also)


def two_faults() -> Iterator[Invalid]:
    """Two faults each: rules are looked at in the order in which the text lists them."""
    for name, rules, spelt, about in (
        ("long_character", "N2 N14", "\u00e4" * 513, "1026 bytes, not ASCII"),
        ("character_absolute", "N14 N6", "/a;1", "a semicolon, a slash in front"),
        ("character_folder", "N14 N8", "a;1/", "a semicolon, a slash behind"),
        ("character_part", "N14 N9", "../w;1", "a semicolon, a path to the parent"),
        ("absolute_folder", "N6 N8", "/", "a slash in front and behind"),
        ("folder_part", "N8 N9", "a//", "a slash behind, an empty part"),
        ("part_long", "N9 N15", "n" * 256 + "/../w", "a part of 256 bytes, a path to the parent"),
        ("part_long_end", "N15 N16", "a./" + "n" * 256, "a dot at the end, a part of 256 bytes"),
        ("end_device", "N16 N17", "aux/a.", "a device, a dot at the end"),
        ("end_of_device", "N16 N17", "con.", "a device with a dot at the end"),
    ):
        rule, other = rules.split()
        yield _second(f"name_{name}", rule, f"Two faults: {about}.", spelt, None, also=(other,))
    about = "Two faults: an absolute path, and flag bit 0: encrypted."
    archive = Archive([side_file(), side_file("/w", both={"flags": 1}), model()])
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("name_and_encrypted", about, "N6", file, at, "/w", also=("D2",))
    about = "Flag bits 11 and 5."
    both = {"flags": UTF8_FLAG | 1 << 5}
    archive = Archive([side_file(), side_file("w.bin", both=both), model()])
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("name_flag_patch", about, "D4", file, at, "w.bin")


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
    about = "Two faults: the model's name as a folder, and so a reserved name."
    file = bytes(archive.file)
    yield Invalid("model_prefix", about, "N12", file, at, entry, case="h67", also=("N13",))

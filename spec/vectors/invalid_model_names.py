"""Archives that break rule G4: the name of the model (../graphs.md)."""

from __future__ import annotations

from collections.abc import Iterator

import wire
from builder import MODEL, Archive, Entry
from graph_entries import NAME_KEY, graph, linked, main, metadata
from vector import Invalid, side_file, weight


def vectors() -> Iterator[Invalid]:
    yield from bad_names()
    yield from taken_names()


def bad_names() -> Iterator[Invalid]:
    def bad(name: str, about: str, *names: str, entries: tuple[Entry, ...] = ()) -> Invalid:
        """The last of these names is the one at fault."""
        fields = [metadata(NAME_KEY, each) for each in names]
        archive = Archive([*entries, main(behind=b"".join(fields))])
        at = archive.data_end(-1) - len(fields[-1])
        file = bytes(archive.file)
        return Invalid(f"model_name_{name}", about, "G4", file, at, MODEL, "check")

    yield bad("twice", "The model's name is given twice.", "a", "b")
    yield bad("twice_equal", "The model's name is given twice, in the same way.", "a", "a")
    for case, value in (
        ("empty", ""),
        ("slash_first", "/a"),
        ("slash_last", "a/"),
        ("slashes", "a//b"),
        ("parent_inside", "a/../b"),
        ("device_folder", "nul/b"),
        ("folder_dot", "a./b"),
        ("folders_too_long", "/".join(["a" * 250] * 4 + ["b" * 20])),
        ("parent", "../a"),
        ("backslash", "a\\b"),
        ("colon", "c:a"),
        ("control", "a\n"),
        ("not_ascii", "\u00e4"),
        ("device", "nul"),
        ("device_dot", "con.a"),
        ("reserved", "__A"),
        ("of_model_entry", MODEL),
        ("too_long", "a" * 251),
    ):
        yield bad(case, f"The model's name is {value!r:.30}.", value)
    pair = wire.block(14, wire.block(1, "x") + wire.pair(NAME_KEY, "/a"))
    archive = Archive([main(behind=pair)])
    file, at = bytes(archive.file), archive.data_end(-1) - len(pair)
    about = "A pair with two keys, the last one the model's name, which is absolute."
    yield Invalid("model_name_last_key", about, "G4", file, at, MODEL, "check")


def taken_names() -> Iterator[Invalid]:
    def bad(name: str, about: str, value: str, *, entries: tuple[Entry, ...]) -> Invalid:
        field = metadata(NAME_KEY, value)
        archive = Archive([*entries, main(behind=field)])
        at = archive.data_end(-1) - len(field)
        return Invalid(f"model_name_{name}", about, "G4", bytes(archive.file), at, MODEL, "check")

    taken = (graph(),)
    yield bad("taken", "A graph has the model's name.", "b", entries=taken)
    yield bad("taken_folded", "A graph has the model's name in another case.", "B", entries=taken)
    taken = (side_file("B.ONNX"),)
    yield bad("taken_side_file", "A side file has the model's name.", "b", entries=taken)
    taken = (side_file("b.onnx/c.bin"),)
    yield bad("taken_folder", "A folder has the model's name.", "b", entries=taken)
    taken = (side_file("B.Onnx/c.bin"),)
    about = "A folder has the model's name in another case."
    yield bad("taken_folder_folded", about, "b", entries=taken)
    taken = (graph(name="unet/b.onnx"),)
    yield bad("taken_in_folder", "A graph has the model's name.", "unet/b", entries=taken)
    about = "A graph has the model's name in another case of the folder."
    yield bad("taken_in_folder_folded", about, "Unet/b", entries=taken)
    taken = (side_file("unet/b.onnx/c.bin"),)
    about = "A folder in a folder has the model's name."
    yield bad("taken_folder_in_folder", about, "unet/b", entries=taken)
    about = "The folder of the model's name is an entry."
    yield bad("in_side_file", about, "a.json/b", entries=(side_file("a.json"),))
    about = "The folder of the model's name is an entry in another case."
    yield bad("in_weight", about, "W/b", entries=(weight("w"), graph(linked())))
    about = "A parent folder of the model's name is an entry."
    yield bad("in_side_file_deep", about, "a/b/c/d", entries=(side_file("a/b"),))
    about = "The folder of the model's name is the model's own entry."
    yield bad("in_model", about, f"{MODEL.lower()}/b", entries=())

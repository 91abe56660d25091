"""Archives that a reader accepts: edits that no longer list a run of entries (../editing.md)."""

from __future__ import annotations

from collections.abc import Iterator

from builder import Archive, Entry
from graph_entries import graph, inline, linked, main
from vector import Valid, side_file, weight

NOTES = ("archive.tail.superseded",)
OTHER = side_file(size=77)
LAST = main(linked())


def vectors() -> Iterator[Valid]:
    def good(name: str, about: str, archive: Archive, *notes: str) -> Valid:
        return Valid(f"run_{name}", about, archive, notes=(*NOTES, *notes))

    about = "A graph was replaced: it and the model were appended again."
    changed = graph(linked(), inline())
    yield good("graph", about, edited(of_three(), 2, changed, LAST))
    about = "A side file was replaced: the graph after it was appended again as it was."
    yield good("side_file", about, edited(of_three(), 3, OTHER, graph(linked()), LAST))
    yield good("graph_gone", "A graph was removed.", edited(of_three(), 2, LAST))
    about = "A side file and a graph were removed."
    yield good("all_gone", about, edited(of_three(), 3, LAST))
    about = "A graph was removed, and with it the last link to a weight."
    archive = Archive([weight("w"), graph(linked()), main()])
    unused = "archive.entry.unused"
    yield good("weight_left", about, edited(archive, 2, main()), unused)
    about = "A graph was added, with a weight of its own."
    added = weight("v"), graph(linked("v"), name="c.onnx"), LAST
    yield good("added", about, edited(of_three(), 1, *added))
    about = "The side file moved behind the graph: the order is the editor's."
    yield good("order", about, edited(of_three(), 3, graph(linked()), OTHER, LAST))
    about = "Edited twice: each time the graph was replaced."
    once = edited(of_three(), 2, changed, LAST)
    yield good("twice", about, edited(once, 2, graph(linked()), LAST))
    about = "Edited twice: the second time what the first one had kept was replaced, too."
    once = edited(of_three(), 2, changed, LAST)
    yield good("farther", about, edited(once, 3, OTHER, changed, LAST))
    about = "Edited twice: a weight was added, then the run after it replaced."
    once = edited(of_three(), 3, weight("v"), side_file(), graph(linked("v")), LAST)
    yield good("after_weight", about, edited(once, 3, OTHER, graph(linked("v")), LAST))
    about = "An archive with zip64 end records: the edit has some, too."
    archive = edited(of_three(zip64=True), 2, changed, LAST, zip64=True)
    yield Valid("run_zip64", about, archive, warnings=("zip.zip64.unneeded",), notes=NOTES)
    about = "A side file of an old state has a name that a weight has now."
    archive = Archive([weight("w"), side_file("a.bin"), main(linked())])
    archive = edited(archive, 2, weight("a.bin"), main(linked(), linked("a.bin", "a")))
    warnings = ("archive.key.not_identifier",)
    yield Valid("run_name_again", about, archive, warnings=warnings, notes=NOTES)


def edited(archive: Archive, gone: int, *entries: Entry, zip64: bool = False) -> Archive:
    """As an edit does that lists the last `gone` entries no more, the model among them."""
    for per_entry in (archive.entries, archive.headers, archive.data):
        del per_entry[len(per_entry) - gone + 1 :]
    return archive.edit(*entries, zip64=zip64)


def of_three(*, zip64: bool = False) -> Archive:
    entries = [weight("w"), side_file(), graph(linked()), main(linked())]
    return Archive(entries, zip64=zip64)

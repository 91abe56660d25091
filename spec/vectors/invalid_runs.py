"""Archives whose last edit left a run of entries that is no valid older state (../editing.md)."""

from __future__ import annotations

from collections.abc import Iterator

from builder import Archive
from graph_entries import graph, inline, linked, main
from valid_runs import LAST, OTHER, edited, of_three
from vector import Invalid, side_file, weight


def vectors() -> Iterator[Invalid]:
    changed = graph(linked(), inline())

    def refused_run(name: str, about: str, archive: Archive, rule: str = "T2") -> Invalid:
        stage = "check" if rule == "T2" else "open"
        file, at = bytes(archive.file), archive.data_end(0)
        return Invalid(f"run_{name}", about, rule, file, at, "w", stage)

    about = "A run that is listed no more, and in the old state one of it has a wrong local header."
    archive = of_three().set_local(1, time=1)
    yield refused_run("local", about, edited(archive, 3, OTHER, changed, LAST))
    archive = of_three().set_central(2, flags=1)
    about = "A run that is listed no more, and in the old state one of it is encrypted."
    yield refused_run("encrypted", about, edited(archive, 3, OTHER, changed, LAST))
    archive = of_three()
    archive.file[archive.directory :] = b""
    about = "A run without the directory of the state that it was in."
    yield refused_run("no_directory", about, edited(archive, 3, OTHER, changed, LAST), "P5")
    archive = of_three()
    del archive.file[archive.end :]
    about = "A run with a directory and no end record."
    yield refused_run("no_end", about, edited(archive, 3, OTHER, changed, LAST), "P5")
    archive = edited(of_three(zip64=True), 3, OTHER, changed, LAST)
    about = "A run of a state with zip64 end records, and the last state has none."
    yield refused_run("zip64_lost", about, archive, "P5")
    archive = Archive([side_file(), weight("w"), graph(linked()), main(linked())])
    file = edited(archive, 2, changed, LAST)
    del file.entries[0], file.headers[0], file.data[0]
    file.finish()
    about = "The first entry is listed no more: the first one that is does not begin at 0."
    header = file.central[0]
    yield Invalid("run_first", about, "P1", bytes(file.file), header, "w")

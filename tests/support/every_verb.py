"""Takes a model through every verb of the command line, and compares their results.

The tool is found in the environment variable ONNXAR.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from support import wire_writer as wire
from support.command_line import ALL_SITES, FOUND, MODEL, USAGE, RunError, at_once, entries_of, onnxar, run

MOST_TENSORS = 2  # of a model, that are checked one by one
NAME = "edited by a test"


class Wrong(Exception):
    """The results of two verbs contradict each other."""


def hold(what: str, holds: bool) -> None:
    if not holds:
        raise Wrong(what)


class Journey:
    """The journey of one model. All files made from it are in `folder`."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model, self.folder = model, folder
        self.archive, self.back = folder / "a.onnxar", folder / "back.onnx"

    def run(self) -> None:
        onnxar("pack", self.model, "-o", self.archive, "--no-sync", "-q", *ALL_SITES)
        onnxar("check", "--data", "-q", self.archive)
        self.entries = entries_of(self.archive)
        self.data = self.archive.read_bytes()
        onnxar("unpack", self.archive, "-o", self.back, "--no-sync", "-q")
        self.go_through_verbs()

    def go_through_verbs(self) -> None:
        self.look()
        self.take_out()
        self.compare()
        self.link()
        self.freeze()
        self.repack()
        self.edit()

    def shown(self, path: Path) -> dict[str, Any]:
        found = json.loads(onnxar("show", "--json", "--nodes", path))
        return {key: found[key] for key in ("graph", "functions", "parameters", "tensors", "cost", "nodes", "opsets")}

    def look(self) -> None:
        """show, dump"""
        hold("show: of model and archive", self.shown(self.model) == self.shown(self.archive))
        hold("show: for people", onnxar("show", self.archive).startswith(b"model "))
        page = self.folder / "page.html"
        onnxar("show", self.archive, "--html", page)
        hold("show: a page", page.read_text().endswith("</html>\n"))
        texts = [onnxar("dump", "--with-data", "-q", path) for path in (self.archive, self.back)]
        hold("dump: of archive and unpacked", texts[0] == texts[1])
        hold("dump: without data", b"graph {" in onnxar("dump", "-q", self.archive))

    def take_out(self) -> None:
        """ls, cat, extract"""
        listed = json.loads(onnxar("ls", "--json", self.archive))
        sizes = {entry["name"]: entry["size"] for entry in (*listed["entries"], {"name": MODEL, **listed["model"]})}
        hold("ls: names and sizes", sizes == {name: len(data) for name, data in self.entries.items()})
        hold("cat: the model", onnxar("cat", self.archive, "--model") == self.entries[MODEL])
        for entry in listed["entries"][:MOST_TENSORS]:
            data, name = self.entries[entry["name"]], entry["name"]
            hold(f"cat: {name}", onnxar("cat", self.archive, name) == data)
            raw = self.folder / "raw"
            onnxar("extract", self.archive, entry["tensors"][0]["site"], "-o", raw, "--raw", "-f", "--no-sync", "-q")
            hold(f"extract: {name}", raw.read_bytes() == data)

    def compare(self) -> None:
        """diff"""
        onnxar("diff", "-q", self.model, self.archive)
        onnxar("diff", "-q", self.archive, self.back)

    def link(self) -> None:
        link = self.folder / "link.onnx"
        onnxar("link", self.archive, "-o", link, "--no-sync", "-q")
        onnxar("check", "--data", "-q", link)
        onnxar("diff", "-q", link, self.archive)

    def freeze(self) -> None:
        once, twice = self.folder / "once", self.folder / "twice"
        onnxar("freeze", self.archive, "-o", once, "--no-sync", "-q", *ALL_SITES)
        onnxar("check", "--data", "-q", once)
        hold("freeze: outputs", self.shown(once)["graph"]["outputs"] == self.shown(self.archive)["graph"]["outputs"])
        onnxar("freeze", once, "-o", twice, "--no-sync", "-q", *ALL_SITES)
        hold("freeze: again", once.read_bytes() == twice.read_bytes())

    def repack(self) -> None:
        again = self.folder / "again"
        onnxar("repack", self.archive, "-o", again, "--no-sync", "-q")
        hold("repack: of an archive", again.read_bytes() == self.data)

    def edit(self) -> None:
        """replace, undo, recover"""
        before, edited = self.folder / "before", self.folder / "edited.onnx"
        before.write_bytes(self.data)
        edited.write_bytes(self.back.read_bytes() + wire.block(2, NAME))  # producer_name: the last one counts
        onnxar("replace", self.archive, edited, "--no-sync", "-q")
        onnxar("check", "--data", "-q", self.archive)
        done = run("diff", "--json", "-q", before, self.archive)
        hold("diff: of an edit", done.returncode == FOUND)
        report = json.loads(done.stdout)
        changes = [(each["site"], each["after"]) for each in report["graph"]]
        hold(f"diff: one change: {changes}", changes == [("producer_name", f'"{NAME}"')] and not report["tensors"])
        torn = self.folder / "torn"
        torn.write_bytes(self.archive.read_bytes()[:-7])
        if len(self.entries) == 1:  # then `replace` wrote the archive anew
            hold("undo: nothing", run("undo", "--force", self.archive).returncode == USAGE)
            return
        onnxar("undo", "--force", "--no-sync", "-q", self.archive)
        hold("undo: what was there", self.archive.read_bytes() == self.data)
        onnxar("recover", "--no-sync", "-q", torn)
        hold("recover: what was there", torn.read_bytes() == self.data)


def faults_of(models: Iterable[tuple[str, Callable[[], bytes]]]) -> list[str]:
    """Returns the faults of these models by name."""

    def judge(model: tuple[str, Callable[[], bytes]]) -> str:
        name, data = model
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "m.onnx"
            path.write_bytes(data())
            try:
                Journey(path, Path(home)).run()
            except (RunError, Wrong) as error:
                return f"{name}: {error}"
        return ""

    return [fault for fault in at_once(judge, models) if fault]

"""Measures updates and partial downloads, and what tools that compare blocks find in the same files.

nginx and a relay are those of remote.py. Needs Debian's nginx-light, rsync and zsync.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from measure import GIB, MIB, TOOL, into_cache, median_of, run, timed, verdict
from remote import ROUND_TRIP, Server, serving
from report import Section
from sharing import mounted_xfs

TENSORS, CHANGED = 300, 150
LARGE = 4 * MIB  # the tensor that changes
OTHERS = (GIB - LARGE) // (TENSORS - 1) // 64 * 64
PACKAGE = 4  # variants


def written_model(path: pathlib.Path, seeds: list[int], producer: str) -> None:
    """Writes a model with its weights inside: of random bytes, equal for equal seeds."""
    tensors = []
    for i, seed in enumerate(seeds):
        size = LARGE if i == CHANGED else OTHERS
        tensor = onnx.TensorProto(name=f"layer.{i}.weight", data_type=onnx.TensorProto.UINT8, dims=[size])
        tensor.raw_data = np.random.default_rng(seed).bytes(size)
        tensors.append(tensor)
    graph = onnx.helper.make_graph([], "bench", [], [], initializer=tensors)
    path.write_bytes(onnx.helper.make_model(graph, producer_name=producer).SerializeToString())


def packed(inputs: list[pathlib.Path], archive: pathlib.Path) -> None:
    run([TOOL, "pack", "-q", *map(str, inputs), "-o", str(archive)])


def make_versions(folder: pathlib.Path) -> None:
    """Two versions of a model, and their archives: one tensor differs, and the graph."""
    for name, changed in (("old", []), ("new", [CHANGED])):
        seeds = [TENSORS + i if i in changed else i for i in range(TENSORS)]
        written_model(folder / f"{name}.onnx", seeds, f"{name} version")
        packed([folder / f"{name}.onnx"], folder / f"{name}.onnxar")


def make_package(folder: pathlib.Path) -> None:
    variants = []
    for k in range(PACKAGE):
        variants.append(folder / f"variant{k}.onnx")
        written_model(variants[-1], [1000 * (k + 1) + i for i in range(TENSORS // PACKAGE)], f"variant {k}")
    packed(variants, folder / "package.onnxar")
    for path in variants[1:]:
        path.unlink()


@contextlib.contextmanager
def temporary(*paths: pathlib.Path) -> Iterator[None]:
    try:
        yield
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


class Updates:
    """Rows of ways to make the new version of a file from the old one."""

    def __init__(self, section: Section, server: Server, folder: pathlib.Path, runs: int) -> None:
        self.section, self.server, self.folder, self.runs = section, server, folder, runs

    def row(self, what: str, update: Callable[[], object], new: pathlib.Path, out: pathlib.Path, bars: tuple[float, int, float] | None = None,
            prepare: Callable[[], object] = lambda: None) -> None:
        """`bars`: the most bytes, requests and seconds."""
        prepare()
        answers = self.server.answers(update)
        run(["cmp", str(new), str(out)])
        time = median_of(update, self.runs, prepare)
        cells = [f"{sum(answers) / MIB:.2f} MiB", str(len(answers)), f"{time:.2f} s"]
        if bars:
            met = (sum(answers) <= bars[0] * MIB, len(answers) <= bars[1], time <= bars[2])
            cells = [verdict(cell, each) for cell, each in zip(cells, met, strict=True)]
        self.section.row(what, *cells)

    def get(self, name: str, folder: pathlib.Path, *options: str) -> None:
        """Updates in `folder`, which has the old version."""
        out = folder / "out.onnxar"
        command = [TOOL, "get", self.server.address("new.onnxar"), "-o", str(out), "--reuse", str(folder / "old.onnxar"), "-q", *options]
        with temporary(out):
            self.row(name, lambda: run(command), self.folder / "new.onnxar", out, (6, 6, 0.5), lambda: self.clean(out))

    def copy(self) -> None:
        """A copy on this disk, which no update is faster than where files cannot share blocks."""
        old, out = self.folder / "old.onnxar", self.folder / "out.onnxar"
        with temporary(out):
            time = median_of(lambda: run(["sh", "-c", 'cp "$0" "$1" && sync "$1"', str(old), str(out)]), self.runs, lambda: self.clean(out))
        self.section.row("— `cp` of the old archive, and `sync`", "", "", f"{time:.2f} s")

    def whole(self) -> None:
        out = self.folder / "out.onnxar"
        command = [TOOL, "get", self.server.address("new.onnxar"), "-o", str(out), "-q"]
        with temporary(out):
            self.row("— `onnxar get` of the whole", lambda: run(command), self.folder / "new.onnxar", out, None, lambda: self.clean(out))

    def clean(self, out: pathlib.Path) -> None:
        out.unlink(missing_ok=True)
        os.sync()

    def zsync(self, what: str, name: str) -> None:
        out, target = self.folder / f"out.{name}", self.folder / f"{name}.zsync"
        make = ["zsyncmake", "-o", str(target), "-u", self.server.address(f"new.{name}"), str(self.folder / f"new.{name}")]
        seconds = timed(lambda: subprocess.run(make, check=True, stderr=subprocess.DEVNULL))
        command = ["zsync", "-q", "-i", str(self.folder / f"old.{name}"), "-o", str(out), self.server.address(target.name)]

        def update() -> None:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)

        with temporary(out, target, out.with_name(f"{out.name}.zs-old")):
            self.row(f"{what}: zsync (and {seconds:.1f} s for zsyncmake)", update, self.folder / f"new.{name}", out, None, lambda: self.clean(out))

    def rsync(self, what: str, name: str) -> None:
        """rsync of this machine alone: what it would send."""
        old, new, out = (self.folder / f"{each}.{name}" for each in ("old", "new", "rsynced"))
        command = ["rsync", "--no-whole-file", "--stats", str(new), str(out)]
        sent: list[int] = []
        times: list[float] = []

        def update() -> None:
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.replace(",", "")
            sent.append(sum(int(each) for each in re.findall(r"^Total bytes (?:sent|received): (\d+)", text, re.MULTILINE)))

        with temporary(out):
            for _ in range(self.runs):
                shutil.copyfile(old, out)
                os.utime(out, (0, 0))
                os.sync()
                times.append(timed(update))
            run(["cmp", str(new), str(out)])
        self.section.row(f"{what}: rsync", f"{sent[-1] / MIB:.2f} MiB", "no server", f"{sorted(times)[len(times) // 2]:.2f} s")


def variant(section: Section, server: Server, folder: pathlib.Path, runs: int) -> None:
    """One variant of a package of four."""
    out, expected = folder / "out.onnxar", folder / "variant0.onnxar"
    run([TOOL, "pack", "-q", str(folder / "package.onnxar"), "--model", "variant1", "-o", str(expected)])
    command = [TOOL, "get", server.address("package.onnxar"), "--model", "variant1", "-o", str(out), "-f", "-q"]
    answers = server.answers(lambda: run(command))
    run(["cmp", str(expected), str(out)])
    time = median_of(lambda: run(command), runs)
    ratio = sum(answers) / expected.stat().st_size
    section.row("one variant of four: `onnxar get --model`", verdict(f"{sum(answers) / MIB:.2f} MiB, {ratio:.4f} x its bytes", ratio <= 1.02), str(len(answers)), f"{time:.2f} s")


def measure(folder: pathlib.Path, runs: int) -> Section:
    section = Section(
        "Updates",
        f"{ROUND_TRIP * 1000:.0f} ms a round trip. A model of 1 GiB in {TENSORS} tensors of random bytes; its new version has another tensor of 4 MiB and another graph. Medians of {runs} runs of whole commands; "
        "the cache is warm. *Plain* is one .onnx with its weights inside. rsync copies on this machine with --no-whole-file, so its bytes are what it would send. "
        "Bars: at most 6 MiB, 6 requests and 0.5 s; a variant that is a quarter of a package: at most 1.02 x its bytes",
        ("what", "bytes", "requests", "time"),
    )  # fmt: skip
    missing = [name for name in ("nginx", "rsync", "zsync") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"updates: needs {', '.join(missing)}: apt-get install nginx-light rsync zsync")
    make_versions(folder)
    for path in folder.iterdir():
        into_cache(path)
    os.sync()
    with serving(folder) as server:
        updates = Updates(section, server, folder, runs)
        updates.get("`onnxar get --reuse`", folder)
        updates.get("— `--no-sync`", folder, "--no-sync")
        updates.copy()
        with mounted_xfs(folder, 4 * GIB) as disk:
            shutil.copyfile(folder / "old.onnxar", disk / "old.onnxar")
            updates.get("— on XFS, whose files share blocks", disk)
        updates.whole()
        for what, name in (("archive", "onnxar"), ("plain", "onnx")):
            updates.zsync(what, name)
            updates.rsync(what, name)
        make_package(folder)
        variant(section, server, folder, runs)
    return section

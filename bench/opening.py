"""Measures opening an archive of many tensors from Python, against the same from C++ (open_all_tensors in model_bench.cc)."""

from __future__ import annotations

import pathlib
import statistics
import subprocess

import library
import models
from measure import ROOT, TOOL, WHEEL_PYTHON, run, verdict
from report import Section

COUNT = 10_000
ROUNDS = 5
BAR = 2
WORKER = ROOT / "bench/opening_worker.py"


def python_opens(archive: pathlib.Path) -> dict[str, float]:
    """Milliseconds by what is asked for."""
    done = subprocess.run([str(WHEEL_PYTHON), str(WORKER), str(archive), str(COUNT)], check=True, stdout=subprocess.PIPE, text=True)
    return {what: float(figure) for what, figure in (line.split() for line in done.stdout.splitlines())}


def measure(folder: pathlib.Path) -> Section:
    section = Section("Opening from Python", f"{COUNT} tensors of 64 bytes; CPU time, medians of {ROUNDS} rounds, in which C++ and Python take turns.",
                      ("what", "figure", "bar"))
    archive = folder / "small.onnxar"
    run([TOOL, "pack", "-q", "--no-sync", "--threshold", "0", str(models.make_small_tensors(folder, COUNT)), "-o", str(archive)])
    rounds = []
    for _ in range(ROUNDS):
        in_cpp = library.figures(folder, "open_all_tensors", repetitions=3)[f"open_all_tensors/{COUNT}"]["cpu_time"]
        rounds.append((in_cpp, python_opens(archive)))
    cpp = statistics.median(each for each, _ in rounds)
    for what, name in (("open", "`onnxar.open`"), ("names", "and all names"), ("arrays", "and all arrays")):
        section.row(name, f"{statistics.median(python[what] for _, python in rounds):.2f} ms")
    ratio = statistics.median(python["arrays"] / in_cpp for in_cpp, python in rounds)
    section.row("the same in C++: `Archive::open`, `tensors`, `tensor_data` of each",
                f"{cpp:.2f} ms; Python takes {ratio:.2f} x as long", verdict(f"{BAR} x", ratio <= BAR))
    return section

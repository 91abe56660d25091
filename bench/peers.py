"""Measures saving and loading 1 GiB of weights with common libraries, each in a separate process."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import pathlib
import statistics
import subprocess
import sys

import library
import models
from measure import GIB, MIB, PEERS_PYTHON, ROOT, TOOL, TORCH_PYTHON, WHEEL_PYTHON, into_cache, median_of, run, touch_memory, versions
from report import Section

RUNS = 5
WORKER = ROOT / "bench/peer_worker.py"
LIBRARIES = {  # its name in the worker, and the Python that has it
    "onnxar, Python": ("onnxar", WHEEL_PYTHON),
    "onnx, external data": ("onnx", PEERS_PYTHON),
    "onnx_ir, external data": ("onnx_ir", PEERS_PYTHON),
    "safetensors": ("safetensors", PEERS_PYTHON),
    "torch.save, torch.load with mmap": ("torch", TORCH_PYTHON),
}


def worker(python: pathlib.Path, *arguments: str) -> dict[str, float]:
    done = subprocess.run([str(python), str(WORKER), *arguments], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def median_seconds(python: pathlib.Path, *arguments: str) -> float:
    times = []
    for _ in range(RUNS):
        touch_memory()
        times.append(worker(python, *arguments)["seconds"])
    return statistics.median(times)


def saves(chosen: dict[str, tuple[str, pathlib.Path]], folder: pathlib.Path) -> dict[str, tuple[float, float]]:
    """Seconds for the first save of a process, and for the next ones. The libraries take turns."""
    runs: dict[str, list[dict[str, float]]] = {what: [] for what in chosen}
    for _ in range(RUNS):
        for what, (name, python) in chosen.items():
            touch_memory()
            runs[what].append(worker(python, "save", name, str(folder)))
    return {what: (statistics.median(each["first"] for each in them), statistics.median(each["seconds"] for each in them))
            for what, them in runs.items()}  # fmt: skip


def installed() -> dict[str, tuple[str, pathlib.Path]]:
    for what, (_, python) in LIBRARIES.items():
        if not python.exists():
            print(f"{what}: skipped, {python.relative_to(ROOT)} does not exist (./dev python --torch makes it)", file=sys.stderr)
    return {what: (name, python) for what, (name, python) in LIBRARIES.items() if python.exists()}


def own_figures(folder: pathlib.Path) -> list[float]:
    """Seconds for save, load and read. Saving is timed as for the others: once per process, after touching memory."""
    saves = []
    for _ in range(RUNS):
        touch_memory()
        saves.append(library.figures(folder, "write_archive", repetitions=1)["write_archive/iterations:1/real_time"]["real_time"])
    medians = library.figures(folder, "map_all|map_and_sum")
    loads = [medians[f"{name}/real_time"]["real_time"] for name in ("map_all", "map_and_sum")]
    return [milliseconds / 1e3 for milliseconds in (statistics.median(saves), *loads)]


def libzip_stores(source: pathlib.Path, target: pathlib.Path) -> None:
    """Stores a file as the only entry of a zip with libzip."""
    zip_ = ctypes.CDLL(ctypes.util.find_library("zip"))
    for function in ("zip_open", "zip_source_file"):
        getattr(zip_, function).restype = ctypes.c_void_p
    zip_.zip_file_add.restype = ctypes.c_int64
    archive = ctypes.c_void_p(zip_.zip_open(os.fsencode(target), 1 | 8, None))  # ZIP_CREATE | ZIP_TRUNCATE
    data = ctypes.c_void_p(zip_.zip_source_file(archive, os.fsencode(source), ctypes.c_uint64(0), ctypes.c_int64(-1)))
    index = zip_.zip_file_add(archive, b"weights", data, 0)
    if index < 0 or zip_.zip_set_file_compression(archive, ctypes.c_uint64(index), 0, 0) or zip_.zip_close(archive):
        raise SystemExit("libzip failed")


def measure_files(section: Section, folder: pathlib.Path) -> None:
    model = models.make_external(folder, GIB, 32 * MIB, "peer")
    data, out = model.with_suffix(".data"), folder / "out"

    def prepare() -> None:
        out.unlink(missing_ok=True)
        touch_memory()
        into_cache(data)

    commands = {"`onnxar pack --no-sync`, file to file": lambda: run([TOOL, "pack", "-q", "--no-sync", str(model), "-o", str(out)])}
    if ctypes.util.find_library("zip"):
        commands["libzip, stored, file to file"] = lambda: libzip_stores(data, out)
    for what, action in commands.items():
        section.row(what, f"{median_of(action, RUNS, prepare):.3f}")


def measure(folder: pathlib.Path) -> Section:
    section = Section("Peers", "1 GiB in 32 tensors, page cache warm, no sync, seconds, medians. First save: of a process, into pages that the "
                      "machine may have to get from its host; again: reusing the memory pages of the file that was just removed. onnxar sums CRC-32s, others "
                      "have none. Load: every tensor is available as an array; read: all bytes are summed as well. Each in a separate "
                      "process, from Python except the first row. "
                      + versions(PEERS_PYTHON, "onnx", "onnx_ir", "safetensors") + versions(TORCH_PYTHON, "torch"),
                      ("what", "first save", "save again", "load", "load and read"))
    save, load, read = own_figures(folder)
    section.row("onnxar, C++", f"{save:.5f}", "", f"{load:.5f}", f"{read:.5f}")
    chosen = installed()
    saved = saves(chosen, folder)
    for what, (name, python) in chosen.items():
        cells = [*saved[what], *(median_seconds(python, action, name, str(folder)) for action in ("load", "read"))]
        section.row(what, *(f"{cell:.4f}" for cell in cells))
    measure_files(section, folder)
    return section

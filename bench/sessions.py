"""Measures sessions of ONNX Runtime from archives, inline models and external data, and exports that stream weights."""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess

from measure import MIB, ROOT, WHEEL_PYTHON, into_cache, touch_memory, verdict, versions
from report import Section

WORKER = ROOT / "bench/session_worker.py"
FORMS = ("archive", "external", "inline")
PREPACKING = {"off": "0", "on": "1"}


def worker(*arguments: object) -> dict[str, float]:
    done = subprocess.run([str(WHEEL_PYTHON), str(WORKER), *map(str, arguments)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def sessions(folder: pathlib.Path, megabytes: int, forms: tuple[str, ...], prepacking: str, runs: int) -> dict[str, tuple[float, float]]:
    """Median seconds and anonymous MB of creating a session. The forms take turns, each in a separate process. Sessions that
    take only milliseconds run five times as often."""
    measured: dict[str, list[dict[str, float]]] = {form: [] for form in forms}
    quick = prepacking == "off"
    for run in range(5 * runs if quick else runs):
        for form in forms:
            if form == "inline" and run >= runs:
                continue
            for path in folder.glob(f"{form}.*"):
                into_cache(path)
            measured[form].append(worker("session", form, folder, megabytes, PREPACKING[prepacking]))
    results = {each["checksum"] for form in forms for each in measured[form]}
    if len(results) != 1:
        raise SystemExit(f"the outputs differ: {results}")
    return {form: (statistics.median(each["seconds"] for each in rows), statistics.median(each["anonymous"] for each in rows) / 1e6)
            for form, rows in measured.items()}


def bars(figures: dict[str, tuple[float, float]], form: str, prepacking: str) -> str:
    """Judges the archive against the other forms."""
    if form != "archive":
        return ""
    said = []
    seconds, memory = figures["archive"]
    if "inline" in figures and prepacking == "off":
        said.append(verdict("0.1 x inline, time", seconds <= 0.1 * figures["inline"][0]))
        said.append(verdict("0.1 x inline, memory", memory <= 0.1 * figures["inline"][1]))
    said.append(verdict("1.1 x external, time", seconds <= 1.1 * figures["external"][0]))
    return "; ".join(said)


def measure(folder: pathlib.Path, runs: int, scale: float = 1) -> Section:
    section = Section("ONNX Runtime sessions", "Session creation from Python (`onnxar.onnxruntime.InferenceSession`, `onnxruntime.InferenceSession`), each in "
                      "a separate process, page cache warm; afterwards the model runs once and the outputs are compared; medians. Anonymous: "
                      "private memory that is not mapped from a file, beyond that before the session. " + versions(WHEEL_PYTHON, "onnxruntime"),
                      ("model", "prepacking", "form", "seconds", "anonymous MB", "bar"))
    for megabytes, forms in ((500, FORMS), (2500, ("archive", "external"))):
        megabytes = int(megabytes * scale)
        worker("make", folder, megabytes, *forms)
        touch_memory()
        for prepacking in PREPACKING:
            figures = sessions(folder, megabytes, forms, prepacking, runs)
            for form in forms:
                seconds, memory = figures[form]
                section.row(f"{megabytes} MB", prepacking, form, f"{seconds:.4f}", f"{memory:.1f}", bars(figures, form, prepacking))
        for path in folder.iterdir():
            path.unlink()
    return section


def export(folder: pathlib.Path, scale: float = 1) -> Section:
    section = Section("Exporting from Python", "`onnxar.save` of an onnx_ir model of lazy tensors of 64 MiB, no sync; peak of anonymous memory "
                      "beyond that before the export.", ("weights", "seconds", "anonymous MB", "bar"))
    count = max(int(6e9 * scale / (64 * MIB)), 2)
    figures = worker("export", folder / "export.onnxar", count)
    section.row(f"{count * 64 * MIB / 1e9:.1f} GB", f"{figures['seconds']:.2f}", f"{figures['anonymous'] / 1e6:.0f}",
                verdict("300 MB", figures["anonymous"] < 300e6))
    return section

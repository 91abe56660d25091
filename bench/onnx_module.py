"""Measures the module that the onnx package would carry (spec/rfc) against external data and safetensors, in turns."""

from __future__ import annotations

import pathlib
import statistics

from measure import PEERS_PYTHON, verdict, versions
from peers import worker
from report import Section

# What: its name in the worker, and the one that it must not be slower than. Those that are mapped read the file of the one before.
FORMS = {
    "archive, `onnx.archive`": ("module", "onnx"),
    "archive, `onnx.archive`, mapped": ("module, mapped", "onnx_ir"),
    "external data, `onnx`": ("onnx", None),
    "external data, `onnx_ir`, mapped": ("onnx_ir", None),
    "safetensors beside the model": ("safetensors", None),
    "safetensors, mapped by NumPy": ("safetensors, mapped", None),
    "safetensors with the model in it": ("safetensors with model", None),
}
ACTIONS = ("save", "load", "read")
BAR, BARRED = 1.1, ("save", "load")
COUNT = "8"  # tensors of 32 MiB
Turns = list[dict[str, float]]  # of each process: wall and CPU time


def measure(folder: pathlib.Path, runs: int) -> Section:
    section = Section("The module for onnx", "256 MiB in 8 tensors of a ModelProto (of onnx_ir and safetensors: of arrays), no sync; seconds, medians of processes that "
                      "take turns. Save reuses the memory pages of the file that was just removed. Load: every weight is available as a NumPy array; read: all bytes are summed. "
                      "Ratios are medians of the ratios of each turn, of wall and of CPU time. Only archives have CRC-32s. " + versions(PEERS_PYTHON, "onnx", "onnx_ir", "safetensors"),
                      ("form", "save", "load", "load and read", "bar: 1.1 x external data"))  # fmt: skip
    times: dict[str, dict[str, Turns]] = {name: {action: [] for action in ACTIONS} for name, _ in FORMS.values()}
    for turn in range(runs):
        for group in groups() if turn % 2 else groups()[::-1]:
            for name in group:
                for action in ACTIONS[len(name.split(", ")) - 1 :]:
                    times[name][action].append(worker(PEERS_PYTHON, action, name, str(folder), COUNT))
            for old in folder.iterdir():
                old.unlink()
    for what, (name, peer) in FORMS.items():
        cells = [f"{statistics.median(each['seconds'] for each in turns):.4f}" if turns else "" for turns in times[name].values()]
        section.row(what, *cells, judged(times[name], times[peer]) if peer else "")
    return section


def groups() -> list[list[str]]:
    """The names in the worker, each with those that read its file."""
    names = [name for name, _ in FORMS.values()]
    return [[name, f"{name}, mapped"] if f"{name}, mapped" in names else [name] for name in names if "mapped" not in name]


def judged(own: dict[str, Turns], other: dict[str, Turns]) -> str:
    said = []
    for action in ACTIONS:
        pairs = list(zip(own[action], other[action]))
        wall, cpu = (statistics.median(a[field] / b[field] for a, b in pairs) if pairs else None for field in ("seconds", "cpu"))
        if wall is not None:
            ratio = f"{wall:.2f} x (CPU: {cpu:.2f} x)"
            said.append(f"{action} {verdict(ratio, wall <= BAR) if action in BARRED else ratio}")
    return "; ".join(said)

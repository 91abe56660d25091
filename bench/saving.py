"""Measures how `onnxar.save` of an onnx.ModelProto compares with other ways to save it, and with the least that it can take."""

from __future__ import annotations

import pathlib
import statistics

from measure import MIB, WHEEL_PYTHON, touch_memory, verdict, versions
from peers import worker
from report import Section

TENSOR = 32 * MIB
COUNTS = {32: "1 GiB", 81: "2.7 GB"}
BAR, MEMORY_BAR = 1.3, TENSOR + 64 * MIB
OURS = {"`onnxar.save` of an onnx.ModelProto": "onnxar of protos", "`onnxar.save` of an onnx_ir.Model of it": "onnxar of protos in onnx_ir"}
THEIRS = {
    "`raw_data` of each tensor": "raw_data",
    "safetensors, of arrays": "safetensors",
    "`onnx.save`, external data": "onnx",
    "`onnx_ir.save` of an onnx_ir.Model of it, external data": "onnx_ir of protos",
}


def measure(folder: pathlib.Path, runs: int) -> Section:
    section = Section("Saving a ModelProto", "Tensors of 32 MiB, no sync, page cache warm; seconds, medians of processes that take turns. First: the first "
                      "save of a process; again: reusing the memory pages of the file that was just removed. Memory: by how much the process grows at most. "
                      "Bars: 1.3 x the time of `raw_data` and of safetensors together, first and again; one tensor and 64 MiB of memory. "
                      "Outputs of onnxar are compared with the arrays. " + versions(WHEEL_PYTHON, "onnx", "onnx_ir", "safetensors"),
                      ("what", "first", "again", "memory MiB", "bar"))  # fmt: skip
    for count, size in COUNTS.items():
        runs_of: dict[str, list[dict[str, float]]] = {name: [] for name in (*OURS.values(), *THEIRS.values())}
        for _ in range(runs):
            for name, them in runs_of.items():
                touch_memory()
                them.append(worker(WHEEL_PYTHON, "save", name, str(folder), str(count)))
                for old in folder.iterdir():
                    old.unlink()
        seconds = {name: [statistics.median(each[key] for each in them) for key in ("first", "seconds")] for name, them in runs_of.items()}
        memory = {name: max(each["memory"] for each in them) for name, them in runs_of.items()}
        least = [sum(both) for both in zip(seconds["raw_data"], seconds["safetensors"])]
        for what, name in {**OURS, **THEIRS}.items():
            bar = judged([own / all_of_it for own, all_of_it in zip(seconds[name], least)], memory[name]) if what in OURS else ""
            section.row(f"{size}: {what}", *(f"{each:.3f}" for each in seconds[name]), f"{memory[name] / MIB:.0f}", bar)
    return section


def judged(ratios: list[float], memory: float) -> str:
    times = f"{ratios[0]:.2f} x and {ratios[1]:.2f} x"
    return f"{times}, {verdict('1.3 x', max(ratios) <= BAR)}; {verdict('memory', memory <= MEMORY_BAR)}"

"""Writes what a build of ONNX Runtime with the patches showed: upstream/onnxruntime/results.md, and the sessions into bench/RESULTS.md."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence

import build
import report  # of bench/, as build.py finds it
from measure import verdict

RESULTS, PAGE = build.ROOT / "bench/RESULTS.md", build.ROOT / "upstream/onnxruntime/results.md"
TITLE = "ONNX Runtime sessions by path, with the patches"
MOST = 1.05  # times external data


def table(head: str, rows: Sequence[Sequence[object]]) -> str:
    lines = [head, "|" + "---|" * (head.count("|") - 1), *("|" + "|".join(map(str, row)) + "|" for row in rows)]
    return "\n".join(lines) + "\n"


def counted(models: object) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(models.items()))  # type: ignore[attr-defined]


def write_sessions(built: build.Build) -> None:
    about = (f"ONNX Runtime {build.VERSION} as `./dev upstream onnxruntime` builds it. A chain of matrix products, one thread, each session in a process "
             "of its own; the forms take turns. Medians; ratios are medians of the ratios to external data of the same turn. Anonymous: private memory "
             "that is not mapped from a file. Load: of the machine, in five minutes.")  # fmt: skip
    columns = ("model", "prepacking", "form", "ms", "ratio", "ms of CPU", "ratio", "anonymous MB", "ratio", "load", "bar")
    section = report.Section(TITLE, about, columns)
    for name in ("sessions_500", "sessions_2500"):
        for row in built.read(name):  # type: ignore[attr-defined]
            figures = (f"{1000 * row['seconds']:.1f}", f"{row['seconds_ratio']:.2f}", f"{1000 * row['cpu']:.1f}", f"{row['cpu_ratio']:.2f}",
                       f"{row['anonymous'] / 1e6:.1f}", f"{row['anonymous_ratio']:.2f}", f"{row['load']}")  # fmt: skip
            bars = [verdict(f"{MOST} x external, {what}", row[f"{key}_ratio"] <= MOST) for what, key in (("time", "seconds"), ("memory", "anonymous"))]
            bar = "; ".join(bars) if row["form"] == "archive" else ""
            section.row(f"{row['megabytes']} MB", row["prepacking"], row["form"], *figures, bar)
    report.write(RESULTS, [section], (built.work / "sessions_500.txt").read_text())


def write(built: build.Build, tests: Sequence[Sequence[str]]) -> None:
    write_sessions(built)
    before, after = built.size("before"), built.size("after")
    PAGE.write_text(
        f"# ONNX Runtime {build.VERSION} with the patches\n\n"
        f"{datetime.date.today().isoformat()}, written by `./dev upstream onnxruntime`. Debian 13, its libraries and compiler, `-O1`, "
        f"{os.cpu_count()} processors. Sessions: [measurements](../../bench/RESULTS.md#{TITLE.lower().replace(',', '').replace(' ', '-')}).\n\n"
        "## Tests\n\nDebian's source lacks ONNX Runtime's test models. `tests/interop/readers/patches/runtime/testdata.py` makes four of them; tests that read another fail before and after.\n\n"
        + table("|project|tests|result|", tests)
        + f"\n## Size\n\n`libonnxruntime.so`, stripped: {before} bytes before, {after} after: {(after - before) / 1000:.1f} kB more.\n\n"
        "## Models\n\nEach with all its tensors in an archive, by path, compared bit by bit with the model as it is. onnx's backend tests: "
        + counted(built.read("models"))
        + ". Models of PyPI and npm, MiniLM, graphs with the proportions of Whisper, and a decoder with the operators of ONNX Runtime GenAI: "
        + counted(built.read("real_models"))
        + ".\n"
    )

"""Writes upstream/onnxruntime/results.md: what a build of ONNX Runtime with the patches showed."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from build import VERSION, Build

PAGE = Path(__file__).resolve().parents[3] / "upstream/onnxruntime/results.md"


def table(head: str, rows: Sequence[Sequence[object]]) -> str:
    lines = [head, "|" + "---|" * (head.count("|") - 1), *("|" + "|".join(map(str, row)) + "|" for row in rows)]
    return "\n".join(lines) + "\n"


def sessions(build: Build) -> list[list[str]]:
    rows: list[list[str]] = []
    for name in ("sessions_500", "sessions_2500"):
        for row in build.read(name):  # type: ignore[attr-defined]
            figures = [f"{1000 * row['seconds']:.1f}", f"{row['seconds_ratio']:.2f}", f"{1000 * row['cpu']:.1f}", f"{row['cpu_ratio']:.2f}",
                       f"{row['anonymous'] / 1e6:.1f}", f"{row['anonymous_ratio']:.2f}", f"{row['load']}"]  # fmt: skip
            rows.append([f"{row['megabytes']} MB", row["prepacking"], row["form"], *figures])
    return rows


def write(build: Build, tests: Sequence[Sequence[str]]) -> None:
    models = build.read("models")
    before, after = build.size("before"), build.size("after")
    PAGE.write_text(
        f"# ONNX Runtime {VERSION} with the patches\n\n"
        f"{datetime.date.today().isoformat()}, written by `./dev upstream onnxruntime`. Debian 13, its libraries and compiler, `-O1`, "
        f"{os.cpu_count()} processors.\n\n"
        "## Tests\n\nDebian's source lacks ONNX Runtime's test models; tests that read one fail before and after.\n\n"
        + table("|project|tests|result|", tests)
        + f"\n## Size\n\n`libonnxruntime.so`, stripped: {before} bytes before, {after} after: {(after - before) / 1000:.1f} kB more.\n\n"
        "## onnx's backend tests\n\nEach model with all its tensors in an archive, by path, compared with the model as it is: "
        + ", ".join(f"{count} {kind}" for kind, count in sorted(models.items()))  # type: ignore[attr-defined]
        + ".\n\n## Creating a session by path\n\nA chain of matrix products, one thread, page cache warm, each session in a process of its own. "
        "Ratios are medians of the ratios to external data of the same turn. Anonymous: private memory, beyond that before. "
        "Load: of the machine, in five minutes.\n\n"
        + table("|model|prepacking|form|ms|ratio|ms of the processor|ratio|anonymous MB|ratio|load|", sessions(build))
    )

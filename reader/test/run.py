#!/usr/bin/env python3
"""Compiles onnxar_reader.c and holds it against the vectors of the specification: verdict, code, rule, entry and offset.

Usage: run.py [VECTORS] [-- COMPILER [OPTION...]]

VECTORS is the folder with manifest.json (default: vectors/ beside this folder, or spec/vectors of the project). The
compiler is `cc -O1` by default; each way to compile (mapped, read, as C++) is tried.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
READER = HERE.parent
WAYS = {"C99": ["-std=c99"], "C99, read": ["-std=c99", "-DOAR_NO_MMAP"], "C++11": ["-x", "c++", "-std=c++11"]}


def vectors_beside() -> Path:
    places = [READER / "vectors", READER.parent / "spec" / "vectors"]
    return next(place for place in places if (place / "manifest.json").exists())


def compiled(compiler: list[str], options: list[str], out: Path) -> Path:
    sources = [str(READER / "onnxar_reader.c"), str(HERE / "vectors.c")]
    subprocess.run([*compiler, *options, f"-I{READER}", *sources, "-o", str(out)], check=True)
    return out


def question(row: dict, way: str, folder: Path) -> str:
    limits = row.get("options", {})
    numbers = [limits.get(name, 0) for name in ("max_entries", "max_directory_size", "max_model_size")]
    return " ".join([way, *map(str, numbers), str(folder / row["file"])])


def expected(row: dict) -> dict | None:
    """None: it passes. A reader may ignore checksums (M22), and this one does."""
    if row["stage"] is None or row["rule"] == "M22":
        return None
    name = row["entry"].encode() if "entry" in row else bytes.fromhex(row["entry_hex"])
    shown = {"length": len(name), "entry": name[:1024].hex()}
    return {"stage": row["stage"], "code": row["code"], "rule": row["rule"], "offset": row["offset"], **shown}


def differences(program: Path, rows: list[dict], folder: Path) -> list[str]:
    questions = [(row, way) for row in rows for way in ("file", "callbacks")]
    asked = "".join(question(row, way, folder) + "\n" for row, way in questions)
    done = subprocess.run([str(program)], input=asked, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    found = []
    for (row, way), answer in zip(questions, answers, strict=True):
        wanted = expected(row)
        if (wanted != answer) if wanted else ("tensors" not in answer):
            found.append(f"{row['file']} by {way}: {answer}, not {wanted}")
    return found


def main() -> int:
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    folder = Path(arguments[0]) if split > 0 else vectors_beside()
    compiler = arguments[split + 1 :] or ["cc", "-O1"]
    rows = [row for row in json.loads((folder / "manifest.json").read_text()) if (folder / row["file"]).exists()]
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for way, options in WAYS.items():
            found = differences(compiled(compiler, options, Path(scratch) / "vectors"), rows, folder)
            print(f"{way}: {len(rows)} vectors, {len(found)} differences", *found, sep="\n  ")
            failed = failed or bool(found) or len(rows) < 1000
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

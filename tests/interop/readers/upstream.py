"""Runs the programs of docs/refusals.md and compares what they print with the text beside each.

Usage: PYTHONPATH=tests upstream.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from interop.readers.tools import ROOT, environment, venv

PROGRAMS = ROOT / "tests/interop/readers/upstream_programs"
LEAST_PROGRAMS = 6


def faults() -> list[str]:
    environment("onnx")
    outputs = sorted(PROGRAMS.glob("*.txt"))
    if len(outputs) < LEAST_PROGRAMS:
        return [f"{PROGRAMS.name} has {len(outputs)} programs"]
    found = []
    for expected in outputs:
        with tempfile.TemporaryDirectory() as folder:
            program = [venv("onnx") / "bin/python", expected.with_suffix(".py")]
            done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
        if done.stdout != expected.read_text():
            found.append(f"{expected.name} says\n{expected.read_text()}but this happens:\n{done.stdout}{done.stderr}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)

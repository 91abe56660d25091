"""Runs the programs of docs/refusals.md and compares what they print with the page.

Usage: PYTHONPATH=tests upstream.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

from interop.tools import ROOT, environment, venv

PAGE = ROOT / "docs/refusals.md"
PROGRAMS = ROOT / "tests/interop/upstream_programs"
RUN = re.compile(r"\(\.\./tests/interop/upstream_programs/(\w+\.py)\) prints:\n\n```text\n(.*?)```\n", re.DOTALL)
LEAST_PROGRAMS = 6


def faults() -> list[str]:
    environment("onnx")
    programs = RUN.findall(PAGE.read_text())
    if len(programs) < LEAST_PROGRAMS:
        return [f"{PAGE.name} has {len(programs)} programs"]
    found = []
    for program, expected in programs:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([venv("onnx") / "bin/python", PROGRAMS / program], cwd=folder, capture_output=True, text=True, check=False)
        if done.stdout != expected:
            found.append(f"{PAGE.name} says\n{expected}but this happens:\n{done.stdout}{done.stderr}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)

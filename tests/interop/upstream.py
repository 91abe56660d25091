"""Runs the programs of docs/upstream.md and compares what they print with the page.

Usage: PYTHONPATH=tests upstream.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

from interop.tools import ROOT, environment, venv

PAGE = ROOT / "docs/upstream.md"
BLOCK = re.compile(r"<!-- run by ./dev interop -->\n```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)
LEAST_PROGRAMS = 6


def faults() -> list[str]:
    environment("onnx")
    blocks = BLOCK.findall(PAGE.read_text())
    if len(blocks) < LEAST_PROGRAMS:
        return [f"{PAGE.name} has {len(blocks)} programs"]
    found = []
    for program, expected in blocks:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([venv("onnx") / "bin/python", "-c", program], cwd=folder, capture_output=True, text=True, check=False)
        if done.stdout != expected:
            found.append(f"{PAGE.name} says\n{expected}but this happens:\n{done.stdout}{done.stderr}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)

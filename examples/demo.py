#!/usr/bin/env python3
"""Shows the main job on one model: pack, list, check, map a tensor, unpack, compare. Prints each command and its time.

Usage: demo.py BUILD OUT [MODEL]; BUILD has tools/onnxar and examples/runtime_map. Without MODEL, makes one of 500 MB.
"""

from __future__ import annotations

import filecmp
import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHOWN = 20  # lines of each command


class Demo:
    """Runs steps in order. A step that fails ends the program."""

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []

    def step(self, label: str, *command: str | Path) -> None:
        words = [str(word) for word in command]
        print(f"\n$ {shlex.join(words)}", flush=True)
        begin = time.monotonic()
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        self.times.append((label, time.monotonic() - begin))
        lines = done.stdout.splitlines()
        for line in lines[:SHOWN]:
            print(line)
        if len(lines) > SHOWN:
            print(f"... {len(lines) - SHOWN} more lines")
        if done.returncode:
            sys.exit(f"demo: {label} failed with exit code {done.returncode}")

    def summary(self, files: list[Path]) -> None:
        print(f"\n{'step':14} {'seconds':>13}")
        for label, seconds in self.times:
            print(f"{label:14} {seconds:13.3f}")
        print(f"\n{'bytes':14} file")
        for file in files:
            print(f"{file.stat().st_size:<14} {file}")


def made_model(demo: Demo, out: Path) -> Path:
    model = out / "transformer.onnx"
    if not model.exists():
        print("\n==> make a model", flush=True)
        subprocess.run([sys.executable, HERE / "make_transformer.py", model], check=True)
    demo.step("onnx.checker", sys.executable, "-c", "import onnx, sys; onnx.checker.check_model(sys.argv[1])", model)
    return model


def main(build: Path, out: Path, given: Path | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    tool, demo = build / "tools/onnxar", Demo()
    model = given or made_model(demo, out)
    archive, back = out / f"{model.stem}.onnxar", out / f"{model.stem}.unpacked.onnx"
    demo.step("pack", tool, "pack", model, "-o", archive, "--force")
    demo.step("ls", tool, "ls", archive)
    demo.step("check --data", tool, "check", "--data", archive)
    demo.step("map a tensor", build / "examples/runtime_map", archive)
    demo.step("unpack", tool, "unpack", archive, "-o", back, "--force")
    if filecmp.cmp(model, back, shallow=False):
        print("\nthe same bytes")
    elif given:
        print("\ndifferent bytes: expected if the model had external data or typed fields, or was packed already")
    else:
        sys.exit(f"demo: {back} differs from {model}")
    demo.summary([model, archive, back])


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) == 4 else None)

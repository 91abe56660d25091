"""Compiles every source and every header by itself, without writing anything: each must include what it needs.

The builds join sources, where a missing include goes unnoticed.

Usage: compile_alone.py build/separate/compile_commands.json
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# onnxar/onnxruntime.h includes headers of ONNX Runtime.
LEFT_OUT = {"include/onnxar/onnxruntime.h"}


def arguments_of(command: str) -> list[str]:
    """The compiler and its arguments, without its launcher, the source and what is written."""
    words = shlex.split(command)
    first = next(i for i, word in enumerate(words) if Path(word).name.startswith(("clang", "gcc", "g++")))
    return words[first : words.index("-o")]


def of_headers(commands: list[dict]) -> list[tuple[str, list[str]]]:
    """Headers as the first source of their folder, or else of the model, is compiled."""
    by_folder = {str(Path(each["file"]).parent.relative_to(ROOT)): arguments_of(each["command"]) for each in commands if "/build/" not in each["file"]}
    work = []
    for folder in ("include", "src", "tools", "tests"):
        for header in sorted((ROOT / folder).rglob("*.h")):
            name = str(header.relative_to(ROOT))
            if name in LEFT_OUT or name.startswith(("tests/fuzz/", "tests/install/")):
                continue
            arguments = by_folder.get(str(Path(name).parent), by_folder["src/model"])
            work.append((name, [*arguments, "-fsyntax-only", "-Wno-pragma-once-outside-header", "-x", "c++", str(header)]))
    return work


def main(database: str) -> int:
    commands = [each for each in json.loads(Path(database).read_text()) if "/build/" not in each["file"]]
    work = [(str(Path(each["file"]).relative_to(ROOT)), [*arguments_of(each["command"]), "-fsyntax-only", each["file"]]) for each in commands]
    work += of_headers(commands)

    def compile_one(item: tuple[str, list[str]]) -> bool:
        name, command = item
        done = subprocess.run(command, cwd=Path(database).parent, capture_output=True, text=True)
        if done.returncode:
            print(f"{name} does not compile by itself:\n{done.stderr}", flush=True)
        return done.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        good = list(pool.map(compile_one, work))
    print(f"{sum(good)} of {len(good)} compile by themselves")
    return 0 if all(good) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))

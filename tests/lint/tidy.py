"""Runs clang-tidy over the joined sources of a build: tidy.py BUILD JOBS. Units that were clean and did not change since are left out.

The joined sources are checked, not each file, because headers take most of the time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAMPS = ROOT / "build/tidy"
HEADERS = {".h", ".inc", ".proto"}
# clang-tidy takes the configuration from the folder of the unit, which is in the build.
CONFIGURATIONS = {"tests/.clang-tidy": ["tests"], "src/c/.clang-tidy": ["src/CMakeFiles/onnxar_c.dir", "tests/fuzz/CMakeFiles/fuzz_c.dir"]}


def configure(build: Path) -> None:
    for configuration, folders in CONFIGURATIONS.items():
        for folder in folders:
            shutil.copy(ROOT / configuration, build / folder)


def units(build: Path) -> list[Path]:
    commands = json.loads((build / "compile_commands.json").read_text())
    return [Path(command["file"]) for command in commands if command["file"].endswith(".cxx")]


def newest_header() -> float:
    files = [file for folder in ("include", "src", "tools", "tests", "bench", "proto") for file in (ROOT / folder).rglob("*")]
    watched = [file for file in files if file.suffix in HEADERS or file.name == ".clang-tidy"]
    return max(file.stat().st_mtime for file in [*watched, ROOT / ".clang-tidy"])


def stamp_of(unit: Path) -> Path:
    return STAMPS / str(unit).replace("/", "_")


def is_clean(unit: Path, headers: float) -> bool:
    """Whether the unit had no findings after the last change of what it includes."""
    stamp = stamp_of(unit)
    if not stamp.exists():
        return False
    joined = [Path(name) for name in re.findall(r'^#include "(/.*)"$', unit.read_text(), re.MULTILINE)]
    return stamp.stat().st_mtime > max(headers, *(file.stat().st_mtime for file in [unit, *joined]))


def tidy(build: Path, unit: Path) -> bool:
    """The stamp gets the time at which the run began, so that later edits count as newer."""
    begin = time.time()
    print(f"clang-tidy {unit.relative_to(build)}", flush=True)
    done = subprocess.run(["clang-tidy-19", "--quiet", "-p", build, unit], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, flush=True)
        return False
    stamp_of(unit).touch()
    os.utime(stamp_of(unit), (begin, begin))
    return True


def main(build: Path, jobs: int) -> bool:
    STAMPS.mkdir(parents=True, exist_ok=True)
    configure(build)
    headers = newest_header()
    todo = [unit for unit in units(build) if not is_clean(unit, headers)]
    with ThreadPoolExecutor(jobs) as pool:
        return all(list(pool.map(lambda unit: tidy(build, unit), todo)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(0 if main(Path(sys.argv[1]).resolve(), int(sys.argv[2])) else "tidy: clang-tidy has findings, see above")

"""Runs clang-tidy over the joined sources of a build: tidy.py BUILD JOBS. Units that were clean and did not change since are left out.

The joined sources are checked, not each file, because headers take most of the time. For the same reason the units of
several rooms of tests are joined once more, so a name in an anonymous namespace must be the only one in its batch.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STAMPS = ROOT / "build/tidy"
# Versions before 22 also match all headers of the system, which takes three times as long.
CLANG_TIDY = ROOT / "build/lint_venv/bin/clang-tidy"
HEADERS = {".h", ".inc", ".proto"}
BATCH = 40  # sources of tests that are read at a time
# clang-tidy takes the configuration from the folder of the unit, which is in the build.
CONFIGURATIONS = {"tests/.clang-tidy": ["tests"], "src/c/.clang-tidy": ["src/CMakeFiles/onnxar_c.dir"]}


def configure(build: Path) -> None:
    for configuration, folders in CONFIGURATIONS.items():
        for folder in folders:
            shutil.copy(ROOT / configuration, build / folder)


class Unit(NamedTuple):
    file: Path
    sources: list[Path]
    command: list[str]  # of the compiler, without the file


def unit_of(file: Path, command: str) -> Unit:
    sources = [Path(name) for name in re.findall(r'^#include "(/.*)"$', file.read_text(), re.MULTILINE)]
    alone = re.sub(r" -Winvalid-pch| -Xclang \S+| -o .*", "", command)  # the compiler's precompiled headers are of another version
    return Unit(file, sources, shlex.split(alone))


def joined(found: list[Unit], build: Path) -> Iterator[Unit]:
    """Units of tests that are compiled alike, up to BATCH sources at a time, without sources that other units have; the others as they are."""
    alike: dict[str, list[Path]] = {}
    others = [unit for unit in found if not unit.file.is_relative_to(build / "tests")]
    yield from others
    seen = {source for unit in others for source in unit.sources}
    for unit in found:
        if unit not in others:
            alike.setdefault(shlex.join(unit.command), []).extend(source for source in unit.sources if source not in seen)
    for command, sources in alike.items():
        for begin in range(0, len(sources), BATCH):
            batch = sources[begin : begin + BATCH]
            name = hashlib.sha256("\n".join([command, *map(str, batch)]).encode()).hexdigest()[:16]
            file = build / f"tests/joined/{name}.cxx"
            if not file.exists():
                file.parent.mkdir(exist_ok=True)
                file.write_text("".join(f'#include "{source}"\n' for source in batch))
            yield Unit(file, batch, shlex.split(command))


def commands_of(build: Path) -> list[dict[str, str]]:
    return json.loads((build / "compile_commands.json").read_text())


def units(build: Path) -> list[Unit]:
    commands = commands_of(build)
    found = [unit_of(Path(each["file"]), each["command"]) for each in commands if re.search(r"/Unity/.*\.cxx$", each["file"])]
    return list(joined(found, build))


def newest_header() -> float:
    files = [file for folder in ("include", "src", "tools", "tests", "bench", "proto") for file in (ROOT / folder).rglob("*")]
    watched = [file for file in files if file.suffix in HEADERS or file.name == ".clang-tidy"]
    return max(file.stat().st_mtime for file in [*watched, ROOT / ".clang-tidy"])


def stamp_of(unit: Unit) -> Path:
    return STAMPS / str(unit.file).replace("/", "_")


def is_clean(unit: Unit, headers: float) -> bool:
    """Whether the unit had no findings after the last change of what it includes."""
    stamp = stamp_of(unit)
    if not stamp.exists():
        return False
    return stamp.stat().st_mtime > max(headers, *(file.stat().st_mtime for file in [unit.file, *unit.sources]))


def tidy(build: Path, unit: Unit) -> bool:
    """The stamp gets the time at which the run began, so that later edits count as newer."""
    begin = time.time()
    print(f"clang-tidy {unit.file.relative_to(build)}", flush=True)
    command = [CLANG_TIDY, "--quiet", unit.file, "--", *unit.command[1:]]
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
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
    # The largest first, so that no thread waits for it at the end.
    todo.sort(key=lambda unit: sum(file.stat().st_size for file in unit.sources), reverse=True)
    with ThreadPoolExecutor(jobs) as pool:
        return all(list(pool.map(lambda unit: tidy(build, unit), todo)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(0 if main(Path(sys.argv[1]).resolve(), int(sys.argv[2])) else "tidy: clang-tidy has findings, see above")

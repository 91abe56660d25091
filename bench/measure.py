"""Times whole commands on a quiet machine, and describes the machine."""

from __future__ import annotations

import datetime
import mmap
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = os.environ.get("ONNXAR", str(ROOT / "build/release/tools/onnxar"))
PEERS_PYTHON, WHEEL_PYTHON, TORCH_PYTHON = (ROOT / f"build/{name}_venv/bin/python" for name in ("peers", "python", "torch"))
MIB, GIB = 1 << 20, 1 << 30

Action = Callable[[], None]

TOUCH = """
import mmap, sys
import numpy as np
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
np.frombuffer(memory, np.uint8)[::4096] = 1
"""


def run(command: list[str]) -> None:
    subprocess.run(command, check=True)


def touch_memory() -> None:
    """Uses nearly all free pages, so that each timed run finds them ready. A virtual machine returns free pages to its
    host, and their next use is five times as slow."""
    available = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    half = max(available - 6 * GIB, GIB) // 2
    for process in [subprocess.Popen([sys.executable, "-c", TOUCH, str(half)]) for _ in range(2)]:
        if process.wait() != 0:
            raise SystemExit("the memory could not be touched")


def versions(python: pathlib.Path, *names: str) -> str:
    """Returns the versions that a Python has of these packages, as a sentence; empty if it does not exist."""
    if not python.exists():
        return ""
    code = "import importlib.metadata as m, sys; print(*(f'{name} {m.version(name)}' for name in sys.argv[1:]), sep=', ')"
    return f"Versions: {subprocess.run([str(python), '-c', code, *names], check=True, capture_output=True, text=True).stdout.strip()}. "


def into_cache(path: pathlib.Path) -> None:
    run(["cp", str(path), "/dev/null"])


def out_of_cache(path: pathlib.Path) -> None:
    """Drops the file from the page cache. Needs no root: pages are dropped once they are on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(action: Action) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def median_of(action: Action, count: int, prepare: Action = lambda: None) -> float:
    times = []
    for _ in range(count):
        prepare()
        times.append(timed(action))
    return statistics.median(times)


def pairs(ours: Action, theirs: Action, count: int, prepare: Action) -> list[tuple[float, float]]:
    """Times both actions, interleaved and in alternating order. Each run begins after `prepare`."""
    times = []
    for i in range(count):
        pair = {}
        for name, action in ((0, ours), (1, theirs)) if i % 2 else ((1, theirs), (0, ours)):
            prepare()
            pair[name] = timed(action)
        times.append((pair[0], pair[1]))
    return times


def ratio_of(times: list[tuple[float, float]]) -> float:
    """How many times as fast the first action is as the second."""
    return statistics.median(theirs / ours for ours, theirs in times)


def verdict(bar: str, met: bool) -> str:
    return f"{bar}: {'met' if met else '**missed**'}"


def described_machine(folder: pathlib.Path) -> str:
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    flags = next(line.split() for line in open("/proc/cpuinfo") if line.startswith("flags"))
    wide = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    changed = subprocess.run(["git", "status", "--porcelain", "src", "include", "tools", "bench", ":!bench/RESULTS.md"], cwd=ROOT,
                             stdout=subprocess.PIPE, text=True).stdout
    system = subprocess.run(["findmnt", "-no", "FSTYPE", "-T", str(folder)], stdout=subprocess.PIPE, text=True).stdout.strip()
    return (f"{datetime.date.today()}, commit {commit.strip()}{' and changes on top' if changed.strip() else ''}; {cpu} "
            f"({wide}), {os.cpu_count()} cores, {os.sysconf('SC_PHYS_PAGES') * mmap.PAGESIZE / GIB:.0f} GiB; "
            f"Linux {platform.release()}, {system}")


def warn_of_bad_build() -> None:
    cache = pathlib.Path(TOOL).parents[1] / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    if "CMAKE_BUILD_TYPE:STRING=Release" not in text or "ONNXAR_SANITIZE:STRING=\n" not in text:
        print("warning: this is not a plain release build; the figures mean little", file=sys.stderr)

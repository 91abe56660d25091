"""Measures fuzz targets: executions per second of processor time, which other programs hardly change.

Usage: speed.py FUZZERS CORPUS [SECONDS [TARGET...]]

FUZZERS is the folder of the programs fuzz_TARGET, and CORPUS has a folder of inputs for each target. Every target first
runs its inputs and then mutates them, with the same seed. What it finds is thrown away.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def executed(program: Path, inputs: Path, count: int) -> tuple[int, float]:
    """The number of executions, which is less than `count` after a fault, and their processor time."""
    with tempfile.TemporaryDirectory() as new:
        command = [program, f"-runs={count}", "-seed=1", "-max_len=65536", "-timeout=10", "-rss_limit_mb=2048",
                   "-print_final_stats=1", f"-artifact_prefix={new}/", new, inputs]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            assert process.stderr
            log = process.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(r"number_of_executed_units: *(\d+)", log)
    if not found:
        sys.exit(f"{program} failed:\n{log[-3000:]}")
    if process.returncode != 0:
        print(f"{program} found a fault:\n{log[-3000:]}", file=sys.stderr)
    return int(found[1]), usage.ru_utime + usage.ru_stime


def measure(program: Path, inputs: Path, seconds: float) -> tuple[int, float]:
    """Chooses the number of executions so that they take about this time."""
    count, time = 1000, 0.0
    done = 0
    while time < seconds / 2:
        done, time = executed(program, inputs, count)
        if done < count:
            break
        count = int(count * max(2.0, seconds / time))
    return done, time


def main(fuzzers: Path, corpus: Path, seconds: float, targets: list[str]) -> None:
    names = targets or sorted(path.name.removeprefix("fuzz_") for path in fuzzers.glob("fuzz_*") if path.is_file())
    print("| target | executions | processor seconds | executions / s |\n|---|---|---|---|")
    for name in names:
        count, time = measure(fuzzers / f"fuzz_{name}", corpus / name, seconds)
        print(f"| {name} | {count} | {time:.1f} | {count / time:.0f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 10, sys.argv[4:])

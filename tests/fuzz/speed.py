"""Measures fuzz targets: executions per second of processor time, which other programs hardly change.

Usage: speed.py FUZZERS CORPUS [SECONDS [TARGET...]]

FUZZERS is the folder of the programs fuzz_TARGET, and CORPUS has a folder of inputs for each target. "Same" runs these
inputs over and over. "Fuzzing" runs them and then mutates them, with the same seed; what it finds is thrown away.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import LIMITS, SANITIZER


def run(command: list[object]) -> tuple[str, float]:
    """The output, and the processor time."""
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=SANITIZER | os.environ) as process:
        assert process.stderr
        log = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"{command[0]} found a fault:\n{log[-3000:]}", file=sys.stderr)
    return log, usage.ru_utime + usage.ru_stime


def same(program: Path, inputs: Path, count: int) -> tuple[int, float]:
    files = sorted(inputs.iterdir())
    times = max(1, count // len(files))
    _, time = run([program, f"-runs={times}", *files])
    return times * len(files), time


def fuzzing(program: Path, inputs: Path, count: int) -> tuple[int, float]:
    """The number of executions is less than `count` after a fault."""
    with tempfile.TemporaryDirectory() as new:
        log, time = run([program, f"-runs={count}", "-seed=1", *LIMITS, "-print_final_stats=1",
                         f"-artifact_prefix={new}/", new, inputs])  # fmt: skip
    found = re.search(r"number_of_executed_units: *(\d+)", log)
    return (int(found[1]) if found else 0), time


def rate(measure, program: Path, inputs: Path, seconds: float) -> float:
    """Chooses the number of executions so that they take about this time."""
    count = 1000
    while True:
        done, time = measure(program, inputs, count)
        if time >= seconds / 2 or done < count * 0.9:
            return done / time
        count = int(count * max(2.0, seconds / time))


def main(fuzzers: Path, corpus: Path, seconds: float, targets: list[str]) -> None:
    names = targets or sorted(path.name.removeprefix("fuzz_") for path in fuzzers.glob("fuzz_*") if path.is_file())
    print("| target | same inputs / s | fuzzing / s |\n|---|---|---|")
    for name in names:
        program, inputs = fuzzers / f"fuzz_{name}", corpus / name
        print(f"| {name} | {rate(same, program, inputs, seconds):.0f} | {rate(fuzzing, program, inputs, seconds):.0f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 10, sys.argv[4:])

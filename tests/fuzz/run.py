"""Runs fuzz targets one after another, from what earlier runs found and from the corpus in the tree.

Usage: run.py FUZZERS [--minimise | --total] [TARGET] [SECONDS] [-OPTION=VALUE...]

FUZZERS is the folder of the programs; beside it, `corpus` and `crashes` keep what they find, and `executions` has the
number of executions of each run. libFuzzer gets the options. `--minimise` writes the corpus in the tree anew. `--total`
prints the executions of all runs so far.
"""

from __future__ import annotations

import collections
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import corpus
import dictionary
import seeds

HERE = Path(__file__).resolve().parent
# What libFuzzer calls entropic takes a third of the time, and reaches no more. Inputs are short, so that there are many.
LIMITS = ["-max_len=8192", "-entropic=0", "-timeout=10", "-rss_limit_mb=2048"]
# To notice the use of a local variable after its function takes another third. Tests that replay what is found notice it.
SANITIZER = {"ASAN_OPTIONS": "detect_stack_use_after_return=0"}


def known_targets() -> list[str]:
    found = re.search(r"^set\(targets (.*)\)$", (HERE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert found
    return found[1].split()


@dataclass(frozen=True)
class Fuzzers:
    programs: Path

    @property
    def out(self) -> Path:
        return self.programs / "found"

    def program(self, target: str) -> Path:
        return self.programs / f"fuzz_{target}"

    def folder(self, kind: str, target: str) -> Path:
        path = self.out / kind / target
        path.mkdir(parents=True, exist_ok=True)
        return path

    def inputs(self, target: str) -> list[Path]:
        given = [self.out / "seeds" / target, HERE / "findings" / target]
        return [self.folder("corpus", target), *(path for path in given if path.is_dir())]

    def prepare(self) -> None:
        seeds.write_seeds(self.out / "seeds")
        (self.out / "dict").write_text(dictionary.complete())

    def fuzz(self, target: str, seconds: int, options: list[str]) -> bool:
        """False if the target failed. The number of executions is kept in both cases."""
        print(f"\n==> fuzz {target} for {seconds} s", flush=True)
        crashes = self.folder("crashes", target)
        command = [self.program(target), f"-max_total_time={seconds}", *LIMITS, f"-dict={self.out / 'dict'}",
                   f"-artifact_prefix={crashes}/", "-print_final_stats=1", *options, *self.inputs(target)]  # fmt: skip
        executed = 0
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace", env=SANITIZER | os.environ) as process:
            assert process.stderr
            for line in process.stderr:
                print(line, end="", flush=True)
                if found := re.match(r"stat::number_of_executed_units: *(\d+)", line):
                    executed = int(found[1])
        with (self.out / "executions").open("a") as log:
            log.write(f"{target} {executed}\n")
        if process.returncode == 0:
            return True
        print(f"fuzz: {target} failed; the input is the newest file in {crashes},\n"
              f"`{self.program(target)} FILE` runs it again", file=sys.stderr)  # fmt: skip
        return False

    def minimise(self, target: str) -> None:
        """libFuzzer keeps the smallest inputs that together reach as much as all."""
        merged = self.folder("minimised", target)
        shutil.rmtree(merged)
        merged.mkdir()
        subprocess.run([self.program(target), "-merge=1", *LIMITS, merged, *self.inputs(target)], check=True,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        corpus.pack(target, merged)

    def total(self) -> None:
        sums: dict[str, int] = collections.Counter()
        for line in (self.out / "executions").read_text().splitlines():
            target, executed = line.split()
            sums[target] += int(executed)
        for target, executed in sums.items():
            print(f"{target:16} {executed:12}")
        print(f"{'all':16} {sum(sums.values()):12}")


def main(programs: Path, arguments: list[str]) -> bool:
    fuzzers, targets, seconds = Fuzzers(programs), known_targets(), 60
    options = [argument for argument in arguments if re.match(r"-\w+=", argument)]
    if arguments[:1] == ["--total"]:
        fuzzers.total()
        return True
    minimise = arguments[:1] == ["--minimise"]
    for argument in arguments[minimise:]:
        if argument.isdigit():
            seconds = int(argument)
        elif argument in targets:
            targets = [argument]
        elif argument not in options:
            sys.exit(f"fuzz: unknown target {argument}; choose one of: {' '.join(targets)}")
    fuzzers.prepare()
    if not minimise:
        return not [target for target in targets if not fuzzers.fuzz(target, seconds, options)]
    for target in targets:
        fuzzers.minimise(target)
    return True


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(0 if main(Path(sys.argv[1]), sys.argv[2:]) else 1)

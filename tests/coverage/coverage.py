"""Runs the tests of a build that counts branches, and holds each folder of src against its floor.

Usage: coverage.py BUILD [--only WORD] [--no-run]

BUILD is the build of preset `coverage`. The tests are those that begin with a C++ program: the rooms' tests, the
vectors of the specification, and the fuzz targets with their seeds and findings; and the fast tests of the command line.
A branch is one outcome of a condition. Prints the figures of each folder, and every outcome that no test takes in the
folders that parse. Ends with 1 if a folder is below its floor (floors.txt). Branches that cannot be taken are listed
with their reason in unreachable.txt, and do not count.

--only WORD runs only the programs whose name contains it; --no-run only reports what the last run counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PARSERS = ("zip", "onnx", "archive")  # folders whose uncovered branches are listed
SECONDS = 1200  # that one program may take


# --- running -------------------------------------------------------------------------------------


class Program(NamedTuple):
    name: str
    command: list[str]


def programs(build: Path) -> Iterator[Program]:
    """All that is run, the longest first."""
    for script in sorted((ROOT / "tests/cli").glob("*_test.py")):
        if not script.stem.endswith(("_slow_test", "_large_test")):
            yield Program(script.stem, ["/usr/bin/python3", "-B", str(script)])
    for program in sorted((build / "tests").glob("*_test"), key=lambda path: -path.stat().st_size):
        if program.is_file():
            yield Program(program.name, [str(program), "--gtest_brief=1"])
    yield Program("program_test", ["/usr/bin/python3", "-B", str(ROOT / "tests/c/program_test.py")])
    for seeds in sorted((build / "seeds").iterdir()):
        findings = ROOT / "tests/fuzz/findings" / seeds.name
        yield Program(f"fuzz_{seeds.name}", [str(build / "tests/fuzz/fuzz_replay"), seeds.name, str(seeds), str(findings)])


def environment(build: Path) -> dict[str, str]:
    return {
        **os.environ,
        "LLVM_PROFILE_FILE": str(build / "profiles/%4m.profraw"),  # merged while the tests run, in four files each
        "PYTHONPATH": str(ROOT / "tests"),
        "ONNXAR": str(build / "tools/onnxar"),
        "ONNXAR_C_LIBRARY": str(build / "src/libonnxar_c.so"),
        "ONNXAR_C_PROGRAM": str(build / "tests/onnxar_c_program"),
        "ONNXAR_C_V1_PROGRAM": str(build / "tests/onnxar_c_v1_program"),
    }


def run(build: Path, word: str) -> bool:
    """Runs the programs, and returns whether all succeeded."""
    (build / "profiles").mkdir(exist_ok=True)
    (build / "profiles").chmod(0o777)  # some tests run the command as an ordinary user
    if not word:
        for old in (build / "profiles").iterdir():
            old.unlink()
    subprocess.run([sys.executable, "-B", ROOT / "tests/fuzz/seeds.py", build / "seeds"], check=True, cwd=ROOT)

    def run_one(program: Program) -> bool:
        given = {"env": environment(build), "cwd": ROOT, "timeout": SECONDS, "stdin": subprocess.DEVNULL, "umask": 0}
        done = subprocess.run(program.command, check=False, capture_output=True, text=True, **given)
        if done.returncode != 0:
            print(f"{program.name} failed:\n{(done.stdout + done.stderr)[-3000:]}", file=sys.stderr)
        return done.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return all(list(pool.map(run_one, [each for each in programs(build) if word in each.name])))


# --- counting ------------------------------------------------------------------------------------


class Branch(NamedTuple):
    """One outcome of a condition that no test takes."""

    line: int
    column: int
    outcome: str


@dataclass
class Counted:
    """The figures of a file, or the sums of a folder."""

    branches: int = 0
    lines: int = 0
    lines_taken: int = 0
    missed: list[tuple[str, Branch]] = field(default_factory=list)  # with the file

    def add(self, other: Counted) -> None:
        self.branches += other.branches
        self.lines += other.lines
        self.lines_taken += other.lines_taken
        self.missed += other.missed

    def of_branches(self) -> float:
        return 100 * (1 - len(self.missed) / self.branches) if self.branches else 100.0

    def of_lines(self) -> float:
        return 100 * self.lines_taken / self.lines if self.lines else 100.0


def export(build: Path) -> list[dict]:
    """What llvm-cov counted for each file of src."""
    merged = build / "all.profdata"
    profiles = sorted((build / "profiles").glob("*.profraw"))
    # A program that is killed while it merges leaves a broken file: the others count.
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-failure-mode=all", *profiles, "-o", merged], check=True)
    tests = [*(build / "tests").glob("*_test"), build / "tests/fuzz/fuzz_replay"]
    objects = [build / "tools/onnxar", build / "src/libonnxar_c.so", *(each for each in tests if each.is_file())]
    command = ["llvm-cov-19", "export", "-skip-functions", "-skip-expansions", f"-instr-profile={merged}"]
    command += [str(objects[0]), *(f"-object={each}" for each in objects[1:]), str(ROOT / "src")]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["data"][0]["files"]


def counted(file: str, found: dict) -> Counted:
    """Joins the instances of templates: an outcome is taken if one instance takes it."""
    text = (ROOT / "src" / file).read_text().splitlines()
    taken: dict[Branch, int] = defaultdict(int)
    for line, column, _, end, if_true, if_false, *_ in found["branches"]:
        if text[line - 1][column - 1 : end - 1] == "true":  # of `while (true)`
            continue
        taken[Branch(line, column, "true")] += if_true
        taken[Branch(line, column, "false")] += if_false
    missed = [(file, branch) for branch, times in sorted(taken.items()) if times == 0]
    lines = found["summary"]["lines"]
    return Counted(len(taken), lines["count"], lines["covered"], missed)


class Unreachable:
    """The list of branches that cannot be taken: file, text of the line, reason, separated by tabs."""

    def __init__(self, path: Path) -> None:
        rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
        self.reasons = {(file, text): reason for file, text, reason in rows}
        self.used: set[tuple[str, str]] = set()

    def subtract(self, file: str, figures: Counted) -> None:
        text = (ROOT / "src" / file).read_text().splitlines()
        keys = [(file, text[branch.line - 1].strip()) for _, branch in figures.missed]
        self.used |= {key for key in keys if key in self.reasons}
        figures.missed = [each for each, key in zip(figures.missed, keys) if key not in self.reasons]
        figures.branches -= sum(key in self.reasons for key in keys)


# --- reporting -----------------------------------------------------------------------------------


def floors() -> dict[str, tuple[float, float]]:
    """The least share of branches and of lines for each folder, in percent."""
    rows = [line.split() for line in (HERE / "floors.txt").read_text().splitlines() if not line.startswith("#")]
    return {folder: (float(branches), float(lines)) for folder, branches, lines in rows}


def by_folder(build: Path, unreachable: Unreachable) -> dict[str, Counted]:
    folders: dict[str, Counted] = defaultdict(Counted)
    for found in export(build):
        file = str(Path(found["filename"]).relative_to(ROOT / "src"))
        figures = counted(file, found)
        unreachable.subtract(file, figures)
        folders[file.split("/")[0]].add(figures)
    return folders


def print_missed(figures: Counted) -> None:
    for file, branch in figures.missed:
        text = (ROOT / "src" / file).read_text().splitlines()[branch.line - 1].strip()
        print(f"src/{file}:{branch.line}:{branch.column}: never {branch.outcome}: {text}")


def report(build: Path) -> bool:
    """Prints the figures, and returns whether all folders reach their floors."""
    unreachable = Unreachable(HERE / "unreachable.txt")
    folders = by_folder(build, unreachable)
    for folder in PARSERS:
        print_missed(folders[folder])
    print("\n| folder | branches | taken | lines | executed |\n|---|---:|---:|---:|---:|")
    below = []
    for folder, figures in sorted(folders.items()):
        branches, lines = figures.of_branches(), figures.of_lines()
        print(f"| `{folder}` | {figures.branches} | {branches:.1f} % | {figures.lines} | {lines:.1f} % |")
        least = floors().get(folder, (100, 100))
        if branches < least[0] or lines < least[1]:
            below.append(f"{folder}: {branches:.1f} % of branches and {lines:.1f} % of lines; the floor is {least}")
    print(f"\n{len(unreachable.used)} lines have branches that cannot be taken (tests/coverage/unreachable.txt)")
    stale = unreachable.reasons.keys() - unreachable.used
    below += [f"unreachable.txt: {file} has no such branch: {text}" for file, text in sorted(stale)]
    print("\n".join(below))
    return not below


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--no-run", action="store_true")
    given = parser.parse_args()
    build = given.build.resolve()
    passed = given.no_run or run(build, given.only)
    return 0 if report(build) and passed else 1


if __name__ == "__main__":
    sys.exit(main())

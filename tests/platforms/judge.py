"""Holds the outcomes of a platform against its tests and against the list of those that it may skip."""

from __future__ import annotations

import ast
import dataclasses
import fnmatch
import re
from pathlib import Path

from running import Outcome, Outcomes
from targets import ROOT, Platform

TESTS = ROOT / "tests"
LEAST = 0.95  # of a platform's tests have to run
CASE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
NEEDS_PROTOBUF = "needs protobuf"  # tests/support/command_line.py says this


@dataclasses.dataclass(frozen=True)
class Skip:
    pattern: str
    reason: str


@dataclasses.dataclass
class Verdict:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)


def model_header() -> re.Pattern[str]:
    """By which tests/CMakeLists.txt knows the tests that need protobuf."""
    found = re.search(r'set\(model_header "(.*)"\)', (TESTS / "CMakeLists.txt").read_text())
    assert found is not None
    return re.compile(r'^#include "(' + found[1].replace('\\"', '"').replace("\\\\", "\\") + ")", re.MULTILINE)


def sources(platform: Platform) -> list[Path]:
    """The files of tests in C++ of the platform. Those of POSIX systems are also tests of Windows, which lists what it skips."""
    model = model_header()
    files = [file for room in platform.rooms for file in sorted((TESTS / room).glob("*_test.cc"))]
    return [file for file in files if (platform.protobuf or not model.search(file.read_text()))
            and (platform.is_windows or not file.stem.endswith("windows_test"))]


def python_tests(platform: Platform) -> list[Path]:
    files = [file for file in sorted((TESTS / "cli").glob("*_test.py")) if not file.stem.endswith(("_slow_test", "_large_test"))]
    return [*files, *([TESTS / "c/program_test.py"] if platform.has_c else [])]


def cases_in_cpp(file: Path) -> set[str]:
    return {f"{file.parent.name}.{suite}.{case}" for suite, case in CASE.findall(file.read_text()) if not suite.endswith("Slow")}


def cases_in_python(file: Path) -> set[str]:
    classes = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]
    return {f"{file.parent.name}.{file.stem}.{each.name}.{method.name}" for each in classes for method in each.body
            if isinstance(method, ast.FunctionDef) and method.name.startswith("test")}


def expected(platform: Platform) -> set[str]:
    """The names of all cases, from the sources alone: a case that a build leaves out must not go unnoticed."""
    return set().union(*map(cases_in_cpp, sources(platform)), *map(cases_in_python, python_tests(platform)))


def base_name(name: str) -> str:
    """The name in the source: a parametrised case is run as Room.Prefix/Suite.Case/parameter."""
    room, suite, case = (name.split(".", 2) + ["", ""])[:3]
    parts = suite.split("/")
    suite = parts[1] if len(parts) > 1 and not parts[1].isdigit() else parts[0]
    return f"{room}.{suite}.{case.split('/')[0]}"


def with_absent(outcomes: Outcomes, names: set[str]) -> Outcomes:
    """Adds the cases that have no outcome. Leaves out those that need protobuf, where there is none."""
    seen = {base_name(name) for name in outcomes}
    absent = {name: Outcome("skipped", "not built, or not reached") for name in names - seen}
    kept = {name: outcome for name, outcome in outcomes.items() if outcome != Outcome("skipped", NEEDS_PROTOBUF)}
    return {**kept, **absent}


def read_skips(file: Path) -> list[Skip]:
    lines = file.read_text().splitlines() if file.exists() else []
    found = [line.split(": ", 1) for line in lines if line and not line.startswith("#")]
    return [Skip(words[0], words[1] if len(words) > 1 else "") for words in found]


def matches(name: str, skip: Skip) -> bool:
    return fnmatch.fnmatchcase(name, skip.pattern)


def faults_of_skips(outcomes: Outcomes, skips: list[Skip]) -> list[str]:
    """Every skipped case is listed with a reason, and every listed case is skipped."""
    faults = [f"{skip.pattern}: the list gives no reason" for skip in skips if not skip.reason.strip()]
    skipped = {name for name, outcome in outcomes.items() if outcome.what == "skipped"}
    listed = {name for name in outcomes if any(matches(name, skip) for skip in skips)}
    faults += [f"{name}: skipped, but not listed ({outcomes[name].why})" for name in sorted(skipped - listed)]
    faults += [f"{name}: listed as skipped, but it runs" for name in sorted(listed - skipped)]
    return faults + [f"{skip.pattern}: listed, but there is no such test" for skip in skips
                     if not any(matches(name, skip) for name in outcomes)]


def judge(outcomes: Outcomes, skips: list[Skip]) -> Verdict:
    verdict = Verdict()
    for outcome in outcomes.values():
        setattr(verdict, outcome.what, getattr(verdict, outcome.what) + 1)
    verdict.faults = [f"{name}: failed: {outcome.why}" for name, outcome in sorted(outcomes.items()) if outcome.what == "failed"]
    verdict.faults += faults_of_skips(outcomes, skips)
    ran = verdict.passed + verdict.failed
    if ran < LEAST * len(outcomes):
        verdict.faults.append(f"only {ran} of {len(outcomes)} tests ran")
    return verdict

"""Runs the programs and tests of a platform, and collects the outcome of each case."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from build import emulator
from parts import Part, suites_of
from targets import MODEL_ROOMS, ROOT, WINE, Platform, jobs, program_of

QUICK = "-*Slow.*"  # GoogleTest's filter: suites named *Slow do not run
PATIENCE = 3600  # seconds for one program


class Outcome(NamedTuple):
    """What became of a case: `passed`, `failed` or `skipped`, and why."""

    what: str
    why: str = ""


Outcomes = dict[str, Outcome]  # by the name: ROOM.Suite.Case, or FOLDER.file_test.Class.case of a Python test


def outcome_of(case: ET.Element) -> Outcome:
    failure, skip = case.find("failure"), case.find("skipped")
    if failure is not None:
        return Outcome("failed", (failure.get("message") or "").strip())
    if skip is not None or case.get("status") == "notrun":
        return Outcome("skipped", "" if skip is None else (skip.get("message") or "").strip().split("\n")[-1])
    return Outcome("passed")


def read_junit(room: str, file: Path) -> Outcomes:
    """The cases of an XML file of GoogleTest. Those that a filter left out are not among them."""
    cases = [case for case in ET.parse(file).iter("testcase") if case.get("result") != "suppressed" and case.get("status") != "notrun"]
    return {f"{room}.{case.get('classname')}.{case.get('name')}": outcome_of(case) for case in cases}


class Runner:
    """Runs everything of one platform. Logs and results are in its folder `results`."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.build = platform.build_folder
        self.results = platform.folder / "results"
        self.results.mkdir(parents=True, exist_ok=True)
        self.emulator = emulator(platform)
        # Tests that an emulator cannot pass look for this name.
        self.environment = {"ONNXAR_EMULATED": (platform.run_by or "").split()[0]} if self.emulator else {}
        if platform.run_by == WINE:
            self.environment.update(WINEDEBUG="-all", WINEPREFIX=str(platform.folder / "wine"))

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """While it lasts, programs start at once. Wine's services live as long as a program does. Those that a program of a test
        had started would keep the pipe open that the test reads."""
        if self.platform.run_by != WINE:
            yield
            return
        environment = {**os.environ, **self.environment}
        with subprocess.Popen([*self.emulator, "cmd"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=environment) as keeper:
            # It makes the folder of the environment, if that is the first program in it.
            subprocess.run([*self.emulator, "cmd", "/c", "exit"], check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            yield
            keeper.communicate(b"exit\n")

    def path(self, file: Path) -> str:
        """The file's path as programs of the platform take it: to Wine, Z: is the root."""
        return f"Z:{file}" if self.platform.run_by == WINE else str(file)

    def program(self, name: str) -> Path:
        path = self.build / name
        return path if path.exists() else path.with_suffix(".exe")

    def run(self, name: str, command: list[object], environment: dict[str, str]) -> int:
        """The exit status; output goes to a log."""
        with (self.results / f"{name}.log").open("wb") as log:
            try:
                return subprocess.run(list(map(str, command)), check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=subprocess.STDOUT, cwd=ROOT, env={**os.environ, **self.environment, **environment}).returncode
            except subprocess.TimeoutExpired:
                return -1

    def suites(self, program: Path, chosen: str) -> list[str]:
        listing = subprocess.run([*self.emulator, str(program), "--gtest_list_tests", chosen], check=False, capture_output=True, text=True,
                                 env={**os.environ, **self.environment}).stdout
        names = [line.split("#")[0].strip() for line in listing.splitlines() if line and not line.startswith((" ", "Running"))]
        return [name for name in names if not name.endswith("Slow.")]

    def gtest(self, room: str, only: str = "") -> Outcomes:
        """The outcomes of one room. If its program ends before its end, each suite runs in a process of its own, to know which one ended it."""
        program = self.program(f"tests/{program_of(room)}")
        suites = "*"
        if room in MODEL_ROOMS:
            suites = ":".join(f"{suite}.*:*/{suite}.*" for suite in sorted(suites_of(self.platform, room)))
        name = f"{room}.{only.replace('/', '_')}" if only else room
        junit = self.results / f"{name}xml" if only else self.results / f"{name}.xml"
        junit.unlink(missing_ok=True)
        chosen = f"{only}*" if only else suites + QUICK
        command = [*self.emulator, program, f"--gtest_filter={chosen}", f"--gtest_output=xml:{self.path(junit)}"]
        status = self.run(name, command, {})
        if junit.exists() and status in (0, 1):
            return read_junit(room, junit)
        if only:
            return {f"{room}.{only}(the program)": Outcome("failed", f"ended with {status}")}
        outcomes: Outcomes = {}
        for suite in self.suites(program, f"--gtest_filter={suites}"):
            outcomes.update(self.gtest(room, suite))
        return outcomes or {f"{room}.(the program)": Outcome("failed", f"ended with {status}")}

    def as_command(self, name: str) -> str:
        """A script that runs the program, for tests that expect one."""
        program = self.program(name)
        if not self.emulator:
            return str(program)
        script = self.results / program.stem
        script.write_text(f'#!/bin/sh\nexec {shlex.join([*self.emulator, str(program)])} "$@"\n')
        script.chmod(0o755)
        return str(script)

    @functools.cached_property
    def python_environment(self) -> dict[str, str]:
        """Made once: a script cannot be written anew while a test runs it."""
        environment = {"PYTHONPATH": str(ROOT / "tests"), "ONNXAR": self.as_command("tools/onnxar"), "ONNXAR_PLATFORM": self.platform.name}
        if not self.platform.protobuf:
            environment["ONNXAR_WITHOUT_MODEL"] = "1"
        for variable, program in zip(("ONNXAR_C_PROGRAM", "ONNXAR_C_V1_PROGRAM"), self.platform.c_programs):
            environment[variable] = self.as_command(f"tests/{program}")
        return environment

    def python(self, test: Path) -> Outcomes:
        name = f"{test.parent.name}.{test.stem}"
        found = self.results / f"{name}.json"
        found.unlink(missing_ok=True)
        command: list[object] = [sys.executable, "-B", ROOT / "tests/platforms/cases.py", test, found]
        status = self.run(name, command, self.python_environment)
        if not found.exists():
            return {f"{name}.(the file)": Outcome("failed", f"ended with {status}")}
        return {f"{test.parent.name}.{case}": Outcome(what, why) for case, what, why in json.loads(found.read_text())}

    def outcomes(self, parts: list[Part]) -> Iterator[tuple[Part, Outcomes]]:
        """Of each part, as soon as it has run."""
        with self.session(), ThreadPoolExecutor(jobs()) as pool:
            running = {pool.submit(self.gtest, part.name) if part.python is None else pool.submit(self.python, part.python): part for part in parts}
            for done in as_completed(running):
                yield running[done], done.result()

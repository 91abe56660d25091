"""Runs the cases of one file of Python tests, and writes the outcome of each as JSON.

Usage: python cases.py FILE_test.py RESULTS.json
"""

from __future__ import annotations

import importlib.util
import json
import sys
import unittest
from pathlib import Path
from typing import Any


class Recorder(unittest.TextTestResult):
    """Keeps [name, outcome, why] of each case. A failure in one part of a case is a failure of the case."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.outcomes: dict[str, tuple[str, str]] = {}

    def note(self, test: unittest.TestCase, outcome: str, why: str = "") -> None:
        name = test.id().split(" ", 1)[0]
        if self.outcomes.get(name, ("", ""))[0] != "failed":
            self.outcomes[name] = (outcome, why)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.note(test, "passed")

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self.note(test, "failed", str(err[1]))

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.note(test, "failed", str(err[1]))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", f"{subtest}: {err[1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)


def load(path: Path) -> unittest.TestSuite:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main() -> None:
    source, results = map(Path, sys.argv[1:])
    runner = unittest.TextTestRunner(resultclass=Recorder)
    done = runner.run(load(source))
    assert isinstance(done, Recorder)
    results.write_text(json.dumps([[name, *outcome] for name, outcome in done.outcomes.items()]))


if __name__ == "__main__":
    main()

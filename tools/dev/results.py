"""Counts the cases of a ctest run, and names those that failed with the command that runs only that case.

Usage: results.py TEST_PRESET JUNIT. The last line of the output has the numbers of cases that passed, failed and were skipped.
"""

from __future__ import annotations

import re
import shlex
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import NamedTuple


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(mine + its for mine, its in zip(self, other)))


def of_gtest(report: Path, program: str) -> tuple[Counts, list[str]]:
    cases = list(Xml.parse(report).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    commands = [f"{program} {shlex.quote('--gtest_filter=' + case.get('classname', '') + '.' + case.get('name', ''))}" for case in failed]
    ran = [case for case in cases if case.get("status") == "run"]
    return Counts(len(ran) - len(failed) - len(skipped), len(failed), len(skipped)), commands


def of_unittest(output: str) -> Counts | None:
    """Counts the cases by the last lines of Python's unittest."""
    ran = re.findall(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if not ran:
        return None
    end = output[output.rindex("\nRan ") :]
    number = {word: int(n) for word, n in re.findall(r"(failures|errors|skipped|expected failures)=(\d+)", end)}
    failed, skipped = number.get("failures", 0) + number.get("errors", 0), number.get("skipped", 0)
    return Counts(max(int(ran[-1]) - failed - skipped, 0), failed, skipped)


def main(preset: str, junit: Path) -> None:
    if not junit.exists():
        print("0 1 0")
        return
    build = Path("build") / ("release" if preset in ("verify", "large") else preset)
    total, commands = Counts(), []
    for test in Xml.parse(junit).getroot().iter("testcase"):
        name, status = test.get("name", ""), test.get("status")
        report = build / "results" / f"{name}.xml"
        alone = f"ctest --preset {preset} --output-on-failure -R {shlex.quote(f'^{re.escape(name)}$')}"
        counts, failed = None, []
        if report.exists():
            counts, failed = of_gtest(report, f"{build}/tests/{name.split('.')[0]}_test")
        elif (output := test.find("system-out")) is not None:
            counts = of_unittest(output.text or "")
        if counts is None:
            counts = Counts(skipped=1) if status in ("notrun", "disabled") else Counts(passed=status == "run", failed=status == "fail")
        if status == "fail":
            counts = counts._replace(failed=max(counts.failed, 1))
            commands += failed or [alone]
        total = total.plus(counts)
    if commands:
        print("\nFailed; to run one again:", *commands, sep="\n  ", file=sys.stderr)
    print(*(int(count) for count in total))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))

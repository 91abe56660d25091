"""Holds what a platform's tests came to against the list of those that it may skip."""

from __future__ import annotations

import dataclasses
import fnmatch
from pathlib import Path

from measured import Records, base_name

LEAST = 0.95  # of a platform's tests have to run


@dataclasses.dataclass(frozen=True)
class Skip:
    pattern: str
    reason: str


@dataclasses.dataclass
class Verdict:
    passed: int
    failed: list[str]
    skipped: list[str]
    faults: list[str] = dataclasses.field(default_factory=list)


def read_skips(file: Path) -> list[Skip]:
    lines = file.read_text().splitlines() if file.exists() else []
    found = [line.split(": ", 1) for line in lines if line and not line.startswith("#")]
    return [Skip(words[0], words[1] if len(words) > 1 else "") for words in found]


def listed(name: str, skips: list[Skip]) -> bool:
    return any(fnmatch.fnmatchcase(name, skip.pattern) for skip in skips)


def faults_of_skips(skipped: list[str], skips: list[Skip], names: set[str]) -> list[str]:
    """Every skipped case is listed with a reason, and every listed case, of those that the sources name, is skipped."""
    faults = [f"{skip.pattern}: the list gives no reason" for skip in skips if not skip.reason.strip()]
    faults += [f"{name}: skipped, but not listed" for name in skipped if not listed(name, skips)]
    ran = names - {base_name(name) for name in skipped} - set(skipped)
    faults += [f"{name}: listed as skipped, but it runs" for name in sorted(ran) if listed(name, skips)]
    return faults + [f"{skip.pattern}: listed, but no such test is skipped" for skip in skips
                     if not any(fnmatch.fnmatchcase(name, skip.pattern) for name in [*skipped, *ran])]


def judge(records: Records, skips: list[Skip], names: set[str]) -> Verdict:
    each = list(records.values())
    verdict = Verdict(sum(record.passed for record in each), [name for record in each for name in record.failed],
                      [name for record in each for name in record.skipped])
    verdict.faults = [f"{name}: failed" for name in verdict.failed] + faults_of_skips(verdict.skipped, skips, names)
    ran = verdict.passed + len(verdict.failed)
    if ran < LEAST * (ran + len(verdict.skipped)):
        verdict.faults.append(f"only {ran} of {ran + len(verdict.skipped)} tests ran")
    return verdict

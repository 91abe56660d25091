"""Writes what was measured between the markers of docs/platforms.md, and says whether it is current."""

from __future__ import annotations

import re
from collections import Counter

import measured
from judge import Skip, Verdict, judge, read_skips
from parts import all_cases, parts_of
from targets import NOT_BUILT, PLATFORMS, ROOT, Platform

PAGE = ROOT / "docs/platforms.md"
SKIPPED = ROOT / "tests/platforms/skipped"
MARKED = re.compile(r"(<!-- measured: begin -->\n).*(<!-- measured: end -->)", re.DOTALL)
MOST_REASONS = 1  # the lists have the others
COLUMNS = ("platform", "system", "compiler", "built", "run by", "passed", "failed", "skipped")


def skips_of(platform: Platform) -> list[Skip]:
    return [skip for name in platform.lists for skip in read_skips(SKIPPED / f"{name}.txt")]


def verdict_of(platform: Platform) -> Verdict:
    return judge(measured.read(platform), skips_of(platform), all_cases(parts_of(platform)))


def built(platform: Platform) -> str:
    """`in part` if a part was added since the measurement."""
    count = len(measured.read(platform))
    return "yes" if count == len(parts_of(platform)) else "in part" if count else "no"


def row(platform: Platform) -> str:
    verdict = verdict_of(platform)
    outcome = (platform.run_by, verdict.passed, len(verdict.failed), len(verdict.skipped)) if platform.run_by else ("not run", "", "", "")
    return "|" + "|".join(map(str, (platform.name, platform.system, platform.compiler, built(platform), *outcome))) + "|\n"


def table() -> str:
    return f"|{'|'.join(COLUMNS)}|\n|{'---|' * len(COLUMNS)}\n" + "".join(map(row, PLATFORMS))


def not_run() -> str:
    """What was not run, with the reason that the lists of skipped tests give."""
    parts = [f"- {what}: not built. {why}\n" for what, why in NOT_BUILT]
    parts += [f"- {platform.name}: built and linked, not run. {platform.why_not_run}\n" for platform in PLATFORMS if platform.run_by is None]
    for file in sorted(SKIPPED.glob("*.txt")):
        users = ", ".join(platform.name for platform in PLATFORMS if file.stem in platform.lists)
        counts = Counter(skip.reason for skip in read_skips(file))
        reasons = "; ".join(f"{reason} ({count})" for reason, count in counts.most_common(MOST_REASONS))
        others = sum(counts.values()) - sum(count for _, count in counts.most_common(MOST_REASONS))
        reasons += f"; others ({others})" if others else ""
        parts.append(f"- Skipped on {users} ([list](../tests/platforms/skipped/{file.name})): {reasons}.\n")
    return "".join(parts)


def text() -> str:
    """The page with what was measured between its markers."""
    part = f"{table()}\n## What was not run\n\n{not_run()}"
    return MARKED.sub(lambda found: found[1] + part + found[2], PAGE.read_text())


def write() -> None:
    PAGE.write_text(text())


def is_current() -> bool:
    """Whether the page is what was measured, be that old or new."""
    return PAGE.read_text() == text()


def faults(platforms: tuple[Platform, ...] = PLATFORMS) -> list[str]:
    """What must be mended before a release: parts that are older than the sources, failed tests, unexpected skips."""
    found = [] if is_current() else [f"{PAGE.name} is not what was measured"]
    for platform in platforms:
        old = ", ".join(part.name for part in measured.old_parts(platform, measured.read(platform)))
        found += [f"{platform.name}: src/os or tests changed since the measurement of: {old}"] if old else []
        found += [f"{platform.name}: {fault}" for fault in verdict_of(platform).faults]
    return found

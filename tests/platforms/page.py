"""Writes docs/platforms.md, and says whether it is current."""

from __future__ import annotations

import measured
from judge import Skip, Verdict, judge, read_skips
from parts import all_cases, parts_of
from targets import NOT_BUILT, PLATFORMS, ROOT, Platform

PAGE = ROOT / "docs/platforms.md"
SKIPPED = ROOT / "tests/platforms/skipped"
HEAD = ROOT / "tests/platforms/page_head.md"
COLUMNS = ("platform", "system", "compiler", "built", "run by", "passed", "failed", "skipped")


def skips_of(platform: Platform) -> list[Skip]:
    return [skip for name in platform.lists for skip in read_skips(SKIPPED / f"{name}.txt")]


def verdict_of(platform: Platform) -> Verdict:
    return judge(measured.read(platform), skips_of(platform), all_cases(parts_of(platform)))


def is_built(platform: Platform) -> bool:
    return len(measured.read(platform)) == len(parts_of(platform))


def row(platform: Platform) -> str:
    verdict = verdict_of(platform)
    outcome = (platform.run_by, verdict.passed, len(verdict.failed), len(verdict.skipped)) if platform.run_by else ("not run", "", "", "")
    built = "yes" if is_built(platform) else "no"
    return "| " + " | ".join(map(str, (f"`{platform.name}`", platform.system, platform.compiler, built, *outcome))) + " |\n"


def table() -> str:
    return f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n" + "".join(map(row, PLATFORMS))


def not_run() -> str:
    """What was not run, with the reason that the lists of skipped tests give."""
    parts = [f"- {what}: not built. {why}\n" for what, why in NOT_BUILT]
    parts += [f"- {platform.name}: built and linked, not run. {platform.why_not_run}\n" for platform in PLATFORMS if platform.run_by is None]
    for file in sorted(SKIPPED.glob("*.txt")):
        users = ", ".join(f"`{platform.name}`" for platform in PLATFORMS if file.stem in platform.lists)
        parts.append(f"\nSkipped on {users}:\n\n" + "".join(f"- `{skip.pattern}`: {skip.reason}\n" for skip in read_skips(file)))
    return "".join(parts)


def text() -> str:
    return f"{HEAD.read_text()}{table()}\n## What was not run\n\n{not_run()}"


def write() -> None:
    PAGE.write_text(text())


def is_current() -> bool:
    """Whether the page is what was measured, be that old or new."""
    return PAGE.exists() and PAGE.read_text() == text()


def faults(platforms: tuple[Platform, ...] = PLATFORMS) -> list[str]:
    """What must be mended before a release: parts that are older than the sources, failed tests, unexpected skips."""
    found = [] if is_current() else [f"{PAGE.name} is not what was measured"]
    for platform in platforms:
        old = ", ".join(part.name for part in measured.old_parts(platform, measured.read(platform)))
        found += [f"{platform.name}: src/os or tests changed since the measurement of: {old}"] if old else []
        found += [f"{platform.name}: {fault}" for fault in verdict_of(platform).faults]
    return found

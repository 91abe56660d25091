"""Writes docs/platforms.md, and says whether it is current."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path

from judge import Skip, Verdict, read_skips
from targets import MODEL_ROOMS, NOT_BUILT, PLATFORMS, ROOMS, ROOT, Platform

PAGE = ROOT / "docs/platforms.md"
SKIPPED = ROOT / "tests/platforms/skipped"
# What the table depends on. Other sources are not among these: their change would make every table old.
COVERED = ("src/os", "tools/onnxar/os", "cmake/toolchains", "tests/support", "tests/cli", "tests/c",
           *(f"tests/{room}" for room in (*ROOMS, *MODEL_ROOMS)))
ENDINGS = {".cc", ".h", ".c", ".py", ".cmake", ".txt"}
HEAD = ROOT / "tests/platforms/page_head.md"
COLUMNS = ("platform", "system", "compiler", "built", "run by", "passed", "failed", "skipped", "measured at")


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table, as it is printed."""

    platform: str
    system: str
    compiler: str
    built: str
    run_by: str
    passed: str
    failed: str
    skipped: str
    measured_at: str

    @property
    def line(self) -> str:
        return "| " + " | ".join(dataclasses.astuple(self)) + " |"


def covered() -> list[Path]:
    files = (file for folder in COVERED for file in (ROOT / folder).rglob("*"))
    return sorted(file for file in files if file.suffix in ENDINGS and file.is_file())


def measured_state() -> str:
    """The beginning of a SHA-256 of all sources that the table depends on."""
    state = hashlib.sha256()
    for file in covered():
        state.update(f"{file.relative_to(ROOT)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return state.hexdigest()[:12]


def new_row(platform: Platform, built: bool, verdict: Verdict | None) -> Row:
    counts = ("", "", "") if verdict is None else (str(verdict.passed), str(verdict.failed), str(verdict.skipped))
    run_by = "not run" if platform.run_by is None or verdict is None else platform.run_by
    return Row(f"`{platform.name}`", platform.system, platform.compiler, "yes" if built else "no", run_by, *counts, measured_state())


def rows_of(page: str) -> dict[str, Row]:
    lines = re.findall(r"^\| (`.*) \|$", page, re.MULTILINE)
    rows = [Row(*(word.strip() for word in line.split(" | "))) for line in lines if line.count(" | ") == len(COLUMNS) - 1]
    return {row.platform.strip("`"): row for row in rows}


def table(rows: dict[str, Row]) -> str:
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    return head + "".join(rows[platform.name].line + "\n" for platform in PLATFORMS if platform.name in rows)


def skips_of(platform: Platform) -> list[Skip]:
    return [skip for name in platform.lists for skip in read_skips(SKIPPED / f"{name}.txt")]


def not_run() -> str:
    """What was not run, with the reason that the lists of skipped tests give."""
    parts = [f"- {what}: not built. {why}\n" for what, why in NOT_BUILT]
    parts += [f"- {platform.name}: built and linked, not run. {platform.why_not_run}\n" for platform in PLATFORMS if platform.run_by is None]
    for file in sorted(SKIPPED.glob("*.txt")):
        users = ", ".join(f"`{platform.name}`" for platform in PLATFORMS if file.stem in platform.lists)
        parts.append(f"\nSkipped on {users}:\n\n" + "".join(f"- `{skip.pattern}`: {skip.reason}\n" for skip in read_skips(file)))
    return "".join(parts)


def page_of(rows: dict[str, Row]) -> str:
    return f"{HEAD.read_text()}{table(rows)}\n## What was not run\n\n{not_run()}"


def write(rows: list[Row]) -> None:
    """Replaces these rows of the page and keeps the others."""
    old = rows_of(PAGE.read_text()) if PAGE.exists() else {}
    every = {**old, **{row.platform.strip("`"): row for row in rows}}
    PAGE.write_text(page_of(every))


def faults() -> list[str]:
    """What is wrong with the page: platforms without a row, rows that are older than the sources, failed tests."""
    text = PAGE.read_text() if PAGE.exists() else ""
    rows, state = rows_of(text), measured_state()
    found = [f"{platform.name}: has no row" for platform in PLATFORMS if platform.name not in rows]
    if text != page_of(rows):
        found.append("the lists of skipped tests, or the text of the page, changed: measure a platform anew")
    for name, row in rows.items():
        if row.measured_at != state:
            found.append(f"{name}: measured at {row.measured_at}, but src/os and the tests are at {state}")
        if row.built != "yes" or row.failed not in ("0", ""):
            found.append(f"{name}: built: {row.built}, failed: {row.failed}")
    return found

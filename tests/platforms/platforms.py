"""Builds for each platform, runs the tests there that failed, or whose sources changed since the last time, and writes docs/platforms.md.

Usage: python platforms.py [--all] [NAME...]
  --all    run every test
  --list   print the names
  --page   only write the page, from what was measured before
  --check  only say what is old or failed, as a release does
"""

from __future__ import annotations

import sys

import measured
import page
from build import Failed, build
from judge import listed
from parts import Part, parts_of
from running import Outcomes, Runner
from targets import PLATFORMS, ROOT, Platform


def show(platform: Platform, outcomes: Outcomes) -> None:
    """Why cases failed, or are skipped against expectation."""
    skips = page.skips_of(platform)
    for name, outcome in outcomes.items():
        if outcome.what == "failed" or (outcome.what == "skipped" and not listed(name, skips)):
            print(f"{name}: {outcome.what}: {outcome.why}", flush=True)


def run(platform: Platform, parts: list[Part], states: dict[str, str], records: measured.Records) -> None:
    """Keeps the outcome of each part as soon as it is known."""
    for part, outcomes in Runner(platform).outcomes(parts):
        outcomes = measured.with_absent(outcomes, part.cases)
        show(platform, outcomes)
        records[part.name] = measured.record_of(states[part.name], outcomes)
        measured.write(platform, records)


def measure(platform: Platform, parts: list[Part]) -> None:
    states = {part.name: part.state for part in parts}  # now: what changes meanwhile is old
    records = {name: record for name, record in measured.read(platform).items() if name not in states}
    log = platform.folder / "build.log"
    log.unlink(missing_ok=True)
    print(f"==> {platform.name}: build", flush=True)
    try:
        build(platform, sorted({target for part in parts for target in part.targets}), log)
    except Failed as failure:
        print(failure, flush=True)
        measured.write(platform, records)
        return
    if platform.run_by is None:
        measured.write(platform, {part.name: measured.record_of(states[part.name], {}) for part in parts})
        return
    print(f"==> {platform.name}: run {len(parts)} parts of the tests", flush=True)
    run(platform, parts, states, records)


def chosen(names: list[str]) -> tuple[Platform, ...]:
    unknown = set(names) - {platform.name for platform in PLATFORMS}
    if unknown:
        sys.exit(f"platforms.py: no platform {' '.join(sorted(unknown))}; --list prints all")
    return tuple(platform for platform in PLATFORMS if not names or platform.name in names)


def main() -> None:
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(platform.name for platform in PLATFORMS))
        return
    if names == ["--page"]:
        page.write()
        return
    if names == ["--check"]:
        sys.exit("\n".join(page.faults()) or 0)
    platforms = chosen([name for name in names if name != "--all"])
    for platform in platforms:
        parts = parts_of(platform) if "--all" in names else measured.due_parts(platform, measured.read(platform))
        if parts:
            measure(platform, parts)
        page.write()
    faults = page.faults(platforms)
    print("\n".join(faults) or f"all as expected; {page.PAGE.relative_to(ROOT)} is written")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

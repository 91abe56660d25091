"""Builds for each platform, runs the tests there, and writes docs/platforms.md.

Usage: python platforms.py [NAME...]; --list prints the names
"""

from __future__ import annotations

import sys

import page
from build import Failed, build
from judge import Verdict, expected, judge, python_tests, read_skips, with_absent
from running import Runner
from targets import PLATFORMS, ROOT, Platform


def verdict_of(platform: Platform) -> Verdict:
    outcomes = with_absent(Runner(platform).everything(python_tests(platform)), expected(platform))
    skips = [*read_skips(page.SKIPPED / "every_platform.txt"), *read_skips(page.SKIPPED / f"{platform.name}.txt")]
    return judge(outcomes, skips)


def measure(platform: Platform) -> tuple[page.Row, list[str]]:
    """The row of the platform, and what is wrong with it."""
    log = platform.folder / "build.log"
    log.unlink(missing_ok=True)
    print(f"==> {platform.name}: build", flush=True)
    try:
        build(platform, platform.targets, log)
    except Failed as failure:
        return page.new_row(platform, False, None), [str(failure)]
    if platform.run_by is None:
        return page.new_row(platform, True, None), []
    print(f"==> {platform.name}: run the tests", flush=True)
    verdict = verdict_of(platform)
    print(f"{verdict.passed} passed, {verdict.failed} failed, {verdict.skipped} skipped", flush=True)
    return page.new_row(platform, True, verdict), verdict.faults


def chosen(names: list[str]) -> list[Platform]:
    unknown = set(names) - {platform.name for platform in PLATFORMS}
    if unknown:
        sys.exit(f"platforms.py: no platform {' '.join(sorted(unknown))}; --list prints all")
    return [platform for platform in PLATFORMS if not names or platform.name in names]


def main() -> None:
    if sys.argv[1:] == ["--list"]:
        print("\n".join(platform.name for platform in PLATFORMS))
        return
    faults = []
    for platform in chosen(sys.argv[1:]):
        row, wrong = measure(platform)
        page.write([row])
        faults += [f"{platform.name}: {fault}" for fault in wrong]
    print("\n".join(faults) or f"all as expected; {page.PAGE.relative_to(ROOT)} is written")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

"""Asks all readers about N mutants of archives and foreign zips, and saves each file that two of them read differently.

Usage: ONNXAR_ACCEPTS=path/to/onnxar_accepts PYTHONPATH=tests fuzz.py N [SEED [FIRST]]

The row of mutants depends on SEED alone; FIRST is the number of the first one, to go on with a row or to repeat a
piece of it. Saves files in build/fuzz/differential. Exits with 1 if there were any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from harness import Fault, Report, hold
from mutants import mutants
from mutations import Mutation
from workers import COMMANDS, Peers, Readings, ask_ours, installed

SAVED = Path(__file__).resolve().parents[3] / "build" / "fuzz" / "differential"
AT_ONCE = 1000  # files that are asked about together

Make = Callable[[str, int, int], Iterable[Mutation]]
AskOurs = Callable[[Iterable[bytes]], list[Readings]]


def save(faults: Iterable[Fault], seed: str, folder: Path) -> None:
    """One file for each mutant; all differences in the list."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "differences.txt").open("a") as listing:
        for fault in faults:
            kind, base, file = fault.mutation
            path = folder / f"{seed}-{fault.number}.zip"
            path.write_bytes(file)
            print(f"{path.name}: {kind} of {base}: {fault.peer}: {fault.what}", file=listing)


def run(
    count: int, seed: str, first: int = 0, folder: Path = SAVED, make: Make = mutants, ask: AskOurs = ask_ours
) -> Report:
    report, peers, begin = Report(), Peers(), time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as copies:
            for at in range(first, first + count, AT_ONCE):
                files = list(make(seed, at, min(AT_ONCE, first + count - at)))
                part = hold(files, peers, Path(copies), ask(each.file for each in files))
                part.faults = [fault._replace(number=at + fault.number) for fault in part.faults]
                save(part.faults, seed, folder)
                report.add(part)
                print(progress(report, time.monotonic() - begin), flush=True)
    finally:
        peers.stop()
    return report


def progress(report: Report, seconds: float) -> str:
    counts = f"{report.files} files, {report.accepted} accepted, {len(report.faults)} differences"
    return f"{counts}, {report.files / max(seconds, 0.001):.0f} files a second"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument("seed", nargs="?", default="1")
    parser.add_argument("first", nargs="?", type=int, default=0)
    given = parser.parse_args()
    print("readers:", *(f"{name}," for name in installed()), "and ours")
    if missing := [name for name in COMMANDS if name not in installed()]:
        print("not installed:", ", ".join(missing))
    report = run(given.count, given.seed, given.first)
    print(*report.lines(), sep="\n")
    if report.faults:
        names = {f"{given.seed}-{fault.number}.zip" for fault in report.faults}
        print(f"{len(names)} files are read differently; they are in {SAVED}, with a list in differences.txt")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())

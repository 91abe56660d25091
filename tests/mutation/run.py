"""Mutation testing of the rooms that read files: `run.py [ROOM...] [--again] [--sample N] [--seed N] [--jobs N] [--write]`.

Builds instrumented copies of the sources with their tests, notes which tests reach which site, and runs each mutant against
them. A survivor fails the run, unless reasons.toml says why no test can notice it.
"""

import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from copies import Site
from driver import Outcome, Test, read_record, record, run_mutants
from instrument import instrument
from reasons import Reason, load, unused, why

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/mutation"
OUT = ROOT / "build/mutate"
TREE = OUT / "tree"
ROOMS = ("zip", "archive", "onnx")
PROGRAMS = ("zip_test", "archive_test", "onnx_test", "convert_test", "conformance_test")
# Suites that take minutes.
LEFT_OUT = "*Slow.*"


def put(path: pathlib.Path, text: str) -> None:
    """Writes a file only if its text changes, so that builds stay short."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files_of(rooms: tuple[str, ...]) -> list[pathlib.Path]:
    return [path for room in rooms for path in sorted((ROOT / "src" / room).iterdir()) if path.suffix in {".cc", ".h"}]


def shadow_tree(copies: dict[str, str]) -> None:
    """The project's tree with instrumented sources. What is not compiled differently is linked."""
    TREE.mkdir(parents=True, exist_ok=True)
    for name in ("CMakeLists.txt", "cmake", "include", "proto", "reader", "spec", "examples", "tools", "bench", "tests"):
        if not (TREE / name).is_symlink():
            (TREE / name).symlink_to(ROOT / name)
    wanted = set()
    for path in (path for path in (ROOT / "src").rglob("*") if path.is_file()):
        name = str(path.relative_to(ROOT / "src"))
        wanted.add(name)
        put(TREE / "src" / name, copies[name] if name in copies else path.read_text())
    wanted.add("base/mutate_state.cc")
    put(TREE / "src/base/mutate_state.cc", (HERE / "runtime/mutate_state.cc").read_text())
    for path in [path for path in (TREE / "src").rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE / "src")) not in wanted:
            path.unlink()


def build(sites: int, jobs: int) -> pathlib.Path:
    """Builds the test programs; the folder in which they are."""
    folder = OUT / "build"
    rounded = (sites // 1000 + 1) * 1000  # so that most edits keep the definition, and with it the objects
    subprocess.run(["cmake", "-S", TREE, "-B", folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=g++-12", "-DCMAKE_C_COMPILER=gcc-12",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
                    "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16", "-DONNXAR_BUILD_MODEL=OFF",
                    "-DONNXAR_BUILD_C=OFF", "-DONNXAR_BUILD_TOOLS=OFF", "-DONNXAR_WERROR=OFF",
                    f"-DCMAKE_PROJECT_onnxar_INCLUDE={HERE}/runtime/build.cmake", f"-DONNXAR_MUTATION_SITES={rounded}",
                    f"-DONNXAR_MUTATION_PROGRAMS={';'.join(PROGRAMS)}"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "-j", str(jobs), "--target", *PROGRAMS], check=True)
    return folder / "tests"


def coverage(folder: pathlib.Path) -> list[Test]:
    """Which tests reach which site. Programs that were not built again keep their records."""
    tests = []
    for program in PROGRAMS:
        out = OUT / f"{program}.sites"
        if not out.exists() or out.stat().st_mtime < (folder / program).stat().st_mtime:
            record(folder / program, OUT / "new.sites", LEFT_OUT)
            (OUT / "new.sites").rename(out)
        tests += read_record(folder / program, out)
    return tests


# --- results ---


@dataclasses.dataclass
class Row:
    """One line of the table."""

    sites: int = 0
    killed: int = 0
    explained: int = 0
    survived: int = 0
    not_reached: int = 0

    def add(self, outcome: Outcome, explained: bool) -> None:
        self.sites += 1
        if outcome.what in {"killed", "timeout"}:
            self.killed += 1
        elif explained:
            self.explained += 1
        elif outcome.what == "survived":
            self.survived += 1
        else:
            self.not_reached += 1

    def cells(self) -> str:
        return f"{self.sites}|{self.killed}|{self.explained}|{self.survived}|{self.not_reached}|"


def summed(rows: list[Row]) -> Row:
    return Row(*(sum(getattr(row, field.name) for row in rows) for field in dataclasses.fields(Row)))


def table(rows: dict[str, Row], with_files: bool) -> str:
    lines = ["|room or file|sites|killed|survive for a reason|survive|not reached|", "|---|---:|---:|---:|---:|---:|"]
    for room in ROOMS:
        own = {name: row for name, row in rows.items() if name.startswith(room + "/")}
        lines += [f"|`{name}`|{row.cells()}" for name, row in sorted(own.items()) if with_files]
        if own:
            lines.append(f"| **{room}** | {summed(list(own.values())).cells()}")
    return "\n".join(lines) + "\n"


def shown(site: Site, outcome: Outcome) -> str:
    nth = f" (number {site.nth})" if site.nth else ""
    return f"src/{site.file}:{site.line}: {outcome.what}: {site.function}: {site.text} -> {site.changed}{nth}"


def save(outcomes: dict[Site, Outcome]) -> None:
    """What `--again` reads: the outcomes by key, since numbers change with each edit."""
    path = OUT / "outcomes.json"
    known = {tuple(key): rest for key, rest in json.loads(path.read_text())} if path.exists() else {}
    known.update({site.key: (outcome.what, outcome.by, outcome.seconds) for site, outcome in outcomes.items()})
    new = path.with_suffix(".new")
    new.write_text(json.dumps(list(known.items())))
    new.rename(path)


def saved() -> dict[tuple[str, str, str, str, int], Outcome]:
    path = OUT / "outcomes.json"
    return {tuple(key): Outcome(*rest) for key, rest in json.loads(path.read_text())} if path.exists() else {}


def is_settled(site: Site, known: dict[tuple[str, str, str, str, int], Outcome], reasons: list[Reason]) -> bool:
    """Whether the last run killed the mutant, or there is a reason why it did not."""
    last = known.get(site.key)
    return last is not None and (last.what in {"killed", "timeout"} or why(site, reasons) is not None)


def report(sites: list[Site], outcomes: dict[Site, Outcome], reasons: list[Reason]) -> tuple[dict[str, Row], list[str]]:
    """The table's rows by file, and the survivors without a reason."""
    rows: dict[str, Row] = collections.defaultdict(Row)
    found = []
    for site in sites:
        outcome = outcomes[site]
        explained = why(site, reasons)
        rows[site.file].add(outcome, explained is not None)
        if outcome.what in {"survived", "not reached"} and explained is None:
            found.append(shown(site, outcome))
    return rows, found


def write_results(rows: dict[str, Row], excluded: dict[str, dict[str, int]]) -> None:
    sums: collections.Counter[str] = collections.Counter()
    for counts in excluded.values():
        sums.update(counts)
    left_out = ", ".join(f"{count} {why}" for why, count in sorted(sums.items()))
    part = f"Measured on {datetime.date.today().isoformat()}. Left out of the count: {left_out}.\n\n{table(rows, with_files=False)}"
    page = HERE / "RESULTS.md"
    marked = r"(?s)(<!-- measured: begin -->\n).*(<!-- measured: end -->)"
    page.write_text(re.sub(marked, lambda found: found[1] + part + found[2], page.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="ROOM", help="rooms to test; all by default")
    parser.add_argument("--again", action="store_true", help="only mutants that survived the last run without a reason")
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, chosen at random; the same sources and seed give the same ones")
    parser.add_argument("--seed", type=int, default=0, help="another number gives other mutants of --sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help="write RESULTS.md if a run of all mutants leaves none without a reason")
    arguments = parser.parse_args()
    if arguments.write and (arguments.rooms or arguments.again or arguments.sample is not None):
        parser.error("--write takes a run of all mutants")
    begin = time.monotonic()
    made = instrument(ROOT / "src", files_of(ROOMS), [f"-I{ROOT}/include", f"-I{ROOT}/src"])
    shadow_tree(made.copies)
    tests = coverage(build(len(made.sites), arguments.jobs))
    print(f"{len(made.sites)} sites, {len(tests)} tests, built and recorded after {time.monotonic() - begin:.0f} s", flush=True)

    known = saved()
    rooms = arguments.rooms or ROOMS
    chosen = [site for site in made.sites if site.file.split("/")[0] in rooms]
    if arguments.sample is not None:
        chosen = random.Random(arguments.seed).sample(chosen, min(arguments.sample, len(chosen)))
    reasons = load(HERE / "reasons.toml")
    todo = [site for site in chosen if not (arguments.again and is_settled(site, known, reasons))]
    done = 0
    found: dict[Site, Outcome] = {}

    def progress(number: int, outcome: Outcome) -> None:
        nonlocal done
        done += 1
        found[made.sites[number]] = outcome
        if done % 25 == 0:
            save(found)
        if outcome.what in {"survived", "timeout"} or done % 100 == 0:
            print(f"[{done}/{len(todo)}] {shown(made.sites[number], outcome)} ({outcome.seconds:.1f} s)", flush=True)

    def order(number: int) -> list[str]:
        own = made.sites[number].file.split("/")[0] + "_test"
        return [str(OUT / "build/tests" / name) for name in sorted(PROGRAMS, key=lambda name: name != own)]

    explained = frozenset(site.number for site in todo if why(site, reasons) is not None)
    run_mutants([site.number for site in todo], tests, order, arguments.jobs, progress, explained)
    save(found)
    known = saved()
    rows, survivors = report(chosen, {site: known[site.key] for site in chosen}, reasons)
    print("\n".join(survivors))
    print(table(rows, with_files=True))
    stale = [each for each in unused(reasons, made.sites) if each.file.split("/")[0] in rooms]
    stale += [each for each in reasons for site in chosen if each.matches(site) and known[site.key].what in {"killed", "timeout"}]
    for each in stale:
        print(f"reasons.toml: not needed: {each.file}: {each.function}: {each.text} -> {each.changed}")
    print(f"{time.monotonic() - begin:.0f} s")
    if arguments.write and not survivors and not stale:
        write_results(rows, made.excluded)
    return 1 if survivors or stale else 0


if __name__ == "__main__":
    sys.exit(main())

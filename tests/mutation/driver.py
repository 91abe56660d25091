"""Runs mutants: which tests reach which site, and which test notices each mutant."""

import concurrent.futures
import dataclasses
import functools
import math
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

GIB = 1 << 30
MEMORY_LIMIT = 6 * GIB  # bytes of private memory: a mutant may allocate without end
FILE_LIMIT = 24 * GIB  # bytes of one file: tests write sparse files of several GiB
FIRST_BATCH_MS = 300  # the cheap tests run first, because most mutants die in them
# Tests that take longer, those of the mutant's own room and others, run last, and not if a reason for surviving is known.
OWN_MS, OTHER_MS = 3000, 100
SHORTEST_LIMIT = 5.0  # seconds of a processor for one run of a program, at least
PATIENCE = 20  # seconds for each of these, where the machine is busy or the program sleeps


@dataclasses.dataclass(frozen=True)
class Test:
    """One test of GoogleTest, with the sites that it executes."""

    program: str
    name: str
    milliseconds: int
    sites: frozenset[int]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, timeout (counts as killed), survived, or not reached by any test."""

    what: str
    by: str = ""
    seconds: float = 0


def limit_resources(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program: str, chosen: str, environment: dict[str, str], seconds: float) -> int | None:
    """Runs the tests that a filter of GoogleTest selects. Returns the exit status; None after the limit, in seconds of a processor.
    What the program leaves in its temporary folder is removed."""
    folder = tempfile.mkdtemp(prefix="mutant.")
    os.chmod(folder, 0o755)  # some tests become an ordinary user
    flags = pathlib.Path(folder, "flags")  # a filter may be too long for an argument
    flags.write_text(f"--gtest_filter={chosen}\n--gtest_break_on_failure\n--gtest_brief=1\n")
    child = subprocess.Popen([program, f"--gtest_flagfile={flags}"], env={**os.environ, **environment, "TMPDIR": folder},
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                             preexec_fn=functools.partial(limit_resources, seconds))
    try:
        status = child.wait(timeout=seconds * PATIENCE)
        return None if status in {-signal.SIGXCPU, -signal.SIGKILL} else status
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)  # also children of the test that are still there
        except ProcessLookupError:
            pass
        child.wait()
        shutil.rmtree(folder, ignore_errors=True)


def record(program: pathlib.Path, out: pathlib.Path, leave_out: str, seconds: float = 900) -> None:
    """Runs all tests of a program without a mutant; `out` gets the sites that each executes."""
    status = run(str(program), f"-{leave_out}", {"ONNXAR_MUTATION_RECORD": str(out)}, seconds)
    if status != 0:
        raise RuntimeError(f"{program} fails without a mutant (exit status {status})")


def read_record(program: pathlib.Path, out: pathlib.Path) -> list[Test]:
    """What `record` wrote."""
    tests = []
    for line in out.read_text().splitlines():
        name, milliseconds, *sites = line.split()
        tests.append(Test(str(program), name, int(milliseconds), frozenset(map(int, sites))))
    return tests


def batches(tests: Sequence[Test], programs: Sequence[str], thorough: bool) -> list[list[Test]]:
    """The tests for a mutant in the order in which they run: cheap ones first, in the order of `programs`. The first
    program is that of the mutant's room. Unless `thorough`, slow tests are left out."""
    out: list[list[Test]] = []
    late: list[list[Test]] = []
    last: list[list[Test]] = []
    for program in programs:
        longest = OWN_MS if program == programs[0] else OTHER_MS
        own = sorted((each for each in tests if each.program == program), key=lambda each: each.milliseconds)
        slow = [[each] for each in own if each.milliseconds > longest]
        own = own[:len(own) - len(slow)]
        last += slow
        first: list[Test] = []
        spent = 0
        for test in own:
            spent += test.milliseconds
            if first and spent > FIRST_BATCH_MS:
                break
            first.append(test)
        out.append(first)
        late.append(own[len(first):])
    return [each for each in out + late + (last if thorough else []) if each]


def outcome(site: int, tests: Sequence[Test], programs: Sequence[str], thorough: bool) -> Outcome:
    """Runs the mutant of one site against the tests that execute it, until one fails."""
    if not tests:
        return Outcome("not reached")
    begin = time.monotonic()
    for batch in batches(tests, programs, thorough):
        expected = sum(each.milliseconds for each in batch) / 1000
        chosen = ":".join(each.name for each in batch)
        status = run(batch[0].program, chosen, {"ONNXAR_MUTANT": str(site)}, max(SHORTEST_LIMIT, 10 * expected))
        if status != 0:
            by = pathlib.Path(batch[0].program).name
            return Outcome("timeout" if status is None else "killed", by, time.monotonic() - begin)
    return Outcome("survived", seconds=time.monotonic() - begin)


def run_mutants(sites: Sequence[int], tests: Sequence[Test], programs: Callable[[int], Sequence[str]], jobs: int,
                report: Callable[[int, Outcome], None], explained: frozenset[int] = frozenset()) -> dict[int, Outcome]:
    """The outcome of each mutant. `programs` gives the order of test programs for a site; `explained` are the sites for
    whose survival there is a reason."""
    reaching: dict[int, list[Test]] = {}
    for test in tests:
        for site in test.sites:
            reaching.setdefault(site, []).append(test)
    outcomes: dict[int, Outcome] = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(outcome, site, reaching.get(site, []), programs(site), site not in explained): site for site in sites}
        for done in concurrent.futures.as_completed(pending):
            outcomes[pending[done]] = done.result()
            report(pending[done], done.result())
    return outcomes

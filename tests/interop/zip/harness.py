"""Compares how several readers read zip files that one of ours accepts.

Our strict reader and the one in C (reader/) must give the same verdict of every file, with the same code.
A file is a case if our strict reader or our lenient one accepts it. Every other reader that accepts it must read the
same names and bytes; our two readers must agree with each other too. As all are compared with one reading, no two
readers differ unless one of them differs from it. If the strict reader accepts a file, others must not refuse it.
known.py lists the differences that are allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from known import Answer, Case, reason, same
from mutations import Mutation
from peers import Refused
from workers import Peers, Readings, ask_ours

LENIENT = "our lenient reader"
IN_C = "our reader in C"


class Fault(NamedTuple):
    """A file that two readers read differently, and no reason is known."""

    number: int  # of the file
    mutation: Mutation
    peer: str
    what: str


@dataclass
class Report:
    files: int = 0
    strict: int = 0
    accepted: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # of peer and outcome
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.files += other.files
        self.strict += other.strict
        self.accepted += other.accepted
        self.counts += other.counts
        self.faults += other.faults

    def lines(self) -> list[str]:
        head = f"{self.files} files, {self.accepted} accepted, {self.strict} of them as archives"
        rows = sorted(self.counts.items(), key=lambda row: (row[0][0], -row[1]))
        return [head, *(f"{peer:20} {count:6} {what}" for (peer, what), count in rows)]


def case_of(mutation: Mutation, ours: Readings) -> Case | None:
    """What the other readers must agree with; None if we refuse the file."""
    for strict, reading in ((True, ours.strict), (False, ours.lenient)):
        if reading.code == "ok":
            return Case(mutation, reading.entries, strict)
    return None


def difference(case: Case, answer: Answer) -> str:
    if isinstance(answer, Refused):
        return f"refused: {answer}"
    if len(answer) != len(case.entries):
        return f"{len(answer)} entries, not {len(case.entries)}: {answer}"
    return "; ".join(f"{b}, ours is {a}" for a, b in zip(case.entries, answer) if a != b) or "another order"


def verdict(peer: str, case: Case, answer: Answer) -> str | None:
    """What is counted; None for a fault."""
    if same(case, answer):
        return "same"
    if isinstance(answer, Refused) and not case.strict:
        return "refused"
    return reason(peer, case, answer)


def judge(report: Report, peer: str, number: int, case: Case, answer: Answer) -> None:
    what = verdict(peer, case, answer)
    report.counts[peer, what or "NOT LISTED"] += 1
    if what is None:
        report.faults.append(Fault(number, case.mutation, peer, difference(case, answer)))


def judge_reader(report: Report, number: int, mutation: Mutation, ours: Readings) -> None:
    """Our two strict readers share no code."""
    if ours.reader is None:
        return
    what = "same" if ours.reader.code == "ok" else "refused alike"
    if ours.reader != ours.strict:
        what = "NOT LISTED"
        told = f"{ours.reader.code} {ours.reader.entries}, not {ours.strict.code} {ours.strict.entries}"
        report.faults.append(Fault(number, mutation, IN_C, told))
    report.counts[IN_C, what] += 1


def own_answer(ours: Readings) -> Answer:
    """The reading of `repack` and `pack`."""
    return ours.lenient.entries if ours.lenient.code == "ok" else Refused(ours.lenient.code)


def hold(files: Sequence[Mutation], peers: Peers, folder: Path, readings: Iterable[Readings] | None = None) -> Report:
    """Asks every reader about the files; `folder` is for copies, which are removed.

    `readings` are what our readers are taken to have said, for tests of the harness itself.
    """
    readings = ask_ours(each.file for each in files) if readings is None else list(readings)
    report, cases = Report(files=len(files)), []
    for number, (mutation, ours) in enumerate(zip(files, readings, strict=True)):
        judge_reader(report, number, mutation, ours)
        if case := case_of(mutation, ours):
            cases.append((number, case, folder / f"{number}.zip"))
            report.accepted += 1
            report.strict += case.strict
            judge(report, LENIENT, number, case, own_answer(ours))
    ask_all(report, cases, peers)
    return report


def ask_all(report: Report, cases: list[tuple[int, Case, Path]], peers: Peers) -> None:
    paths = [path for *_, path in cases]
    for _, case, path in cases:
        path.write_bytes(case.mutation.file)
    with ThreadPoolExecutor(max(1, len(peers.workers))) as pool:
        answers = dict(zip(peers.workers, pool.map(lambda name: peers.ask(name, paths), peers.workers)))
    for path in paths:
        path.unlink()
    for peer, given in answers.items():
        for (number, case, _), answer in zip(cases, given, strict=True):
            judge(report, peer, number, case, answer)

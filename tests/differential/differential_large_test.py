"""Other zip readers read every file that our reader accepts in the same way.

The test gives our reader ten thousand files that are nearly archives. Other readers must see the
same names, sizes and bytes in the accepted ones. known.py lists the differences that are allowed.

Usage: ONNXAR_ACCEPTS=path/to/onnxar_accepts PYTHONPATH=tests differential_large_test.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import mutations
from known import KNOWN, Answer, Case, reason
from peers import PEERS, Read, Refused, read_of
from support.command_line import SAMPLE, at_once, least, sampled

VECTORS = Path(__file__).resolve().parents[2] / "spec" / "vectors"
SHOWN = 12  # differences that a failure lists
NOT_LISTED = "NOT LISTED"

# The least numbers of cases, without which the test proves nothing.
FEWEST_FILES = 10_000
FEWEST_ACCEPTED = {
    "bit flip": 120,
    "bytes": 40,
    "field": 30,
    "both": 80,
    "data": 90,
    "name": 40,
    "free": 60,
    "recipe": 250,
}
FEWEST_SAME = 1000  # files that a peer reads like our reader


class Ours(NamedTuple):
    """The result of our reader for a file: a code, or entries (name, offset, size, CRC-32)."""

    code: str
    entries: list[tuple[bytes, int, int, int]]


def ask_ours(files: Iterable[bytes]) -> list[Ours]:
    given = b"".join(b"%d\n%b" % (len(file), file) for file in files)
    tool = os.environ["ONNXAR_ACCEPTS"]
    done = subprocess.run([tool], input=given, stdout=subprocess.PIPE, check=True)
    return [parse(json.loads(line)) for line in done.stdout.splitlines()]


def parse(said: dict) -> Ours:
    entries = [(bytes.fromhex(name), *rest) for name, *rest in said.get("entries", [])]
    return Ours(said.get("code", "ok"), entries)


def as_read(file: bytes, ours: Ours) -> list[Read]:
    return [read_of(name, size, file[at : at + size]) for name, at, size, _ in ours.entries]


def family(kind: str) -> str:
    """The first words of a kind, for which a least number is set."""
    return next((name for name in FEWEST_ACCEPTED if kind.startswith(name)), "other")


def show(answer: Answer, entries: list[Read]) -> str:
    if isinstance(answer, Refused):
        return f"refused: {answer}"
    if len(answer) != len(entries):
        return f"{len(answer)} entries, not {len(entries)}: {answer}"
    return "; ".join(f"{b}, ours is {a}" for a, b in zip(entries, answer) if a != b)


class Differential(unittest.TestCase):
    report: list[str] = []

    @classmethod
    def setUpClass(cls) -> None:
        home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(home.cleanup)
        cls.made = sampled(mutations.mutations(VECTORS))
        cls.ours = ask_ours(each.file for each in cls.made)
        cls.cases: list[tuple[Case, Path]] = []
        for number, (each, ours) in enumerate(zip(cls.made, cls.ours)):
            if ours.code == "ok":
                path = Path(home.name, f"{number}.onnxar")
                path.write_bytes(each.file)
                cls.cases.append((Case(each, as_read(each.file, ours)), path))
        cls.report.append(f"{len(cls.made)} mutations, {len(cls.cases)} accepted")

    @classmethod
    def tearDownClass(cls) -> None:
        print(*cls.report, sep="\n", file=sys.stderr)

    def test_enough_is_accepted(self) -> None:
        self.assertGreaterEqual(len(self.made), FEWEST_FILES // SAMPLE)
        self.assertEqual(len(self.made), len(self.ours))
        accepted = Counter(family(case.mutation.kind) for case, _ in self.cases)
        for name, fewest in FEWEST_ACCEPTED.items():
            self.assertGreaterEqual(accepted[name], least(fewest), name)

    def test_ours_hands_out_what_lies_in_the_file(self) -> None:
        for each, ours in zip(self.made, self.ours):
            for _, at, size, crc in ours.entries:
                self.assertEqual(zlib.crc32(each.file[at : at + size]), crc, each[:2])

    def hold(self, name: str) -> None:
        peer = PEERS[name]
        if not peer.found():
            self.skipTest(f"{name} is not installed")

        def ask(path: Path) -> Answer:
            try:
                return peer.read(path)
            except Refused as refusal:
                return refusal

        answers = at_once(ask, [path for _, path in self.cases])
        self.judge(name, [(case, got) for (case, _), got in zip(self.cases, answers)])

    def judge(self, name: str, answers: list[tuple[Case, Answer]]) -> None:
        counts: Counter[str] = Counter()
        faults = []
        for case, answer in answers:
            why = "same" if answer == case.entries else reason(name, case, answer)
            if why is None:
                kind, base, _ = case.mutation
                faults.append(f"{kind} of {base}: {show(answer, case.entries)[:400]}")
            kind = "refused" if isinstance(answer, Refused) else "differs"
            counts["same" if why == "same" else f"{kind}: {why or NOT_LISTED}"] += 1
        self.report += [f"{name:8} {count:5} {why}" for why, count in counts.most_common()]
        if faults:
            self.fail(f"{len(faults)} files:\n" + "\n".join(faults[:SHOWN]))
        self.assertGreaterEqual(counts["same"], least(FEWEST_SAME))
        if SAMPLE > 1:
            return
        unseen = [known.why for known in KNOWN[name] if not any(known.why in w for w in counts)]
        self.assertEqual(unseen, [], "no file shows these differences any more")

    def test_python(self) -> None:
        self.hold("python")

    def test_libzip(self) -> None:
        self.hold("libzip")

    def test_minizip(self) -> None:
        self.hold("minizip")

    def test_bsdtar(self) -> None:
        self.hold("bsdtar")

    def test_7z(self) -> None:
        self.hold("7z")

    def test_unzip(self) -> None:
        self.hold("unzip")


if __name__ == "__main__":
    if "ONNXAR_ACCEPTS" not in os.environ:
        sys.exit(__doc__)
    unittest.main()

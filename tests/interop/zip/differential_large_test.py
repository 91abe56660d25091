"""Other zip readers read every file that our readers accept in the same way.

The test gives our readers ten thousand files that are nearly archives. Other readers must see the
same names, sizes and bytes in the accepted ones. known.py lists the differences that are allowed.
fuzz_slow_test.py does the same with mutants of zips of other makers, and tests the harness.

Usage: ONNXAR_ACCEPTS=path/to/onnxar_accepts PYTHONPATH=tests differential_large_test.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import mutations
from harness import hold
from known import KNOWN
from peers import digest_of
from support.command_line import SAMPLE, least, sampled
from workers import Peers, ask_ours

VECTORS = Path(__file__).resolve().parents[3] / "spec" / "vectors"
SHOWN = 12  # differences that a failure lists

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


def family(kind: str) -> str:
    """The first words of a kind, for which a least number is set."""
    return next((name for name in FEWEST_ACCEPTED if kind.startswith(name)), "other")


class Differential(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.made = sampled(mutations.mutations(VECTORS))
        cls.ours = ask_ours(each.file for each in cls.made)
        cls.peers = Peers()
        cls.addClassCleanup(cls.peers.stop)
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.report = hold(cls.made, cls.peers, Path(folder), cls.ours)
        print(*cls.report.lines(), sep="\n", file=sys.stderr)

    def test_enough_is_accepted(self) -> None:
        self.assertGreaterEqual(len(self.made), FEWEST_FILES // SAMPLE)
        strict = [each for each, ours in zip(self.made, self.ours) if ours.strict.code == "ok"]
        accepted = Counter(family(each.kind) for each in strict)
        for name, fewest in FEWEST_ACCEPTED.items():
            self.assertGreaterEqual(accepted[name], least(fewest), name)

    def test_ours_hands_out_what_lies_in_the_file(self) -> None:
        for each, ours in zip(self.made, self.ours):
            for entry, at in zip(ours.strict.entries, ours.strict.offsets, strict=True):
                self.assertEqual(digest_of(each.file[at : at + entry.size]), entry.digest, each[:2])

    def test_other_readers_read_the_same(self) -> None:
        faults = [f"{f.mutation.kind} of {f.mutation.base}: {f.peer}: {f.what[:400]}" for f in self.report.faults]
        self.assertEqual(faults[:SHOWN], [], f"{len(faults)} in all")

    def test_every_reader_reads_enough_files_like_ours(self) -> None:
        for peer in self.peers.workers:
            with self.subTest(peer):
                self.assertGreaterEqual(self.report.counts[peer, "same"], least(FEWEST_SAME))

    def test_every_allowed_difference_still_exists(self) -> None:
        if SAMPLE > 1:
            self.skipTest("a sample need not show every difference")
        listed = {(peer, known.why) for peer, them in KNOWN.items() for known in them if peer in self.peers.workers}
        self.assertEqual(listed - self.report.counts.keys(), set())


if __name__ == "__main__":
    if "ONNXAR_ACCEPTS" not in os.environ:
        sys.exit(__doc__)
    unittest.main()

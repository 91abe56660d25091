"""Each system call of a command fails in turn: the output is right or not there, and the error names the file.

Usage: ONNXAR=path/to/onnxar ONNXAR_FAULTS=path/to/libonnxar_faults.so PYTHONPATH=tests failing_large_test.py
"""

from __future__ import annotations

import unittest

from faults.judging import Failure, failures_of, judge
from faults.proofs import good_runs
from support import command_line
from support.command_line import sampled


class Failing(unittest.TestCase):
    """`sampled` takes every so many of all pairs of a call and a fault."""

    def test_every_call_fails_in_turn(self) -> None:
        failures = sampled(failure for good in good_runs() for failure in failures_of(good))
        wrong = [fault for failure in failures for fault in self.faults_of(failure)]
        self.assertEqual(wrong, [], "\n".join(["", *wrong]))
        self.assertGreater(len(failures), 500)

    def faults_of(self, failure: Failure) -> list[str]:
        run = failure.run()
        failure.good.stage.restore(run)
        return [f"{failure}\n    {wrong}" for wrong in judge(failure, run)]


if __name__ == "__main__":
    command_line.main(__doc__)

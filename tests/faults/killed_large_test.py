"""A command that is killed before one of its system calls leaves the old state, the new one, or one that `recover` mends.

Usage: ONNXAR=path/to/onnxar ONNXAR_FAULTS=path/to/libonnxar_faults.so PYTHONPATH=tests killed_large_test.py
"""

from __future__ import annotations

import os
import signal
import unittest
from collections.abc import Iterator

from faults.proofs import good_runs
from faults.running import Call, Good, Run, judge_remains
from support import command_line
from support.command_line import DONE, FORMAT, run, sampled

CHANGES = ("write", "truncate", "chmod")  # of a file


def judge(good: Good, run: Run) -> Iterator[str]:
    """What is wrong with what a killed run left."""
    if run.code != -signal.SIGKILL:
        yield f"it ended with {run.code} instead of being killed: {run.stderr}"
    name = good.case.edits
    if name and run.tree[name] not in (good.stage.before[name], good.run.tree[name]):
        yield from judge_torn(good, name)
        run.tree[name] = good.stage.before[name]
    yield from judge_remains(good, run.tree)


def judge_torn(good: Good, name: str) -> Iterator[str]:
    """An archive whose edit was cut off is refused, until `recover` makes it the old one or the new one."""
    path = good.stage.root / name
    listed = run("ls", path)
    if listed.returncode != FORMAT or "onnxar recover" not in listed.stderr:
        yield f"`ls` of a torn archive: {listed.returncode}, {listed.stderr}"
    recovered = run("recover", path)
    if recovered.returncode != DONE:
        yield f"`recover`: {recovered.stderr}"
    elif path.read_bytes() not in (good.stage.before[name][1], good.run.tree[name][1]):
        yield "`recover` made something else of it"


class Killed(unittest.TestCase):
    def test_before_every_call(self) -> None:
        pairs = sampled((good, call) for good in good_runs() for call in good.run.calls)
        wrong = [fault for good, call in pairs for fault in self.faults_of(good, call)]
        self.assertEqual(wrong, [], "\n".join(["", *wrong]))
        self.assertGreater(len(pairs), 100)

    def faults_of(self, good: Good, call: Call) -> list[str]:
        run = good.stage.run(f"{call.number}:kill")
        faults = [f"{good.case.name}: killed before call {call.number}, {call.kind} {call.path}: {each}" for each in judge(good, run)]  # fmt: skip
        good.stage.set_up()
        return faults


class Synced(unittest.TestCase):
    """A machine that stops loses what was not synced. So the order of the calls says what it can leave."""

    def setUp(self) -> None:
        self.goods = [good for good in good_runs() if "--no-sync" not in good.case.words]

    def test_files_are_synced_before_any_gets_its_name(self) -> None:
        for good in self.goods:
            published = {call.path for call in good.run.calls if call.publishes}
            with self.subTest(good.case.name):
                self.assertEqual(len(self.synced_before_naming(good)), len(published))

    def synced_before_naming(self, good: Good) -> set[str]:
        """The files without their names that are synced and not changed any more."""
        synced: set[str] = set()
        for call in good.run.calls:
            if call.publishes:
                break
            if call.is_unseen and call.kind in CHANGES:
                synced.discard(call.path)
            if call.is_unseen and call.kind == "sync":
                synced.add(call.path)
        return synced

    def test_folders_are_synced_after_names_appear_in_them(self) -> None:
        for good in self.goods:
            unsynced: set[str] = set()
            for call in good.run.calls:
                if call.publishes:
                    unsynced.add(os.path.dirname(call.path))
                if call.kind == "sync":
                    unsynced.discard(call.path)
            with self.subTest(good.case.name):
                self.assertEqual(unsynced, set())

    def test_edits_are_synced_before_and_after_last_write(self) -> None:
        for good in self.goods:
            kinds = [call.kind for call in good.run.calls if call.kind in (*CHANGES, "sync")]
            with self.subTest(good.case.name):
                if good.case.words[0] == "replace" and good.case.edits:
                    self.assertEqual(kinds[-4:], ["sync", "write", "truncate", "sync"])
                elif good.case.edits:
                    self.assertEqual(kinds, ["truncate", "sync"])


if __name__ == "__main__":
    command_line.main(__doc__)

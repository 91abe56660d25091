"""Faults of system calls that commands once got wrong.

Usage: ONNXAR=path/to/onnxar ONNXAR_FAULTS=path/to/libonnxar_faults.so PYTHONPATH=tests stories_test.py
"""

from __future__ import annotations

import errno
import unittest
from collections.abc import Callable

from faults import cases
from faults.judging import LIMIT, SHORT, Failure, judge
from faults.proofs import prove_outputs
from faults.running import Call, Case, Good, Run, Stage, good_run
from support import command_line
from support.command_line import DONE, IO

Choice = Callable[[Call], bool]


def of(kind: str, end: str = "") -> Choice:
    return lambda call: call.kind == kind and call.path.endswith(end)


class Stories(unittest.TestCase):
    def good(self, name: str) -> Good:
        good = good_run(next(case for case in cases.all_cases() if case.name == name), prove_outputs)
        self.addCleanup(good.stage.close)
        return good

    def meets(self, name: str, fault: str, choice: Choice) -> list[Run]:
        """Runs the case of this name with the fault in each call of the choice; expects nothing wrong."""
        good = self.good(name)
        calls = [call for call in good.run.calls if choice(call)]
        self.assertNotEqual(calls, [])
        return [self.run_with(Failure(good, call, fault, False)) for call in calls]

    def run_with(self, failure: Failure) -> Run:
        run = failure.run()
        failure.good.stage.restore(run)
        self.assertEqual(list(judge(failure, run)), [], failure)
        return run

    def refuses(self, name: str, fault: str, choice: Choice) -> None:
        for run in self.meets(name, fault, choice):
            self.assertEqual(run.code, IO, run.stderr)

    def test_interrupted_calls_are_repeated(self) -> None:
        for kind in ("open", "openat2", "tmpfile", "write", "truncate", "allocate", "sync"):
            with self.subTest(kind):
                for run in self.meets("pack", "EINTR", of(kind)):
                    self.assertEqual(run.code, DONE, run.stderr)

    def test_a_folder_that_cannot_be_listed_is_not_empty(self) -> None:
        self.refuses("unpack, into a folder", "EIO", of("readdir"))

    # The error is that of the call, and not `io.changed`.
    def test_folder_that_cannot_be_opened_is_not_changed(self) -> None:
        self.refuses("unpack, into a folder", "EACCES", of("openat2", "/new"))
        self.refuses("unpack, into a folder", "EIO", of("stat", "/new/deep"))

    def test_folder_that_cannot_be_opened_is_removed(self) -> None:
        self.refuses("unpack, into a folder", "EIO", of("open", "/new/deep/er"))
        self.refuses("extract, into a new folder", "EIO", of("openat2", "/new"))

    def test_descriptor_limit_leaves_no_files(self) -> None:
        self.refuses("unpack, into a folder", LIMIT, of("openat2", "/new/deep/er"))
        self.refuses("unpack, into a folder, with hidden names", LIMIT, of("create"))

    def test_files_are_removed_if_a_later_one_has_no_name(self) -> None:
        self.refuses("unpack, data beside", "ENOSPC", of("link"))
        self.refuses("extract, into a folder", "EIO", of("link"))

    def test_files_are_removed_if_their_folder_cannot_sync(self) -> None:
        self.refuses("unpack, data beside", "EIO", of("sync", "/out"))
        self.refuses("unpack, into a folder", "EIO", of("sync", "/out"))

    def test_negative_size_is_refused(self) -> None:
        good = self.good("pack")
        texts = []
        for call in good.run.calls:
            if call.kind == "stat":
                run = Failure(good, call, SHORT, False).run()
                good.stage.restore(run)
                texts.append(run.stderr)
        self.assertIn("Value too large", "".join(texts))

    def test_permissions_of_the_old_file_are_not_lost(self) -> None:
        self.refuses("pack, replacing", "EIO", of("chmod"))

    # The process may open no more files.
    def test_archive_is_not_replaced_without_a_lock(self) -> None:
        self.refuses("pack, replacing", LIMIT, lambda call: call.kind == "open" and call.number < 4)
        self.refuses("repack, onto itself", "EIO", lambda call: call.kind == "stat" and call.number < 4)

    def test_edit_is_kept_once_its_end_record_is_written(self) -> None:
        for run in self.meets("replace", "EIO", of("truncate")):
            self.assertEqual(run.code, DONE, run.stderr)

    def test_late_write_error_is_detected_without_sync(self) -> None:
        good = self.good("pack, without syncs")
        close = next(call for call in good.run.calls if call.kind == "close" and call.is_unseen)
        self.assertEqual(self.run_with(Failure(good, close, "ENOSPC", False)).code, IO)

    def test_a_link_never_replaces_its_archive(self) -> None:
        stage = Stage(Case("link, onto its archive", ("link", "out/a.onnxar", "-o", "out/a.onnxar", "-f"), cases.OLD))
        self.addCleanup(stage.close)
        for call in [call for call in stage.run().calls if call.kind == "stat"]:
            run = stage.run(f"{call.number}:{errno.EIO}")
            self.assertNotEqual(run.code, DONE, call)
            self.assertEqual(run.tree, stage.before, call)


if __name__ == "__main__":
    command_line.main(__doc__)

"""An input that another program shortens while it is read: the error names the file and says what to do.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests shortened_test.py
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from support import command_line
from support.command_line import IO, MIB, ToolCase, start
from support.sparse_archive import write_sparse_archive


class Shortened(ToolCase):
    def archive_named(self, name: str) -> Path:
        path = self.folder / name
        write_sparse_archive(path, 64, 256 * MIB)  # 16 GiB: not read before it is cut
        return path

    def cut_while_checked(self, path: Path, *options: str, more: tuple[object, ...] = ()) -> tuple[int, list[str]]:
        """Shortens the file as soon as `check` has read a part of it. Returns the exit code, and the lines on stderr that
        report no progress."""
        process = start(*options, "--json-progress", "check", "--data", path, *more, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        process.stderr.readline()
        os.truncate(path, MIB)
        told = process.communicate()[1].decode()
        return process.returncode, [line for line in told.splitlines() if not line.startswith('{"progress"')]

    @staticmethod
    def handles(pid: int, number: int) -> bool:
        [caught] = re.findall(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        return bool(int(caught, 16) >> (number - 1) & 1)

    def test_the_error_names_the_file_and_says_what_to_do(self) -> None:
        path = self.archive_named("model.onnxar")
        for threads in (1, 4):
            status, lines = self.cut_while_checked(path, more=("-j", threads))
            self.assertEqual(status, IO)
            self.assertEqual(len(lines), 1, "one thread tells")
            self.assertTrue(lines[0].startswith(f"onnxar: error[io.changed] {path}: "), lines)
            self.assertIn("was shortened while it was read; run it again", lines[0])
            path = self.archive_named("model.onnxar")

    def test_the_error_is_json_where_that_is_asked_for(self) -> None:
        path = self.archive_named('gr\u00fc\u00dfe "1"\x1b.onnxar')
        status, [line] = self.cut_while_checked(path, "--json-errors")
        self.assertEqual(status, IO)
        error = json.loads(line)["error"]
        self.assertEqual(list(error), ["code", "path", "entry", "offset", "message", "hint"])
        self.assertEqual((error["code"], error["entry"], error["offset"]), ("io.changed", None, None))
        self.assertEqual(error["path"], f'{self.folder}/gr\u00fc\u00dfe "1"\\x1b.onnxar')
        self.assertEqual(error["hint"]["id"], "open.copy_in")

    def test_of_two_inputs_the_shortened_one_is_named(self) -> None:
        whole, cut = self.archive_named("whole.onnxar"), self.archive_named("cut.onnxar")
        process = start("--json-progress", "diff", whole, cut, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        process.stderr.readline()
        os.truncate(cut, MIB)
        told = process.communicate()[1].decode()
        self.assertEqual(process.returncode, IO, told)
        self.assertIn(f"error[io.changed] {cut}: ", told)
        self.assertNotIn(str(whole), told)

    def test_a_file_that_is_copied_is_named(self) -> None:
        path = self.archive_named("model.onnxar")
        process = start("cat", path, "w0", stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        process.stdout.read(1)  # a pipe holds 64 KiB, so it cannot have ended
        os.truncate(path, MIB)
        told = process.communicate()[1].decode()
        self.assertEqual(process.returncode, IO, told)
        self.assertIn(f"error[io.changed] {path}: ", told)

    def test_a_signal_from_elsewhere_names_no_file(self) -> None:
        process = start("pack", "-", "-o", self.output, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"x")
        process.stdin.flush()
        while not self.handles(process.pid, signal.SIGBUS):
            time.sleep(0.01)
        process.send_signal(signal.SIGBUS)
        told = process.communicate()[1].decode()
        self.assertEqual(process.returncode, IO, told)
        self.assertIn("error[io.changed] an input file was shortened", told)


if __name__ == "__main__":
    command_line.main(__doc__)

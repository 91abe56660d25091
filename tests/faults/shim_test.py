"""The library that makes calls fail: it sees every call on the files of a command, and notices what is left open.

Usage: ONNXAR=path/to/onnxar ONNXAR_FAULTS=path/to/libonnxar_faults.so PYTHONPATH=tests shim_test.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
from collections import Counter

from faults import cases
from faults.running import Case, Stage
from support import command_line

# Names of system calls, and the kinds that the library gives them.
KINDS = {
    "openat": "open", "openat2": "openat2", "read": "read", "pread64": "read", "write": "write", "pwritev": "write",
    "mmap": "mmap", "ftruncate": "truncate", "fallocate": "allocate", "fsync": "sync", "linkat": "link",
    "renameat": "rename", "renameat2": "rename_new", "unlinkat": "unlink", "rmdir": "unlink",
    "mkdirat": "mkdir", "mkdir": "mkdir", "newfstatat": "stat", "fstat": "stat", "flock": "lock", "fcntl": "dup",
    "fchmod": "chmod", "fchown": "chown", "close": "close", "ioctl": "ioctl", "sync_file_range": "writeback",
}  # fmt: skip
OPENING = ("open", "tmpfile", "create")  # openat with different flags
INSIDE = ("realpath", "opendir", "readdir", "access")  # the C library makes other calls for these
OF_LIBRARY = re.compile(r"getcwd|readlink|getdents64|fcntl\((?!.*F_DUPFD)|access\(|unlink\(|execve")
OWN_PATH = re.compile(r'"(in|out)[/"]')
TRACED = ("pack", "pack, replacing", "pack, with hidden names", "unpack, into a folder", "unpack, into a folder, without openat2", "repack, onto itself", "replace, of several graphs", "undo", "extract, into a new folder", "link, replacing", "freeze")  # fmt: skip
LEAKS = "import ctypes; ctypes.CDLL(None).open(b'in/file', 0)"


def traced(stage: Stage) -> Counter[str]:
    """The calls on files of the stage by kind, as strace sees them in a run without the library."""
    log = stage.home / "strace"
    command = ["strace", "-f", "-y", "-s", "0", "-qq", "-o", log, os.environ["ONNXAR"], *stage.case.words]
    subprocess.run(command, cwd=stage.root, check=True, capture_output=True)
    counts: Counter[str] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        line = line.replace(f"AT_FDCWD<{stage.root}>, ", "")
        if (str(stage.root) in line or OWN_PATH.search(line)) and not OF_LIBRARY.search(line):
            counts[KINDS[re.sub(r"^\d+ +(\w+)\(.*", r"\1", line)]] += 1
    return counts


class Shim(unittest.TestCase):
    def stage(self, case: Case) -> Stage:
        stage = Stage(case)
        self.addCleanup(stage.close)
        return stage

    def test_sees_the_calls_that_strace_sees(self) -> None:
        if shutil.which("strace") is None:
            self.skipTest("no strace to see calls with")
        for case in cases.all_cases():
            if case.name not in TRACED:
                continue
            stage = self.stage(case._replace(lacks=()))
            with self.subTest(case.name):
                seen = Counter("open" if call.kind in OPENING else call.kind for call in stage.run().calls)
                stage.set_up()
                seen["stat"] += seen["opendir"]
                self.assertEqual(traced(stage), Counter({kind: n for kind, n in seen.items() if kind not in INSIDE}))

    def test_notices_a_descriptor_that_is_left_open(self) -> None:
        stage = self.stage(Case("leak", ("-c", LEAKS), {"in/file": b""}))
        watching = {**os.environ, "LD_PRELOAD": os.environ["ONNXAR_FAULTS"], "FAULTS_ROOT": str(stage.root), "FAULTS_LOG": str(stage.log)}  # fmt: skip
        done = subprocess.run([sys.executable, "-c", LEAKS], cwd=stage.root, check=False, env=watching)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"left\t{stage.root}/in/file\n", stage.log.read_text())


if __name__ == "__main__":
    command_line.main(__doc__)

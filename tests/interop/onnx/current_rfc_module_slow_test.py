"""The module for upstream works with the onnx and NumPy of today, and its types are right.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests current_rfc_module_slow_test.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
RFC = SOURCE / "spec" / "rfc"


class Module(unittest.TestCase):
    def ends_well(self, *arguments: object, **environment: str) -> None:
        command = [sys.executable, "-B", *map(str, arguments)]
        said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, check=False, env={**os.environ, **environment}, **said)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_strict_mypy_has_nothing_to_say(self) -> None:
        mypy = ("-m", "mypy", "--strict", "--cache-dir", os.devnull, "--python-version", "3.10")
        self.ends_well(*mypy, *RFC.glob("*.py"))

    def test_its_own_tests_pass_with_current_packages(self) -> None:
        paths = os.pathsep.join([str(SOURCE / "tests"), str(RFC)])
        for name in ("onnx_archive_test.py", "onnx_archive_save_test.py"):
            self.ends_well(SOURCE / "tests/interop/onnx" / name, PYTHONPATH=paths, ONNXAR_SAMPLE="5")


if __name__ == "__main__":
    unittest.main()

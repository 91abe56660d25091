"""Models that ONNX tests its backends with, as Debian packages them, through every verb."""

from __future__ import annotations

import unittest
from pathlib import Path

from support import command_line
from support.every_verb import faults_of

FOLDER = Path("/usr/share/libonnx-testdata")
LEAST = 1000


class Testdata(unittest.TestCase):
    def test_every_model(self) -> None:
        if not FOLDER.is_dir():
            self.skipTest("libonnx-testdata is not installed")
        models = sorted(FOLDER.rglob("*.onnx"))
        self.assertGreater(len(models), LEAST)
        self.assertEqual(faults_of((command_line.label(path), path.read_bytes) for path in command_line.sampled(models)), [])


if __name__ == "__main__":
    command_line.main()

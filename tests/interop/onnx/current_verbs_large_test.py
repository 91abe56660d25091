"""Models of the current onnx through every verb: all that lie in the package as files, and every fifth of those that its
node tests are made of.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests current_verbs_large_test.py, with the packages of requirements.txt
"""

from __future__ import annotations

import unittest

from current_onnx_large_test import LEAST_CASES, LEAST_FILES, models_of_the_wheel
from support import command_line
from support.every_verb import faults_of


class Wheel(unittest.TestCase):
    def test_every_model(self) -> None:
        models = [(name, data) for place, (name, data) in enumerate(models_of_the_wheel()) if name.endswith(".onnx") or place % 5 == 0]
        self.assertGreaterEqual(len(models), LEAST_FILES + LEAST_CASES // 5)
        self.assertEqual(faults_of((name, lambda data=data: data) for name, data in command_line.sampled(models)), [])


if __name__ == "__main__":
    command_line.main(__doc__)

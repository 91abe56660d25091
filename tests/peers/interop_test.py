"""Six cells of the interoperability matrix, with the current onnx: the others take ./dev interop.

Usage: ONNXAR=onnxar PYTHONPATH=tests interop_test.py
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

from interop import cells, forms
from interop.tools import Tool


def tool(runner: str) -> Tool:
    command = [sys.executable, "-B", "-m", "runners.worker", runner]
    return Tool(runner, "as in tests/peers/requirements.txt", "runtime", lambda: None, lambda: command, ())


class FastestCells(unittest.TestCase):
    def test_weights_in_branches_and_loops(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = forms.Forms("subgraphs", Path(folder))
            made.make()
            wanted = ["plain", "link", "hub", "folder"]
            for runner in ("onnx_reference", "onnx_checker"):
                with self.subTest(runner=runner):
                    row = cells.row(wanted, cells.run(tool(runner), [cells.Job(made, form) for form in wanted]))
                    same = {"result": "same"}
                    self.assertEqual(row, {"plain": {"result": "ran"}, "link": same, "hub": same, "folder": same})

    def test_other_weights_are_a_wrong_cell(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = forms.Forms("MLP", Path(folder))
            made.make()
            weight = made.path("folder").with_name("w1")
            weight.write_bytes(weight.read_bytes()[::-1])
            results = cells.run(tool("onnx_reference"), [cells.Job(made, form) for form in ("plain", "folder")])
            self.assertEqual(cells.row(["plain", "folder"], results)["folder"], {"result": "wrong"})


if __name__ == "__main__":
    unittest.main()

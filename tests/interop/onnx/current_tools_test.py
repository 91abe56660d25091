"""Six cells of the interoperability matrix, with the current onnx: the others take ./dev interop.

Usage: ONNXAR=onnxar PYTHONPATH=tests current_tools_test.py
"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from interop.readers import cells, forms
from interop.readers.tools import tool_of_this_python


class FastestCells(unittest.TestCase):
    def made(self, model: str) -> forms.Forms:
        made = forms.Forms(model, Path(self.enterContext(tempfile.TemporaryDirectory())))
        made.make()
        return made

    def test_weights_in_branches_and_loops(self) -> None:
        made = self.made("subgraphs")
        for runner in ("onnx_reference", "onnx_checker"):
            with self.subTest(runner=runner):
                row = cells.rows(tool_of_this_python(runner), [made])["subgraphs"]
                self.assertEqual(row, {"plain": "ran", "link": "same", "hub": "same", "folder": "same"})

    def test_other_weights_are_a_wrong_cell(self) -> None:
        made = self.made("MLP")
        weight = made.path("folder").with_name("w1")
        weight.write_bytes(weight.read_bytes()[::-1])
        self.assertEqual(cells.rows(tool_of_this_python("onnx_reference"), [made])["MLP"]["folder"], "wrong")


if __name__ == "__main__":
    unittest.main()

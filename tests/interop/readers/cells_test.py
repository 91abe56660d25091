"""The fastest six cells of the matrix, for all small models, with Debian's onnx: its checker and its shape inference find the same
in links, links with the names of hubs and unzipped folders as in the plain model. The rest of the matrix is ./dev interop.

Usage: ONNXAR=onnxar PYTHONPATH=tests cells_test.py
"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from interop.readers import cells, forms, models
from interop.readers.tools import tool_of_this_python


class Cells(unittest.TestCase):
    made: list[forms.Forms]

    @classmethod
    def setUpClass(cls) -> None:
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.made = [forms.Forms(model, Path(folder)) for model in models.SMALL]
        for each in cls.made:
            each.make()

    def judge(self, runner: str) -> None:
        tool = tool_of_this_python(runner)
        for each, row in cells.rows(tool, self.made).items():
            with self.subTest(each):
                self.assertEqual(row, {"plain": "ran", "link": "same", "hub": "same", "folder": "same"})

    def test_checker_says_the_same_of_every_form(self) -> None:
        self.judge("onnx_checker")

    def test_shapes_of_every_form_equal_the_plain_model(self) -> None:
        self.judge("onnx_shapes")


if __name__ == "__main__":
    unittest.main()

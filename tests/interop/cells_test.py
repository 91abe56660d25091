"""The fastest six cells of the matrix, for all small models, with Debian's onnx: its checker and its shape inference find the same
in links, links with the names of hubs and unzipped folders as in the plain model. The rest of the matrix is ./dev interop.

Usage: ONNXAR=onnxar PYTHONPATH=tests cells_test.py
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

from interop import cells, forms, models
from interop.tools import HERE, Tool

FORMS_OF = ["plain", "link", "hub", "folder"]


def debians(runner: str) -> Tool:
    return Tool(runner, "", "runtime", lambda: None, lambda: [sys.executable, "-B", "-m", "runners.worker", runner],
                (HERE / f"runners/{runner}.py",))  # fmt: skip


class Cells(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    made: list[forms.Forms]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.made = [forms.Forms(model, Path(cls.folder.name)) for model in models.SMALL]
        for each in cls.made:
            each.make()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def judge(self, runner: str) -> None:
        results = cells.run(debians(runner), [cells.Job(each, form) for each in self.made for form in FORMS_OF])
        for number, each in enumerate(self.made):
            row = cells.row(FORMS_OF, results[number * len(FORMS_OF) : (number + 1) * len(FORMS_OF)])
            with self.subTest(each.model):
                self.assertEqual(row.pop("plain"), {"result": "ran"})
                self.assertEqual(row, {form: {"result": "same"} for form in FORMS_OF[1:]})

    def test_checker_says_the_same_of_every_form(self) -> None:
        self.judge("onnx_checker")

    def test_shapes_of_every_form_are_those_of_the_plain_model(self) -> None:
        self.judge("onnx_shapes")


if __name__ == "__main__":
    unittest.main()

"""docs/interop.md is made of the results, and they are of the forms as this state of the project makes them.

Usage: ONNXAR=onnxar PYTHONPATH=tests table_test.py
"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from interop.readers import forms, models, page
from interop.readers.tools import TOOLS

# What runtimes refuse although the plain model runs; docs/refusals.md says why.
KNOWN = {
    (tool, model, form)
    for tool, refused in (
        ("ONNX Runtime Web, in Node", ("subgraphs",)),
        ("ONNX Runtime Web, in Chromium", ("subgraphs",)),
        ("onnx_ir: load, save elsewhere", ("attributes", "functions")),
        ("onnx_ir: passes", ("attributes", "functions")),
    )
    for model in refused
    for form in ("link", "hub", "folder")
}
AGAIN = "run ./dev interop: tools have not seen what link, pack and unpack make now"


class Table(unittest.TestCase):
    def setUp(self) -> None:
        self.found = page.results()

    def test_page_is_made_of_the_results(self) -> None:
        self.assertEqual(page.PAGE.read_text(), page.text(self.found), "run ./dev interop, which writes the page")

    def test_no_cell_is_wrong(self) -> None:
        self.assertEqual(page.wrong_cells(self.found), [])

    def test_runtimes_refuse_only_what_is_known(self) -> None:
        self.assertEqual(set(page.refused_by_runtimes(self.found)), KNOWN)

    def test_every_tool_has_a_row_of_its_present_version(self) -> None:
        rows = self.found["tools"]
        self.assertEqual([tool.name for tool in TOOLS if tool.name not in rows], [])
        self.assertEqual([tool.name for tool in TOOLS if rows[tool.name]["state"] != tool.state()], [], AGAIN)

    def test_every_cell_is_of_the_recorded_forms(self) -> None:
        for tool, row in self.found["tools"].items():
            self.assertLessEqual(set(models.SMALL), set(row["models"]), tool)
            forms_of = next(each for each in TOOLS if each.name == tool).forms
            for model, entry in row["models"].items():
                self.assertEqual(list(entry["forms"]), forms_of(model), f"{tool}, {model}: {AGAIN}")
                self.assertEqual(entry["digest"], self.found["digests"][model], f"{tool}, {model}: {AGAIN}")


class Forms(unittest.TestCase):
    def test_forms_equal_those_of_the_results(self) -> None:
        """Byte for byte: the same archives, links and unzipped folders; and `unpack` gives the plain models back."""
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for model in models.SMALL:
                made = forms.Forms(model, Path(folder))
                made.make()
                made.check_unpacked()
                found[model] = made.digest()
        recorded = page.results()["digests"]
        self.assertEqual(found, {model: recorded[model] for model in models.SMALL}, AGAIN)


if __name__ == "__main__":
    unittest.main()

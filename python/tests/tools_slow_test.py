"""Runs every cell of the table in docs/onnx-tools.md, tool by route, with a small model; tools_large_test.py does so above 2 GiB."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from typing import ClassVar

from onnx_tools import ARCHIVE, EXPECTED, ROUTES, TOOLS
from support import FolderTest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/onnx-tools.md"
PROGRAM = pathlib.Path(__file__).with_name("onnx_tools.py")
BELOW = "< 2 GiB"  # a cell that holds only for small models


def table() -> dict[str, list[str]]:
    """Returns the cells of each tool's row, in the order of the routes."""
    rows: dict[str, list[str]] = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        tool = next((tool for tool in TOOLS if cells[0].startswith(f"`{tool}`")), None)
        if tool and len(cells) == 1 + len(ROUTES):
            rows[tool] = cells[1:]
    return rows


class Table(FolderTest):
    MIB: ClassVar[int] = 1
    SECONDS: ClassVar[int] = 120  # of one tool

    def test_page_has_a_row_for_each_tool(self) -> None:
        self.assertEqual(set(table()), set(TOOLS))

    def test_every_cell_is_what_the_tools_do(self) -> None:
        base = self.folder / "base"
        base.mkdir()
        self.run_program("make", str(self.MIB), str(base))
        for tool, cells in table().items():
            for route, cell in zip(ROUTES, cells, strict=True):
                with self.subTest(tool=tool, route=route):
                    folder = self.folder / "run"
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.mkdir()
                    subprocess.run(["cp", "--reflink=auto", base / ARCHIVE, base / EXPECTED, folder], check=True)
                    said = self.run_program(tool, route, str(folder))
                    self.assertEqual(not said, self.expected(cell), f"{cell}: {said[-2000:]}")

    def expected(self, cell: str) -> bool:
        """Returns whether the tool works: the cell says no, yes, or yes for small models. Numbers of notes follow."""
        known = re.fullmatch(rf"(yes|no|{BELOW}|)( \[\d\])?", cell)
        self.assertIsNotNone(known, cell)
        return known[1] in (("yes", BELOW) if self.MIB < 2048 else ("yes",))

    def run_program(self, *arguments: str) -> str:
        """Returns why it failed, or nothing."""
        try:
            done = subprocess.run([sys.executable, "-B", "-W", "ignore", PROGRAM, *arguments], capture_output=True, text=True, timeout=self.SECONDS)
        except subprocess.TimeoutExpired:
            return "no answer in time"
        return (done.stderr or f"ended with {done.returncode}") if done.returncode else ""


if __name__ == "__main__":
    unittest.main()

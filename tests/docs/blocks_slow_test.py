"""Every code block of the documents does what it says: shell and Python blocks are run, C++ and C compiled (and run if
they are programs). The README is played with a model; all other pages, as a reader would, in the folder that the quick
start leaves. A block that cannot run has a marker with its reason; those that no other test runs are counted.

Usage: ONNXAR=onnxar ONNXAR_BUILD=build/release ONNXAR_PACKAGE_PYTHON=python PYTHONPATH=tests blocks_slow_test.py [PAGE...]
"""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

from docs.blocks import ROOT, RUN, code, pages
from docs.running import Failed, Story

ONLY = sys.argv[1:]  # names of pages
NOT_RUN = 12  # the blocks that no test runs, in all


class Blocks(unittest.TestCase):
    def play(self, page: Path, folder: Path, left: Path | None) -> None:
        story = Story.in_folder(folder, left)
        for block in code(page):
            if not block.reason:
                with self.subTest(block.place):
                    try:
                        story.run(block)
                    except Failed as failed:
                        self.fail(f"{block.place}: {failed}")
        try:
            story.end()
        except Failed as failed:
            self.fail(f"{page}: fragments: {failed}")

    def test_every_block_runs(self) -> None:
        begun = ROOT / "docs/quickstart.md"
        with tempfile.TemporaryDirectory() as left:
            self.play(begun, Path(left), None)
            for page in pages():
                if page != begun and any(not block.reason for block in code(page)) and (not ONLY or str(page.relative_to(ROOT)) in ONLY):
                    with self.subTest(page.name), tempfile.TemporaryDirectory() as folder:
                        self.play(page, Path(folder), None if page == ROOT / "README.md" else Path(left))

    def test_every_block_runs_or_states_a_reason(self) -> None:
        found = [block for page in pages() for block in code(page)]
        self.assertEqual([block.place for block in found if not block.reason and block.language not in RUN], [])
        self.assertGreater(sum(not block.reason for block in found), 25)

    def test_number_of_blocks_that_are_not_run(self) -> None:
        marked = [block.place for page in pages() for block in code(page) if block.reason.startswith("not run: ")]
        self.assertEqual(len(marked), NOT_RUN, marked)

    def test_runners_of_marked_blocks_exist(self) -> None:
        for block in (block for page in pages() for block in code(page) if block.reason.startswith("run by ")):
            name = re.split(r"[: ]", block.reason.removeprefix("run by ").removeprefix("./dev "))[0]
            with self.subTest(block.place):
                self.assertTrue((ROOT / name).is_file() or (ROOT / f"tools/dev/{name}.sh").is_file(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""SECURITY.md: every promise of cost names its test, and the tests that it names exist.

Usage: promises_test.py
"""

from __future__ import annotations

import fnmatch
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()


def rows() -> list[list[str]]:
    """Verb, work and tests of each row of the table."""
    table = TEXT[TEXT.index("| verb | work | tested by |") :].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def unit_tests() -> set[str]:
    found = set()
    for path in (ROOT / "tests").rglob("*_test.cc"):
        for suite, name in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE):
            found.add(f"{path.parent.name}.{suite}.{name}")
    return found


class Promises(unittest.TestCase):
    def test_every_row_names_a_test(self) -> None:
        self.assertGreater(len(rows()), 5)
        for verb, _, held_by in rows():
            with self.subTest(verb):
                self.assertRegex(held_by, r"`[^`]+`")

    def test_every_test_that_is_named_exists(self) -> None:
        tests = unit_tests()
        named = [name for _, _, held_by in rows() for name in re.findall(r"`([^`]+)`", held_by)]
        named += re.findall(r"`((?:python/)?tests/[^`]+)`", TEXT)
        for name in named:
            with self.subTest(name):
                exists = (ROOT / name).is_file() if "/" in name else bool(fnmatch.filter(tests, name))
                self.assertTrue(exists, "SECURITY.md names a test that does not exist")


if __name__ == "__main__":
    unittest.main()

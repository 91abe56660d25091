"""The library gives ids of hints; each front end words all of them, and the library has no word of the command line.

Usage: hints_test.py
"""

from __future__ import annotations

import importlib.util
import re
import unittest

from includes_test import ROOT, sources

CATALOGUE = re.findall(r'^ONNXAR_HINT\((\w+), "([a-z_.]+)",\s+"', (ROOT / "include/onnxar/error_hints.inc").read_text(), re.MULTILINE)
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')  # adjacent ones are one text
VERBS = "pack|unpack|ls|check|repack|replace|undo|recover|link|cat|show|dump|extract|freeze|diff|completion|man"


def without_comments(folder: str) -> dict[str, str]:
    return {path: re.sub(r"^\s*//.*$|(?<=[;{}),])\s+//.*$", "", text, flags=re.MULTILINE) for path, text in sources(folder).items()}


def literals(text: str) -> list[str]:
    return [re.sub(r'"\s*"', "", found[0])[1:-1] for found in LITERALS.finditer(text)]


def options() -> set[str]:
    """Every long option that a verb adds."""
    words = (word for text in without_comments("tools/onnxar").values() for word in literals(text))
    return {option for word in words if re.fullmatch(r"!?(-\w,)?--[a-z-]+(,--[a-z-]+)*", word) for option in re.findall(r"--[a-z-]+", word)}


class WordsOfTheCommandLine(unittest.TestCase):
    def test_options_are_seen(self) -> None:
        self.assertLessEqual({"--force", "--threshold", "--no-sync", "--data-dir", "--max-expansion"}, options())

    def test_no_option_and_no_command_is_named_in_the_library(self) -> None:
        named = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(options()))})(?![\w-])|\bonnxar (?:{VERBS})\b")
        for folder in ("src", "include"):
            for path, text in without_comments(folder).items():
                for literal in literals(text):
                    with self.subTest(path=path):
                        self.assertNotRegex(literal, named)


class Words(unittest.TestCase):
    def test_hints_are_seen(self) -> None:
        self.assertGreater(len(CATALOGUE), 30)

    def test_python_words_each_hint(self) -> None:
        spec = importlib.util.spec_from_file_location("hints", ROOT / "python/onnxar/_hints.py")
        hints = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(hints)
        self.assertEqual(list(hints.WORDS), [hint for _, hint in CATALOGUE])
        for hint in hints.WORDS:
            self.assertNotRegex(hints.in_words(hint, "VALUE"), r"--|::|[{}]{2}|`onnxar")

    def test_the_c_interface_names_nothing_of_cxx(self) -> None:
        words = literals(without_comments("src/c")["src/c/hints.cc"])
        self.assertGreater(len(words), len(CATALOGUE))  # the compiler holds that each hint has a row
        for text in words:
            with self.subTest(text):
                self.assertNotRegex(text, r"::|[A-Z]\w+Options|RenamedEntry|onnxar/(?!error_hints|onnxar_c)\w+\.h")

    def test_every_hint_is_given_somewhere(self) -> None:
        given = "".join(without_comments("src").values())
        for name, _ in CATALOGUE:
            with self.subTest(name):
                self.assertRegex(given, rf"\bHint::{name}\b")


if __name__ == "__main__":
    unittest.main()

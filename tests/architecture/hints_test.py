"""The library gives ids of hints; each front end words all of them, and the library has no word of the command line.

Usage: hints_test.py
"""

from __future__ import annotations

import re
import unittest
from typing import NamedTuple

from includes_test import ROOT, sources

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


def classes() -> set[str]:
    """Every type of the public headers whose name is not a word as well."""
    found = (re.findall(r"(?:class|struct|using) ([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b", text) for text in without_comments("include").values())
    return {name for names in found for name in names}


class HintRow(NamedTuple):
    name: str
    words: list[str]  # of C++, C, the command, Python


def catalogue() -> list[HintRow]:
    text = (ROOT / "include/onnxar/error_hints.inc").read_text()
    rows = [LITERALS.sub(lambda found: re.sub(r'"\s*"', "", found[0]), row) for row in re.split(r"(?m)^ONNXAR_HINT\(", text)[1:]]
    return [HintRow(row.partition(",")[0], literals(row)[1:]) for row in rows]


CATALOGUE = catalogue()


class WordsOfTheCommandLine(unittest.TestCase):
    def test_options_are_seen(self) -> None:
        self.assertLessEqual({"--force", "--threshold", "--no-sync", "--data-dir", "--max-expansion"}, options())

    def test_library_names_no_option_or_command(self) -> None:
        named = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(options()))})(?![\w-])|\bonnxar (?:{VERBS})\b")
        for folder in ("src", "include"):
            for path, text in without_comments(folder).items():
                for literal in literals(text) if not path.endswith("/error_hints.inc") else []:
                    with self.subTest(path=path):
                        self.assertNotRegex(literal, named)


class NamesOfOneInterface(unittest.TestCase):
    """Programs in C, C++ and Python meet the messages of core, and each has names of its own."""

    def test_classes_are_seen(self) -> None:
        self.assertLessEqual({"StreamReader", "ArchiveEditor", "RandomAccess", "LoadOptions"}, classes())

    def test_messages_of_core_name_no_function_or_class(self) -> None:
        members = "add|begin|commit|end|entry|finish|payload|prepare|remove|reserve|save|store|tensors|write"
        named = re.compile(rf"\b(?:{'|'.join(sorted(classes()))})\b|\w::\w|\w\(\)|`(?:{members})`")
        for path, text in without_comments("src").items():
            rest = literals(text) if not path.startswith(("src/model/", "src/inspect/", "src/c/")) else []
            for literal in rest:
                with self.subTest(path=path):
                    self.assertNotRegex(literal, named)


class Words(unittest.TestCase):
    def test_hints_are_seen(self) -> None:
        self.assertGreater(len(CATALOGUE), 30)

    def test_each_interface_names_only_what_its_users_have(self) -> None:
        others = {
            "C++": r"--|`onnxar|=True",
            "C": r"::|[A-Z]\w+Options|RenamedEntry|onnxar/\w+\.h|--|`onnxar (?!_)",
            "command": r"::|[A-Z]\w+Options|onnxar\.|onnxar_|=True",
            "Python": r"::|[A-Z]\w+Options|--|`onnxar|onnxar_",
        }
        for hint in CATALOGUE:
            for (interface, wrong), words in zip(others.items(), hint.words, strict=True):
                with self.subTest(hint=hint.name, interface=interface):
                    self.assertNotRegex(words, wrong)

    def test_every_hint_is_used(self) -> None:
        given = "".join(without_comments("src").values())
        for hint in CATALOGUE:
            with self.subTest(hint.name):
                self.assertRegex(given, rf"\bHint::{hint.name}\b")


if __name__ == "__main__":
    unittest.main()

"""Counts phrases, doc comments and test names that are not plain English; CONTRIBUTING.md says what is. The count may only fall."""

import re
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 10

PHRASES = re.compile(
    r"\bbut for\b|\bnobody\b|\bwhoever\b|(?<!there )\bis no (?!longer|more|such)[a-z]+|\bno one is\b|\btold\b|\banew\b|\bat hand\b"
    r"|\bcase aside\b|\blikewise\b|\bby ranges\b|\bas that\b|\bin its place\b|\bhas to be there\b|\bwhich has to be\b|\bis not to have\b"
    r"|\bstands? (?:in|on|first)\b(?! for)|\bmend(?:s|ed)?\b|\bdo(?:es)? without\b|\bthe other way round\b|\bby which\b|\bthat is none\b"
    r"|\bto what is\b|\bas is none\b|\bof which\b|\ball else\b|\bthe like\b|\bjudge[sd]?\b|\bthereof\b|\bgoes? along\b",
    re.IGNORECASE)  # fmt: skip
DOCS = re.compile(r"""^\s*(?:///|\*|#|\"\"\")\s*(?:Whether |Errors: as |Of an? |By |What )""", re.MULTILINE)
NAMES = re.compile(r"^\s*(?:(?:TYPED_)?TEST(?:_F|_P)?\(\s*\w+,\s*\w{46,}|(?:async )?def test_\w{46,})", re.MULTILINE)

PROSE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "include", "src", "tools", "spec", "docs", "python", "js", "reader", "cmake")
CODE = ("include", "src", "tools", "python", "js", "reader")
TESTS = ("tests", "python", "spec")
KINDS = {".h", ".cc", ".c", ".py", ".md", ".txt", ".cmake", ".toml", ".ts", ".mjs", ".inc", ".sh", ".html"}
LEFT_OUT = ("spec/vectors/", "node_modules/", "js/dist/", "cmake/licenses/")


def texts(places: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and file.suffix in KINDS and not any(part in name for part in LEFT_OUT):
                yield name, file.read_text(errors="replace")


def matches(pattern: re.Pattern[str], places: tuple[str, ...]) -> list[str]:
    return [f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0].strip()}"
            for name, text in texts(places) for found in pattern.finditer(text)]  # fmt: skip


class Voice(unittest.TestCase):
    def test_most_of_the_text_is_plain_english(self) -> None:
        found = [*matches(PHRASES, PROSE), *matches(DOCS, CODE)]
        self.assertLessEqual(len(found), MOST, "\n".join(found))

    def test_test_names_are_short(self) -> None:
        self.assertEqual(matches(NAMES, TESTS), [])

    def test_patterns_find_what_they_should(self) -> None:
        self.assertTrue(PHRASES.search("Nobody is told"))
        self.assertFalse(PHRASES.search("there is no longer a file"))
        self.assertTrue(DOCS.search("/// Whether it is"))
        self.assertTrue(NAMES.search("  def test_" + "n" * 46))
        self.assertFalse(NAMES.search("TEST(Suite, " + "N" * 45))


if __name__ == "__main__":
    unittest.main()

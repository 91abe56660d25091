"""Every error code that the npm package, the readers, the reference and the Python package can report is in the catalogue
that docs/errors.toml explains, and a rule has the same code in all of them."""

import pathlib
import re
import unittest

from includes_test import ROOT
from rules_test import rules

CATALOGUE = re.compile(r'^ONNXAR_CODE\(\w+, "([a-z0-9_.]+)", \w+\)', re.MULTILINE)
# How a language writes a code: after the name of a function or a type of errors, or in a row of a list of codes or rules.
C = r'\bfail\(\w+, "([^"]+)"|\{"[A-Z]\d[A-Z0-9 ]*", "([a-z][^"]+)", "'
RUST = r'\bError::new\(\s*"([^"]+)"'
JAVA = r'\b(?:ArchiveException(?:\.of)?|[A-Z]\d+)\(\s*"([^"]+)"'
JS = r"^  (?:[A-Z]\d+: \[|\| )'([^']+)'"
PYTHON = r'\b\w*Error\(\s*"([a-z_.]+)"'
REFERENCE = r'\bRule\(\s*"([^"]+)"'
# Language -> the pattern, the sources, and how many codes they have at least.
LANGUAGES = {
    "C": (C, "reader/onnxar_reader.c", 80),
    "Rust": (RUST, "reader/rust/src/*.rs", 8),
    "Java": (JAVA, "reader/java/src/main/**/*.java", 80),
    "JavaScript": (JS, "js/src/*.ts", 90),
    "Python": (PYTHON, "python/onnxar/*.py", 25),
    "the reference": (REFERENCE, "spec/reference/*.py", 80),
}
# Tables of rules -> how a row is written: the rules, and their code.
TABLES = {
    "reader/onnxar_reader.c": r'\{"([A-Z]\d[A-Z0-9 ]*)", "([a-z][^"]+)", "',
    "reader/java/src/main/java/io/github/onnxar/Rule.java": r'\b([A-Z]\d+)\("([^"]+)"\)',
    "js/src/error.ts": r"^  ([A-Z]\d+): \['([^']+)'",
    "spec/reference/rules.py": r'^    "([A-Z]\d+)": Rule\(\s*"([^"]+)"',
}


def texts(places: str) -> dict[pathlib.Path, str]:
    return {path: path.read_text() for path in sorted(ROOT.glob(places))}


class CodesOfOtherLanguages(unittest.TestCase):
    def setUp(self) -> None:
        self.catalogue = set(CATALOGUE.findall((ROOT / "include/onnxar/error_codes.inc").read_text()))
        families = "|".join(sorted({code.partition(".")[0] for code in self.catalogue}))
        # A code that is not written where it is thrown is found by its form.
        self.like = re.compile(rf"""(?<=["'`])(?:{families})\.[a-z_]+(?:\.[a-z_]+)*(?=["'`])""")

    def test_each_code_is_in_the_catalogue(self) -> None:
        for language, (pattern, places, least) in LANGUAGES.items():
            seen = set()
            for path, text in texts(places).items():
                thrown = {code for each in re.finditer(pattern, text, re.MULTILINE) for code in each.groups() if code}
                found = thrown | set(self.like.findall(text))
                with self.subTest(language=language, path=path.name):
                    self.assertEqual(found - self.catalogue, set())
                seen |= found
            with self.subTest(language=language):
                self.assertGreaterEqual(len(seen), least, "codes are written in another way now")

    def test_a_rule_has_one_code_in_all_readers(self) -> None:
        wanted = rules()
        for path, row in TABLES.items():
            found = re.findall(row, (ROOT / path).read_text(), re.MULTILINE)
            self.assertGreater(len(found), 70, path)
            for names, code in found:
                for rule in names.split():
                    with self.subTest(path=path, rule=rule):
                        self.assertEqual(code, wanted.get(rule))


if __name__ == "__main__":
    unittest.main()

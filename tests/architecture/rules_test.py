"""Every rule of the specification is named where the code enforces it, and every rule that a comment names exists."""

import re
import unittest

from includes_test import ROOT, sources

# - **E1** `zip.end.missing` The last 22 bytes ...
RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\*(?: `([a-z0-9_]+(?:\.[a-z0-9_]+)+)`)?", re.MULTILINE)
# | L9 | `zip.padding.missing` | 1.0 | ... in the list of retired rules
RETIRED = re.compile(r"^\| ([A-Z]\d+) \| `[a-z0-9_.]+` \|", re.MULTILINE)
CODE = re.compile(r'^ONNXAR_CODE\((\w+), "([a-z0-9_.]+)", \w+\)', re.MULTILINE)
# A rule in a comment. P5a is a part of P5.
NAMED = re.compile(r"(?<![A-Za-z0-9_.+-])([DEFGKLMNPRTWX]\d{1,2})(?:[a-c])?(?![A-Za-z0-9_])")
COMMENT = re.compile(r"//.*")
# | F15 | local header and directory that differ ... | `zip.local.name`, `.field`, `.size` | in other-zips.md
FOREIGN = re.compile(r"^\| (F\d+) \| .*? \| ((?:`[a-z0-9_.*]+`(?:, )?)+) \|", re.MULTILINE)
# A check and the code that it throws: condition, throw, message, place.
NEAR = 6


def rules():
    """The rules of writers and readers: id -> code, or None for a rule without one."""
    found = {}
    for page in sorted((ROOT / "spec").glob("*.md")):
        for rule, code in RULE.findall(page.read_text()):
            if rule in found:
                raise AssertionError(f"{rule} is defined twice")
            found[rule] = code or None
    return found


def foreign_rules():
    """The rules of zip files of other makers: id -> codes. A family of codes, such as `zip.name.*`, is left out."""
    found = {}
    for rule, cell in FOREIGN.findall((ROOT / "spec" / "other-zips.md").read_text()):
        codes = []
        for code in re.findall(r"`([^`]+)`", cell):
            codes.append(codes[-1].rpartition(".")[0] + code if code.startswith(".") else code)
        found[rule] = [code for code in codes if not code.endswith("*")]
    return found


def retired():
    return set(RETIRED.findall((ROOT / "spec" / "background.md").read_text()))


def retired_foreign():
    return set(re.findall(r"^(F\d+) is retired", (ROOT / "spec" / "other-zips.md").read_text(), re.MULTILINE))


def named_in(line):
    return {rule for comment in COMMENT.findall(line) for rule in NAMED.findall(comment)}


def checks(lines, identifiers):
    """The pairs (rule, identifier of a code) within a few lines of each other."""
    for number, line in enumerate(lines):
        named = named_in(line)
        if not named:
            continue
        around = "\n".join(lines[max(0, number - NEAR) : number + NEAR + 1])
        codes = set(re.findall(r"Code::(\w+)", around)) & identifiers
        yield from ((rule, code) for rule in named for code in codes)


class Rules(unittest.TestCase):
    def setUp(self):
        self.rules = rules()
        self.foreign = foreign_rules()
        self.sources = {path: text.splitlines() for path, text in sources("src", "include").items()}
        catalogue = (ROOT / "include/onnxar/error_codes.inc").read_text()
        self.identifiers = {code: identifier for identifier, code in CODE.findall(catalogue)}

    def test_the_rules_are_found(self):
        self.assertGreater(len(self.rules), 120)
        self.assertEqual(self.rules["D13"], "zip.zip64.extra")
        self.assertIsNone(self.rules["W6"])
        self.assertEqual(self.foreign["F15"], ["zip.local.name", "zip.local.field", "zip.local.size"])
        self.assertEqual(self.foreign.keys() & self.rules.keys(), set())
        ids = {rule for rule in self.rules.keys() | retired_foreign() if rule.startswith("F")} | self.foreign.keys()
        self.assertEqual(ids, {f"F{number}" for number in range(1, 40)})
        self.assertEqual(retired() & self.rules.keys(), set())
        self.assertIn("L9", retired())

    def test_every_rule_is_named_at_each_of_its_checks(self):
        seen = {each for lines in self.sources.values() for each in checks(lines, set(self.identifiers.values()))}
        codes = {**{rule: [code] for rule, code in self.rules.items() if code}, **self.foreign}
        for rule, code in ((each, code) for each in codes for code in codes[each]):
            with self.subTest(rule=rule, code=code):
                self.assertTrue((rule, self.identifiers[code]) in seen, "no comment near that code names the rule")

    def test_every_foreign_zip_rule_is_named_in_code(self):
        named = {rule for lines in self.sources.values() for line in lines for rule in named_in(line)}
        wanted = {rule for rule in self.rules if rule.startswith("F")} | self.foreign.keys()
        self.assertEqual(wanted - named, set())

    def test_comments_name_only_existing_rules(self):
        for path, lines in self.sources.items():
            for number, line in enumerate(lines, 1):
                for rule in named_in(line):
                    with self.subTest(path=path, line=number):
                        self.assertTrue(rule in self.rules or rule in self.foreign, f"there is no rule {rule} in spec, or it is retired")


if __name__ == "__main__":
    unittest.main()

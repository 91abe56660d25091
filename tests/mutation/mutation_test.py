"""Tests the mutation tester: instruments a sample, builds it, and compares which of its mutants a test kills.

ONNXAR_MUTATION_SAMPLE names the static library of the tests of the sample and of the runtime (tests/CMakeLists.txt).
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from copies import Site
from driver import Outcome, read_record, record, run_mutants
from instrument import Instrumented, instrument
from reasons import Reason, load, unused, why

SAMPLE = HERE / "sample"
OUTCOMES = (
    ("a bound moves down, and a test of both sides sees it", "fits", "size <= limit", "size < limit", "killed"),
    ("a bound moves up, and a test of both sides sees it", "fits", "size <= limit", "size <= limit + 1", "killed"),
    ("a comparison is inverted", "fits", "size <= limit", "size > limit", "killed"),
    ("a call of a check is left out", "checked", "check(size)", "removed", "killed"),
    ("a check never refuses", "check", "!fits(size)", "never !fits(size)", "killed"),
    ("a condition is inverted", "check", "!fits(size)", "fits(size)", "killed"),
    ("an equivalent mutant", "larger", "a < b", "a <= b", "survived"),
    ("a mutant beside the equivalent one", "larger", "a < b", "a >= b", "killed"),
    ("a side that no test needs", "between", "low <= value", "true", "survived"),
    ("a side that a test needs", "between", "value <= high", "true", "killed"),
    ("what no test calls", "never_called", "3", "3 + 1", "not reached"),
)


def build(made: Instrumented, folder: pathlib.Path) -> pathlib.Path:
    """Compiles the copies, and links them with the tests and the runtime."""
    for name, text in made.copies.items():
        (folder / name).write_text(text)
    program = folder / "checks_test"
    subprocess.run(["g++-12", "-std=c++20", "-w", "-O0", f"-I{folder}", f"-I{HERE}/runtime", "-include", HERE / "runtime/mutate.h",
                    folder / "checks.cc", "-o", program, "-Wl,--whole-archive", os.environ["ONNXAR_MUTATION_SAMPLE"],
                    "-Wl,--no-whole-archive", "-lgtest_main", "-lgtest", "-pthread"], check=True)
    return program


class MutationTest(unittest.TestCase):
    """One build for all tests."""

    made: Instrumented
    outcomes: dict[int, Outcome]

    @classmethod
    def setUpClass(cls) -> None:
        cls.made = instrument(SAMPLE, [SAMPLE / "checks.h", SAMPLE / "checks.cc"], [f"-I{SAMPLE}"])
        with tempfile.TemporaryDirectory() as folder:
            program = build(cls.made, pathlib.Path(folder))
            sites = pathlib.Path(folder) / "sites"
            record(program, sites, "NoTest.*")
            tests = read_record(program, sites)
            cls.outcomes = run_mutants([site.number for site in cls.made.sites], tests, lambda _: [str(program)], 2,
                                       lambda *_: None)

    def site(self, function: str, text: str, changed: str) -> Site:
        found = [each for each in self.made.sites if (each.function, each.text, each.changed) == (function, text, changed)]
        self.assertEqual(len(found), 1, (function, text, changed))
        return found[0]

    def test_each_mutant_ends_as_the_sample_says(self) -> None:
        for case, function, text, changed, outcome in OUTCOMES:
            with self.subTest(case):
                self.assertEqual(self.outcomes[self.site(function, text, changed).number].what, outcome)

    def test_macros_and_constant_expressions_are_excluded(self) -> None:
        self.assertFalse([site for site in self.made.sites if "%" in site.text or "11" in site.text])
        self.assertIn("macro", self.made.excluded["checks.cc"])
        self.assertIn("constant", self.made.excluded["checks.h"])

    def test_reasons_belong_to_texts_and_not_to_lines(self) -> None:
        site = self.site("larger", "a < b", "a <= b")
        reason = Reason("checks.cc", "larger", "a < b", "a <= b", "equal values: either is the larger one")
        self.assertEqual(why(site, [reason]), reason.reason)
        gone = Reason("checks.cc", "larger", "a > b", "a >= b", "the text of this site is not in the file")
        self.assertEqual(unused([reason, gone], self.made.sites), [gone])

    def test_the_reasons_of_the_project_can_be_read(self) -> None:
        self.assertIsInstance(load(HERE / "reasons.toml"), list)


if __name__ == "__main__":
    unittest.main()

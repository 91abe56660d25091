"""docs/platforms.md is as new as src/os and the tests that it covers, and `./dev platforms` notices what it should."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import judge
import page
import running
import targets
from judge import Skip
from running import Outcome
from targets import PLATFORMS

PASSED, FAILED, SKIPPED = Outcome("passed"), Outcome("failed", "1 is not 2"), Outcome("skipped", "no such disk")
RAN = {f"zip.Suite.Case{number}": PASSED for number in range(40)}
ROW = page.Row("`linux-s390x`", "Linux", "GCC", "yes", "qemu", "10", "0", "1", "0123456789ab")


class Page(unittest.TestCase):
    @unittest.skipUnless(page.PAGE.exists(), "docs/platforms.md was not measured yet; ./dev platforms writes it")
    def test_it_is_as_new_as_the_sources_and_has_every_platform(self):
        self.assertEqual(page.faults(), [], "./dev platforms measures anew")

    def test_a_row_is_read_as_it_was_written(self):
        self.assertEqual(page.rows_of(f"# Page\n\n{page.table({'linux-s390x': ROW})}\n"), {"linux-s390x": ROW})

    def test_the_state_covers_the_seam_and_its_tests(self):
        files = {str(file.relative_to(page.ROOT)) for file in page.covered()}
        self.assertLessEqual({"src/os/file.h", "src/os/posix/file.cc", "src/os/darwin/file.cc", "tests/os/file_test.cc",
                              "tests/cli/pack_options_test.py", "cmake/toolchains/zig.cmake"}, files)

    def test_each_list_of_skips_is_that_of_a_platform(self):
        known = {name for platform in PLATFORMS for name in platform.lists}
        self.assertLessEqual({file.stem for file in page.SKIPPED.iterdir()}, known)


class Judge(unittest.TestCase):
    def faults(self, outcomes, *skips):
        return judge.judge({**RAN, **outcomes}, list(skips)).faults

    def test_all_passed(self):
        verdict = judge.judge(RAN, [])
        self.assertEqual((verdict.passed, verdict.failed, verdict.skipped, verdict.faults), (40, 0, 0, []))

    def test_a_failed_test_is_a_fault(self):
        self.assertEqual(self.faults({"os.A.b": FAILED}), ["os.A.b: failed: 1 is not 2"])

    def test_a_skipped_test_has_to_be_listed(self):
        self.assertEqual(self.faults({"os.A.b": SKIPPED}), ["os.A.b: skipped, but not listed (no such disk)"])
        self.assertEqual(self.faults({"os.A.b": SKIPPED}, Skip("os.A.*", "no disk")), [])

    def test_a_listed_test_that_runs_is_a_fault(self):
        self.assertEqual(self.faults({"os.A.b": PASSED}, Skip("os.A.b", "no disk")), ["os.A.b: listed as skipped, but it runs"])

    def test_a_list_names_tests_that_exist_and_reasons(self):
        self.assertEqual(self.faults({}, Skip("os.A.b", "no disk")), ["os.A.b: listed, but there is no such test"])
        self.assertEqual(self.faults({"os.A.b": SKIPPED}, Skip("os.A.b", "")), ["os.A.b: the list gives no reason"])

    def test_fewer_than_95_of_100_tests_are_a_fault(self):
        few = {f"os.A.b{number}": SKIPPED for number in range(3)}
        self.assertEqual(self.faults(few, Skip("os.A.*", "no disk")), ["only 40 of 43 tests ran"])
        self.assertEqual(self.faults(dict(list(few.items())[:2]), Skip("os.A.*", "no disk")), [])

    def test_a_case_that_was_not_built_is_skipped(self):
        outcomes = judge.with_absent({"os.Each/A.b/7": PASSED}, {"os.A.b", "os.A.c"})
        self.assertEqual({name: outcome.what for name, outcome in outcomes.items()}, {"os.Each/A.b/7": "passed", "os.A.c": "skipped"})

    def test_tests_of_windows_are_expected_there_alone(self):
        of_windows = judge.expected(next(each for each in PLATFORMS if each.name == "windows-x86_64"))
        self.assertGreater(of_windows - judge.expected(PLATFORMS[0]), set())
        self.assertLessEqual(judge.expected(PLATFORMS[0]), of_windows)

    def test_the_sources_name_their_cases(self):
        names = judge.expected(PLATFORMS[0])
        self.assertIn("cli.undo_test.", "".join(sorted(names)))
        self.assertGreater(len([name for name in names if name.startswith("zip.")]), 300)
        self.assertGreater(len([name for name in names if name.startswith("cli.")]), 500)


class Junit(unittest.TestCase):
    def read(self, cases):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "os.xml"
            file.write_text(f'<testsuites><testsuite name="A">{cases}</testsuite></testsuites>')
            return running.read_junit("os", file)

    def test_each_outcome_is_known(self):
        found = self.read('<testcase name="b" classname="A" status="run" result="completed"/>'
                          '<testcase name="c" classname="A" status="run" result="skipped"><skipped message="here:1&#10;no disk"/></testcase>'
                          '<testcase name="d" classname="A" status="run" result="completed"><failure message="bad"/></testcase>')
        self.assertEqual(found, {"os.A.b": PASSED, "os.A.c": Outcome("skipped", "no disk"), "os.A.d": Outcome("failed", "bad")})


# Like a program of GoogleTest with two suites, of which B ends the process before any result is written.
CRASHING = """#!/bin/sh
case $* in
  *--gtest_list_tests*) printf 'A.\\n  b\\nB.\\n  c\\nOfFilesSlow.\\n  d\\n' ;;
  *--gtest_filter=A.\\**) echo '<testsuites><testsuite><testcase name="b" classname="A"/></testsuite></testsuites>' > "${2#--gtest_output=xml:}" ;;
  *) exit 134 ;;
esac
"""


class Crash(unittest.TestCase):
    def test_only_the_suite_that_ends_the_program_fails(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(targets, "BUILD", Path(folder)):
            program = PLATFORMS[0].folder / "build/tests/os_test"
            program.parent.mkdir(parents=True)
            program.write_text(CRASHING)
            program.chmod(0o755)
            found = running.Runner(PLATFORMS[0]).gtest("os")
        self.assertEqual(found, {"os.A.b": PASSED, "os.B.(the program)": Outcome("failed", "ended with 134")})


if __name__ == "__main__":
    unittest.main()

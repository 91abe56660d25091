"""docs/platforms.md is what was measured, and `./dev platforms` notices what it should."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import judge
import measured
import page
import parts
import running
import targets
from judge import Skip
from measured import Record
from parts import Part
from running import Outcome
from targets import PLATFORMS, ROOT

PASSED, FAILED, SKIPPED = Outcome("passed"), Outcome("failed", "1 is not 2"), Outcome("skipped", "no such disk")
BY_NAME = {platform.name: platform for platform in PLATFORMS}
GCC, WINDOWS, MACOS = PLATFORMS[0], BY_NAME["windows-x86_64"], BY_NAME["macos-arm64"]


class Page(unittest.TestCase):
    def test_it_is_what_was_measured_and_no_test_failed(self):
        self.assertTrue(page.is_current(), "./dev platforms --page writes it anew")
        failed = [name for platform in PLATFORMS for record in measured.read(platform).values() for name in record.failed]
        self.assertEqual(failed, [])

    def test_each_list_of_skips_is_that_of_a_platform(self):
        known = {name for platform in PLATFORMS for name in platform.lists}
        self.assertLessEqual({file.stem for file in page.SKIPPED.iterdir()}, known)


class Parts(unittest.TestCase):
    def sources(self, platform, name):
        found = next(part for part in parts.parts_of(platform) if part.name == name)
        return {str(file.relative_to(ROOT)) for file in found.sources}

    def test_folder_depends_on_os_and_what_tests_share(self):
        found = self.sources(GCC, "os")
        self.assertLessEqual({"src/os/file.h", "src/os/posix/file.cc", "tools/onnxar/os/process.h",
                              "tests/os/file_test.cc", "tests/support/temp_dir.cc"}, found)
        self.assertEqual([file for file in found if file.startswith(("tests/zip", "tests/cli")) or "windows/" in file], [])

    # Indirect imports count as well.
    def test_python_file_depends_on_what_it_imports(self):
        found = {file for file in self.sources(GCC, "cli.link_test") if file.startswith("tests/")}
        self.assertLessEqual({"tests/cli/link_test.py", "tests/support/command_line.py", "tests/support/zoo_external.py"}, found)
        self.assertNotIn("tests/support/terminal.py", found)

    def test_the_program_in_c_is_a_source_of_its_test(self):
        self.assertLessEqual({"tests/c/program.c", "tests/c/program_test.py"}, self.sources(GCC, "c.program_test"))

    def test_platform_depends_on_its_system_and_toolchain(self):
        found = [file for file in self.sources(MACOS, "build") if file.startswith("cmake/")]
        self.assertEqual(sorted(found), ["cmake/toolchains/macos-arm64.cmake", "cmake/toolchains/zig.cmake"])
        self.assertIn("src/os/posix/file.cc", self.sources(MACOS, "build"))
        self.assertIn("src/os/windows/file.cc", self.sources(WINDOWS, "onnx"))
        self.assertNotIn("src/os/posix/file.cc", self.sources(WINDOWS, "onnx"))

    def test_the_state_is_another_when_a_source_changes(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder, mock.patch.object(Part, "sources", {Path(folder) / "a.cc"}):
            states = []
            for content in ("1", "1", "2"):
                (Path(folder) / "a.cc").write_text(content)
                states.append(Part(GCC, "os").state)
        self.assertEqual([states[0] == state for state in states], [True, True, False])

    def test_the_sources_name_their_cases(self):
        names = parts.all_cases(parts.parts_of(GCC))
        self.assertIn("cli.undo_test.", "".join(sorted(names)))
        self.assertGreater(len([name for name in names if name.startswith("zip.")]), 230)
        self.assertGreater(len([name for name in names if name.startswith("cli.")]), 500)

    def test_windows_tests_are_expected_only_there(self):
        of_windows, of_linux = (parts.all_cases(parts.parts_of(platform)) for platform in (WINDOWS, GCC))
        self.assertGreater(of_windows - of_linux, set())
        self.assertLessEqual(of_linux - {name for name in of_linux if name.startswith("c.")}, of_windows)


class Measured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(measured, "MEASURED", Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)
        self.records = {part.name: Record(part.state, 3, [], ["zip.A.b"]) for part in parts.parts_of(GCC)}

    def test_it_is_read_as_it_was_written_one_part_a_line(self):
        measured.write(GCC, self.records)
        self.assertEqual(measured.read(GCC), self.records)
        self.assertEqual(len((measured.MEASURED / f"{GCC.name}.json").read_text().splitlines()), len(self.records) + 2)

    def test_parts_without_a_current_measurement_are_old(self):
        self.assertEqual(measured.old_parts(GCC, self.records), [])
        self.records["zip"] = self.records["zip"]._replace(state="0123456789ab")
        del self.records["onnx"]
        self.assertEqual([part.name for part in measured.old_parts(GCC, self.records)], ["zip", "onnx"])

    # Such parts are not old.
    def test_parts_with_failed_tests_are_due(self):
        self.records["zip"] = self.records["zip"]._replace(failed=["zip.A.b"])
        self.assertEqual([part.name for part in measured.due_parts(GCC, self.records)], ["zip"])
        self.assertEqual(measured.old_parts(GCC, self.records), [])

    def test_old_parts_and_an_old_page_are_faults(self):
        self.records["zip"] = self.records["zip"]._replace(state="0123456789ab")
        measured.write(GCC, self.records)
        found = page.faults((GCC,))
        self.assertIn(f"{GCC.name}: src/os or tests changed since the measurement of: zip", found)
        self.assertIn("platforms.md is not what was measured", found)

    def test_a_row_has_the_sums_of_the_parts(self):
        measured.write(GCC, self.records)
        count = len(self.records)
        self.assertTrue(page.row(GCC).endswith(f"|yes|this machine|{3 * count}|0|{count}|\n"), page.row(GCC))
        del self.records["zip"]
        measured.write(GCC, self.records)
        self.assertIn(f"|in part|this machine|{3 * count - 3}|", page.row(GCC))
        self.assertTrue(page.row(MACOS).endswith("|no|not run||||\n"), page.row(MACOS))

    def test_a_case_that_was_not_built_is_skipped(self):
        outcomes = measured.with_absent({"os.Each/A.b/7": PASSED, "os.A.d": FAILED}, {"os.A.b", "os.A.c", "os.A.d"})
        self.assertEqual(measured.record_of("0", outcomes), Record("0", 1, ["os.A.d"], ["os.A.c"]))


class Judge(unittest.TestCase):
    def faults(self, *skips, failed=(), skipped=(), ran=40):
        names = {f"os.A.run{number}" for number in range(ran - len(failed))} | set(failed) | set(skipped)
        return judge.judge({"os": Record("0", ran - len(failed), list(failed), list(skipped))}, list(skips), names).faults

    def test_all_passed(self):
        self.assertEqual(self.faults(), [])

    def test_a_failed_test_is_a_fault(self):
        self.assertEqual(self.faults(failed=["os.A.b"]), ["os.A.b: failed"])

    def test_a_skipped_test_has_to_be_listed(self):
        self.assertEqual(self.faults(skipped=["os.A.b"]), ["os.A.b: skipped, but not listed"])
        self.assertEqual(self.faults(Skip("os.A.b*", "no disk"), skipped=["os.A.b"]), [])

    def test_a_listed_test_that_runs_is_a_fault(self):
        self.assertEqual(self.faults(Skip("os.A.run7", "no disk")), ["os.A.run7: listed as skipped, but it runs"])

    def test_list_names_only_skipped_tests_with_reasons(self):
        self.assertEqual(self.faults(Skip("os.A.b", "no disk")), ["os.A.b: listed, but no such test is skipped"])
        self.assertEqual(self.faults(Skip("os.A.b", ""), skipped=["os.A.b"]), ["os.A.b: the list gives no reason"])

    def test_fewer_than_95_of_100_tests_are_a_fault(self):
        few = [f"os.A.b{number}" for number in range(3)]
        self.assertEqual(self.faults(Skip("os.A.b*", "no disk"), skipped=few), ["only 40 of 43 tests ran"])
        self.assertEqual(self.faults(Skip("os.A.b*", "no disk"), skipped=few[:2]), [])


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
            program = GCC.folder / "build/tests/os_test"
            program.parent.mkdir(parents=True)
            program.write_text(CRASHING)
            program.chmod(0o755)
            found = running.Runner(GCC).gtest("os")
        self.assertEqual(found, {"os.A.b": PASSED, "os.B.(the program)": Outcome("failed", "ended with 134")})


if __name__ == "__main__":
    unittest.main()

"""The vectors of the specification, read by builds for Windows and for a big-endian processor. `./dev platforms` tests all of these."""

import dataclasses
import shutil
import unittest

from build import Failed, build
from running import Runner
from targets import PLATFORMS, Platform

LEAST = 100  # vectors, so that a runner that finds none does not pass
COMMANDS = {
    "linux-s390x": ("s390x-linux-gnu-g++-12", "qemu-s390x"),
    "windows-x86_64": ("x86_64-w64-mingw32-g++-posix", "ld.lld-19", "llvm-ar-19", "wine"),
}


class Vectors(unittest.TestCase):
    def platform(self, name: str) -> Platform:
        missing = [command for command in COMMANDS[name] if shutil.which(command) is None]
        if missing:
            self.skipTest(f"{' and '.join(missing)} are missing; ./dev verify installs them")
        found = next(platform for platform in PLATFORMS if platform.name == name)
        return dataclasses.replace(found, protobuf=False)  # the vectors need none

    def expect_all_right(self, name: str) -> None:
        platform = self.platform(name)
        log = platform.folder / "fast.log"
        log.unlink(missing_ok=True)
        try:
            build(platform, ["conformance_test"], log)
        except Failed as failure:
            self.fail(f"{failure}:\n{log.read_text(errors='replace')[-4000:]}")
        runner = Runner(platform)
        with runner.session():
            outcomes = runner.gtest("conformance")
        self.assertEqual({case: outcome for case, outcome in outcomes.items() if outcome.what == "failed"}, {})
        self.assertGreater(len([each for each in outcomes.values() if each.what == "passed"]), LEAST)

    def test_on_a_big_endian_processor(self) -> None:
        self.expect_all_right("linux-s390x")

    def test_on_windows(self) -> None:
        self.expect_all_right("windows-x86_64")


if __name__ == "__main__":
    unittest.main()

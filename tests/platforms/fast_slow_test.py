"""The vectors of the specification, read by a build for a big-endian processor; and the core, compiled for Windows. `./dev platforms` runs
the tests of all platforms, on Windows, too."""

import dataclasses
import shutil
import unittest

from build import Failed, build
from running import Runner
from targets import PLATFORMS, Platform

LEAST = 100  # vectors, so that a runner that finds none does not pass
COMMANDS = {
    "linux-s390x": ("s390x-linux-gnu-g++-12", "qemu-s390x"),
    "windows-x86_64": ("x86_64-w64-mingw32-g++-posix", "ld.lld-19", "llvm-ar-19"),
}


class Vectors(unittest.TestCase):
    def platform(self, name: str) -> Platform:
        missing = [command for command in COMMANDS[name] if shutil.which(command) is None]
        if missing:
            self.skipTest(f"{' and '.join(missing)} are missing; ./dev verify installs them")
        found = next(platform for platform in PLATFORMS if platform.name == name)
        return dataclasses.replace(found, protobuf=False)  # the vectors need none

    def build(self, platform: Platform, target: str) -> None:
        log = platform.folder / "fast.log"
        log.unlink(missing_ok=True)
        try:
            build(platform, [target], log)
        except Failed as failure:
            self.fail(f"{failure}:\n{log.read_text(errors='replace')[-4000:]}")

    def test_vectors_on_a_big_endian_processor(self) -> None:
        platform = self.platform("linux-s390x")
        self.build(platform, "conformance_test")
        runner = Runner(platform)
        with runner.session():
            outcomes = runner.gtest("conformance")
        self.assertEqual({case: outcome for case, outcome in outcomes.items() if outcome.what == "failed"}, {})
        self.assertGreater(len([each for each in outcomes.values() if each.what == "passed"]), LEAST)

    def test_core_compiles_for_windows(self) -> None:
        self.build(self.platform("windows-x86_64"), "onnxar_core")


if __name__ == "__main__":
    unittest.main()

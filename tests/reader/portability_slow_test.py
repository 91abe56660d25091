"""The reader compiles without a warning for many systems, and the test that a release ships with it passes.

Usage: PYTHONPATH=tests portability_slow_test.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

READER = Path(__file__).resolve().parents[2] / "reader"
SOURCE = READER / "onnxar_reader.c"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LANGUAGES = [["-std=c99"], ["-std=c17"], *(["-x", "c++", f"-std=c++{year}"] for year in (11, 14, 17, 20))]
OPTIONS = [], ["-DOAR_NO_MMAP"], ["-DOAR_NO_STDIO"]
# Debian's headers for 64 bits serve for 32, too, apart from one that has the same text for all programs but must be there.
HEADERS_OF_32 = ["-m32", "-isystem", "{stubs}", "-isystem", "/usr/include/x86_64-linux-gnu"]
COMPILERS = {
    "GCC": ["gcc-12"],
    "Clang": ["clang-19"],
    "GCC, 32 bits": ["gcc-12", *HEADERS_OF_32],
    "Clang, 32 bits": ["clang-19", *HEADERS_OF_32],
    "GCC, s390x": ["s390x-linux-gnu-gcc-12"],
    "Clang, s390x": ["clang-19", "--target=s390x-linux-gnu"],
    "GCC, Windows": ["x86_64-w64-mingw32-gcc-posix"],
    "Clang, Windows": ["clang-19", "--target=x86_64-w64-windows-gnu"],
    "Clang, Windows, 32 bits": ["clang-19", "--target=i686-w64-windows-gnu", "-isystem", "/usr/share/mingw-w64/include"],
}


class Warnings(unittest.TestCase):
    def setUp(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "gnu").mkdir()
        (folder / "gnu/stubs-32.h").touch()
        self.compilers = {name: [word.format(stubs=folder) for word in words] for name, words in COMPILERS.items()}

    def compile(self, *words: str) -> None:
        done = subprocess.run([*words, *WARNINGS, SOURCE, "-o", os.devnull], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_in_no_language(self) -> None:
        for name in ("GCC", "Clang"):
            for language in LANGUAGES:
                with self.subTest(f"{name} {language}"):
                    self.compile(*self.compilers[name], *language, "-fsyntax-only")

    def test_for_no_system(self) -> None:
        for name, compiler in self.compilers.items():
            for options in OPTIONS:
                with self.subTest(f"{name} {options}"):
                    self.compile(*compiler, "-std=c99", *options, "-fsyntax-only")

    def test_in_optimised_code(self) -> None:
        """Some faults, such as values that are not set, are seen only there."""
        for name in ("GCC", "Clang", "GCC, s390x", "GCC, Windows"):
            with self.subTest(name):
                self.compile(*self.compilers[name], "-std=c99", "-O2", "-c")


class Shipped(unittest.TestCase):
    def test_the_vectors_are_read_as_stated(self) -> None:
        done = subprocess.run([sys.executable, "-B", READER / "test/run.py"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

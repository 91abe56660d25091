"""The language standards that the public headers compile with, and the error for older standards."""

import os
import subprocess
import unittest
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
HEADERS = [path for path in sorted((INCLUDE / "onnxar").glob("*.h")) if path.name not in ("onnxar_c.h", "onnxruntime.h")]


def first_error(header: Path, standard: str) -> str:
    """The first error of a source that includes the header; empty if it compiles."""
    language = "c" if standard.startswith("c9") else "c++"
    compiler = os.environ.get("CC") or "cc" if language == "c" else os.environ.get("CXX") or "c++"
    command = [compiler, "-x", language, f"-std={standard}", "-pedantic-errors", "-Wfatal-errors", "-fsyntax-only", f"-I{INCLUDE}", "-"]
    source = f'#include "onnxar/{header.name}"\n'
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if " error: " in line]
    return errors[0] if done.returncode else ""


class Standard(unittest.TestCase):
    def test_first_error_in_cxx17_says_cxx20_is_needed(self):
        self.assertGreater(len(HEADERS), 10)
        for header in HEADERS:
            with self.subTest(header=header.name):
                # GCC repeats the word #error, clang does not.
                self.assertIn("needs C++20", first_error(header, "c++17"))

    def test_same_program_compiles_in_cxx20(self):
        self.assertEqual(first_error(INCLUDE / "onnxar/version.h", "c++20"), "")

    def test_the_c_header_takes_c99_and_cxx11(self):
        for standard in ("c99", "c++11", "c++17"):
            with self.subTest(standard=standard):
                self.assertEqual(first_error(INCLUDE / "onnxar/onnxar_c.h", standard), "")


if __name__ == "__main__":
    unittest.main()

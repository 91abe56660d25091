"""The two files of the reader: their sizes, what they define, and the example on top.

Usage: PYTHONPATH=tests files_test.py
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.archives import Archive, linked, model_of, weights

PROJECT = Path(__file__).resolve().parents[2]
READER = PROJECT / "reader"
SOURCE, HEADER = READER / "onnxar_reader.c", READER / "onnxar_reader.h"
MOST_LINES, LONGEST_FUNCTION, MEDIAN_FUNCTION = 1830, 60, 12
COMPILER = os.environ.get("CC", "cc")
LIBRARY = {"errno.h", "fcntl.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/mman.h", "sys/stat.h", "unistd.h"}


def functions() -> list[int]:
    """How many lines each has."""
    lengths, begin = [], 0
    for number, line in enumerate(SOURCE.read_text().splitlines()):
        if re.match(r"(static|int|size_t|void|const) [^;=]*$", line):
            begin = number
        if line == "}":
            lengths.append(number - begin + 1)
        elif re.match(r"static [^=]*\) \{ .* \}$", line):
            lengths.append(1)
    return lengths


class Files(unittest.TestCase):
    def test_are_as_short_as_was_promised(self) -> None:
        lines = sum(len(path.read_text().splitlines()) for path in (SOURCE, HEADER))
        self.assertLessEqual(lines, MOST_LINES)

    def test_have_short_functions(self) -> None:
        lengths = sorted(functions())
        self.assertGreater(len(lengths), 90)
        self.assertLessEqual(lengths[-1], LONGEST_FUNCTION)
        self.assertLessEqual(lengths[len(lengths) // 2], MEDIAN_FUNCTION)

    def test_files_need_only_the_c_library(self) -> None:
        included = re.findall(r"#include <(.*)>", SOURCE.read_text())
        self.assertLessEqual(set(included), LIBRARY)

    def symbols(self) -> dict[str, str]:
        """What is defined, by name: how nm classes it."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "reader.o"
            subprocess.run([COMPILER, "-std=c99", "-fno-pic", "-c", SOURCE, "-o", out], check=True)
            listed = subprocess.run(["nm", "--defined-only", out], capture_output=True, text=True, check=True).stdout
        return {name: kind for _, kind, name in map(str.split, listed.splitlines())}

    def test_symbols_have_one_prefix_and_no_state(self) -> None:
        symbols = self.symbols()
        given = {name for name, kind in symbols.items() if kind.isupper()}
        declared = set(re.findall(r"\b(onnxar_reader_\w+)\(", HEADER.read_text()))
        self.assertEqual(given, declared)
        self.assertLessEqual(set(symbols.values()), set("tTr"), "code and constants alone")


class Example(unittest.TestCase):
    def program(self) -> str:
        """The one on top of the header."""
        lines = re.findall(r"^ \*   (.*)$| \*(?=\n)", HEADER.read_text(), re.MULTILINE)
        text = "\n".join(lines)
        return text[text.index("#include") : text.index("\n}", text.index("int main")) + 3]

    def test_lists_the_tensors_of_an_archive(self) -> None:
        entries = weights("a", "b", count=3)
        archive = Archive([*entries, model_of(linked("a", 3), linked("b", 3))])
        with tempfile.TemporaryDirectory() as folder:
            source, out, path = Path(folder) / "list.c", Path(folder) / "list", Path(folder) / "m.onnxar"
            source.write_text(self.program())
            path.write_bytes(archive.file)
            subprocess.run([COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{READER}", source, SOURCE, "-o", out], check=True)
            done = subprocess.run([out, path], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, r"^a: type 1, 12 bytes at 0x\w+\nb: type 1, 12 bytes at 0x\w+\n$")
            path.write_bytes(bytes(archive.file)[:-1])
            done = subprocess.run([out, path], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout[:15]), (1, "zip.end.missing"))


if __name__ == "__main__":
    unittest.main()

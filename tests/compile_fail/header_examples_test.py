"""Each public header begins with its purpose and an example, and the examples compile.

Usage: CXX=compiler [ONNXAR_GENERATED=folder of onnxar/onnx.pb.h] header_examples_test.py
"""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
GENERATED = os.environ.get("ONNXAR_GENERATED", "")
HEADERS = {path.relative_to(INCLUDE).as_posix(): path.read_text() for path in sorted(INCLUDE.rglob("*.h"))}
C_HEADER = "onnxar/onnxar_c.h"
# Their examples need headers of ONNX Runtime, and a class that protoc made; tests/interop compiles the functions.
LEFT_OUT = {"onnxar/onnxruntime.h", "onnxar/resolve.h"}

# What the examples take for granted. An example that declares one of these names hides it.
GIVEN = """\
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
template <typename... Values> void use(const Values&...) {}
extern const onnxar::Archive& archive;
extern const onnxar::Bytes bytes, model;
extern const onnxar::ByteSink sink;
extern const std::string tensor_name;
extern std::vector<std::byte> new_bytes;
struct MySource : onnxar::ByteSource {
  std::uint64_t size() const override { return 0; }
  void read(const onnxar::ByteSink&) const override {}
};
"""


def head(text: str) -> list[str]:
    """The lines of the comment on top, without the marks of a comment."""
    found = re.match(r"(?://[^\n]*\n)+|/\*.*?\*/", text, re.DOTALL)
    return [re.sub(r"^(//|/\*| \*)", "", line) for line in found[0].splitlines()] if found else []


def example(text: str) -> str:
    """The first lines that are indented by three or more, up to the next that are not."""
    found = re.search(r"(?:^ {3}[^\n]*\n)+", "\n".join(head(text)) + "\n", re.MULTILINE)
    return found[0] if found else ""


def compiled(names: list[str], given: str, language: str) -> str:
    """What the compiler says of the examples of these headers, each in its own function."""
    lines = [f'#include "{name}"' for name in names] + [given]
    for number, name in enumerate(names):
        lines.append(f'void example_{number}(void) {{\n#line 1 "{name}"\n{example(HEADERS[name])}}}')
    command = [os.environ["CXX"], "-x", language, "-std=c++20" if language == "c++" else "-std=c99", "-fsyntax-only", f"-I{INCLUDE}"]
    command += ["-isystem", GENERATED] if GENERATED else []
    return subprocess.run([*command, "-"], input="\n".join(lines), capture_output=True, text=True, check=False).stderr


class HeaderExamples(unittest.TestCase):
    def test_every_header_begins_with_purpose_and_example(self) -> None:
        self.assertGreater(len(HEADERS), 10)
        for name, text in HEADERS.items():
            with self.subTest(name):
                self.assertRegex(head(text)[0], r"^ [A-Z].*")
                self.assertRegex(example(text), r"[;}]")

    def test_the_examples_compile(self) -> None:
        names = [name for name in HEADERS if name not in {C_HEADER, *LEFT_OUT}]
        if not GENERATED:
            names = [name for name in names if "/model/" not in name]
        self.assertEqual(compiled(names, GIVEN, "c++"), "")

    def test_the_example_in_c_compiles(self) -> None:
        self.assertEqual(compiled([C_HEADER], "#include <stdio.h>", "c"), "")

    def test_an_example_with_a_fault_does_not_compile(self) -> None:
        HEADERS["onnxar/broken.h"] = "// A fault.\n//\n//   onnxar::Archive::open(1, 2, 3, 4);\n"
        self.addCleanup(HEADERS.pop, "onnxar/broken.h")
        found = compiled(["onnxar/archive.h", "onnxar/broken.h"], "void use(...);", "c++")
        self.assertIn("error", found)


if __name__ == "__main__":
    unittest.main()

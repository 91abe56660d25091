"""Sources that must not compile, because a view would outlive its owner, or a resource would be copied.

Each source is a namespace of one unit, so that the headers are parsed once. Every source has to get the compiler's error
about the function named here, so that a different mistake in it does not pass. The controls are the same code without the
faults, and get none.

Usage: CXX=compiler [ONNXAR_GENERATED=folder of onnxar/onnx.pb.h] compile_fail_test.py
"""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
GENERATED = os.environ.get("ONNXAR_GENERATED", "")
# The deleted function that each source calls.
CORE = {
    "archive_of_temporary_bytes": "open",
    "archive_of_temporary_editor": "archive",
    "borrow_of_temporary": "borrow",
    "bytes_of_moved_span": "bytes",
    "bytes_of_temporary": "bytes",
    "bytes_of_temporary_span": "bytes",
    "copy_of_archive": "Archive",
    "copy_of_editor": "ArchiveEditor",
    "copy_of_writer": "ArchiveWriter",
    "entries_of_temporary": "entries",
    "entry_of_temporary": "entry",
    "file_of_temporary": "file",
    "find_of_temporary": "find",
    "model_of_temporary": "model",
    "resolve_of_temporary": "resolve",
    "resolve_tensor_of_temporary": "resolve",
    "source_of_temporary": "SpanSource",
    "tensor_of_temporary_index": "find",
}
# These include the messages that protoc generated.
MODEL = {
    "bytes_of_payload": "bytes",
    "copy_of_model": "Model",
    "model_of_temporary_bytes": "load",
    "payload_of_temporary_tensor": "payload",
    "proto_of_temporary": "proto",
    "remarks_of_temporary": "remarks",
    "resolve_all_of_temporary": "resolve_all",
    "resolve_in_temporary": "resolve",
    "resolve_of_temporary_message": "resolve",
    "span_of_temporary": "span",
}
EXPLICIT = "range_of_pointer"  # an initializer list would call an explicit constructor
CONTROLS = {"control": CORE, "model_control": MODEL}


def unit_of(names: list[str]) -> str:
    """All sources, each in a namespace of its own, after all headers that they include."""
    headers = sorted({line for name in names for line in (HERE / f"{name}.cc").read_text().splitlines() if line.startswith("#include")})
    return "\n".join([*headers, *(f'namespace {name} {{\n#include "{HERE / name}.cc"\n}}' for name in names)]) + "\n"


def diagnostics_of(names: list[str]) -> dict[str, list[str]]:
    """The errors and warnings whose place is in a source, for each source; "" has those of other places."""
    compiler = os.environ["CXX"]
    command = [compiler, "-x", "c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", f"-I{INCLUDE}"]
    command += ["-ferror-limit=0"] if "clang" in Path(compiler).name else ["-fmax-errors=0"]
    if GENERATED:
        command += ["-isystem", GENERATED]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run([*command, "-"], input=unit_of(names), capture_output=True, text=True, check=False, env=environment)
    found: dict[str, list[str]] = {name: [] for name in ["", *names]}
    for file, message in re.findall(r"^([^\n:]+):\d+:\d+: ((?:fatal )?(?:error|warning): [^\n]*)", done.stderr, re.MULTILINE):
        name = Path(file).stem if Path(file).parent == HERE else ""
        found[name].append(message)
    return found


class MustNotCompile(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.expected = {**CORE, **(MODEL if GENERATED else {})}
        controls = [control for control, sources in CONTROLS.items() if sources.keys() <= cls.expected.keys()]
        cls.found = diagnostics_of([*cls.expected, EXPLICIT, *controls])
        cls.controls = controls

    def test_every_source_is_here(self) -> None:
        self.assertEqual({path.stem for path in HERE.glob("*.cc")}, {*CORE, *MODEL, EXPLICIT, *CONTROLS})

    def test_calls_of_deleted_functions_are_refused(self) -> None:
        # GCC: use of deleted function '...::model() ...'; clang: call to deleted member function 'model', and for a
        # constructor: functional-style cast from 'Archive' to 'TensorIndex' uses deleted function
        for name, function in self.expected.items():
            with self.subTest(name):
                self.assertRegex("\n".join(self.found[name]), rf"error: [^\n]*(deleted [^\n]*\b{function}\b|\b{function}\b[^\n]* deleted )")

    def test_explicit_constructor_refuses_initializer_list(self) -> None:
        self.assertRegex("\n".join(self.found[EXPLICIT]), r"error: [^\n]*explicit")

    def test_valid_code_compiles_without_a_warning(self) -> None:
        for control in self.controls:
            with self.subTest(control):
                self.assertEqual(self.found[control], [])

    def test_nothing_else_is_wrong(self) -> None:
        # GCC also shows which member, or which base, makes the class move-only.
        move_only = re.compile(r"deleted function '(std::unique_ptr|onnxar::EntryWriter::EntryWriter\(const )")
        self.assertEqual([each for each in self.found[""] if not move_only.search(each)], [])


if __name__ == "__main__":
    unittest.main()

"""The shape of the sources: a file begins with its purpose, has its helpers on top, and is not long, nor are its
functions; and no two units include each other, directly or through others."""

import ast
import collections
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
TS_IMPORT = re.compile(r"""^(?:import|export)\b[^;]*? from '\./(\w+)\.js';""", re.MULTILINE)
JAVA_TEXT = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\])'|"(?:\\.|[^"\\])*\"""", re.DOTALL)  # comments, characters and strings
PY_IMPORT = re.compile(r"^from onnxar(?:\.(\w+))? import ([^(\n]+|\([^)]*\))", re.MULTILINE)
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LONGEST_LINE = 120
FOLDERS = ("src", "include", "tools", "python/src")
# Everything that people read, with the suffixes that are read here.
ALL_FOLDERS = ("src", "include", "tools", "python", "tests", "spec", "bench", "examples", "reader", "js", "docs/tools")
SUFFIXES = {".c", ".cc", ".cmake", ".h", ".java", ".js", ".mjs", ".py", ".rs", ".ts"}
BUILT = {"dist", "node_modules", "target"}
# Files that may be long: the one header of C, the reader of two files, its copy in the crate.
LONG_BY_DESIGN = {"include/onnxar/onnxar_c.h", "reader/onnxar_reader.c", "reader/rust/c/onnxar_reader.c"}
# Programs that stand in reports to other projects as they are.
WITHOUT_PURPOSE = "tests/interop/readers/upstream_programs/"
# A sentence on the first line of a source; a header may need two lines.
PURPOSE = {".cc": re.compile(r"// [A-Z][^\n]*\.\n"), ".h": re.compile(r"(?://|/\*) [A-Z]")}
# What is not held to one sentence begins with a comment or a docstring.
OPENING_COMMENT = re.compile(r'(?:#![^\n]*\n)?(?://[/!]?|/\*\*?|# |""")(?:\n \*)?\s*[^\s/*#"][^\n]{9,}')
NO_FUNCTION = re.compile(
    r"(?:if|for|while|switch|else|do|try|catch|return|class|struct|namespace|enum|interface|using|typedef)\b|\[?[/#*@:(})]"
)
CONTINUES = re.compile(r"[,(=&|+?<\\]\s*(?://.*)?$")  # the end of a line whose expression or list goes on
BLOCK_BEGINS = re.compile(r"\{\s*(?://.*|/\*.*)?$")
ENDS = re.compile(r"[{;}]\s*(?://.*|/\*.*)?$")
OPENING = re.compile(r"^namespace (?:([^{\n]+) )?\{(?![^\n]*\}$)", re.MULTILINE)
DEFINED = re.compile(r"^(?!namespace|using|#|//|\}|\)| |template)\w[^\n]*[({]", re.MULTILINE)


def purpose_fault(path: str, text: str) -> str:
    """Says what is wrong with the first line of a file; empty if nothing is."""
    first = text.partition("\n")[0]
    if not PURPOSE[pathlib.PurePath(path).suffix].match(text):
        return "does not begin with a sentence that states its purpose"
    return f"has more than {LONGEST_LINE} characters in its first line" if len(first) > LONGEST_LINE else ""


def lacks_purpose(text: str) -> bool:
    """True if a file that is not held to one sentence does not begin with a comment."""
    return bool(text) and not OPENING_COMMENT.match(text)


def functions_in(text: str) -> dict[str, int]:
    """Maps the first line of each function of a formatted source in C, C++, Java, Rust or JavaScript to its number of lines,
    and to the largest number if functions share their first line. Members of classes may be indented by any width."""
    lines = text.split("\n")
    found: collections.Counter[str] = collections.Counter()
    for first, line in enumerate(lines):
        head = line.lstrip(" ")
        indent = line[: len(line) - len(head)]
        if "(" not in head or NO_FUNCTION.match(head) or (first > 0 and CONTINUES.search(lines[first - 1])):
            continue
        begin = next((i for i in range(first, len(lines)) if ENDS.search(lines[i])), first)
        if lines[begin].lstrip().startswith("}"):
            continue
        signature = "\n".join(lines[first : begin + 1])
        is_test = head.startswith("test(")  # JavaScript: the function is its last argument
        if BLOCK_BEGINS.search(lines[begin]) and (is_test or signature.count("(") == signature.count(")")):
            end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith(indent + "}")), len(lines) - 1)
            found[line] = max(found[line], end - first + 1)
    return found


def python_functions_in(text: str) -> dict[str, int]:
    """Maps each function of a Python module to its number of lines, without its docstring."""
    found: collections.Counter[str] = collections.Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            has_text = ast.get_docstring(node) is not None
            text_lines = node.body[0].end_lineno - node.body[0].lineno + 1 if has_text else 0
            found[node.name] = max(found[node.name], node.end_lineno - node.lineno + 1 - text_lines)
    return found


def namespace_fault(text: str) -> str:
    """Says what is wrong with the namespaces of a source: it has one, and on its top one without a name for helpers."""
    openings = list(OPENING.finditer(text))
    names = [match[1] for match in openings]
    if names.count(None) > 1:
        return "has a second namespace without a name: one on top has all helpers"
    if len(names) - names.count(None) > 1:
        return "has a second namespace: a file has one subject"
    before = text[openings[0].end() : openings[names.index(None)].start()] if None in names else ""
    return "defines something before the namespace without a name" if DEFINED.search(before) else ""


def unit_of(path: str) -> str:
    """A header and its source are one unit."""
    return re.sub(r"\.(?:h|cc)$", "", path)


def units(files: dict[str, str]) -> dict[str, set[str]]:
    """Maps each unit in `files`, a mapping of path (relative to src) to text, to the other units that it includes."""
    found: dict[str, set[str]] = {unit_of(path): set() for path in files}
    for path, text in files.items():
        found[unit_of(path)] |= {unit_of(include) for include in INCLUDE.findall(text)} & found.keys() - {unit_of(path)}
    return found


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """Returns a cycle: each unit includes the next one, and the last unit the first. Empty if no cycle exists."""
    left = {unit: set(targets) for unit, targets in graph.items()}
    while leaves := [unit for unit, targets in left.items() if not targets]:
        for unit in leaves:
            del left[unit]
        for targets in left.values():
            targets.difference_update(leaves)
    # Each remaining unit includes a remaining unit, so following includes must return to a visited unit.
    path: list[str] = []
    unit = min(left, default=None)
    while unit is not None and unit not in path:
        path.append(unit)
        unit = min(left[unit])
    return path[path.index(unit) :] if unit else []


def python_imports(text: str) -> set[str]:
    """Returns the modules that a module of the package imports when it is imported itself."""
    found = set()
    for module, names in PY_IMPORT.findall(text):
        found |= {module} if module else set(re.findall(r"\w+", names))
    return found


def java_uses(files: dict[str, str]) -> dict[str, set[str]]:
    """Maps each class of a package, by the text of its file, to the others that it names. Classes of one package need no import."""
    words = {name: set(re.findall(r"\w+", JAVA_TEXT.sub(" ", text))) for name, text in files.items()}
    return {name: files.keys() & found - {name} for name, found in words.items()}


class Shape(unittest.TestCase):
    def test_no_unit_includes_itself_through_others(self) -> None:
        files = {path.relative_to(ROOT / "src").as_posix(): path.read_text() for path in (ROOT / "src").rglob("*.[ch]*")}
        self.assertGreater(len(files), 150)
        self.assertEqual(cycle_in(units(files)), [])

    def test_no_js_module_imports_itself(self) -> None:
        files = {path.stem: path.read_text() for path in (ROOT / "js/src").glob("*.ts")}
        graph = {name: set(TS_IMPORT.findall(text)) for name, text in files.items()}
        self.assertGreater(sum(map(len, graph.values())), 80)
        self.assertEqual(cycle_in(graph), [])

    def test_no_python_module_imports_itself(self) -> None:
        files = {path.stem: path.read_text() for path in (ROOT / "python/onnxar").glob("*.py") if path.stem != "__init__"}
        graph = {name: python_imports(text) & files.keys() for name, text in files.items()}
        self.assertGreater(sum(map(len, graph.values())), 80)
        self.assertEqual(cycle_in(graph), [])

    def test_no_java_class_uses_itself(self) -> None:
        graph = java_uses({path.stem: path.read_text() for path in (ROOT / "reader/java/src/main").rglob("*.java")})
        self.assertGreater(sum(map(len, graph.values())), 40)
        self.assertEqual(cycle_in(graph), [])

    def test_no_file_is_long(self) -> None:
        long = {path for path, text in self.all_files() if len(text.splitlines()) > LONGEST_FILE}
        self.assertEqual(long, LONG_BY_DESIGN)

    def test_no_function_is_long(self) -> None:
        count, long = 0, []
        for path, text in self.all_files():
            functions = python_functions_in(text) if path.endswith(".py") else functions_in(text)
            count += len(functions)
            long += [f"{path}: {name.strip()}" for name, lines in functions.items() if lines > LONGEST_FUNCTION]
        self.assertGreater(count, 10_000)
        self.assertEqual(long, [])

    def test_every_file_begins_with_a_comment(self) -> None:
        missing = [path for path, text in self.all_files() if lacks_purpose(text) and not path.startswith(WITHOUT_PURPOSE)]
        self.assertEqual(missing, [])

    def test_every_python_module_states_its_purpose(self) -> None:
        for path in sorted((ROOT / "python/onnxar").glob("*.py")):
            self.assertRegex(path.read_text().partition("\n")[0], r'^"""[^"]{10,}\.(?:""")?$', path.name)

    def test_every_python_test_runs_as_a_program(self) -> None:
        paths = sorted(path for folder in ("tests", "python/tests") for path in (ROOT / folder).rglob("*_test.py"))
        self.assertGreater(len(paths), 150)
        for path in paths:
            self.assertRegex(path.read_text(), r'\nif __name__ == "__main__":\n(?:    .*\n|\n)*    .*\bmain\(', path.relative_to(ROOT))

    def test_every_file_states_its_purpose(self) -> None:
        for path, text in self.files():
            with self.subTest(path=path):
                self.assertEqual(purpose_fault(path, text), "")

    def test_sources_have_one_namespace_helpers_on_top(self) -> None:
        for path, text in self.files():
            if path.endswith(".cc"):
                with self.subTest(path=path):
                    self.assertEqual(namespace_fault(text), "")

    def files(self) -> list[tuple[str, str]]:
        paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in PURPOSE]
        self.assertGreater(len(paths), 400)
        return [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths]

    def all_files(self) -> list[tuple[str, str]]:
        paths = [path for folder in ALL_FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
        paths = [path for path in paths if path.suffix in SUFFIXES or path.name == "CMakeLists.txt"]
        relative = [path.relative_to(ROOT) for path in paths if path.is_file()]
        self.assertGreater(len(relative), 1200)
        return [(path.as_posix(), (ROOT / path).read_text()) for path in relative if not BUILT & set(path.parts)]

    def test_missing_comments_are_found(self) -> None:
        begins = ("// Reads zips.\n", "//! Reads zips.\n", "/* Reads zips. */\n", "/**\n * Reads zips.\n */\n", "# Reads zips.\n")
        for first in (*begins, '#!/usr/bin/env python3\n"""Reads zips."""\n', ""):
            self.assertFalse(lacks_purpose(first), first)
        for first in ("#include <a>\n", "import os\n", "\n// Reads zips.\n", "//\n\n", '"""Zips."""\n'):
            self.assertTrue(lacks_purpose(first), first)

    def test_lengths_of_functions_are_found(self) -> None:
        body = "  f();\n" * 5
        for begin in ("int f() {", "int f(int a,\n      int b) {", "TEST_F(A, B) {", "test('a', () => {"):
            self.assertEqual(list(functions_in(f"{begin}\n{body}}}\n").values()), [begin.count("\n") + 7], begin)
        member = "class A {\n  int f() const {\n" + "    g();\n" * 5 + "  }\n};\n"
        self.assertEqual(functions_in(member), {"  int f() const {": 7})
        self.assertEqual(functions_in(member + member.replace("    g();\n", "", 1)), {"  int f() const {": 7})
        rust = "impl A {\n    fn f(&self) {\n" + "        g();\n" * 5 + "    }\n}\n"
        self.assertEqual(functions_in(rust), {"    fn f(&self) {": 7})
        constructor = "A::A(int a)\n    : a_(a),\n      b_(b) {\n" + body + "}\n"
        self.assertEqual(functions_in(constructor), {"A::A(int a)": 9})
        for other in ("namespace a {\n", "describe('a', () => {\n", "  if (a) {\n", "int f();\nstruct A {\n"):  # groups of functions
            self.assertEqual(functions_in(other + body + "}\n"), {}, other)
        self.assertEqual(python_functions_in('def f():\n    """Says.\n\n    More."""\n    return 1\n'), {"f": 2})

    def test_missing_purposes_are_found(self) -> None:
        for first in ("// Reads zips.\n", "// Reads zips (APPNOTE 4.3).\n#include"):
            self.assertEqual(purpose_fault("src/x.cc", first), "")
        for first in ("#include <a>\n", "// reads zips.\n", "// Reads\n", "//\n// Reads zips.\n", "// R" + "a" * 120 + ".\n"):
            self.assertNotEqual(purpose_fault("src/x.cc", first), "", first)
        self.assertEqual(purpose_fault("src/x.h", "// Reads zips and\n// writes them.\n"), "")

    def test_further_namespaces_are_found(self) -> None:
        helpers, rest = "namespace {\n\nint f() {\n}\n\n}  // namespace\n\n", "int g() {\n}\n\n"
        begin, end = "namespace onnxar::zip {\n", "}  // namespace onnxar::zip\n"
        for body in (helpers + rest, rest, helpers):
            self.assertEqual(namespace_fault(begin + body + end), "")
        for body in (rest + helpers, helpers + rest + helpers, rest + end + begin + rest, "namespace base {\n" + rest + "}\n"):
            self.assertNotEqual(namespace_fault(begin + body + end), "", body)

    def test_cycles_are_found(self) -> None:
        files = {"a/x.h": '#include "b/y.h"', "b/y.h": "", "b/y.cc": '#include "c/z.h"', "c/z.h": '#include "a/x.h"'}
        self.assertEqual(sorted(cycle_in(units(files))), ["a/x", "b/y", "c/z"])
        del files["b/y.cc"]
        self.assertEqual(cycle_in(units(files)), [])
        java = {"A": "char quote = '\"'; int n = B.N; // C", "B": "/* A */ String name = \"A\";", "C": "A a;"}
        self.assertEqual(cycle_in(java_uses(java)), [])
        self.assertEqual(sorted(cycle_in(java_uses({**java, "B": "C c;"}))), ["A", "B", "C"])


if __name__ == "__main__":
    unittest.main()

"""The parts of a platform's tests: a room of GoogleTests, or a file of Python tests. Each is measured anew when what it depends on changed."""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from targets import ROOT, Platform, program_of

TESTS = ROOT / "tests"
SEAM = ("src/os", "tools/onnxar/os")  # Other sources are not among these: their change would make every part old.
COMPILED = {".cc", ".h", ".c"}
SYSTEMS = {"posix", "linux", "darwin", "windows"}  # names of folders, wherever a platform has sources of its own
CASE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Part:
    """The name is ROOM, or FOLDER.FILE_test of Python tests. A platform whose programs cannot run here has the part `build` alone."""

    platform: Platform
    name: str
    python: Path | None = None

    @property
    def targets(self) -> list[str]:
        if self.platform.only_built:
            return list(self.platform.only_built)
        if self.python is None:
            return [program_of(self.name)]
        return ["onnxar", *(self.platform.c_programs if self.python.parent.name == "c" else [])]

    @property
    def sources(self) -> set[Path]:
        """The files that the part depends on."""
        seam = compiled(self.platform, *SEAM) | toolchain(self.platform)
        if self.platform.only_built:
            return seam
        if self.python is None:
            return seam | compiled(self.platform, "tests/support", f"tests/{self.name}")
        return seam | with_imports(self.python) | (compiled(self.platform, "tests/c") if self.python.parent.name == "c" else set())

    @property
    def state(self) -> str:
        """The beginning of a SHA-256 of the sources."""
        state = hashlib.sha256()
        for file in sorted(self.sources):
            state.update(f"{file.relative_to(ROOT)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
        return state.hexdigest()[:12]

    @property
    def cases(self) -> set[str]:
        """Their names, from the sources alone: a case that a build leaves out must not go unnoticed."""
        if self.platform.only_built:
            return set()
        return set().union(*map(cases_in_cpp, cpp_tests(self.platform, self.name))) if self.python is None else cases_in_python(self.python)


def parts_of(platform: Platform) -> list[Part]:
    if platform.only_built:
        return [Part(platform, "build")]
    files = [file for file in sorted((TESTS / "cli").glob("*_test.py")) if not file.stem.endswith(("_slow_test", "_large_test"))]
    files += [TESTS / "c/program_test.py"] if platform.has_c else []
    return [*(Part(platform, room) for room in platform.rooms), *(Part(platform, f"{file.parent.name}.{file.stem}", file) for file in files)]


def compiled(platform: Platform, *folders: str) -> set[Path]:
    foreign = SYSTEMS - set(platform.systems)
    files = (file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in COMPILED)
    return {file for file in files if foreign.isdisjoint(file.relative_to(ROOT).parts)}


def toolchain(platform: Platform) -> set[Path]:
    """The platform's file for CMake, and what that includes."""
    own = platform.toolchain
    return {own, *(file for file in own.parent.glob("*.cmake") if f"/{file.name})" in own.read_text())} if own else set()


@functools.cache
def imports(file: Path) -> set[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    paths = (TESTS / f"{name.replace('.', '/')}.py" for name in names)
    return {path for path in paths if path.is_file()}


def with_imports(file: Path) -> set[Path]:
    """The file, and all files of tests/ that it needs."""
    found, new = set(), {file}
    while new:
        found |= new
        new = set().union(*map(imports, new)) - found
    return found


def model_header() -> re.Pattern[str]:
    """By which tests/CMakeLists.txt knows the tests that need protobuf."""
    found = re.search(r'set\(model_header "(.*)"\)', (TESTS / "CMakeLists.txt").read_text())
    assert found is not None
    return re.compile(r'^#include "(' + found[1].replace('\\"', '"').replace("\\\\", "\\") + ")", re.MULTILINE)


def cpp_tests(platform: Platform, room: str) -> list[Path]:
    """The files of tests in C++. Those of POSIX systems are also tests of Windows, which lists what it skips."""
    model = model_header()
    return [file for file in sorted((TESTS / room).glob("*_test.cc")) if (platform.protobuf or not model.search(file.read_text()))
            and (platform.is_windows or not file.stem.endswith("windows_test"))]


@functools.cache
def cases_in_cpp(file: Path) -> set[str]:
    return {f"{file.parent.name}.{suite}.{case}" for suite, case in CASE.findall(file.read_text()) if not suite.endswith("Slow")}


def suites_of(platform: Platform, room: str) -> set[str]:
    return {case.split(".")[1] for file in cpp_tests(platform, room) for case in cases_in_cpp(file)}


@functools.cache
def cases_in_python(file: Path) -> set[str]:
    classes = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]
    return {f"{file.parent.name}.{file.stem}.{each.name}.{method.name}" for each in classes for method in each.body
            if isinstance(method, ast.FunctionDef) and method.name.startswith("test")}


def all_cases(parts: Iterable[Part]) -> set[str]:
    return set().union(*(part.cases for part in parts))

"""Projects contain the library by FetchContent from a source archive, offline, and without protobuf, tests, tools or its install rules.

Where clang has libc++, the project is built with both: libc++ lacks parts of C++20 that libstdc++ has, such as std::jthread."""

import os
import re
import shutil
import subprocess
import tarfile
import unittest
from pathlib import Path

from support.command_line import FolderCase

from libcxx_test import compiler_with_libcxx

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Path(__file__).with_name("subproject")
CMAKE = os.environ.get("CMAKE", "cmake")
# Packages of parts that a containing project does not build; it need not have them.
NEEDED = ("CMakeLists.txt", "cmake", "include", "src")  # of a source archive, for the parts that are built here
NOT_NEEDED = ("Protobuf", "GTest", "benchmark", "CLI11", "nlohmann_json", "nanobind", "Python")


def run(*command: object, **environment: object) -> str:
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=variables)
    if done.returncode:
        raise AssertionError(f"{command}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Subproject(FolderCase):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        self.archive = self.folder / "onnxar.tar.gz"
        with tarfile.open(self.archive, "w:gz", compresslevel=1) as archive:
            for name in NEEDED:
                archive.add(ROOT / name, f"onnxar/{name}")

    def built(self, *options: str) -> None:
        """Configures and builds the whole project, with joined sources and without optimisation, to save time."""
        disabled = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in NOT_NEEDED]
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={path}" for path in [shutil.which("ccache")] if path]
        joined = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=100"]
        offline = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")  # any download would fail
        if clang := compiler_with_libcxx():
            options += (f"-DCMAKE_CXX_COMPILER={clang}", "-DCMAKE_CXX_FLAGS=-stdlib=libc++")
        run(CMAKE, "-S", PROJECT, "-B", self.build, f"-DONNXAR_ARCHIVE={self.archive}", *disabled, *launcher, *joined, *options, **offline)
        # Without these two, ccache would see different sources in each temporary folder.
        run(CMAKE, "--build", self.build, "--parallel", "2", CCACHE_BASEDIR=self.folder, CCACHE_NOHASHDIR=1)

    def files_of_the_build(self, pattern: str) -> set[str]:
        return {path.name for path in self.build.rglob(pattern)}

    # It contains the C interface on request.
    def test_project_contains_the_library(self):
        self.built()
        run(self.build / "program", self.folder / "a.onnxar")
        self.assertEqual(self.files_of_the_build("libonnxar*"), {"libonnxar_core.a", "libonnxar_runtime.a"})
        run(CMAKE, "--install", self.build, "--prefix", self.folder / "prefix")
        installed = {path.name for path in (self.folder / "prefix").rglob("*") if path.is_file()}
        self.assertEqual(installed, {"program"})
        self.built("-DONNXAR_BUILD_C=ON")
        run(self.build / "program", self.folder / "b.onnxar")
        run(self.build / "c_program", self.folder / "b.onnxar")
        self.assertIn("libonnxar_c.so", self.files_of_the_build("libonnxar*"))

    def test_the_page_shows_the_lines_of_this_project(self):
        block = (ROOT / "docs/install.md").read_text().split("```cmake\n")[1].split("```")[0]
        lines = re.sub(r"\$\{CMAKE_SOURCE_DIR\}/onnxar-[\d.]+\.tar\.gz", "${ONNXAR_ARCHIVE}", block)
        self.assertEqual(lines.count("\n"), 4)
        self.assertIn(lines, (PROJECT / "CMakeLists.txt").read_text())


if __name__ == "__main__":
    unittest.main()

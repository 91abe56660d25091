"""Projects contain the library by add_subdirectory or FetchContent, without protobuf, tests, tools or its install rules."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Path(__file__).with_name("subproject")
CMAKE = os.environ.get("CMAKE", "cmake")
# Packages of parts that a containing project does not build; it need not have them.
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

    def built(self, *options: str) -> None:
        """Configures and builds the whole project, with joined sources and without optimisation, to save time."""
        disabled = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in NOT_NEEDED]
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={path}" for path in [shutil.which("ccache")] if path]
        joined = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=100"]
        run(CMAKE, "-S", PROJECT, "-B", self.build, f"-DONNXAR_SOURCE={ROOT}", *disabled, *launcher, *joined, *options)
        # Without these two, ccache would see different sources in each temporary folder.
        run(CMAKE, "--build", self.build, "--parallel", "2", CCACHE_BASEDIR=self.folder, CCACHE_NOHASHDIR=1)

    def files_of_the_build(self, pattern: str) -> set[str]:
        return {path.name for path in self.build.rglob(pattern)}

    def test_a_project_contains_it_and_adds_the_c_interface_on_request(self):
        self.built()
        run(self.build / "program", self.folder / "a.onnxar")
        self.assertEqual(self.files_of_the_build("libonnxar*"), {"libonnxar_core.a"})
        run(CMAKE, "--install", self.build, "--prefix", self.folder / "prefix")
        installed = {path.name for path in (self.folder / "prefix").rglob("*") if path.is_file()}
        self.assertEqual(installed, {"program"})
        self.built("-DBY_FETCH_CONTENT=ON", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
        run(self.build / "program", self.folder / "b.onnxar")
        run(self.build / "c_program", self.folder / "b.onnxar")
        self.assertIn("libonnxar_c.so", self.files_of_the_build("libonnxar*"))


if __name__ == "__main__":
    unittest.main()

"""The recipes of packaging/ agree with CMake: libraries, what is installed, dependencies, options, versions."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
import recipes
import versions

SOURCES = (ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake")), *sorted(ROOT.glob("*/CMakeLists.txt")))
CMAKE = "".join(path.read_text() for path in SOURCES)
DEPENDENCIES = (ROOT / "cmake/OnnxarDependencies.cmake").read_text()
PROJECT = (ROOT / "pyproject.toml").read_text()

# What CMake looks for, and its name in each index. ISA-L is only taken where the index has it for all systems.
NAMES = {
    "ZLIB": {"debian": "zlib1g-dev", "conan": "zlib", "conda": "zlib", "vcpkg": "zlib", "homebrew": "zlib"},
    "CURL": {"conda": "libcurl", "homebrew": "curl"},  # loaded at run time
    "Protobuf": {"debian": "libprotobuf-dev", "conan": "protobuf", "conda": "libprotobuf", "vcpkg": "protobuf", "homebrew": "protobuf"},
    "CLI11": {"debian": "libcli11-dev", "conda": "cli11", "vcpkg": "cli11", "homebrew": "cli11"},
    "nlohmann_json": {"debian": "nlohmann-json3-dev", "conda": "nlohmann_json", "vcpkg": "nlohmann-json", "homebrew": "nlohmann-json"},
    "ISAL": {"debian": "libisal-dev"},
    "Python": {"debian": "python3-dev", "conda": "python"},
}
FOR_TESTS = {"GTest", "benchmark", "Threads"}
TOOLS = {
    "debian": {"cmake", "debhelper-compat", "dh-sequence-python3", "ninja-build", "protobuf-compiler"},
    "conan": {"cmake"},
    "conda": {"cmake", "ninja", "nanobind", "pip", "scikit-build-core", "numpy"},
    "vcpkg": {"vcpkg-cmake", "vcpkg-cmake-config"},
    "homebrew": {"cmake", "ninja", "pkgconf"},
}


def package_names(text: str) -> set[str]:
    """The names of conda's lists, without those of Jinja and of test files."""
    return set(re.findall(r"^ +- ([a-z][a-z0-9_-]*)(?: [=<>]=?[\d.]+)?$", text, re.MULTILINE))


class Recipes(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.known = recipes.values(self.write("onnxar-source.tar.gz", b"source"))
        self.filled = self.folder / "filled"
        recipes.fill(self.filled, self.known)

    def text(self, file: str) -> str:
        return (self.filled / file).read_text(encoding="utf-8")

    def stanzas(self) -> list[str]:
        return self.text("debian/control").strip().split("\n\n")

    def dependencies(self) -> dict[str, set[str]]:
        control = re.sub(r"\([^)]*\)|\[[^]]*\]", "", self.stanzas()[0])
        conan = self.text("conan/all/conanfile.py")
        requirements = re.findall(r"(?s)    requirements:\n(.*?)    (?:tests|  run_exports):", self.text("conda/recipe.yaml"))
        vcpkg = json.loads(self.text("vcpkg/onnxar/vcpkg.json"))
        entries = [*vcpkg["dependencies"], *(each for feature in vcpkg["features"].values() for each in feature.get("dependencies", []))]
        return {
            "debian": {each.strip() for each in re.findall(r"(?s)Build-Depends:(.*?)\n[A-Z]", control)[0].split(",")},
            "conan": set(re.findall(r'requires\("([a-z0-9-]+)/', conan)),
            "conda": {name for part in requirements for name in package_names(part)},
            "vcpkg": {each if isinstance(each, str) else each["name"] for each in entries},
            "homebrew": set(re.findall(r'(?:depends_on|uses_from_macos) "([a-z0-9-]+)"', self.text("homebrew/onnxar.rb"))),
        }

    def test_recipes_have_no_placeholder_and_no_version(self) -> None:
        for path in recipes.RECIPES.rglob("*"):
            if path.is_file() and path.name != "README.md":
                self.assertNotIn(versions.library_version(), path.read_text(encoding="utf-8"), path)
        for path in self.filled.rglob("*"):
            self.assertNotRegex(path.name, recipes.PLACEHOLDER)
            if path.is_file():
                self.assertNotRegex(path.read_text(encoding="utf-8"), recipes.PLACEHOLDER, path)
        self.assertFalse((self.filled / "README.md").exists())

    def test_unknown_placeholder_is_refused(self) -> None:
        self.write("wrong/conan/config.yml", b"@VERSOIN@")
        with self.assertRaises(KeyError):
            recipes.fill(self.folder / "out", self.known, self.folder / "wrong")

    def test_the_readme_explains_every_word(self) -> None:
        explained = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (recipes.RECIPES / "README.md").read_text(encoding="utf-8")))
        self.assertLessEqual(set(self.known), explained)

    def test_every_shared_library_has_a_debian_package(self) -> None:
        self.assertIn("SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}",
                      CMAKE.replace("${cxx_soversion}", "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"))  # fmt: skip
        libraries = {*re.findall(r"^ *onnxar_library\((\w+) ", CMAKE, re.MULTILINE), "c"}
        self.assertEqual(libraries, {"core", "runtime", "remote", "model", "c"})
        packages = {re.findall(r"Package: (\S+)", stanza)[0] for stanza in self.stanzas()[1:]}
        wanted = {f"libonnxar-{name}{self.known['C_ABI' if name == 'c' else 'SOVERSION']}": name for name in libraries}
        self.assertEqual(packages, {*wanted, "libonnxar-dev", "onnxar", "python3-onnxar"})
        for package, name in wanted.items():
            self.assertEqual(self.text(f"debian/{package}.install").split(), [f"usr/lib/*/libonnxar_{name}.so.*"])
        self.assertEqual({path.stem for path in (self.filled / "debian").glob("*.install")}, packages)

    def test_debian_packages_hold_every_install_folder(self) -> None:
        places = {"CMAKE_INSTALL_INCLUDEDIR": "usr/include", "CMAKE_INSTALL_LIBDIR": "usr/lib/x86", "CMAKE_INSTALL_DATADIR": "usr/share",
                  "CMAKE_INSTALL_DOCDIR": "usr/share/doc/libonnxar-dev", "CMAKE_INSTALL_MANDIR": "usr/share/man",
                  "package_dir": "usr/lib/x86/cmake/onnxar"}  # fmt: skip
        patterns = [line.split()[0] for path in (self.filled / "debian").glob("*.install") for line in path.read_text().splitlines()]
        found = re.findall(r"(?:DESTINATION |onnxar_prints\()\$\{(\w+)\}(/[\w/-]*)?", CMAKE)
        self.assertGreater(len(found), 10)
        for variable, rest in found:
            if variable not in ("folder", "SKBUILD_SCRIPTS_DIR"):
                place = places[variable] + rest
                self.assertTrue(any(fnmatch.fnmatch(place, f"{pattern}*") or fnmatch.fnmatch(pattern, f"{place}/*") for pattern in patterns), place)

    def test_each_recipe_names_exactly_cmakes_dependencies(self) -> None:
        looked_for = set(re.findall(r"find_package\((\w+)", DEPENDENCIES + (ROOT / "cmake/OnnxarPython.cmake").read_text()))
        looked_for |= {"CLI11", "nlohmann_json"} & set(re.findall(r"\w+", DEPENDENCIES))
        self.assertEqual(looked_for - FOR_TESTS - set(NAMES), set())
        self.assertGreater(len(looked_for), 6)
        for index, named in self.dependencies().items():
            required = {names[index] for name, names in NAMES.items() if index in names and name in looked_for}
            self.assertLessEqual(required, named, index)
            known = {names[index] for names in NAMES.values() if index in names}
            self.assertEqual(named - known - TOOLS[index], set(), index)

    def test_debian_names_are_those_cmake_prints(self) -> None:
        told = set(re.findall(r'onnxar_lacks\([^"\s]+ "?([\w;-]+)"?', DEPENDENCIES)) - {"libgtest-dev;libgmock-dev"}
        told |= set(re.findall(r"(?:CLI11|nlohmann_json):([\w-]+)[ )]", DEPENDENCIES)) | {"python3-dev"}
        self.assertGreater(len(told), 4)
        self.assertLessEqual({name for each in told for name in each.split(";")} - {"libbenchmark-dev"}, self.dependencies()["debian"])

    def test_options_in_recipes_are_options_of_cmake(self) -> None:
        options = set(re.findall(r"(?:option|set)\((ONNXAR_\w+)", CMAKE))
        count = 0
        for path in self.filled.rglob("*"):
            for name in re.findall(r"\bONNXAR_(?!C_ABI|SHARED|OK)\w+", path.read_text(encoding="utf-8") if path.is_file() else ""):
                self.assertIn(name, options, path)
                count += 1
        self.assertGreater(count, 10)

    def test_versions_equal_cmake_and_the_python_package(self) -> None:
        cmake = re.findall(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text())[0]
        recipe = self.text("conda/recipe.yaml")
        self.assertEqual(set(re.findall(r"cmake (?:\(?>= ?|/\[>=)([\d.]+)", recipe + self.text("debian/control"))), {cmake})
        self.assertIn(f"cmake/[>={cmake} <5]", self.text("conan/all/conanfile.py"))
        for name in ("nanobind", "scikit-build-core"):
            self.assertEqual(re.findall(rf"{name} ==([\d.]+)", recipe), re.findall(rf'"{name}==([\d.]+)"', PROJECT))
        numpy = re.findall(r'"numpy>=([\d.]+)"', PROJECT)
        self.assertEqual(re.findall(r"numpy >=([\d.]+)", recipe), numpy)
        self.assertEqual(re.findall(r"Requires-Dist: numpy>=([\d.]+)", self.text("debian/METADATA")), numpy)

    def test_static_libraries_on_windows_link_its_own(self) -> None:
        linked = re.findall(r"PRIVATE (ntdll[\w ]*)\)", CMAKE)[0].split()
        self.assertIn(f"system_libs = {json.dumps(linked)}", self.text("conan/all/conanfile.py"))

    def test_programs_in_the_recipes_can_be_read(self) -> None:
        for path in self.filled.rglob("*.py"):
            compile(path.read_text(encoding="utf-8"), path, "exec")
        scripts = sorted(re.findall(r"[\w.]+", " ".join(re.findall(r"Tests: (.*)", self.text("debian/tests/control")))))
        self.assertEqual(scripts, sorted(path.name for path in (self.filled / "debian/tests").iterdir() if path.name != "control"))
        for name in scripts:
            self.assertTrue((self.filled / "debian/tests" / name).stat().st_mode & 0o100, name)
            subprocess.run(["sh", "-n", self.filled / "debian/tests" / name], check=True)

    def test_files_that_recipes_use_exist(self) -> None:
        text = "".join(path.read_text(encoding="utf-8") for path in self.filled.rglob("*") if path.is_file())
        used = set(re.findall(r"\b(?:spec|tests/install)/[\w/]+\.\w+", text))
        self.assertGreater(len(used), 2)
        for file in used:
            self.assertTrue((ROOT / file).is_file(), file)


class Source(FolderCase):
    def test_source_archives_are_equal_and_complete(self) -> None:
        first, second = (recipes.make_source(self.folder / name) for name in ("one", "two"))
        self.assertEqual(first.read_bytes(), second.read_bytes())
        listed = subprocess.run(["tar", "-tf", first], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        top = f"onnxar-{versions.library_version()}/"
        self.assertTrue(all(name.startswith(top) for name in listed))
        for file in ("CMakeLists.txt", "src/CMakeLists.txt", "proto/onnxar/onnx.proto", "spec/media-type/onnxar.xml", "LICENSE", "dev"):
            self.assertIn(top + file, listed)
        self.assertFalse([name for name in listed if name.startswith((top + "build/", top + ".git/"))])


if __name__ == "__main__":
    import unittest

    unittest.main()

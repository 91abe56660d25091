"""What CMake says where something that the build needs is missing. Nothing is compiled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
CMAKE = shutil.which(os.environ.get("CMAKE", "cmake"))
PACKAGES = {"ZLIB": "zlib1g-dev", "CLI11": "libcli11-dev", "nlohmann_json": "nlohmann-json3-dev",
            "Protobuf": "libprotobuf-dev protobuf-compiler", "GTest": "libgtest-dev libgmock-dev",
            "benchmark": "libbenchmark-dev"}  # fmt: skip


class Missing(FolderCase):
    def configured(self, *options: str, source: Path = ROOT, path: str | None = None) -> tuple[int, str]:
        """The exit code, and the words of CMake without its line breaks."""
        environment = {**os.environ, **({"PATH": path} if path else {}), "CXX": ""}
        done = subprocess.run([CMAKE, "-S", source, "-B", self.folder / "build", *options], check=False, capture_output=True, text=True,
                              env=environment)  # fmt: skip
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def without(self, *names: str) -> list[str]:
        return [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in names]

    def sources_with_a_bundled_zlib(self, content: bytes) -> Path:
        source = self.folder / "source"
        source.mkdir()
        for name in ("CMakeLists.txt", "cmake", "include", "src", "proto", "tools"):
            (source / name).symlink_to(ROOT / name)
        (source / "bundled").mkdir()
        (source / "bundled/zlib_1.2.13.dfsg.orig.tar.bz2").write_bytes(content)
        return source

    def test_all_missing_packages_are_named_at_once(self) -> None:
        code, text = self.configured("-DONNXAR_BUILD_BENCH=ON", *self.without(*PACKAGES))
        self.assertNotEqual(code, 0)
        self.assertIn("apt-get install " + " ".join(PACKAGES.values()), text)

    def test_what_a_build_does_not_need_is_not_asked_for(self) -> None:
        code, text = self.configured("-DONNXAR_BUILD_TESTS=OFF", "-DONNXAR_BUILD_TOOLS=OFF", "-DONNXAR_BUILD_MODEL=OFF",
                                     *self.without("CLI11", "nlohmann_json", "Protobuf", "GTest", "benchmark"))  # fmt: skip
        self.assertEqual(code, 0, text)

    def test_build_without_protobuf_warns_of_missing_verbs(self) -> None:
        code, text = self.configured("-DONNXAR_BUILD_TESTS=OFF", "-DONNXAR_BUILD_MODEL=AUTO", *self.without("Protobuf"))
        self.assertEqual(code, 0, text)
        warning = text[text.index("CMake Warning") :]
        for word in ("libprotobuf-dev protobuf-compiler", "`onnxar show`, `diff`, `dump`, `freeze`"):
            self.assertIn(word, warning)

    def test_without_a_compiler_its_package_is_named(self) -> None:
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "make").symlink_to(shutil.which("true") or "/bin/true")
        code, text = self.configured("-G", "Unix Makefiles", path=str(tools))
        self.assertNotEqual(code, 0)
        self.assertIn("needs a C++20 compiler, and none was found. On Debian and Ubuntu: apt-get install g++", text)

    def compiler_commands(self, *options: str) -> list[dict[str, str]]:
        core = ["-DONNXAR_BUILD_TESTS=OFF", "-DONNXAR_BUILD_TOOLS=OFF", "-DONNXAR_BUILD_MODEL=OFF"]
        code, text = self.configured(*core, *options)
        self.assertEqual(code, 0, text)
        found: list[dict[str, str]] = json.loads((self.folder / "build/compile_commands.json").read_text())
        return found

    def test_keeps_newer_standard_of_user(self) -> None:
        for given, taken in (("17", "20"), ("23", "23")):
            for each in self.compiler_commands(f"-DCMAKE_CXX_STANDARD={given}"):
                self.assertRegex(each["command"], rf"-std=c\+\+({taken}|2b) ")

    def test_joins_no_sources_under_sanitizers_of_user(self) -> None:
        joined = len(self.compiler_commands())
        self.assertGreater(len(self.compiler_commands("-DCMAKE_CXX_FLAGS=-fsanitize=address")), 5 * joined)

    def test_bundled_archive_with_a_wrong_hash_is_refused(self) -> None:
        source = self.sources_with_a_bundled_zlib(b"not zlib")
        code, text = self.configured("-DONNXAR_BUILD_TESTS=OFF", "-DONNXAR_BUILD_TOOLS=OFF", *self.without("ZLIB"), source=source)
        self.assertNotEqual(code, 0)
        self.assertIn("but cmake/bundled.txt says 71feb7947e3c", text)

    def test_bundled_build_names_the_missing_archive(self) -> None:
        code, text = self.configured("-DONNXAR_BUNDLED=ALL", "-DONNXAR_BUILD_TESTS=OFF")
        self.assertNotEqual(code, 0)
        self.assertIn("bundled/ has no archive of zlib", text)


if __name__ == "__main__":
    unittest.main()

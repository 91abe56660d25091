"""The lists of contents, and the archives that the programs of release/ write themselves."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import unittest
import zipfile
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
import artifact_checks
import older
import reader
import sbom
import sdist
import systems


class Contents(FolderCase):
    def names(self, file: str) -> set[str]:
        return {part["name"] for part in sbom.sbom(self.write(file, b"bytes"), "application")["components"]}

    def test_a_program_lists_the_libraries_of_its_system(self) -> None:
        always = {"zlib", "protobuf", "CLI11", "nlohmann_json", "libc++"}
        self.assertEqual(self.names("onnxar-linux-x86_64"), always)
        self.assertEqual(self.names("onnxar-linux-x86_64-static"), always | {"musl"})
        self.assertEqual(self.names("onnxar-windows-x86_64.exe"), always | {"mingw-w64"})

    def test_sources_and_libraries_list_their_parts(self) -> None:
        self.assertEqual(self.names("onnxar-0.9.0.tar.gz"), {"zlib", "protobuf", "CLI11", "nlohmann_json"})
        self.assertEqual(self.names("onnxar-0.9.0-linux-x86_64-libraries.tar.gz"), {"zlib"})
        for kind in ("reader", "source", "recipes"):
            self.assertEqual(self.names(f"onnxar-0.9.0-{kind}.tar.gz"), set())

    def test_list_has_the_hash_of_the_file_and_every_part(self) -> None:
        listed = sbom.sbom(self.write("onnxar-linux-x86_64", b"a program"), "application")
        main = listed["metadata"]["component"]
        self.assertEqual(main["hashes"], [{"alg": "SHA-256", "content": hashlib.sha256(b"a program").hexdigest()}])
        self.assertEqual(listed["dependencies"][0]["dependsOn"], [part["purl"] for part in listed["components"]])
        self.assertEqual(len({part["bom-ref"] for part in listed["components"]}), len(listed["components"]))

    def test_one_file_has_one_list(self) -> None:
        first = sbom.sbom(self.write("onnxar-linux-x86_64", b"1"), "application")
        self.assertEqual(first, sbom.sbom(self.write("onnxar-linux-x86_64", b"1"), "application"))
        self.assertNotEqual(first["serialNumber"], sbom.sbom(self.write("onnxar-linux-x86_64", b"2"), "application")["serialNumber"])

    def test_every_part_has_its_licence_in_the_tree(self) -> None:
        files = {path.stem for path in (ROOT / "cmake/licenses").iterdir()}
        self.assertEqual({"libcxx" if name == "libc++" else name for name in (*self.names("onnxar-linux-x86_64-static"),
                         *self.names("onnxar-windows-x86_64.exe"), "nanobind", "robin-map")}, files)  # fmt: skip


class Judged(FolderCase):
    def wheel(self, licences: set[str]) -> Path:
        wheel = self.folder / "onnxar-0.9.0-cp311-cp311-win_amd64.whl"
        with zipfile.ZipFile(wheel, "w") as made:
            for name in licences:
                made.writestr(f"onnxar-0.9.0.dist-info/licenses/{name}", "text")
        return wheel

    def test_wheel_without_a_licence_is_refused(self) -> None:
        every = {"LICENSE", *(f"licenses/{path.name}" for path in (ROOT / "cmake/licenses").iterdir())}
        artifact_checks.check_licences(self.wheel(every))
        for missing in every:
            with self.assertRaises(SystemExit):
                artifact_checks.check_licences(self.wheel(every - {missing}))

    # Its module or its command is for another system, or for none.
    def test_wheel_for_another_system_is_refused(self) -> None:
        def checked(platform: str, files: dict[str, bytes]) -> None:
            wheel = self.folder / "onnxar-0.9.0-cp312-abi3-any.whl"
            with zipfile.ZipFile(wheel, "w") as made:
                for name, data in {"onnxar/_core.pyi": b"", **files}.items():
                    made.writestr(name, data)
            artifact_checks.check_programs(wheel, platform)

        module, command = "onnxar/_core.abi3.so", "onnxar-0.9.0.data/scripts/onnxar"
        for platform, magic in (("musllinux_1_2_x86_64", b"\x7fELF"), ("macosx_11_0_arm64", b"\xcf\xfa\xed\xfe"), ("win_amd64", b"MZ")):
            good = {module: magic + b"...", command: magic + b"..."}
            checked(platform, good)
            for wrong in ({**good, module: bytes(4)}, {**good, command: b"#!/b"}, {module: magic}, {command: magic}):
                with self.assertRaises(SystemExit):
                    checked(platform, wrong)

    def test_tag_of_same_or_older_platform_suffices(self) -> None:
        self.assertTrue(artifact_checks.suffices("manylinux_2_28_x86_64", "manylinux_2_28_x86_64"))
        self.assertTrue(artifact_checks.suffices("manylinux_2_5_x86_64", "manylinux_2_28_x86_64"))
        for found in ("manylinux_2_29_x86_64", "manylinux_2_28_aarch64", "musllinux_1_2_x86_64", "linux_x86_64"):
            self.assertFalse(artifact_checks.suffices(found, "manylinux_2_28_x86_64"), found)

    def test_error_of_a_failed_tool_is_shown(self) -> None:
        with self.assertRaises(SystemExit) as ended:
            artifact_checks.output_of("zipfile", "-l", self.folder / "no_file")
        self.assertIn("no_file", str(ended.exception))


class Packed(FolderCase):
    # The times of the files differ.
    def test_equal_files_make_an_equal_archive(self) -> None:
        sums = []
        for number, name in enumerate(("one", "another")):
            for file in ("top/b", "top/a/c"):
                os.utime(self.write(f"{name}/{file}", b"bytes"), (number, number))
            sdist.packed(self.folder / name / "top", self.folder / f"{name}.tar.gz")
            sums.append((self.folder / f"{name}.tar.gz").read_bytes())
        self.assertEqual(sums[0], sums[1])


class Reader(FolderCase):
    def test_reader_archive_has_files_licence_and_vectors(self) -> None:
        top = self.folder / "reader"
        reader.fill(top)
        files = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file() and top / "vectors" not in path.parents}
        self.assertEqual(files, {"onnxar_reader.h", "onnxar_reader.c", "LICENSE", "test/run.py", "test/vectors.c"})
        rows = json.loads((top / "vectors/manifest.json").read_text())
        missing = {row["file"] for row in rows if not row.get("large") and not (top / "vectors" / row["file"]).is_file()}
        self.assertEqual(missing, set())


class Older(FolderCase):
    # It has another version, and one file more.
    def test_older_wheel_has_its_own_valid_record(self) -> None:
        wheel = self.folder / "onnxar-0.9.0-cp311-cp311-manylinux_2_28_x86_64.whl"
        with zipfile.ZipFile(wheel, "w") as made:
            made.writestr("onnxar/__init__.py", "__version__ = '0.9.0'\n")
            made.writestr("onnxar-0.9.0.data/scripts/onnxar", "command")
            made.writestr("onnxar-0.9.0.dist-info/METADATA", "Name: onnxar\nVersion: 0.9.0\n\ntext\n")
            made.writestr("onnxar-0.9.0.dist-info/RECORD", "")
        with zipfile.ZipFile(older.make(wheel, self.write("out/x", b"bytes").parent)) as read:
            names = set(read.namelist())
            self.assertEqual(names, {"onnxar/__init__.py", f"onnxar/{older.RELIC}", "onnxar-0.0.1.data/scripts/onnxar",
                                     "onnxar-0.0.1.dist-info/METADATA", "onnxar-0.0.1.dist-info/RECORD"})  # fmt: skip
            self.assertIn("\nVersion: 0.0.1\n", read.read("onnxar-0.0.1.dist-info/METADATA").decode())
            for line in read.read("onnxar-0.0.1.dist-info/RECORD").decode().splitlines():
                name, sum_, size = line.split(",")
                data = read.read(name)
                if size:
                    self.assertEqual(sum_, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="))
                names.remove(name)
        self.assertEqual(names, set())


class Systems(unittest.TestCase):
    def test_targets_have_toolchains_and_module_suffixes(self) -> None:
        for target in systems.TARGETS:
            self.assertTrue((ROOT / f"cmake/toolchains/{target.toolchain}.cmake").is_file(), target)
        linux, windows = systems.TARGETS[0], next(target for target in systems.TARGETS if target.windows)
        musl = next(target for target in systems.TARGETS if target.wheel.startswith("musllinux"))
        self.assertEqual([linux.suffix(abi) for abi in systems.ABIS],
                         [".cpython-310-x86_64-linux-gnu.so", ".cpython-311-x86_64-linux-gnu.so", ".abi3.so"])  # fmt: skip
        self.assertEqual([musl.suffix(abi) for abi in systems.ABIS],
                         [".cpython-310-x86_64-linux-gnu.so", ".cpython-311-x86_64-linux-musl.so", ".abi3.so"])  # fmt: skip
        self.assertEqual([windows.suffix(abi) for abi in systems.ABIS], [".cp310-win_amd64.pyd", ".cp311-win_amd64.pyd", ".pyd"])


if __name__ == "__main__":
    unittest.main()

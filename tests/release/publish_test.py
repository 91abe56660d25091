"""What `./dev release --publish --dry-run` checks itself can fail; the dry runs of npm, cargo and Maven are not repeated here."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import unittest.mock
import zipfile
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
import central
import public
import publish
import release
import sdist

VERSION = publish.VERSION
POM = ROOT / "reader/java/pom.xml"


def written(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


class PyPI(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        for name in publish.pypi_names():
            self.write(name, name.encode())
        self.describe(f"[the guide]({public.HOME}/blob/v{VERSION}/docs/index.md), [below](#models)")
        self.wheel = self.folder / f"onnxar-{VERSION}-cp312-abi3-win_amd64.whl"

    def describe(self, text: str) -> None:
        written(self.folder / f"onnxar-{VERSION}.tar.gz", {f"onnxar-{VERSION}/PKG-INFO": text.encode()})
        (self.folder / "SHA256SUMS").unlink(missing_ok=True)
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in self.folder.iterdir()]
        self.write("SHA256SUMS", "".join(sums).encode())

    def faults(self, good: bool = True) -> list[str]:
        with unittest.mock.patch.object(publish, "said", return_value=(good, "long_description has syntax errors")):
            return publish.pypi_faults(self.folder)

    def test_source_distribution_and_all_wheels_are_wanted(self) -> None:
        self.assertEqual(len(publish.pypi_names()), 16)
        self.assertEqual(self.faults(), [])
        self.wheel.unlink()
        self.assertEqual(self.faults(), [f"{self.wheel.name} is missing"])

    def test_foreign_wheel_is_found(self) -> None:
        self.wheel.rename(self.folder / "onnxar-0.0.1-cp312-abi3-win_amd64.whl")
        self.assertIn("onnxar-0.0.1-cp312-abi3-win_amd64.whl is of another version or system", self.faults())

    def test_changed_and_large_files_are_found(self) -> None:
        self.wheel.write_bytes(b"changed")
        self.assertEqual(self.faults(), [f"{self.wheel.name} differs from SHA256SUMS"])
        with unittest.mock.patch.dict(publish.LARGEST, PyPI=5):
            self.assertIn(f"{self.wheel.name} is too large for PyPI", self.faults())

    def test_relative_link_for_pypi_is_found(self) -> None:
        self.describe("[the guide](../docs/index.md)")
        self.assertEqual(self.faults(), ["the description for PyPI links to ../docs/index.md, which PyPI does not have"])

    def test_links_of_the_source_distribution_are_absolute(self) -> None:
        guide = (ROOT / "python/README.md").read_bytes()
        files = {f"onnxar-{VERSION}/{name}": guide for name in ("PKG-INFO", "python/README.md")}
        archive = written(self.folder / f"onnxar-{VERSION}.tar.gz", files)
        self.assertGreater(len(publish.sdist_faults(archive)), 10)
        with unittest.mock.patch.object(sdist, "WORK", self.folder / "work"):
            sdist.link_absolutely(archive)
        self.assertEqual(publish.sdist_faults(archive), [])
        with tarfile.open(archive) as opened:
            self.assertEqual({entry.name for entry in opened if entry.isfile()}, set(files))

    def test_fault_that_twine_finds_is_shown(self) -> None:
        self.assertEqual(self.faults(good=False), ["twine check failed:\nlong_description has syntax errors"])

    def test_release_of_another_tree_is_not_current(self) -> None:
        def packs(data: bytes) -> unittest.mock.Mock:
            return unittest.mock.patch.object(publish.recipes, "make_source", lambda place: self.put(place / "source.tar.gz", data))

        self.write("source.tar.gz", b"this tree")
        for data, wanted in ((b"this tree", True), (b"that tree", False)):
            with packs(data):
                self.assertEqual(publish.is_current(self.folder), wanted)
        self.assertFalse(publish.is_current(self.folder / "none"))

    def put(self, path: Path, data: bytes) -> Path:
        path.write_bytes(data)
        return path


class Packed(FolderCase):
    def test_npm_package_has_licence_and_all_exports(self) -> None:
        package = json.loads((ROOT / "js/package.json").read_text())
        exports = {name for each in package["exports"].values() if isinstance(each, dict) for name in each.values()}
        files = {f"package/{name.removeprefix('./')}": b"" for name in (*exports, "LICENSE", "README.md")}

        def faults(changed: dict[str, object] | None = None, without: str = "", text: str = "") -> list[str]:
            made = {**files, "package/package.json": json.dumps({**package, **(changed or {})}).encode()}
            return publish.npm_faults(written(self.folder / "p.tgz", {name: data for name, data in made.items() if name != without}), text)

        self.assertEqual(faults(), [])
        self.assertGreater(len(files), 10)
        for name in files:
            self.assertEqual(faults(without=name), [f"p.tgz lacks {name.removeprefix('package/')}"])
        self.assertIn("does not name the repository", faults({"repository": {"url": "git+https://github.com/x/y.git"}})[0])
        self.assertIn("npm corrects package.json", faults(text="npm warn publish npm auto-corrected some errors")[0])

    def test_crate_has_its_files_and_no_warning(self) -> None:
        names = ("LICENSE", "README.md", "Cargo.toml", "build.rs", "src/lib.rs", "c/onnxar_reader.c")
        files = {f"onnxar-{VERSION}/{name}": b"" for name in names}
        crate, good = self.folder / "a.crate", "    Packaged 18 files\nwarning: aborting upload due to dry run\n"
        self.assertEqual(publish.crate_faults(written(crate, files), good), [])
        for name in files:
            without = {other: data for other, data in files.items() if other != name}
            self.assertEqual(len(publish.crate_faults(written(crate, without), good)), 1)
        warned = publish.crate_faults(written(crate, files), "warning: manifest has no documentation, homepage or repository\n" + good)
        self.assertEqual(warned, ["warning: manifest has no documentation, homepage or repository"])
        with unittest.mock.patch.dict(publish.LARGEST, {"crates.io": 10}):
            self.assertEqual(publish.crate_faults(crate, good), ["a.crate is too large"])


    def test_failure_shows_the_first_error(self) -> None:
        said = "\x1b[1mScanning errors.js\x1b[m\n[ERROR] A.java:[3,1] class expected\n" + "[Help 1] read this\n" * 20
        self.assertEqual(publish.failure("mvn", said).splitlines()[:2], ["mvn failed:", "[ERROR] A.java:[3,1] class expected"])
        self.assertEqual(publish.failure("npm", "step\n" * 20 + "the end").splitlines(), ["npm failed:", *["step"] * 7, "the end"])

    def test_package_of_another_version_is_found(self) -> None:
        self.write("npm/onnxar-9.9.9.tgz", b"of an earlier run")

        def packs(name: str) -> publish.Found:
            def run(*words: object) -> tuple[bool, str]:
                (Path(str(words[-1])) / name).write_bytes(b"")
                return True, ""

            with unittest.mock.patch.multiple(publish, PLACE=self.folder, VERSION="9.9.9", said=run, npm_faults=lambda *_: []):
                return publish.npm()

        self.assertEqual(packs("onnxar-9.9.8.tgz").faults, ["what was packed is onnxar-9.9.8.tgz, expected onnxar-9.9.9.tgz"])
        self.assertEqual(packs("onnxar-9.9.9.tgz").faults, [])


class Central(FolderCase):
    def faults(self, text: str) -> list[str]:
        pom = self.folder / "pom.xml"
        pom.write_text(text)
        return central.pom_faults(pom, publish.GROUP, VERSION)

    def test_pom_has_what_central_requires(self) -> None:
        text = POM.read_text()
        self.assertEqual(self.faults(text), [])
        for path in central.REQUIRED[3:]:
            name = path.split("/")[0]
            begin, end = text.index(f"<{name}>"), text.index(f"</{name}>") + len(f"</{name}>")
            self.assertIn(f"pom.xml has no {path}", self.faults(text[:begin] + text[end:]))

    def test_other_coordinates_and_repositories_are_found(self) -> None:
        text = POM.read_text()
        self.assertIn(f"expected {publish.GROUP}:onnxar:{VERSION}", self.faults(text.replace(f"<version>{VERSION}<", "<version>1.0.0-SNAPSHOT<", 1))[0])
        self.assertIn("depends on a SNAPSHOT", self.faults(text.replace("<version>2.15.0<", "<version>2.15.0-SNAPSHOT<"))[0])
        self.assertIn("has repositories", self.faults(text.replace("  <build>", "  <repositories/>\n  <build>", 1))[0])

    def test_files_of_another_version_are_not_uploaded(self) -> None:
        self.write("central/io/onnxar-0.9.0.pom", b"of an earlier run")
        with unittest.mock.patch.multiple(publish, PLACE=self.folder, said=lambda *_, **__: (False, "")):
            publish.maven()
        self.assertEqual(list(self.folder.rglob("*.pom")), [])

    def test_jars_are_complete_and_laid_out_with_sums(self) -> None:
        for kind, name in central.KINDS.items():
            with zipfile.ZipFile(self.folder / f"onnxar-{VERSION}{kind}.jar", "w") as jar:
                jar.writestr(name, "text")
        self.assertEqual(central.jar_faults(self.folder, VERSION), [])
        files = central.lay_out(POM, self.folder, self.folder / "out", VERSION)
        self.assertEqual({path.suffix for path in files}, {".jar", ".pom"})
        self.assertEqual(len(list((self.folder / "out").iterdir())), 3 * len(files))
        for file in files:
            self.assertEqual(file.with_name(file.name + ".sha1").read_text(), hashlib.sha1(file.read_bytes()).hexdigest())
        for kind, name in central.KINDS.items():
            jar = self.folder / f"onnxar-{VERSION}{kind}.jar"
            zipfile.ZipFile(jar, "w").close()
            self.assertEqual(central.jar_faults(self.folder, VERSION), [f"{jar.name} lacks {name}"])
            jar.unlink()
            self.assertEqual(central.jar_faults(self.folder, VERSION), [f"{jar.name} was not built"])
            shutil.copy(self.folder / "out" / jar.name, jar)


class Tag(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        for module, name, value in ((release, "ROOT", self.folder), (release, "platform_faults", str), (public, "PUBLISHED", True), (public, "faults", list)):
            self.enterContext(unittest.mock.patch.object(module, name, value))
        self.commit("one")

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self, name: str) -> None:
        self.write(name, b"bytes")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", name)

    def test_clean_commit_can_get_the_tag_or_have_it(self) -> None:
        self.assertEqual(publish.tag_faults("v1.0.0"), [])
        self.git("tag", "-a", "-m", "text", "v1.0.0")
        self.assertEqual(publish.tag_faults("v1.0.0"), [])

    def test_tag_of_another_commit_is_found(self) -> None:
        self.git("tag", "v1.0.0")
        self.commit("two")
        self.assertIn("the tag v1.0.0 is there already", publish.tag_faults("v1.0.0")[0])

    def test_changed_files_and_old_pages_are_found(self) -> None:
        self.write("new", b"bytes")
        self.assertIn("?? new", publish.tag_faults("v1.0.0")[0])
        self.git("clean", "-fq")
        with unittest.mock.patch.object(public, "PUBLISHED", False):
            self.assertIn("the pages say that nothing is published", publish.tag_faults("v1.0.0")[0])
        with unittest.mock.patch.object(public, "faults", lambda: ["README.md is old"]):
            self.assertEqual(publish.tag_faults("v1.0.0"), ["README.md is old"])
        with unittest.mock.patch.object(release.versions, "faults", lambda: ["CHANGELOG.md: no version"]):
            self.assertEqual(publish.tag_faults("v1.0.0"), ["CHANGELOG.md: no version"])


class Command(unittest.TestCase):
    def run_with(self, *words: str, **parts: list[str]) -> tuple[object, str]:
        known = {name: (name, lambda faults=faults: publish.Found("a file", faults)) for name, faults in parts.items()}
        with contextlib.redirect_stdout(io.StringIO()) as said, unittest.mock.patch.object(sys, "argv", ["publish.py", *words]), \
             unittest.mock.patch.dict(publish.PARTS, known), self.assertRaises(SystemExit) as ended:  # fmt: skip
            publish.main()
        return ended.exception.code, said.getvalue()

    def test_nothing_is_uploaded_without_dry_run(self) -> None:
        code, said = self.run_with(npm=[])
        self.assertIn("Add --dry-run", str(code))
        self.assertEqual(said, "")
        self.assertIn("no part nmp", str(self.run_with("--dry-run", "nmp")[0]))

    def test_faults_are_listed_and_end_with_an_error(self) -> None:
        code, said = self.run_with("--dry-run", "npm", "maven", npm=[], maven=["pom.xml has no url\n" + "more\n" * 20])
        self.assertEqual(code, True)
        self.assertRegex(said, r"(?m)^npm +a file +yes$")
        self.assertRegex(said, r"(?m)^maven +a file +no$")
        self.assertIn("maven: pom.xml has no url\n    more", said)
        self.assertIn("and 12 more lines", said)
        self.assertEqual(self.run_with("--dry-run", "npm", npm=[])[0], False)

    def test_steps_name_each_account_and_existing_files(self) -> None:
        text = publish.report({})
        for name in ("GitHub", "PyPI", "npm", "crates.io", "Maven Central"):
            self.assertRegex(text, rf"(?m)^\d+\. {name}[:,]")
        workflow = (ROOT / ".github/workflows/release.yml").read_text()
        for name in ("pypi", "npm"):
            self.assertIn(f"environment: {name}\n", workflow)
            self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    unittest.main()

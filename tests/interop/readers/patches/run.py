"""Applies the patches of upstream/ to the releases that they are for, and runs the projects' own tests before and after, and the new ones.

Usage: run.py [NAME...]  (with the packages of requirements.txt; all output goes to build/upstream, remove it to begin anew)
ONNX Runtime is built in build/upstream/onnxruntime, or in the folder that ONNXRUNTIME_FOLDER names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
HERE = ROOT / "tests/interop/readers/patches"
sys.path.insert(0, str(HERE / "runtime"))
import build
import results

WORK = ROOT / "build" / "upstream"
PYTHON = Path(sys.executable)
JOBS = str(os.cpu_count())
MODELS = Path("/usr/share/libonnx-testdata/data")  # of onnx's backend tests
RELEASES = {"onnx": "onnx==1.23.2", "onnx_ir": "onnx-ir==1.1.0", "netron": "netron==9.3.3", "huggingface_js": "@huggingface/hub@2.17.5"}
NODE_PACKAGES = ("vitest@0.34.6", "typescript@5.8.3", "@types/node@22.20.7", "@types/cli-progress@3.11.6")  # as that repository has them
Rows = list[tuple[str, str, str]]


def run(*command: object, cwd: Path = WORK, check: bool = True, **environment: object) -> None:
    print("$", *command, flush=True)
    variables = os.environ | {key: str(value) for key, value in environment.items()}
    variables["PATH"] = f"{PYTHON.parent}:{variables['PATH']}"
    subprocess.run([str(each) for each in command], cwd=cwd, check=check, env=variables)


def unpack(project: str, binary: bool = False) -> Path:
    """The release of a project in a fresh folder; of one that is built, in the folder that has its objects."""
    downloads = WORK / "downloads" / project
    if not downloads.exists():
        kind = "--only-binary" if binary else "--no-binary"
        name = RELEASES[project].split("==")[0]
        run(PYTHON, "-m", "pip", "download", "-q", "--no-deps", kind, name, "-d", downloads, RELEASES[project])
    (archive,) = downloads.iterdir()
    folder = WORK / project
    shutil.rmtree(folder, ignore_errors=True)
    if binary:
        shutil.unpack_archive(archive, folder, "zip")
        return folder
    folder.mkdir()
    run("tar", "-xzf", archive, "-C", folder)
    return next(folder.iterdir())


def apply(project: str, folder: Path, *only: str) -> None:
    for patch in sorted((ROOT / "upstream" / project).glob("*.patch")):
        options = ("--whitespace=nowarn", "--exclude=docs/*", *only)  # a source distribution has no docs
        run("git", "apply", *options, patch, cwd=folder, GIT_CEILING_DIRECTORIES=folder.parent)


def outcomes(junit: Path) -> dict[str, str]:
    """What became of each test: passed, skipped or failed."""
    found = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        kinds = {child.tag for child in case}
        skipped = "skipped" in kinds or case.get("status") == "notrun"
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if skipped else "passed"
        found[f"{case.get('classname')}.{case.get('name')}"] = outcome
    return found


def count(found: dict[str, str]) -> str:
    return ", ".join(f"{list(found.values()).count(each)} {each}" for each in ("passed", "failed", "skipped") if each in found.values())


def compare(what: str, before: Path, after: Path, new: str) -> Rows:
    """Tests whose id has `new` in it are new. All others that passed before have to pass."""
    old, now = outcomes(before), outcomes(after)
    own = {name: outcome for name, outcome in now.items() if not re.search(new, name)}
    added = {name: outcome for name, outcome in now.items() if name not in own}
    lost = [name for name, outcome in old.items() if outcome == "passed" and own.get(name) != "passed"]
    verdict = "the same tests pass" if not lost else f"LOST: {', '.join(lost[:5])}"
    rows = [(what, "before", count(old)), (what, "after", f"{count(own)}: {verdict}")]
    if "failed" in added.values():
        verdict = "FAILED: " + ", ".join(name for name, outcome in added.items() if outcome == "failed")
    return [*rows, (what, "new", count(added) + ("" if "failed" not in added.values() else f": {verdict}"))]


def pytest(folder: Path, junit: Path, *arguments: object, **environment: object) -> None:
    common = ("-q", "-p", "no:cacheprovider", "--color=no", "-n", JOBS, "--junitxml", junit)
    run(PYTHON, "-m", "pytest", *common, *arguments, cwd=folder, check=False, **environment)


def onnx() -> Rows:
    """Both series, the second of which needs the first."""

    def build_and_test(stage: str) -> None:
        options = "-DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_USE_UNITY_BUILD=ON"  # as releases, optimised
        arguments = {"CMAKE_BUILD_PARALLEL_LEVEL": JOBS, "ONNX_BUILD_TESTS": "ON", "CMAKE_ARGS": options}
        run(PYTHON, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--force-reinstall", ".", cwd=folder, **arguments)
        tests = folder / ".setuptools-cmake-build" / "onnx_gtests"
        run(tests, "--gtest_brief=1", f"--gtest_output=xml:{WORK}/onnx_cpp_{stage}.xml", cwd=folder, check=False)
        pytest(folder / "tests" / "python", WORK / f"onnx_python_{stage}.xml", ".")

    if not (WORK / "onnx_python_before.xml").exists():
        folder = unpack("onnx")
        build_and_test("before")
    (folder,) = (WORK / "onnx").iterdir()
    if not (folder / "onnx" / "archive.py").exists():
        apply("onnx", folder)
        apply("onnx_checker", folder)
    build_and_test("after")
    rows = compare("onnx, Python", WORK / "onnx_python_before.xml", WORK / "onnx_python_after.xml", r"archive_(checker_)?test")
    return rows + compare("onnx, C++", WORK / "onnx_cpp_before.xml", WORK / "onnx_cpp_after.xml", r"CHECKER\.(Archive|ModelThatIsNot)")


def onnx_ir() -> Rows:
    """With onnx as its patches make it. The release has no tests: ONNX_IR_CHECKOUT names a checkout that has some."""
    checkout = os.environ.get("ONNX_IR_CHECKOUT")
    rows = [] if checkout else [("onnx_ir", "own tests", "not run: the release has none; ONNX_IR_CHECKOUT=FOLDER")]
    for stage in ("before", "after"):
        folder = unpack("onnx_ir")
        if stage == "after":
            apply("onnx_ir", folder)
        if checkout:
            tests = WORK / "onnx_ir_checkout"
            shutil.rmtree(tests, ignore_errors=True)
            shutil.copytree(checkout, tests)
            shutil.copytree(folder / "src" / "onnx_ir", tests / "src" / "onnx_ir", dirs_exist_ok=True)
            options = ("-o", "addopts=", "--continue-on-collection-errors", "src", "tests")
            pytest(tests, WORK / f"onnx_ir_{stage}.xml", *options, PYTHONPATH=tests / "src")
    if checkout:
        return compare("onnx_ir", WORK / "onnx_ir_before.xml", WORK / "onnx_ir_after.xml", "_io_archive_test")
    pytest(folder, WORK / "onnx_ir_new.xml", "src/onnx_ir/_io_archive_test.py", PYTHONPATH=folder / "src")
    return [*rows, ("onnx_ir", "new", count(outcomes(WORK / "onnx_ir_new.xml")))]


def netron() -> Rows:
    folder = unpack("netron", binary=True)
    (folder / "netron").rename(folder / "source")
    apply("netron", folder)
    run("npm", "install", "--silent", "--prefix", WORK / "node", "puppeteer-core@24.43.1")
    models = [WORK / "node" / name for name in ("model.onnxar", "renamed.onnx", "model.zip")]
    run(PYTHON, "-B", HERE / "netron_model.py", *models, PYTHONPATH=ROOT / "spec" / "rfc")
    screenshot = ROOT / "build" / "upstream" / "netron.png"
    run("node", HERE / "netron.mjs", folder / "source", screenshot, *models, cwd=WORK / "node")
    return [("Netron", "new", f"{len(models)} files opened in Chromium, with {len(models) * 2} tensors; {screenshot.relative_to(ROOT)}")]


def huggingface_js() -> Rows:
    """In the package of npm, which has the sources and tests of packages/hub. Tests that ask huggingface.co fail without it."""
    root = WORK / "huggingface_js"
    shutil.rmtree(root, ignore_errors=True)
    hub = root / "packages" / "hub"
    hub.mkdir(parents=True)
    run("npm", "pack", "--silent", RELEASES["huggingface_js"], cwd=root)
    (archive,) = root.glob("*.tgz")
    run("tar", "-xzf", archive, "--strip-components=1", "-C", hub)
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", *NODE_PACKAGES, cwd=hub)
    for stage in ("before", "after"):
        if stage == "after":
            apply("huggingface_js", root, "--include=packages/hub/src/*")
            run("npx", "tsc", "--noEmit", cwd=hub)
        run("npx", "vitest", "run", "--reporter=junit", f"--outputFile={WORK}/huggingface_js_{stage}.xml", cwd=hub, check=False)
    return compare("huggingface.js", WORK / "huggingface_js_before.xml", WORK / "huggingface_js_after.xml", "parse-onnx-metadata")


def onnxruntime() -> Rows:
    """Tests the new file of the change alone, then ONNX Runtime with the patches, which takes one to two hours."""
    rows = onnx_archive_alone()
    built = build.Build(Path(os.environ.get("ONNXRUNTIME_FOLDER", WORK / "onnxruntime")).absolute())
    built.run()
    before, after = (built.work / f"tests_{stage}.xml" for stage in ("before", "after"))
    rows += compare(f"ONNX Runtime {build.VERSION}", before, after, "OnnxArchiveTest")
    results.write(built, rows)
    return rows


def onnx_archive_alone() -> Rows:
    """Compiles the new file of the change, with the reader and protobuf, and compares what it makes with the vectors."""
    folder = WORK / "onnx_archive"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    patch = next((ROOT / "upstream" / "onnxruntime").glob("0001-*.patch"))
    run("git", "apply", "--include=*/core/graph/*", patch, cwd=folder, GIT_CEILING_DIRECTORIES=WORK)
    source, generated = folder / "onnxruntime", folder / "generated"
    (generated / "onnx").mkdir(parents=True)
    run(PYTHON, "-c", "import onnx, shutil, sys; shutil.copy(onnx.__path__[0] + '/onnx-ml.proto', sys.argv[1])", generated / "onnx")
    run("protoc", f"-I{generated}", f"--cpp_out={generated}", generated / "onnx" / "onnx-ml.proto")
    (generated / "onnx" / "onnx_pb.h").write_text('#include "onnx/onnx-ml.pb.h"\n')
    flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-DONNX_NAMESPACE=onnx", f"-I{source}", f"-I{generated}")
    sources = (source / "core" / "graph" / "onnx_archive.cc", HERE / "link_archive.cc", generated / "onnx" / "onnx-ml.pb.cc")
    run("g++", *flags, *sources, "-o", folder / "link_archive", "-lprotobuf", "-lpthread")
    run(PYTHON, "-B", HERE / "onnxruntime_archive.py", folder / "link_archive", PYTHONPATH=ROOT / "spec" / "rfc")
    with (folder / "models.json").open("w") as file:
        command = [str(word) for word in (PYTHON, "-B", HERE / "runtime" / "models.py", MODELS, folder / "link_archive")]
        subprocess.run(command, check=True, stdout=file, env=os.environ | {"PYTHONPATH": str(ROOT / "spec" / "rfc")})
    models = json.loads((folder / "models.json").read_text())
    said = ", ".join(f"{count} {kind}" for kind, count in models.items())
    return [("ONNX Runtime", "new", f"onnx_archive.cc alone: 4 passed; onnx's backend models as archives, in PyPI's release: {said}")]


PROJECTS = {each.__name__: each for each in (onnx, onnx_ir, netron, huggingface_js, onnxruntime)}


def main() -> int:
    names = sys.argv[1:] or list(PROJECTS)
    if unknown := set(names) - set(PROJECTS):
        sys.exit(f"there are no patches for {', '.join(unknown)}; there are for {', '.join(PROJECTS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    rows = [row for name in names for row in PROJECTS[name]()]
    print("\n|project|tests|result|\n|---|---|---|")
    for row in rows:
        print(f"|{'|'.join(row)}|")
    return int(any(re.search("LOST|FAILED|failed", row[2]) for row in rows if row[1] != "before"))


if __name__ == "__main__":
    sys.exit(main())

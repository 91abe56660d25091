"""Runs the wheel for aarch64 under qemu-user, with the Python of Debian 12 for that processor. Programs that this Python starts are replaced by scripts that start qemu again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pins import ROOT, WORK
from roots import DEBIAN
from sdist import DIST

NAME = "debian-12-aarch64"
PYTHON = "3.11"
TESTS = ("open_test", "consolidation_test", "load_test", "numpy_test", "save_test", "edit_test", "errors_test", "summary_test", "side_files_test")
LEFT_OUT = ("test_pages_are_read_ahead_where_asked_for",)  # qemu does not pass on MADV_POPULATE_READ
RUNNER = """
import sys, unittest
def single(suite):
    return [suite] if isinstance(suite, unittest.TestCase) else [each for part in suite for each in single(part)]
sys.executable, module, *left_out = sys.argv[1:]
chosen = [test for test in single(unittest.defaultTestLoader.loadTestsFromName(module)) if test.id().split(".")[-1] not in left_out]
sys.exit(not unittest.TextTestRunner().run(unittest.TestSuite(chosen)).wasSuccessful())
"""
NEEDED = ("numpy", "onnx", "onnx-ir", "ml_dtypes", "safetensors", "tqdm")
FOLDER = WORK / "roots" / NAME
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")


def logged(*command: object) -> None:
    with (FOLDER / "log").open("ab") as log:
        subprocess.run([str(word) for word in command], check=True, stdout=log, stderr=subprocess.STDOUT)


def unpacked_root() -> Path:
    """Unpacks Debian's packages for the processor without configuring them, which would run their programs."""
    root, packages = FOLDER / "root", FOLDER / "packages"
    shutil.rmtree(root, ignore_errors=True)
    packages.mkdir(parents=True, exist_ok=True)
    logged("debootstrap", "--foreign", "--arch=arm64", "--variant=minbase", "--include=python3", f"--cache-dir={packages}", "bookworm", root, DEBIAN)
    for package in sorted(root.glob("var/cache/apt/archives/*.deb")):
        logged("dpkg-deb", "-x", package, root)
    return root


def install(wheel: Path, target: Path) -> None:
    """Installs the wheel and what its tests need. pip chooses wheels by the platforms in its arguments."""
    shutil.rmtree(target, ignore_errors=True)
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    logged(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary=:all:", f"--python-version={PYTHON}", *platforms,
           "--target", target, wheel, *NEEDED)  # fmt: skip


def script(path: Path, *command: object) -> Path:
    path.write_text(f'#!/bin/sh\nexec {" ".join(map(str, command))} "$@"\n')
    path.chmod(0o755)
    return path


def run(root: Path, *command: object, packages: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(["qemu-aarch64", "-L", root, *map(str, command)], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT / "python/tests", env=environment)  # fmt: skip


def try_emulated(version: str) -> str:
    FOLDER.mkdir(parents=True, exist_ok=True)
    root, packages = unpacked_root(), FOLDER / "packages_of_python"
    (wheel,) = DIST.glob(f"onnxar-{version}-cp311-cp311-manylinux*_aarch64.whl")
    install(wheel, packages)
    command, python = packages / "bin/onnxar", root / f"usr/bin/python{PYTHON}"
    command = script(command, "qemu-aarch64", "-L", root, command.rename(command.with_name("onnxar.real")))
    started = script(FOLDER / "python", "qemu-aarch64", "-L", root, python)
    passed = 0
    for test in TESTS:
        done = run(root, python, "-c", RUNNER, started, test, *LEFT_OUT, packages=packages)
        if done.returncode != 0:
            sys.exit(f"emulated.py: {test} failed:\n{done.stdout[-6000:]}")
        passed += sum(int(number) for number in re.findall(r"^Ran (\d+) test", done.stdout, re.MULTILINE))
    return f"{NAME}, Python {PYTHON}, under qemu: {passed} tests passed"

"""Builds the command as one file: for Linux with glibc, static for any Linux, an .exe for Windows. Uses the unpacked source distribution.

Usage: python binaries.py [TARGET...] writes them to build/release_work/dist; --twice builds each again, in different folders, and compares
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from artifact_checks import check_sbom
from pins import ROOT, WORK
from sdist import DIST, commit_time, make_sdist, run, sdists, unpacked
from sbom import write_sbom
from systems import TARGETS, Target, cmake_settings, jobs, prepare_zig
from versions import library_version


def build_command(source: Path, target: Target, build: Path) -> Path:
    """Builds the command from `source` in `build`, and returns its path."""
    settings = {**cmake_settings(target, source, build), "ONNXAR_BUILD_PYTHON": "OFF", "ONNXAR_BUILD_TESTS": "OFF", "ONNXAR_BUILD_MODEL": "ON"}
    defines = [f"-D{name}={value}" for name, value in settings.items()]
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, *defines, SOURCE_DATE_EPOCH=commit_time())
    run("cmake", "--build", build, "--target", "onnxar", "-j", jobs(), SOURCE_DATE_EPOCH=commit_time())
    return build / "tools" / ("onnxar.exe" if target.windows else "onnxar")


def expect_to_run(target: Target, program: Path) -> None:
    """Checks that the command prints this version, and has protobuf inside. Does not run a program for Windows."""
    if target.windows:
        return
    emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"] if "aarch64" in target.toolchain else []
    if library_version() not in run(*emulator, program, "--version"):
        sys.exit(f"binaries.py: {program.name} does not say that it is {library_version()}")
    if "without it" in run(*emulator, program, "show", "--help"):
        sys.exit(f"binaries.py: {program.name} was built without protobuf")


def publish(target: Target, program: Path) -> Path:
    out = DIST / target.program
    shutil.copy2(program, out)
    return out


def same_twice(sdist: Path, target: Target, first: Path) -> None:
    """Builds the command again from and in folders of other names and lengths, without a cache. Ends the program if a byte differs."""
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory(prefix="a_folder_of_another_length_", dir=WORK) as folder:
        source = unpacked(sdist, Path(folder) / "sources")
        second = build_command(source, target, Path(folder) / "here")
        if first.read_bytes() != second.read_bytes():
            kept = first.with_name(first.name + ".second")
            shutil.copy2(second, kept)
            sys.exit(f"binaries.py: {first.name} differs if it is built again in a different folder: compare it with {kept}")
    print(f"{first.name}: built twice, the same bytes", flush=True)


def existing_sdist() -> Path:
    found = sdists()
    return found[0] if found else make_sdist()


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "--twice"]
    prepare_zig()
    sdist = existing_sdist()
    source = WORK / "source" / sdist.name.removesuffix(".tar.gz")
    if not source.exists():
        unpacked(sdist, WORK / "source")
    for target in TARGETS:
        if target.program and (not names or target.toolchain in names):
            print(f"==> {target.program}", flush=True)
            program = publish(target, build_command(source, target, target.build))
            expect_to_run(target, program)
            check_sbom(write_sbom(program, "application"))
            if "--twice" in sys.argv:
                same_twice(sdist, target, program)
            print(f"{program.relative_to(ROOT)}: {program.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"binaries.py: {error}\n{error.stdout or ''}")

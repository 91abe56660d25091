"""Builds the programs of a platform."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from targets import QEMU, ROOT, Platform, jobs

ENVIRONMENT = {**os.environ, "CCACHE_COMPILERCHECK": "content"}
ZIG = ROOT / "build/zig_venv/bin"  # `./dev` installs the package there

# Each library and program is joined into one source, since compiling takes most of the time.
JOINED = ("-GNinja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DCMAKE_UNITY_BUILD=ON",
          "-DCMAKE_UNITY_BUILD_BATCH_SIZE=100", "-DONNXAR_BUILD_BENCH=OFF")

# The text is the same in every folder and for every build of a version: ccache takes it for the compiler.
ZIG_SCRIPT = """#!/bin/sh
# {version}
here=$(dirname "$0")
ZIG_GLOBAL_CACHE_DIR="$here/../../platforms/zig_cache" exec "$here/../{zig}" {subcommand}"$@"
"""


class Failed(Exception):
    """A step of the build ended with an error, which is in the log."""


def logged(log: Path, *command: object) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    words = list(map(str, command))
    with log.open("ab") as file:
        file.write(f"$ {' '.join(words)}\n".encode())
        file.flush()
        if subprocess.run(words, check=False, stdout=file, stderr=subprocess.STDOUT, env=ENVIRONMENT).returncode != 0:
            raise Failed(f"{words[0]} {words[1]} failed, see {log.relative_to(ROOT)}")


def provide_zig() -> None:
    """Writes zig-clang and zig-clang++, programs of one word for `zig cc` and `zig c++`; ccache tells clang by the name."""
    found = sorted(ZIG.parent.glob("lib/python3*/site-packages/ziglang/zig"))
    if not found:
        sys.exit("platforms.py: no zig in build/zig_venv: start with ./dev platforms")
    version = (ROOT / "tests/platforms/requirements.txt").read_text().strip()
    for name, subcommand in (("zig", ""), ("zig-clang", "cc "), ("zig-clang++", "c++ ")):
        script = ZIG / name
        script.write_text(ZIG_SCRIPT.format(version=version, zig=found[0].relative_to(ZIG.parent), subcommand=subcommand))
        script.chmod(0o755)


def compiler(platform: Platform) -> list[str]:
    toolchain = [f"-DCMAKE_TOOLCHAIN_FILE={platform.toolchain}"] if platform.toolchain else []
    return [*toolchain, *platform.options]


def optimised(platform: Platform) -> str:
    """Programs that qemu translates run many times as long when they are not optimised; others are compiled in less time."""
    return f"-DCMAKE_CXX_FLAGS_DEBUG={'-O1' if platform.run_by == QEMU else '-O0'}"


def build(platform: Platform, targets: list[str], log: Path) -> None:
    """Raises Failed if a step fails."""
    if platform.by_zig:
        provide_zig()
    if platform.toolchain:
        logged(log, sys.executable, "-B", ROOT / "tests/platforms/sysroot.py", platform.name)
    folder = platform.build_folder
    parts = [f"-DONNXAR_BUILD_TESTS={'OFF' if platform.only_built else 'ON'}", f"-DONNXAR_BUILD_MODEL={'ON' if platform.protobuf else 'OFF'}"]
    logged(log, "cmake", "-S", ROOT, "-B", folder, *JOINED, optimised(platform), *parts, *compiler(platform))
    logged(log, "cmake", "--build", folder, "-j", jobs(), "--target", *targets)


def emulator(platform: Platform) -> list[str]:
    """The words before a program of this platform that run it here."""
    if platform.toolchain is None:
        return []
    script = ["cmake", f"-DCMAKE_TOOLCHAIN_FILE={platform.toolchain}", "-P", str(ROOT / "tests/platforms/emulator.cmake")]
    return subprocess.run(script, check=True, capture_output=True, text=True).stdout.split()

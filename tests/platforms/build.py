"""Builds the programs of a platform."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

from targets import BUILD, ROOT, Platform, jobs

ZIG = ROOT / "build/zig_venv/bin"  # `./dev` installs the package there
ZLIB = "zlib_1.2.13.dfsg.orig.tar.bz2"  # the sources of Debian's package
ZLIB_URL = f"https://deb.debian.org/debian/pool/main/z/zlib/{ZLIB}"
ZLIB_SHA256 = "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1"

# Optimised as little as possible, and joined as far as names allow: compiling takes most of the time of a run.
CHEAP = ("-GNinja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=ON")
WITHOUT_PROTOBUF = ("-DONNXAR_BUILD_MODEL=OFF", "-DONNXAR_BUILD_BENCH=OFF", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32")


class Failed(Exception):
    """A step of the build ended with an error, which is in the log."""


def logged(log: Path, *command: object) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    words = list(map(str, command))
    with log.open("ab") as file:
        file.write(f"$ {' '.join(words)}\n".encode())
        file.flush()
        if subprocess.run(words, check=False, stdout=file, stderr=subprocess.STDOUT).returncode != 0:
            raise Failed(f"{words[0]} {words[1]} failed, see {log.relative_to(ROOT)}")


def provide_zig() -> None:
    """Writes zig-clang and zig-clang++, programs of one word for `zig cc` and `zig c++`; ccache tells clang by the name."""
    found = sorted(ZIG.parent.glob("lib/python3*/site-packages/ziglang/zig"))
    if not found:
        sys.exit("platforms.py: no zig in build/zig_venv: start with ./dev platforms")
    for name, subcommand in (("zig", ""), ("zig-clang", "cc "), ("zig-clang++", "c++ ")):
        script = ZIG / name
        text = f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{BUILD}/zig_cache"\nexec "{found[0]}" {subcommand}"$@"\n'
        if not script.exists() or script.read_text() != text:  # otherwise it keeps its time, by which ccache knows it
            script.write_text(text)
            script.chmod(0o755)


def zlib_source() -> Path:
    """zlib's sources, downloaded once."""
    file, source = BUILD / ZLIB, BUILD / "zlib"
    if source.exists():
        return source
    BUILD.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        with urllib.request.urlopen(ZLIB_URL, timeout=120) as response:
            file.write_bytes(response.read())
    if hashlib.sha256(file.read_bytes()).hexdigest() != ZLIB_SHA256:
        file.unlink()
        raise Failed(f"{ZLIB_URL} is not the file that was expected")
    shutil.rmtree(BUILD / "zlib.new", ignore_errors=True)
    with tarfile.open(file) as tar:
        tar.extractall(BUILD / "zlib.new", filter="data")
    next((BUILD / "zlib.new").iterdir()).rename(source)
    return source


def provide_libraries(platform: Platform, log: Path) -> None:
    """Fills the folder that the platform's build looks for libraries in, unless it has been filled before."""
    if platform.toolchain is None and "-stdlib=libc++" not in " ".join(platform.options):
        return  # this machine's libraries serve
    done = platform.sysroot / "complete"
    if done.exists():
        return
    build = platform.folder / "libraries"
    logged(log, "cmake", "-S", ROOT / "tests/platforms/libraries", "-B", build, *CHEAP, *compiler(platform), f"-DZLIB_SOURCE={zlib_source()}",
           f"-DCMAKE_INSTALL_PREFIX={platform.sysroot}", "-DCMAKE_INSTALL_LIBDIR=lib")
    logged(log, "cmake", "--build", build, "--target", "install", "-j", jobs())
    done.touch()


def compiler(platform: Platform) -> list[str]:
    toolchain = [f"-DCMAKE_TOOLCHAIN_FILE={platform.toolchain}"] if platform.toolchain else []
    return [*toolchain, *platform.options]


def build(platform: Platform, targets: list[str], log: Path) -> None:
    """Raises Failed if a step fails."""
    if platform.by_zig:
        provide_zig()
    provide_libraries(platform, log)
    prefix = [] if platform.toolchain else [f"-DCMAKE_PREFIX_PATH={platform.sysroot}"]
    folder = platform.folder / "build"
    logged(log, "cmake", "-S", ROOT, "-B", folder, *CHEAP, *WITHOUT_PROTOBUF, *compiler(platform), *prefix)
    logged(log, "cmake", "--build", folder, "-j", jobs(), "--target", *targets)


def emulator(platform: Platform) -> list[str]:
    """The words before a program of this platform that run it here."""
    if platform.toolchain is None:
        return []
    script = ["cmake", f"-DCMAKE_TOOLCHAIN_FILE={platform.toolchain}", "-P", str(ROOT / "tests/platforms/emulator.cmake")]
    return subprocess.run(script, check=True, capture_output=True, text=True).stdout.split()

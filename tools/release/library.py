"""Packs the C and C++ libraries into one tarball: `static/` and `shared/` are prefixes, each with headers, CMake package and pkg-config files.
zlib is inside both. onnxar::model is left out: its headers need those of the same protobuf with which it was built.

Usage: python library.py, which writes build/release_work/dist/onnxar-VERSION-linux-x86_64-libraries.tar.gz, and links programs against it
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from binaries import existing_sdist
from pins import ROOT, WORK
from sdist import DIST, packed, run, unpacked
from systems import jobs
from versions import library_version

KINDS = {"static": "OFF", "shared": "ON"}
CONSUMER = ROOT / "tests/release/consumer"


def install(kind: str, bundled: Path, prefix: Path) -> None:
    build = WORK / "build" / f"library-{kind}"
    maps = f"-ffile-prefix-map={build}=. -ffile-prefix-map={ROOT}=."
    settings = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_C_COMPILER": "gcc-12", "CMAKE_CXX_COMPILER": "g++-12", "CMAKE_C_FLAGS": maps,
                "CMAKE_CXX_FLAGS": maps, "CMAKE_UNITY_BUILD": "ON", "CMAKE_UNITY_BUILD_BATCH_SIZE": "16", "CMAKE_INSTALL_LIBDIR": "lib",
                "CMAKE_INSTALL_PREFIX": "/usr/local", "BUILD_SHARED_LIBS": KINDS[kind], "ONNXAR_BUNDLED": "ALL",
                "ONNXAR_BUNDLED_DIR": bundled, "ONNXAR_BUILD_MODEL": "OFF", "ONNXAR_BUILD_TOOLS": "OFF", "ONNXAR_BUILD_TESTS": "OFF"}  # fmt: skip
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", build, *(f"-D{name}={value}" for name, value in settings.items()))
    run("cmake", "--build", build, "-j", jobs())
    run("cmake", "--install", build, "--prefix", prefix)


def linked(prefix: Path, work: Path) -> None:
    """Builds programs outside the tree that use the libraries, with CMake and with pkg-config."""
    examples, archive = prefix / "share/doc/onnxar/examples", work / "a.onnxar"
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", work / "cmake", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={examples}",
        "-DCMAKE_C_COMPILER=gcc-12", "-DCMAKE_CXX_COMPILER=g++-12")  # fmt: skip
    run("cmake", "--build", work / "cmake", "-j", jobs())
    run(work / "cmake/exporter_write", archive, "3", "1")
    run(work / "cmake/runtime_map", archive)
    flags = run("pkg-config", "--cflags", "--libs", "onnxar-core", PKG_CONFIG_PATH=prefix / "lib/pkgconfig").split()
    run("g++-12", "-std=c++20", examples / "runtime_map.cc", *flags, "-o", work / "by_pkg_config")
    run(work / "by_pkg_config", archive, LD_LIBRARY_PATH=prefix / "lib")
    flags = run("pkg-config", "--cflags", "--libs", "onnxar-c", PKG_CONFIG_PATH=prefix / "lib/pkgconfig").split()
    run("gcc-12", "-std=c99", examples / "write_and_read.c", *flags, "-o", work / "in_c")
    run(work / "in_c", work / "c.onnxar", LD_LIBRARY_PATH=prefix / "lib")


def make_library() -> Path:
    name = f"onnxar-{library_version()}-linux-{platform.machine()}-libraries"
    sdist = existing_sdist()
    folder = WORK / "library" / name
    shutil.rmtree(folder, ignore_errors=True)
    bundled = unpacked(sdist, WORK / "library-source") / "bundled"
    for kind in KINDS:
        print(f"==> {kind} libraries", flush=True)
        install(kind, bundled, folder / kind)
    out = DIST / f"{name}.tar.gz"
    packed(folder, out)
    with tempfile.TemporaryDirectory() as elsewhere:
        top = unpacked(out, Path(elsewhere) / "unpacked")
        for kind in KINDS:
            (Path(elsewhere) / kind).mkdir()
            linked(top / kind, Path(elsewhere) / kind)
    print(f"{out.relative_to(ROOT)}: programs outside the tree link it, static and shared", flush=True)
    return out


if __name__ == "__main__":
    try:
        make_library()
    except subprocess.CalledProcessError as error:
        sys.exit(f"library.py: {error}\n{error.stdout or ''}")

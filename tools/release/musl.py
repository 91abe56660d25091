"""Runs the wheels for musl in a root of Debian that has musl beside its own C library, with Pythons that are compiled against musl there.

PyPI has no wheel for musl of onnx and of ml_dtypes, which most tests need: these are compiled too, by zig, as Debian has no C++ library for musl. It has none
of ONNX Runtime either: the tests that need it are left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pins import BUNDLED, PYTHONS, fetched, pins
from roots import Distribution, bare_root, run_in
from steps import REQUIREMENTS, bring, finish, required, tried
from systems import ZIG

NAME = "musl"
SYSTEM = Distribution(NAME, "trixie", packages=("ca-certificates", "gcc", "make", "musl-tools", "protobuf-compiler"))
PLATFORMS = ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64")
COMPILED = ("ml_dtypes", "onnx")
LEFT_OUT = ("backend_test.py", "frozen_test.py", "onnxruntime_test.py", "registry_test.py", "sources_test.py")  # they need ONNX Runtime
TOOLS = ("cmake", "ninja", "scikit-build-core", "nanobind==2.15.0", "protobuf==6.31.1")  # what builds onnx, in the versions that it asks for
KEPT = SYSTEM.folder / "local"  # what was compiled; it does not depend on the wheels

# configure compares what the compiler says of its system with what it finds itself, which is musl.
COMPILERS = {
    "cc": '[ "$1" = --print-multiarch ] || [ "$1" = -print-multiarch ] || exec musl-gcc "$@"',
    "c++": 'exec /zig/zig c++ -target x86_64-linux-musl "$@"',
}
SETTINGS = "export PATH=/usr/local/bin:$PATH CC=/usr/local/bin/cc CXX=/usr/local/bin/c++ PIP_NO_INDEX=1 PIP_FIND_LINKS='/packages /usr/local/packages'\n"
ZLIB = """
cd /sources/zlib-*
CFLAGS='-O2 -fPIC' ./configure --static > /dev/null
make -s install > /dev/null
"""
PYTHON = """
cd /sources/Python-{version}
./configure -q --disable-test-modules --with-ensurepip=no OPT='-O1 -DNDEBUG -w' CPPFLAGS=-I/usr/local/include LDFLAGS=-L/usr/local/lib
make -s -j2
make -s altinstall
"""
BUILD = """
python{version} -m venv /build
export PATH=/build/bin:$PATH
pip install -q numpy {tools}
[ -e /protobuf ] || {{
  cmake -G Ninja -S /sources/protobuf-* -B /protobuf {flags} -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF
  ninja -C /protobuf libprotobuf-lite
}}
export CMAKE_ARGS="{flags} -DONNX_USE_LITE_PROTO=ON -DONNX_USE_UNITY_BUILD=ON -DProtobuf_INCLUDE_DIR=$(echo /sources/protobuf-*/src) \
  -DProtobuf_LIBRARY=/protobuf/libprotobuf-lite.a -DProtobuf_LITE_LIBRARY=/protobuf/libprotobuf-lite.a"
pip wheel -q --no-build-isolation --no-deps -w /usr/local/packages /packages/*.tar.gz
rm -r /build
"""
FLAGS = "-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1"


def ran(step: str, root: Path, script: str) -> None:
    finish(step, run_in(root, SETTINGS + script))


def pythons() -> list[str]:
    """The versions whose sources are pinned, without their last numbers."""
    return [pin.name.removeprefix("python") for pin in pins(PYTHONS)]


def write_compilers(root: Path) -> None:
    for name, command in COMPILERS.items():
        script = root / "usr/local/bin" / name
        script.write_text(f"#!/bin/sh\n{command}\n")
        script.chmod(0o755)


def unpack(root: Path) -> None:
    (root / "sources").mkdir()
    archives = [*pins(PYTHONS), *(pin for pin in pins(BUNDLED) if pin.name in ("zlib", "protobuf"))]
    for pin in archives:
        subprocess.run(["tar", "-xf", fetched(pin), "-C", root / "sources"], check=True)


def download(root: Path) -> None:
    """What the tests and the builds need from PyPI: the Pythons in the root are without TLS."""
    versions = required()
    wheels = [name for name in versions if name not in (*COMPILED, "onnx-ir", "onnxruntime")]
    options = ["-q", "--disable-pip-version-check", "-d", str(root / "packages")]
    pip = [sys.executable, "-m", "pip", "download", *options]
    for version in pythons():
        foreign = ["--only-binary=:all:", f"--python-version={version}", *(f"--platform={platform}" for platform in PLATFORMS)]
        subprocess.run([*pip, *foreign, *wheels, *TOOLS, "pytest", "sympy", "typing_extensions"], check=True)
        subprocess.run([*pip, *foreign, "--no-deps", "onnx-ir"], check=True)
    sources = [f"{name}=={versions[name]}" for name in COMPILED]
    subprocess.run([*pip, "--no-deps", f"--no-binary={','.join(COMPILED)}", *sources], check=True)


def compile_all(root: Path) -> None:
    (root / "usr/local/packages").mkdir()
    ran("compile zlib", root, ZLIB)
    for version in pythons():
        ran(f"compile Python {version}", root, PYTHON.format(version=version))
        ran(f"compile {' and '.join(COMPILED)}", root, BUILD.format(version=version, tools=" ".join(TOOLS), flags=FLAGS))


def compiled(root: Path) -> None:
    """/usr/local in the root, compiled or as it was kept."""
    key = hashlib.sha256(b"".join(Path(file).read_bytes() for file in (__file__, PYTHONS, BUNDLED, REQUIREMENTS))).hexdigest()
    mark = KEPT / "key"
    if not mark.exists() or mark.read_text() != key:
        unpack(root)
        shutil.copytree(next(ZIG.parent.glob("lib/python3*/site-packages/ziglang")), root / "zig", copy_function=os.link)
        compile_all(root)
        shutil.rmtree(KEPT, ignore_errors=True)
        shutil.copytree(root / "usr/local", KEPT, symlinks=True)
        mark.write_text(key)
    shutil.copytree(KEPT, root / "usr/local", symlinks=True, dirs_exist_ok=True)


def try_musl(version: str) -> str:
    root = bare_root(SYSTEM)
    bring(root, "musllinux")
    download(root)
    write_compilers(root)
    compiled(root)
    needed = [name for name in required() if name != "onnxruntime"]
    return "\n".join(f"{NAME}, {tried(root, f'/usr/local/bin/python{each}', version, needed, LEFT_OUT, SETTINGS)}" for each in pythons())

"""Runs the wheels for musl in a root of Debian that has musl beside its own C library, with Pythons that are compiled against musl there.

PyPI has no wheel for musl of onnx and of ml_dtypes, which most tests need: these are compiled too, by zig, as Debian has no C++ library for musl. It has none
of ONNX Runtime either: the files of tests that need it are left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pins import BUNDLED, PYTHONS, Pin, fetched, pins
from roots import DEBIAN, Distribution, bare_root, run_in
from steps import bring, finish, required, tried
from systems import ZIG

NAME = "musl"
SYSTEM = Distribution(NAME, "trixie", packages=("ca-certificates", "ccache", "gcc", "make", "musl-tools", "protobuf-compiler"))
PLATFORMS = ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64")
COMPILED = ("ml_dtypes", "onnx")
ABSENT = ("onnxruntime", "onnxruntime-genai")  # PyPI has no wheel of them for musl
OF_RUNTIME = ("adapters_test.py", "backend_slow_test.py", "frozen_test.py", "genai_test.py", "onnxruntime_test.py", "sessions_test.py", "shared_pages_test.py")
LEFT_OUT = dict.fromkeys(OF_RUNTIME, "ONNX Runtime has no wheel for musl")
TOOLS = ("cmake", "ninja", "scikit-build-core", "nanobind==2.15.0")  # onnx asks for this nanobind
IMPLIED = ("async-timeout", "exceptiongroup", "sympy", "tomli", "typing_extensions")  # what onnx-ir and, for Python 3.10, aiohttp and the tools ask for
KEPT = SYSTEM.folder / "local"  # what was compiled; it does not depend on the wheels

# onnx-ir needs ctypes.
LIBFFI = Pin("libffi", "3.4.4", "MIT", "d66c56ad259a82cf2a9dfc408b32bf5da52371500b84745f7fb8b645712df676",
             f"{DEBIAN}/pool/main/libf/libffi/libffi_3.4.4.orig.tar.gz")  # fmt: skip

# configure compares the system that the compiler states with the one that it detects, which is musl.
CC = """#!/bin/sh
[ "$1" = --print-multiarch ] || [ "$1" = -print-multiarch ] || exec musl-gcc "$@"
"""
# zig does not know CMake's option for a whole library, only a different one.
CXX = """#!/bin/sh
for word; do
  shift
  case $word in
    -Xlinker | --push-state) continue ;;
    --whole-archive | --no-whole-archive) word=-Wl,$word ;;
    --pop-state) word=-Wl,--no-whole-archive ;;
  esac
  set -- "$@" "$word"
done
exec /zig/zig c++ -target x86_64-linux-musl "$@"
"""
SETTINGS = "export PATH=/usr/local/bin:$PATH CC=/usr/local/bin/cc CXX=/usr/local/bin/c++ PIP_NO_INDEX=1 PIP_FIND_LINKS='/packages /usr/local/packages'\n"
LIBRARIES = """
cd /sources/zlib-*
CFLAGS='-O2 -fPIC' ./configure --static > /dev/null
make -s install > /dev/null
cd /sources/libffi-*
./configure -q --disable-shared --with-pic --disable-docs --disable-exec-static-tramp CFLAGS=-O2 > /dev/null
make -s install > /dev/null
"""
PYTHON = """
cd /sources/Python-{version}.*
./configure -q --disable-test-modules --with-ensurepip=no OPT='-O1 -DNDEBUG -w' CPPFLAGS=-I/usr/local/include LDFLAGS=-L/usr/local/lib
make -s -j2
make -s altinstall
"""
FLAGS = "-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
# Most of onnx does not depend on the Python: ccache compiles it once.
PACKAGES = """
python{version} -m venv /builds/{version}
export PATH=/builds/{version}/bin:$PATH
pip install -q numpy {tools}
cmake -G Ninja -S /sources/protobuf-* -B /protobuf {flags} -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
  -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF
ninja -C /protobuf libprotobuf-lite
export CMAKE_ARGS="{flags} -DONNX_USE_LITE_PROTO=ON -DONNX_USE_UNITY_BUILD=ON -DProtobuf_INCLUDE_DIR=$(echo /sources/protobuf-*/src) \
  -DProtobuf_LIBRARY=/protobuf/libprotobuf-lite.a -DProtobuf_LITE_LIBRARY=/protobuf/libprotobuf-lite.a"
pip wheel -q --no-build-isolation --no-deps -w /usr/local/packages /sources/ml_dtypes-*
pip wheel -q --no-build-isolation --no-deps -w /usr/local/packages --config-settings=build-dir=/onnx /sources/onnx-*
"""


def ran(step: str, root: Path, script: str) -> None:
    finish(step, run_in(root, SETTINGS + script))


def pythons() -> list[str]:
    """Returns the versions whose sources are pinned, without their last numbers."""
    return [pin.name.removeprefix("python") for pin in pins(PYTHONS)]


def write_compilers(root: Path) -> None:
    for name, text in (("cc", CC), ("c++", CXX)):
        script = root / "usr/local/bin" / name
        script.write_text(text)
        script.chmod(0o755)


def download(root: Path) -> None:
    """Downloads what the tests and the builds need from PyPI, because the Pythons in the root lack TLS."""
    versions = required()
    wheels = [name for name in versions if name not in (*COMPILED, *ABSENT, "onnx-ir")]
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "-d", root / "packages"]
    for version in pythons():
        foreign = [*pip, "--only-binary=:all:", f"--python-version={version}", *(f"--platform={platform}" for platform in PLATFORMS)]
        subprocess.run([*foreign, *wheels, *TOOLS, *IMPLIED], check=True)
        subprocess.run([*foreign, "--no-deps", "onnx-ir"], check=True)
    for name in COMPILED:
        subprocess.run([*pip, "--no-deps", f"--no-binary={name}", f"{name}=={versions[name]}"], check=True)


def unpack(root: Path) -> None:
    (root / "sources").mkdir()
    libraries = [pin for pin in pins(BUNDLED) if pin.name in ("zlib", "protobuf")]
    for archive in [*map(fetched, [*pins(PYTHONS), LIBFFI, *libraries]), *root.glob("packages/*.tar.gz")]:
        subprocess.run(["tar", "-xf", archive, "-C", root / "sources"], check=True)


def compile_all(root: Path) -> None:
    unpack(root)
    (package,) = ZIG.parent.glob("lib/python3*/site-packages/ziglang")
    shutil.copytree(package, root / "zig", copy_function=os.link)
    ran("compile zlib and libffi", root, LIBRARIES)
    for version in pythons():
        ran(f"compile Python {version}", root, PYTHON.format(version=version))
        ran(f"compile for Python {version}", root, PACKAGES.format(version=version, tools=" ".join(TOOLS), flags=FLAGS))


def fill_local(root: Path) -> None:
    """Compiles /usr/local of the root, or uses the one from an earlier run."""
    compiled = [required()[name] for name in COMPILED]
    recipe = repr((LIBRARIES, LIBFFI, PYTHON, PACKAGES, FLAGS, TOOLS, CC, CXX, compiled, pins(PYTHONS), pins(BUNDLED)))
    mark = KEPT / "recipe"
    if mark.exists() and mark.read_text() == recipe:
        shutil.rmtree(root / "usr/local")
        shutil.copytree(KEPT, root / "usr/local", symlinks=True)
        return
    write_compilers(root)
    compile_all(root)
    shutil.rmtree(KEPT, ignore_errors=True)
    shutil.copytree(root / "usr/local", KEPT, symlinks=True)
    mark.write_text(recipe)


def try_musl(version: str) -> str:
    root = bare_root(SYSTEM)
    bring(root, "musllinux")
    download(root)
    fill_local(root)
    needed = [name for name in required() if name not in ABSENT]
    return "\n".join(f"{NAME}, {tried(root, f'/usr/local/bin/python{each}', version, needed, LEFT_OUT, SETTINGS)}" for each in pythons())

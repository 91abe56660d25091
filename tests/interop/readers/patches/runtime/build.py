"""Builds ONNX Runtime 1.21 in a bare Debian 13 with the libraries of Debian, before and after the patches of
upstream/onnxruntime, and runs its tests of models, graphs, sessions and external data, and ours.

Needs root, 15 GB, and one to two hours of two processors. Each step is done once: a run that was stopped goes on where it
was. Remove FOLDER/done/STEP to repeat a step, FOLDER to begin anew; `after` is repeated when the patches change.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools/release"), str(ROOT / "bench")]
from measure import described_machine
from roots import DEBIAN, Distribution, bare_root, run_in

VERSION = "1.21.0"
PATCHES = (ROOT / "upstream/onnxruntime/0001-Add-a-reader-of-ONNX-archives.patch",
           ROOT / "upstream/onnxruntime/1.21/0002-Load-ONNX-archives.patch")  # fmt: skip
TARGETS = "onnxruntime onnxruntime_pybind11_state onnxruntime_test_all"

# The source of 1.21 is in trixie. Its packaging, which uses the libraries of Debian, is at hand only for the 1.23 of forky.
SOURCES = f"""\
deb {DEBIAN} trixie main
deb-src {DEBIAN} trixie main
deb-src [check-valid-until=no] {DEBIAN} forky main
"""
PACKAGES = """\
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/unsafe
apt-get update
apt-get build-dep -y --no-install-recommends onnxruntime/trixie
apt-get install -y --no-install-recommends python3-onnx libonnx-testdata ninja-build patch xz-utils git libgtest-dev libgmock-dev
apt-get clean
"""
# apt-get lacks some files of both, and fails after it fetched the others. Of the patches some hunks fail that do not matter.
SOURCE = """\
mkdir -p /trial/debian && cd /trial/debian
apt-get source --download-only onnxruntime=1.21.0+dfsg-1 || true
apt-get source --download-only onnxruntime/forky || true
rm -rf packaging ../src && mkdir packaging ../src
tar -xJf onnxruntime_*.debian.tar.xz -C packaging
tar -xJf onnxruntime_1.21.0+dfsg.orig.tar.xz -C ../src --strip-components=1
cd ../src
while read -r name; do
  patch -p1 -f -s --no-backup-if-mismatch < ../debian/packaging/debian/patches/$name || true
done < ../debian/packaging/debian/patches/series
find . -name '*.rej' -delete
"""
TESTS = """\
list(FILTER all_tests INCLUDE REGEX "/test/(ir/|framework/(inference_session_test|tensorutils_test|test_tensor_loader|\
session_state_test|save_model_with_external_initializers|onnx_archive_test|test_utils|TestAllocatorManager|dummy_provider|\
dummy_allocator)[.]cc|providers/(base_tester|checkers|op_tester)[.]cc|optimizer/graph_transform_test_builder[.]cc|\
common/tensor_op_test_utils[.]cc)")
"""
# What this build needs beside: a type that a map without Abseil cannot guess, and a choice of the tests.
EDITS = (
    ("onnxruntime/core/framework/resource_accountant.cc", "std::move(node_name), {", "std::move(node_name), NodeAllocationStats{"),
    ("cmake/onnxruntime_unittests.cmake", "\nset(test_all_args)\n", f"\n{TESTS}set(test_all_args)\n"),
)
OPTIONS = {
    "CMAKE_BUILD_TYPE": "MinSizeRel", "CMAKE_CXX_FLAGS": "-O1 -w", "CMAKE_CXX_FLAGS_MINSIZEREL": "-DNDEBUG",
    "CMAKE_C_FLAGS_MINSIZEREL": "-O1 -DNDEBUG", "CMAKE_PROJECT_INCLUDE": "/trial/precompiled.cmake",
    "onnxruntime_BUILD_SHARED_LIB": "ON", "onnxruntime_ENABLE_PYTHON": "ON", "onnxruntime_BUILD_UNIT_TESTS": "ON",
    "onnxruntime_DISABLE_ABSEIL": "ON", "onnxruntime_ENABLE_CPUINFO": "ON", "onnxruntime_USE_FULL_PROTOBUF": "ON",
    "onnxruntime_USE_PREINSTALLED_EIGEN": "ON", "onnxruntime_USE_XNNPACK": "OFF", "onnxruntime_USE_DNNL": "OFF",
    "onnxruntime_DISABLE_ML_OPS": "ON", "onnx_SOURCE_DIR": "/usr/lib/python3/dist-packages",
    "onnxruntime_ONNX_PROTO_DATA_DIR": "/usr/lib/python3/dist-packages", "safeint_SOURCE_DIR": "/usr/include/safeint",
    "utf8_range_SOURCE_DIR": "/trial/build/_deps/utf8_range-src",  # else later runs of CMake drop it, and all is compiled again
    "FETCHCONTENT_FULLY_DISCONNECTED": "ON", "FETCHCONTENT_TRY_FIND_PACKAGE_MODE": "ALWAYS",
}  # fmt: skip
CONFIGURE = "mkdir -p /trial/build && cd /trial/build && cmake -G Ninja ../src/cmake " + " ".join(
    f"-D{name}='{value}'" for name, value in OPTIONS.items())  # fmt: skip
# Reconfigures first: CMake finds sources by their folder. What is built is kept for a comparison.
BUILD = """\
cd /trial/build
cmake . > /dev/null
ninja -k 0 -j{jobs} {targets}
mkdir -p /trial/{stage}/onnxruntime
strip -o /trial/{stage}/libonnxruntime.so libonnxruntime.so
cp ../src/onnxruntime/__init__.py /trial/{stage}/onnxruntime
cp -a onnxruntime/capi /trial/{stage}/onnxruntime
printf "package_name = 'onnxruntime'\\n__version__ = '1.21.0'\\n" > /trial/{stage}/onnxruntime/capi/build_and_package_info.py
"""
RUN_TESTS = """\
cd /trial/build
python3 -B ../programs/testdata.py testdata
./onnxruntime_test_all --gtest_brief=1 --gtest_output=xml:/trial/tests_{stage}.xml || true
test -s /trial/tests_{stage}.xml
"""
# Takes back what an earlier run applied, which may be an older text of the patches.
APPLY = """\
mkdir -p /trial/applied && cd /trial/src
for patch in $(ls -r /trial/applied); do
  git apply --reverse --whitespace=nowarn /trial/applied/$patch
  rm /trial/applied/$patch
done
for patch in $(ls /trial/patches); do
  git apply --whitespace=nowarn /trial/patches/$patch
  cp /trial/patches/$patch /trial/applied
done
"""
# The module that is built, and what the programs beside this one need.
RUN = "cd /trial/programs && PYTHONPATH=/trial/after:/trial/programs python3 -B {program} > /trial/{output}.json\n"


@dataclasses.dataclass(frozen=True)
class System(Distribution):
    place: Path = Path()

    @property
    def folder(self) -> Path:
        return self.place


class Build:
    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "root"
        self.work, self.done = self.root / "trial", folder / "done"
        self.done.mkdir(parents=True, exist_ok=True)

    def step(self, name: str, action: Callable[[], None], key: str = "") -> None:
        """Does what has not been done yet, or was done with another key."""
        stamp = self.done / name
        if stamp.exists() and stamp.read_text() == key:
            return
        print(f"ONNX Runtime: {name}; its logs are in {self.folder}", flush=True)
        action()
        stamp.write_text(key)

    def inside(self, name: str, script: str) -> Callable[[], None]:
        def run() -> None:
            with (self.folder / f"{name}.log").open("w") as log:
                if run_in(self.root, script, log).returncode != 0:
                    sys.exit(f"ONNX Runtime: {name} failed; see {log.name}")

        return run

    def make_root(self) -> None:
        bare_root(System("onnxruntime", "trixie", packages=("ca-certificates",), place=self.folder))
        (self.root / "etc/apt/sources.list").write_text(SOURCES)
        self.work.mkdir()

    def make_source(self) -> None:
        self.inside("source", SOURCE)()
        for name, old, new in EDITS:
            path = self.work / "src" / name
            text = path.read_text()
            if text.count(old) != 1:
                sys.exit(f"{path}: there is not one {old!r}")
            path.write_text(text.replace(old, new))

    def configure(self) -> None:
        shutil.copy(HERE / "precompiled.cmake", self.work)
        self.inside("configure", CONFIGURE)()

    def build(self, stage: str) -> None:
        self.inside(f"build_{stage}", BUILD.format(stage=stage, targets=TARGETS, jobs=os.cpu_count()))()
        self.inside(f"tests_{stage}", RUN_TESTS.format(stage=stage))()

    def build_patched(self) -> None:
        shutil.rmtree(self.work / "patches", ignore_errors=True)
        (self.work / "patches").mkdir()
        for patch in PATCHES:
            shutil.copy(patch, self.work / "patches")
        self.inside("apply", APPLY)()
        self.build("after")

    def copy_programs(self) -> None:
        programs = self.work / "programs"
        programs.mkdir(exist_ok=True)
        for path in (HERE / "models.py", HERE / "sessions.py", HERE / "testdata.py", *(ROOT / "spec/rfc").glob("onnx_archive*.py")):
            shutil.copy(path, programs)

    def run(self) -> None:
        self.step("root", self.make_root)
        self.step("packages", self.inside("packages", PACKAGES))
        self.step("source", self.make_source)
        self.step("configure", self.configure)
        self.copy_programs()
        self.step("before", lambda: self.build("before"))
        patched = hashlib.sha256(b"".join(path.read_bytes() for path in PATCHES)).hexdigest()
        self.step("after", self.build_patched, patched)
        self.step("real", self.make_real_models)
        for name, folder in (("models", "/usr/share/libonnx-testdata/data"), ("real_models", "/trial/real")):
            self.step(name, self.inside(name, RUN.format(program=f"models.py {folder}", output=name)), patched)
        for megabytes, runs in ((500, 15), (2500, 7)):
            self.step(f"sessions_{megabytes}", functools.partial(self.measure, megabytes, runs), patched)

    def make_real_models(self) -> None:
        subprocess.run([sys.executable, "-B", HERE / "real.py", self.work / "real"], check=True)

    def measure(self, megabytes: int, runs: int) -> None:
        name = f"sessions_{megabytes}"
        program = f"sessions.py /trial/{name} {megabytes} {runs}"
        self.inside(name, RUN.format(program=program, output=name))()
        (self.work / f"{name}.txt").write_text(described_machine(self.work))
        shutil.rmtree(self.work / name, ignore_errors=True)

    def size(self, stage: str) -> int:
        return (self.work / stage / "libonnxruntime.so").stat().st_size

    def read(self, name: str) -> object:
        return json.loads((self.work / f"{name}.json").read_text())

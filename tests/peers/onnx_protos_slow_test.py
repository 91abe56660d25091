"""resolve_all and link_tensor compile with the classes that protoc makes of the onnx.proto of real onnx packages.

Usage: CXX=c++ onnx_protos_slow_test.py, with pip and onnx
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import onnx

INCLUDE = Path(__file__).resolve().parents[2] / "include"
# The oldest that content.h promises, the last without FunctionProto.attribute_proto, and some after it, each with a
# Python that it has a wheel for. The newest is the installed package.
RELEASES = {"1.10.2": "39", "1.12.0": "310", "1.13.1": "310", "1.16.0": "312"}
PLATFORMS = [f"--platform={name}_x86_64" for name in ("manylinux2014", "manylinux_2_17", "manylinux_2_12", "manylinux2010")]
PROGRAM = """#include <onnxar/content.h>
#include "runtime.pb.h"
std::size_t bytes(const onnxar::Archive& archive, const runtime::ModelProto& model) {
  std::size_t sum = 0;
  onnxar::resolve_all(archive, model, [&sum](const auto&, const auto& data) { sum += data ? data->size() : 0; });
  return sum;
}
void link(runtime::TensorProto& tensor) { onnxar::link_tensor(tensor, "key", 0, 4); }
"""


def proto_of(release: str, folder: Path) -> str:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--implementation=cp", *PLATFORMS]
    subprocess.run([*command, f"--python-version={RELEASES[release]}", f"onnx=={release}", "-d", folder], check=True)
    (wheel,) = folder.glob(f"onnx-{release}-*.whl")
    return zipfile.ZipFile(wheel).read("onnx/onnx-ml.proto").decode()


class OnnxProtos(unittest.TestCase):
    def compiles_with(self, proto: str, folder: Path) -> None:
        """In a package of its own, as a runtime's copy may be."""
        (folder / "runtime.proto").write_text(proto.replace("\npackage onnx;", "\npackage runtime;"))
        subprocess.run(["protoc", f"--proto_path={folder}", f"--cpp_out={folder}", "runtime.proto"], check=True)
        command = [os.environ.get("CXX") or "c++", "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{INCLUDE}", f"-I{folder}", "-"]
        done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_older_releases_compile(self) -> None:
        for release in RELEASES:
            with self.subTest(release=release), tempfile.TemporaryDirectory() as folder:
                self.compiles_with(proto_of(release, Path(folder)), Path(folder))

    def test_newest_release_compiles(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.compiles_with((Path(onnx.__file__).parent / "onnx-ml.proto").read_text(), Path(folder))


if __name__ == "__main__":
    unittest.main()

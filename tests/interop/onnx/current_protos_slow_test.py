"""resolve_all and link_tensor compile with the classes that protoc makes of the onnx.proto of real onnx packages, and the
library knows each data type of the newest.

Usage: CXX=c++ current_protos_slow_test.py, with pip
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# The oldest that resolve.h promises, the last without FunctionProto.attribute_proto, and some after it, each with a
# Python that it has a wheel for.
RELEASES = {"1.10.2": "39", "1.12.0": "310", "1.13.1": "310", "1.16.0": "312"}
PLATFORMS = [f"--platform={name}_x86_64" for name in ("manylinux2014", "manylinux_2_17", "manylinux_2_12", "manylinux2010")]
PROGRAM = """#include <onnxar/resolve.h>
#include "runtime.pb.h"
std::size_t bytes(const onnxar::Archive& archive, const runtime::ModelProto& model) {
  std::size_t sum = 0;
  onnxar::resolve_all(archive, model, [&sum](const auto&, const auto& data) { sum += data ? data->size() : 0; });
  return sum;
}
void link(runtime::TensorProto& tensor) { onnxar::link_tensor(tensor, "key", 0, 4); }
"""


def proto_of(folder: Path, *wanted: str) -> str:
    """The schema in the wheel that pip downloads for these words."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, *wanted, "-d", folder], check=True)
    (wheel,) = folder.glob("onnx-*.whl")
    return zipfile.ZipFile(wheel).read("onnx/onnx-ml.proto").decode()


def data_types(proto: str) -> dict[str, int]:
    (body,) = re.findall(r"enum DataType \{(.*?)\}", re.sub(r"//.*", "", proto), re.DOTALL)
    return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+);", body)}


class OnnxProtos(unittest.TestCase):
    def compiles_with(self, proto: str, folder: Path) -> None:
        """In a package of its own, as a runtime's copy may be."""
        (folder / "runtime.proto").write_text(proto.replace("\npackage onnx;", "\npackage runtime;"))
        subprocess.run(["protoc", f"--proto_path={folder}", f"--cpp_out={folder}", "runtime.proto"], check=True)
        command = [os.environ.get("CXX") or "c++", "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{ROOT / 'include'}", f"-I{folder}", "-"]
        done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_older_releases_compile(self) -> None:
        for release, python in RELEASES.items():
            with self.subTest(release=release), tempfile.TemporaryDirectory() as folder:
                wanted = (f"onnx=={release}", "--implementation=cp", *PLATFORMS, f"--python-version={python}")
                self.compiles_with(proto_of(Path(folder), *wanted), Path(folder))

    def test_knows_newest_release_and_its_types(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            newest = proto_of(Path(folder), "onnx")
            self.compiles_with(newest, Path(folder))
        self.assertEqual(data_types(newest), data_types((ROOT / "proto/onnxar/onnx.proto").read_text()))


if __name__ == "__main__":
    unittest.main()

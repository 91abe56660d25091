"""The examples of the reader, C and C++ by make, and the Rust crate where cargo is.

Usage: ONNXAR=onnxar PYTHONPATH=tests examples_slow_test.py
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLES = PROJECT / "examples" / "reader"
VALUES = [1.5, -0.25, 2.0, 1e6]


def family() -> bytes:
    """A model with a node and a linked tensor, and a graph over the same weight."""
    data = struct.pack("<4f", *VALUES)
    node = wire.block(1, wire.block(1, "weight") + wire.block(2, "y") + wire.block(4, "Identity"))
    model = wire.block(7, node + wire.block(5, linked("weight", 4)))
    graph = model_of(linked("weight", 4)).data
    return bytes(Archive([Entry("weight", data), Entry("decoder.onnx", graph), Entry(MODEL, model)]).file)


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.archive = self.folder / "m.onnxar"
        self.archive.write_bytes(family())

    def said(self, *command: object) -> str:
        done = run(*command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class ByMake(Case):
    """As in a tree without CMake: Android's, say, or Apple's."""

    def setUp(self) -> None:
        super().setUp()
        compilers = [f"CC={os.environ.get('CC', 'cc')}", f"CXX={os.environ.get('CXX', 'c++')}"]
        flags = ["CFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror", "CXXFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror"]
        done = run("make", "-C", EXAMPLES, f"OUT={self.folder}", *compilers, *flags)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_tensor_is_summed_in_place(self) -> None:
        self.assertEqual(self.said(self.folder / "sum", self.archive, "weight"), f"{sum(VALUES):g}\n")
        done = run(self.folder / "sum", self.archive, "other")
        self.assertEqual((done.returncode, done.stderr), (1, "sum: no linked, aligned tensor of FLOATs has this name\n"))
        done = run(self.folder / "sum", self.folder / "none", "weight")
        self.assertEqual((done.returncode, done.stderr), (1, "sum: io.not_found: there is no such file\n"))

    def test_the_program_in_c_has_40_lines(self) -> None:
        self.assertLessEqual(len((EXAMPLES / "sum.c").read_text().splitlines()), 40)

    def test_nodes_and_tensors_are_printed(self) -> None:
        tensor = "weight: type 1 [4], 16 bytes, graph.initializer[0]\n"
        self.assertEqual(self.said(self.folder / "nodes", self.archive), f"y = Identity(weight)\n{tensor}")
        self.assertEqual(self.said(self.folder / "nodes", self.archive, "decoder"), tensor)
        done = run(self.folder / "nodes", self.archive, "encoder")
        self.assertEqual((done.returncode, done.stderr), (1, "nodes: there is no such graph\n"))


@unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
class InRust(Case):
    def cargo(self, *command: object, **more: object) -> str:
        target = PROJECT / "build" / "reader_rust"
        at = ["--quiet", "--locked", "--manifest-path", PROJECT / "reader/rust/Cargo.toml", "--target-dir", target]
        variables = {**os.environ, "RUSTFLAGS": "-D warnings", **{name: str(value) for name, value in more.items()}}
        done = run("cargo", command[0], *at, *command[1:], env=variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def links(self) -> Path:
        """Makes the links of all valid vectors that can be linked, and of an archive with data about as large as K2 allows
        in a link, with the command."""
        vectors = sorted((PROJECT / "spec/vectors/valid").glob("*.onnxar"))
        sizes = {"a": 31, "b": 32, "c": 33}  # of FLOATs; K2 draws the line at 32
        entries = [Entry(name, bytes(4 * count)) for name, count in sizes.items()]
        bounds = self.folder / "bounds.onnxar"
        bounds.write_bytes(Archive([*entries, model_of(*(linked(name, count) for name, count in sizes.items()))]).file)
        for copy in [bounds, *(Path(shutil.copy(vector, self.folder)) for vector in vectors)]:
            if run(os.environ["ONNXAR"], "link", copy, "-o", copy.with_suffix(".onnx"), "--no-sync").returncode:
                copy.unlink()
        self.archive.unlink()
        return self.folder

    def test_crate_reads_vectors_and_makes_links(self) -> None:
        self.cargo("test", ONNXAR_LINKS=self.links())

    def test_example_lists_tensors(self) -> None:
        printed = self.cargo("run", "--example", "list", "--", self.archive)
        self.assertEqual(printed, "weight: type 1 [4], 16 bytes, graph.initializer[0], sum 1000003.25\n")


if __name__ == "__main__":
    unittest.main()

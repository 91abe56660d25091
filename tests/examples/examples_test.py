"""Runs the examples: one writes an archive, one maps it."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from support import onnx_walk as walk
from support.command_line import MIB, FolderCase, onnxar


def run(example: str, *arguments: object) -> subprocess.CompletedProcess:
    command = [Path(os.environ["ONNXAR_EXAMPLES"]) / example, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Case(FolderCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "sums.onnxar"

    def written(self, *counts: int) -> Path:
        done = run("exporter_write", self.archive, *counts)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.archive

    def shown(self, *arguments: object) -> str:
        done = run("runtime_map", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class FromC(Case):
    def test_writes_an_archive_and_reads_its_tensors(self):
        done = run("write_and_read", self.archive)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "layer.0.weight: 4096 bytes, begins with 0\nlayer.1.weight: 4096 bytes, begins with 100\n")
        onnxar("check", "--data", "--strict", self.archive)

    def test_the_model_is_onnx_and_its_weights_are_entries(self):
        self.assertEqual(run("write_and_read", self.archive).returncode, 0)
        onnxar("unpack", self.archive, "-o", self.folder / "sums.onnx")
        model = onnx.load(self.folder / "sums.onnx")
        onnx.checker.check_model(model, full_check=True)
        first, second = (numpy_helper.to_array(tensor) for tensor in model.graph.initializer)
        np.testing.assert_array_equal(first + second, np.full(1024, 100, np.float32))

    def test_failure_is_reported_in_the_exit_code(self):
        done = run("write_and_read", self.folder / "none" / "a.onnxar")
        self.assertEqual(done.returncode, 1)
        self.assertIn("write_and_read: ", done.stderr)


class Exporter(Case):
    def test_writes_an_archive_that_passes_every_check(self):
        onnxar("check", "--data", "--strict", self.written(3, 2))

    def test_the_model_is_onnx_and_adds_the_weights(self):
        onnxar("unpack", self.written(3), "-o", self.folder / "sums.onnx")
        model = onnx.load(self.folder / "sums.onnx")
        onnx.checker.check_model(model, full_check=True)
        names = [f"layer.{i}.weight" for i in range(3)]
        self.assertEqual([node.input[1] for node in model.graph.node], names)
        self.assertEqual([node.input[0] for node in model.graph.node[1:]], ["sum.0", "sum.1"])
        self.assertEqual({node.op_type for node in model.graph.node}, {"Add"})
        one = np.arange(MIB // 4, dtype=np.float32) / np.float32(MIB)
        for i, tensor in enumerate(model.graph.initializer):
            self.assertEqual(tensor.name, names[i])
            np.testing.assert_array_equal(numpy_helper.to_array(tensor), one + np.float32(i))

    def test_readers_by_position_find_the_weights(self):
        with zipfile.ZipFile(self.written(3)) as archive:
            model = walk.parse(archive.read("__MODEL_PROTO"))
        keys = [f"layer_{i}_weight" for i in range(3)]
        self.assertEqual([walk.link_by_position(t) for t in model.graph.initializer], [(key, 0, MIB) for key in keys])

    def test_bad_counts_are_refused(self):
        for word in ("0", "-1", "1x", "x", ""):
            with self.subTest(word=word):
                self.assertEqual(run("exporter_write", self.archive, word).returncode, 1)
        self.assertEqual(run("exporter_write").returncode, 2)
        self.assertFalse(self.archive.exists())


class Runtime(Case):
    def test_shows_the_weight_that_is_named(self):
        out = self.shown(self.written(3), "layer_2_weight")
        self.assertRegex(out, rf"^mapped layer_2_weight: {MIB} bytes at 0x[0-9a-f]+000 \(a multiple of 4096 ")
        self.assertTrue(out.endswith("\nas floats it begins: 2 2 2 2\n"))

    def test_shows_every_tensor_and_where_it_is(self):
        lines = self.shown("--all", self.written(2)).splitlines()[2:]
        self.assertEqual(len(lines), 2)
        for i, line in enumerate(lines):
            self.assertRegex(line, rf"^layer\.{i}\.weight FLOAT \[{MIB // 4}\] in {MIB} bytes at 0x[0-9a-f]+$")

    def test_shows_tensors_that_are_not_initializers(self):
        value = numpy_helper.from_array(np.arange(1000, dtype=np.float32), "value")
        words = onnx.helper.make_tensor("words", onnx.TensorProto.STRING, [1], [b"x"])
        nodes = [onnx.helper.make_node("Constant", [], ["a"], value=value), onnx.helper.make_node("Constant", [], ["b"], value=words)]
        graph = onnx.helper.make_graph(nodes, "g", [], [onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [1000])])
        onnx.save(onnx.helper.make_model(graph), self.folder / "m.onnx")
        onnxar("pack", self.folder / "m.onnx", "-o", self.archive)
        lines = self.shown("--all", self.archive).splitlines()[2:]
        self.assertRegex(lines[0], r"^value FLOAT \[1000\] in 4000 bytes at 0x[0-9a-f]+$")
        self.assertEqual(lines[1], "words STRING [1] in the model: strings have no raw bytes")

    def test_populated_and_copied_archives_show_the_same(self):
        self.written(2)
        floats = {self.shown(*options, self.archive).splitlines()[1] for options in ([], ["--populate"], ["--copy-in"])}
        self.assertEqual(len(floats), 1)
        self.assertTrue(self.shown("--copy-in", self.archive).startswith("copied "))

    def test_bad_calls_are_refused(self):
        self.written()
        for arguments in ([], ["--none", self.archive], [self.archive, "none"], [self.folder / "none"]):
            with self.subTest(arguments=arguments):
                done = run("runtime_map", *arguments)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "^runtime_map: ")


if __name__ == "__main__":
    if not {"ONNXAR", "ONNXAR_EXAMPLES"} <= os.environ.keys():
        sys.exit("usage: ONNXAR=onnxar ONNXAR_EXAMPLES=folder of the examples PYTHONPATH=tests examples_test.py")
    unittest.main()

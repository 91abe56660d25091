"""Tests the results of sessions with a cache, and the memory that they use."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import sys
import unittest
from typing import Any

import numpy as np
import onnx
from backend_cases import light
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from support import FolderTest, weights

import onnxar
from onnxar.onnxruntime import InferenceSession, SessionOptions

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests"))
from interop.readers import models

CPU = ["CPUExecutionProvider"]

MEASURED = """
import sys
import onnxar.onnxruntime

def private():
    with open("/proc/self/smaps_rollup") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))

options = onnxar.onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
before = private()
session = onnxar.onnxruntime.InferenceSession(sys.argv[1], options, ["CPUExecutionProvider"], cache=sys.argv[2] or False)
print(private() - before)
"""
WEIGHTS = 16


class Models(FolderTest):
    """Results, bit by bit, of every model of the interoperability matrix, and of onnx's tests that need attention.
    backend_slow_test has the rest."""

    def session(self, model: onnx.ModelProto, **named: Any) -> InferenceSession:
        path = self.folder / "m.onnxar"
        onnxar.save(model, path, overwrite=True, sync=False)
        options = SessionOptions()
        options.log_severity_level = 4
        return InferenceSession(path, options, CPU, **named)

    def test_models_of_the_interoperability_matrix(self):
        for name, make in models.SMALL.items():
            with self.subTest(name):
                plain = self.session(make())
                x = {"x": models.input_of(name, [each if isinstance(each, int) else 2 for each in plain.get_inputs()[0].shape])}
                expected = [each.tobytes() for each in plain.run(None, x)]
                for _ in range(2):
                    session = self.session(make(), cache=self.folder / "cache")
                    self.assertTrue(session.is_cached)
                    self.assertEqual([each.tobytes() for each in session.run(None, x)], expected)

    # ONNX Runtime adds inputs to this model while it stores it; the refusal is remembered.
    def test_model_with_added_inputs_is_stored_only_once(self):
        (case,) = (light(each) for each in load_model_tests(kind="real") if each.name == "test_squeezenet")
        for _ in range(2):
            with self.assertWarnsRegex(RuntimeWarning, "other inputs or outputs"):
                session = self.session(case.model, cache=self.folder / "cache")
            self.assertFalse(session.is_cached)
            self.assertIn(".refused", {each.suffix for each in (self.folder / "cache").iterdir()})
            self.assertEqual(list((self.folder / "cache").glob("*.onnxar")), [])
        self.assertEqual([each.name for each in session.get_inputs()], [each.name for each in self.session(case.model).get_inputs()])


class Alignment(FolderTest):
    def test_all_data_is_aligned(self):
        """ONNX Runtime 1.31 stores weights below a MiB unaligned, and kernels then crash (seen with AVX-512)."""
        sizes = [97, 331, 130, 45, 300]
        weight = [numpy_helper.from_array(weights(a, b, seed=a), f"w{a}") for a, b in itertools.pairwise(sizes)]
        nodes = [helper.make_node("MatMul", [f"x{a}", f"w{a}"], [f"x{b}"]) for a, b in itertools.pairwise(sizes)]
        values = [helper.make_tensor_value_info(f"x{size}", onnx.TensorProto.FLOAT, [None, size]) for size in (sizes[0], sizes[-1])]
        body = helper.make_graph([helper.make_node("MatMul", ["x300", "v"], ["z"])], "then", [], [helper.make_tensor_value_info("z", 1, None)],
                                 [numpy_helper.from_array(weights(300, 77), "v")])  # fmt: skip
        nodes.append(helper.make_node("If", ["yes"], ["y"], then_branch=body, else_branch=body))
        yes = helper.make_tensor_value_info("yes", onnx.TensorProto.BOOL, [])
        graph = helper.make_graph(nodes, "g", [values[0], yes], [helper.make_tensor_value_info("y", 1, None)], weight)
        path = self.folder / "m.onnxar"
        onnxar.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]), path)
        feeds = {f"x{sizes[0]}": weights(5, sizes[0], seed=2), "yes": np.array(True)}
        (expected,) = InferenceSession(path, providers=CPU).run(None, feeds)
        for _ in range(2):
            session = InferenceSession(path, providers=CPU, cache=self.folder / "cache")
            self.assertTrue(session.is_cached)
            self.assertEqual(session.run(None, feeds)[0].tobytes(), expected.tobytes())
        (entry,) = (self.folder / "cache").glob("*.onnxar")
        with onnxar.open(entry) as archive:
            model = onnx.ModelProto.FromString(archive.model())
        kept = [*model.graph.initializer, *(each for node in model.graph.node for attribute in node.attribute for each in attribute.g.initializer)]
        offsets = []
        for tensor in kept:
            for pair in tensor.external_data:
                if pair.key.startswith("prepacked"):
                    offsets += [int(blob.split(";")[0]) for blob in pair.value.split("|")[1:]]
                elif pair.key == "offset":
                    offsets.append(int(pair.value))
        self.assertGreater(len(offsets), 8)
        self.assertEqual([offset for offset in offsets if offset % 256], [])


class Memory(FolderTest):
    def test_prepacked_weights_take_no_private_memory(self):
        weight = [numpy_helper.from_array(weights(1024, 1024, seed=i), f"w{i}") for i in range(WEIGHTS)]  # of 4 MiB each
        nodes = [helper.make_node("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"x{i + 1}"]) for i in range(WEIGHTS)]
        values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1024]) for name in ("x", f"x{WEIGHTS}")]
        graph = helper.make_graph(nodes, "chain", values[:1], values[1:], weight)
        onnxar.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)]), self.folder / "m.onnxar")
        cache = self.folder / "cache"
        self.grown("cached", cache)  # stores the model
        cached, usual = self.grown("cached", cache), self.grown("usual", cache)
        self.assertLess(cached, 0.6 * usual, (cached, usual))  # buffers for the largest weights
        self.assertGreater(usual, WEIGHTS << 22)

    def grown(self, how: str, cache: pathlib.Path) -> int:
        """Returns the private memory of a new process in bytes, without the memory that it had before it made a
        session."""
        words = [sys.executable, "-B", "-c", MEASURED, self.folder / "m.onnxar", cache if how == "cached" else ""]
        return int(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


if __name__ == "__main__":
    unittest.main()

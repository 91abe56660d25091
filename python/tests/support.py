"""Models for tests, and a temporary folder for each test."""

from __future__ import annotations

import pathlib
import tempfile
import unittest
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnxar


def weights(*shape: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def matmul_model(size: int = 64) -> onnx.ModelProto:
    """y = x @ w + b, with one more weight in a Constant node, and a shape that has to stay inside."""
    initializers = [numpy_helper.from_array(weights(size, size), "w"), numpy_helper.from_array(weights(size, seed=8), "b")]
    initializers.append(numpy_helper.from_array(np.array([-1, size], np.int64), "shape"))
    scale = numpy_helper.from_array(weights(1, 512, seed=9), "scale")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["y"]),
        helper.make_node("Constant", [], ["z"], "constant", value=scale),
    ]
    graph = helper.make_graph(
        nodes,
        "matmul",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, size])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, size]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 512]),
        ],
        initializers,
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def arrays_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="onnxar_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, code: str, call: Callable[..., object], *arguments: object, **named: object) -> onnxar.Error:
        """Expects that the call raises an error of this code, and returns it."""
        with self.assertRaises(onnxar.Error) as raised:
            call(*arguments, **named)
        self.assertEqual(raised.exception.code, code, raised.exception)
        return raised.exception

    def names(self) -> set[str]:
        """Returns the names in the folder, so that tests find files that were left behind."""
        return {path.name for path in self.folder.iterdir()}


class ArchiveTest(FolderTest):
    """`path` is the archive of `model`."""

    @staticmethod
    def made() -> onnx.ModelProto:
        return matmul_model()

    def setUp(self) -> None:
        super().setUp()
        self.model = self.made()
        self.path = self.folder / "m.onnxar"
        onnxar.save(self.model, self.path)

"""Adapters that ONNX Runtime's own tool writes, as side files of an archive."""

from __future__ import annotations

import pathlib
import unittest

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from support import FolderTest

import onnxar
import onnxar.onnxruntime

WIDTH = 4
WRITTEN = pathlib.Path(__file__).parents[2] / "tests/interop/readers/scale.onnx_adapter"  # what the tests of C++ read


def lora() -> dict[str, np.ndarray]:
    return {"lora_a": np.ones((WIDTH, 2), np.float32), "lora_b": np.full((2, WIDTH), 2, np.float32)}


def model() -> onnx.ModelProto:
    """y = x + x @ lora_a @ lora_b: the matrices are empty unless an adapter replaces them."""
    empty = {"lora_a": np.zeros((WIDTH, 0), np.float32), "lora_b": np.zeros((0, WIDTH), np.float32)}
    matmul = lambda a, b, c: helper.make_node("MatMul", [a, b], [c])
    nodes = [matmul("x", "lora_a", "d"), matmul("d", "lora_b", "e"), helper.make_node("Add", ["x", "e"], ["y"])]
    value = lambda name, *dims: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    inputs = [value("x", 1, WIDTH), value("lora_a", WIDTH, "r"), value("lora_b", "r", WIDTH)]
    initializers = [numpy_helper.from_array(array, name) for name, array in empty.items()]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", 1, WIDTH)], initializers)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def export(path: pathlib.Path) -> None:
    adapter = ort.AdapterFormat()
    adapter.set_adapter_version(1)
    adapter.set_model_version(1)
    adapter.set_parameters({name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in lora().items()})
    adapter.export_adapter(str(path))


class Adapters(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.adapter, self.archive = self.folder / "scale.onnx_adapter", self.folder / "m.onnxar"
        export(self.adapter)
        onnxar.pack(model(), self.archive, side_files={"scale.onnx_adapter": self.adapter})

    def test_adapter_in_archive_equals_its_file(self) -> None:
        x = np.arange(WIDTH, dtype=np.float32).reshape(1, WIDTH)
        session = onnxar.onnxruntime.InferenceSession(self.archive, providers=["CPUExecutionProvider"])
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x)
        for source in (self.archive, self.archive.read_bytes()):
            adapter = onnxar.onnxruntime.load_adapter(source, "scale.onnx_adapter")
            options = ort.RunOptions()
            options.add_active_adapter(adapter)
            np.testing.assert_array_equal(session.run(None, {"x": x}, options)[0], x + x @ lora()["lora_a"] @ lora()["lora_b"])

    def test_missing_or_damaged_adapter_is_refused(self) -> None:
        with self.assertRaises(onnxar.NotFoundError):
            onnxar.onnxruntime.load_adapter(self.archive, "none.onnx_adapter")
        with onnxar.open(self.archive) as archive:
            (entry,) = (entry for entry in archive.entries() if entry.name == "scale.onnx_adapter")
        data = bytearray(self.archive.read_bytes())
        data[entry.offset + 100] ^= 1
        self.refused("zip.data.crc", onnxar.onnxruntime.load_adapter, bytes(data), "scale.onnx_adapter")

    # The C++ tests read this file, which ONNX Runtime's own tool wrote.
    def test_adapter_of_cpp_tests_has_expected_parameters(self) -> None:
        adapter = ort.AdapterFormat.read_adapter(str(WRITTEN))  # ONNX Runtime 1.23 frees the parameters with it
        parameters = adapter.get_parameters()
        self.assertEqual(parameters.keys(), lora().keys())
        for name, array in lora().items():
            np.testing.assert_array_equal(parameters[name].numpy(), array)


if __name__ == "__main__":
    unittest.main()

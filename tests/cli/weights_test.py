"""`freeze --weights`: any names in .npz, and safetensors."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import command_line
from support.command_line import FORMAT, ToolCase

NAMES = ("/layer/MatMul_w", "a\\b", "a//b", "../up", "a/./b", "tab\tx", "größe", "W", "w", "layer:0", "x" * 300, "CON")


def model_with_inputs(*names: str, kind: int = TensorProto.FLOAT) -> bytes:
    inputs = [helper.make_tensor_value_info(name, kind, [3]) for name in names]
    nodes = [helper.make_node("Identity", [name], [f"out{i}"]) for i, name in enumerate(names)]
    outputs = [helper.make_tensor_value_info(f"out{i}", kind, [3]) for i in range(len(names))]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs)).SerializeToString()


def safetensors(header: Any, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(begin: int, end: int, dtype: str = "F32", shape: list[int] = [3]) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


class WeightsCase(ToolCase):
    def filled(self, model: bytes, weights: Path) -> dict[str, np.ndarray]:
        self.succeeds("freeze", self.write("open.onnx", model), "--weights", weights, "-o", self.output, "-f")
        found = onnx.load_model_from_string(self.unpacked(self.output))
        return {tensor.name: numpy_helper.to_array(tensor) for tensor in found.graph.initializer}


class Npz(WeightsCase):
    def npz(self, names: tuple[str, ...]) -> Path:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for number, name in enumerate(names):
                array = io.BytesIO()
                np.save(array, np.full(3, number, np.float32))
                archive.writestr(f"{name}.npy", array.getvalue())
        return self.write("w.npz", file.getvalue())

    def test_names_need_not_be_paths(self) -> None:
        found = self.filled(model_with_inputs(*NAMES), self.npz(NAMES))
        self.assertEqual({name: values[0] for name, values in found.items()}, dict(zip(NAMES, range(len(NAMES)))))

    def test_a_name_that_two_arrays_have_is_refused(self) -> None:
        weights = self.npz(("w", "v"))
        weights.write_bytes(weights.read_bytes().replace(b"v.npy", b"w.npy"))
        freezing = ("freeze", self.write("m.onnx", model_with_inputs("w")), "--weights", weights)
        line = self.fails(FORMAT, "onnxar: error[zip.name.duplicate]", *freezing, "-o", self.output)
        self.assertIn("two arrays have this name", line)


class Safetensors(WeightsCase):
    def test_tensors_are_filled_in_by_name(self) -> None:
        a, b = np.arange(3, dtype=np.float32), np.arange(3, dtype=np.float32) * 2
        header = {"__metadata__": {"format": "pt"}, "/b\u00e4": entry(12, 24), "a": entry(0, 12)}
        weights = self.write("w.safetensors", safetensors(header, a.tobytes() + b.tobytes()))
        found = self.filled(model_with_inputs("a", "/b\u00e4"), weights)
        np.testing.assert_array_equal(found["a"], a)
        np.testing.assert_array_equal(found["/b\u00e4"], b)

    def test_types_must_match(self) -> None:
        weights = self.write("w.safetensors", safetensors({"a": entry(0, 6, "F16")}, bytes(6)))
        self.refused("onnx.weights.type", weights)

    def test_shapes_must_match(self) -> None:
        weights = self.write("w.safetensors", safetensors({"a": entry(0, 16, shape=[4])}, bytes(16)))
        self.refused("onnx.weights.shape", weights)

    def refused(self, code: str, weights: Path) -> None:
        model = self.write("m.onnx", model_with_inputs("a"))
        self.fails(FORMAT, f"onnxar: error[{code}]", "freeze", model, "--weights", weights, "-o", self.output)

    def test_damaged_headers_are_refused(self) -> None:
        for data in (
            safetensors({"a": entry(0, 12)}, bytes(13)),
            safetensors({"a": entry(-1, 11)}, bytes(12)),
            safetensors(b'{"a":', bytes(12)),
        ):
            self.refused("safetensors.malformed", self.write("w.safetensors", data))

    def test_a_type_that_onnx_lacks(self) -> None:
        self.refused("safetensors.type", self.write("w.safetensors", safetensors({"a": entry(0, 3, "F8_E8M0X")}, bytes(3))))

    def test_header_may_end_in_spaces(self) -> None:
        text = json.dumps({"a": entry(0, 12)}).encode()
        weights = self.write("w.safetensors", safetensors(text + b" " * 7, np.ones(3, np.float32).tobytes()))
        np.testing.assert_array_equal(self.filled(model_with_inputs("a"), weights)["a"], np.ones(3))


if __name__ == "__main__":
    command_line.main()

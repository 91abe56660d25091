"""Saving models in memory that are too large for one message: up to 8 GiB of memory and 5 GiB of disk."""

from __future__ import annotations

import unittest

import numpy as np
import onnx
import onnx_ir
from building import block
from onnx import TensorProto, helper
from support import FolderTest, memory_of

import onnxar
import onnxar.onnxruntime

SIZE, COUNT = 512 << 20, 5


def data_of(index: int) -> np.ndarray:
    return np.arange(SIZE // 8, dtype=np.int64) * (index + 1)


def model_over_2_gib():
    tensors = (TensorProto(name=f"w{index}", data_type=TensorProto.INT64, dims=[SIZE // 8], raw_data=data_of(index).tobytes()) for index in range(COUNT))
    model = helper.make_model(helper.make_graph([], "g", [], []), ir_version=10)
    for tensor in tensors:
        model.graph.initializer.append(tensor)
    return model


class Over2GiB(FolderTest):
    def test_model_is_saved_in_the_memory_of_one_tensor(self):
        model, path = model_over_2_gib(), self.folder / "m.onnxar"
        for kind in (model, onnx_ir.from_proto(model)):
            with self.subTest(type(kind).__module__):
                more = memory_of(lambda kind=kind: onnxar.save(kind, path, sync=False, overwrite=True))
                self.assertLess(more, SIZE + (64 << 20))
                with onnxar.open(path) as archive:
                    self.assertEqual([finding.code for finding in onnxar.check(path, data=True)], [])
                    for index in range(COUNT):
                        self.assertTrue(np.array_equal(archive[f"w{index}"], data_of(index)), index)

    def test_data_longer_than_its_dims_stays_in_model(self):
        model, path = model_over_2_gib(), self.folder / "m.onnxar"
        model.graph.initializer.add(name="long", data_type=TensorProto.FLOAT, dims=[300], raw_data=bytes(1201))
        report = onnxar.save(model, path, sync=False)
        self.assertEqual(([remark.code for remark in report.remarks], report.tensors_outside), (["onnx.tensor.long_raw"], COUNT))
        stored = onnxar.load(path, verify=False).graph.initializer[-1]
        self.assertEqual(stored, model.graph.initializer[-1])

    def test_saves_typed_values_over_2_gib(self):
        model, size = helper.make_model(helper.make_graph([], "g", [], [])), 750 << 20
        for index in range(3):
            tensor = model.graph.initializer.add(name=f"t{index}", data_type=TensorProto.FLOAT, dims=[size // 4])
            tensor.MergeFromString(block(4, bytes(size)))
        self.assertEqual(onnxar.save(model, self.folder / "m.onnxar", sync=False).typed_made_raw, 3)

    def test_names_the_part_that_is_too_large(self):
        model = helper.make_model(helper.make_graph([helper.make_node("A", [], [], "large")], "g", [], []))
        model.graph.node[0].attribute.add(name="texts", type=onnx.AttributeProto.STRINGS).strings.extend([bytes(1100 << 20)] * 2)
        self.assertEqual(self.refused("onnx.model.too_large", onnxar.save, model, self.folder / "m.onnxar").code, "onnx.model.too_large")
        self.assertEqual(self.names(), set())

    def test_onnx_runtime_reads_one_tensor_over_2_gib(self):
        import onnxruntime as ort

        size, data, plain = (2 << 30) + 4096, self.folder / "w.bin", self.folder / "m.onnx"
        with data.open("wb") as file:
            file.truncate(size)
            file.seek(size - 1)
            file.write(b"\7")
        weight = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(size))):
            weight.external_data.add(key=key, value=value)
        inputs = [helper.make_tensor_value_info("x", TensorProto.INT64, [1])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.UINT8, [1])]
        graph = helper.make_graph([helper.make_node("Gather", ["w", "x"], ["y"])], "g", inputs, outputs, [weight])
        plain.write_bytes(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
        archive = self.folder / "m.onnxar"
        onnxar.pack(plain, archive, sync=False)
        onnxar.link(archive, self.folder / "linked.onnx")
        for session in (
            ort.InferenceSession(plain), ort.InferenceSession(self.folder / "linked.onnx"), onnxar.onnxruntime.InferenceSession(archive)
        ):  # fmt: skip
            (y,) = session.run(None, {"x": np.array([size - 1])})
            self.assertEqual(y[0], 7)
        self.refused("onnx.model.too_large", onnxar.unpack, archive, self.folder / "inside.onnx")


if __name__ == "__main__":
    unittest.main()

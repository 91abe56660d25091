"""Which functions of onnx `register` reaches, and the two lines that use the others on archives."""

from __future__ import annotations

import unittest

import numpy as np
import onnx
import onnx.utils
from onnx.reference import ReferenceEvaluator
from support import ArchiveTest, matmul_model, weights

import onnxar


class Registry(ArchiveTest):
    @staticmethod
    def made() -> onnx.ModelProto:
        return onnx.shape_inference.infer_shapes(matmul_model())  # onnx cuts out values of known shapes

    def setUp(self) -> None:
        super().setUp()
        onnxar.register()

    def test_load_and_save_are_reached_by_the_name_and_by_the_format(self):
        for load in (onnx.load, onnx.load_model):
            self.assertEqual(load(self.path), self.model)
        for save in (onnx.save, onnx.save_model):
            save(self.model, self.folder / "s.onnxar")
            save(self.model, self.folder / "s.other", format="onnxar")
            self.assertEqual((self.folder / "s.onnxar").read_bytes(), self.path.read_bytes())
            self.assertEqual((self.folder / "s.other").read_bytes(), self.path.read_bytes())
        self.assertEqual(onnx.load_model_from_string(self.path.read_bytes(), format="onnxar"), self.model)

    def test_functions_that_read_files_themselves_are_not_reached(self):
        path, out = str(self.path), str(self.folder / "out.onnx")
        for call in (lambda: onnx.checker.check_model(path), lambda: onnx.shape_inference.infer_shapes_path(path, out),
                     lambda: onnx.utils.extract_model(path, out, ["x"], ["product"])):  # fmt: skip
            with self.assertRaises(Exception):  # noqa: B017  each has one of its own
                call()

    def test_extract_model_is_reached_if_it_neither_checks_nor_infers(self):
        out = self.folder / "part.onnxar"
        onnx.utils.extract_model(self.path, out, ["x"], ["product"], check_model=False, infer_shapes=False)
        self.assertEqual([node.op_type for node in onnxar.load(out).graph.node], ["MatMul"])


class TwoLines(Registry):
    def test_check_model(self):
        onnx.checker.check_model(onnxar.load(self.path))

    def test_extract_model(self):
        part = onnx.utils.Extractor(onnxar.load(self.path)).extract_model(["x"], ["product"])
        onnxar.save(part, self.folder / "part.onnxar")
        found = ReferenceEvaluator(onnxar.load(self.folder / "part.onnxar"))
        x = weights(2, 64, seed=3)
        np.testing.assert_allclose(found.run(None, {"x": x})[0], x @ weights(64, 64), rtol=1e-4, atol=1e-4)

    def test_shape_inference_reads_and_moves_no_weight(self):
        onnxar.save(matmul_model(), self.path, overwrite=True)
        with onnxar.edit(self.path) as e:
            e.model.CopyFrom(onnx.shape_inference.infer_shapes(e.model))
        self.assertEqual(e.report.bytes_added, 0)
        names = {value.name for value in onnxar.load(self.path).graph.value_info}
        self.assertLessEqual({"product", "sum"}, names)
        self.assertEqual({finding.severity for finding in onnxar.check(self.path, data=True)}, {"note"})


if __name__ == "__main__":
    unittest.main()

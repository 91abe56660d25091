"""Sessions of ONNX Runtime before 1.21, which does not know the folder of a model in memory.

`./dev python --old` runs this, with packages of its own."""

from __future__ import annotations

import unittest

import numpy as np
import onnxruntime as ort
from support import FolderTest, matmul_model, weights

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]


class Sessions(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.assertLess(tuple(map(int, ort.__version__.split(".")[:2])), onnxar.onnxruntime.FIRST_WITH_FOLDER)
        model = matmul_model()
        self.path = self.folder / "m.onnxar"
        onnxar.save(model, self.path)
        self.x = {"x": weights(3, 64, seed=11)}
        self.expected = ort.InferenceSession(model.SerializeToString(), providers=CPU).run(["y"], self.x)[0]

    def test_sessions_of_path_and_memory_equal_the_model(self):
        (self.folder / "linked.onnxar").symlink_to(self.path)
        for source in (self.path, self.folder / "linked.onnxar", self.path.read_bytes(), onnxar.open(self.path)):
            session = onnxar.onnxruntime.InferenceSession(source, providers=CPU)
            np.testing.assert_array_equal(session.run(["y"], self.x)[0], self.expected)

    def test_nothing_is_left_in_folders(self):
        before = self.names()
        session = onnxar.onnxruntime.InferenceSession(self.path, providers=CPU)
        self.assertEqual(self.names(), before)
        np.testing.assert_array_equal(session.run(["y"], self.x)[0], self.expected)


if __name__ == "__main__":
    unittest.main()

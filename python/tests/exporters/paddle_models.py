"""paddle2onnx: a model of Paddle, which it writes as a file."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import paddle
from common import ExporterTest

X = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)


class Paddle(ExporterTest):
    def test_layers(self) -> None:
        paddle.seed(0)
        made = paddle.nn.Sequential(paddle.nn.Linear(64, 128), paddle.nn.ReLU(), paddle.nn.Linear(128, 32))
        made.eval()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "made")
            paddle.onnx.export(made, path, input_spec=[paddle.static.InputSpec([None, 64], "float32", "x")], opset_version=17)
            self.compare(onnx.load(path + ".onnx"), {"x": X}, least_outside=2)


if __name__ == "__main__":
    unittest.main()

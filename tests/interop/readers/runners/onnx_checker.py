"""onnx.checker.check_model of the path, with shape inference."""

import onnx


def run(model, x, folder):
    onnx.checker.check_model(model, full_check=True)
    return "good"

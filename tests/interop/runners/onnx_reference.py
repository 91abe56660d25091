"""onnx.load, and the reference evaluator."""

import onnx
from onnx.reference import ReferenceEvaluator


def run(model, x, folder):
    return ReferenceEvaluator(onnx.load(model)).run(["y"], {"x": x})[0]

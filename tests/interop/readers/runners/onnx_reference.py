"""onnx.load, and the reference evaluator; of an archive, onnxar.load."""

import onnx
from onnx.reference import ReferenceEvaluator


def run(model, x, folder):
    if model.endswith(".onnxar"):
        import onnxar

        return ReferenceEvaluator(onnxar.load(model)).run(["y"], {"x": x})[0]
    return ReferenceEvaluator(onnx.load(model)).run(["y"], {"x": x})[0]

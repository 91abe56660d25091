"""onnx.version_converter, from operator set 17 to 18, and the reference evaluator."""

import onnx
from onnx import version_converter
from onnx.reference import ReferenceEvaluator


def run(model, x, folder):
    return ReferenceEvaluator(version_converter.convert_version(onnx.load(model), 18)).run(["y"], {"x": x})[0]

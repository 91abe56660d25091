"""onnxoptimizer's default passes on the loaded model, run by ONNX Runtime."""

import onnx
import onnxoptimizer
from runners import onnxruntime_session


def run(model, x, folder):
    onnx.save(onnxoptimizer.optimize(onnx.load(model)), f"{folder}/saved.onnx")
    return onnxruntime_session.run(f"{folder}/saved.onnx", x, folder)

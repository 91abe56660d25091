"""onnxslim of the path, into another folder, run by ONNX Runtime."""

import onnxslim
from runners import onnxruntime_session


def run(model, x, folder):
    onnxslim.slim(model, f"{folder}/saved.onnx")
    return onnxruntime_session.run(f"{folder}/saved.onnx", x, folder)

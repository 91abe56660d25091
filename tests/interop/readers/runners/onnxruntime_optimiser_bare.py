"""ONNX Runtime's optimiser, into another folder, as it is without options: the output keeps links to the input's data."""

from runners import onnxruntime_session
from runners.onnxruntime_optimiser import optimise


def run(model, x, folder):
    optimise(model, f"{folder}/optimised.onnx")
    return onnxruntime_session.run(f"{folder}/optimised.onnx", x, folder)

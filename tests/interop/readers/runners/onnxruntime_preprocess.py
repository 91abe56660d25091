"""ONNX Runtime's preparation for quantisation: symbolic shape inference and optimisation, into another folder."""

from onnxruntime.quantization.shape_inference import quant_pre_process
from runners import onnxruntime_session


def run(model, x, folder):
    quant_pre_process(model, f"{folder}/prepared.onnx")
    return onnxruntime_session.run(f"{folder}/prepared.onnx", x, folder)

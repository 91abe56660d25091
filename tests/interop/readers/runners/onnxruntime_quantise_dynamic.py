"""ONNX Runtime's dynamic quantiser, from the path into another folder."""

from onnxruntime.quantization import quantize_dynamic
from runners import onnxruntime_session


def run(model, x, folder):
    quantize_dynamic(model, f"{folder}/quantised.onnx")
    return onnxruntime_session.run(f"{folder}/quantised.onnx", x, folder)

"""OpenVINO: read_model of the path, compiled for the CPU in float32."""

import openvino


def run(model, x, folder):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
    return compiled({"x": x})["y"]

"""ONNX Runtime's optimiser: the optimised model is saved into another folder and run from there."""

import onnxruntime
from runners import onnxruntime_session


def run(model, x, folder):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = f"{folder}/optimised.onnx"
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return onnxruntime_session.run(options.optimized_model_filepath, x, folder)

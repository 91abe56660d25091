"""ONNX Runtime's optimiser: the optimised model is saved beside the model, keeps its links, and is run from there."""

from pathlib import Path

import onnxruntime
from runners import onnxruntime_session


def optimise(model, output, **config):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(output)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    for key, value in config.items():
        options.add_session_config_entry(f"session.{key}", value)
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(model, x, folder):
    output = Path(model).with_name(f"optimised-{Path(folder).name}.onnx")
    try:
        optimise(model, output)
        return onnxruntime_session.run(str(output), x, folder)
    finally:
        output.unlink(missing_ok=True)

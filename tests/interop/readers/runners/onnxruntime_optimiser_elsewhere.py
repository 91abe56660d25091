"""ONNX Runtime's optimiser, into another folder: with a data file, so that the output keeps no links."""

from runners import onnxruntime_session
from runners.onnxruntime_optimiser import optimise


def run(model, x, folder):
    output = f"{folder}/optimised.onnx"
    optimise(model, output, optimized_model_external_initializers_file_name="optimised.data",
             optimized_model_external_initializers_min_size_in_bytes="1024")  # fmt: skip
    return onnxruntime_session.run(output, x, folder)

"""ONNX Runtime: a session from the path."""

import onnxruntime


def run(model, x, folder):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": x})[0]

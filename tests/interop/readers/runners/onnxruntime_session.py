"""ONNX Runtime: a session from the path; of an archive, with onnxar.onnxruntime."""

import onnxruntime


def run(model, x, folder):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if model.endswith(".onnxar"):
        from onnxar.onnxruntime import InferenceSession
    else:
        InferenceSession = onnxruntime.InferenceSession
    session = InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": x})[0]

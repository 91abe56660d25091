"""ONNX Runtime with the patches of upstream/onnxruntime: a session from the path, of an archive, too."""

import onnxruntime


def run(model, x, folder):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": x})[0]

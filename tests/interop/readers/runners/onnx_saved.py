"""onnx.load, then onnx.save with external data (also of attributes) into another folder, run by ONNX Runtime."""

import onnx
from runners import onnxruntime_session


def run(model, x, folder):
    path = f"{folder}/saved.onnx"
    onnx.save(onnx.load(model), path, save_as_external_data=True, location="saved.data", size_threshold=1024)
    return onnxruntime_session.run(path, x, folder)

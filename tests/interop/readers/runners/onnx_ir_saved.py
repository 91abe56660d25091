"""onnx_ir.load, then onnx_ir.save with external data into another folder, run by ONNX Runtime."""

import onnx_ir
from runners import onnxruntime_session


def run(model, x, folder):
    path = f"{folder}/saved.onnx"
    onnx_ir.save(onnx_ir.load(model), path, external_data="saved.data")
    return onnxruntime_session.run(path, x, folder)

"""onnxsim of the path, saved into another folder, run by ONNX Runtime."""

import onnx
import onnxsim
from runners import onnxruntime_session


def run(model, x, folder):
    made, same = onnxsim.simplify(model)
    if not same:
        raise ValueError("onnxsim's own check failed")
    onnx.save(made, f"{folder}/saved.onnx")
    return onnxruntime_session.run(f"{folder}/saved.onnx", x, folder)

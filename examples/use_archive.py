#!/usr/bin/env python3
"""Saves a model as an archive, looks at its weights in place, and runs it. Needs the wheel, onnx and onnxruntime.

Usage: use_archive.py OUT.onnxar
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnxar
import onnxar.onnxruntime


def make_model() -> onnx.ModelProto:
    """y = relu(x @ w)"""
    weight = np.random.default_rng(0).standard_normal((256, 16), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Relu", ["product"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 256])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 16])]
    graph = helper.make_graph(nodes, "layer", inputs, outputs, [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def main() -> None:
    path = sys.argv[1]
    report = onnxar.save(make_model(), path)
    print(f"{path}: {report.file_bytes} bytes, {report.tensors_outside} tensor outside the model")

    with onnxar.open(path) as archive:
        weight = archive["w"]  # a view of the mapped file, also after the block
        for entry in archive.entries():
            print(f"  {entry.name}: {entry.size} bytes at {entry.offset}")

    x = np.ones((2, 256), np.float32)
    session = onnxar.onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": x})
    if not np.allclose(y, np.maximum(x @ weight, 0), atol=1e-4):
        raise SystemExit("the session's output is not what NumPy computes")
    print("the session computes what NumPy computes")


if __name__ == "__main__":
    main()

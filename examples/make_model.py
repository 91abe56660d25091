"""Writes the small model that the samples of the documents use: y = relu(x @ encoder.weight) @ decoder.weight, with an
embedding that is not used. Also writes a file `tokenizer.json` beside it.

Usage: make_model.py OUT.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main() -> None:
    shapes = {"encoder.weight": (64, 256), "decoder.weight": (256, 16), "embedding": (300, 16)}
    numbers = np.random.default_rng(0)
    weights = [numpy_helper.from_array(numbers.standard_normal(shape, np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "encoder.weight"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["positive"]),
        helper.make_node("MatMul", ["positive", "decoder.weight"], ["y"]),
    ]
    row = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size])
    graph = helper.make_graph(nodes, "two_layers", [row("x", 64)], [row("y", 16)], weights)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, sys.argv[1])
    Path(sys.argv[1]).with_name("tokenizer.json").write_text('{"version": "1.0"}\n')


if __name__ == "__main__":
    main()

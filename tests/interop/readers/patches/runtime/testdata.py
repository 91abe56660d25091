"""Makes models that tests of ONNX Runtime read and Debian's source lacks, as far as their contents follow from the tests.

Usage: testdata.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model(op: str, name: str, x: list[int], y: list[int], **weights: np.ndarray) -> onnx.ModelProto:
    """Y is the operator applied to X and the weights, one after the other."""
    value = helper.make_tensor_value_info
    names = ["X", *(f"Y_{weight}" for weight in list(weights)[:-1]), "Y"]
    nodes = [helper.make_node(op, [names[i], weight], [names[i + 1]], f"{op.lower()}_{i + 1}") for i, weight in enumerate(weights)]
    stored = [numpy_helper.from_array(array, weight) for weight, array in weights.items()]
    graph = helper.make_graph(nodes, name, [value("X", TensorProto.FLOAT, x)], [value("Y", TensorProto.FLOAT, y)], stored)
    return helper.make_model(graph, ir_version=7, opset_imports=[helper.make_opsetid("", 7)])


def main() -> None:
    folder = Path(sys.argv[1])
    six, two, large = (np.arange(1, count + 1, dtype=np.float32) for count in (6, 2, 4096))
    onnx.save(model("Mul", "mul_1", [3, 2], [3, 2], W=six.reshape(3, 2)), folder / "mul_1.onnx")
    onnx.save(model("MatMul", "matmul_1", [3, 2], [3, 1], W=two.reshape(2, 1)), folder / "matmul_1.onnx")
    several = model("Mul", "several", [4096], [4096], a=large, b=large + 1, c=large + 2)
    onnx.save(several, folder / "mnist.onnx")
    name = "model_with_orig_ext_data.onnx"
    onnx.save(several, folder / name, save_as_external_data=True, location=f"{name}.data")


if __name__ == "__main__":
    main()

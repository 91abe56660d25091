"""Writes the model of netron.mjs as archives: netron_model.py FILE..."""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_archive import save

w = numpy_helper.from_array(np.arange(1200, dtype=np.float32).reshape(40, 30) + 0.5, "w")
f = numpy_helper.from_array(np.full((40, 30), 7, np.float32), "f")
opset = helper.make_opsetid("", 21)
function = helper.make_function(
    "local", "Plus7", ["x"], ["y"], [helper.make_node("Constant", [], ["c"], value=f), helper.make_node("Add", ["x", "c"], ["y"])], [opset]
)
value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, (40, 30))
graph = helper.make_graph(
    [helper.make_node("Mul", ["x", "w"], ["m"]), helper.make_node("Plus7", ["m"], ["y"], domain="local")], "graph", [value("x")], [value("y")], [w]
)
model = helper.make_model(graph, ir_version=10, functions=[function], opset_imports=[opset, helper.make_opsetid("local", 1)])
for name in sys.argv[1:]:
    save(model, name)

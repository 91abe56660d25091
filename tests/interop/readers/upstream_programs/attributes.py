import os

import onnx
import onnx_ir
from onnx import TensorProto, helper

w = TensorProto(data_type=TensorProto.FLOAT, dims=[64, 16], data_location=TensorProto.EXTERNAL)
for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "4096")):
    w.external_data.add(key=key, value=value)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
nodes = [helper.make_node("Constant", [], ["w"], value=w), helper.make_node("MatMul", ["x", "w"], ["y"])]
graph = helper.make_graph(nodes, "g", [x], [y])
with open("model.onnx", "wb") as file:
    file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
with open("weights.bin", "wb") as file:
    file.write(bytes(4096))
os.mkdir("elsewhere")
onnx_ir.save(onnx_ir.load("model.onnx"), "elsewhere/model.onnx", external_data="model.data")
saved = onnx.load("elsewhere/model.onnx", load_external_data=False)
location = saved.graph.node[0].attribute[0].t.external_data[0].value
print(location, os.path.exists(f"elsewhere/{location}"))

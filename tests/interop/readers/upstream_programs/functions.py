import onnx
from onnx import TensorProto, helper

k = TensorProto(data_type=TensorProto.FLOAT, dims=[64, 64], data_location=TensorProto.EXTERNAL)
for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "16384")):
    k.external_data.add(key=key, value=value)
opset, own = helper.make_opsetid("", 17), helper.make_opsetid("own", 1)
nodes = [helper.make_node("Constant", [], ["k"], value=k), helper.make_node("MatMul", ["a", "k"], ["b"])]
layer = helper.make_function("own", "Layer", ["a"], ["b"], nodes, [opset])
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64]) for name in "xy")
graph = helper.make_graph([helper.make_node("Layer", ["x"], ["y"], domain="own")], "g", [x], [y])
with open("model.onnx", "wb") as file:
    file.write(helper.make_model(graph, functions=[layer], opset_imports=[opset, own], ir_version=8).SerializeToString())
with open("weights.bin", "wb") as file:
    file.write(bytes(16384))

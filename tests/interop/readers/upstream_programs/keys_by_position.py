import onnx
from onnx import TensorProto, helper, numpy_helper

w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[64, 16], data_location=TensorProto.EXTERNAL)
for key, value in (("location", "weights.bin"), ("length", "4096")):  # an offset that is missing is 0
    w.external_data.add(key=key, value=value)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [w])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
with open("model.onnx", "wb") as file:
    file.write(model.SerializeToString())
with open("weights.bin", "wb") as file:
    file.write(b"\x00\x00\x80\x3f" * 1024 + b"\x00\x00\x00\x40" * 1024)  # 1024 times 1.0, which are w, and 1024 times 2.0
print(numpy_helper.to_array(onnx.load("model.onnx").graph.initializer[0]).max())

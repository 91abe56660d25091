import onnx
import onnxruntime
from onnx import TensorProto, helper

w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[64, 16], data_location=TensorProto.EXTERNAL)
for key, value in (("location", "one_file.onnx"), ("offset", "4096"), ("length", "4096")):
    w.external_data.add(key=key, value=value)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [w])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
with open("one_file.onnx", "wb") as file:
    file.write(model.ljust(4096, b"\0") + bytes(4096))  # the model, padding, the weights
try:
    onnxruntime.InferenceSession("one_file.onnx", providers=["CPUExecutionProvider"])
except Exception as error:
    print(error)

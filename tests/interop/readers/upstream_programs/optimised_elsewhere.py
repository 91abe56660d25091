import os

import onnx
import onnxruntime
from onnx import TensorProto, helper

w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[64, 16], data_location=TensorProto.EXTERNAL)
for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "4096")):
    w.external_data.add(key=key, value=value)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [w])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
with open("model.onnx", "wb") as file:
    file.write(model.SerializeToString())
with open("weights.bin", "wb") as file:
    file.write(bytes(4096))
os.mkdir("elsewhere")
options = onnxruntime.SessionOptions()
options.optimized_model_filepath = "elsewhere/model.onnx"
onnxruntime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])  # says nothing
try:
    onnxruntime.InferenceSession("elsewhere/model.onnx", providers=["CPUExecutionProvider"])
except Exception as error:
    print(str(error).replace(f"{os.getcwd()}/", ""))

import onnx
from onnx import TensorProto, helper

def branch(name):
    w = TensorProto(name=f"{name}_w", data_type=TensorProto.FLOAT, dims=[64, 16], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "4096")):
        w.external_data.add(key=key, value=value)
    y = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, [1, 16])
    return helper.make_graph([helper.make_node("MatMul", ["x", w.name], [y.name])], name, [], [y], [w])

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
node = helper.make_node("If", ["c"], ["y"], then_branch=branch("then"), else_branch=branch("else"))
model = helper.make_model(helper.make_graph([node], "g", [c, x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
with open("model.onnx", "wb") as file:
    file.write(model.SerializeToString())
with open("weights.bin", "wb") as file:
    file.write(bytes(4096))

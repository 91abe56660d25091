import numpy as np, onnx, json, os, subprocess
from onnx import TensorProto as T, helper as h, numpy_helper as n
ids=h.make_tensor_value_info("input_ids",T.INT64,["b","s"]); am=h.make_tensor_value_info("attention_mask",T.INT64,["b","s"])
out=h.make_tensor_value_info("last_hidden_state",T.FLOAT,["b","s",64])
for name,seed in (("model",1),("model_fp16",2)):
    w=n.from_array(np.random.default_rng(seed).standard_normal((100,64)).astype(np.float32),"table")
    g=h.make_graph([h.make_node("Gather",["table","input_ids"],["last_hidden_state"])],"g",[ids],[out],[w])
    os.makedirs("repo/onnx",exist_ok=True); onnx.save(h.make_model(g,ir_version=8,opset_imports=[h.make_opsetid("",17)]),f"repo/onnx/{name}.onnx")
json.dump({"model_type":"bert","architectures":["BertModel"]},open("repo/config.json","w"))

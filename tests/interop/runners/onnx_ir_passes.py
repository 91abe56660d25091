"""onnx_ir.load, passes (inlining, shared subexpressions, unused nodes), weights put inline, run by ONNX Runtime."""

import onnx_ir
from onnx_ir.passes import common
from runners import onnxruntime_session


def run(model, x, folder):
    made = onnx_ir.load(model)
    for each in (common.InlinePass(), common.CommonSubexpressionEliminationPass(), common.RemoveUnusedNodesPass()):
        made = each(made).model
    onnx_ir.save(onnx_ir.external_data.load_to_model(made), f"{folder}/saved.onnx")
    return onnxruntime_session.run(f"{folder}/saved.onnx", x, folder)

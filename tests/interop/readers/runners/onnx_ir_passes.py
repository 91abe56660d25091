"""onnx_ir.load, passes (inlining, shared subexpressions, unused nodes), weights put inline, run by ONNX Runtime; of an
archive, onnxar.load_ir."""

import onnx_ir
from onnx_ir.passes import common
from runners import onnxruntime_session


def loaded(model):
    if not model.endswith(".onnxar"):
        return onnx_ir.load(model)
    import onnxar

    return onnxar.load_ir(model)


def run(model, x, folder):
    made = loaded(model)
    for each in (common.InlinePass(), common.CommonSubexpressionEliminationPass(), common.RemoveUnusedNodesPass()):
        made = each(made).model
    onnx_ir.save(onnx_ir.external_data.load_to_model(made), f"{folder}/saved.onnx")
    return onnxruntime_session.run(f"{folder}/saved.onnx", x, folder)

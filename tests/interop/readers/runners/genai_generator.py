"""ONNX Runtime GenAI: one step of a generator. It runs language models alone, so nodes around the model make one of it: token
ids become `x`, and `y` the logits. The framed model is beside the model, as paths in GenAI's settings may not leave their
folder; its weights are where the model's are."""

import json
import math
from pathlib import Path

import numpy as np
import onnx
import onnxruntime_genai
from onnx import TensorProto, helper, numpy_helper

TOKENS = 4


def framed(model, x):
    """`x` is the input of the other tools, plus a thousandth of the ids' mean; each token's logits are `y`."""
    graph = model.graph
    shapes = {"frame_flat": np.array([1, 1, -1]), "frame_tokens": np.array([1, TOKENS, 1])}
    constants = {"frame_x": x, "frame_scale": np.array(1e-3, np.float32), **shapes}
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    before = [
        helper.make_node("Cast", ["input_ids"], ["frame_floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["frame_floats"], ["frame_mean"], keepdims=0),
        helper.make_node("Mul", ["frame_mean", "frame_scale"], ["frame_small"]),
        helper.make_node("Add", ["frame_x", "frame_small"], ["x"]),
    ]
    after = [
        helper.make_node("Reshape", ["y", "frame_flat"], ["frame_row"]),
        helper.make_node("Expand", ["frame_row", "frame_tokens"], ["logits"]),
    ]
    nodes = [*before, *graph.node, *after]
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    graph.input.append(helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "length"]))
    graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "length", "row"]))
    return model


def config(filename, row):
    decoder = {
        "filename": filename,
        "head_size": 1,
        "hidden_size": 1,
        "num_attention_heads": 1,
        "num_hidden_layers": 1,
        "num_key_value_heads": 1,
        "inputs": {"input_ids": "input_ids"},
        "outputs": {"logits": "logits"},
        "session_options": {"intra_op_num_threads": 1, "provider_options": []},
    }
    ids = {"vocab_size": row, "eos_token_id": row - 1, "pad_token_id": row - 1}
    return {"model": {"type": "llama", "decoder": decoder, "context_length": 2 * TOKENS, **ids}, "search": {"max_length": 2 * TOKENS}}


def logits(folder):
    model = onnxruntime_genai.Model(folder)
    generator = onnxruntime_genai.Generator(model, onnxruntime_genai.GeneratorParams(model))
    generator.append_tokens(np.arange(1, TOKENS + 1, dtype=np.int32))
    return generator.get_logits()


def run(model, x, folder):
    made, beside = onnx.load(model, load_external_data=False), Path(model).parent
    row = math.prod(dim.dim_value for dim in made.graph.output[0].type.tensor_type.shape.dim)
    frame, settings = beside / "framed.onnx", beside / "genai_config.json"
    try:
        frame.write_bytes(framed(made, x).SerializeToString())
        settings.write_text(json.dumps(config(frame.name, row)))
        return logits(str(beside))
    finally:
        frame.unlink(missing_ok=True)
        settings.unlink(missing_ok=True)

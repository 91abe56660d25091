"""Makes models for the tests of metadata, and says what onnx finds in them.

Usage: ONNXAR=path/to/onnxar metadata.py FOLDER. Prints JSON: by file name, its graphs, each with tensors, inputs and outputs.

- plain.onnx: weights in plain.bin, in a subgraph, in a Constant node, of many types; plain.onnxar: packed
- inside.onnx: the same with its data inside
- family.onnxar: two graphs over one weight
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, load, numpy_helper, save

NAMES = {"FLOAT": "F32", "FLOAT16": "F16", "DOUBLE": "F64", "INT64": "I64", "UINT8": "U8", "BOOL": "BOOL", "BFLOAT16": "BF16", "STRING": "STRING"}


def dtype(number: int) -> str:
    return NAMES[TensorProto.DataType.Name(number)]


def weight(name: str, shape: list[int], kind: type = np.float32) -> TensorProto:
    values = np.arange(int(np.prod(shape))) + sum(name.encode())  # other values for each name
    return numpy_helper.from_array((values % 100).astype(kind).reshape(shape), name)


def branch(side: str) -> GraphProto:
    out = helper.make_tensor_value_info(f"out_{side}", TensorProto.FLOAT, [40, 40])
    return helper.make_graph([helper.make_node("Identity", [f"in_{side}"], [out.name])], side, [], [out], [weight(f"in_{side}", [40, 40])])


def made(name: str) -> ModelProto:
    nodes = [
        helper.make_node("If", ["flag"], ["chosen"], then_branch=branch("then"), else_branch=branch("else")),
        helper.make_node("MatMul", ["x", "shared"], ["y"]),
        helper.make_node("Constant", [], ["fixed"], value=weight("", [10])),
    ]
    inputs = [
        helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64]),
        helper.make_tensor_value_info("any", TensorProto.INT64, None),
        helper.make_tensor_value_info("shared", TensorProto.FLOAT, [64, 32]),  # as IR version 3 has weights
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 32])]
    weights = [weight("shared", [64, 32]), weight(f"{name}_half", [16, 64], np.float16), weight("long", [3], np.int64), weight("scalar", []),
               weight("bytes", [2000], np.uint8), weight("bools", [5], bool), helper.make_tensor("text", TensorProto.STRING, [2], [b"a", b"b"])]  # fmt: skip
    graph = helper.make_graph(nodes, name, inputs, outputs, weights)
    return helper.make_model(graph, producer_name=f"maker of {name}", opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 3)])


def initializers(graph: GraphProto) -> list[TensorProto]:
    found = list(graph.initializer)
    for node in graph.node:
        if node.op_type == "Constant":
            node.attribute[0].t.name = node.output[0]
            found.append(node.attribute[0].t)
        for attribute in node.attribute:
            found += [each for inner in [attribute.g, *attribute.graphs] for each in initializers(inner)]
    return found


def shape_of(value: ValueInfoProto) -> list | None:
    kind = value.type.tensor_type
    return [dim.dim_param or dim.dim_value for dim in kind.shape.dim] if kind.HasField("shape") else None


def said(model: ModelProto) -> dict:
    tensors = {each.name: [dtype(each.data_type), list(each.dims)] for each in initializers(model.graph)}
    values = lambda all_values: [[each.name, dtype(each.type.tensor_type.elem_type), shape_of(each)] for each in all_values]
    inputs = [each for each in values(model.graph.input) if each[0] not in tensors]
    return {"tensors": tensors, "inputs": inputs, "outputs": values(model.graph.output), "producer": model.producer_name,
            "opsets": {each.domain or "ai.onnx": each.version for each in model.opset_import}}  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    tool = os.environ["ONNXAR"]
    save(made("plain"), folder / "inside.onnx")
    save(made("plain"), str(folder / "plain.onnx"), save_as_external_data=True, location="plain.bin", size_threshold=1000, convert_attribute=True)
    subprocess.run([tool, "pack", folder / "plain.onnx", "-o", folder / "plain.onnxar", "-f", "-q"], check=True)
    for name in ("encoder", "decoder"):
        save(made(name), folder / f"{name}.onnx")
    models = [folder / f"{name}.onnx" for name in ("encoder", "decoder")]
    subprocess.run([tool, "pack", *models, "-o", folder / "family.onnxar", "-f", "-q"], check=True)
    print(json.dumps({name: said(load(str(folder / f"{name}.onnx"))) for name in ("plain", "inside", "encoder", "decoder")}))


if __name__ == "__main__":
    main()

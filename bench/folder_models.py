"""Makes folders of models as people publish them: folder_models.py MINILM.onnx OUT. Run by the Python that has the wheel.

`graphs`: one set of weights with three batch sizes; `package`: an ONNX Runtime model package of three precisions; `pipeline`:
two text encoders with the same weights beside a larger model. Weights are external, as exporters write them.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Iterable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import convert_float_to_float16

WIDTH, LAYERS = 2048, 18  # of the larger model: 302 MB


def save(model: onnx.ModelProto, path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path, save_as_external_data=True, location=f"{path.name}_data", size_threshold=1024)


def with_batch(model: onnx.ModelProto, batch: int) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in copy.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    return copy


def larger_model() -> onnx.ModelProto:
    weights, nodes = [], []
    for index in range(LAYERS):
        values = np.random.default_rng(index).standard_normal((WIDTH, WIDTH), np.float32) / WIDTH
        weights.append(numpy_helper.from_array(values, f"w{index}"))
        nodes.append(helper.make_node("MatMul", [f"y{index - 1}" if index else "x", f"w{index}"], [f"y{index}"]))
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH]) for name in ("x", f"y{LAYERS - 1}")]
    graph = helper.make_graph(nodes, "unet", value[:1], value[1:], weights)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])


def make_package(folder: pathlib.Path, variants: Iterable[str]) -> None:
    cpu = {"ep": "CPUExecutionProvider", "device": "cpu"}
    listed = {name: {"variant_directory": name, "ep": cpu["ep"], "device": cpu["device"]} for name in variants}
    manifest = {"schema_version": "1.0", "components": {"model": {"variants": listed}}}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2))


def main(source: str, out: str) -> None:
    model, folder = onnx.load(source), pathlib.Path(out)
    for batch in (1, 8, 32):
        save(with_batch(model, batch), folder / f"graphs/batch{batch}/model.onnx")
    save(onnx.load(source), folder / "package/fp32/model.onnx")  # saving moves the weights out of a message
    save(convert_float_to_float16(onnx.load(source), keep_io_types=True), folder / "package/fp16/model.onnx")
    quantized = folder / "int8.onnx"
    quantize_dynamic(source, quantized, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])  # keeps the embedding
    save(onnx.load(quantized), folder / "package/int8/model.onnx")
    quantized.unlink()
    make_package(folder / "package", ("fp32", "fp16", "int8"))
    for name in ("text_encoder", "text_encoder_2"):
        save(onnx.load(source), folder / f"pipeline/{name}/model.onnx")
    save(larger_model(), folder / "pipeline/unet/model.onnx")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs a tool of others on an archive by one of four routes: `onnx_tools.py TOOL ROUTE FOLDER`, or makes the archive: `onnx_tools.py make MIB FOLDER`."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.compose
import onnx.utils
import onnx.version_converter
from onnx import TensorProto, helper

import onnxar
import onnxar.onnxruntime

ARCHIVE, EXPECTED, MADE = "model.onnxar", "expected.npy", "made.onnxar"  # in the folder of a run
LINK, PLAIN = "link.onnx", "made.onnx"
WEIGHTS = 4
HIDDEN = f"x{WEIGHTS - 1}"  # a value that the model can be cut at


def make(mib: int, path: pathlib.Path) -> None:
    """Writes a chain of MatMul and Relu with weights of so many MiB."""
    width = int((mib * (1 << 20) / 4 / WEIGHTS) ** 0.5) // 64 * 64
    random = np.random.default_rng(7).standard_normal((64, width), np.float32) / width**0.5
    nodes = []
    model = helper.make_model(helper.make_graph([], "chain", [], []), ir_version=10, opset_imports=[helper.make_opsetid("", 18)])
    for index in range(WEIGHTS):
        nodes.append(helper.make_node("MatMul", [f"x{index}", f"w{index}"], [f"product{index}"]))
        nodes.append(helper.make_node("Relu", [f"product{index}"], [f"x{index + 1}"]))
        data = np.roll(np.tile(random, (width // 64, 1)), index + 1, axis=1).tobytes()
        model.graph.initializer.append(TensorProto(name=f"w{index}", data_type=TensorProto.FLOAT, dims=[width, width], raw_data=data))
    model.graph.node.extend(nodes)
    model.graph.input.append(helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", width]))
    model.graph.output.append(helper.make_tensor_value_info(f"x{WEIGHTS}", TensorProto.FLOAT, ["n", width]))
    onnxar.save(model, path, sync=False)
    np.save(path.with_name(EXPECTED), result_of(path, width))


def result_of(path: pathlib.Path, width: int) -> Any:
    """Returns what the model computes, in the first layers if it was cut."""
    session = onnxar.onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    x = np.linspace(-1, 1, 2 * width).reshape(2, width)
    return session.run(None, {given.name: x.astype({"tensor(float16)": np.float16}.get(given.type, np.float32))})[0].astype(np.float32)


# --- the routes ------------------------------------------------------------------------------------------------------

Made = Any  # a message to save, the path of what the tool wrote, or None if it wrote nothing


def by_path(tool: Callable[[Any, str], Made]) -> None:
    """The tool takes and writes archives, by their paths."""
    saved(tool(ARCHIVE, MADE))


def by_load(tool: Callable[[Any, str], Made]) -> None:
    """The tool takes the message with all data, and returns one or writes a file."""
    onnx_only(tool, onnxar.load(ARCHIVE))


def by_edit(tool: Callable[[Any, str], Made]) -> None:
    """The tool takes the message without its weights."""
    with onnxar.edit(ARCHIVE, sync=False) as e:
        made = tool(e.model, PLAIN)
        if made is not None:
            e.model.CopyFrom(made)
    if made is not None:
        os.link(ARCHIVE, MADE)


def by_link(tool: Callable[[Any, str], Made]) -> None:
    """The tool takes the path of a link or, if it takes no path, the message that onnx loads from it without its
    weights."""
    onnxar.link(ARCHIVE, LINK)
    takes_path = tool.__code__.co_varnames[0] in ("path", "any")
    onnx_only(tool, LINK if takes_path else onnx.load(LINK, load_external_data=False))


def onnx_only(tool: Callable[[Any, str], Made], model: Any) -> None:
    made = tool(model, PLAIN)
    if made == PLAIN:
        onnxar.pack(PLAIN, MADE, sync=False)
    else:
        saved(made)


def saved(made: Made) -> None:
    if made is not None and made != MADE:
        onnxar.save(made, MADE, data_dir=".", sync=False)


# --- the tools -------------------------------------------------------------------------------------------------------
# A function whose first argument is `path` takes the path of a file, one of `model` a message, one of `any` both.


def check_model(any: Any, made: str) -> Made:
    onnx.checker.check_model(any)
    return None


def infer_shapes_path(path: str, made: str) -> Made:
    onnx.shape_inference.infer_shapes_path(path, made)
    return made


def infer_shapes(model: Any, made: str) -> Made:
    inferred = onnx.shape_inference.infer_shapes(model)
    assert inferred.graph.value_info, "no shapes"
    return inferred


def extract_model(path: str, made: str) -> Made:
    onnx.utils.extract_model(path, made, ["x0"], [HIDDEN])
    return made


def extractor(model: Any, made: str) -> Made:
    return onnx.utils.Extractor(infer_shapes(model, made)).extract_model(["x0"], [HIDDEN])


def add_prefix(model: Any, made: str) -> Made:
    return onnx.compose.add_prefix(model, "left/")


def convert_version(model: Any, made: str) -> Made:
    return onnx.version_converter.convert_version(model, 21)


def quantize_dynamic(any: Any, made: str) -> Made:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(any, made, use_external_data_format=True)
    return made


def quantize_n_bits(any: Any, made: str) -> Made:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(any, bits=4, block_size=32)
    quantizer.process()
    quantizer.model.save_model_to_file(made, use_external_data_format=True)
    return made


def quant_pre_process(any: Any, made: str) -> Made:
    from onnxruntime.quantization import quant_pre_process

    quant_pre_process(any, made, save_as_external_data=True)
    return made


def optimize_model(path: str, made: str) -> Made:
    from onnxruntime.transformers import optimizer

    optimised = optimizer.optimize_model(path, "bert", num_heads=1, hidden_size=64, opt_level=0)
    optimised.save_model_to_file(made, use_external_data_format=True)
    return made


def transformers_float16(any: Any, made: str) -> Made:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    return convert_float_to_float16(any)


def common_float16(model: Any, made: str) -> Made:
    from onnxconverter_common import float16

    return float16.convert_float_to_float16(model)


def common_float16_path(path: str, made: str) -> Made:
    from onnxconverter_common import float16

    return float16.convert_float_to_float16_model_path(path)


def slim(any: Any, made: str) -> Made:
    import onnxslim

    onnxslim.slim(any, made, save_as_external_data=True)
    return made


def simplify(any: Any, made: str) -> Made:
    import onnxsim

    simplified, fine = onnxsim.simplify(any)
    assert fine
    return simplified


def onnxmltools_load_model(path: str, made: str) -> Made:
    import onnxmltools

    return onnxmltools.load_model(path)


# Tools by the row of the table in docs/onnx-tools.md: what takes a path, and what takes a message.
TOOLS: dict[str, tuple[Any, Any]] = {
    "onnx.checker.check_model": (check_model, check_model),
    "onnx.shape_inference": (infer_shapes_path, infer_shapes),
    "onnx.utils": (extract_model, extractor),
    "onnx.compose": (None, add_prefix),
    "onnx.version_converter": (None, convert_version),
    "quantize_dynamic": (quantize_dynamic, quantize_dynamic),
    "MatMulNBitsQuantizer": (quantize_n_bits, quantize_n_bits),
    "quant_pre_process": (quant_pre_process, quant_pre_process),
    "onnxruntime.transformers.optimizer": (optimize_model, None),
    "onnxruntime.transformers.float16": (transformers_float16, transformers_float16),
    "onnxconverter_common.float16": (common_float16_path, common_float16),
    "onnxslim": (slim, slim),
    "onnxsim": (simplify, simplify),
    "onnxmltools.load_model": (onnxmltools_load_model, None),
}
ROUTES: dict[str, tuple[Callable[[Any], None], tuple[int, ...]]] = {  # and which of the two functions, the first that there is
    "path": (by_path, (0,)),
    "load": (by_load, (1,)),
    "edit": (by_edit, (1,)),
    "link": (by_link, (0, 1)),
}
SEEN_BEFORE = ("onnxruntime.transformers.float16", "onnxruntime.transformers.optimizer")  # import functions of onnx by name


def run(tool: str, route: str) -> None:
    """Runs in the current folder, and compares what the model computes."""
    if tool in SEEN_BEFORE:
        importlib.import_module(tool)
    onnxar.register()
    through, which = ROUTES[route]
    functions = [TOOLS[tool][index] for index in which if TOOLS[tool][index] is not None]
    if not functions:
        raise SystemExit("the tool does not take this")
    through(functions[0])
    if os.path.exists(MADE):
        faults = [each for each in onnxar.check(MADE) if each.severity == "error"]
        assert not faults, faults
        before = np.load(EXPECTED)
        after = result_of(pathlib.Path(MADE), before.shape[1])
        assert functions[0] in (extract_model, extractor) or np.allclose(before, after, atol=0.3 * np.abs(before).max()), "other results"


if __name__ == "__main__":
    what, how, where = sys.argv[1:]
    if what == "make":
        make(int(how), pathlib.Path(where) / ARCHIVE)
    else:
        os.chdir(where)
        run(what, how)

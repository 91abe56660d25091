"""onnx.shape_inference.infer_shapes_path: the shapes that it finds."""

from pathlib import Path

import onnx


def run(model, x, folder):
    # It keeps links to external data, so its output has to be beside the model.
    output = Path(model).with_name(f"shapes-{Path(folder).name}.onnx")
    try:
        onnx.shape_inference.infer_shapes_path(model, str(output), check_type=True, strict_mode=True)
        graph = onnx.load(str(output), load_external_data=False).graph
    finally:
        output.unlink(missing_ok=True)
    return repr(sorted((each.name, [dim.dim_value for dim in each.type.tensor_type.shape.dim]) for each in graph.value_info))

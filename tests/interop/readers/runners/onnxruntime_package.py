"""ONNX Runtime's model package: a session of the only variant, whose folder is the model's."""

import json
from pathlib import Path

import onnxruntime

CPU = "CPUExecutionProvider"


def run(model, x, folder):
    path = Path(model)
    info = {"model_file": path.name, "session_options": {"session.intra_op_num_threads": "1"}}
    variant = {"ep": CPU, "device": "cpu", "variant_directory": str(path.parent), "executor_info": {"ort": info}}
    manifest = {"schema_version": "1.0", "layout": "installed", "components": {"model": {"variants": {"cpu": variant}}}}
    Path(folder, "manifest.json").write_text(json.dumps(manifest))
    options = onnxruntime.SessionOptions()
    options.add_provider(CPU, {})
    chosen = onnxruntime.ModelPackageContext(folder).select_component("model", onnxruntime.ModelPackageOptions(options))
    return chosen.create_session().run(["y"], {"x": x})[0]

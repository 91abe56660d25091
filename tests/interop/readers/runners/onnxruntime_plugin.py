"""ONNX Runtime with the plugin provider that is installed: a session from the path, of which some node runs on the provider."""

import functools
import importlib
import importlib.util

import onnxruntime

PLUGINS = {"onnxruntime_ep_webgpu": {}, "onnxruntime_ep_openvino": {}, "onnxruntime_qnn": {"backend_type": "htp"}}


@functools.cache
def registered():
    """Returns the provider's device and its options."""
    package = next(each for each in PLUGINS if importlib.util.find_spec(each))
    plugin = importlib.import_module(package)
    name = plugin.get_ep_names()[0]
    onnxruntime.register_execution_provider_library(name, plugin.get_library_path())
    return next(each for each in onnxruntime.get_ep_devices() if each.ep_name == name), PLUGINS[package]


def run(model, x, folder):
    device, settings = registered()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    options.add_provider_for_devices([device], settings)
    session = onnxruntime.InferenceSession(model, options, enable_fallback=False)
    if device.ep_name not in {part.ep_name for part in session.get_provider_graph_assignment_info()}:
        raise RuntimeError("no node runs on the provider")
    return session.run(["y"], {"x": x})[0]

"""Registers archives with onnx.save and onnx.load."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from onnxar import _model
from onnxar._archive import open_archive
from onnxar._errors import printable, usage
from onnxar._options import load_options


class _Serializer:
    """Implements the protocol of onnx.serialization: converts messages to bytes and back, in memory."""

    supported_format = "onnxar"
    file_extensions: Collection[str] = frozenset({".onnxar"})

    def serialize_proto(self, proto: Any) -> bytes:
        if proto.DESCRIPTOR.name != "ModelProto":
            raise usage(f"an archive holds a ModelProto, not a {proto.DESCRIPTOR.name}")
        return _model.save(proto)

    def deserialize_proto(self, serialized: bytes, proto: Any) -> Any:
        if proto.DESCRIPTOR.name != "ModelProto":
            raise usage(f"an archive holds a ModelProto, not a {proto.DESCRIPTOR.name}")
        with open_archive(serialized) as archive:
            lost = archive.side_files() + archive._handle.graphs()
        if lost:
            warnings.warn(
                f"the archive has side files or graphs ({', '.join(map(printable, lost[:3]))}{', ...' if len(lost) > 3 else ''}), and "
                "onnx.save does not write them; onnxar.save keeps those of the archive that it replaces",
                stacklevel=4,
            )
        proto.Clear()
        _model.load_into(proto, serialized, load_options(max_expansion=8, verify_data=True))
        return proto


def register() -> None:
    """Makes `onnx.save(model, "x.onnxar")` write archives and `onnx.load("x.onnxar")` read them, with onnx's defaults.

    Reached, by a name that ends in .onnxar or by `format="onnxar"`: onnx.load, onnx.load_model, onnx.save, onnx.save_model,
    onnx.load_model_from_string; onnx.utils.extract_model with `check_model=False, infer_shapes=False`. Not reached, because
    they read files themselves: onnx.checker.check_model and onnx.shape_inference.infer_shapes_path with a path. The page
    "Use onnx's tools on archives" has the two lines that work instead.

    onnx passes the whole file in memory; for large models, `onnxar.save` and `onnxar.load` need less memory. onnx.load
    warns (UserWarning) about side files and graphs, which onnx.save does not write.

    Example:

        onnxar.register()
        model = onnx.load("model.onnxar")
    """
    import onnx

    onnx.serialization.registry.register(_Serializer())

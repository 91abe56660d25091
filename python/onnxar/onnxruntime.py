"""Sessions of ONNX Runtime that map their weights from an archive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar import _operations
from onnxar._errors import usage
from onnxar._options import Path

FOLDER = "session.model_external_initializers_file_folder_path"


class InferenceSession(ort.InferenceSession):  # type: ignore[misc,unused-ignore]
    """onnxruntime.InferenceSession of an archive; all other arguments are the same.

    ONNX Runtime maps the weights from the archive. It copies only weights that kernels prepack, which the session option
    `session.disable_prepacking` = "1" disables. As with `onnxar.open`, the archive must not be changed in place while the
    session exists. `sess_options` gets an entry that names the archive's folder.
    """

    def __init__(
        self,
        path_or_bytes: Path,
        sess_options: ort.SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(path_or_bytes, str | os.PathLike):
            raise usage("a session maps the archive's file: pass its path, not bytes")
        link = _operations.link(path_or_bytes)
        options = sess_options if sess_options is not None else ort.SessionOptions()
        options.add_session_config_entry(FOLDER, str(link.folder))
        super().__init__(link.model, options, providers, provider_options, **kwargs)
        _operations.verify_link(link)  # the archive may have been replaced in the meantime

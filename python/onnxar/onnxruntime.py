"""Sessions of ONNX Runtime that take their weights from an archive."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar import _core, _dtypes, _operations, _ranges
from onnxar._archive import Archive, open_archive, opened
from onnxar._errors import usage
from onnxar._sources import Source, fetched, path_or_bytes
from onnxar._types import Link

FOLDER = "session.model_external_initializers_file_folder_path"
FIRST_WITH_FOLDER = (1, 21)  # the version of ONNX Runtime that first knows this option

# Weights in memory, by the options that they were given to. ONNX Runtime does not keep them, and reads them for each session.
_given: weakref.WeakKeyDictionary[ort.SessionOptions, list[ort.OrtValue]] = weakref.WeakKeyDictionary()


class InferenceSession(ort.InferenceSession):  # type: ignore[misc,unused-ignore]
    """onnxruntime.InferenceSession of an archive: a path, bytes, a file object, or an open archive. All other arguments are
    the same.

    From a file, ONNX Runtime maps the weights. It copies only weights that kernels prepack, which the session option
    `session.disable_prepacking` = "1" disables. As with `onnxar.open`, the archive must not be changed in place while the
    session exists. `sess_options` gets an entry that names the archive's folder. ONNX Runtime before 1.21 gets a link in a
    temporary folder, beside a symbolic link to the archive.

    Weights of an archive in memory are copied once, and the archive's bytes are kept as long as the session or its
    `sess_options`, which get the initializers and are for one session only. `set_providers` reads the weights again. If the
    archive was replaced in the meantime, the error is onnx.link.stale.

    `graph` names a further graph of the archive. Sessions of several graphs, and of several processes, share the pages of
    the weights that they have in common.
    """

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: ort.SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
        *,
        graph: str = "",
        **kwargs: Any,
    ) -> None:
        options = sess_options if sess_options is not None else ort.SessionOptions()
        if options in _given:
            raise usage("the session options have the weights of another archive in memory: make new ones for each session")
        self._options, self._link = options, None

        def begin(model: bytes | str) -> None:
            super(InferenceSession, self).__init__(model, options, providers, provider_options, **kwargs)

        source = _source(path_or_bytes)
        if not isinstance(source, str | os.PathLike):
            begin(_with_initializers(source, options, graph))
            return
        self._link = link = _operations.link(source, graph=graph)
        if _version() >= FIRST_WITH_FOLDER:
            self._mapping(lambda: begin(link.model))
        else:
            with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
                begin(_linked_in(folder, link, os.path.realpath(source)))
            _operations.verify_link(link)

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[dict[Any, Any]] | None = None) -> None:
        def begin() -> None:
            super(InferenceSession, self).set_providers(providers, provider_options)

        if self._link is None:
            begin()
        else:
            _operations.verify_link(self._link)
            self._mapping(begin)

    def _mapping(self, begin: Callable[[], None]) -> None:
        """Makes the session from a link. The options may since be those of a session of another folder, too. Errors:
        onnx.link.stale (the archive was replaced in the meantime); usage.argument (the options were changed in the meantime)."""
        assert self._link is not None
        folder = str(self._link.folder)
        self._options.add_session_config_entry(FOLDER, folder)
        begin()
        if self.get_session_options().get_session_config_entry(FOLDER) != folder:
            raise usage("another thread uses these session options: make new ones for each session", path=folder)
        _operations.verify_link(self._link)


def load_adapter(source: Source, name: str) -> Any:
    """Returns the adapter in the side file `name` of an archive, for `onnxruntime.RunOptions.add_active_adapter`, which
    does not keep it: the caller does, up to the last run. ONNX Runtime's Python interface takes adapters as files alone:
    the bytes are copied to a temporary file, which ONNX Runtime maps. Errors: usage.no_such_entry, zip.data.crc."""
    with opened(source) as archive:
        archive.verify(name)
        data = bytes(archive.entry(name))
    adapter = ort.LoraAdapter()
    # Windows does not remove a file that is mapped.
    with tempfile.TemporaryDirectory(prefix="onnxar_", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "adapter")
        with open(path, "xb") as file:
            file.write(data)
        adapter.Load(path)
    return adapter


def _source(source: Any) -> Any:
    """Returns the path as it was given, or bytes."""
    source = fetched(source)
    return _ranges.local_path(source) if isinstance(source, str | os.PathLike) else path_or_bytes(source)


def _version() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", ort.__version__)[:2])


def _linked_in(folder: str, link: Link, archive: str) -> str:
    """Writes the link to a folder that seems to have the archive. Old versions look there, and follow symbolic links."""
    os.symlink(archive, os.path.join(folder, os.path.basename(archive)))
    model = os.path.join(folder, "model.onnx")
    with open(model, "xb") as file:
        file.write(link.model)
    return model


def _with_initializers(data: Any, options: ort.SessionOptions, graph: str) -> bytes:
    """Gives the options the initializers of an archive in memory, and returns the model without them."""
    archive: Archive = open_archive(data).graph(graph)
    model, rows = _core.runtime_model(archive._handle)
    values = [_value(name, dtype, shape, bytes_of) for name, dtype, shape, bytes_of in rows]
    if values:
        options.add_external_initializers([name for name, *_ in rows], values)
        _given[options] = values
    return model


def _value(name: str, dtype: int, shape: tuple[int, ...], data: _core.Buffer) -> ort.OrtValue:
    if _dtypes.is_of_numpy(dtype):
        return ort.OrtValue.ortvalue_from_numpy(_dtypes.as_array(data, dtype, shape))
    bits = int(_core.dtype_bits(dtype))
    if bits < 8 or not hasattr(ort.OrtValue, "ortvalue_from_numpy_with_onnx_type"):
        raise usage(f"this version of ONNX Runtime takes no {_dtypes.name_of(dtype)} from memory: pass the path of the archive", name)
    numbers = np.frombuffer(memoryview(data), np.dtype(f"<u{bits // 8}")).reshape(shape)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(numbers, dtype)

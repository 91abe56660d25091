"""Accepts a model as a path, the bytes of a file, a file object, or an open archive."""

from __future__ import annotations

import mmap
import os
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias

from onnxar import _core, _remote
from onnxar._errors import Error, usage
from onnxar._guard import Guarded
from onnxar._options import Path
from onnxar._paths import is_remote, local_path, name_of
from onnxar._proto import is_model
from onnxar._ranges import Reader

if TYPE_CHECKING:
    import onnx


class OpenArchive:
    """The base of onnxar.Archive: its handle and its path, for functions that take a source."""

    def __init__(self, handle: _core.Archive, path: str | None) -> None:
        self._open_handle: _core.Archive | None = handle
        self._path = path

    @property
    def _handle(self) -> _core.Archive:
        return self._open_handle or raise_closed(self._path)


def raise_closed(path: str | None) -> NoReturn:
    raise usage("the archive is closed; arrays taken from it remain valid", path=path or "")


OUTPUT = "the output"
Bytes = bytes | bytearray | memoryview | mmap.mmap
Source: TypeAlias = "Path | Bytes | IO[bytes] | OpenArchive"
Model: TypeAlias = "Source | onnx.ModelProto"


def fetched(source: Any) -> Any:
    """Returns the bytes of an archive at an address or of fsspec, or its path if it is a local file. Returns other sources
    unchanged. Raises what `onnxar.open` raises."""
    if not is_remote(source):
        return source
    found = _remote.open_source(source, None, None)
    return found if isinstance(found, str) else found.file()


def located(source: Any, what: str, load: _core.LoadOptions) -> Any:
    """Returns the path of a file to read. For an archive at an address it is a name, which `load` then opens.
    Raises what `onnxar.open` raises; usage.argument (`what` cannot read this)."""
    if not is_remote(source):
        return file_of(source, what)
    file = _remote.remote_file(source, None)
    if isinstance(file, str):
        return file
    load.add_ranges(file.name, Reader(file), file.size)
    return file.name


def bytes_of(source: Any) -> Any:
    """Returns the bytes of an open archive or of a file object; a path and bytes unchanged. Raises usage.argument."""
    if isinstance(source, OpenArchive):
        return _whole(source._handle).file()
    if isinstance(source, str | os.PathLike | Bytes | _core.Buffer):
        return source
    data = source.read() if hasattr(source, "read") else None
    if not isinstance(data, bytes):
        text = "; a file must be open in binary mode" if isinstance(data, str) else ""
        raise usage(f"{type(source).__name__} is not accepted: pass a path, the bytes of a file, or an open archive{text}")
    return data


def guard_of(source: Any) -> Guarded | None:
    """Returns the handle of an open archive whose entries are verified. Raises usage.argument (one graph of an archive)."""
    handle = source._handle if isinstance(source, OpenArchive) else None
    if not isinstance(handle, Guarded):
        return None
    _whole(handle)
    return handle


def expect_copyable(source: Any) -> None:
    """Refuses an open archive that is verified, but has an entry that was not signed. Raises signature.mismatch."""
    if (known := guard_of(source)) is not None:
        known.expect_nothing_uncovered()


def _whole(handle: _core.Archive) -> _core.Archive:
    """Refuses one graph of an archive: its file has all of them. Raises usage.argument."""
    if handle.is_graph():
        raise usage("this is one graph of an archive: pass the archive, and the name of the graph as `graph`")
    return handle


def model_of(source: Any) -> Any:
    """Returns an onnx.ModelProto unchanged, because its serialised form may not fit in memory, and what `path_or_bytes` returns
    for other sources. Raises usage.argument (not a model)."""
    if is_model(source):
        return source
    if isinstance(source, str | os.PathLike | Bytes | _core.Buffer | OpenArchive) or hasattr(source, "read") or is_remote(source):
        return path_or_bytes(source)
    raise usage(f"{type(source).__name__} is not accepted as a model: pass a path, the bytes of a file, an open archive, or an "
                "onnx.ModelProto; onnxar.save writes other models to a file")  # fmt: skip


def path_or_bytes(source: Any) -> Any:
    """Returns the absolute path of a source; its bytes if it has none. An archive at an address is read completely. The path of an
    open archive is used only while the file is in the state that was opened, and never if its entries are verified, because the
    file may change before it is opened by its path. Raises usage.argument (another type)."""
    if isinstance(source, OpenArchive):
        handle, path = _whole(source._handle), source._path
        return path if path is not None and _is_current(handle, path) else handle.file()
    source = fetched(source)
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(local_path(source))
    return bytes_of(source)


def _is_current(handle: _core.Archive, path: str) -> bool:
    if isinstance(handle, Guarded):
        return False
    try:
        return handle.same_state(_core.Archive.open(path))
    except Error:
        return False


def file_of(source: Any, what: str) -> Any:
    """Returns the path of a file, which may be given as an open archive. Raises usage.argument."""
    if is_remote(source):
        advice = "" if what == OUTPUT else "download the archive, with `onnxar get` or fsspec's `get`; "
        raise usage(f"{what} must be a local file; {advice}onnxar.put uploads one", path=name_of(source))
    if isinstance(source, str | os.PathLike):
        return local_path(source)
    if isinstance(source, OpenArchive) and isinstance(source._handle, Guarded):
        raise usage(f"{what} opens the file by its path, where its entries would not be verified: pass the path itself")
    if isinstance(source, OpenArchive):
        path = path_or_bytes(source)
        if isinstance(path, str):
            return path
        raise usage(f"{what} needs a file, and this archive is in memory, or its file was replaced since it was opened")
    raise usage(f"{what} needs a path, not {type(source).__name__}")

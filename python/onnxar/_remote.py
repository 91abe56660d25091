"""Opens files that are not local: at addresses, on fsspec file systems, and in obstore stores.

The library reads addresses of HTTP and S3; fsspec reads others, and those that are opened with options of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from onnxar import _core
from onnxar._errors import Error, fault, usage
from onnxar._options import TIMEOUT
from onnxar._paths import is_address, is_unicode, name_of, plain, shown
from onnxar._pool import Pool
from onnxar._ranges import Range, Reader, RemoteFile, translated

CONNECTIONS = 8
# The names of a file's version on fsspec file systems.
VERSIONS = (
    "ETag", "etag", "e_tag", "version_id", "generation", "sha", "sha256", "blob_id", "Content-MD5", "md5Hash", "Digest",
    "Last-Modified", "LastModified", "last_modified", "last_commit", "mtime", "modify", "modified", "created", "ino",
)  # fmt: skip


class FsspecFile:
    """A file on an fsspec file system. After each read, its version is compared with the first one."""

    def __init__(self, system: Any, path: str, name: str) -> None:
        self.name = name
        self._system = system
        self._path = path
        with translated(self.name):
            info = self._info()
            if info.get("type") == "directory":
                raise fault("io.not_a_file", "this is a folder", path=self.name)
            if info.get("size") is None:
                raise fault("remote.answer", "the server does not state how large the file is", path=self.name)
        self.size = int(info["size"])
        self.version = _version_of(info)

    def _info(self) -> dict[str, Any]:
        self._system.invalidate_cache(self._system._parent(self._path))
        info: dict[str, Any] = self._system.info(self._path)
        return info

    def fetch(self, ranges: list[Range]) -> list[Any]:
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        try:
            parts: list[Any] = self._system.cat_ranges([self._path] * len(ranges), starts, ends, on_error="return")
        except Exception as error:  # some file systems raise it nevertheless
            parts = [error]
        if _version_of(self._info()) != self.version:
            raise _changed(self.name)
        for part in parts:
            if isinstance(part, BaseException):
                raise part
        return parts


def _version_of(info: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Returns the version; None if nothing would show that the file was replaced."""
    found = tuple((key, info[key]) for key in VERSIONS if info.get(key) is not None)
    return (info.get("size"), *found) if found else None


def _changed(name: str) -> Error:
    return fault("io.changed", "the file was replaced since it was opened; open it again", path=name)


class ObstoreFile:
    """An object in an obstore store. Each answer states the version of its bytes."""

    def __init__(self, store: Any, path: str) -> None:
        import obstore

        self.name = path
        self._obstore, self._store, self._path = obstore, store, path
        with translated(path):
            self._version = self._version_of(obstore.head(store, path))
        self.size = int(self._version[0])

    @staticmethod
    def _version_of(meta: Mapping[str, Any]) -> tuple[Any, ...]:
        return meta["size"], meta.get("e_tag"), meta.get("version"), meta.get("last_modified")

    def fetch(self, ranges: list[Range]) -> list[Any]:
        with Pool(CONNECTIONS) as pool:
            return list(pool.map(self._fetch_one, ranges))

    def _fetch_one(self, wanted: Range) -> Any:
        result = self._obstore.get(self._store, self._path, options={"range": wanted})
        if self._version_of(result.meta) != self._version:
            raise _changed(self.name)
        return result.bytes()


class WholeFile:
    """A file that was read in one piece."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.size, self.data = name, len(data), data

    def fetch(self, ranges: list[Range]) -> list[Any]:
        return [memoryview(self.data)[start:stop] for start, stop in ranges]


def is_read_in_ranges(file: object) -> bool:
    """Returns True for what `remote_file` returns, except a path."""
    return isinstance(file, FsspecFile | WholeFile | _core.RemoteFile)


def remote_file(source: Any, storage_options: Mapping[str, Any] | None, timeout: float = TIMEOUT) -> RemoteFile | str:
    """Returns the file at an address, or of an fsspec object; for a file on this machine, returns its path."""
    name = name_of(source)
    if is_address(source):
        if not is_unicode(source):
            raise usage("an address cannot contain lone surrogates", path=name)
        if not storage_options and _core.is_library_address(source) and not _has_s3fs(source) and (file := _core.remote_file(source, timeout)):
            return file
        with translated(name):
            system, path = file_system_of(source, storage_options, "opened")
    else:
        system, path = source.fs, source.path
        if getattr(source, "compression", None) is not None:
            raise usage("an fsspec file that decompresses cannot be read in ranges; open it without compression", path=name)
    if "file" in protocols_of(system):
        return os.path.abspath(str(path))
    return fsspec_file(system, path, name)


def file_system_of(address: str, storage_options: Mapping[str, Any] | None, what: str) -> tuple[Any, str]:
    """Returns the file system of an address, and the path in it. Raises usage.argument (fsspec is missing; `what` says what it does)."""
    try:
        import fsspec
    except ImportError:
        raise usage(f"addresses are {what} with fsspec, which is not installed: pip install fsspec", path=shown(address)) from None
    system, path = fsspec.core.url_to_fs(plain(address), **(storage_options or {}))
    return system, path


def fsspec_file(system: Any, path: str, name: str) -> RemoteFile:
    """Returns a file on an fsspec file system. If the server sends no version, the file is downloaded whole."""
    file = FsspecFile(system, path, name)
    if file.version is not None:
        return file
    with translated(name):
        return WholeFile(name, system.cat_file(path))


def _has_s3fs(address: str) -> bool:
    """Returns True if this is an address of S3 and s3fs is installed, which knows the profiles and roles of Amazon's tools."""
    import importlib.util

    return address[:5].lower() == "s3://" and importlib.util.find_spec("s3fs") is not None


def protocols_of(system: Any) -> Sequence[str]:
    return (system.protocol,) if isinstance(system.protocol, str) else system.protocol


def open_file(file: RemoteFile) -> _core.Archive:
    """Opens an archive in ranges, or in memory if its file was downloaded whole."""
    if isinstance(file, _core.RemoteFile):
        return file.open()
    if isinstance(file, WholeFile):
        return _core.Archive.open_buffer(file.data)
    return _core.RangedArchive.open_ranges(Reader(file), file.size, file.name)


def open_source(
    source: Any, store: Any, storage_options: Mapping[str, Any] | None, timeout: float = TIMEOUT
) -> _core.Archive | str:
    """Opens an address, an fsspec file, or a path in an obstore store. For a local file, returns its path."""
    if store is None:
        file = remote_file(source, storage_options, timeout)
        return file if isinstance(file, str) else open_file(file)
    if not isinstance(source, str):
        raise usage(f"with a store, the source is a path in it, not {type(source).__name__}")
    return open_file(ObstoreFile(store, source))


def save_outline(file: RemoteFile, path: str) -> None:
    """Writes a file with everything that describes the content of an archive: headers, graphs and the model. Data of weights is
    left out, as holes."""
    reader = Reader(file)
    _save(reader, _core.RangedArchive.open_ranges(reader, file.size, file.name).outline(), path)


def save_whole(file: RemoteFile, path: str) -> None:
    _save(Reader(file), [(0, file.size)], path)


def _save(reader: Reader, ranges: list[Range], path: str) -> None:
    with open(path, "wb") as output:
        output.truncate(reader.file.size)
        for start, data in reader.pieces(sorted(ranges)):
            output.seek(start)
            output.write(data)

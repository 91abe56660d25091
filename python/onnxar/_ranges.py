"""Opens archives that are not local files: at addresses, on fsspec file systems, and in obstore stores.

They are read in ranges: the end record and the directory first, and weights when they are used. The library reads addresses of
HTTP; fsspec reads others, and those that are opened with options of its own.
"""

from __future__ import annotations

import bisect
import contextlib
import math
import os
import pathlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from onnxar import _core
from onnxar._errors import Error, FormatError, fault, usage
from onnxar._pool import Pool

Range = tuple[int, int]  # the first byte, and the byte after the last one
Targets = Sequence[tuple[int, memoryview]]

TIMEOUT = 30.0  # seconds without an answer, or with less than 1 KiB/s, after which a request of the library has failed
END = 256 << 10  # bytes at the end of a file that are read when it is opened
CONNECTIONS = 8
GAP = 32 << 10  # bytes that are read in vain to save a request
PIECE = 8 << 20  # bytes of a large range, so that several connections share it
BATCH = 64 << 20  # bytes that are asked for at the same time

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
SHORTENED = re.compile(r"(?:https?|s3|gs|hf|memory):/[^/]", re.IGNORECASE)
SCHEME = re.compile(r"(?:^|(?<=::))[A-Za-z][A-Za-z0-9+.-]*(?=:(?://|:))")
# The names of a file's version on fsspec file systems.
VERSIONS = (
    "ETag", "etag", "e_tag", "version_id", "generation", "sha", "sha256", "blob_id", "Content-MD5", "md5Hash", "Digest",
    "Last-Modified", "LastModified", "last_modified", "last_commit", "mtime", "modify", "modified", "created", "ino",
)  # fmt: skip


class RemoteFile(Protocol):
    """A file that is read in ranges."""

    @property
    def name(self) -> str:
        """For messages, without secrets."""

    @property
    def size(self) -> int: ...

    def fetch(self, ranges: list[Range]) -> list[Any]:
        """Returns the bytes of each range, all of the version that was opened. Raises io.changed; any exception."""


def expect_timeout(timeout: float) -> None:
    if not 0 <= timeout < math.inf:
        raise usage(f"timeout is {timeout}; it must be a number of seconds, or 0")


def is_address(source: object) -> bool:
    """Returns True if this is an address such as `s3://bucket/key`, or a chain of fsspec such as `simplecache::s3://bucket/key`."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def local_path(source: str | os.PathLike[str]) -> str:
    """Returns a path as text. Raises usage.argument (an address that pathlib has turned into a path with one slash; NUL in the
    path; surrogates that stand for no byte)."""
    if isinstance(source, pathlib.PurePath) and SHORTENED.match(str(source)) and not os.path.lexists(source):
        raise usage("pathlib shortens addresses: pass the address as a text", path=str(source))
    path = os.fsdecode(source)
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise usage("no file has this path: a path cannot contain NUL or lone surrogates", path=path)
    return path


def _plain(address: str) -> str:
    """Returns the address with its schemes in lower case: fsspec knows no others."""
    return SCHEME.sub(lambda scheme: scheme[0].lower(), address)


def is_of_fsspec(source: object) -> bool:
    """Returns True if this is a file or path of fsspec, or a path of universal_pathlib."""
    return hasattr(getattr(source, "fs", None), "cat_ranges") and isinstance(getattr(source, "path", None), str)


def name_of(source: Any) -> str:
    """Returns the name of an address, or of a file or path of fsspec, for messages."""
    return shown(source if isinstance(source, str) else source.fs.unstrip_protocol(source.path))


def shown(address: str) -> str:
    """Returns an address without name, password and query, which may contain secrets."""
    return re.sub(r"""(://[^\s?'"]*)\?[^\s'")]*""", r"\1", re.sub(r"://[^/\s]*@", "://", address))


@contextlib.contextmanager
def translated(name: str) -> Iterator[None]:
    """Raises exceptions of other packages as exceptions of this package."""
    try:
        yield
    except (Error, MemoryError):
        raise
    except FileNotFoundError as error:
        raise _missing(error, name) from None  # the other's text may have secrets
    except PermissionError as error:
        raise fault("io.permission", f"access is denied: {_reason(error)}", path=name) from None
    except ImportError as error:
        raise usage(f"a package that opens this address is not installed: {shown(str(error))}", path=name) from None
    except Exception as error:
        raise fault("remote.unreachable", f"the file cannot be read or written: {_reason(error)}", path=name) from None


def _missing(error: FileNotFoundError, name: str) -> Error:
    """Returns the error for what fsspec calls a missing file: over HTTP every failure, with the true one as its cause."""
    cause = error.__cause__
    status = getattr(cause, "status", None)
    if status in (401, 403, 407):
        return fault("io.permission", f"the server denies access (status {status})", path=name)
    if status not in (None, 404, 410):
        return fault("remote.refused", f"the server answers with status {status}", path=name)
    if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
        return fault("remote.unreachable", f"the file cannot be read or written: {_reason(cause)}", path=name)
    return fault("io.not_found", "there is no such file", path=name)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {shown(str(error))}" if str(error) else type(error).__name__


def _changed(name: str) -> Error:
    return fault("io.changed", "the file was replaced since it was opened; open it again", path=name)


def is_read_in_ranges(file: object) -> bool:
    """True for what `remote_file` returns, except a path."""
    return isinstance(file, FsspecFile | _core.RemoteFile)


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

    def whole(self) -> bytes:
        data: bytes = self._system.cat_file(self._path)
        return data


def _version_of(info: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Returns the version; None if nothing would show that the file was replaced."""
    found = tuple((key, info[key]) for key in VERSIONS if info.get(key) is not None)
    return (info.get("size"), *found) if found else None


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
        self.name, self.size, self._data = name, len(data), data

    def fetch(self, ranges: list[Range]) -> list[Any]:
        return [memoryview(self._data)[start:stop] for start, stop in ranges]


def pieces_of(ranges: Iterable[Range], end: int) -> list[Range]:
    """Returns the ranges to request, in the order of the file: ranges that nearly touch are joined, large ones are cut, and
    everything from `end` on is left out."""
    joined: list[list[int]] = []
    for start, stop in ranges:
        stop = min(stop, end)
        if stop <= start:
            continue
        if joined and start - joined[-1][1] <= GAP:
            joined[-1][1] = max(joined[-1][1], stop)
        else:
            joined.append([start, stop])
    return [(at, min(at + PIECE, stop)) for start, stop in joined for at in range(start, stop, PIECE)]


def batches_of(pieces: Sequence[Range]) -> Iterator[list[Range]]:
    batch: list[Range] = []
    size = 0
    for piece in pieces:
        start, stop = piece
        if batch and size + stop - start > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += stop - start
    if batch:
        yield batch


class Reader:
    """Fills memory with ranges of a file. The end of the file is read first and kept."""

    def __init__(self, file: RemoteFile) -> None:
        self.file = file
        self.end_at = max(0, file.size - END)
        self.end: Any = b""
        if file.size > 0:
            with translated(file.name):
                self.end = self._expect([(self.end_at, file.size)])[0]

    def __call__(self, targets: Targets) -> None:
        ends = [offset + len(target) for offset, target in targets]
        for start, data in self.pieces((offset, end) for (offset, _), end in zip(targets, ends)):
            self._scatter(targets, ends, start, data)

    def pieces(self, ranges: Iterable[Range]) -> Iterator[tuple[int, Any]]:
        """Yields bytes that contain the ranges, and where they begin, a batch at a time. The end of the file comes first."""
        yield self.end_at, self.end
        for batch in batches_of(pieces_of(ranges, self.end_at)):
            with translated(self.file.name):
                parts = self._expect(batch)
            yield from ((start, part) for (start, _), part in zip(batch, parts, strict=True))

    def _expect(self, ranges: list[Range]) -> list[Any]:
        parts = [memoryview(part).cast("B") for part in self.file.fetch(ranges)]
        for (start, stop), part in zip(ranges, parts, strict=True):
            if len(part) == self.file.size != stop - start:
                raise fault("remote.no_ranges", "the server sends whole files only, so no part of this one can be read; download it",
                            path=self.file.name)  # fmt: skip
            if len(part) != stop - start:
                raise fault("remote.answer", f"{stop - start} bytes at {start:#x} were asked for, and {len(part)} came",
                            path=self.file.name)  # fmt: skip
        return parts

    @staticmethod
    def _scatter(targets: Targets, ends: list[int], at: int, data: Any) -> None:
        """Copies the requested parts of `data`, which begins at `at`. The targets are in the order of the file."""
        for index in range(bisect.bisect_right(ends, at), len(targets)):
            offset, target = targets[index]
            start, stop = max(offset, at), min(offset + len(target), at + len(data))
            if start >= stop:
                break
            target[start - offset : stop - offset] = data[start - at : stop - at]


def remote_file(source: Any, storage_options: Mapping[str, Any] | None, timeout: float = TIMEOUT) -> RemoteFile | str:
    """Returns the file at an address, or of an fsspec object; for a file on this machine, returns its path."""
    name = name_of(source)
    if is_address(source):
        if not _is_unicode(source):
            raise usage("an address cannot contain lone surrogates", path=name)
        if not storage_options and _core.is_library_address(source) and not _has_s3fs(source) and (file := _core.remote_file(source, timeout)):
            return file
        with translated(name):
            try:
                import fsspec
            except ImportError:
                raise usage("addresses are opened with fsspec, which is not installed: pip install fsspec", path=name) from None
            system, path = fsspec.core.url_to_fs(_plain(source), **(storage_options or {}))
    else:
        system, path = source.fs, source.path
        if getattr(source, "compression", None) is not None:
            raise usage("an fsspec file that decompresses cannot be read in ranges; open it without compression", path=name)
    if "file" in _protocols(system):
        return os.path.abspath(str(path))
    return FsspecFile(system, path, name)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_s3fs(address: str) -> bool:
    """True if this is an address of S3 and s3fs is installed, which knows the profiles and roles of Amazon's tools."""
    import importlib.util

    return address[:5].lower() == "s3://" and importlib.util.find_spec("s3fs") is not None


def _protocols(system: Any) -> Sequence[str]:
    return (system.protocol,) if isinstance(system.protocol, str) else system.protocol


def open_file(file: RemoteFile) -> _core.Archive:
    """Opens an archive in ranges. If the server sends no version, the file is downloaded whole."""
    if isinstance(file, _core.RemoteFile):
        return file.open()
    if isinstance(file, FsspecFile) and file.version is None:
        with translated(file.name):
            return _core.Archive.open_buffer(file.whole())
    return _core.RangedArchive.open_ranges(Reader(file), file.size, file.name)


def reader_of(file: RemoteFile) -> Reader:
    """Returns a reader of the file. If the server sends no version, the file is downloaded whole."""
    if isinstance(file, FsspecFile) and file.version is None:
        with translated(file.name):
            file = WholeFile(file.name, file.whole())
    return Reader(file)


def save_outline(file: RemoteFile, path: str) -> None:
    """Writes a file with everything that describes the content of an archive: headers, graphs and the model. Data of weights is
    left out, as holes."""
    reader = reader_of(file)
    _save(reader, _core.RangedArchive.open_ranges(reader, file.size, file.name).outline(), path)


def save_whole(file: RemoteFile, path: str) -> None:
    _save(reader_of(file), [(0, file.size)], path)


def _save(reader: Reader, ranges: list[Range], path: str) -> None:
    with open(path, "wb") as output:
        output.truncate(reader.file.size)
        for start, data in reader.pieces(sorted(ranges)):
            output.seek(start)
            output.write(data)


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


# --- uploads ---

# File systems where a file that is being written can be read, and where a file can be renamed.
RENAMING = {"file", "local", "sftp", "ssh", "ftp", "smb", "hdfs", "arrow_hdfs"}


def put(
    path: str | os.PathLike[str],
    address: str,
    *,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Uploads an archive to an address to which fsspec can write, such as `s3://bucket/key`.

    Verifies the archive first: the container, and the CRC-32 of each entry. After the upload, compares its size, directory and
    model with the file. If the server does not publish uploads atomically, writes to a temporary name first and renames. Creates
    missing folders.

    Args:
        path: The archive.
        address: Where to write it.
        overwrite: Replace an existing file.
        storage_options: Passed to fsspec.

    Raises:
        Error: What `onnxar.open` raises; zip.data.crc; output.exists; io.changed (another file is at the address after the
            upload); remote.*.

    Example:

        onnxar.put("model.onnxar", "s3://bucket/model.onnxar")
    """
    if not is_address(address):
        raise usage(f"{address!r} is not an address such as s3://bucket/key")
    path = os.path.abspath(local_path(path))
    local = _core.Archive.open(path)
    for name in local.names():
        local.verify(name)
    name = shown(address)
    with translated(name):
        try:
            import fsspec
        except ImportError:
            raise usage("addresses are written with fsspec, which is not installed: pip install fsspec", path=name) from None
        system, target = fsspec.core.url_to_fs(_plain(address), **(storage_options or {}))
        if not overwrite and system.exists(target):
            raise fault("output.exists", "there is a file already; overwrite=True replaces it", path=name)
        parent, _, last = target.rpartition("/")
        renames = RENAMING & set(_protocols(system))
        upload = f"{parent}/{hidden_name(last)}.part" if renames else target  # for this upload alone
        try:
            if renames:
                system.makedirs(parent, exist_ok=True)
            system.put_file(path, upload)
            _expect_same(local, system, upload, name)
        except BaseException:
            if renames:
                with contextlib.suppress(Exception):
                    system.rm_file(upload)
            raise
        if renames:
            system.mv(upload, target)


def hidden_name(name: str) -> str:
    """Returns a new name for a file that is being written. One may have 255 bytes, so a long `name` is cut."""
    return f".{os.fsencode(name)[:200].decode(errors='ignore')}.{secrets.token_hex(4)}"


def _expect_same(local: _core.Archive, system: Any, path: str, name: str) -> None:
    with contextlib.suppress(FormatError):
        if local.same_state(open_file(FsspecFile(system, path, name))):
            return
    raise fault("io.changed", "what is at the address is not the archive that was uploaded; another upload may have replaced it",
                path=name)  # fmt: skip

"""Opens archives: at paths and addresses, in memory, in file objects, and in parts of larger files."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

from onnxar import _core, _remote
from onnxar._archive import Archive, Origin, state_of
from onnxar._errors import Error, fault, make_error, unreadable, usage
from onnxar._guard import Verification, copy_of, guarded
from onnxar._options import TIMEOUT, expect_natural, expect_timeout
from onnxar._paths import is_remote, local_path, name_of
from onnxar._sources import Source, bytes_of, guard_of


def open_archive(
    source: Source,
    *,
    no_copy: bool = True,
    prefetch: Literal["none", "will_need", "populate"] = "none",
    threads: int = 0,
    offset: int = 0,
    length: int | None = None,
    store: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    timeout: float = TIMEOUT,
    verify: Verification | None = None,
) -> Archive:
    """Opens an archive at a path or address, in memory, or in a file object, which is read to its end.

    By default the file is mapped, and weights are read when their arrays are used. Do not shorten or overwrite the file while it
    is open; replace it by renaming, as this package does. An archive that was opened by a path or an address can be pickled:
    another process opens it again.

    An address such as `https://host/m.onnxar`, `s3://bucket/key` or `hf://owner/name/m.onnxar`, and a file or path of fsspec, is
    read in ranges: `https://` and `s3://` with the system's libcurl, others through fsspec. fsspec reads all addresses that are opened
    with `storage_options`. A tensor is read when its array is requested, and kept as long as the archive or one of its arrays;
    `Archive.load` reads many at once. If the file changes while it is read, the error is io.changed.

    Args:
        source: The path, address, bytes or file object, or an open archive.
        no_copy: If False, read the whole file into memory first; it may then be changed or removed. Use this for network file
            systems, where mapping is slow. The bytes of an open archive and of a buffer are copied, too.
        prefetch: "will_need" makes the system read ahead; "populate" waits until all bytes are in memory.
        threads: The number of threads that read into memory; 0: all cores.
        offset: Where in a larger file or buffer the archive begins; in a file a multiple of 64. The archive then has no `path`.
        length: The archive's bytes in a larger file or buffer; None: to the end.
        storage_options: Passed to fsspec.
        store: An obstore store, in which `source` is a path.
        timeout: Over HTTP, repeat a request once if it gets no answer, or less than 1 KiB/s, for this many seconds; then raise
            remote.timeout. 0 waits forever. Other file systems and stores have their own limits.
        verify: An `onnxar.signing.Signature`. Opening then compares the names of all entries and the model with what was signed.
            Each other entry is compared once, at its first use, before any of its bytes is returned. Other programs must not
            overwrite the file meanwhile, unless `no_copy` is False. A verified archive that is passed as `source` stays
            verified.

    Raises:
        Error: io.*, zip.*, archive.*; remote.*; signature.invalid, signature.mismatch.

    Example:

        with onnxar.open("model.onnxar") as archive:
            weight = archive["encoder.weight"]  # a view of the mapped file
    """
    if prefetch not in ("none", "will_need", "populate"):
        raise usage(f'prefetch is {prefetch!r}; it may be "none", "will_need" or "populate"')
    expect_natural(threads=threads, offset=offset, length=length)
    is_part = offset != 0 or length is not None
    origin = {"no_copy": no_copy, "prefetch": prefetch, "threads": threads, "offset": offset, "length": length, "store": store,
              "storage_options": storage_options, "timeout": timeout, "verify": verify}  # fmt: skip
    expect_timeout(timeout)
    if store is not None or is_remote(source):
        found = _remote.open_source(source, store, storage_options, timeout)
        if not isinstance(found, str):
            if is_part:
                raise usage("offset and length are for local files and bytes", path=name_of(source))
            if prefetch == "populate" or not no_copy:
                found.file()
            return Archive(guarded(found, verify, name_of(source)), None, Origin(_reopened, source, origin))
        source = found
    if not isinstance(source, str | os.PathLike):
        if verify is None and not is_part and (known := guard_of(source)) is not None:
            return Archive(known if no_copy else known.copied(), None)
        data = _part_of(bytes_of(source), offset, length) if is_part else bytes_of(source)
        return Archive(guarded(_core.Archive.open_buffer(data if no_copy else copy_of(data)), verify, ""), None)
    path = os.path.abspath(local_path(source))
    how = (not no_copy, getattr(_core.Prefetch, prefetch), threads)
    handle = _open_part(path, offset, length, *how) if is_part else _core.Archive.open(path, *how)
    return Archive(guarded(handle, verify, path, None if is_part else path + ".sig"), None if is_part else path, Origin(_reopened, path, origin))


open_archive.__name__ = open_archive.__qualname__ = "open"  # what `help` shows
open_archive.__module__ = "onnxar"


async def open_async(source: Source, **options: Any) -> Archive:
    """Works like `onnxar.open`, on another thread.

    Args:
        source: See `onnxar.open`.
        **options: The other arguments of `onnxar.open`.

    Example:

        archive = await onnxar.open_async("https://host/model.onnxar")
    """
    import asyncio  # imported late: takes long, and few programs need it

    return await asyncio.to_thread(open_archive, source, **options)


def _part_of(data: Any, offset: int, length: int | None) -> memoryview:
    view = memoryview(data)
    view = (view if view.c_contiguous else memoryview(view.tobytes())).cast("B")
    end = len(view) if length is None else offset + length
    if not offset <= end <= len(view):
        raise usage(f"the source has {len(view)} bytes, so it has no part of {length or 0} bytes at {offset}")
    return view[offset:end]


def _open_part(path: str, offset: int, length: int | None, *how: Any) -> _core.Archive:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            return _core.Archive.open_part(_native_handle(file.fileno()), offset, length, *how)
    except Error as error:
        raise make_error(error.code, error.message, error.entry, error.offset, path) from error
    except OSError as error:
        raise unreadable(error, path) from error


def _open_without_waiting(path: str, flags: int) -> int:
    """Opens a file. A pipe would wait for a writer, and is refused later."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _native_handle(descriptor: int) -> int:
    if sys.platform != "win32":
        return descriptor
    import msvcrt

    return msvcrt.get_osfhandle(descriptor)


def _reopened(source: Any, options: dict[str, Any], graph: str, state: str) -> Archive:
    """Opens an archive that was pickled. Raises what `onnxar.open` raises; io.changed."""
    archive = open_archive(source, **options)
    if state_of(archive._handle) != state:
        raise fault("io.changed", "the file was replaced or edited since the archive was pickled; open it again", path=archive.path or "")
    return archive.graph(graph) if graph else archive


def opened(source: Any) -> contextlib.AbstractContextManager[Archive]:
    """Yields an archive that is closed afterwards, unless it was already open."""
    return contextlib.nullcontext(source) if isinstance(source, Archive) else open_archive(source)

"""Downloads archives from addresses, and uploads them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from onnxar import _core
from onnxar._errors import FormatError, fault, usage
from onnxar._options import TIMEOUT, Path, expect_timeout, graphs_of, save_options
from onnxar._paths import hidden_name, is_address, local_path, shown
from onnxar._progress import Progress, reporting
from onnxar._ranges import translated
from onnxar._remote import file_system_of, fsspec_file, open_file, protocols_of
from onnxar._sources import OUTPUT, file_of
from onnxar._types import GetReport, report

# File systems where a file that is being written can be read, and where a file can be renamed.
RENAMING = {"file", "local", "sftp", "ssh", "ftp", "smb", "hdfs", "arrow_hdfs"}


def get(
    address: str, output: Path, *, reuse: Sequence[Path] = (), graph: str | Sequence[str] = "", digest: str | None = None, overwrite: bool = False,
    sync: bool = True, dry_run: bool = False, threads: int = 0, timeout: float = TIMEOUT, progress: Progress = None,
) -> GetReport:  # fmt: skip
    """Downloads an archive, and verifies it before it gets its name. An interrupted download continues with the next call.

    Args:
        address: An address of HTTP or S3.
        output: The file. With `overwrite` and without `graph`, the entries of the archive that it replaces are reused.
        reuse: Archives on this machine. Entries of the same size and CRC-32 are copied instead of downloaded.
        graph: Download only what this graph needs, or these graphs, or a variant of a model package, and write the archive that
            `onnxar.pack` writes for them.
        digest: The expected digest, as `onnxar.digest` returns it. If it differs, copied entries are downloaded once; if it
            still differs, the error is remote.answer.
        dry_run: Only report what would be downloaded.
        timeout: Seconds without an answer, or with less than 1 KiB/s, after which the call fails; 0: no limit.

    Other arguments: see `onnxar.pack`.

    Raises:
        Error: remote.* (remote.answer: the digest differs); output.exists; zip.*; io.* (io.changed: the file on the server or
            one of `reuse` changed).

    Example:

        onnxar.get("https://host/model.onnxar", "new.onnxar", reuse=["old.onnxar"])
    """
    if not isinstance(address, str) or not _core.is_library_address(address):
        raise usage(f"{shown(repr(address))} is not an address of HTTP or S3, such as https://host/model.onnxar")
    expect_timeout(timeout)
    output, old = file_of(output, OUTPUT), [file_of(path, "get") for path in reuse]
    with reporting(progress, "downloading") as tell:
        save = save_options(overwrite=overwrite, sync=sync, dry_run=dry_run, threads=threads, progress=tell)
        return report(GetReport, _core.get(address, output, save, old, graphs_of(graph), digest or "", timeout))


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
        raise usage(f"{shown(repr(address))} is not an address such as s3://bucket/key")
    path = os.path.abspath(local_path(path))
    local = _core.Archive.open(path)
    for name in local.names():
        local.verify(name)
    name = shown(address)
    with translated(name):
        system, target = file_system_of(address, storage_options, "written")
        if not overwrite and system.exists(target):
            raise fault("output.exists", "there is a file already; overwrite=True replaces it", path=name)
        parent, _, last = target.rpartition("/")
        renames = RENAMING & set(protocols_of(system))
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


def _expect_same(local: _core.Archive, system: Any, path: str, name: str) -> None:
    with contextlib.suppress(FormatError):
        if local.same_state(open_file(fsspec_file(system, path, name))):
            return
    raise fault("io.changed", "what is at the address is not the archive that was uploaded; another upload may have replaced it",
                path=name)  # fmt: skip

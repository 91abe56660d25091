"""Makes and verifies links: models whose external data is an archive."""

from __future__ import annotations

import os

from onnxar import _core
from onnxar._errors import Finding, usage
from onnxar._options import Path, expect_natural
from onnxar._sources import OUTPUT, file_of
from onnxar._types import Folder, Link


def link(
    archive: Path, output: Path | None = None, *, graph: str = "", offset: int = 0, length: int | None = None,
    move: bool = False, copy: bool = False, overwrite: bool = False, sync: bool = True,
) -> Link:  # fmt: skip
    """Makes a link: the archive's model with the archive's file as its external data, for runtimes that do not support archives.

    `replace` keeps links valid. Rewriting the archive breaks them, which a runtime does not detect: see `verify_link`.

    Args:
        archive: The path of the archive.
        output: Also write the link as a small `.onnx` file in the archive's folder. A folder, or a path that ends in a slash,
            gets the links of all graphs at their paths and all side files. The archive goes there with `move` or `copy`, or,
            if all graphs are in one folder and the file system can share blocks, as a copy that shares them. Otherwise the
            archive stays, and the folder has symbolic links to it and to link files beside it, which ONNX Runtime and GenAI
            open. A model package whose archive stays becomes an installed package (see `onnxar.onnxruntime.installed_package`).
        graph: The graph to link instead of the model.
        offset: Where in a larger file the archive begins, a multiple of 64.
        length: The archive's bytes in a larger file; None: to the end.
        move: Move the archive into the folder `output`.
        copy: Put a copy of the archive into each folder with links, for onnx and onnx_ir.

    Other arguments: see `onnxar.pack`.

    Returns:
        The link of the model, in memory.

    Raises:
        Error: What `onnxar.open` raises; usage.argument (a different folder); output.exists, io.*.

    Example:

        link = onnxar.link("model.onnxar")
        session = onnxar.onnxruntime.InferenceSession(link)
    """
    archive = file_of(archive, "link")
    expect_natural(os.fspath(archive), offset=offset, length=length)
    if (move or copy) and not _is_folder(output):
        raise usage("move and copy need a folder of links: output must be a folder, or end in a slash")
    if output is not None and _is_folder(output):
        if graph or (move and copy):
            raise usage("a folder gets the links of all graphs: do not pass graph, and pass only one of move and copy")
        place = _core.ArchivePlace.copied if copy else _core.ArchivePlace.moved if move else _core.ArchivePlace.automatic
        archive = _core.link_folder(archive, os.path.join(file_of(output, OUTPUT), ""), overwrite, sync, offset, length, place)
    elif output is not None:
        _core.write_link(archive, file_of(output, OUTPUT), overwrite, sync, offset, length, graph)
    model, folder, remarks = _core.make_link(archive, offset, length, graph)
    return Link(model, Folder(os.fspath(folder)), [Finding(*row) for row in remarks])


def _is_folder(output: Path | None) -> bool:
    return output is not None and (os.path.isdir(output) or os.fspath(output).endswith(("/", os.sep)))


def verify_link(link: Link | Path) -> bool:
    """Returns True if this is a link, after verifying that its archive is still the one for which it was made.

    Raises:
        Error: onnx.link.stale, onnx.link.bad_marker, onnx.external_data.*, io.*.

    Example:

        onnxar.verify_link("model.link.onnx")
    """
    if isinstance(link, Link):
        return _core.verify_link_bytes(link.model, link.folder)
    return _core.verify_link_file(file_of(link, "verify_link"))

"""Replaces the model or side files of an archive in place, and returns to earlier states."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from onnxar import _core
from onnxar._errors import expect_list_of, usage
from onnxar._options import Path, SideFiles, load_options, save_options
from onnxar._progress import Progress, growing, reporting
from onnxar._proto import is_model, with_weights
from onnxar._sources import Model, fetched, file_of, model_of
from onnxar._types import EarlierState, ReplaceReport, report


def replace(
    archive: Path,
    model: Model | None = None,
    *,
    side_files: SideFiles | None = None,
    remove: Sequence[str] = (),
    variants: Mapping[str, str] | None = None,
    threshold: int = 1024,
    all_sites: bool = False,
    attributes: bool = True,
    subgraphs: bool = True,
    append_external: bool = False,
    graph: str = "",
    data_dir: Path | None = None,
    sync: bool = True,
    dry_run: bool = False,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> ReplaceReport:
    """Replaces the model of an archive in place, without moving weights or disturbing readers. To change some tensors,
    `onnxar.edit` is easier.

    Links in the new model lead to entries of the archive; new data becomes new entries. If no entry stays in place, as in an
    archive without weights, the file is rewritten, and `undo` cannot take that back: the report of the edit and of a dry run
    has `discards_states`. A UserWarning reports that more tensors use the data of an entry than before, as in a model that was
    merged from two archives. After an error the archive is unchanged.

    Args:
        archive: The path of the archive.
        model: The new model: a path, a serialised ModelProto, or an onnx.ModelProto. Without it, the archive keeps its model.
        side_files: Files to add, or to replace by name; "NAME.onnx" is another graph over the archive's entries.
        remove: Names of side files and graphs to remove; their variants are removed, too.
        variants: See `onnxar.pack`.
        append_external: Also make entries of data in files beside the model. A location that is both an entry and a file beside
            the model or in `data_dir` raises usage.argument, unless both have the same bytes.
        graph: Makes `model` the graph of this name, new or existing; the archive keeps its model.
        max_expansion: Copies of bytes that tensors share may take this many times the size of the model's files.

    Other arguments: see `onnxar.pack`. Entries before a weight cannot be replaced or removed (usage.argument).

    Raises:
        Error: zip.data.crc (the model or graph to replace is damaged), archive.busy, archive.torn, archive.graph.*, onnx.*,
            usage.*, io.*.

    Example:

        onnxar.replace("model.onnxar", side_files={"tokenizer.json": "new.json"})
    """
    expect_list_of("names", "remove", remove)
    if model is None and not side_files and not remove and not variants:
        raise usage("nothing to replace: pass a model, side_files, remove or variants")
    if model is None and (graph or append_external or data_dir is not None):
        raise usage("graph, append_external and data_dir are for a new model: pass one")
    archive, names = file_of(archive, "replace"), list(remove)
    load = load_options(data_dir, max_expansion=max_expansion, threads=threads)
    with reporting(progress, "replacing") as tell:
        save = save_options(threshold=threshold, all_sites=all_sites, attributes=attributes, subgraphs=subgraphs,
                            side_files=side_files, variants=variants, sync=sync, dry_run=dry_run, threads=threads, progress=growing(tell))  # fmt: skip
        if model is None:
            return report(ReplaceReport, _core.replace_side_files(archive, save, names))
        source = fetched(model)
        source = source if isinstance(source, str | os.PathLike) else model_of(source)
        if is_model(source):
            return report(ReplaceReport, with_weights(source, lambda skeleton, writer: writer.replace(
                skeleton, archive, save, load, names, None, append_external, graph), dry_run=dry_run))  # fmt: skip
        if isinstance(source, str | os.PathLike):
            return report(ReplaceReport, _core.replace_file(archive, source, save, load, names, append_external, graph))
        if not len(source):
            raise usage(f"{type(model).__name__} without bytes is not a model")
        return report(ReplaceReport, _core.replace_bytes(archive, bytes(source), save, load, names, append_external, graph))


def recover(archive: Path, *, overwrite: bool = False, sync: bool = True, dry_run: bool = False) -> EarlierState:
    """Cuts off the remains of an interrupted edit after the last complete state. Does nothing if the archive is complete.

    Args:
        archive: The path of the archive.
        overwrite: Also cut off complete edits that are damaged.

    Other arguments: see `onnxar.pack`.

    Raises:
        Error: archive.busy, archive.unrecoverable, io.*.

    Example:

        onnxar.recover("model.onnxar")
    """
    return report(EarlierState, _core.recover(file_of(archive, "recover"), overwrite, sync, dry_run))


def undo(archive: Path, *, sync: bool = True, dry_run: bool = False) -> EarlierState:
    """Cuts off the last edit permanently. Other arguments: see `onnxar.pack`.

    Raises:
        Error: usage.nothing_to_undo (also after an edit whose report has `discards_states`), archive.*, io.*.

    Example:

        onnxar.undo("model.onnxar")
    """
    return report(EarlierState, _core.undo(file_of(archive, "undo"), sync, dry_run))

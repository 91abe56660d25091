"""Operations on whole files: the verbs of the command line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from onnxar import _core
from onnxar._errors import Finding, printable, usage
from onnxar._options import Path, SideFiles, expect_natural, load_options, save_options
from onnxar._progress import Progress, growing, reporting
from onnxar._proto import is_model, with_weights
from onnxar._sources import OUTPUT, Model, OpenArchive, expect_copyable, fetched, file_of, is_remote, located, model_of
from onnxar._types import (
    ConvertReport,
    EarlierState,
    ExtractedTensor,
    Folder,
    Link,
    RepackReport,
    ReplaceReport,
    TensorInfo,
    report,
)


def check(
    path: Path, *, data: bool = False, strict: bool = False, data_dir: Path | None = None, threads: int = 0,
    progress: Progress = None,
) -> list[Finding]:  # fmt: skip
    """Returns all faults and remarks about the archive, which may be at an address, or `.onnx` file `path`, with external data in
    `data_dir`. With `data`, also compares CRCs and checksums, in
    `threads` (0: one per core), and reports `progress`. With `strict`, warnings are errors. Errors: io.* only.

    Example:

        for finding in onnxar.check("model.onnxar", data=True):
            print(finding.severity, finding.code, finding.message)
    """
    with reporting(progress, "checking") as tell:
        load = load_options(data_dir, threads=threads)
        rows = _core.check(located(path, "check", load), data, strict, load, tell)
    return [Finding(*row) for row in rows]


def pack(
    model: Model | Sequence[Path] | Mapping[str, Path],
    output: Path | None = None,
    *,
    threshold: int = 1024,
    alignment: int = 64,
    all_sites: bool = False,
    attributes: bool = True,
    subgraphs: bool = True,
    checksum: str | None = None,
    side_files: SideFiles | None = None,
    rename: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    first: str = "",
    variants: Mapping[str, str] | None = None,
    graph: str = "",
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    dry_run: bool = False,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> ConvertReport:
    """Makes an archive from a `.onnx` file with data inside or outside, from an archive, or from a zip of another exporter.
    `model` is a path, the address of an archive, the bytes of a file, an open archive, or an onnx.ModelProto, whose external
    data is in `data_dir`.
    The path of a folder means all models in it, at any depth, with its other files as side files; `exclude` are patterns
    (`*`, `?`, `[a-z]`) for paths in it that are left out. A list of paths, or a dict of names
    and paths, means several models: the first, or `first`, is the model, the others are graphs, and equal tensors share an entry.
    `graph` names the graph of an archive that is packed, alone. Without `output`, one file NAME.onnx, or a folder NAME, becomes NAME.onnxar beside it,
    which the report calls `model_path`. `variants` maps graphs to execution providers and devices, such as "cpu" or "cuda:gpu":
    manifest.json then describes them as ONNX Runtime's model packages do, in this order.

    Tensors of at least `threshold` bytes become entries at multiples of `alignment`. `attributes` includes tensors in
    node attributes, `subgraphs` those of branches and loop bodies; `all_sites` adds sparse values, defaults of function attributes and training info. `side_files`
    maps names to paths or bytes of files to add; `rename` maps old names of side files to new ones. `checksum` may be
    "sha1". `threads` limits the threads that verify and sum (0: one per core). `progress` is True for a bar of tqdm, a
    class or an object like `tqdm.tqdm`, or a function: `progress(done, total)` is called with numbers of bytes; an
    exception from it cancels the operation. The output appears complete or not at all, and with `sync` it is on
    the disk by then. `dry_run` does everything but writing. `data_dir` is the folder of external data. With `overwrite`, an existing file is replaced as a whole, including its side files,
    which `save` would keep. Copies of bytes that tensors share take at most `max_expansion` times the input.
    Errors: io.*, output.exists, zip.*, archive.*, wire.*, onnx.*, usage.argument.

    Example:

        onnxar.pack("model.onnx")                            # writes model.onnxar
        onnxar.pack(["encoder.onnx", "decoder.onnx"], "both.onnxar")
    """
    with reporting(progress, "packing") as tell:
        save = save_options(
            threshold=threshold, alignment=alignment, all_sites=all_sites, attributes=attributes, subgraphs=subgraphs,
            checksum=checksum, side_files=side_files, rename=rename, exclude=exclude, first=first, variants=variants,
            overwrite=overwrite, sync=sync, dry_run=dry_run,
            threads=threads, progress=growing(tell),
        )  # fmt: skip
        several = isinstance(model, list | tuple) or (isinstance(model, Mapping) and not isinstance(model, OpenArchive))
        output = _beside(model, ".onnx", ".onnxar") if output is None else output
        return packed(_Several.of(model) if several else model, output, save, data_dir, max_expansion, graph)


def _beside(model: Any, suffix: str, wanted: str) -> str:
    """Returns the output's path, as the command chooses it. Errors: usage.argument."""
    path = os.fsdecode(model) if isinstance(model, str | bytes | os.PathLike) and not is_remote(model) else ""
    root, found = os.path.splitext(path) if isinstance(model, str | os.PathLike) else ("", "")
    if os.path.isdir(path) and wanted == ".onnxar":
        folder = os.path.normpath(path)
        return (os.path.realpath(folder) if os.path.basename(folder) in (".", "..") else folder) + wanted
    if found.lower() != suffix or os.path.isdir(path):
        raise usage(f"an output is needed; only of one file NAME{suffix} the output is NAME{wanted} beside it")
    return root + wanted


class _Several(list[tuple[str, Path]]):
    """The names of models, which may be empty, and their paths or addresses."""

    @classmethod
    def of(cls, models: Mapping[str, Path] | Sequence[Path]) -> _Several:
        """Errors: usage.argument."""
        named = list(models.items()) if isinstance(models, Mapping) else [("", path) for path in models]
        if not named:
            raise usage("there is no model to pack")
        for name, _ in named:
            if not isinstance(name, str):
                raise usage(f"the name of a model is the {type(name).__name__} {name!r}; it must be a text")
        return cls(named)


def packed(
    model: Any, output: Path, save: _core.SaveOptions, data_dir: Path | None, max_expansion: int, graph: str = ""
) -> ConvertReport:  # fmt: skip
    output = file_of(output, OUTPUT)
    folder = os.path.dirname(os.path.abspath(output))
    # While the input is read, one thread sums the output; the others may verify the input.
    load = load_options(data_dir, foreign_zips=True, temporary_dir=folder, max_expansion=max_expansion,
                        threads=max(save.threads - 1, 1) if save.threads else 0, graph=graph)  # fmt: skip
    return report(ConvertReport, _converted(model, output, save, load))


def _converted(model: Any, output: Path, save: _core.SaveOptions, load: _core.LoadOptions) -> dict[str, Any]:
    if isinstance(model, _Several):
        return _core.pack_models([(name, os.fspath(located(path, "pack", load))) for name, path in model], output, save, load)
    if save.format == _core.Format.archive or not os.path.basename(output):  # with side files
        expect_copyable(model)
    named = isinstance(model, str | os.PathLike) or is_remote(model)
    source = located(model, "pack", load) if named else model_of(model)
    if is_model(source):
        return with_weights(source, lambda skeleton, writer: writer.save(skeleton, output, save, load), dry_run=save.dry_run)
    if isinstance(source, str):
        return _core.convert(source, output, save, load)
    return _core.convert_bytes(source, output, save, load)


def unpack(
    model: Model,
    output: Path | None = None,
    *,
    external_data: str | None = None,
    per_tensor: bool = False,
    threshold: int = 1024,
    alignment: int = 64,
    attributes: bool = True,
    subgraphs: bool = True,
    graph: str = "",
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    dry_run: bool = False,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> ConvertReport:
    """Makes a plain `.onnx` file from an archive: with all data inside, or with tensors of at least `threshold` bytes in
    the data file `external_data` beside it, in whose name `*` stands for that of the model's file, or in one file per tensor (`per_tensor`). The output takes at most
    `max_expansion` times the input. `graph` names the graph of the archive that is unpacked, alone.

    Without `output`, the path NAME.onnxar becomes NAME.onnx beside it. If `output` is a folder or ends in a slash, it must be empty or missing. The folder gets the model, named like the
    archive with `.onnx`, and all side files; a model that would reach 2 GiB gets a data file, `NAME.onnx_data` in a folder `onnx`. A single file has no side
    files: `side_files_left_out` counts them.
    Errors: as `pack`; onnx.model.too_large (an inline model would reach 2 GiB).
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.unpack("model.onnxar", "out/")  # the model and all side files
    """
    if external_data is not None and per_tensor:
        raise usage("external_data and per_tensor exclude each other: choose one data file, or one for each tensor")
    outside = external_data is not None or per_tensor
    output = _beside(model, ".onnxar", ".onnx") if output is None else file_of(output, OUTPUT)
    load = load_options(data_dir, max_expansion=max_expansion, threads=threads, graph=graph)
    with reporting(progress, "unpacking") as tell:
        save = save_options(
            format=_core.Format.onnx_external if outside else _core.Format.onnx_inline, data_file=external_data,
            file_per_tensor=per_tensor, threshold=threshold, alignment=alignment, attributes=attributes, subgraphs=subgraphs,
            overwrite=overwrite, sync=sync, dry_run=dry_run, progress=growing(tell),
        )  # fmt: skip
        return report(ConvertReport, _converted(model, output, save, load))


def repack(
    source: Path, output: Path, *, alignment: int | None = None, overwrite: bool = False, sync: bool = True,
    dry_run: bool = False, max_expansion: int = 8, rename: Mapping[str, str] | None = None, threads: int = 0,
    progress: Progress = None,
) -> RepackReport:  # fmt: skip
    """Makes an archive from any zip file that holds a model: entries stored and aligned, the model last. Rewrites an
    archive without the remains of edits. `output` may be `source`, with `overwrite`. The output takes at most
    `max_expansion` times the input. `rename` maps old names to new ones, of entries that no tensor refers to; the model
    is not proved. If the source is not an archive, other `*.onnx` are proved as graphs.
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.repack("model.onnxar", "model.onnxar", overwrite=True)  # without the remains of edits
    """
    expect_natural(alignment=alignment, max_expansion=max_expansion)
    source, output = file_of(source, "repack"), file_of(output, OUTPUT)
    with reporting(progress, "repacking") as tell:
        save = save_options(overwrite=overwrite, sync=sync, dry_run=dry_run, rename=rename, threads=threads, progress=tell)
        return report(RepackReport, _core.repack(source, output, alignment, save, max_expansion))


def extract(
    model: Path, which: str, output: Path, *, raw: bool = False, graph: str = "", data_dir: Path | None = None, overwrite: bool = False,
    sync: bool = True, dry_run: bool = False, max_expansion: int = 8, threads: int = 0, progress: Progress = None,
) -> list[ExtractedTensor]:  # fmt: skip
    """Writes tensors of an archive, which may be at an address, or `.onnx` file as `.npy` files, or as their `raw` bytes. `which` is a tensor's name
    (of several tensors, the initializer of the main graph counts), else its entry, else its site (`graph.node[3].attr.value`), which `~` may follow, else the output of its Constant node. It may also be a pattern for names, such as "layer1.*";
    `output` is then a folder, or ends in "/". `graph` names the graph of the archive that has them. The files take at most `max_expansion` times the input.
    A pattern skips tensors of strings, which have no array, and a UserWarning names them. Errors: usage.no_such_tensor,
    usage.ambiguous_tensor, onnx.tensor.*, output.exists, io.*.
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.extract("model.onnxar", "encoder.weight", "weight.npy")
    """
    load = load_options(data_dir, max_expansion=max_expansion, threads=threads, graph=graph)
    model, output = located(model, "extract", load), file_of(output, OUTPUT)
    with reporting(progress, "extracting") as tell:
        save = save_options(overwrite=overwrite, sync=sync, dry_run=dry_run, progress=tell)
        rows = _core.extract(model, which, output, raw, save, load)
    extracted, skipped = [], []
    for name, dtype, shape, site, node_output, path, file_bytes, descr, as_integers in rows:
        if path is None:
            skipped.append(printable(name or node_output or site))
        else:
            info = TensorInfo(name, _core.dtype_name(dtype), shape, site, node_output)
            extracted.append(ExtractedTensor(info, path, file_bytes, descr, as_integers))
    if skipped:
        warnings.warn(f"tensors of strings have no arrays, and are not extracted: {', '.join(skipped)}; onnxar.load returns them", stacklevel=2)
    return extracted


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
    """Replaces the model of an archive in place by `model`: a path, a serialised ModelProto, or an onnx.ModelProto.
    `onnxar.edit` is the easy way to change some tensors. Weights are not moved, and readers are not disturbed. Links in the model lead to entries of the archive. New data becomes new
    entries; with `append_external`, so does data in files beside the model. A location that is both an entry and a file
    beside the model or in `data_dir` is usage.argument, unless both have the same bytes. After an error, the archive is unchanged.

    `side_files` are added, or replace those of the same name; "NAME.onnx" is a further graph over the archive's entries.
    With `graph`, `model` becomes the graph of this name, which need not exist, and the archive keeps its model.
    `remove` names side files and graphs to remove, with their variants; `variants` are as for `onnxar.pack`. Entries before a weight cannot be replaced or removed
    (usage.argument). Without `model`, the archive keeps its model. Other graphs are not changed. Copies of bytes that
    tensors of `model` share take at most `max_expansion` times its files. If no entry stays in place, as in an archive
    without weights, the file is rewritten, and `undo` cannot take that back: the report has `discards_states`, also of a
    dry run. A UserWarning says that more tensors take the data of an entry than before, as in a model that was merged from two
    archives. An archive whose model is damaged, or whose graph that is replaced is, is refused.
    Errors: zip.data.crc, archive.busy, archive.torn, archive.graph.*, onnx.*, usage.*, io.*.
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.replace("model.onnxar", side_files={"tokenizer.json": "new.json"})
    """
    if isinstance(remove, str):
        raise usage(f"remove is the text {remove!r}; it may be a list of names")
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
            raise usage(f"{type(model).__name__} of no bytes is not a model")
        return report(ReplaceReport, _core.replace_bytes(archive, bytes(source), save, load, names, append_external, graph))


def recover(archive: Path, *, overwrite: bool = False, sync: bool = True, dry_run: bool = False) -> EarlierState:
    """Cuts off the remains of an interrupted edit after the last complete state. A complete archive is not changed.
    Edits that are complete but damaged are cut off only with `overwrite`.
    Errors: archive.busy, archive.unrecoverable, io.*.
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.recover("model.onnxar")
    """
    return report(EarlierState, _core.recover(file_of(archive, "recover"), overwrite, sync, dry_run))


def undo(archive: Path, *, sync: bool = True, dry_run: bool = False) -> EarlierState:
    """Cuts off the last edit permanently. Errors: usage.nothing_to_undo (also after an edit whose report has
    `discards_states`), archive.*, io.*.
    Other arguments: as `onnxar.pack`.

    Example:

        onnxar.undo("model.onnxar")
    """
    return report(EarlierState, _core.undo(file_of(archive, "undo"), sync, dry_run))


def link(
    archive: Path, output: Path | None = None, *, graph: str = "", offset: int = 0, length: int | None = None,
    move: bool = False, copy: bool = False, overwrite: bool = False, sync: bool = True,
) -> Link:  # fmt: skip
    """Returns the archive's model for runtimes that do not support archives: its external data is the archive's file. With
    `output`, which must be in the archive's folder, also writes the model there as a small `.onnx` file. `graph` names a further graph,
    which then is the model. If the archive
    is embedded in a larger file, it begins at `offset`, a multiple of 64, and has `length` bytes (None: up to the end).

    If `output` is a folder or ends in a slash, it gets the links of all graphs at their paths and all side files. If all graphs are in one
    folder, the archive goes there, with `move`, with `copy`, or as a copy that shares its blocks if the file system can. Else it stays, and the
    folder has symbolic links to it and to link files beside it, which ONNX Runtime and GenAI open; for onnx and onnx_ir `copy` puts a copy into each
    folder with links. A model package whose archive stays becomes an installed one (`onnxar.onnxruntime.installed_package`). The result is the link of
    the model, in memory.

    `replace` keeps links valid. Rewriting the archive breaks them, which a runtime does not detect: see `verify_link`.
    Errors: as `onnxar.open`; usage.argument (a different folder); output.exists, io.*.
    Other arguments: as `onnxar.pack`.

    Example:

        link = onnxar.link("model.onnxar")
        session = onnxar.onnxruntime.InferenceSession(link)
    """
    archive = file_of(archive, "link")
    expect_natural(os.fspath(archive), offset=offset, length=length)
    if (move or copy) and not _is_folder(output):
        raise usage("move and copy are for a folder of links: output must be a folder, or end in a slash")
    if output is not None and _is_folder(output):
        if graph or (move and copy):
            raise usage("a folder gets the links of all graphs: leave out graph, and either move or copy")
        place = _core.ArchivePlace.copied if copy else _core.ArchivePlace.moved if move else _core.ArchivePlace.automatic
        archive = _core.link_folder(archive, os.path.join(file_of(output, OUTPUT), ""), overwrite, sync, offset, length, place)
    elif output is not None:
        _core.write_link(archive, file_of(output, OUTPUT), overwrite, sync, offset, length, graph)
    model, folder, remarks = _core.make_link(archive, offset, length, graph)
    return Link(model, Folder(os.fspath(folder)), [Finding(*row) for row in remarks])


def _is_folder(output: Path | None) -> bool:
    return output is not None and (os.path.isdir(output) or os.fspath(output).endswith(("/", os.sep)))


def verify_link(link: Link | Path) -> bool:
    """Returns whether this is a link. If it is, verifies that its archive is still the one for which it was made.
    Errors: onnx.link.stale, onnx.link.bad_marker, onnx.external_data.*, io.*.

    Example:

        onnxar.verify_link("model.link.onnx")
    """
    if isinstance(link, Link):
        return _core.verify_link_bytes(link.model, link.folder)
    return _core.verify_link_file(file_of(link, "verify_link"))

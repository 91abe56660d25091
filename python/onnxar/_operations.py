"""Operations on whole files: the verbs of the command line."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from onnxar import _core
from onnxar._errors import Finding, printable, usage
from onnxar._options import Path, SideFiles, expect_natural, graphs_of, load_options, save_options
from onnxar._progress import Progress, growing, reporting
from onnxar._proto import is_model, with_weights
from onnxar._ranges import TIMEOUT, expect_timeout
from onnxar._sources import OUTPUT, Model, OpenArchive, expect_copyable, fetched, file_of, is_remote, located, model_of
from onnxar._types import (
    ConvertReport,
    EarlierState,
    ExtractedTensor,
    Folder,
    GetReport,
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
    """Returns all faults of an archive or `.onnx` file, and remarks about it.

    Args:
        path: The path of the file, or the address of an archive.
        data: Also compare CRC-32s and checksums, which reads all bytes.
        strict: Make warnings errors.
        data_dir: The folder of external data.
        threads: The number of threads that read; 0: one per core.
        progress: See `onnxar.pack`.

    Raises:
        FileError: The file cannot be read (io.*). Faults of its content are findings.

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
    graph: str | Sequence[str] = "",
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    dry_run: bool = False,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> ConvertReport:
    """Makes an archive. The output appears complete or not at all.

    Args:
        model: The path of a `.onnx` file with data inside or outside, of an archive, or of a zip of another exporter. Also
            the address of an archive, the bytes of a file, an open archive, or an onnx.ModelProto. The path of a folder means
            all models in it, at any depth, with its other files as side files. A list of paths, or a dict of names and paths,
            means several models: one becomes the model, the others graphs, and equal tensors share an entry.
        output: The archive. Without it, a file NAME.onnx or a folder NAME becomes NAME.onnxar beside it (`model_path` of the
            report).
        threshold: Tensors of at least this many bytes become entries.
        alignment: Entries begin at multiples of this.
        all_sites: Also move sparse values, defaults of function attributes and training info to entries.
        attributes: Move tensors in node attributes to entries.
        subgraphs: Move tensors in branches and loop bodies to entries.
        checksum: "sha1" adds to each link the SHA-1 of its data.
        side_files: Maps names to the paths or bytes of files to add.
        rename: Maps old names of side files to new ones.
        exclude: Patterns (`*`, `?`, `[a-z]`) for paths in a folder that are left out.
        first: Of several models, the one that becomes the model; by default the first.
        variants: Maps graphs to execution providers and devices, such as "cpu" or "cuda:gpu". manifest.json then describes
            the archive as a model package of ONNX Runtime, with the variants in this order.
        graph: The only graph of an archive to pack, or a list of graphs; the first becomes the model. In a model package also the
            name of a variant, which means the graphs of all variants of this name.
        data_dir: The folder of external data.
        overwrite: Replace an existing file completely, including its side files, which `save` would keep.
        sync: Return only when the output is on the disk.
        dry_run: Do everything except writing.
        threads: The number of threads that verify and compute checksums; 0: one per core.
        progress: True for a tqdm bar, a class or an object like `tqdm.tqdm`, or a function that is called with numbers of
            bytes: `progress(done, total)`. An exception from it cancels the operation.
        max_expansion: Copies of bytes that tensors share may take this many times the size of the input.

    Returns:
        A report with the numbers of tensors and bytes, and remarks.

    Raises:
        Error: io.*, output.exists, zip.*, archive.*, wire.*, onnx.*, usage.argument.

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
    """Returns the output's path, as the command chooses it. Raises usage.argument."""
    path = os.fsdecode(model) if isinstance(model, str | bytes | os.PathLike) and not is_remote(model) else ""
    root, found = os.path.splitext(path) if isinstance(model, str | os.PathLike) else ("", "")
    if os.path.isdir(path) and wanted == ".onnxar":
        folder = os.path.normpath(path)
        return (os.path.realpath(folder) if os.path.basename(folder) in (".", "..") else folder) + wanted
    if found.lower() != suffix or os.path.isdir(path):
        raise usage(f"an output is needed: only for a single file NAME{suffix} it defaults to NAME{wanted} beside it")
    return root + wanted


class _Several(list[tuple[str, Path]]):
    """The names of models, which may be empty, and their paths or addresses."""

    @classmethod
    def of(cls, models: Mapping[str, Path] | Sequence[Path]) -> _Several:
        """Returns the models by name. Raises usage.argument."""
        named = list(models.items()) if isinstance(models, Mapping) else [("", path) for path in models]
        if not named:
            raise usage("there is no model to pack")
        for name, _ in named:
            if not isinstance(name, str):
                raise usage(f"the name of a model is the {type(name).__name__} {name!r}; it must be a text")
        return cls(named)


def packed(
    model: Any, output: Path, save: _core.SaveOptions, data_dir: Path | None, max_expansion: int, graph: str | Sequence[str] = ""
) -> ConvertReport:  # fmt: skip
    output = file_of(output, OUTPUT)
    folder = os.path.dirname(os.path.abspath(output))
    # While the input is read, one thread sums the output; the others may verify the input.
    graphs = graphs_of(graph)
    load = load_options(data_dir, foreign_zips=True, temporary_dir=folder, max_expansion=max_expansion,
                        threads=max(save.threads - 1, 1) if save.threads else 0, graph="".join(graphs[:1]), further_graphs=graphs[1:])  # fmt: skip
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
    """Makes a plain `.onnx` file from an archive, with all data inside or in data files beside it.

    Args:
        model: See `onnxar.pack`.
        output: The file. A folder, or a path that ends in a slash, must be empty or missing; it gets the model, named like the
            archive with `.onnx`, and all side files. Without it, NAME.onnxar becomes NAME.onnx beside it. A single file has no
            side files; `side_files_left_out` of the report counts them.
        external_data: The name of a data file beside the output for tensors of at least `threshold` bytes. `*` in it stands
            for the name of the model's file.
        per_tensor: Write each of these tensors to its own data file.
        graph: Unpack only this graph of the archive.
        max_expansion: The output may take this many times the size of the input.

    Other arguments: see `onnxar.pack`. In a folder, a model that would reach 2 GiB gets a data file, `NAME.onnx_data` if the
    folder is named `onnx`.

    Raises:
        Error: What `pack` raises; onnx.model.too_large if a single file would reach 2 GiB.

    Example:

        onnxar.unpack("model.onnxar", "out/")  # the model and all side files
    """
    if external_data is not None and per_tensor:
        raise usage("choose either external_data (one data file) or per_tensor (one for each tensor)")
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
    """Makes an archive from any zip file that holds a model, or rewrites an archive without what edits superseded. Entries are
    stored and aligned, with the model last.

    Args:
        source: The path of the zip file.
        output: The archive; `source` itself with `overwrite`.
        alignment: Entries begin at multiples of this; by default as recorded.
        max_expansion: The output may take this many times the size of the input.
        rename: Maps old names to new ones, for entries to which no tensor refers.

    Other arguments: see `onnxar.pack`. The model is not checked. If the source is not an archive, other `*.onnx` are checked
    as graphs.

    Example:

        onnxar.repack("model.onnxar", "model.onnxar", overwrite=True)  # without what edits superseded
    """
    expect_natural(alignment=alignment, max_expansion=max_expansion)
    source, output = file_of(source, "repack"), file_of(output, OUTPUT)
    with reporting(progress, "repacking") as tell:
        save = save_options(overwrite=overwrite, sync=sync, dry_run=dry_run, rename=rename, threads=threads, progress=tell)
        return report(RepackReport, _core.repack(source, output, alignment, save, max_expansion))


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
        raise usage(f"{address!r} is not an address of HTTP or S3, such as https://host/model.onnxar")
    expect_timeout(timeout)
    output, old = file_of(output, OUTPUT), [file_of(path, "get") for path in reuse]
    with reporting(progress, "downloading") as tell:
        save = save_options(overwrite=overwrite, sync=sync, dry_run=dry_run, threads=threads, progress=tell)
        return report(GetReport, _core.get(address, output, save, old, graphs_of(graph), digest or "", timeout))


def extract(
    model: Path, which: str, output: Path, *, raw: bool = False, graph: str = "", data_dir: Path | None = None, overwrite: bool = False,
    sync: bool = True, dry_run: bool = False, max_expansion: int = 8, threads: int = 0, progress: Progress = None,
) -> list[ExtractedTensor]:  # fmt: skip
    """Writes tensors to files.

    Args:
        model: The path of an archive or `.onnx` file, or the address of an archive.
        which: A tensor's name (of several tensors, the initializer of the main graph), else its entry, else its site
            (`graph.node[3].attr.value`), which `~` may follow, else the output of its Constant node. Or a pattern for names,
            such as "layer1.*", which skips tensors of strings and names them in a UserWarning.
        output: The file; for a pattern a folder, or a path that ends in "/".
        raw: Write raw bytes instead of `.npy`.
        graph: The graph of the archive that has the tensors.
        max_expansion: The files may take this many times the size of the input.

    Other arguments: see `onnxar.pack`.

    Raises:
        Error: usage.no_such_tensor, usage.ambiguous_tensor, onnx.tensor.*, output.exists, io.*.

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
        warnings.warn(f"tensors of strings have no arrays and were not extracted: {', '.join(skipped)}; onnxar.load returns them", stacklevel=2)
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
    if isinstance(remove, str):
        raise usage(f"remove is the text {remove!r}; it must be a list of names")
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

"""Packs models into archives, and unpacks and repacks archives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from onnxar import _core
from onnxar._errors import usage
from onnxar._options import Path, SideFiles, expect_natural, graphs_of, load_options, save_options
from onnxar._paths import is_remote
from onnxar._progress import Progress, growing, reporting
from onnxar._proto import is_model, with_weights
from onnxar._sources import OUTPUT, Model, OpenArchive, expect_copyable, file_of, located, model_of
from onnxar._types import ConvertReport, RepackReport, report


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
        return packed(_Several.of(cast(Any, model)) if several else model, output, save, data_dir, max_expansion, graph)


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
    graphs = graphs_of(graph)
    load = load_options(data_dir, foreign_zips=True, temporary_dir=folder, max_expansion=max_expansion,
                        graph="".join(graphs[:1]), further_graphs=graphs[1:])  # fmt: skip
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

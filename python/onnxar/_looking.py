"""Functions that need protobuf: they run the command of the wheel in a separate process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from onnxar import _command
from onnxar._errors import usage
from onnxar._options import Path, expect_natural, save_options
from onnxar._paths import local_path
from onnxar._progress import Progress, reporting
from onnxar._sources import OUTPUT, Model, expect_copyable, file_of
from onnxar._types import Difference, FreezeReport, from_json
from onnxar.inspection import Inspection

MOST_EXPANSION = 1 << 32  # of the command


def show(
    model: Model, *, nodes: bool = False, op: str | None = None, dims: Mapping[str, int] | None = None,
    graph: str | None = None, data_dir: Path | None = None,
) -> Inspection:  # fmt: skip
    """Summarises a model: graph, operators, tensors, cost, storage, files. Reads no weights. A missing data file or a dangling
    input is part of the result, not an error. Like `diff`, `dump` and `freeze`, this function runs the wheel's command.

    Args:
        model: The path of a model in any form, the address of an archive, the bytes of a file, an open archive, or an
            onnx.ModelProto.
        nodes: List every node.
        op: List the nodes of this operator.
        dims: Sizes of dimensions by name, such as `{"batch": 1}`, so that more of the cost is known.
        graph: The graph of an archive to summarise.
        data_dir: The folder of external data.

    Returns:
        The summary. Costs that are only partly known are None; `cost.polynomial` is the cost in terms of open dimensions.

    Raises:
        Error: usage.argument (the wheel was built without protobuf); io.*, zip.*, archive.*, wire.*, onnx.*.

    Example:

        onnxar.show("model.onnxar", dims={"batch": 1}).cost.multiply_adds
    """
    with _command.readable(model, weights=False) as path:
        sizes = ",".join(f"{name}={size}" for name, size in (dims or {}).items())
        given = _command.options(nodes=nodes or op is not None, op=op, dim=sizes or None, model=graph, data_dir=_absolute(data_dir))
        document = _command.run("show", *given, path)
    for file in document["files"]:
        file["path"] = _command.name_for(model, path, file["path"])
    document["metadata"] = {row["key"]: row["value"] for row in document["metadata"]}
    inspection: Inspection = from_json(Inspection, document)
    return inspection


def dump(
    model: Model, *, with_data: bool = False, graph: str | None = None, data_dir: Path | None = None, max_expansion: int = 8,
    progress: Progress = None,
) -> str:  # fmt: skip
    """Returns the model in protobuf's text format. Raises what `show` raises.

    Args:
        model: See `show`.
        with_data: Print the data of large tensors instead of a comment. Data that tensors share is printed for each of them.
        graph: The graph of an archive to print.
        data_dir: The folder of external data.
        max_expansion: The printed data may take this many times the size of the input.
        progress: See `onnxar.pack`. Counts bytes of text; the total is 0 until all text is printed.

    Example:

        print(onnxar.dump("model.onnxar"))
    """
    given = _command.options(with_data=with_data, model=graph, data_dir=_absolute(data_dir), max_expansion=_times(max_expansion))
    with reporting(progress, "printing") as tell, _command.readable(model, weights=with_data) as path:
        printed = _command.output("dump", *given, path, tell=tell)
        if tell is not None:
            tell(len(printed), len(printed))
    return printed.decode("utf-8", "surrogateescape")


def diff(
    before: Model, after: Model, *, graph: str | None = None, data_dir: Path | None = None, max_expansion: int = 8,
    progress: Progress = None,
) -> Difference:
    """Compares the graphs of two models, and their tensors element by element, but not the location of data. Nodes are matched by
    name, else by outputs. Raises what `show` raises.

    Args:
        before: A model; see `show`.
        after: The model to compare with it.
        graph: The graph to compare in each model that is an archive.
        data_dir: The folder of the external data of both models.
        max_expansion: Overlapping data is compared up to this many times its size.
        progress: See `onnxar.pack`. Counts the bytes that are compared.

    Example:

        assert onnxar.diff("before.onnxar", "after.onnx").same
    """
    given = _command.options(model=graph, data_dir=_absolute(data_dir), max_expansion=_times(max_expansion))
    with reporting(progress, "comparing") as tell, _command.readable(before) as first, _command.readable(after) as second:
        difference: Difference = from_json(Difference, _command.run("diff", *given, first, second, tell=tell))
    return difference


def freeze(
    model: Model,
    output: Path,
    *,
    weights: Path | None = None,
    strip_docs: bool = False,
    strip_metadata: bool = False,
    threshold: int = 1024,
    alignment: int = 64,
    all_sites: bool = False,
    attributes: bool = True,
    subgraphs: bool = True,
    graph: str | None = None,
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    dry_run: bool = False,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> FreezeReport:
    """Writes an archive with only what the model's outputs need: without other nodes, initializers and functions, and without
    training info.

    Args:
        model: See `show`.
        output: The archive.
        weights: The path of an `.npz`, an archive or a model. Its tensors fill, by name, initializers without data, and inputs,
            which then become initializers.
        strip_docs: Also remove doc strings.
        strip_metadata: Also remove metadata_props.

    Other arguments: see `onnxar.pack`. If an exception from `progress` ends the call, the archive may already be published.

    Raises:
        Error: What `show` raises; onnx.*, numpy.* (an invalid graph, an initializer without data, weights that do not fit);
            output.exists.

    Example:

        onnxar.freeze("graph.onnx", "model.onnxar", weights="trained.npz")
    """
    save_options(threshold=threshold, alignment=alignment, threads=threads)  # refuses negative values by the names of the arguments
    given = _command.options(
        output=os.path.abspath(file_of(output, OUTPUT)), weights=None if weights is None else os.path.abspath(file_of(_as_text(weights), "weights")), strip_docs=strip_docs, strip_metadata=strip_metadata,
        threshold=threshold, align=alignment, all_sites=all_sites, no_attributes=not attributes,
        no_subgraphs=not subgraphs, model=graph, data_dir=_absolute(data_dir), force=overwrite, no_sync=not sync, dry_run=dry_run,
        threads=threads or None, max_expansion=_times(max_expansion),
    )  # fmt: skip
    expect_copyable(model)
    with reporting(progress, "writing") as tell, _command.readable(model) as path:
        report: FreezeReport = from_json(FreezeReport, _command.run("freeze", *given, path, tell=tell))
    return report


def _times(max_expansion: int) -> int:
    """Returns the limit, if it is valid. Raises usage.argument here, because the command would name its option and not the argument."""
    expect_natural(max_expansion=max_expansion)
    if not 1 <= max_expansion <= MOST_EXPANSION:
        raise usage(f"max_expansion is {max_expansion}; it must be from 1 to {MOST_EXPANSION}")
    return max_expansion


def _as_text(path: Any) -> Any:
    return os.fsdecode(path) if isinstance(path, bytes) else path


def _absolute(path: Path | None) -> str | None:
    return None if path is None else os.path.abspath(local_path(path))

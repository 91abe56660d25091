"""Functions that need protobuf: they run the command of the wheel in a separate process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from onnxar import _command, _ranges
from onnxar._errors import usage
from onnxar._options import Path, expect_natural, save_options
from onnxar._progress import Progress, reporting
from onnxar._sources import OUTPUT, Model, expect_copyable, file_of
from onnxar._types import Difference, FreezeReport, from_json
from onnxar.inspection import Inspection

MOST_EXPANSION = 1 << 32  # of the command


def show(
    model: Model, *, nodes: bool = False, op: str | None = None, dims: Mapping[str, int] | None = None,
    graph: str | None = None, data_dir: Path | None = None,
) -> Inspection:  # fmt: skip
    """Summarises a model: graph, operators, tensors, cost, storage, files. Weights are not read. With `nodes`, the result
    lists every node; with `op`, the nodes of this operator. `dims` gives sizes to dimensions by name, as in
    `{"batch": 1}`, so that more of the cost is known; what is partial is None. `cost.polynomial` is the cost in terms of open dimensions.

    `model` is the path of a model in any form, the address of an archive, the bytes of such a file, an open archive, or an onnx.ModelProto. `graph` names
    a further graph of an archive. A missing
    data file or a dangling input is part of the result, not an error. No data is read, so there is no progress to report. Like `diff`, `dump` and `freeze`, this function runs the command
    of the wheel. Errors: usage.argument, if the wheel was built without protobuf; io.*, zip.*, archive.*, wire.*, onnx.*.
    Other arguments: as `onnxar.pack`.

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
    """Returns the model in protobuf's text format. A comment replaces the data of large tensors, unless `with_data` is
    set. Data that tensors share is printed for each of them: at most `max_expansion` times the input. `progress`
    counts bytes of text, whose total is 0 until all is printed. `model`, `graph` and errors: as `show`.
    Other arguments: as `onnxar.pack`.

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
    """Compares the graphs of two models, and their tensors element by element, but not the location of data. Nodes are
    matched by name, else by outputs. Data that overlaps is compared up to `max_expansion` times its size. `progress` counts
    the bytes that are compared. Other arguments and errors: as `show`; `data_dir` is used for both models, and `graph` for those that
    are archives.

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
    """Writes an archive with only what the model's outputs need: without other nodes, initializers and functions, without
    training info, and on request without docs and metadata. `model`: as `show`.

    `weights` is the path of an `.npz`, an archive or a model. Its tensors fill, by name, initializers without data, and inputs, which
    then become initializers. Other arguments: as `pack`; the command may have published a whole archive already when an
    exception from `progress` ends it. Errors: as `show`; onnx.*, numpy.* (an invalid graph, an
    initializer without data, weights that do not fit); output.exists.

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
    """Errors: usage.argument. Refused here, because the command would name its option and not the argument."""
    expect_natural(max_expansion=max_expansion)
    if not 1 <= max_expansion <= MOST_EXPANSION:
        raise usage(f"max_expansion is {max_expansion}; it must be from 1 to {MOST_EXPANSION}")
    return max_expansion


def _as_text(path: Any) -> Any:
    return os.fsdecode(path) if isinstance(path, bytes) else path


def _absolute(path: Path | None) -> str | None:
    return None if path is None else os.path.abspath(_ranges.local_path(path))

"""Extracts tensors of a model to files."""

from __future__ import annotations

import warnings

from onnxar import _core
from onnxar._errors import printable
from onnxar._options import Path, load_options, save_options
from onnxar._progress import Progress, reporting
from onnxar._sources import OUTPUT, file_of, located
from onnxar._types import ExtractedTensor, TensorInfo


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

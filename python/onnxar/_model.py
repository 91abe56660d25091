"""Loading and saving models of onnx, onnx_ir and torch."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import errno
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from typing import IO, TYPE_CHECKING, Any, overload

from onnxar import _core, _ir, _proto
from onnxar._archive import Archive
from onnxar._errors import needs, usage, without_folder
from onnxar._open import open_archive
from onnxar._options import Path, SideFiles, kept_from, load_options, save_options
from onnxar._pack import packed
from onnxar._paths import local_path
from onnxar._pool import Pool
from onnxar._progress import Count, Progress, growing, reporting
from onnxar._sources import OUTPUT, Bytes, Source, bytes_of, fetched, file_of
from onnxar._types import ConvertReport, report

if TYPE_CHECKING:
    import onnx
    import onnx_ir


def load(
    source: Source, *, graph: str = "", verify: bool = True, max_expansion: int = 8, threads: int = 0, progress: Progress = None
) -> onnx.ModelProto:  # fmt: skip
    """Returns the model of an archive as an onnx.ModelProto with all data inside, like onnx.load, but also above 2 GiB.

    Refuses everything that `check` reports as an error. Tensors that share bytes of the archive get separate copies. Side files
    are not part of a model; `save` keeps those of the archive that it replaces.

    Args:
        source: The path or address of an archive, its bytes, a file object, or an open archive.
        graph: The graph to load instead of the model.
        verify: Compare the CRC-32 of each entry, and the checksums of links.
        threads: The number of threads that read tensors; 0: one per core.
        max_expansion: All tensors together may take this many times the size of the archive.
        progress: See `onnxar.pack`.

    Other arguments: see `onnxar.pack`.

    Raises:
        Error: What `onnxar.open` raises; onnx.*; zip.data.crc; onnx.model.expansion; onnx.graph.duplicate (a graph defines a
            name more than once, with data outside; the place of the data decides which definition a runtime uses).

    Example:

        model = onnxar.load("model.onnxar")  # an onnx.ModelProto
    """
    with needs("onnxar.load"):
        import onnx
    model = onnx.ModelProto()
    load_into(model, source, load_options(max_expansion=max_expansion, verify_data=verify, threads=threads, graph=graph), progress)
    return model


def load_into(model: onnx.ModelProto, source: Source, options: _core.LoadOptions, progress: Progress = None) -> None:
    """Fills an empty message, like `load`."""
    name, reader = _reader(source, options)
    threads = options.threads or os.cpu_count() or 1
    _proto.parse(model, reader.model(), name)
    descent = _proto.Descent(model)
    with reporting(progress, "loading") as tell, Pool(threads) as pool:
        data = _read_ahead(reader, pool, threads)
        count = Count(tell, sum(map(reader.size_of, range(len(reader)))))

        def put(index: int, path: tuple[tuple[str, int | None], ...]) -> None:
            _proto.set_data(descent.to(path), next(data))
            count.add(reader.size_of(index))

        reader.for_each(put)


def _reader(source: Any, options: _core.LoadOptions) -> tuple[str, _core.ModelReader]:
    """Returns the path for messages, and the reader."""
    source = fetched(source)
    if isinstance(source, str | os.PathLike):
        name = os.path.abspath(local_path(source))
        return name, _core.ModelReader.open(name, options)
    return getattr(source, "path", None) or "", _core.ModelReader.open_buffer(bytes_of(source), options)


def _read_ahead(reader: _core.ModelReader, pool: Pool, most: int) -> Iterator[bytes]:
    """Yields the data of each tensor. At most so many are read and not yet used."""
    waiting: collections.deque[Future[bytes]] = collections.deque()
    for index in range(len(reader)):
        if len(waiting) >= most:
            yield waiting.popleft().result()
        waiting.append(pool.submit(reader.read, index))
    while waiting:
        yield waiting.popleft().result()


def load_ir(source: Source) -> onnx_ir.Model:
    """Returns the model of an archive as an onnx_ir.Model with lazy tensors. A tensor's data is mapped when it is used, as a view
    of the archive, which the model keeps open.

    The CRC-32 of the model is compared at once. The CRC-32 of a tensor's entry is compared when `save` writes the tensor, not
    when its data is used; `onnxar.check(data=True)` compares all of them.

    onnx_ir cannot represent sparse tensors and map types, and keeps only one of several functions, or attributes of a node, with
    the same name. Models with these are refused (usage.argument). onnx_ir leaves out training info, segments, initializers
    without a name, fields that the installed onnx does not know, all but the last of several metadata, opset imports or
    annotations with the same key, and annotations of values that the graph lacks. A UserWarning names what is left out, and
    `save` repeats it. onnx_ir keeps one of several definitions of a name, so models with such names are refused, too
    (onnx.graph.duplicate). `onnxar.load` keeps everything.

    Args:
        source: The path or address of an archive, its bytes, a file object, or an open archive, which may be closed afterwards.
            For another graph than the model, pass `archive.graph(name)`.

    Raises:
        Error: What `onnxar.open` raises; wire.*, onnx.model.invalid. Using a tensor raises the errors of its data.

    Example:

        model = onnxar.load_ir("model.onnxar")
        onnxar.save(model, "changed.onnxar")
    """
    with needs("onnxar.load_ir"):
        import onnx
        import onnx_ir  # noqa: F401  before the archive is read
    archive = source if isinstance(source, Archive) else open_archive(source)
    data = archive.model()
    _ = archive.keys()  # the walk validates the messages
    return _ir.loaded(_proto.parsed(onnx.ModelProto, data, archive.path or ""), archive._handle, archive.path or "")


@overload
def save(model: Any, path: Path | IO[bytes], threshold: int = 1024, alignment: int = 64, *, all_sites: bool = False,
         attributes: bool = True, subgraphs: bool = True, checksum: str | None = None, side_files: SideFiles | None = None,
         keep_side_files: bool | Path = True, data_dir: Path | None = None, overwrite: bool = False, sync: bool = True,
         threads: int = 0, progress: Progress = None, max_expansion: int = 8) -> ConvertReport: ...  # fmt: skip


@overload
def save(model: Any, path: None = None, threshold: int = 1024, alignment: int = 64, *, all_sites: bool = False,
         attributes: bool = True, subgraphs: bool = True, checksum: str | None = None, side_files: SideFiles | None = None,
         keep_side_files: bool | Path = True, data_dir: Path | None = None, overwrite: bool = False, sync: bool = True,
         threads: int = 0, progress: Progress = None, max_expansion: int = 8) -> bytes: ...  # fmt: skip


def save(
    model: Any,
    path: Path | IO[bytes] | None = None,
    threshold: int = 1024,
    alignment: int = 64,
    *,
    all_sites: bool = False,
    attributes: bool = True,
    subgraphs: bool = True,
    checksum: str | None = None,
    side_files: SideFiles | None = None,
    keep_side_files: bool | Path = True,
    data_dir: Path | None = None,
    overwrite: bool = False,
    sync: bool = True,
    threads: int = 0,
    progress: Progress = None,
    max_expansion: int = 8,
) -> ConvertReport | bytes:
    """Saves a model as an archive.

    Weights are copied one at a time: the raw data of an onnx.ModelProto of any size, and the tensors of an onnx_ir.Model, so lazy
    tensors are never all in memory. Values in typed fields of a message are copied together. The model is not changed, with one
    exception: tensors whose data is in the replaced file keep a mapping of that file. A UserWarning names what `load_ir` left
    out of an onnx_ir.Model, and its initializers without data, which are not saved.

    Args:
        model: An onnx.ModelProto, an onnx_ir.Model, torch's ONNXProgram, the path or bytes of a model file, or an open archive.
        path: The archive, or a file object that is open for writing bytes. Without it, `save` returns the bytes of the archive,
            which `load` and `open` accept.
        keep_side_files: Keep the side files of the archive that is replaced, as in `save(load(a), a, overwrite=True)`, because a
            model in memory has none. Or the path of another archive that provides them: `save(load(a), b, keep_side_files=a)`.
        side_files: Files to add, or to replace by name.
        data_dir: The folder of the external data of a ModelProto.
        overwrite: Replace an existing file, by renaming; otherwise the error is OutputExistsError.

    Other arguments: see `onnxar.pack`, which also lists the errors.

    Example:

        onnxar.save(model, "model.onnxar", side_files={"tokenizer.json": "tokenizer.json"})
    """
    if isinstance(path, io.TextIOBase):
        raise usage("the output is a file of text: open it in binary mode")
    to_file = isinstance(path, str | os.PathLike) or not (path is None or hasattr(path, "write"))
    with contextlib.nullcontext(file_of(path, OUTPUT)) if to_file else _temporary_path() as output, reporting(progress, "saving") as tell:
        options = save_options(
            threshold=threshold, alignment=alignment, all_sites=all_sites, attributes=attributes, subgraphs=subgraphs,
            checksum=checksum, side_files=side_files, side_files_of=kept_from(output, overwrite, keep_side_files),
            overwrite=overwrite, sync=sync and to_file, threads=threads, progress=growing(tell),
        )  # fmt: skip
        saved = _saved(model, output, options, data_dir, max_expansion)
        return saved if to_file else _delivered(saved, output, path)


@contextlib.contextmanager
def _temporary_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="onnxar_") as folder, without_folder(folder):
        yield os.path.join(folder, "model.onnxar")


def _delivered(saved: ConvertReport, path: Path, file: Any) -> ConvertReport | bytes:
    """Returns the bytes of the archive at `path`, or writes them to `file` and returns the report."""
    with open(path, "rb") as written:
        if file is None:
            return written.read()
        while piece := written.read(1 << 20):
            _write(file, piece)
    return dataclasses.replace(saved, model_path=None)


def _write(file: IO[bytes], piece: bytes) -> None:
    """Writes all of `piece`. A raw file may write a part of it, or nothing if it does not block."""
    count, rest = file.write(piece), memoryview(piece)
    while isinstance(file, io.RawIOBase) and count != len(rest):
        if not count:
            raise BlockingIOError(errno.EAGAIN, "the output is non-blocking and accepts no more bytes now")
        rest = rest[count:]
        count = file.write(rest)


def _saved(model: Any, path: Path, options: _core.SaveOptions, data_dir: Path | None, max_expansion: int) -> ConvertReport:
    if isinstance(model, str | os.PathLike | Bytes | Archive):
        return packed(model, path, options, data_dir, max_expansion)
    model, load = _ir_model_of(model), load_options(data_dir, max_expansion=max_expansion)

    def written(skeleton: bytes, writer: _core.ModelWriter) -> ConvertReport:
        return report(ConvertReport, writer.save(skeleton, path, options, load))

    if _is_ir_model(model):
        _ir.verify_links(model)
        _ir.warn_of_losses(model)
        if options.overwrite and os.path.exists(path):
            _ir.keep_data_of(path, model)
        writer = _core.ModelWriter()
        return written(_ir.skeleton(model, writer), writer)
    if not _proto.is_model(model):
        raise usage(f"{type(model).__name__} is not a model: it may be an onnx.ModelProto, an onnx_ir.Model, a torch.onnx."
                    "ONNXProgram or a path")  # fmt: skip
    return _proto.with_weights(model, written)


def _is_ir_model(model: Any) -> bool:
    onnx_ir = sys.modules.get("onnx_ir")
    return onnx_ir is not None and isinstance(model, onnx_ir.Model)


def _ir_model_of(model: Any) -> Any:
    """Returns the onnx_ir model inside a torch.onnx.ONNXProgram, else `model` itself."""
    program = getattr(model, "model", None)
    return program if _is_ir_model(program) else model

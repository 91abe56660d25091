"""Makes functions of onnx accept archives."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

from onnxar import _edit, _link, _model, _pack, _proto
from onnxar._errors import needs, printable, usage
from onnxar._open import open_archive
from onnxar._options import load_options
from onnxar._paths import hidden_name, is_remote


class _Serializer:
    """Implements the protocol of onnx.serialization: converts messages to bytes and back, in memory."""

    supported_format = "onnxar"
    file_extensions: Collection[str] = frozenset({".onnxar"})

    def serialize_proto(self, proto: Any) -> bytes:
        _expect_model(proto)
        return _model.save(proto)

    def deserialize_proto(self, serialized: bytes, proto: Any) -> Any:
        _expect_model(proto)
        _warn_of_losses(serialized)
        proto.Clear()
        _model.load_into(proto, serialized, load_options(max_expansion=8, verify_data=True))
        return proto


def _expect_model(message: Any) -> None:
    if not _proto.is_model(message):
        raise usage(f"an archive holds a ModelProto, not a {type(message).__name__}")


def _warn_of_losses(source: Any) -> None:
    with open_archive(source) as archive:
        lost = archive.side_files() + archive._handle.graphs()
    if lost:
        warnings.warn(
            f"the archive has side files or graphs ({', '.join(map(printable, lost[:3]))}{', ...' if len(lost) > 3 else ''}), and "
            "onnx.save does not write them; onnxar.save keeps those of the archive that it replaces",
            stacklevel=4,
        )


def _is_path(file: Any) -> bool:
    return isinstance(file, str | os.PathLike)


def _is_archive(file: Any, format: str | None = None) -> bool:
    """Returns true if onnx chooses the format of archives: by the name of the format, or else by the end of the file's name."""
    if format is not None:
        return format == _Serializer.supported_format
    path: Any = file if _is_path(file) else getattr(file, "name", None)
    if not _is_path(path):
        return False
    name = os.fspath(path).partition("?")[0] if is_remote(path) else os.fspath(path)
    return os.path.splitext(name)[1] in _Serializer.file_extensions


def _is_data_file(path: Any) -> bool:
    """Returns True if onnx reads the archive as external data of a model beside the path. onnx refuses symbolic links and files with
    several hard links, and in the folder of a symbolic link another file may have the name of the archive."""
    if is_remote(path):
        return False
    status = os.lstat(path)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _load_model(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_model(f: Any, format: Any = None, load_external_data: bool = True) -> Any:
        import onnx

        if not _is_archive(f, format):
            return original(f, format, load_external_data)
        source = f if _is_path(f) else f.read()
        _warn_of_losses(source)
        if not load_external_data and _is_path(f) and _is_data_file(f):
            return _proto.parsed(onnx.ModelProto, _link.link(f).model, os.fspath(f))
        return _model.load(source)

    return load_model


def _save_model(original: Callable[..., Any]) -> Callable[..., Any]:
    def save_model(
        proto: Any, f: Any, format: Any = None, *, save_as_external_data: bool = False, all_tensors_to_one_file: bool = True,
        location: str | None = None, size_threshold: int = 1024, convert_attribute: bool = False,
    ) -> None:  # fmt: skip
        import onnx

        if not _is_archive(f, format):
            original(proto, f, format, save_as_external_data=save_as_external_data, all_tensors_to_one_file=all_tensors_to_one_file,
                     location=location, size_threshold=size_threshold, convert_attribute=convert_attribute)  # fmt: skip
            return
        if isinstance(proto, bytes):
            proto = _proto.parsed(onnx.ModelProto, proto, "")
        _expect_model(proto)
        # All data goes into the archive, so the names of data files mean nothing.
        options: dict[str, Any] = {"threshold": max(size_threshold, 0) if save_as_external_data else 1024, "keep_side_files": False}
        path: Any = f if _is_path(f) else getattr(f, "name", None)
        if _is_path(path):
            options["data_dir"] = os.path.dirname(os.path.abspath(path))  # of data that was not loaded, as for onnx.save
        if _is_path(f):
            options["overwrite"] = True
        with _unmarked(proto):
            _model.save(proto, f, **options)

    return save_model


@contextlib.contextmanager
def _unmarked(model: Any) -> Iterator[None]:
    """Undoes onnx.convert_model_to_external_data, which marks tensors whose data onnx.save would then write to files. After an
    exception the marks are restored."""
    marked = [tensor for _, tensor in _proto.placed(model) if tensor.data_location == _proto.EXTERNAL and tensor.HasField("raw_data")]
    marks = [list(tensor.external_data) for tensor in marked]
    for tensor in marked:
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    try:
        yield
    except BaseException:
        for tensor, pairs in zip(marked, marks, strict=True):
            tensor.external_data.extend(pairs)
            tensor.data_location = _proto.EXTERNAL
        raise


def _check_model(original: Callable[..., Any]) -> Callable[..., Any]:
    def check_model(model: Any, *options: Any, **named: Any) -> None:
        if not _is_path(model) or not _is_archive(model):
            original(model, *options, **named)
            return
        if is_remote(model):
            original(_model.load(model), *options, **named)
            return
        with _linked(model) if _is_data_file(os.path.realpath(model)) else contextlib.nullcontext() as link:
            original(_model.load(model) if link is None else link, *options, **named)

    return check_model


def _extract_model(original: Callable[..., Any]) -> Callable[..., Any]:
    def extract_model(input_path: Any, output_path: Any, *options: Any, **named: Any) -> None:
        if is_remote(input_path) or is_remote(output_path):
            raise usage("extract_model needs paths of files; for an address, pass what onnxar.load returns to onnx.utils.Extractor")
        original(input_path, output_path, *options, **named)

    return extract_model


@contextlib.contextmanager
def _linked(archive: Any) -> Iterator[str | None]:
    """Yields a link beside the archive, where onnx requires external data to be; None if no file can be written there."""
    link = _link.link(archive)
    try:
        file = tempfile.NamedTemporaryFile(dir=link.folder, prefix=f"{hidden_name(os.path.basename(os.path.realpath(archive)))}.", suffix=".onnx")
    except OSError:
        yield None
        return
    with file:
        file.write(link.model)
        file.flush()
        yield file.name


def _infer_shapes_path(original: Callable[..., Any]) -> Callable[..., Any]:
    def infer_shapes_path(model_path: Any, output_path: Any = "", *options: Any, **named: Any) -> None:
        if is_remote(model_path) or is_remote(output_path):
            raise usage("infer_shapes_path needs paths of files; download the archive, or infer its shapes in `with onnxar.edit(...)`")
        target = os.fspath(output_path) or model_path
        output = os.path.realpath(target)
        if not _is_archive(model_path) and not _is_archive(target):
            original(model_path, output_path, *options, **named)
        elif _is_archive(model_path) and _is_archive(target) and _is_same_file(model_path, output):
            _infer_in(output, *options, **named)
        else:
            # Complete before it gets its name: nothing is left behind if onnx refuses the model.
            with tempfile.TemporaryDirectory(dir=os.path.dirname(output), prefix=f"{hidden_name(os.path.basename(output))}.") as folder:
                made = os.path.join(folder, os.path.basename(output))
                if not _is_archive(model_path):
                    plain = os.path.join(folder, "model.onnx")
                    original(model_path, plain, *options, **named)
                    _pack.pack(plain, made, data_dir=os.path.dirname(os.path.abspath(model_path)))
                elif _is_archive(target):
                    _pack.pack(model_path, made)
                    _infer_in(made, *options, **named)
                else:
                    with _plain(model_path, made, os.path.dirname(output)) as plain:
                        original(plain, made, *options, **named)
                if os.path.exists(output):
                    shutil.copymode(output, made)
                os.replace(made, output)

    return infer_shapes_path


@contextlib.contextmanager
def _plain(archive: Any, made: str, folder: str) -> Iterator[str]:
    """Yields `made`, to which the archive is unpacked. An archive too large for one message becomes a link, if it is in the folder
    of the output, because onnx does not copy external data."""
    import onnx

    is_large = os.path.getsize(archive) > onnx.checker.MAXIMUM_PROTOBUF
    with contextlib.ExitStack() as stack:
        beside = is_large and _is_same_file(os.path.dirname(os.path.realpath(archive)), folder)
        link = stack.enter_context(_linked(archive)) if beside else None
        if link is None:
            _pack.unpack(archive, made)
        yield link or made


def _is_same_file(first: Any, second: Any) -> bool:
    return os.path.exists(second) and os.path.samefile(first, second)


def _infer_in(archive: str, *options: Any, **named: Any) -> None:
    from onnx import shape_inference

    with _edit.edit(archive) as e:
        e.model.CopyFrom(shape_inference.infer_shapes(e.model, *options, **named))


def register() -> None:
    """Makes functions of onnx accept archives: files named `*.onnxar`, and any file with `format="onnxar"`. Other files are
    treated as before.

    - onnx.load, onnx.load_model: work like `load`, at any size. With `load_external_data=False` they return the model without
      its weights, like `link`. Its tensors refer to the archive's file, so onnx.load_external_data_for_model accepts it, and it
      can be saved beside the archive.
    - onnx.save, onnx.save_model: work like `save` with `overwrite=True`, at any size. The data of all tensors goes into the
      archive, even with `save_as_external_data=True`; of the arguments about external data only `size_threshold` applies. Data
      that was not loaded is looked for in the folder of the output. The message keeps its data.
    - onnx.checker.check_model and onnx.shape_inference.infer_shapes_path, and so onnx.utils.extract_model: accept paths
      of archives.
    - onnx.load_model_from_string: accepts the bytes of an archive with `format="onnxar"`.

    Modules that have already imported these functions by name get the new ones, too. Tools that open a file themselves are not
    changed: the page "Use onnx's tools on archives" shows what works instead. onnx.load warns (UserWarning) about side files
    and graphs, which onnx.save does not write.

    Example:

        onnxar.register()
        model = onnx.load("model.onnxar")
    """
    with needs("onnxar.register"):
        import onnx
        import onnx.checker
        import onnx.shape_inference
        import onnx.utils
    onnx.serialization.registry.register(_Serializer())
    for module, name, make in (
        (onnx, "load_model", _load_model),
        (onnx, "save_model", _save_model),
        (onnx.checker, "check_model", _check_model),
        (onnx.shape_inference, "infer_shapes_path", _infer_shapes_path),
        (onnx.utils, "extract_model", _extract_model),
    ):
        original = getattr(module, name)
        if not hasattr(original, "takes_archives"):
            made: Any = functools.wraps(original)(make(original))
            made.takes_archives = True
            _put_everywhere(original, made)


def _put_everywhere(original: Any, made: Any) -> None:
    """Replaces a function also in modules that imported it by name, like ONNX Runtime's tools."""
    for module in list(sys.modules.values()):
        if not isinstance(module, types.ModuleType):
            continue
        for name, value in list(vars(module).items()):
            if value is original:
                setattr(module, name, made)

"""Sessions of ONNX Runtime that take their weights from an archive."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from onnxar import _core, _dtypes, _link
from onnxar._archive import Archive
from onnxar._cache import FOLDER, Cache, SessionOptions, Unfit, settings_of, warn
from onnxar._errors import Error, fault, needs, usage
from onnxar._open import open_archive, opened
from onnxar._options import Path
from onnxar._paths import is_unicode, local_path
from onnxar._sources import Source, fetched, file_of, path_or_bytes
from onnxar._types import Link
from onnxar._variants import choose

with needs("onnxar.onnxruntime"):
    import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]
    from onnxruntime.capi import onnxruntime_pybind11_state as errors  # type: ignore[import-untyped,unused-ignore]

FIRST_WITH_FOLDER = (1, 21)  # the version of ONNX Runtime that first knows this option
# Failures because of a model alone. Others also come of a full disk, or want of memory.
LASTING = (errors.InvalidGraph, errors.NotImplemented)

_ARGUMENTS = {"enable_fallback", "disabled_optimizers", "read_config_from_model"}  # the further ones of ONNX Runtime
_UNSIGNED = {8: 2, 16: 4}  # the number of ONNX's type of so many bits

# Weights in memory, by the options that they were given to. ONNX Runtime does not keep them, and reads them for each session.
_given: weakref.WeakKeyDictionary[ort.SessionOptions, list[ort.OrtValue]] = weakref.WeakKeyDictionary()


class InferenceSession(ort.InferenceSession):  # type: ignore[misc,unused-ignore]
    """An onnxruntime.InferenceSession of an archive. Its other arguments are those of ONNX Runtime.

    From a file, ONNX Runtime maps the weights. It copies only weights that kernels prepack, which the session option
    `session.disable_prepacking` = "1" disables. As with `onnxar.open`, the archive must not be changed in place while the
    session exists. Weights of an archive in memory are copied once. If the archive is replaced while a session is made or
    `set_providers` reads the weights again, the error is onnx.link.stale or io.changed, even if the old file is put back; an
    existing session does not change.

    A session of a file can be pickled, for pools of processes. The pickle has the path, the arguments, and a link, so that the
    other process refuses a changed archive (io.changed). Its options must be `onnxar.onnxruntime.SessionOptions`.

    Args:
        path_or_bytes: The path or bytes of an archive, a file object, an open archive, or an `onnxar.Link`.
        sess_options: The options. They get an entry that names the archive's folder. For an archive in memory they get the
            initializers instead; such options keep the archive's bytes alive, and are for one session only. ONNX Runtime before
            1.21 gets a link in a temporary folder, beside a symbolic link to the archive.
        cache: True (the user's cache folder) or a folder. The session then starts from the model as ONNX Runtime optimised it,
            with prepacked weights that are mapped from a file; the first start stores them. All processes share these weights, so
            the session needs hardly any memory of its own, and results are bit-identical. An entry is used for one digest of the
            archive, these options, this version of ONNX Runtime and this processor. The archive's digest is computed, and the
            entry's CRC-32s are compared, once after each boot and after changes of the files. Anyone who can write to the folder
            decides what sessions compute, and can crash them; folders and files to which other users can write are not used.
            `sess_options` must be `onnxar.onnxruntime.SessionOptions`. A session that cannot be stored (with providers other than
            the CPU's, from memory, with custom operator libraries), or that cannot write to the folder, starts without the cache,
            and a RuntimeWarning says why. While another process stores the model, the session also starts without it.
        graph: The graph to use instead of the model. Sessions of several graphs, and of several processes, share the pages of
            common weights.
        component: A component of a model package; with `variant` it may be omitted if there is only one. ONNX Runtime 1.32
            selects the variant for the first of the `providers` that it has. The attribute `variant` is its name. Session and
            provider options of the variant apply only without `sess_options`.
        variant: A variant of the component by name, whatever it needs.

    Raises:
        Error: zip.data.crc (the archive is damaged); usage.argument (no variant fits, and the message says what each needs; the
            manifest is invalid).
    """

    _variant: str | None = None

    def __init__(
        self,
        path_or_bytes: Source | Link,
        sess_options: ort.SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
        *,
        graph: str = "",
        component: str = "",
        variant: str = "",
        cache: bool | Path = False,
        **kwargs: Any,
    ) -> None:
        if unknown := kwargs.keys() - _ARGUMENTS:  # ONNX Runtime ignores them, so a misspelt graph= would run another model
            raise TypeError(f"InferenceSession has no argument {' and '.join(map(repr, sorted(unknown)))}")
        source = path_or_bytes if isinstance(path_or_bytes, Link) else _source(path_or_bytes)
        if isinstance(source, Link) and (graph or component or variant or cache or _version() < FIRST_WITH_FOLDER):
            raise usage("a session with graph, component, variant or cache, and one of ONNX Runtime before 1.21, is made from the archive's "
                        "path, not from a link")  # fmt: skip
        if component or variant:
            if graph:
                raise usage("pass either graph or component, not both")
            chosen = choose(source, component, variant, sess_options, providers, provider_options)
            self._variant, graph, sess_options = chosen.variant, chosen.graph, chosen.options
            providers, provider_options = chosen.providers, None
        kept = os.path.abspath(source) if isinstance(source, str) else source
        self._arguments = (kept, sess_options, providers, provider_options, graph, cache, kwargs)
        self._source: tuple[_core.StoredModel, str, SessionOptions, str] | None = None
        if (cache or cache == "") and self._begin_cached(source, sess_options, providers, provider_options, graph, cache, kwargs):
            return
        options = sess_options if sess_options is not None else ort.SessionOptions()
        if options in _given:
            raise usage("the session options have the weights of another archive in memory: make new ones for each session")
        self._options, self._link = options, None

        def begin(model: bytes | str) -> None:
            super(InferenceSession, self).__init__(model, options, providers, provider_options, **kwargs)

        if isinstance(source, Link):
            self._link = source
            self._mapping(lambda: begin(source.model))
            return
        if not isinstance(source, str | os.PathLike):
            begin(_with_initializers(source, options, graph))
            return
        self._link = link = _link.link(source, graph=graph)
        if _version() >= FIRST_WITH_FOLDER:
            self._mapping(lambda: begin(link.model))
        else:
            with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
                linked = _linked_in(folder, link, os.path.realpath(source))
                _core.verify_link_bytes(link.model, link.folder, lambda: begin(linked))

    @property
    def variant(self) -> str | None:
        """The name of the variant of a model package."""
        return self._variant

    @property
    def is_cached(self) -> bool:
        """True if the session was made from the cache."""
        return self._source is not None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the session. Raises usage.argument (an archive in memory; options that do not record what was set); io.changed."""
        source, options, *others = self._arguments
        if not isinstance(source, str | Link):
            raise usage("a session of an archive in memory cannot be pickled; make it from the archive's path")
        if options is not None and not isinstance(options, SessionOptions):
            raise usage("a session can be pickled only with options that record what was set: make them with onnxar.onnxruntime.SessionOptions()")
        if self._source is not None:
            self._source[0].verify_archive()
        if isinstance(source, Link):
            return _restarted, (source, source, options, *others)
        link = self._link or _link.link(source, graph=self._arguments[4])
        return _restarted, (link, source, options, *others, self._variant)

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[dict[Any, Any]] | None = None) -> None:
        def begin() -> None:
            super(InferenceSession, self).set_providers(providers, provider_options)

        before = dict(self.__dict__)
        try:
            if self._source is not None:  # the stored model is for the providers that it was optimised for
                stored, path, options, graph = self._source
                stored.verify_archive()
                InferenceSession.__init__(self, path, options, providers, provider_options, graph=graph)
                stored.verify_archive()
            elif self._link is None:
                begin()
            else:
                self._mapping(begin)
            self._arguments = (*self._arguments[:2], providers, provider_options, *self._arguments[4:])
        except BaseException:  # the session stays what it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _begin_cached(
        self, path: Any, sess_options: ort.SessionOptions | None, providers: Any, provider_options: Any, graph: str,
        cache: bool | Path, kwargs: dict[str, Any],
    ) -> bool:  # fmt: skip
        """Makes the session from the cache, which first gets the model if it lacks it. Returns True if it did."""
        given = SessionOptions() if sess_options is None else sess_options
        if not isinstance(given, SessionOptions):
            raise usage("a session with a cache needs to know its options: make them with onnxar.onnxruntime.SessionOptions()")
        if not isinstance(path, str | os.PathLike):
            warn("the archive is in memory")
            return False
        real = os.path.realpath(path)
        try:
            if kwargs.keys() - {"enable_fallback"}:
                raise Unfit(f"{' and '.join(sorted(kwargs))} cannot be stored")
            settings = settings_of(given, providers, provider_options)
            stored = Cache(None if isinstance(cache, bool) else cache).open(real, graph, settings)
        except Error:  # of the archive
            raise
        except (Unfit, OSError) as reason:
            warn(reason)
            return False
        is_new = not stored.is_stored
        try:
            if is_new:
                _write_optimised(stored, given, providers, provider_options)
            self._begin_stored(stored, given, providers, provider_options)
        except Exception as reason:  # ONNX Runtime's errors have no class in common
            if is_new and isinstance(reason, LASTING):
                stored.refuse(str(reason))
            if getattr(reason, "code", "") != "archive.busy":  # another process stores it
                warn(reason)
            return False
        self._source = stored, real, given, graph
        return True

    def _begin_stored(self, stored: _core.StoredModel, given: SessionOptions, providers: Any, provider_options: Any) -> None:
        """Makes the session from a stored model. Raises the errors of ONNX Runtime; io.changed."""
        model, folder = stored.link()
        self._link, self._options = None, given._copy()
        self._options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # that was done
        self._options.add_session_config_entry(FOLDER, _native(folder))
        super().__init__(model, self._options, providers, provider_options, enable_fallback=0)
        stored.verify()

    def _mapping(self, begin: Callable[[], None]) -> None:
        """Makes the session from a link. The options may meanwhile belong to a session of another folder, too. Raises onnx.link.stale,
        io.changed (the archive was replaced in the meantime); usage.argument (the options were changed in the meantime).
        """
        assert self._link is not None
        folder = _native(self._link.folder)
        self._options.add_session_config_entry(FOLDER, folder)
        _core.verify_link_bytes(self._link.model, self._link.folder, begin)
        if _entry_of(self.get_session_options()) != os.fsencode(folder):
            raise usage("another thread uses these session options: make new ones for each session", path=str(self._link.folder))


def _restarted(
    link: Link, source: Any, options: Any, providers: Any, provider_options: Any, graph: str, cache: Any, kwargs: dict[str, Any],
    variant: str | None = None,
) -> InferenceSession:  # fmt: skip
    """Makes a session that was pickled. Raises what the session raises; io.changed."""
    if source is not link and _link.link(source, graph=graph).model != link.model:  # an edit leaves links valid
        raise fault("io.changed", "the archive was edited or replaced since the session was pickled; make a new session", path=source)
    session = InferenceSession(source, options, providers, provider_options, graph=graph, cache=cache, **kwargs)
    session._variant = variant
    return session


def load_adapter(source: Source, name: str) -> Any:
    """Returns the adapter in the side file `name` of an archive, for `onnxruntime.RunOptions.add_active_adapter`. The run options do
    not keep the adapter alive: keep a reference until the last run.

    ONNX Runtime's Python interface takes adapters only as files, so the bytes are copied to a temporary file, which ONNX Runtime
    maps. Raises usage.no_such_entry, zip.data.crc.
    """
    with opened(source) as archive:
        archive.verify(name)
        data = bytes(archive.entry(name))
    adapter = ort.LoraAdapter()
    # Windows does not remove a file that is mapped.
    with tempfile.TemporaryDirectory(prefix="onnxar_", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "adapter")
        with open(path, "xb") as file:
            file.write(data)
        adapter.Load(path)
    return adapter


@contextlib.contextmanager
def installed_package(path: Path) -> Iterator[str]:
    """Yields a temporary folder with the model package of an archive, for code that takes packages as folders, such as
    `onnxruntime.ModelPackageContext`. The folder has the manifest, links into the archive and the side files, but no weights:
    sessions map these from the archive. It is removed afterwards; sessions stay valid.

    Raises:
        Error: What `onnxar.link` raises; usage.argument (the archive has no package).

    Example:

        with onnxar.onnxruntime.installed_package("phi.onnxar") as folder:
            context = onnxruntime.ModelPackageContext(folder)
    """
    # Windows does not remove a file that is mapped.
    with tempfile.TemporaryDirectory(prefix="onnxar_", ignore_cleanup_errors=True) as folder:
        _core.link_folder(file_of(path, "installed_package"), folder, False, False, 0, None, _core.ArchivePlace.installed)
        yield folder


def _source(source: Any) -> Any:
    """Returns the path unchanged, or bytes."""
    source = fetched(source)
    return local_path(source) if isinstance(source, str | os.PathLike) else path_or_bytes(source)


def _version() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", ort.__version__)[:2])


def _native(path: Path) -> Any:
    """Returns a path for ONNX Runtime, which takes bytes where they are not UTF-8."""
    text = os.fspath(path)
    return text if is_unicode(text) else os.fsencode(text)


def _entry_of(options: ort.SessionOptions) -> bytes:
    """Returns the folder in the options."""
    try:
        return os.fsencode(options.get_session_config_entry(FOLDER))
    except UnicodeDecodeError as error:
        return error.object


def _write_optimised(stored: _core.StoredModel, given: SessionOptions, providers: Any, provider_options: Any) -> None:
    """Makes ONNX Runtime write the model as it runs it, and stores that. Raises the errors of ONNX Runtime and of
    `StoredModel.store`.
    """
    output = stored.prepare()
    (model, folder), options = stored.link(), given._copy()
    options.optimized_model_filepath = _native(output)
    options.enable_profiling = False
    options.log_severity_level = 3  # no warning that the file is for this machine alone
    for name, value in {
        FOLDER: _native(folder),
        "session.optimized_model_external_initializers_file_name": "data",
        "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
        "session.save_external_prepacked_constant_initializers": "1",
    }.items():
        options.add_session_config_entry(name, value)
    ort.InferenceSession(model, options, providers, provider_options, enable_fallback=0)
    stored.store()


def _linked_in(folder: str, link: Link, archive: str) -> str:
    """Writes the link to a folder that seems to have the archive. Old versions look there, and follow symbolic links."""
    os.symlink(archive, os.path.join(folder, os.path.basename(archive)))
    model = os.path.join(folder, "model.onnx")
    with open(model, "xb") as file:
        file.write(link.model)
    return model


def _with_initializers(data: Any, options: ort.SessionOptions, graph: str) -> bytes:
    """Gives the options the initializers of an archive in memory, and returns the model without them."""
    archive: Archive = open_archive(data).graph(graph)
    model, rows = _core.runtime_model(archive._handle)
    values = [_value(name, dtype, shape, bytes_of) for name, dtype, shape, bytes_of in rows]
    if values:
        options.add_external_initializers([name for name, *_ in rows], values)
        _given[options] = values
    return model


def _value(name: str, dtype: int, shape: tuple[int, ...], data: _core.Buffer) -> ort.OrtValue:
    if _dtypes.is_of_numpy(dtype):
        return ort.OrtValue.ortvalue_from_numpy(_dtypes.as_array(data, dtype, shape, name))
    bits = int(_core.dtype_bits(dtype))
    if bits < 8 or not hasattr(ort.OrtValue, "ortvalue_from_numpy_with_onnx_type"):
        raise usage(f"this version of ONNX Runtime takes no {_dtypes.name_of(dtype)} from memory: pass the path of the archive", name)
    numbers = _dtypes.as_array(data, _UNSIGNED[bits], shape, name)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(numbers, dtype)

"""The user's folder for models that ONNX Runtime stored, and the settings of sessions that they depend on."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from onnxar import _core
from onnxar._errors import needs, usage
from onnxar._options import Path

with needs("onnxar.onnxruntime"):
    import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

FIRST_VERSION = (1, 22)  # of ONNX Runtime: stores prepacked weights, and takes a link as bytes
FOLDER = "session.model_external_initializers_file_folder_path"
# The providers whose sessions can be stored. Azure's has no kernels of its own, and is in the packages for CPUs.
PROVIDERS = {"CPUExecutionProvider", "AzureExecutionProvider"}
# Options that a stored model does not depend on.
FREE = {"enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order",
        "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level", "logid",
        "profile_file_prefix", "use_per_session_threads"}  # fmt: skip
# Calls whose arguments are compared. After any other call, a session cannot be stored.
KNOWN_CALLS = {"add_session_config_entry", "add_free_dimension_override_by_name", "add_free_dimension_override_by_denotation"}


class Unfit(Exception):
    """The reason why a session cannot use the cache."""


def default_folder() -> pathlib.Path:
    """Returns the user's cache folder, as the system defines it. Raises OSError (the user has no home)."""
    if sys.platform == "win32":
        base, usual = os.environ.get("LOCALAPPDATA", ""), "AppData/Local"
    else:
        base, usual = os.environ.get("XDG_CACHE_HOME", ""), ".cache"
    try:
        return pathlib.Path(base if os.path.isabs(base) else pathlib.Path.home() / usual, "onnxar", "sessions")
    except RuntimeError as error:
        raise FileNotFoundError(f"there is no folder for caches, pass one: {error}") from error


class Cache:
    """A folder of models that ONNX Runtime stored. Any number of processes may use it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder == "":
            raise usage("the name of the cache's folder is empty: pass a folder, or True for the user's")
        self.folder = default_folder() if folder is None else pathlib.Path(os.fsdecode(folder)).absolute()

    def open(self, path: str, graph: str, settings: str) -> _core.StoredModel:
        """Opens a stored model. Raises the errors of the archive."""
        return _core.StoredModel.open_in(self.folder, path, graph, f"{ort.__version__} {ort.get_build_info()}", settings)

    def entries(self) -> list[tuple[float, int, str]]:
        """Returns time, size and description of each stored and each refused model, the latest first. Raises OSError."""
        return [(time, size, f"{archive} (ONNX Runtime {runtime.partition(' ')[0]})" + (f": cannot be stored: {why}" if why else ""))
                for archive, runtime, why, size, time in _core.list_stored(self.folder)[0]]  # fmt: skip

    def unfinished(self) -> int:
        """Returns the size of models that processes are storing, or left when they were killed. Raises OSError."""
        return _core.list_stored(self.folder)[1]

    def clear(self) -> tuple[int, int]:
        """Removes all stored models, except those that are being stored, and returns the number of both. Does not disturb sessions that use them. Raises OSError."""
        return _core.clear_stored(self.folder)


def _names(of_calls: bool) -> list[str]:
    return [name for name in dir(ort.SessionOptions)
            if not name.startswith(("_", "get_", "has_")) and callable(getattr(ort.SessionOptions, name)) == of_calls]  # fmt: skip


class SessionOptions(ort.SessionOptions):  # type: ignore[misc,unused-ignore]
    """onnxruntime.SessionOptions for sessions with a cache, and for sessions that are pickled: they record every call, because ONNX
    Runtime does not expose what was set."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def _copy(self) -> SessionOptions:
        """Returns a copy of the options with the same settings."""
        return _options_of(*self._state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _options_of, self._state()

    def _state(self) -> tuple[dict[str, Any], list[tuple[str, tuple[Any, ...], dict[str, Any]]]]:
        return {name: getattr(self, name) for name in _names(of_calls=False)}, self._settings_called()

    def _settings(self) -> list[Any]:
        """Returns the settings on which a stored model depends, for JSON. Raises Unfit."""
        for name, *_ in self._calls:
            if name not in KNOWN_CALLS:
                raise Unfit(f"the session options had a call of {name}")
        if self.optimized_model_filepath:
            raise Unfit("the session options have an optimized_model_filepath of their own")
        return [[name, str(getattr(self, name))] for name in _names(of_calls=False) if name not in FREE] + self._settings_called()

    def _settings_called(self) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        return [call for call in self._calls if call[1][:1] != (FOLDER,)]  # sessions set this one themselves


def _options_of(values: dict[str, Any], calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> SessionOptions:
    options = SessionOptions()
    for name, value in values.items():
        setattr(options, name, value)
    for name, positional, named in calls:
        getattr(options, name)(*positional, **named)
    return options


def _remembering(name: str) -> Callable[..., None]:
    def call(self: SessionOptions, *values: Any, **named: Any) -> None:
        getattr(ort.SessionOptions, name)(self, *values, **named)
        self._calls.append((name, values, named))

    call.__name__ = name
    return call


for _name in _names(of_calls=True):
    setattr(SessionOptions, _name, _remembering(_name))


def _of_cpu(providers: Sequence[Any] | None, provider_options: Sequence[dict[Any, Any]] | None) -> list[Any]:
    """Returns the options of the CPU's provider. Raises Unfit."""
    named = [each if isinstance(each, tuple) else (each, {}) for each in providers or ort.get_available_providers()]
    if provider_options:
        named = [(name, options) for (name, _), options in zip(named, provider_options, strict=False)]
    others = sorted({str(name) for name, _ in named} - PROVIDERS)
    if others:
        raise Unfit(f"what ONNX Runtime prepares for {' and '.join(others)} is stored elsewhere or not at all")
    return [sorted((str(key), str(value)) for key, value in options.items()) for name, options in named if name == "CPUExecutionProvider"]


def settings_of(options: SessionOptions, providers: Sequence[Any] | None, provider_options: Sequence[dict[Any, Any]] | None) -> str:
    """Returns the settings of a session on which a stored model depends. Raises Unfit."""
    if tuple(int(number) for number in ort.__version__.split(".")[:2]) < FIRST_VERSION:
        raise Unfit(f"ONNX Runtime {ort.__version__} is older than {'.'.join(map(str, FIRST_VERSION))}")
    if os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1":
        raise Unfit("ORT_LOAD_CONFIG_FROM_MODEL lets models set options")
    return json.dumps([options._settings(), _of_cpu(providers, provider_options)], sort_keys=True, default=repr)


def warn(reason: object) -> None:
    warnings.warn(f"this session of ONNX Runtime has no cache: {reason}", RuntimeWarning, stacklevel=4)

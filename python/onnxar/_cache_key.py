"""What an entry of the cache of sessions depends on: the archive, the options, ONNX Runtime and the processor."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from typing import Any

import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar import _core
from onnxar._cache_files import Unfit

FIRST_VERSION = (1, 22)  # of ONNX Runtime: stores prepacked weights, and takes a link as bytes
FOLDER = "session.model_external_initializers_file_folder_path"
# The providers whose sessions can be stored. Azure's has no kernels of its own, and is in the packages for CPUs.
PROVIDERS = {"CPUExecutionProvider", "AzureExecutionProvider"}
# Options that an entry does not depend on.
FREE = {"enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order",
        "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level", "logid",
        "profile_file_prefix", "use_per_session_threads"}  # fmt: skip
# Calls whose arguments are in the key. After any other call, a session cannot be stored.
KNOWN_CALLS = {"add_session_config_entry", "add_free_dimension_override_by_name", "add_free_dimension_override_by_denotation"}
# What MLAS, the kernels of ONNX Runtime, may ask the processor for, in the words of x86 and ARM. The first two have its features.
FEATURES = ("flags", "Features")
PROCESSOR = {"vendor_id", "cpu family", "model", "model name", "stepping", *FEATURES, "CPU implementer", "CPU architecture",
             "CPU variant", "CPU part"}  # fmt: skip


def _names(of_calls: bool) -> list[str]:
    return [name for name in dir(ort.SessionOptions)
            if not name.startswith(("_", "get_", "has_")) and callable(getattr(ort.SessionOptions, name)) == of_calls]  # fmt: skip


class SessionOptions(ort.SessionOptions):  # type: ignore[misc,unused-ignore]
    """onnxruntime.SessionOptions for sessions with a cache: they remember every call, since ONNX Runtime does not tell what
    was set, and an entry of the cache depends on it."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def _copy(self) -> SessionOptions:
        """Returns options of their own with the same settings."""
        copied = SessionOptions()
        for name in _names(of_calls=False):
            setattr(copied, name, getattr(self, name))
        for name, values, named in self._settings_called():
            getattr(copied, name)(*values, **named)
        return copied

    def _settings(self) -> list[Any]:
        """Returns what an entry depends on, for JSON. Errors: Unfit."""
        for name, *_ in self._calls:
            if name not in KNOWN_CALLS:
                raise Unfit(f"the session options had a call of {name}")
        if self.optimized_model_filepath:
            raise Unfit("the session options have an optimized_model_filepath of their own")
        return [[name, str(getattr(self, name))] for name in _names(of_calls=False) if name not in FREE] + self._settings_called()

    def _settings_called(self) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        return [call for call in self._calls if call[1][:1] != (FOLDER,)]  # sessions set this one themselves


def _remembering(name: str) -> Callable[..., None]:
    def call(self: SessionOptions, *values: Any, **named: Any) -> None:
        getattr(ort.SessionOptions, name)(self, *values, **named)
        self._calls.append((name, values, named))

    call.__name__ = name
    return call


for _name in _names(of_calls=True):
    setattr(SessionOptions, _name, _remembering(_name))


def processor() -> list[str]:
    """Describes the processor. Where /proc/cpuinfo does not list features, as on other systems than Linux and other processors than
    x86 and ARM, the names of the system, the computer and the processor are all that is known."""
    pairs: set[str] = set()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        pairs = {line.strip() for line in lines if line.partition(":")[0].strip() in PROCESSOR}
    if not any(pair.startswith(FEATURES) for pair in pairs):
        pairs |= {*platform.uname()}
    return sorted(pairs)


def digest_of(path: str | os.PathLike[str]) -> str:
    """Returns the SHA-256 of the archive's names and bytes. Errors: zip.data.crc; as `onnxar.open`."""
    return _core.Archive.open(path).digest(0, None)[0]


def _of_cpu(providers: Sequence[Any] | None, provider_options: Sequence[dict[Any, Any]] | None) -> list[Any]:
    """Returns the options of the CPU's provider. Errors: Unfit."""
    named = [each if isinstance(each, tuple) else (each, {}) for each in providers or ort.get_available_providers()]
    if provider_options:
        named = [(name, options) for (name, _), options in zip(named, provider_options, strict=False)]
    others = sorted({str(name) for name, _ in named} - PROVIDERS)
    if others:
        raise Unfit(f"ONNX Runtime stores what it prepared for {' and '.join(others)} elsewhere or not at all")
    return [sorted((str(key), str(value)) for key, value in options.items()) for name, options in named if name == "CPUExecutionProvider"]


def key_of(
    path: str | os.PathLike[str], graph: str, options: SessionOptions, providers: Sequence[Any] | None,
    provider_options: Sequence[dict[Any, Any]] | None, digest: Callable[[str | os.PathLike[str]], str] = digest_of,
) -> str:  # fmt: skip
    """Returns a digest of all that an entry depends on; `digest` gives the archive's. Errors: Unfit; as `onnxar.open`; those of `digest`."""
    if tuple(int(number) for number in ort.__version__.split(".")[:2]) < FIRST_VERSION:
        raise Unfit(f"ONNX Runtime {ort.__version__} is older than {'.'.join(map(str, FIRST_VERSION))}")
    if os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1":
        raise Unfit("ORT_LOAD_CONFIG_FROM_MODEL lets models set options")
    settings, provider = options._settings(), _of_cpu(providers, provider_options)
    _core.Archive.open(path).graph(graph)  # before the digest, which takes long
    told = {
        "layout of entries": 4,
        "archive": digest(path),
        "graph": graph,
        "runtime": [ort.__version__, ort.get_build_info()],
        "options": settings,
        "provider": provider,
        "variables": sorted(pair for pair in os.environ.items() if pair[0].startswith(("ORT_", "MLAS_"))),
        "system": [platform.system(), platform.machine(), sys.byteorder],
        "processor": processor(),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=repr).encode()).hexdigest()

"""Models as ONNX Runtime optimised them, stored for later sessions, which start sooner and share prepacked weights.

An entry is the archive `KEY.onnxar`. Its model is the one that ONNX Runtime wrote, and its entry `data` the data file of that model,
both unchanged: weights, and copies of them in the layout of kernels. Links to other archives leave such copies out, because no check
compares them with the weights. An entry therefore names all that it was made from in its key, and its CRC-32s are compared. Comparing takes
a fifth of the time of a start, so it is done once in each run of the system and after each change of the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import platform
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar import _core
from onnxar._errors import Error, usage
from onnxar._types import Link

FIRST_VERSION = (1, 22)  # of ONNX Runtime: stores prepacked weights, and takes a link as bytes
FOLDER = "session.model_external_initializers_file_folder_path"
DATA, ABOUT = "data", "about.json"  # entries
SUFFIX, REFUSED = ".onnxar", ".refused"  # of files in the cache
ALIGNMENT = 4096  # a page: ONNX Runtime maps ranges of the data file
# The providers whose sessions can be stored. Azure's has no kernels of its own, and is in the packages for CPUs.
PROVIDERS = {"CPUExecutionProvider", "AzureExecutionProvider"}
# Options that an entry does not depend on.
FREE = {"enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order",
        "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level", "logid",
        "profile_file_prefix", "use_per_session_threads"}  # fmt: skip
# Calls whose arguments are in the key. After any other call, a session cannot be stored.
KNOWN_CALLS = {"add_session_config_entry", "add_free_dimension_override_by_name", "add_free_dimension_override_by_denotation"}
# What MLAS, the kernels of ONNX Runtime, may ask the processor for, in the words of x86 and ARM.
PROCESSOR = {"vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU implementer", "CPU architecture",
             "CPU variant", "CPU part"}  # fmt: skip


class Unfit(Exception):
    """Why a session cannot use the cache."""


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


def default_folder() -> pathlib.Path:
    """Returns the user's folder for caches, as the system has it. Errors: usage.argument (the user has no home)."""
    if sys.platform == "win32":
        base, usual = os.environ.get("LOCALAPPDATA", ""), "AppData/Local"
    else:
        base, usual = os.environ.get("XDG_CACHE_HOME", ""), ".cache"
    try:
        return pathlib.Path(base if os.path.isabs(base) else pathlib.Path.home() / usual, "onnxar", "sessions")
    except RuntimeError as error:
        raise usage(f"there is no folder for caches, pass one: {error}") from error


def processor() -> list[str]:
    """Describes the processor. Where the system has no /proc/cpuinfo, the name of the computer stands for it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            pairs = {line.strip() for line in lines if line.partition(":")[0].strip() in PROCESSOR}
    except OSError:
        pairs = {*platform.uname(), platform.processor()}
    return sorted(pairs)


def _state(path: str | os.PathLike[str], graph: str) -> list[str]:
    """Returns digests of what identifies an archive: its model, its directory with all CRC-32s, and the graph."""
    archive = _core.Archive.open(path)
    file, model = (np.frombuffer(memoryview(each), np.uint8) for each in (archive.file(), archive.model()))
    end = file[model.ctypes.data - file.ctypes.data :].data  # the model is the last entry, and the directory follows
    return [hashlib.sha256(each).hexdigest() for each in (end, memoryview(archive.graph(graph).model()) if graph else b"")]


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
    provider_options: Sequence[dict[Any, Any]] | None,
) -> str:  # fmt: skip
    """Returns a digest of all that an entry depends on. Errors: Unfit; as `onnxar.open`."""
    if tuple(int(number) for number in ort.__version__.split(".")[:2]) < FIRST_VERSION:
        raise Unfit(f"ONNX Runtime {ort.__version__} is older than {'.'.join(map(str, FIRST_VERSION))}")
    if os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1":
        raise Unfit("ORT_LOAD_CONFIG_FROM_MODEL lets models set options")
    told = {
        "layout of entries": 1,
        "archive": _state(path, graph),
        "graph": graph,
        "runtime": [ort.__version__, ort.get_build_info()],
        "options": options._settings(),
        "provider": _of_cpu(providers, provider_options),
        "variables": sorted(pair for pair in os.environ.items() if pair[0].startswith(("ORT_", "MLAS_"))),
        "system": [platform.system(), platform.machine(), sys.byteorder],
        "processor": processor(),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=repr).encode()).hexdigest()


def _boot() -> str:
    """Returns what tells this run of the system from others; empty if the system does not say."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@contextlib.contextmanager
def _alone(path: pathlib.Path) -> Iterator[bool]:
    """Yields whether no other process has the lock, which is not waited for. Errors: OSError."""
    with open(path, "ab") as file:
        try:
            _lock(file)
        except BlockingIOError:
            yield False
        else:
            yield True


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Cache:
    """A folder of entries. Any number of processes may use it at once."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = default_folder() if folder is None else pathlib.Path(folder).absolute()

    def path(self, key: str, suffix: str = SUFFIX) -> pathlib.Path:
        return self.folder / (key + suffix)

    def find(self, key: str) -> tuple[Link, str] | None:
        """Returns the entry as a model for ONNX Runtime, and its interface. An entry that was changed is
        removed. Errors: Unfit (the model is known not to work); OSError."""
        path = self.path(key)
        try:
            archive = _core.Archive.open(path)
            self._verify(archive, path)
            about = _about(archive)
            if about["key"] != key:
                raise ValueError("it has the name of another entry")
            return Link(*_core.make_link(path, 0, None, "", _core.LinkForm.prepacked)), about["interface"]
        except (Error, ValueError, KeyError) as error:
            code = error.code if isinstance(error, Error) else ""
            if code.startswith("io.") and code != "io.not_found":
                raise
            path.unlink(missing_ok=True)
        if self.path(key, REFUSED).exists():
            raise Unfit(self.path(key, REFUSED).read_text(encoding="utf-8"))
        return None

    def _verify(self, archive: _core.Archive, path: pathlib.Path) -> None:
        """Compares the CRC-32s, unless that was done since the system started and the file was not written to since: a write changes
        its times, and no program can set the time of change. Errors: zip.data.crc; OSError."""
        status, seen = path.stat(), path.with_suffix(".seen")
        now = " ".join(map(str, [_boot(), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]))
        with contextlib.suppress(OSError):
            if _boot() and seen.read_text(encoding="utf-8") == now:
                return
        self._compare(archive)
        with contextlib.suppress(OSError):
            seen.write_text(now, encoding="utf-8")

    @staticmethod
    def _compare(archive: _core.Archive) -> None:
        for name in archive.names():
            archive.verify(name)

    def refuse(self, key: str, why: str) -> None:
        """Remembers that the model does not work when it is loaded again, so that later sessions do not try."""
        with contextlib.suppress(OSError):
            self.path(key, REFUSED).write_text(why, encoding="utf-8")
            for suffix in (SUFFIX, ".seen"):
                self.path(key, suffix).unlink(missing_ok=True)

    def fill(self, key: str, model: str, write: Callable[[str], str]) -> None:
        """Makes the entry of what `write` writes: a model into this file, and its data into the file `data` beside it. It
        returns the interface. Does nothing while another process does it. Errors: OSError; those of `write`."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(self.path(key, ".lock")) as alone:
            if not alone or self.path(key).exists():
                return
            part = self.path(key, ".part")
            shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
            part.mkdir()
            try:
                interface = write(str(part / "model.onnx"))
                _pack(part, {"key": key, "model": model, "onnxruntime": ort.__version__, "interface": interface})
                os.replace(part / "entry", self.path(key))
            finally:
                shutil.rmtree(part, ignore_errors=True)

    def entries(self) -> list[tuple[float, int, str]]:
        """Returns time, size and description of each entry, the latest first."""
        found = []
        for path in self.folder.glob("?" * 64 + SUFFIX):
            with contextlib.suppress(Error, OSError, ValueError, KeyError):
                about, status = _about(_core.Archive.open(path)), path.stat()
                found.append((status.st_mtime, status.st_size, f"{about['model']} (ONNX Runtime {about['onnxruntime']})"))
        return sorted(found, reverse=True)

    def clear(self) -> int:
        """Removes all entries and returns their number. Sessions that use them are not disturbed."""
        removed = 0
        for path in self.folder.glob("?" * 64 + ".*"):
            removed += path.suffix == SUFFIX
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return removed


def interface_of(session: ort.InferenceSession) -> str:
    """Describes what a caller of the session sees. ONNX Runtime adds inputs to some models when it stores them."""
    groups = (session.get_inputs(), session.get_outputs(), session.get_overridable_initializers())
    return repr([[(each.name, each.type, each.shape) for each in group] for group in groups])


def _about(archive: _core.Archive) -> dict[str, str]:
    about: dict[str, str] = json.loads(bytes(memoryview(archive.bytes(ABOUT))))
    return about


def _pack(part: pathlib.Path, about: dict[str, str]) -> None:
    """Packs what ONNX Runtime wrote, unchanged. Not synced: the CRC-32s would show what a loss of power did."""
    writer = _core.ArchiveWriter.create(part / "entry", ALIGNMENT, True, False)
    data = part / DATA
    if data.exists() and data.stat().st_size:  # ONNX Runtime writes none for a model without large weights
        mapped = np.memmap(data, np.uint8, "r")
        writer.add(DATA, mapped.size, lambda file: file.write(mapped))
    text = json.dumps(about).encode()
    writer.add(ABOUT, len(text), lambda file: file.write(text))
    writer.finish((part / "model.onnx").read_bytes())


def warn(reason: object) -> None:
    warnings.warn(f"this session of ONNX Runtime has no cache: {reason}", RuntimeWarning, stacklevel=4)

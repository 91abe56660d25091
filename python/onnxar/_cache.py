"""Models as ONNX Runtime optimised them, stored for later sessions, which start sooner and share prepacked weights.

An entry is the archive `KEY.onnxar`. Its model is the one that ONNX Runtime wrote, and its entry `data` the data of that model, aligned:
weights, and copies of them in the layout of kernels. Links to other archives leave such copies out, because no check
compares them with the weights. An entry therefore names all that it was made from in its key, which has the archive's digest, and its CRC-32s are
compared. Both take long, so both are done once in each run of the system and after each change of the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable

import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar import _core
from onnxar._cache_files import Unfit, alone, expect_owner, identity, make_private, publish, recall
from onnxar._cache_key import digest_of
from onnxar._errors import Error, printable, usage
from onnxar._types import Link

ABOUT = "about"  # an entry
# Files in the cache: an entry, why there is none, what its file was when its CRC-32s were compared, and what an archive was when its digest was taken.
SUFFIX, REFUSED, SEEN, DIGEST = ".onnxar", ".refused", ".seen", ".digest"
LOCK, PART = ".lock", ".part"  # while an entry is made
NAMED = "[0-9a-f]" * 64  # what their names begin with


class Unstorable(Unfit):
    """Why a model can never be stored: later sessions do not try."""


def default_folder() -> pathlib.Path:
    """Returns the user's folder for caches, as the system has it. Errors: OSError (the user has no home)."""
    if sys.platform == "win32":
        base, usual = os.environ.get("LOCALAPPDATA", ""), "AppData/Local"
    else:
        base, usual = os.environ.get("XDG_CACHE_HOME", ""), ".cache"
    try:
        return pathlib.Path(base if os.path.isabs(base) else pathlib.Path.home() / usual, "onnxar", "sessions")
    except RuntimeError as error:
        raise FileNotFoundError(f"there is no folder for caches, pass one: {error}") from error


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry as a model for ONNX Runtime, and the identity of the file whose CRC-32s were compared."""

    key: str
    link: Link
    state: str


class Cache:
    """A folder of entries. Any number of processes may use it at once."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        if folder == "":
            raise usage("the name of the cache's folder is empty: pass a folder, or True for the user's")
        self.folder = default_folder() if folder is None else pathlib.Path(folder).absolute()

    def path(self, key: str, suffix: str = SUFFIX) -> pathlib.Path:
        return self.folder / (key + suffix)

    def digest_of(self, path: str | os.PathLike[str]) -> str:
        """Returns the archive's digest, which is taken once in each run of the system and after each change of the file. Makes the cache's folder. Errors: Unfit
        (others can write to the folder); OSError; zip.data.crc; as `onnxar.open`."""
        make_private(self.folder)
        real = os.path.realpath(path)
        memo = self.path(hashlib.sha256(os.fsencode(real)).hexdigest(), DIGEST)
        now = identity(real)
        state, _, known = recall(memo).rpartition(" ")
        if state == now:
            return known
        value = digest_of(real)
        if identity(real) == now:
            publish(memo, f"{now} {value}")
        return value

    def find(self, key: str, made_from: str = "") -> Entry | None:
        """Returns the entry. One that was changed is removed. If this process has just made it from the model `made_from`, the model is refused.
        Errors: Unfit (the model is known not to work, or the entry belongs to another user); OSError."""
        path = self.path(key)
        state = ""
        try:
            state = identity(path)
            expect_owner(path, path.stat())
            archive = _core.Archive.open(path)
            self._verify(archive, key, state)
            about = _about(archive)
            if about["key"] != key:
                raise ValueError("it has the name of another entry")
            return Entry(key, Link(*_core.make_link(path, 0, None, "", _core.LinkForm.prepacked)), state)
        except FileNotFoundError:
            pass
        except (Error, ValueError) as error:
            if isinstance(error, OSError):
                raise
            self._reject(key, state, error, made_from)
        with contextlib.suppress(FileNotFoundError):
            raise Unfit(_refusal(self.path(key, REFUSED))[1])
        return None

    def is_unchanged(self, entry: Entry) -> bool:
        """Returns whether the file of the entry is still the one that `find` found."""
        return self._state(entry.key) == entry.state

    def _state(self, key: str) -> str:
        try:
            return identity(self.path(key))
        except OSError:
            return ""

    def _verify(self, archive: _core.Archive, key: str, state: str) -> None:
        """Compares the CRC-32s, unless that was done for this state of the file. Errors: zip.data.crc; OSError."""
        if recall(self.path(key, SEEN)) == state:
            return
        self._compare(archive)
        if self._state(key) == state:
            publish(self.path(key, SEEN), state)

    @staticmethod
    def _compare(archive: _core.Archive) -> None:
        for name in archive.names():
            archive.verify(name)

    def _reject(self, key: str, state: str, why: Exception, made_from: str) -> None:
        if self._state(key) != state:  # another process has made it anew
            return
        self.path(key).unlink(missing_ok=True)
        if made_from:
            raise self.refuse(key, made_from, f"what was stored is not valid: {why}")

    def refuse(self, key: str, model: str, why: str) -> Unfit:
        """Remembers that the model cannot be stored or does not work when it is loaded again, so that later sessions do not try. Returns the
        reason as an exception."""
        publish(self.path(key, REFUSED), f"{printable(model)} (ONNX Runtime {ort.__version__})\n{why}")
        with contextlib.suppress(OSError):
            for suffix in (SUFFIX, SEEN):
                self.path(key, suffix).unlink(missing_ok=True)
        return Unfit(why)

    def fill(self, key: str, model: str, write: Callable[[str], bytes]) -> bool:
        """Makes the entry of what `write` writes: a model into this file, and its data into the file `data` beside it. It
        returns the model that these were made of. Returns False while another process does it, or if it has done it.
        Errors: OSError; those of `write`."""
        with alone(self.path(key, LOCK)) as is_alone:
            if not is_alone or self.path(key).exists():
                return False
            self._remove_abandoned(key)
            part = pathlib.Path(tempfile.mkdtemp(PART, f"{key}.", self.folder))
            try:
                original = write(str(part / "model.onnx"))
                _pack(part, {"key": key, "model": model, "onnxruntime": ort.__version__}, original)
                os.replace(part / "entry", self.path(key))
            except Unstorable as reason:
                raise self.refuse(key, model, str(reason)) from reason
            finally:
                shutil.rmtree(part, ignore_errors=True)
        return True

    def _parts(self) -> list[pathlib.Path]:
        return list(self.folder.glob(f"{NAMED}*{PART}"))

    def _remove_abandoned(self, own: str) -> None:
        """Removes what processes left that were killed while they made an entry. The caller has the lock of its own key."""
        for part in self._parts():
            other = part.name[:64]
            if other == own:
                shutil.rmtree(part, ignore_errors=True)
                continue
            with contextlib.suppress(OSError), alone(self.path(other, LOCK)) as is_alone:
                if is_alone:
                    shutil.rmtree(part, ignore_errors=True)

    def entries(self) -> list[tuple[float, int, str]]:
        """Returns time, size and description of each entry and each refused model, the latest first."""
        found = []
        for path in self.folder.glob(NAMED + SUFFIX):
            with contextlib.suppress(Error, OSError, ValueError):
                about, status = _about(_core.Archive.open(path)), path.stat()
                found.append((status.st_mtime, status.st_size, f"{about['model']} (ONNX Runtime {about['onnxruntime']})"))
        for path in self.folder.glob(NAMED + REFUSED):
            with contextlib.suppress(OSError):
                model, why = _refusal(path)
                found.append((path.stat().st_mtime, 0, f"{model}: cannot be stored: {why}"))
        return sorted(found, reverse=True)

    def unfinished(self) -> int:
        """Returns the size of what processes are making, or left when they were killed."""
        size = 0
        for part in self._parts():
            for file in part.glob("*"):
                with contextlib.suppress(OSError):
                    size += file.stat().st_size
        return size

    def clear(self) -> tuple[int, int]:
        """Removes all entries, except those that are being made, and returns the number of both. Sessions that use them are not disturbed.
        Errors: OSError."""
        removed = busy = 0
        for key in {path.name[:64] for path in self.folder.glob(NAMED + ".*")}:
            with alone(self.path(key, LOCK)) as is_alone:
                busy += not is_alone
                if is_alone:
                    removed += self.path(key).exists()
                    self._remove(key)
        return removed, busy

    def _remove(self, key: str) -> None:
        """Removes all files of a key, of which the caller has the lock. The lock goes last: others may have it from then on."""
        lock = self.path(key, LOCK)
        for path in (*(each for each in self.folder.glob(key + ".*") if each != lock), lock):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                try:
                    path.unlink(missing_ok=True)
                except PermissionError:
                    if sys.platform != "win32":  # where files that are open stay
                        raise


def _about(archive: _core.Archive) -> dict[str, str]:
    """Errors: ValueError (it is not what `fill` writes); usage.no_such_entry."""
    try:
        about = json.loads(bytes(memoryview(archive.bytes(ABOUT))))
    except RecursionError as error:
        raise ValueError(f"{ABOUT} is nested too deeply") from error
    if not isinstance(about, dict) or not all(isinstance(about.get(name), str) for name in ("key", "model", "onnxruntime")):
        raise ValueError(f"{ABOUT} lacks a field")
    return about


def _refusal(path: pathlib.Path) -> tuple[str, str]:
    """Returns a refused model and the reason. Errors: OSError."""
    model, _, why = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    return model, why or "it was refused before"


def _pack(part: pathlib.Path, about: dict[str, str], original: bytes) -> None:
    """Packs what ONNX Runtime wrote."""
    try:
        _core.pack_stored(part, part / "entry", json.dumps(about), original)
    except Error as error:
        if isinstance(error, OSError):
            raise
        raise Unstorable(f"ONNX Runtime did not store what it was to: {error}") from error


def warn(reason: object) -> None:
    warnings.warn(f"this session of ONNX Runtime has no cache: {reason}", RuntimeWarning, stacklevel=4)

"""Opens archives whose entries are compared with known digests before they are used: `onnxar.open(path, verify=...)`."""

from __future__ import annotations

import builtins
import hashlib
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from onnxar import _core
from onnxar._errors import Error, NotFoundError, fault, usage
from onnxar._pool import Pool
from onnxar._progress import Report

SIGNATURE = "onnxar.sig"  # the side file that a signature may be in, which it does not cover


class Verification(Protocol):
    """The protocol of the argument `verify` of `onnxar.open`: `onnxar.signing.Signature`."""

    def digests(self, archive: _core.Archive, path: str, beside: str | None) -> Mapping[str, bytes]:
        """Returns the SHA-256 of entries by name, from a source that the caller trusts. Messages call the archive `path`;
        `beside` is where its bundle may be, if the archive is a local file. Raises signature.invalid."""
        ...


def guarded(
    archive: _core.Archive, verify: Verification | None, path: str, beside: str | None = None
) -> _core.Archive:  # fmt: skip
    """Returns the archive. With `verify`, it returns no byte of an entry before the entry was compared with its digest. Compares
    the names of all entries, and the model, immediately. Raises signature.invalid, signature.mismatch."""
    if verify is None:
        return archive
    if not hasattr(verify, "digests"):
        raise usage(f"verify is {verify!r}; it must be an onnxar.signing.Signature")
    digests, names = dict(verify.digests(archive, path, beside)), archive.names()
    for name in names:
        if name not in digests and name != SIGNATURE:
            raise _mismatch("the signature does not cover this entry, which was added or renamed", name, path)
    if missing := digests.keys() - set(names):
        raise _mismatch("the signature covers this entry, but the archive lacks it", min(missing), path)
    handle = Guarded(archive, _Entries(archive, digests, path))
    if SIGNATURE in names and SIGNATURE not in digests and SIGNATURE not in handle.side_files():
        raise _mismatch("the signature does not cover this entry, which a tensor uses", SIGNATURE, path)
    return handle


def copy_of(data: Any) -> mmap.mmap | bytes:
    """Returns a copy of a buffer, aligned like a mapped file."""
    view = memoryview(data)
    if not view.nbytes:
        return b""
    copy = mmap.mmap(-1, view.nbytes)
    copy[:] = view if view.c_contiguous else view.tobytes()
    return copy


def sha256(archive: _core.Archive, name: str) -> bytes:
    return hashlib.sha256(memoryview(archive.bytes(name))).digest()


def _mismatch(message: str, name: str, path: str) -> Error:
    return fault("signature.mismatch", message, name, path)


class _Entries:
    """The digests of an archive's entries, and the entries that match. Graphs of the archive share it, and threads may use it."""

    def __init__(self, archive: _core.Archive, digests: Mapping[str, bytes], path: str) -> None:
        self.covered = digests.keys()
        self._archive, self._digests, self._path = archive, digests, path
        self._verified: set[str] = set()
        self._locks = {name: threading.Lock() for name in digests}

    def left(self, names: Iterable[str]) -> list[str]:
        """Returns the names of entries that were not compared yet."""
        return [name for name in dict.fromkeys(names) if name not in self._verified]

    def expect(self, name: str) -> None:
        """Compares the entry with its digest, unless that was done. Raises signature.mismatch; usage.no_such_entry."""
        if name in self._verified:
            return
        if name not in self._digests:
            if name == SIGNATURE and name in self._archive.names():
                raise self.uncovered(name, "a signature does not cover itself, so a verified archive does not return its bytes")
            raise NotFoundError("usage.no_such_entry", "the archive has no entry of this name", name, None, self._path)
        with self._locks[name]:
            if name not in self._verified and sha256(self._archive, name) != self._digests[name]:
                raise self._wrong(name)
            self._verified.add(name)

    def expect_all(self, names: Iterable[str], threads: int = 0) -> None:
        """Compares several entries, in so many threads (0: one per core). Raises the error of the first wrong one."""
        if not (left := self.left(names)):
            return
        with Pool(min(threads or os.cpu_count() or 1, len(left))) as pool:
            waiting = [pool.submit(self.expect, name) for name in left]
            try:
                for each in waiting:
                    each.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def expect_digests(self, found: Mapping[str, str]) -> None:
        """Compares digests that were computed elsewhere. Bytes that are read later must still be compared."""
        for name, value in found.items():
            if name not in self._digests:
                raise self.uncovered(name, "the signature does not cover this entry")
            if bytes.fromhex(value) != self._digests[name]:
                raise self._wrong(name)

    def uncovered(self, name: str, message: str) -> Error:
        return _mismatch(message, name, self._path)

    def _wrong(self, name: str) -> Error:
        return _mismatch("the entry is not the one that was signed: its SHA-256 differs", name, self._path)


class Guarded(_core.Archive):
    """An archive that compares its model with the digest immediately, and each other entry before its first use. The base has no
    C++ object, so a method that is not defined here raises TypeError: a new method cannot return unverified bytes."""

    def __init__(self, archive: _core.Archive, entries: _Entries) -> None:
        self._archive, self._entries, self._model = archive, entries, archive.model_name()
        entries.expect(self._model)

    def copied(self) -> Guarded:
        """Returns a copy of the archive in memory, in which each entry is compared again."""
        archive = _core.Archive.open_buffer(copy_of(self._archive.file()))
        return Guarded(archive, _Entries(archive, self._entries._digests, self._entries._path))

    def model_name(self) -> str:
        return self._model

    # --- what reads all graphs ---

    def entries(self) -> list[dict[str, Any]]:
        self._entries.expect_all(self.graphs())
        return self._archive.entries()

    def side_files(self) -> list[str]:
        self._entries.expect_all(self.graphs())
        return self._archive.side_files()

    def entries_of_graphs(self) -> list[str]:
        self._entries.expect_all(self.graphs())
        return self._archive.entries_of_graphs()

    # --- bytes ---

    def graph(self, name: str) -> Guarded:
        return Guarded(self._archive.graph(name), self._entries)

    def _expect_data(self, tensor: _core.StoredTensor) -> None:
        if (entry := self._archive.entry_of(tensor)) is not None:
            self._entries.expect(entry)

    def data(self, tensor: _core.StoredTensor) -> _core.Buffer:
        self._expect_data(tensor)
        return self._archive.data(tensor)

    def arrays(  # type: ignore[override]  # `before` is the check of this class
        self, closed: Callable[[], Any], dtypes: list[Any], view: Any, convert: Callable[..., Any]
    ) -> _core.ArrayMaker:
        return self._archive.arrays(closed, dtypes, view, convert, self._expect_data)

    def bytes(self, name: str) -> _core.Buffer:
        self._entries.expect(name)
        return self._archive.bytes(name)

    def resolve(self, location: str, offset: int = 0, length: int | None = None) -> _core.Buffer:
        self._entries.expect(location)
        return self._archive.resolve(location, offset, length)

    def file(self) -> _core.Buffer:
        whole = self._archive.file()  # if the archive is read in ranges, this reads all at once
        self._entries.expect_all(self._entries.covered)
        return whole

    def copy(self, name: str) -> builtins.bytes:
        self._entries.expect(name)
        return self._archive.copy(name)

    def verify(self, name: str) -> None:
        self._entries.expect(name)
        self._archive.verify(name)

    def digest(self, threads: int, progress: Report | None) -> tuple[str, list[tuple[str, str]]]:
        self._entries.expect_all(self.graphs())  # they tell whether a tensor uses the entry of a signature
        value, rows = self._archive.digest(threads, progress)
        self._entries.expect_digests(dict(rows))
        return value, rows

    # --- several entries ---

    def verify_entries(self, names: Iterable[str], threads: int = 0) -> None:
        """Reads several entries together, keeps them, and compares them."""
        left = self._entries.left(names)
        if isinstance(self._archive, _core.RangedArchive):
            self._archive.read_entries(left)
        self._entries.expect_all(left, threads)

    def verify_all(self, threads: int, report: Report | None) -> int:
        """Compares all entries, and returns their number. From an archive that is read in ranges it keeps only graphs."""
        _, rows = self.digest(threads, report)
        self._entries.expect_all(self._entries.covered - dict(rows).keys())  # at most the entry of another signature
        return len(self._entries.covered)

    def expect_nothing_uncovered(self) -> None:
        """Refuses to copy all files if one of them was not signed. Raises signature.mismatch."""
        if SIGNATURE in self.names() and SIGNATURE not in self._entries.covered:
            message = "a signature does not cover itself, so a verified archive does not copy it: keep the bundle beside the archive, or pass the path"
            raise self._entries.uncovered(SIGNATURE, message)


def _passed_on(name: str) -> Callable[..., Any]:
    def call(self: Guarded, *values: Any) -> Any:
        return getattr(self._archive, name)(*values)

    call.__name__ = name
    return call


# These read only the directory and models that were compared.
for _name in ("names", "tensors", "steps", "entry_of", "metadata", "graphs", "is_graph", "same_state", "model"):
    setattr(Guarded, _name, _passed_on(_name))

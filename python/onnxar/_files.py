"""Side files and graphs of an archive that is edited, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping

from onnxar._archive import Archive
from onnxar._errors import NotFoundError, usage
from onnxar._options import Path


class Files(MutableMapping[str, bytes]):
    """Side files and additional graphs of an archive. A value is set as bytes, or as the path of a file."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._there = {*archive.side_files(), *archive._handle.graphs()}
        self.set: dict[str, Path | bytes] = {}
        self.removed: set[str] = set()

    def __getitem__(self, name: str) -> bytes:
        if name in self.set:
            file = self.set[name]
            if isinstance(file, bytes | bytearray | memoryview):
                return bytes(file)
            with open(file, "rb") as opened:
                return opened.read()
        if name in self.removed or name not in self._there:
            raise NotFoundError("usage.no_such_entry", "the archive has no side file of this name", str(name), None, self._archive.path or "")
        return self._archive._handle.copy(name)

    def __setitem__(self, name: str, file: Path | bytes) -> None:
        if not isinstance(file, str | os.PathLike | bytes | bytearray | memoryview):
            raise usage(f"a side file must be bytes or a path, not {type(file).__name__}", name)
        self._archive._handle  # noqa: B018  raises after the block
        self.set[name] = file
        self.removed.discard(name)

    def __delitem__(self, name: str) -> None:
        self[name]
        self._archive._handle  # noqa: B018
        self.set.pop(name, None)
        if name in self._there:
            self.removed.add(name)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted((self._there | self.set.keys()) - self.removed))

    def __len__(self) -> int:
        return len((self._there | self.set.keys()) - self.removed)

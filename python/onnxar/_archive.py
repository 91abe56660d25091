"""An open archive: names to arrays that are views of the mapped file."""

from __future__ import annotations

import collections.abc
import contextlib
import fnmatch
import functools
import hashlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from onnxar import _check, _core, _dtypes, _summary
from onnxar._arrays import Array, Arrays
from onnxar._consolidation import consolidated
from onnxar._errors import Error, Finding, usage
from onnxar._guard import Guarded
from onnxar._options import expect_natural
from onnxar._progress import Progress
from onnxar._selection import Selection
from onnxar._sources import OpenArchive, raise_closed
from onnxar._types import Entry, TensorInfo

MOST_ALIGNMENT = 1 << 30  # the size of the largest pages
MODEL_NAME = "onnxar.model.name"  # key in metadata_props of the model's name among the graphs


class Origin(NamedTuple):
    """How an archive was opened: `reopen` opens it again, with the source and the options of `onnxar.open`."""

    reopen: Callable[..., Archive]
    source: Any
    options: dict[str, Any]


class TensorSlice:
    """A tensor for partial access: `part = archive.get_slice("w")[:, :8]`. Reads nothing before the subscript."""

    def __init__(self, archive: Archive, info: TensorInfo, key: str) -> None:
        self._archive = archive
        self._info = info
        self._key = key

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self._info.shape

    @property
    def dtype(self) -> str:
        """The name in TensorProto.DataType."""
        return self._info.dtype

    def get_shape(self) -> list[int]:
        """Returns `shape` as a list, like safetensors."""
        return list(self.shape)

    def get_dtype(self) -> str:
        """Returns `dtype`, like safetensors, whose names differ."""
        return self.dtype

    def __getitem__(self, index: Any) -> Array:
        part: Array = self._archive.tensor(self._key)[index]
        return part


class _Values(collections.abc.ValuesView[Array]):
    """All arrays of an archive, each made when it is requested. The inherited view would search each of them by its key."""

    _mapping: Archive

    def __iter__(self) -> Iterator[Array]:
        stored = self._mapping._selection.with_arrays
        return map(self._mapping._maker.make, stored, stored.values())


class _Items(collections.abc.ItemsView[str, Array]):
    _mapping: Archive

    def __iter__(self) -> Iterator[tuple[str, Array]]:
        return zip(self._mapping, self._mapping.values())


class Archive(OpenArchive, Arrays):
    """An open archive: all tensors of the model except strings, as read-only arrays. Created by `onnxar.open`.

    A text selects the tensor of this name; else the tensors in the entry of this name; else the tensor at this site in the
    model, such as `graph.node[3].attr.value`, which `~` may follow; else the tensor of the Constant node with
    this output. Of several tensors with the same name it selects the initializer of the main graph. If several tensors match, the
    error is usage.ambiguous_tensor, with their keys. A tensor's key is its name if that selects this tensor, else its site (with
    `~` if the site is also another tensor's name or an entry).

    As in any Mapping, `archive[key]`, `key in archive` and `archive.get(key, default)` take keys, and `==` compares all
    arrays; `tensor`, `info` and `get_slice` take any text. Arrays are views of the mapped file and
    keep the mapping alive after the archive is closed; elements below 8 bits are unpacked into a copy. Methods may be
    called from several threads.
    """

    def __init__(self, handle: _core.Archive, path: str | None, origin: Origin | None = None) -> None:
        super().__init__(handle, path)
        self._origin = origin
        self._maker = handle.arrays(functools.partial(raise_closed, path), _dtypes.WHOLE, np.ndarray, _dtypes.as_array)
        self._verified: set[str] = set()  # entries that `_verify_data_of` has compared

    # --- life ---

    def close(self) -> None:
        """Releases the mapping. The file is unmapped when its last array is freed."""
        self._open_handle = None
        self._maker.close()
        self.__dict__.pop("_selection", None)

    @property
    def closed(self) -> bool:
        """True after `close`. Methods then raise usage.argument."""
        return self._open_handle is None

    def __enter__(self) -> Archive:
        self._handle  # noqa: B018  raises if the archive is closed
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:  # fmt: skip
        self.close()

    @property
    def path(self) -> str | None:
        """The absolute path that was opened; None unless the archive is a complete local file."""
        return self._path

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the path or address and the options, for pools of processes. Loading opens the archive again, and raises io.changed if
        it is not the same. Raises usage.argument for an archive in memory.
        """
        handle = self._handle
        if self._origin is None:
            raise usage("an archive in memory cannot be pickled; open it by its path, or pickle its bytes")
        reopen, *how = self._origin
        return reopen, (*how, handle.model_name() if handle.is_graph() else "", state_of(handle))

    def __repr__(self) -> str:
        return _line_of(self)

    def _repr_html_(self) -> str:
        return _html_of(self)

    # --- tensors ---

    @functools.cached_property
    def _selection(self) -> Selection:
        return Selection(self._handle, self._path)

    def __contains__(self, key: object) -> bool:
        """Returns True if `key` is one of `keys()`. Does not read the tensor's data."""
        return key in self._selection.with_arrays

    def __getitem__(self, key: str) -> Array:
        stored = self._selection.with_arrays.get(key)
        if stored is None:
            raise self._selection.missing(key)
        return self._maker.make(key, stored)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns `archive[key]`, or `default`. Faster than catching the error of `archive[key]`, which searches for similar names."""
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._selection.with_arrays)

    def __len__(self) -> int:
        return len(self._selection.with_arrays)

    def values(self) -> collections.abc.ValuesView[Array]:
        """Returns a view of the arrays. Each is made when it is requested."""
        return _Values(self)

    def items(self) -> collections.abc.ItemsView[str, Array]:
        """Returns a view of the keys and arrays. Each array is made when it is requested."""
        return _Items(self)

    def tensor(self, name: str) -> Array:
        """Returns the tensor that a text selects: by its name, else its entry, else its site, else its node's output (see the class).

        Raises:
            NotFoundError: usage.no_such_tensor, usage.ambiguous_tensor.
        """
        return self._maker.make(*self._selection.find(name))

    def load(self, pattern: str = "*", *, verify: bool = False) -> dict[str, Array]:
        """Returns the arrays whose keys match a shell pattern, such as "layer1.*". If the archive is not a local file, reads
        them together, in a few requests.

        Args:
            pattern: The pattern for keys.
            verify: Compare the CRC-32 of the model and of the arrays' entries.

        Raises:
            Error: usage.no_such_tensor (no key matches); zip.data.crc; io.*; remote.*.
        """
        keys = [key for key in self if fnmatch.fnmatchcase(key, pattern)]
        if not keys:
            raise self._selection.missing(pattern)
        wanted = set(keys)
        entries = [name for name, inside in self._selection.by_entry.items() if not wanted.isdisjoint(inside)]
        if isinstance(self._handle, Guarded):
            self._handle.verify_entries(entries)
        elif isinstance(self._handle, _core.RangedArchive):
            self._handle.read_entries(entries)
        for name in [self._handle.model_name(), *entries] if verify else ():
            self._handle.verify(name)
        return {key: self[key] for key in keys}

    async def load_async(self, pattern: str = "*", *, verify: bool = False) -> dict[str, Array]:
        """Works like `load`, on another thread."""
        import asyncio  # imported late: takes long, and few programs need it

        return await asyncio.to_thread(self.load, pattern, verify=verify)

    def info(self, name: str) -> TensorInfo:
        """Returns type, shape and site of the tensor that a text selects, without reading its data. Raises what `tensor` raises."""
        _, stored = self._selection.find(name)
        return TensorInfo(stored.name, _dtypes.name_of(stored.dtype), stored.shape, stored.site, stored.output)

    def get_slice(self, name: str) -> TensorSlice:
        """Returns the tensor that a text selects, for partial access. Reads no data. Raises what `tensor` raises."""
        key, _ = self._selection.find(name)
        return TensorSlice(self, self.info(key), key)

    def consolidate(
        self, threshold: int = 1024, alignment: int = 64, *, max_expansion: int = 8, threads: int = 0,
        progress: Progress = None,
    ) -> Array:  # fmt: skip
        """Copies all large tensors to one buffer and compares their CRC-32s and the model's. From then on, `tensor` returns views of
        the buffer.

        Tensors that share all bytes still share them. If tensors overlap in other ways, or have elements below 8 bits, the buffer may
        be larger than the archive.

        Args:
            threshold: Tensors of at least this many bytes are copied.
            alignment: Tensors begin at multiples of this in the buffer, a power of two.
            threads: The number of threads; 0: one per core.
            max_expansion: The buffer may take this many times the size of the archive.
            progress: See `onnxar.pack`.

        Returns:
            The buffer, which arrays keep alive.

        Raises:
            Error: usage.argument; zip.data.crc; onnx.model.expansion (tensors overlap too much). Arrays are then what they were.
        """
        expect_natural(self._path or "", threshold=threshold, max_expansion=max_expansion, threads=threads)
        if alignment < 1 or alignment & (alignment - 1) or alignment > MOST_ALIGNMENT:
            raise usage(f"alignment is {alignment}; it must be a power of two up to {MOST_ALIGNMENT}", path=self._path or "")
        replaced = self._maker.replaced  # which `close` exchanges, should it be called meanwhile
        buffer, arrays = consolidated(self._selection, threshold, alignment, max_expansion, threads, progress)
        replaced.update(arrays)
        return buffer

    # --- the archive ---

    def model(self) -> bytes:
        """Returns a copy of the serialised ModelProto, whose tensors refer to entries, after comparing its CRC-32. Raises zip.data.crc."""
        return self._handle.copy(self._handle.model_name())

    def _verify_data_of(self, key: str) -> None:
        """Compares the CRC-32 of the bytes that have a tensor's data, once."""
        handle = self._handle
        name = handle.entry_of(self._selection.tensors[key]) or handle.model_name()
        if name not in self._verified:
            handle.verify(name)
            self._verified.add(name)

    def metadata(self) -> dict[str, str]:
        """Returns the model's metadata_props."""
        self._selection  # noqa: B018  the walk validates the messages
        return self._handle.metadata()

    def entries(self) -> list[Entry]:
        """Returns all entries in the order of the file; the model is last."""
        rows = self._handle.entries()
        return [Entry(**{**row, **{name: tuple(row[name]) for name in ("sites", "graphs", "tensors")}}) for row in rows]

    def side_files(self) -> list[str]:
        """Returns the names of entries that accompany the model and are not used by tensors, such as "tokenizer.json"."""
        return self._handle.side_files()

    def graphs(self) -> list[str]:
        """Returns the names of all graphs, such as "encoder.onnx", beginning with the model's if it has one. Each is a ModelProto over
        the archive's entries; pass its name to `graph`.
        """
        own = self._handle.graph("").metadata().get(MODEL_NAME)
        return [*([f"{own}.onnx"] if own else []), *self._handle.graphs()]

    def graph(self, name: str) -> Archive:
        """Returns a view of the archive for one of its graphs: the tensors and `model()` are those of the graph. `name` may lack
        the ".onnx", and may be that of the model itself. Both archives share the mapping, and are closed separately. Raises
        usage.no_such_entry.
        """
        return Archive(self._handle.graph(name), self._path, self._origin)

    def entries_of_graphs(self) -> list[str]:
        """Returns the names of the entries that tensors of additional graphs use."""
        return self._handle.entries_of_graphs()

    def entry(self, name: str) -> memoryview:
        """Returns the bytes of an entry or side file, as a read-only view of the mapping. Does not compare their CRC-32: see `verify`.
        Raises usage.no_such_entry.
        """
        return memoryview(self._handle.bytes(name))

    def resolve(self, location: str, offset: int = 0, length: int | None = None) -> memoryview:
        """Returns the bytes that a tensor's external_data refers to, as a read-only view of the mapping.

        Args:
            location: The name of an entry.
            offset: Where the bytes begin in the entry.
            length: The number of bytes; None: to the end of the entry.

        Raises:
            Error: usage.argument; onnx.external_data.missing, onnx.external_data.out_of_range.
        """
        expect_natural(self._path or "", offset=offset, length=length)
        return memoryview(self._handle.resolve(location, offset, length))

    def verify(self, name: str) -> None:
        """Compares the CRC-32 of an entry's bytes. Raises zip.data.crc; usage.no_such_entry."""
        self._handle.verify(name)

    def check(self, *, data: bool = False, strict: bool = False) -> list[Finding]:
        """Calls `onnxar.check` for the file that is now at the opened path. Raises usage.argument if the archive was not opened by a path."""
        self._handle  # noqa: B018
        if self._path is None:
            raise usage("only an archive that was opened by its path in the local file system can be checked")
        return _check.check(self._path, data=data, strict=strict)


def state_of(handle: _core.Archive) -> str:
    """Returns a hash of the directory, which includes the CRC-32 of all bytes."""
    rows = [(row["name"], row["offset"], row["size"], row["crc32"]) for row in handle.entries()]
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogateescape")).hexdigest()


def _line_of(archive: Archive) -> str:
    return f"<onnxar.Archive {_summary.cut(archive.path or 'in memory', 40)!r}{_contents(archive)}>"


def _graph_of(archive: Archive, graphs: Sequence[str]) -> str:
    """Returns which of several graphs this is."""
    handle = archive._handle
    name = handle.model_name() if handle.is_graph() or graphs[0] in handle.graphs() else graphs[0]
    return f" graph {_summary.cut(name, 40)!r}"


def _contents(archive: Archive) -> str:
    if archive.closed:
        return " (closed)"
    try:
        entries, files, graphs = archive.entries(), len(archive.side_files()), archive._handle.graphs()
        said = _graph_of(archive, archive.graphs()) if graphs else ""
        said += f": {_summary.counted(len(archive), 'tensor')}, {_summary.size(sum(entry.size for entry in entries))}"
    except Error as error:  # what is printed in a debugger must not raise
        return f": {error.code}"
    return said + (f", {_summary.counted(files, 'file')}" if files else "") + (f", {_summary.counted(len(graphs) + 1, 'graph')}" if graphs else "")


def _html_of(archive: Archive) -> str:
    summary = _summary.Summary(_line_of(archive), columns=("tensor", "dtype", "shape", "size", "entry"))
    if not archive.closed:
        with contextlib.suppress(Error):  # as in `_contents`
            summary.rows, summary.all_rows = _largest(archive), len(archive)
    return summary.html()


def _largest(archive: Archive) -> list[Sequence[str]]:
    """Returns the rows of the largest tensors."""
    sizes = {key: _core.payload_size(stored.dtype, list(stored.shape)) or 0 for key, stored in archive._selection.with_arrays.items()}
    rows: list[Sequence[str]] = []
    for key in sorted(sizes, key=sizes.__getitem__, reverse=True)[: _summary.ROWS]:
        stored = archive._selection.with_arrays[key]
        entry = archive._handle.entry_of(stored) or "(in the model)"
        rows.append((key, _dtypes.name_of(stored.dtype), _summary.shape(stored.shape), _summary.size(sizes[key]), entry))
    return rows

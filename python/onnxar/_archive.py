"""An open archive: names to arrays that are views of the mapped file."""

from __future__ import annotations

import asyncio
import collections
import collections.abc
import contextlib
import dataclasses
import difflib
import fnmatch
import functools
import hashlib
import math
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from onnxar import _core, _dtypes, _operations, _ranges, _summary
from onnxar._errors import Error, Finding, NotFoundError, fault, make_error, printable, unreadable, usage
from onnxar._guard import Guarded, Verification, copy_of, guarded
from onnxar._options import expect_natural
from onnxar._pool import Pool
from onnxar._progress import Count, Progress, reporting
from onnxar._sources import OpenArchive, Source, bytes_of, guard_of
from onnxar._types import Entry, TensorInfo

Array = np.ndarray[Any, Any]
MOST_ALIGNMENT = 1 << 30  # the size of the largest pages
MOST_CANDIDATES = 20  # in a message
MODEL_NAME = "onnxar.model.name"  # key in metadata_props of the model's name among the graphs
INITIALIZER = "graph.initializer["  # how the sites of the main graph's initializers begin


class _Origin(NamedTuple):
    """Names the source and the options of `onnxar.open`."""

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
        return self._info.shape

    @property
    def dtype(self) -> str:
        """The name in TensorProto.DataType."""
        return self._info.dtype

    def get_shape(self) -> list[int]:
        return list(self.shape)

    def get_dtype(self) -> str:
        return self.dtype

    def __getitem__(self, index: Any) -> Array:
        part: Array = self._archive.tensor(self._key)[index]
        return part


@dataclasses.dataclass(frozen=True)
class _Place:
    """The address of a tensor's bytes and their size as an array. Tensors that share bytes have equal places."""

    address: int
    raw_size: int
    packed: tuple[int, int] | None  # type and number of elements, where these are below 8 bits
    size: int

    @classmethod
    def of(cls, raw: memoryview, tensor: _core.StoredTensor) -> _Place:
        if not raw.nbytes:
            return cls(0, 0, None, 0)
        address, count = np.frombuffer(raw, np.uint8).ctypes.data, math.prod(tensor.shape)
        if _core.dtype_bits(tensor.dtype) < 8:
            return cls(address, raw.nbytes, (tensor.dtype, count), count)
        return cls(address, raw.nbytes, None, raw.nbytes)


def _keyed(tensors: Sequence[_core.StoredTensor], entries: Callable[[], list[str]]) -> dict[str, _core.StoredTensor]:
    """Returns the tensors by their keys. Usually all names are different, and each is a key."""
    names = [tensor.name for tensor in tensors]
    keyed = dict(zip(names, tensors))
    if len(keyed) == len(names) and "" not in keyed:
        return keyed
    named, other = _named(tensors), {*names, *entries()}

    def key_of(tensor: _core.StoredTensor) -> str:
        if named.get(tensor.name) == [tensor]:
            return tensor.name
        site = tensor.site
        while site in other:  # a name or an entry of another tensor: `~` makes it a site again
            site += "~"
        return site

    return {key_of(tensor): tensor for tensor in tensors}


def _named(tensors: Iterable[_core.StoredTensor]) -> dict[str, list[_core.StoredTensor]]:
    """Returns the tensors that each name selects: of several, the initializers of the main graph."""
    named: dict[str, list[_core.StoredTensor]] = collections.defaultdict(list)
    for tensor in tensors:
        if tensor.name:
            named[tensor.name].append(tensor)
    for name, several in named.items():
        if len(several) > 1:
            named[name] = [each for each in several if each.site.startswith(INITIALIZER)] or several
    return named


class _Values(collections.abc.ValuesView[Array]):
    """All arrays of an archive, each made when it is requested. The inherited view would search each of them by its key."""

    _mapping: Archive

    def __iter__(self) -> Iterator[Array]:
        return (array for _, array in self._mapping._each())


class _Items(collections.abc.ItemsView[str, Array]):
    _mapping: Archive

    def __iter__(self) -> Iterator[tuple[str, Array]]:
        return self._mapping._each()


class Arrays(Mapping[str, Array]):
    """Arrays by name. Equal to a mapping with the same names and, for each, an array of the same type, shape and bytes."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.keys() == other.keys() and all(_same(array, other[key]) for key, array in self.items())


    def _ipython_key_completions_(self) -> list[str]:
        """Returns what IPython offers after `archive["`."""
        return list(self)


def _same(a: Array, b: Any) -> bool:
    """Returns True if the bits are equal, NaNs among them."""
    if not isinstance(b, np.ndarray) or (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


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

    def __init__(self, handle: _core.Archive, path: str | None, origin: _Origin | None = None) -> None:
        super().__init__(handle, path)
        self._origin = origin
        self._consolidated: dict[str, Array] = {}
        self._verified: set[str] = set()  # entries that `_verify_data_of` has compared

    # --- life ---

    def close(self) -> None:
        """Releases the mapping. The file is unmapped when its last array is freed."""
        self._open_handle = None
        self._consolidated = {}
        for known in ("_tensors", "_with_arrays", "_site_keys", "_name_keys", "_entry_keys", "_output_keys"):
            self.__dict__.pop(known, None)

    @property
    def closed(self) -> bool:
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
        return _reopened, (*self._origin, handle.model_name() if handle.is_graph() else "", _state_of(handle))

    def __repr__(self) -> str:
        return _line_of(self)

    def _repr_html_(self) -> str:
        return _html_of(self)

    # --- tensors ---

    @functools.cached_property
    def _tensors(self) -> dict[str, _core.StoredTensor]:
        return _keyed(self._handle.tensors(), self._handle.names)

    @functools.cached_property
    def _with_arrays(self) -> dict[str, _core.StoredTensor]:
        """All tensors except strings and those of unknown types."""
        return {key: tensor for key, tensor in self._tensors.items() if tensor.bits}

    @functools.cached_property
    def _entry_keys(self) -> dict[str, list[str]]:
        """Keys of the tensors in each entry."""
        return {entry.name: [self._site_keys[site] for site in entry.sites] for entry in self.entries()}

    @functools.cached_property
    def _output_keys(self) -> dict[str, list[str]]:
        """The keys of the tensors of Constant nodes, by the node's output."""
        keys: dict[str, list[str]] = collections.defaultdict(list)
        for key, tensor in self._tensors.items():
            if tensor.output:
                keys[tensor.output].append(key)
        return keys

    @functools.cached_property
    def _site_keys(self) -> dict[str, str]:
        """The key of the tensor at each site."""
        return {tensor.site: key for key, tensor in self._tensors.items()}

    @functools.cached_property
    def _name_keys(self) -> dict[str, list[str]]:
        """The keys of the tensors that each name selects."""
        keys = self._site_keys
        return {name: [keys[tensor.site] for tensor in means] for name, means in _named(self._tensors.values()).items()}

    def _keys_of(self, name: object) -> list[str]:
        """Returns the keys of the tensors that a text selects."""
        self._handle  # noqa: B018  raises if the archive is closed: the tensors may be cached
        if not isinstance(name, str) or name in self._tensors:
            return [name] if name in self._tensors else []  # type: ignore[list-item]
        found = self._name_keys.get(name) or self._entry_keys.get(name)
        site = None if found else self._site_keys.get(name.rstrip("~"))
        return found or ([site] if site is not None else self._output_keys.get(name, []))

    def _find(self, name: str) -> tuple[str, _core.StoredTensor]:
        """Finds the only tensor that a text selects."""
        keys = self._keys_of(name)
        if len(keys) == 1:
            return keys[0], self._tensors[keys[0]]
        raise self._missing(name)

    def _missing(self, name: object) -> NotFoundError:
        """Returns the error for a text that is not a key, with what it may mean instead."""
        keys, code = self._keys_of(name), "usage.no_such_tensor"
        if len(keys) > 1:
            more = ", ..." if len(keys) > MOST_CANDIDATES else ""
            code = "usage.ambiguous_tensor"
            message = f"{len(keys)} tensors match; their keys are {', '.join(keys[:MOST_CANDIDATES])}{more}"
        elif keys and keys[0] == name:
            message = "strings are not available as arrays; onnxar.load returns them"
        elif keys:
            message = f"no tensor has this key; it is an entry, a site or an output of the tensor {printable(keys[0])!r}, which tensor() finds"
        else:
            near = difflib.get_close_matches(str(name), self._tensors, 3) if isinstance(name, str) else []
            means = f"; did you mean {' or '.join(repr(printable(each)) for each in near)}?" if near else ""
            message = f"the model has no tensor of this name{means}"
        return NotFoundError(code, message, str(name), None, self._path or "")

    def __contains__(self, key: object) -> bool:
        """Returns True if `key` is one of `keys()`. Does not read the tensor's data."""
        self._handle  # noqa: B018
        return key in self._with_arrays

    def __getitem__(self, key: str) -> Array:
        handle, stored = self._handle, self._with_arrays.get(key)
        if stored is None:
            raise self._missing(key)
        return self._array(handle, key, stored)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns `archive[key]`, or `default`. Faster than catching the error of `archive[key]`, which searches for similar names."""
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[str]:
        self._handle  # noqa: B018
        return iter(self._with_arrays)

    def __len__(self) -> int:
        self._handle  # noqa: B018
        return len(self._with_arrays)

    def values(self) -> collections.abc.ValuesView[Array]:
        return _Values(self)

    def items(self) -> collections.abc.ItemsView[str, Array]:
        return _Items(self)

    def _each(self) -> Iterator[tuple[str, Array]]:
        self._handle  # noqa: B018
        return ((key, self._array(self._handle, key, stored)) for key, stored in self._with_arrays.items())

    def tensor(self, name: str) -> Array:
        """Returns the tensor that a text selects: by its name, else its entry, else its site, else its node's output (see the class).

        Raises:
            NotFoundError: usage.no_such_tensor, usage.ambiguous_tensor.
        """
        return self._array(self._handle, *self._find(name))

    def _array(self, handle: _core.Archive, key: str, stored: _core.StoredTensor) -> Array:
        if key in self._consolidated:
            return self._consolidated[key]
        array: Array | None = handle.array(stored, _dtypes.WHOLE, np.ndarray)
        return _dtypes.as_array(handle.data(stored), stored.dtype, stored.shape, key) if array is None else array

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
            raise self._missing(pattern)
        wanted = set(keys)
        entries = [name for name, inside in self._entry_keys.items() if not wanted.isdisjoint(inside)]
        if isinstance(self._handle, Guarded):
            self._handle.verify_entries(entries)
        elif isinstance(self._handle, _core.RangedArchive):
            self._handle.read_entries(entries)
        for name in [self._handle.model_name(), *entries] if verify else ():
            self._handle.verify(name)
        return {key: self[key] for key in keys}

    async def load_async(self, pattern: str = "*", *, verify: bool = False) -> dict[str, Array]:
        """Works like `load`, on another thread."""
        return await asyncio.to_thread(self.load, pattern, verify=verify)

    def info(self, name: str) -> TensorInfo:
        """Returns type, shape and site of the tensor, without reading its data."""
        _, stored = self._find(name)
        return TensorInfo(stored.name, _dtypes.name_of(stored.dtype), stored.shape, stored.site, stored.output)

    def get_slice(self, name: str) -> TensorSlice:
        key, _ = self._find(name)
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
        """
        expect_natural(self._path or "", threshold=threshold, max_expansion=max_expansion, threads=threads)
        if alignment < 1 or alignment & (alignment - 1) or alignment > MOST_ALIGNMENT:
            raise usage(f"alignment is {alignment}; it must be a power of two up to {MOST_ALIGNMENT}", path=self._path or "")
        stored = dict(self._with_arrays)
        if isinstance(self._handle, Guarded):
            self._handle.verify_entries([name for name, keys in self._entry_keys.items() if stored.keys() & keys], threads)
        raw = {key: memoryview(self._handle.data(tensor)) for key, tensor in stored.items()}
        places = {key: _Place.of(raw[key], tensor) for key, tensor in stored.items()}
        places = {key: place for key, place in places.items() if place.size >= max(threshold, 1)}
        offsets, size = {}, 0
        for place in places.values():
            if place not in offsets:
                offsets[place] = size
                size += -(-place.size // alignment) * alignment
        self._check_expansion(sum(place.size for place in offsets), max_expansion)
        room = np.empty(size + alignment, np.uint8)
        begin = -room.ctypes.data % alignment
        buffer = room[begin : begin + size]

        def copied(key: str) -> Array:
            """Returns the array in the buffer. Only the first array of each place is copied."""
            place, tensor = places[key], stored[key]
            source = _dtypes.as_array(raw[key], tensor.dtype, tensor.shape, key)
            target: Array = buffer[offsets[place] : offsets[place] + place.size].view(source.dtype).reshape(source.shape)
            if first[place] == key:
                np.copyto(target, source)
            target.setflags(write=False)
            return target

        first: dict[_Place, str] = {}
        for key, place in places.items():
            first.setdefault(place, key)
        with Pool(threads or None) as pool, reporting(progress, "consolidating") as tell:
            count, arrays = Count(tell, sum(place.size for place in places.values())), {}
            for (key, place), array in zip(places.items(), pool.map(copied, places), strict=True):
                arrays[key] = array
                count.add(place.size)
            # Verified after the copy: bytes that change in between would otherwise be in the buffer unnoticed.
            used = [name for name, keys in self._entry_keys.items() if places.keys() & keys]
            list(pool.map(self._handle.verify, [self._handle.model_name(), *used]))
        self._consolidated.update(arrays)
        return buffer

    def _check_expansion(self, copied: int, max_expansion: int) -> None:
        present = sum(entry.size for entry in self.entries())
        if copied > present * max_expansion:
            message = (f"its tensors overlap: copies of them would take {copied} bytes, more than {max_expansion} times the "
                       f"{present} in the archive; a higher max_expansion allows more")  # fmt: skip
            raise fault("onnx.model.expansion", message, path=self._path or "")

    # --- the archive ---

    def model(self) -> bytes:
        """Returns a copy of the serialised ModelProto, whose tensors refer to entries, after comparing its CRC-32. Raises zip.data.crc."""
        return self._handle.copy(self._handle.model_name())

    def _verify_data_of(self, key: str) -> None:
        """Compares the CRC-32 of the bytes that have a tensor's data, once."""
        handle = self._handle
        name = handle.entry_of(self._tensors[key]) or handle.model_name()
        if name not in self._verified:
            handle.verify(name)
            self._verified.add(name)

    def metadata(self) -> dict[str, str]:
        """Returns the model's metadata_props."""
        self._tensors  # noqa: B018  the walk validates the messages
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
        """Returns the bytes of an entry or side file, as a read-only view of the mapping."""
        return memoryview(self._handle.bytes(name))

    def resolve(self, location: str, offset: int = 0, length: int | None = None) -> memoryview:
        """Returns the bytes that a tensor's external_data refers to, as a read-only view of the mapping."""
        expect_natural(self._path or "", offset=offset, length=length)
        return memoryview(self._handle.resolve(location, offset, length))

    def verify(self, name: str) -> None:
        """Compares the CRC-32 of an entry's bytes. Raises zip.data.crc."""
        self._handle.verify(name)

    def check(self, *, data: bool = False, strict: bool = False) -> list[Finding]:
        """Calls `onnxar.check` for the file that is now at the opened path."""
        self._handle  # noqa: B018
        if self._path is None:
            raise usage("only an archive that was opened by its path in the local file system can be checked")
        return _operations.check(self._path, data=data, strict=strict)


def opened(source: Any) -> contextlib.AbstractContextManager[Archive]:
    """Yields an archive that is closed afterwards, unless it was already open."""
    return contextlib.nullcontext(source) if isinstance(source, Archive) else open_archive(source)


def ls(archive: Source) -> list[Entry]:
    """Returns the entries of the archive in the order of the file; the model is last.

    Args:
        archive: See `onnxar.open`; or an open archive.

    Raises:
        Error: What `onnxar.open` raises.

    Example:

        for entry in onnxar.ls("model.onnxar"):
            print(entry.name, entry.dtype, entry.shape, entry.size)
    """
    with opened(archive) as known:
        return known.entries()


def cat(archive: Source, name: str | None = None) -> bytes:
    """Returns a copy of an entry's bytes, after comparing its CRC-32.

    Args:
        archive: See `ls`.
        name: The entry's name; without it, the serialised model is returned.

    Raises:
        Error: What `onnxar.open` raises; usage.no_such_entry; zip.data.crc.

    Example:

        config = json.loads(onnxar.cat("model.onnxar", "config.json"))
    """
    with opened(archive) as known:
        return known.model() if name is None else known._handle.copy(name)


def open_archive(
    source: Source,
    *,
    no_copy: bool = True,
    prefetch: Literal["none", "will_need", "populate"] = "none",
    threads: int = 0,
    offset: int = 0,
    length: int | None = None,
    store: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    timeout: float = _ranges.TIMEOUT,
    verify: Verification | None = None,
) -> Archive:
    """Opens an archive at a path or address, in memory, or in a file object, which is read to its end.

    By default the file is mapped, and weights are read when their arrays are used. Do not shorten or overwrite the file while it
    is open; replace it by renaming, as this package does. An archive that was opened by a path or an address can be pickled:
    another process opens it again.

    An address such as `https://host/m.onnxar`, `s3://bucket/key` or `hf://owner/name/m.onnxar`, and a file or path of fsspec, is
    read in ranges: `https://` and `s3://` with the system's libcurl, others through fsspec. fsspec reads all addresses that are opened
    with `storage_options`. A tensor is read when its array is requested, and kept as long as the archive or one of its arrays;
    `Archive.load` reads many at once. If the file changes while it is read, the error is io.changed.

    Args:
        source: The path, address, bytes or file object, or an open archive.
        no_copy: If False, read the whole file into memory first; it may then be changed or removed. Use this for network file
            systems, where mapping is slow. The bytes of an open archive and of a buffer are copied, too.
        prefetch: "will_need" makes the system read ahead; "populate" waits until all bytes are in memory.
        threads: The number of threads that read into memory; 0: all cores.
        offset: Where in a larger file or buffer the archive begins; in a file a multiple of 64. The archive then has no `path`.
        length: The archive's bytes in a larger file or buffer; None: to the end.
        storage_options: Passed to fsspec.
        store: An obstore store, in which `source` is a path.
        timeout: Over HTTP, repeat a request once if it gets no answer, or less than 1 KiB/s, for this many seconds; then raise
            remote.timeout. 0 waits forever. Other file systems and stores have their own limits.
        verify: An `onnxar.signing.Signature`. Opening then compares the names of all entries and the model with what was signed.
            Each other entry is compared once, at its first use, before any of its bytes is returned. Other programs must not
            overwrite the file meanwhile, unless `no_copy` is False. A verified archive that is passed as `source` stays
            verified.

    Raises:
        Error: io.*, zip.*, archive.*; remote.*; signature.invalid, signature.mismatch.

    Example:

        with onnxar.open("model.onnxar") as archive:
            weight = archive["encoder.weight"]  # a view of the mapped file
    """
    if prefetch not in ("none", "will_need", "populate"):
        raise usage(f'prefetch is {prefetch!r}; it may be "none", "will_need" or "populate"')
    expect_natural(threads=threads, offset=offset, length=length)
    is_part = offset != 0 or length is not None
    origin = {"no_copy": no_copy, "prefetch": prefetch, "threads": threads, "offset": offset, "length": length, "store": store,
              "storage_options": storage_options, "timeout": timeout, "verify": verify}  # fmt: skip
    _ranges.expect_timeout(timeout)
    if store is not None or _ranges.is_address(source) or _ranges.is_of_fsspec(source):
        found = _ranges.open_source(source, store, storage_options, timeout)
        if not isinstance(found, str):
            if is_part:
                raise usage("offset and length are for local files and bytes", path=_ranges.name_of(source))
            if prefetch == "populate" or not no_copy:
                found.file()
            return Archive(guarded(found, verify, _ranges.name_of(source)), None, _Origin(source, origin))
        source = found
    if not isinstance(source, str | os.PathLike):
        if verify is None and not is_part and (known := guard_of(source)) is not None:
            return Archive(known if no_copy else known.copied(), None)
        data = _part_of(bytes_of(source), offset, length) if is_part else bytes_of(source)
        return Archive(guarded(_core.Archive.open_buffer(data if no_copy else copy_of(data)), verify, ""), None)
    path = os.path.abspath(_ranges.local_path(source))
    how = (not no_copy, getattr(_core.Prefetch, prefetch), threads)
    handle = _open_part(path, offset, length, *how) if is_part else _core.Archive.open(path, *how)
    return Archive(guarded(handle, verify, path, None if is_part else path + ".sig"), None if is_part else path, _Origin(path, origin))


def _part_of(data: Any, offset: int, length: int | None) -> memoryview:
    view = memoryview(data)
    view = (view if view.c_contiguous else memoryview(view.tobytes())).cast("B")
    end = len(view) if length is None else offset + length
    if not offset <= end <= len(view):
        raise usage(f"the source has {len(view)} bytes, so it has no part of {length or 0} bytes at {offset}")
    return view[offset:end]


def _open_part(path: str, offset: int, length: int | None, *how: Any) -> _core.Archive:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            return _core.Archive.open_part(_native_handle(file.fileno()), offset, length, *how)
    except Error as error:
        raise make_error(error.code, error.message, error.entry, error.offset, path) from error
    except OSError as error:
        raise unreadable(error, path) from error


def _open_without_waiting(path: str, flags: int) -> int:
    """Opens a file. A pipe would wait for a writer, and is refused later."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _native_handle(descriptor: int) -> int:
    if sys.platform != "win32":
        return descriptor
    import msvcrt

    return msvcrt.get_osfhandle(descriptor)


def _reopened(source: Any, options: dict[str, Any], graph: str, state: str) -> Archive:
    """Opens an archive that was pickled. Raises what `onnxar.open` raises; io.changed."""
    archive = open_archive(source, **options)
    if _state_of(archive._handle) != state:
        raise fault("io.changed", "the file was replaced or edited since the archive was pickled; open it again", path=archive.path or "")
    return archive.graph(graph) if graph else archive


def _state_of(handle: _core.Archive) -> str:
    """Returns a hash of the directory, which includes the CRC-32 of all bytes."""
    rows = [(row["name"], row["offset"], row["size"], row["crc32"]) for row in handle.entries()]
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogateescape")).hexdigest()


open_archive.__name__ = open_archive.__qualname__ = "open"  # what `help` shows
open_archive.__module__ = "onnxar"


async def open_async(source: Source, **options: Any) -> Archive:
    """Works like `onnxar.open`, on another thread.

    Args:
        source: See `onnxar.open`.
        **options: The other arguments of `onnxar.open`.

    Example:

        archive = await onnxar.open_async("https://host/model.onnxar")
    """
    return await asyncio.to_thread(open_archive, source, **options)


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
    sizes = {key: _core.payload_size(stored.dtype, list(stored.shape)) or 0 for key, stored in archive._with_arrays.items()}
    rows: list[Sequence[str]] = []
    for key in sorted(sizes, key=sizes.__getitem__, reverse=True)[: _summary.ROWS]:
        stored = archive._with_arrays[key]
        entry = archive._handle.entry_of(stored) or "(in the model)"
        rows.append((key, _dtypes.name_of(stored.dtype), _summary.shape(stored.shape), _summary.size(sizes[key]), entry))
    return rows

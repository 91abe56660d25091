"""Edits of an archive in place: tensors by name, the graph as an onnx.ModelProto, side files."""

from __future__ import annotations

import collections
import functools
import os
import re
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnxar import _core, _dtypes, _proto, _weights, _wire
from onnxar._archive import Archive
from onnxar._arrays import Array, Arrays
from onnxar._errors import FormatError, NotFoundError, fault, needs, printable, usage
from onnxar._files import Files
from onnxar._open import open_archive
from onnxar._options import Path, load_options, save_options
from onnxar._progress import Progress, reporting
from onnxar._sources import file_of
from onnxar._types import ReplaceReport, report

if TYPE_CHECKING:
    import onnx

_GRAPH: _proto.Steps = (("graph", None),)
_DATA = ("raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data", "external_data",
         "data_location", "dims", "data_type", "segment")  # fmt: skip


class Edit(Arrays):
    """An edit of one archive, made by `onnxar.edit`: a Mapping of the archive's tensors, and of those that were set. When the block
    ends without an exception, either everything is appended to the file in one step, or nothing. Weights that do not change are
    neither read nor moved. Arrays and archives that were opened before do not change. Use it from one thread at a time.
    """

    def __init__(self, archive: Archive, options: dict[str, Any]) -> None:
        self.archive = archive
        """The archive before the edit."""
        self.files = Files(archive)
        """Side files and graphs by name: set bytes or a path, or delete them."""
        self.report: ReplaceReport | None = None
        """The report, after the block has ended; None if nothing changed."""
        self._options = options
        self._writer = _core.ModelWriter()
        self._set: dict[str, Array] = {}
        self._steps: dict[str, _proto.Steps] = {}  # to tensors of `model`, by name, where they last were
        self._held: dict[str, onnx.TensorProto] = {}  # by key: the messages, wherever the caller moves them
        self._given: dict[str, str] = {}  # by the location of data in the writer: the key of its tensor
        self._outside: list[tuple[str, onnx.TensorProto]] = []  # tensors that had their data outside the model when it was set
        self._before: bytes | None = None
        self._shared = False  # whether the caller has the model, and may change it at any time

    @property
    def model(self) -> onnx.ModelProto:
        """The onnx.ModelProto without its large tensors, which refer to entries. Change it in any way. A tensor with new data
        inside gets a new entry.
        """
        if not self._shared:
            self._shared = True
            descent = _proto.Descent(self._model)
            self._held = {key: descent.to(steps) for key, steps in self._stored_steps.items()}
        return self._model

    @functools.cached_property
    def _stored_steps(self) -> dict[str, _proto.Steps]:
        """Returns the steps to the tensors of the model before the edit, by key."""
        keys, steps = list(self.archive._selection.tensors), self.archive._handle.steps()
        if len(keys) != len(steps):
            raise fault("onnx.model.invalid", "two attributes of a node have one name, so their tensors cannot be distinguished", path=self.archive.path or "")
        return dict(zip(keys, steps, strict=True))

    @functools.cached_property
    def _model(self) -> onnx.ModelProto:
        with needs("the model of onnxar.edit"):
            import onnx
        model: onnx.ModelProto = _proto.parsed(onnx.ModelProto, self.archive.model(), self.archive.path or "")
        self._before = model.SerializeToString()
        return model

    def __getitem__(self, name: str) -> Array:
        """Returns the array that was set, else the one in the archive before the edit, independent of changes to `model`.
        Compares its CRC-32, because an edit would give damaged data a new, matching CRC-32. Raises usage.no_such_tensor,
        usage.ambiguous_tensor; zip.data.crc.
        """
        if name in self._set:
            return self._set[name]
        array = self.archive[name]
        self.archive._verify_data_of(name)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.archive), **dict.fromkeys(self._set)})

    def __len__(self) -> int:
        return len(self.archive.keys() | self._set.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._set or name in self.archive

    def __setitem__(self, name: str, array: Any) -> None:
        """Sets new data of the same type and shape for the tensor of this key (see `put`). Keys are those of `archive` and the names
        of tensors that were added since. The array is written when the block ends; do not change it until then. Raises
        usage.no_such_tensor; usage.ambiguous_tensor; usage.argument (type, shape).
        """
        array, message = _weights.checked(name, array), self._find(name)
        if message is None:
            raise self._gone(name) if name in self.archive._selection.tensors else self._not_there(name)
        number, dims = _dtypes.number_of(array, name), tuple(message.dims)
        if message.data_type and (number, array.shape) != (message.data_type, dims):
            before = f"{_dtypes.name_of(message.data_type)} {list(dims)}"
            raise usage(f"the tensor is {before}, and the array {_dtypes.name_of(number)} {list(array.shape)}: convert the "
                        "array, or call put, which also changes type and shape", name)  # fmt: skip
        self._give(name, message, array, number)

    def _not_there(self, name: str) -> NotFoundError:
        error = self.archive._selection.missing(name)
        if not self.archive._selection.keys_of(name):
            error = NotFoundError(error.code, f"{error.message}; put() adds a tensor", error.entry, None, error.path)
        return error

    def put(self, name: str, array: Any) -> None:
        """Sets new data of any type and shape, or adds a tensor. The array is written when the block ends.

        Args:
            name: A text that selects a tensor, by its name, entry or site, as for `Archive.tensor`. If it selects none, an
                initializer of this name is added to the graph.
            array: The new data.

        Raises:
            NotFoundError: usage.ambiguous_tensor.
        """
        array = _weights.checked(name, array)
        if not name:
            raise usage("a tensor needs a name")
        number = _dtypes.number_of(array, name)
        message = self._find(name)
        if message is None and self.archive._selection.keys_of(name):
            name, _ = self.archive._selection.find(name)
            message = self._find(name)
        if message is None:
            self._steps[name] = _initializer(len(self._model.graph.initializer))
            message = self._model.graph.initializer.add(name=name)
        self._give(name, message, array, number)

    def add_graph(self, name: str, model: onnx.ModelProto | bytes) -> None:
        """Adds another graph over the weights of this archive, or replaces the one of this name. Tensors that name entries share them,
        so begin with a copy of `model`. Other data stays in the graph; `onnxar.replace` with `graph=name` moves it to entries. The
        graph is written when the block ends, which raises what `onnxar.replace` raises.

            with onnxar.edit("model.onnxar") as e:
                decoder = onnx.ModelProto()
                decoder.CopyFrom(e.model)
                decoder.graph.node.pop()
                e.add_graph("decoder", decoder)

        A UserWarning (archive.entry.shared) reports that a graph seems to be merged from two archives.

        Args:
            name: The name, with or without `.onnx`. It may have folders, such as "unet/model".
            model: The graph, an onnx.ModelProto.

        Raises:
            Error: usage.argument (the name or its last part is empty; not a model; a tensor that was set in this block, which has no
                entry yet); onnx.model.too_large.
        """
        if not isinstance(model, bytes | bytearray | memoryview) and not _proto.is_model(model):
            raise usage(f"a graph must be an onnx.ModelProto or its bytes, not {type(model).__name__}", name)
        entry = name if name.endswith(".onnx") else f"{name}.onnx"
        if entry.rpartition("/")[2] == ".onnx":
            raise usage("a graph needs a name whose last part is not empty", name)
        data = bytes(model) if isinstance(model, bytes | bytearray | memoryview) else _proto.bytes_of(model)
        self._expect_entries_in(name, data)
        self.files[entry] = data

    def _expect_entries_in(self, name: str, graph: bytes) -> None:
        """Refuses a graph with a tensor that was set in this block: it has no entry yet that the graph could name."""
        begin = next((location.rpartition(":")[0] for location in self._given if location), None)  # of all, the same
        found = re.search(re.escape(begin.encode()) + rb":[0-9]+", graph) if begin else None
        if found and (key := self._given.get(found[0].decode())) is not None:
            raise usage(f"its tensor {printable(key)!r} was set in this block, and gets an entry when the block ends: add the graph in a separate edit", name)

    def _give(self, key: str, message: onnx.TensorProto, array: Array, number: int) -> None:
        size = _dtypes.raw_size(array, number)
        if message.data_location == _proto.EXTERNAL and key not in self._set:
            self._outside.append((key, message))
        location = self._writer.add(size, functools.partial(_write, array=array, number=number)) if size else ""
        self._given[location] = key
        for field in _DATA:
            message.ClearField(field)  # type: ignore[arg-type,unused-ignore]
        message.dims.extend(array.shape)
        message.data_type = number
        if size:
            _proto.set_link(message, location, size)
        else:
            message.raw_data = b""
        self._set[key] = array

    def _find(self, key: str) -> onnx.TensorProto | None:
        """Finds the message of a tensor: if the key is a site, the one that was at this site before the edit, else the only one of this name.
        None if there is no such key."""
        stored = self.archive._selection.tensors.get(key)
        if stored is not None and stored.name != key:
            return self._find_held(key)
        message = self._find_named(key)
        held = self._held.get(key, message)
        if held is not None and held is not message and held.name != key and self._has(held):
            raise usage("the tensor of this name was renamed in `model`, and another one has the name now: set the data of its message", key)
        return message

    def _find_held(self, key: str) -> onnx.TensorProto | None:
        there = self._message_at(self._stored_steps[key])
        if not self._shared:
            return there
        message = self._held[key]
        if message is not there and not self._has(message):
            raise self._gone(key)
        return message

    def _has(self, message: onnx.TensorProto | None) -> bool:
        return any(each is message for _, each in _proto.placed(self._model))

    def _gone(self, key: str) -> NotFoundError:
        return NotFoundError("usage.no_such_tensor", "this tensor is not in `model` any more", key, None, self.archive.path or "")

    def _find_named(self, name: str) -> onnx.TensorProto | None:
        """Finds the only tensor of this name, usually where it last was. The walk over the model, which takes a hundred times as
        long as serialising it, is for names that are in it."""
        stored = name in self.archive._selection.tensors
        steps = self._steps.get(name) or (self._stored_steps[name] if stored else ())
        if message := self._at(steps, name):
            return message
        if not self._shared:
            return None
        model = self._serialised()
        if model is not None and _wire.data(_wire.TENSOR_NAME, name) not in model:
            return None
        found = collections.defaultdict(list)
        for steps, tensor in _proto.placed(self._model):
            found[tensor.name].append(steps)
        means = {each: self._meant(each, several) for each, several in found.items()}
        if len(several := means.get(name, [])) > 1:
            places = ", ".join(map(_proto.site_of, several))
            raise NotFoundError("usage.ambiguous_tensor", f"several tensors of `model` have this name now: change one of {places}",
                                name, None, self.archive.path or "")  # fmt: skip
        self._steps = {each: steps[0] for each, steps in means.items() if each and len(steps) == 1}
        return self._at(self._steps.get(name, ()), name)

    def _meant(self, name: str, several: list[_proto.Steps]) -> list[_proto.Steps]:
        """Chooses among the tensors of a name that `model` has now: initializers, or what the name meant in the archive."""
        initializers = [steps for steps in several if _is_initializer(steps)]
        if name not in self.archive._selection.tensors:
            return initializers or several
        return initializers if _is_initializer(self._stored_steps[name]) else [each for each in several if not _is_initializer(each)]

    def _at(self, steps: _proto.Steps, name: str) -> onnx.TensorProto | None:
        message = self._message_at(steps) if steps else None
        return message if message is not None and message.name == name else None

    def _message_at(self, steps: _proto.Steps) -> onnx.TensorProto | None:
        try:
            message: onnx.TensorProto = _proto.Descent(self._model).to(steps)
        except IndexError:
            return None
        return message

    def _serialised(self) -> bytes | None:
        """Returns None if the caller put more data into the model than protobuf can serialise."""
        try:
            return _proto.bytes_of(self._model)
        except FormatError:
            return None

    def _is_changed(self) -> bool:
        assert self._before is not None
        grown = self._shared and _proto.raw_size(self._model) > len(self._before)  # a copy might have no room in memory
        return grown or self._serialised() != self._before

    def _refuse_ambiguous(self) -> None:
        """Refuses new data for a tensor outside the model if its graph defines its name again. The library would move the data into the
        model, and which definition a runtime uses depends on where data is. The walk over all messages is for tensors outside the
        main graph. Raises onnx.graph.duplicate.
        """
        if not self._outside:
            return
        known = self._stored_steps
        initializers = all(key in known and _is_initializer(known[key]) for key, _ in self._outside)
        main = _proto.definitions(self._model.graph)
        if initializers and not self._shared and all(main[message.name] == 1 for _, message in self._outside):
            return
        for tensor in _proto.defined_twice(self._model):
            for key, message in self._outside:
                if message is tensor:
                    raise fault("onnx.graph.duplicate", "its data is outside the model, and its graph defines its name more than once, so "
                                "it cannot be set; give each definition a name of its own", key, self.archive.path or "")  # fmt: skip

    def _commit(self) -> None:
        changed = "_model" in self.__dict__ and self._is_changed()
        if not changed and not self.files.set and not self.files.removed:
            return
        self._refuse_ambiguous()
        path, handle = self.archive.path or "", self.archive._handle
        options, removed = dict(self._options), sorted(self.files.removed)
        with reporting(options.pop("progress"), "editing") as tell:
            load = load_options(threads=options["threads"], max_expansion=options.pop("max_expansion"))
            save = save_options(side_files=self.files.set, progress=tell, **options)
            if not changed:
                done = _core.replace_side_files(path, save, removed, handle)
            else:
                done = _proto.with_weights(
                    self._model, lambda skeleton, writer: writer.replace(skeleton, path, save, load, removed, handle),
                    dry_run=save.dry_run, writer=self._writer,
                )  # fmt: skip
        self.report = report(ReplaceReport, done)

    def __enter__(self) -> Edit:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:  # fmt: skip
        try:
            if kind is None:
                self._commit()
        finally:
            self.archive.close()

    def __repr__(self) -> str:
        return f"<onnxar.Edit of {self.archive.path!r}: {len(self._set)} tensors set>"


def edit(
    archive: Path, *, threshold: int = 1024, sync: bool = True, dry_run: bool = False, threads: int = 0,
    progress: Progress = None, max_expansion: int = 8,
) -> Edit:  # fmt: skip
    """Edits an archive in place:

        with onnxar.edit("model.onnxar") as e:
            e["decoder.weight"] = e["decoder.weight"] * 2
            e.model.producer_name = "me"
            e.files["tokenizer.json"] = b"..."

    All changes are made in one step when the block ends, by an edit that only appends: it takes as long as writing the
    new data, whatever the size of the archive. After an exception in the block or in that step, the file is unchanged.
    If another edit came first, the step raises io.changed, and nothing is lost. `onnxar.undo` takes an edit back, unless
    its report has `discards_states`: an archive in which no entry stays in place is rewritten. Everything that the block reads,
    and always the model, is compared with its CRC-32, because an edit would give damaged data a new, matching CRC-32. Needs the
    package onnx, except to change only side files.

    Args:
        archive: The path of the archive.
        threshold: Arrays of fewer bytes go into the model.

    Other arguments: see `onnxar.pack`.

    Raises:
        Error: What `onnxar.open` and `onnxar.replace` raise.
    """
    path = os.path.abspath(file_of(archive, "edit"))
    options = {"threshold": threshold, "sync": sync, "dry_run": dry_run, "threads": threads, "progress": progress,
               "max_expansion": max_expansion}  # fmt: skip
    return Edit(open_archive(path), options)


def _is_initializer(steps: _proto.Steps) -> bool:
    return steps[:-1] == _GRAPH and steps[-1][0] == "initializer"


def _initializer(index: int) -> _proto.Steps:
    return (("graph", None), ("initializer", index))


def _write(file: _core.Sink, array: Array, number: int) -> None:
    file.write(_dtypes.raw_bytes(array, number))

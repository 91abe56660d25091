"""Models in archives: what tensors refer to, and how a model becomes an archive and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import ModelProto, TensorProto

from .container import MODEL, Container, Data, PathLike, Writer, is_name, require

Sources = Mapping[str, memoryview]  # what locations of external data name; an Archive is one


# --- data types ----------------------------------------------------------------------------------

# What NumPy has for an element in raw_data, by number. Types that it lacks are unsigned numbers of
# their width. Types below 8 bits are bytes, each of several elements.
_NAMES = "- f4 u1 i1 u2 i2 i4 i8 - ? f2 f8 u4 u8 c8 c16 u2 u1 u1 u1 u1 u1 u1 u1 u1 u1 u1".split()
_DTYPES = {i: np.dtype(name).newbyteorder("<") for i, name in enumerate(_NAMES) if name != "-"}
_PER_BYTE = {21: 2, 22: 2, 23: 2, 25: 4, 26: 4}
_STRING, _SMALL_INTEGERS = 8, (6, 7)
_FIELDS = {1: "float_data", 14: "float_data", 11: "double_data", 15: "double_data"}
_FIELDS.update({7: "int64_data", 12: "uint64_data", 13: "uint64_data"})  # others: int32_data
_DATA_FIELDS = {*_FIELDS.values(), "int32_data", "string_data", "raw_data"}


def _size(tensor: TensorProto) -> int | None:
    """The bytes that data type and dimensions call for; None for elements of a type that is not known (M17)."""
    fits = len(tensor.dims) <= 1024 and min(tensor.dims, default=0) >= 0
    require(fits, "onnx.tensor.dims", f"tensor {tensor.name!r} has impossible dimensions")
    if 0 in tensor.dims:
        return 0
    if tensor.data_type not in _DTYPES:
        return None
    width = _DTYPES[tensor.data_type].itemsize
    count = size = 1
    for dim in [1, *tensor.dims]:
        count *= dim
        size = -(-count // _PER_BYTE.get(tensor.data_type, 1)) * width
        fits = max(count, size) < 1 << 64
        require(fits, "onnx.tensor.dims", f"tensor {tensor.name!r} has too many elements")
    return size


# --- loader --------------------------------------------------------------------------------------


class Archive(Container):
    """An archive whose model can be read, and the data of whose tensors can be used in place."""

    def model(self, graph: str = MODEL) -> ModelProto:
        """The model as the archive has it: linked tensors name entries and have no data. `graph`
        is the entry of another graph over the same weights."""
        model, data = ModelProto(), bytes(self[graph])
        try:
            is_whole = model.ParseFromString(data) == len(data)
        except DecodeError:
            is_whole = False
        require(is_whole, "onnx.model.invalid", "the model cannot be parsed")
        return model

    def data(self, tensor: TensorProto) -> memoryview:
        """The bytes of a linked tensor."""
        return _linked(tensor, self)

    def array(self, tensor: TensorProto) -> npt.NDArray[Any]:
        """The values of a linked tensor, read-only and without a copy; flat below 8 bits."""
        data = self.data(tensor)
        is_known = tensor.data_type in _DTYPES
        require(is_known, "onnx.tensor.no_type", f"the type of {tensor.name!r} is not known")
        array: npt.NDArray[Any] = np.frombuffer(data, _DTYPES[tensor.data_type])
        return array if tensor.data_type in _PER_BYTE else array.reshape(tuple(tensor.dims))


def _linked(tensor: TensorProto, sources: Sources) -> memoryview:
    """The bytes of a tensor with external data (M8 to M19)."""
    what = f"tensor {tensor.name!r}"
    require(tensor.data_type != 0, "onnx.tensor.no_type", f"{what} has no data type")
    require(tensor.data_type != _STRING, "onnx.external.string", f"{what} links strings")
    size, (location, offset, length) = _size(tensor), _link(tensor)
    is_there = location in sources
    require(is_there, "onnx.external_data.missing", f"{what}: there is no entry {location!r}")
    data = sources[location]
    if length is None:
        length = max(len(data) - offset, 0) if size is None else size
    require(size in (None, length), "onnx.tensor.length", f"{what} has {length} of {size} bytes")
    fits = offset + length <= len(data)
    require(fits, "onnx.external_data.out_of_range", f"{what} leaves the entry {location!r}")
    return data[offset : offset + length]


def _link(tensor: TensorProto) -> tuple[str, int, int | None]:
    known = ("location", "offset", "length", "checksum")
    pairs = [(pair.key, pair.value) for pair in tensor.external_data if pair.key in known]
    said = dict(pairs)
    what = f"external data of tensor {tensor.name!r}"
    require(len(pairs) == len(said), "onnx.external_data.duplicate_key", f"{what}: two of a key")
    require(said.get("location", "") != "", "onnx.external_data.no_location", f"{what}: nowhere")
    for key in {"offset", "length"} & said.keys():
        number = re.fullmatch(b"0|[1-9][0-9]{0,19}", _bytes(said[key]))
        is_number = number is not None and int(said[key]) < 1 << 64
        require(is_number, f"onnx.external_data.bad_{key}", f"{what}: {key} {said[key]!r}")
    length = int(said["length"]) if "length" in said else None
    return said["location"], int(said.get("offset", "0")), length


_ON_THE_WAY = "Graph TrainingInfo Function Node Attribute SparseTensor Tensor".split()


def _inner(field: Any, value: Any) -> list[Any]:
    """The messages in a field that are tensors or may hold some."""
    if field.message_type is None or field.message_type.name[:-5] not in _ON_THE_WAY:
        return []
    return [value] if isinstance(value, Message) else list(value)


def _tensors(message: Message) -> Iterator[TensorProto]:
    for field, value in message.ListFields():
        for each in _inner(field, value):
            if isinstance(each, TensorProto):
                yield each
            else:
                yield from _tensors(each)


def load(path: PathLike, load_external_data: bool = True) -> ModelProto:
    """The model of an archive, by default with the data of all its tensors in it."""
    archive = Archive(path)
    model = archive.model()
    for tensor in _tensors(model) if load_external_data else ():
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.raw_data = bytes(archive.data(tensor))
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return model


# --- canonical writer ----------------------------------------------------------------------------


def save(
    model: ModelProto,
    path: PathLike,
    *,
    threshold: int = 1024,
    alignment: int = 64,
    side_files: Mapping[str, Data] | None = None,
    sources: Sources | None = None,
) -> None:
    """Writes a model of any size as an archive, one tensor after the other; it stays as it is.

    Tensors of `threshold` bytes or more become entries. `sources` holds what the locations of
    external data name, for a model that was loaded without it: an Archive, or mapped files."""
    with Writer(path, alignment) as writer:
        mover, skeleton = _Mover(writer, threshold, sources or {}, side_files or {}), ModelProto()
        mover.copy(model, skeleton, True)
        for i in reversed(range(len(skeleton.metadata_props))):
            key = _bytes(skeleton.metadata_props[i].key)
            if key.startswith(b"onnxar.link."):  # K7: no longer a link
                del skeleton.metadata_props[i]
        for name, data in (side_files or {}).items():
            writer.add(name, data)
        writer.finish(skeleton.SerializeToString(deterministic=True))


_STAYS = {"training_info", "attribute_proto"}  # what is in these fields does not become entries
_STAYS |= {"sparse_initializer", "sparse_tensor", "sparse_tensors"}


class _Mover:
    """Copies a model without the data of the tensors that become entries (W8 to W12)."""

    def __init__(
        self, writer: Writer, threshold: int, sources: Sources, others: Mapping[str, Data]
    ) -> None:
        self._writer, self._threshold, self._sources = writer, threshold, sources
        self._taken = {MODEL.lower(), *(name.lower().split("/")[0] for name in others)}
        self._counters: dict[str, int] = {}
        self._shared: dict[tuple[str, int, int], str] = {}  # ranges of sources that are entries

    def copy(self, source: Any, target: Any, may_move: bool) -> None:
        is_tensor, fields = isinstance(source, TensorProto), source.ListFields()
        left_out = self._place(source, target, may_move) if is_tensor else set()
        if not left_out and not any(_inner(field, value) for field, value in fields):
            target.CopyFrom(source)
            return
        for field, value in fields:
            made = getattr(target, field.name)
            inner_may_move = may_move and field.name not in _STAYS
            if field.name in left_out:
                continue
            if isinstance(value, Message):
                made.SetInParent()
                self.copy(value, made, inner_may_move)
            elif field.message_type is not None:
                for each in value:
                    self.copy(each, made.add(), inner_may_move)
            elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
                values = value if hasattr(value, "MergeFrom") else [value]
                target.MergeFromString(b"".join(_block(field.number, each) for each in values))
            elif hasattr(value, "MergeFrom"):
                made.MergeFrom(value)
            else:
                setattr(target, field.name, value)
        target.MergeFromString(_unknown_fields(source))

    def _place(self, source: TensorProto, target: TensorProto, may_move: bool) -> set[str]:
        """Puts a tensor's data where it belongs; the fields that are then not to be copied."""
        size, is_external = _size(source), source.data_location == TensorProto.EXTERNAL
        data = _linked(source, self._sources) if is_external else _payload(source, size)
        least = max(self._threshold, 1024 if source.data_type in _SMALL_INTEGERS else 1)
        moves = may_move and data is not None and len(data) >= least
        moves = moves and source.data_type != _STRING and not source.HasField("segment")
        if data is None or not (moves or is_external):
            return set()
        if moves:
            target.data_location = TensorProto.EXTERNAL
            link = {"location": self._entry(source, data), "offset": "0", "length": str(len(data))}
            for key, value in link.items():  # in this order: some readers go by it (W10)
                target.external_data.add(key=key, value=value)
        else:
            target.raw_data = bytes(data)
        return {*_DATA_FIELDS, "external_data", "data_location"}

    def _entry(self, tensor: TensorProto, data: bytes | memoryview) -> str:
        """The entry for a tensor; the same range of a source becomes one entry (W11)."""
        shared = None
        if tensor.data_location == TensorProto.EXTERNAL:
            location, offset, _ = _link(tensor)
            shared = (location, offset, len(data))
            if shared in self._shared:
                return self._shared[shared]
        name = self._key(tensor.name)
        self._writer.add(name, data)
        if shared is not None:
            self._shared[shared] = name
        return name

    def _key(self, name: str | bytes) -> str:
        """A name for the entry (W12)."""
        stem = re.sub(rb"[^A-Za-z0-9_]", b"_", _bytes(name)[:200]).decode() or "tensor"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        is_reserved = re.match("__[A-Z]", stem) is not None or not is_name(stem)  # a device
        stem = (f"t_{stem}" if is_reserved else stem)[:200]
        key, folded = stem, stem.lower()
        while key.lower() in self._taken:
            self._counters[folded] = self._counters.get(folded, 1) + 1
            key = f"{stem}_{self._counters[folded]}"
        self._taken.add(key.lower())
        return key


def _payload(tensor: TensorProto, size: int | None) -> bytes | memoryview | None:
    """The bytes of a tensor that has its data, if they are what its dimensions call for (W9)."""
    filled = {field.name for field, _ in tensor.ListFields()} & _DATA_FIELDS
    name, data_type = _FIELDS.get(tensor.data_type, "int32_data"), tensor.data_type
    data = None
    if filled == {"raw_data"}:
        data = tensor.raw_data
    elif filled == {name} and name in ("float_data", "double_data"):
        data = _packed(tensor, name)
    elif filled == {name} and size is not None:
        values = np.array(getattr(tensor, name), "u8" if name == "uint64_data" else None)
        code = _DTYPES[data_type].str[1:]
        stored = values.astype("<" + {"f2": "u2", "b1": "u1"}.get(code, code))  # bits; 0 and 1
        is_exact = bool((stored == values).all())
        is_exact = is_exact and not (data_type == TensorProto.BOOL and stored.max(initial=0) > 1)
        data = stored.tobytes() if is_exact else None
    return data if data is not None and size in (None, len(data)) else None


def _packed(tensor: TensorProto, name: str) -> bytes:
    """A field of numbers as it is serialised: as Python's, signalling NaNs would turn quiet."""
    alone = TensorProto()
    alone.CopyFrom(tensor)
    alone.DiscardUnknownFields()
    for field, _ in tensor.ListFields():
        if field.name != name:
            alone.ClearField(field.name)
    count = len(getattr(tensor, name))
    serialised = alone.SerializeToString()
    return serialised[len(serialised) - count * (4 if name == "float_data" else 8) :]


def _unknown_fields(message: Message) -> bytes:
    """Fields of a later schema, serialised, so that a copy does not lose them."""
    out = b""
    fields = UnknownFieldSet(message)
    for field in (fields[i] for i in range(len(fields))):
        if field.wire_type == 2:
            out += _block(field.field_number, field.data)
        else:
            size = {1: 8, 5: 4}.get(field.wire_type)
            out += _varint(field.field_number << 3 | field.wire_type)
            out += field.data.to_bytes(size, "little") if size else _varint(field.data)
    return out


def _bytes(text: str | bytes) -> bytes:
    """Of a string field: protobuf gives bytes where they are not UTF-8."""
    return text if isinstance(text, bytes) else text.encode()


def _block(number: int, value: str | bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(_bytes(value))) + _bytes(value)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])

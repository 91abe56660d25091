"""The types of values that functions return."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import types
import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from onnxar import _summary
from onnxar._errors import Finding, in_words


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """A tensor of a model. `dtype` is the name in TensorProto.DataType, and `site` is the path in the model. `output` is the
    output of the Constant node whose value it is, or "" for other tensors."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    site: str
    output: str = ""


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of an archive. `offset` is absolute. `sites` are the sites of the model's tensors with data in the entry. `kind`
    is "weight", "side file", "graph", "unused" or "model". `graphs` are the entries of the graphs whose tensors have data in
    it: "__MODEL_PROTO", "decoder.onnx". `tensors` are the names of the tensors that the first of these graphs has in the entry.
    `dtype` and `shape` are those of the first of these tensors, or "" and None if there are none."""

    name: str
    offset: int
    size: int
    crc32: int
    alignment: int
    kind: str
    sites: tuple[str, ...]
    graphs: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    dtype: str = ""
    shape: tuple[int, ...] | None = None


class _Result:
    def __repr__(self) -> str:
        """Returns the members that are not 0 or empty."""
        shown = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if getattr(self, field.name)}  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclasses.dataclass(frozen=True, repr=False)
class ConvertReport(_Result):
    """The result of packing, unpacking or saving. Sizes are in bytes. `typed_made_raw` counts moved tensors whose data was in
    typed fields such as float_data, and `reencoded` those with raw data whose fields had an order or encoding that `unpack`
    does not restore: the model comes back byte for byte if both are 0. `nested_outside` counts tensors outside the
    model that are not initializers of the graph; some runtimes do not search for external data there. `shared_bytes` is the size of data that equals other data and is
    not written again."""

    tensors_outside: int
    payloads: int
    payload_bytes: int
    model_bytes: int
    side_files: int
    side_files_left_out: int
    graphs: int
    graphs_left_out: int
    file_bytes: int
    model_path: pathlib.Path | None  # None: the output was a file object or bytes
    data_file: str
    remarks: list[Finding]
    typed_made_raw: int = 0
    nested_outside: int = 0
    reencoded: int = 0
    shared_bytes: int = 0


@dataclasses.dataclass(frozen=True, repr=False)
class ReplaceReport(_Result):
    """The result of replacing a model. Sizes are in bytes. `discards_states` is True if no entry stays in place: the file is then
    rewritten without its earlier states, which `undo` cannot restore. The remark archive.entry.shared, of a model that seems to
    be merged from two archives, is also a UserWarning. `shared_bytes` is the size of the data that entries of the archive
    already had."""

    tensors_outside: int
    entries_added: int
    bytes_added: int
    model_bytes: int
    file_bytes: int
    file_bytes_before: int
    discards_states: bool
    remarks: list[Finding]
    shared_bytes: int = 0


@dataclasses.dataclass(frozen=True, repr=False)
class RepackReport(_Result):
    """The result of repacking. Sizes are in bytes."""

    entries: int
    input_bytes: int
    file_bytes: int
    remarks: list[Finding]


@dataclasses.dataclass(frozen=True, repr=False)
class GetReport(_Result):
    """The result of a download. Sizes are in bytes. `file_bytes` is the size of the output and `remote_bytes` that of the file
    on the server. `resumed_bytes` came from an interrupted download, `reused_bytes` from archives on this machine, and
    `downloaded_bytes` from the server."""

    entries: int
    file_bytes: int
    remote_bytes: int
    resumed_bytes: int
    reused_bytes: int
    downloaded_bytes: int


@dataclasses.dataclass(frozen=True, repr=False)
class FreezeReport(_Result):
    """The result of freezing: the numbers of elements that were removed, and of tensors that were filled. `inputs` counts
    inputs whose default value was removed. `surplus` has the names of weights that no tensor of the model needed."""

    nodes: int
    initializers: int
    inputs: int
    functions: int
    training_infos: int
    opset_imports: int
    filled: int
    surplus: list[str]
    saved: ConvertReport


@dataclasses.dataclass(frozen=True)
class GraphChange:
    """A difference outside tensors. `change` is "added", "removed" or "changed". `before` and `after` are short texts, None
    if the model does not have the element."""

    change: str
    site: str
    name: str
    before: str | None
    after: str | None


@dataclasses.dataclass(frozen=True)
class TensorForm:
    dtype: str
    shape: tuple[int, ...]
    bytes: int


@dataclasses.dataclass(frozen=True)
class DataDifference:
    """The difference of two tensors of the same type and shape: how many elements differ, the index of the first one, and
    the largest differences of elements that are finite in both (None for strings and unknown types)."""

    elements: int
    differing: int
    first: int
    max_absolute: float | None
    max_relative: float | None
    not_finite: int


@dataclasses.dataclass(frozen=True)
class TensorChange:
    """A difference in a tensor. `data` is None unless only the data differs."""

    change: str
    site: str
    name: str
    before: TensorForm | None
    after: TensorForm | None
    data: DataDifference | None


@dataclasses.dataclass(frozen=True)
class FileChange:
    """A difference in a side file of two archives. Sizes are in bytes, None if the file is missing. `first` is the offset of
    the first byte that differs."""

    change: str
    name: str
    before: int | None
    after: int | None
    first: int | None


@dataclasses.dataclass(frozen=True, repr=False)
class Difference:
    """The result of `diff`. `compared` counts the tensors that are in both models. Its repr has the first changes."""

    same: bool
    graph: list[GraphChange]
    tensors: list[TensorChange]
    files: list[FileChange]
    compared: int

    def __repr__(self) -> str:
        return _summary_of(self).text()

    def _repr_html_(self) -> str:
        return _summary_of(self).html()


def _summary_of(found: Difference) -> _summary.Summary:
    compared = f"{_summary.counted(found.compared, 'tensor')} compared"
    if found.same:
        return _summary.Summary(f"<onnxar.Difference: none, {compared}>")
    rows: list[Sequence[str]] = [(each.change, _where(each), _change(each.before, each.after)) for each in found.graph]
    rows += [(each.change, _where(each), _data(each.data) if each.data else _change(_form(each.before), _form(each.after)))
             for each in found.tensors]  # fmt: skip
    rows += [(each.change, each.name, _change(_bytes(each.before), _bytes(each.after))) for each in found.files]
    counts = f"{len(found.graph)} in the graph, {len(found.tensors)} in tensors, {len(found.files)} in files"
    return _summary.Summary(f"<onnxar.Difference: {counts}; {compared}>", [], ("change", "where", "what"), rows)


def _where(change: GraphChange | TensorChange) -> str:
    return f"{change.name} ({change.site})" if change.name and change.site else change.name or change.site


def _change(before: str | None, after: str | None) -> str:
    return f"{before} -> {after}" if before is not None and after is not None else before or after or ""


def _form(form: TensorForm | None) -> str | None:
    return None if form is None else f"{form.dtype} {_summary.shape(form.shape)}"


def _bytes(count: int | None) -> str | None:
    return None if count is None else _summary.size(count)


def _data(data: DataDifference) -> str:
    most = "" if data.max_absolute is None else f", by up to {data.max_absolute:.3g}"
    return f"{data.differing:,} of {data.elements:,} elements{most}"


@dataclasses.dataclass(frozen=True)
class ExtractedTensor:
    """A tensor that was written to `path`. `descr` is its type in the `.npy`. If NumPy lacks the type, `as_integers` is True
    and the elements are its bits."""

    tensor: TensorInfo
    path: pathlib.Path
    file_bytes: int
    descr: str
    as_integers: bool


@dataclasses.dataclass(frozen=True)
class EarlierState:
    """The state to which an archive was or would be cut back. Sizes are in bytes."""

    file_size: int
    size: int
    entries: int
    model_size: int
    model_crc32: int


class Folder(str):
    """The path of a folder: a str, as ONNX Runtime needs it; `/` joins it with a name to a `pathlib.Path`."""

    def __truediv__(self, name: str) -> pathlib.Path:
        return pathlib.Path(self) / name


@dataclasses.dataclass(frozen=True, repr=False)
class Link:
    """A model whose external data is the archive, for runtimes that take a ModelProto and a folder. `remarks` warn of names that
    a graph defines more than once."""

    model: bytes
    folder: Folder
    remarks: list[Finding] = dataclasses.field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        return f"Link(model=<{_summary.counted(len(self.model), 'byte')}>, folder={_summary.cut(str(self.folder), 40)!r})"

    def _repr_html_(self) -> str:
        return _summary.escaped(repr(self))


Report = TypeVar("Report", ConvertReport, ReplaceReport, RepackReport, GetReport, EarlierState)


def report(kind: type[Report], fields: Mapping[str, Any]) -> Report:
    """Converts a report of the extension module."""
    values = dict(fields)
    if "remarks" in values:
        values["remarks"] = [Finding(*row) for row in values["remarks"]]
    for remark in values.get("remarks", []):
        if kind is ReplaceReport and remark.code == "archive.entry.shared":  # weights may be missing, so no caller must miss it
            warnings.warn(remark.message, stacklevel=3)
    return kind(**values)


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _finding(row: Mapping[str, Any]) -> Finding:
    """The finding with its advice in the words of this package. The command's message ends with its own wording."""
    message, hint = row["message"], row["hint"]
    if hint:
        message = in_words(message.removesuffix(f"; {hint['text']}"), hint["id"], hint["value"])
    return Finding(row["severity"], row["code"], row["entry"] or "", row["offset"], message)


def from_json(kind: Any, value: Any) -> Any:
    """Makes a value of type `kind` from JSON: a dataclass, or a type that a field of one may have."""
    if value is None:
        return "" if kind is str else None  # text that does not apply
    if kind is pathlib.Path:
        return pathlib.Path(value)
    if kind is Finding:
        return _finding(value)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return kind(**{name: from_json(each, value.get(name)) for name, each in _fields(kind).items()})
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is types.UnionType:
        return from_json(inner[0], value)  # None apart
    if typing.get_origin(kind) is dict:
        return {key: from_json(inner[1], each) for key, each in value.items()}
    if inner:  # list or tuple
        return typing.get_origin(kind)(from_json(inner[0], each) for each in value)
    return value

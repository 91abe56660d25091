"""Plain values that functions return."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from onnxar._errors import Finding


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """A tensor of a model: `dtype` is the name in TensorProto.DataType, `site` is its place in the model."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    site: str


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of an archive. `offset` is absolute, `sites` are those of the model's tensors whose data is in it; `kind` is
    "weight", "side file", "graph", "unused" or "model"."""

    name: str
    offset: int
    size: int
    crc32: int
    alignment: int
    kind: str
    sites: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ConvertReport:
    """What packing, unpacking or saving did; sizes in bytes."""

    tensors_outside: int
    payloads: int
    payload_bytes: int
    model_bytes: int
    side_files: int
    side_files_left_out: int
    graphs: int
    graphs_left_out: int
    file_bytes: int
    model_path: pathlib.Path
    data_file: str
    remarks: list[Finding]


@dataclasses.dataclass(frozen=True)
class ReplaceReport:
    """What replacing a model did; sizes in bytes."""

    tensors_outside: int
    entries_added: int
    bytes_added: int
    model_bytes: int
    file_bytes: int
    file_bytes_before: int
    remarks: list[Finding]


@dataclasses.dataclass(frozen=True)
class RepackReport:
    """What repacking did; sizes in bytes."""

    entries: int
    input_bytes: int
    file_bytes: int
    remarks: list[Finding]


@dataclasses.dataclass(frozen=True)
class FreezeReport:
    """What freezing left out, and what it filled: `inputs` are those that had a default that went, `surplus` names in the
    weights that fill nothing."""

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
    """A difference that is not in a tensor: `change` is "added", "removed" or "changed"; texts are short, and None where
    there is nothing."""

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
    """Of two tensors of one type and shape: how many elements differ, the number of the first, and the largest
    differences of those that are finite in both (None for strings and types that are not known)."""

    elements: int
    differing: int
    first: int
    max_absolute: float | None
    max_relative: float | None
    not_finite: int


@dataclasses.dataclass(frozen=True)
class TensorChange:
    """A difference in a tensor; `data` where type and shape are the same and the data is not."""

    change: str
    site: str
    name: str
    before: TensorForm | None
    after: TensorForm | None
    data: DataDifference | None


@dataclasses.dataclass(frozen=True)
class FileChange:
    """A difference in a side file of two archives: sizes in bytes, None where there is no such file, and the `first` byte
    that differs."""

    change: str
    name: str
    before: int | None
    after: int | None
    first: int | None


@dataclasses.dataclass(frozen=True)
class Difference:
    """What `diff` found; `compared` counts tensors that are in both models."""

    same: bool
    graph: list[GraphChange]
    tensors: list[TensorChange]
    files: list[FileChange]
    compared: int


@dataclasses.dataclass(frozen=True)
class ExtractedTensor:
    """A tensor that was written to `path`. `descr` is its type in a `.npy`; where NumPy lacks the type, the elements are
    its bits `as_integers`."""

    tensor: TensorInfo
    path: pathlib.Path
    file_bytes: int
    descr: str
    as_integers: bool


@dataclasses.dataclass(frozen=True)
class EarlierState:
    """The state to which an archive was, or would be, cut back; sizes in bytes."""

    file_size: int
    size: int
    entries: int
    model_size: int
    model_crc32: int


@dataclasses.dataclass(frozen=True)
class Link:
    """A model whose external data is the archive: for runtimes that take a ModelProto and a folder."""

    model: bytes
    folder: pathlib.Path


Report = TypeVar("Report", ConvertReport, ReplaceReport, RepackReport, EarlierState)


def report(kind: type[Report], fields: Mapping[str, Any]) -> Report:
    """A report as the extension module gives it."""
    values = dict(fields)
    if "remarks" in values:
        values["remarks"] = [Finding(*row) for row in values["remarks"]]
    return kind(**values)


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def from_json(kind: Any, value: Any) -> Any:
    """A value of the type `kind`, a dataclass or what may be in one, of the same as JSON."""
    if value is None:
        return "" if kind is str else None  # text that does not apply
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

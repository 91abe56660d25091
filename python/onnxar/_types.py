"""Plain values that functions return."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any, TypeVar

from onnxar._errors import Finding


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """A tensor of a model: `dtype` is the name in TensorProto.DataType, `site` says where it stands."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    site: str


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of an archive. `offset` is absolute, `sites` are those of the tensors whose data is in it."""

    name: str
    offset: int
    size: int
    crc32: int
    alignment: int
    sites: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ConvertReport:
    """What packing, unpacking or saving did; sizes in bytes."""

    tensors_outside: int
    payloads: int
    payload_bytes: int
    model_bytes: int
    side_files: int
    file_bytes: int
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

"""ONNX archives: one file for a model and all of its weights, mapped and used in place."""

from onnxar import _core
from onnxar._archive import Archive, TensorSlice, cat, ls, open_archive
from onnxar._errors import Error, Finding, NotFoundError, OutputExistsError
from onnxar._looking import diff, dump, freeze, inspect, show
from onnxar._model import load, save
from onnxar._operations import check, extract, link, pack, recover, repack, replace, undo, unpack, verify_link
from onnxar._registry import register
from onnxar._types import (
    ConvertReport,
    DataDifference,
    Difference,
    EarlierState,
    Entry,
    ExtractedTensor,
    FileChange,
    FreezeReport,
    GraphChange,
    Link,
    RepackReport,
    ReplaceReport,
    TensorChange,
    TensorForm,
    TensorInfo,
)
from onnxar.inspection import Inspection

__version__: str = _core.version

open = open_archive  # noqa: A001  the usual name: gzip.open, tarfile.open

__all__ = [
    "Archive",
    "ConvertReport",
    "DataDifference",
    "Difference",
    "EarlierState",
    "Entry",
    "Error",
    "ExtractedTensor",
    "FileChange",
    "Finding",
    "FreezeReport",
    "GraphChange",
    "Inspection",
    "Link",
    "NotFoundError",
    "OutputExistsError",
    "RepackReport",
    "ReplaceReport",
    "TensorChange",
    "TensorForm",
    "TensorInfo",
    "TensorSlice",
    "cat",
    "check",
    "diff",
    "dump",
    "extract",
    "freeze",
    "inspect",
    "link",
    "load",
    "ls",
    "open",
    "pack",
    "recover",
    "register",
    "repack",
    "replace",
    "save",
    "show",
    "undo",
    "unpack",
    "verify_link",
]

"""ONNX archives: one file for a model and all of its weights, mapped and used in place."""

from onnxar import _current_folder  # first: all other imports might run modules of the current folder

if _current_folder.is_command():
    _current_folder.leave_out()

import numpy as _numpy  # noqa: F401  next: it refuses a second interpreter, where _core would spoil the one of the first

from onnxar import _core
from onnxar._archive import Archive, TensorSlice
from onnxar._check import check
from onnxar._digest import Digest, digest
from onnxar._edit import Edit, edit
from onnxar._errors import (
    AccessError,
    ArgumentError,
    Error,
    FileError,
    Finding,
    FormatError,
    MissingFileError,
    NotFoundError,
    OutputExistsError,
)
from onnxar._extract import extract
from onnxar._link import link, verify_link
from onnxar._listing import cat, ls
from onnxar._looking import diff, dump, freeze, show
from onnxar._model import load, load_ir, save
from onnxar._open import open_archive, open_async
from onnxar._pack import pack, repack, unpack
from onnxar._registry import register
from onnxar._replace import recover, replace, undo
from onnxar._transfers import get, put
from onnxar._types import (
    ConvertReport,
    DataDifference,
    Difference,
    EarlierState,
    Entry,
    ExtractedTensor,
    FileChange,
    FreezeReport,
    GetReport,
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

open = open_archive

__all__ = [
    "AccessError",
    "Archive",
    "ArgumentError",
    "ConvertReport",
    "DataDifference",
    "Difference",
    "Digest",
    "EarlierState",
    "Edit",
    "Entry",
    "Error",
    "ExtractedTensor",
    "FileChange",
    "FileError",
    "Finding",
    "FormatError",
    "FreezeReport",
    "GetReport",
    "GraphChange",
    "Inspection",
    "Link",
    "MissingFileError",
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
    "digest",
    "dump",
    "edit",
    "extract",
    "freeze",
    "get",
    "link",
    "load",
    "load_ir",
    "ls",
    "open",
    "open_async",
    "pack",
    "put",
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


def __dir__() -> list[str]:
    """Returns the names of `__all__`, which the guide explains, and the modules that were imported."""
    return [*__all__, "__version__", *(name for name in ("inspection", "numpy", "onnxruntime", "torch") if name in globals())]

"""ONNX archives: one file for a model and all of its weights, mapped and used in place."""

from onnxar import _core
from onnxar._archive import Archive, TensorSlice, open_archive
from onnxar._errors import Error, Finding, NotFoundError
from onnxar._model import load, save
from onnxar._operations import check, link, pack, recover, repack, replace, undo, unpack, verify_link
from onnxar._registry import register
from onnxar._types import ConvertReport, EarlierState, Entry, Link, RepackReport, ReplaceReport, TensorInfo

__version__: str = _core.version

open = open_archive  # noqa: A001  the name that such functions have: gzip.open, tarfile.open

__all__ = [
    "Archive",
    "ConvertReport",
    "EarlierState",
    "Entry",
    "Error",
    "Finding",
    "Link",
    "NotFoundError",
    "RepackReport",
    "ReplaceReport",
    "TensorInfo",
    "TensorSlice",
    "check",
    "link",
    "load",
    "open",
    "pack",
    "recover",
    "register",
    "repack",
    "replace",
    "save",
    "undo",
    "unpack",
    "verify_link",
]

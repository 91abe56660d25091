"""Keyword arguments as the options of the library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from onnxar import _core
from onnxar._errors import usage

Path = str | os.PathLike[str]
Progress = Callable[[int, int], None]
Options = TypeVar("Options")


def _filled(options: Options, **fields: Any) -> Options:
    """What is None stays as the library has it."""
    for name, value in fields.items():
        if value is not None:
            setattr(options, name, value)
    return options


def load_options(data_dir: Path | None = None, **fields: Any) -> _core.LoadOptions:
    if (fields.get("max_expansion") or 0) < 0:
        raise usage(f"max_expansion is {fields['max_expansion']}, and cannot be negative")
    return _filled(_core.LoadOptions(), external_data_dir=data_dir, **fields)


def save_options(
    *,
    size_threshold: int | None = None,
    overwrite: bool | None = None,
    checksum: str | None = None,
    side_files: Mapping[str, Path] | None = None,
    rename: Mapping[str, str] | None = None,
    **fields: Any,
) -> _core.SaveOptions:
    for name, value in (("size_threshold", size_threshold), ("alignment", fields.get("alignment"))):
        if value is not None and value < 0:
            raise usage(f"{name} is {value}, and cannot be negative")
    options = _filled(_core.SaveOptions(), raw_data_threshold=size_threshold, replace=overwrite, **fields)
    if checksum == "sha1":
        options.use_sha1()
    elif checksum is not None:
        raise usage(f'checksum is {checksum!r}; it may be None or "sha1"')
    for name, path in (side_files or {}).items():
        options.add_file(name, path)
    for old, new in (rename or {}).items():
        options.rename_entry(old, new)
    return options


def kept_from(output: Path, overwrite: bool, keep_side_files: bool | Path) -> Path | None:
    """The archive whose side files go along into the `output`."""
    if isinstance(keep_side_files, bool):
        return output if keep_side_files and overwrite and os.path.isfile(output) else None
    return keep_side_files

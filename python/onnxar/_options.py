"""Converts keyword arguments to options of the library."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from onnxar import _core
from onnxar._errors import expect_list_of, usage

Path = str | os.PathLike[str]
SideFiles = Mapping[str, Path | bytes]
Options = TypeVar("Options")

TIMEOUT = 30.0  # seconds without an answer, or with less than 1 KiB/s, after which a request of the library has failed


def _filled(options: Options, **fields: Any) -> Options:
    """Sets the fields that are not None. Others keep the library's defaults."""
    for name, value in fields.items():
        if value is not None:
            setattr(options, name, value)
    return options


def graphs_of(graph: str | Sequence[str]) -> list[str]:
    """Returns the names of chosen graphs; none if `graph` is empty. Raises usage.argument."""
    graphs = [graph] if isinstance(graph, str) else list(graph or ())
    if not all(isinstance(name, str) for name in graphs) or (len(graphs) > 1 and "" in graphs):
        raise usage(f"graph is {graph!r}; it must be the name of a graph, or a list of names")
    return [name for name in graphs if name]


def expect_natural(path: str = "", **values: int | None) -> None:
    """Refuses a value that is negative or exceeds 64 bits. Raises usage.argument, which names it."""
    for name, value in values.items():
        if value is not None and value < 0:
            raise usage(f"{name} is {value}; it must not be negative", path=path)
        if value is not None and value >= 1 << 64:
            raise usage(f"{name} is {value}; it must be below 2 to the power of 64", path=path)


def expect_timeout(timeout: float) -> None:
    """Refuses a negative or infinite limit. Raises usage.argument."""
    if not 0 <= timeout < math.inf:
        raise usage(f"timeout is {timeout}; it must be a number of seconds, or 0")


def load_options(data_dir: Path | None = None, **fields: Any) -> _core.LoadOptions:
    expect_natural(max_expansion=fields.get("max_expansion"), threads=fields.get("threads"))
    return _filled(_core.LoadOptions(), external_data_dir=data_dir, **fields)


def save_options(
    *,
    threshold: int | None = None,
    overwrite: bool | None = None,
    checksum: str | None = None,
    side_files: SideFiles | None = None,
    rename: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    variants: Mapping[str, str] | None = None,
    **fields: Any,
) -> _core.SaveOptions:
    expect_natural(threshold=threshold, alignment=fields.get("alignment"), threads=fields.get("threads"))
    options = _filled(_core.SaveOptions(), threshold=threshold, overwrite=overwrite, **fields)
    if not isinstance(side_files, Mapping | None):
        raise usage(f"side files must be a dict of names and files, not {type(side_files).__name__}")
    if checksum == "sha1":
        options.use_sha1()
    elif checksum is not None:
        raise usage(f'checksum is {checksum!r}; it may be None or "sha1"')
    for name, file in (side_files or {}).items():
        if isinstance(file, str | os.PathLike):
            options.add_file(name, file)
        elif isinstance(file, bytes | bytearray | memoryview):
            options.add_bytes(name, file)
        else:
            raise usage(f"a side file must be a path or bytes, not {type(file).__name__}", name)
    for old, new in (rename or {}).items():
        options.rename_entry(old, new)
    expect_list_of("patterns", "exclude", exclude)
    for pattern in exclude:
        options.exclude_files(pattern)
    for name, machine in (variants or {}).items():
        ep, _, device = machine.partition(":")
        options.add_variant(name, ep, device)
    return options


def kept_from(output: Path, overwrite: bool, keep_side_files: bool | Path) -> Path | None:
    """Returns the archive whose side files `output` keeps, or None."""
    if isinstance(keep_side_files, bool):
        return output if keep_side_files and overwrite and os.path.isfile(output) else None
    return keep_side_files

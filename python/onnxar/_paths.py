"""Paths and addresses: which of them a source is, and how messages show it."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any

from onnxar._errors import usage

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
SHORTENED = re.compile(r"(?:https?|s3|gs|hf|memory):/[^/]", re.IGNORECASE)
SCHEME = re.compile(r"(?:^|(?<=::))[A-Za-z][A-Za-z0-9+.-]*(?=:(?://|:))")


def is_address(source: object) -> bool:
    """Returns True if this is an address such as `s3://bucket/key`, or a chain of fsspec such as `simplecache::s3://bucket/key`."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def is_of_fsspec(source: object) -> bool:
    """Returns True if this is a file or path of fsspec, or a path of universal_pathlib."""
    return hasattr(getattr(source, "fs", None), "cat_ranges") and isinstance(getattr(source, "path", None), str)


def is_remote(source: object) -> bool:
    """Returns True if this is an address, or an object of fsspec."""
    return is_address(source) or is_of_fsspec(source)


def local_path(source: str | os.PathLike[str]) -> str:
    """Returns a path as text. Raises usage.argument (an address that pathlib has turned into a path with one slash; NUL in the
    path; surrogates that stand for no byte)."""
    if isinstance(source, pathlib.PurePath) and SHORTENED.match(str(source)) and not os.path.lexists(source):
        raise usage("pathlib shortens addresses: pass the address as a text", path=shown(str(source).replace(":/", "://", 1)))
    path = os.fsdecode(source)
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise usage("no file has this path: a path cannot contain NUL or lone surrogates", path=path)
    return path


def plain(address: str) -> str:
    """Returns the address with its schemes in lower case: fsspec knows no others."""
    return SCHEME.sub(lambda scheme: scheme[0].lower(), address)


def name_of(source: Any) -> str:
    """Returns the name of an address, or of a file or path of fsspec, for messages."""
    return shown(source if isinstance(source, str) else source.fs.unstrip_protocol(source.path))


def shown(address: str) -> str:
    """Returns an address without name, password and query, which may contain secrets."""
    return re.sub(r"""(://[^\s?'"]*)\?[^\s'")]*""", r"\1", re.sub(r"://[^/\s]*@", "://", address))


def is_unicode(text: str) -> bool:
    """Returns True if the text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def hidden_name(name: str) -> str:
    """Returns a new name for a file that is being written. One may have 255 bytes, so a long `name` is cut."""
    return f".{os.fsencode(name)[:200].decode(errors='ignore')}.{os.urandom(4).hex()}"

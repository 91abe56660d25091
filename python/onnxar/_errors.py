"""The exceptions, and the findings of `check`."""

from __future__ import annotations

import dataclasses
import errno

from onnxar import _hints


class Error(Exception):
    """The base of all exceptions of onnxar.

    `code` is a stable id such as "zip.entry.overlap"; `entry` names an archive entry or a tensor; `offset` is absolute
    in the file `path`. Attributes that do not apply are "" or None.
    """

    def __init__(self, code: str, message: str, entry: str = "", offset: int | None = None, path: str = "") -> None:
        super().__init__(code, message, entry, offset, path)
        self.code = code
        self.message = message
        self.entry = entry
        self.offset = offset
        self.path = path

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str, int | None, str]]:
        return type(self), (self.code, self.message, self.entry, self.offset, self.path)

    def __str__(self) -> str:
        places = []
        if self.entry:
            places.append(f"entry {printable(self.entry)!r}")
        if self.offset is not None:
            places.append(f"at {self.offset:#x}")
        parts = [printable(self.path), " ".join(places), f"{printable(self.message)} [{self.code}]"]
        return ": ".join(part for part in parts if part)


class NotFoundError(Error, KeyError):
    """The archive has no tensor or entry of this name."""

    __str__ = Error.__str__  # KeyError shows the repr of its argument


class OutputExistsError(Error, FileExistsError):
    """The output exists and `overwrite` is False. Nothing was written."""

    def __init__(self, code: str, message: str, entry: str = "", offset: int | None = None, path: str = "") -> None:
        super().__init__(code, message, entry, offset, path)
        self.errno, self.strerror, self.filename = errno.EEXIST, message, path

    __str__ = Error.__str__  # OSError would format errno and filename


@dataclasses.dataclass(frozen=True)
class Finding:
    """A result of `check`, or a remark of an operation. `severity` is "error", "warning" or "note"."""

    severity: str
    code: str
    entry: str
    offset: int | None
    message: str


_KINDS: dict[str, type[Error]] = {"output.exists": OutputExistsError, "usage.no_such_entry": NotFoundError}


def in_words(message: str, hint: str, value: str) -> str:
    """Appends the library's advice, in the words of this package, to a message."""
    advice = _hints.in_words(hint, value)
    return f"{message}; {advice}" if advice else message


def make_error(
    code: str, message: str, entry: str, offset: int | None, path: str, hint: str = "", value: str = ""
) -> Error:  # fmt: skip
    """Returns the exception for a code. The extension module calls this function, too."""
    return _KINDS.get(code, Error)(code, in_words(message, hint, value), entry, offset, path)


def usage(message: str, entry: str = "", path: str = "") -> Error:
    return Error("usage.argument", message, entry, None, path)


def printable(text: str) -> str:
    """Escapes control characters, and the surrogates of bytes that are not UTF-8."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

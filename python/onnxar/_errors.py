"""The exceptions, and the findings of `check`."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
from collections.abc import Iterator

from onnxar import _core


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
    """There is no tensor or entry of this name."""

    __str__ = Error.__str__  # KeyError shows the repr of its argument


class ArgumentError(Error, ValueError):
    """An argument has a value that the function does not accept."""


class FormatError(Error, ValueError):
    """The bytes of a model or archive are not what the format requires: codes zip.*, archive.*, wire.*, onnx.*,
    numpy.*, safetensors.*, signature.*, except archive.busy."""


class FileError(Error, OSError):
    """The system or a server cannot read or write a file, or the file changed during the call: codes io.* and remote.*."""

    _errno: int | None = errno.EIO

    def __init__(self, code: str, message: str, entry: str = "", offset: int | None = None, path: str = "") -> None:
        super().__init__(code, message, entry, offset, path)
        self.errno, self.strerror, self.filename = self._errno, message, path or None
        if code == "io.disk_full":
            self.errno = errno.ENOSPC

    __str__ = Error.__str__  # OSError would format errno and filename


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder does not exist."""

    _errno = errno.ENOENT


class AccessError(FileError, PermissionError):
    """The system does not permit the access."""

    _errno = errno.EACCES


class OutputExistsError(FileError, FileExistsError):
    """The output exists and `overwrite` is False. Nothing was written."""

    _errno = errno.EEXIST


for _class in (Error, NotFoundError, ArgumentError, FormatError, FileError, MissingFileError, AccessError, OutputExistsError):
    _class.__module__ = "onnxar"  # what programs import, for tracebacks and pickles


@dataclasses.dataclass(frozen=True)
class Finding:
    """A result of `check`, or a remark of an operation. `severity` is "error", "warning" or "note"."""

    severity: str
    code: str
    entry: str
    offset: int | None
    message: str


_OF_CODES: dict[str, type[Error]] = {
    "archive.busy": Error,
    "io.not_found": MissingFileError,
    "io.permission": AccessError,
    "output.exists": OutputExistsError,
    "remote.address": ArgumentError,
    "usage.ambiguous_tensor": NotFoundError,
    "usage.argument": ArgumentError,
    "usage.no_such_entry": NotFoundError,
    "usage.no_such_tensor": NotFoundError,
    "usage.own_name": ArgumentError,
}
_OF_AREAS: dict[str, type[Error]] = {
    "archive": FormatError,
    "io": FileError,
    "numpy": FormatError,
    "onnx": FormatError,
    "remote": FileError,
    "safetensors": FormatError,
    "signature": FormatError,
    "wire": FormatError,
    "zip": FormatError,
}


def class_of(code: str) -> type[Error]:
    """Returns the class of the exceptions with this code."""
    return _OF_CODES.get(code) or _OF_AREAS.get(code.partition(".")[0], Error)


def in_words(message: str, hint: str, value: str) -> str:
    """Appends the library's advice, in the words of this package, to a message. Advice that identifies a file's real type comes first."""
    advice = _core.hint_words(hint, value)
    if advice and hint.startswith("kind."):
        return f"{advice} ({message})"
    return f"{message}; {advice}" if advice else message


def make_error(
    code: str, message: str, entry: str, offset: int | None, path: str, hint: str = "", value: str = ""
) -> Error:  # fmt: skip
    """Returns the exception for a code. The extension module calls this function, too."""
    return class_of(code)(code, in_words(message, hint, value), entry, offset, path)


def fault(code: str, message: str, entry: str = "", path: str = "") -> Error:
    return make_error(code, message, entry, None, path)


def unreadable(error: OSError, path: str) -> Error:
    """Returns this package's error for an error of the system."""
    return fault(code_of(error), error.strerror or str(error), path=path)


def code_of(error: OSError) -> str:
    codes = {errno.ENOENT: "io.not_found", errno.EACCES: "io.permission", errno.EPERM: "io.permission", errno.ENOSPC: "io.disk_full"}
    return codes.get(error.errno or 0, "io.failed")


def usage(message: str, entry: str = "", path: str = "") -> Error:
    return ArgumentError("usage.argument", message, entry, None, path)


def changed_while_read(entry: str = "", path: str = "") -> Error:
    return fault("io.changed", "the file was changed while it was read; try again", entry, path)


def expect_list_of(what: str, argument: str, value: object) -> None:
    """Refuses a text, whose characters would be taken for the items of a list."""
    if isinstance(value, str):
        raise usage(f"{argument} is the text {value!r}; it must be a list of {what}")


@contextlib.contextmanager
def without_folder(folder: str, name: str = "") -> Iterator[None]:
    """Raises errors of files in a temporary folder, which no longer exists when users read them, as errors of `name`, or of a model in memory."""
    try:
        yield
    except Error as error:
        message = error.message.replace(f"is not in {folder}; put it beside the model, or name its folder", "has no folder, since the model is in memory; name one")
        if not error.path.startswith(folder) and message == error.message:
            raise
        path = name if error.path.startswith(folder) else error.path
        raise make_error(error.code, message, error.entry, error.offset, path) from None


_PIP_NAMES = {"google": "protobuf", "ml_dtypes": "ml_dtypes", "onnx": "onnx", "onnx_ir": "onnx_ir", "onnxruntime": "onnxruntime", "torch": "torch"}


@contextlib.contextmanager
def needs(what: str) -> Iterator[None]:
    """If an import in the block does not find an optional package, says what needs it and how to install it. Raises ModuleNotFoundError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (package := _PIP_NAMES.get((error.name or "").partition(".")[0])) is None:
            raise
        raise ModuleNotFoundError(f"{what} needs the package {package}, which is not installed: pip install {package}", name=error.name) from None


def printable(text: str) -> str:
    """Escapes control characters, and the surrogates of bytes that are not UTF-8."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


_core.raise_by(make_error)

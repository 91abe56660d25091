"""The command `onnxar` that the wheel brings along, for what takes protobuf: as a process of its own it brings none into
the caller's, where another may be."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from typing import Any

from onnxar._errors import Error, make_error
from onnxar._options import Path, serialised

_DONE, _DIFFERENT, _USAGE = 0, 1, 2  # exit codes
_ERROR = re.compile(r"^onnxar: error\[([\w.]+)\] (.*)$", re.MULTILINE)
_PLACE = re.compile(r'(?:entry "(.*?)"(?: \(\d+ bytes\))?)?(?: ?at 0x([0-9a-f]+))?: (.*)')  # a long name is cut


@functools.cache
def executable() -> str:
    """The command that was installed with the package; whatever else is called so on PATH does not count."""
    import importlib.metadata  # takes as long as the rest of the package

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("onnxar") or []:
            if file.name == "onnxar" and ".." in file.parts and os.path.isfile(path := os.path.abspath(str(file.locate()))):
                return path
    target = pathlib.Path(__file__).parents[1] / "bin"  # where `pip install --target` puts it
    for folder in (pathlib.Path(sysconfig.get_path("scripts")), target):
        if (folder / "onnxar").is_file():
            return str(folder / "onnxar")
    raise Error("io.not_found", "the command `onnxar` is not where the wheel puts it; installing onnxar anew puts it there")


@contextlib.contextmanager
def readable(model: Any) -> Iterator[str]:
    """A path under which the command can read the model, which may be in memory; errors do not name that one."""
    if isinstance(model, str | os.PathLike):
        yield os.path.abspath(model)
        return
    data = serialised(model)
    with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
        path = os.path.join(folder, "model.onnx")
        pathlib.Path(path).write_bytes(data)
        try:
            yield path
        except Error as error:
            if error.path != path:
                raise
            raise make_error(error.code, error.message, error.entry, error.offset, "") from None


def options(**given: bool | int | Path | None) -> list[str]:
    """`--name` of what is True, `--name=value` of numbers and texts, nothing of None and False."""
    words = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={value if isinstance(value, int) else os.fspath(value)}")
    return words


def run(verb: str, *arguments: str) -> Any:
    """What the verb prints as JSON. What interrupts this, ends the command. Errors: those that the command has."""
    command = [executable(), verb, "--json", "--quiet", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            printed, said = process.communicate()
        except BaseException:
            process.kill()
            process.wait()
            raise
    if process.returncode not in (_DONE, _DIFFERENT):
        paths = {word.partition("=")[2] if word.startswith("--") else word for word in arguments}
        raise _error(said.decode("utf-8", "surrogateescape"), process.returncode, paths)
    return json.loads(printed)


def _error(said: str, exit_code: int, paths: set[str]) -> Error:
    """The error that the command ended with, told apart into its parts again."""
    line = _ERROR.search(said)
    if line is None:
        code = "usage.argument" if exit_code == _USAGE else "io.failed"
        return make_error(code, said.strip() or f"the command `onnxar` ended with {exit_code}", "", None, "")
    code, message, path = line[1], line[2], ""
    for colon in re.finditer(": ", message):
        if _unescaped(message[: colon.start()]) in paths:
            path, message = _unescaped(message[: colon.start()]), message[colon.end() :]
            break
    entry, offset = "", None
    if place := _PLACE.fullmatch(message):
        entry, offset, message = _unescaped(place[1] or ""), int(place[2], 16) if place[2] else None, place[3]
    return make_error(code, message, entry, offset, path)


_ESCAPE = re.compile(rb"\\\\|\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def _unescaped(text: str) -> str:
    """The reverse of the library's `escaped`."""

    def meant(escape: re.Match[bytes]) -> bytes:
        byte, *code_points = escape.groups()
        if byte:
            return bytes([int(byte, 16)])
        return next((chr(int(each, 16)).encode("utf-8", "surrogatepass") for each in code_points if each), b"\\")

    return _ESCAPE.sub(meant, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

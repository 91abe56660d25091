"""Runs the command `onnxar` of the wheel for functions that need protobuf.

A separate process keeps our protobuf out of the caller's process, which may have a different version.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from onnxar import _remote
from onnxar._errors import Error, fault, make_error, without_folder
from onnxar._options import Path
from onnxar._paths import is_remote, name_of
from onnxar._progress import Report
from onnxar._proto import is_model, write
from onnxar._sources import model_of

_DONE, _DIFFERENT = 0, 1  # exit codes
TEMPORARY = "onnxar_"  # prefix of the names of temporary folders


@functools.cache
def executable() -> str:
    """Returns the path of the command that was installed with the package. Others on PATH are ignored. Raises io.permission if
    the system does not run it: programs that unzip a wheel, such as Python's zipfile, make no file executable."""
    if not (path := _installed()):
        raise fault("io.not_found", "the command `onnxar` is missing from the installation; reinstall the package onnxar")
    if not os.access(path, os.X_OK):
        raise fault("io.permission", f"the command of the package cannot be executed; run `chmod +x {shlex.quote(path)}`, or install the wheel with pip", path=path)
    return path


def _installed() -> str:
    """Returns the path of the command, or an empty text if it is missing."""
    import importlib.metadata  # imported late: takes as long as the rest of the package

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("onnxar") or []:
            # In an unzipped wheel, the command stays in `onnxar-1.0.0.data/scripts`.
            is_command = file.name == "onnxar" and (".." in file.parts or file.parts[-2:-1] == ("scripts",))
            if is_command and os.path.isfile(path := os.path.abspath(str(file.locate()))):
                return path
    above = pathlib.Path(__file__).parents
    target = above[1] / "bin"  # where `pip install --target` puts it
    # A distribution's package lists no files, and has the command in the prefix of its modules: /usr/bin for /usr/lib/python3/dist-packages.
    prefix = [above[4] / "bin"] if len(above) > 4 and above[3].name in ("lib", "lib64") else []
    for folder in (*prefix, pathlib.Path(sysconfig.get_path("scripts")), target):
        if (folder / "onnxar").is_file():
            return str(folder / "onnxar")
    return ""


@contextlib.contextmanager
def readable(model: Any, *, weights: bool = True) -> Iterator[str]:
    """Yields a path from which the command can read the model. A model in memory, or at an address, is written to a temporary
    file, whose name errors do not mention; a ModelProto is written tensor by tensor, at any size. With `weights=False`, the
    data of weights in a ModelProto or at an address is left out."""
    file = _remote.remote_file(model, None) if is_remote(model) else model_of(model)
    if isinstance(file, str):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
        path = os.path.join(folder, "model.onnx")
        name = file.name if _remote.is_read_in_ranges(file) else ""
        try:
            _write(file, path, weights)
        except OSError as error:
            if isinstance(error, Error):
                raise
            code = "io.disk_full" if error.errno == errno.ENOSPC else "io.failed"
            raise fault(code, f"the model cannot be written to this temporary folder: {error.strerror}; set TMPDIR to another one", path=folder) from error
        with without_folder(folder, name):
            yield path


def name_for(model: Any, path: str, file: str) -> str:
    """Returns the name of a file in a result about a model that was read from `path`: empty for a model in memory, the address
    for a model at an address."""
    if is_remote(model) and file == path:
        return name_of(model)
    folder = os.path.dirname(path)
    if not os.path.basename(folder).startswith(TEMPORARY) or os.path.exists(folder) or not file.startswith(folder):
        return file
    return "" if file == path else os.path.relpath(file, folder)


def _write(file: Any, path: str, weights: bool) -> None:
    if _remote.is_read_in_ranges(file):
        (_remote.save_whole if weights else _remote.save_outline)(file, path)
        return
    with open(path, "wb") as output:
        if is_model(file):
            write(file, output, weights=weights)
        else:
            output.write(file)


def options(**given: bool | int | Path | None) -> list[str]:
    """Returns `--name` for True, `--name=value` for numbers and texts, and nothing for None and False."""
    words = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={value if isinstance(value, int) else os.fspath(value)}")
    return words


def run(verb: str, *arguments: str, tell: Report | None = None) -> Any:
    """Returns the JSON that the verb prints. Raises the errors of the command."""
    return json.loads(output(verb, "--json", "--quiet", *arguments, tell=tell))


def output(verb: str, *arguments: str, tell: Report | None = None) -> bytes:
    """Returns the bytes that the verb prints. Calls `tell` while it works. An interrupt, or an exception from `tell`, also ends
    the command. Raises the errors of the command."""
    command = [executable(), "--json-errors", *(["--json-progress"] if tell else []), verb, *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            printed, said = process.communicate() if tell is None else _followed(process, tell)
        except BaseException:
            process.kill()
            process.wait()
            raise
    if process.returncode not in (_DONE, _DIFFERENT):
        raise _error(said.decode("utf-8", "replace"), process.returncode, arguments)
    return printed


def _followed(process: subprocess.Popen[bytes], tell: Report) -> tuple[bytes, bytes]:
    """Returns what the command printed on both streams. Its reports of progress are passed on, in this thread."""
    assert process.stdout is not None and process.stderr is not None
    printed, said = [], []
    reader = threading.Thread(target=lambda stream: printed.append(stream.read()), args=(process.stdout,))
    reader.start()
    try:
        for line in process.stderr:
            if not line.startswith(b'{"progress":'):
                said.append(line)
                continue
            report = json.loads(line)["progress"]
            tell(report["done"], report["total"])
    except BaseException:
        process.kill()  # the other thread waits for its end
        raise
    finally:
        reader.join()
    process.wait()
    return b"".join(printed), b"".join(said)


def _error(said: str, exit_code: int, arguments: tuple[str, ...]) -> Error:
    """Returns the error that the command printed. A killed command prints none."""
    try:
        printed = json.loads(said.splitlines()[-1])["error"]
    except (IndexError, ValueError, KeyError, TypeError):
        return make_error("io.failed", said.strip() or f"the command `onnxar` ended with {exit_code}", "", None, "")
    hint = printed["hint"] or {"id": "", "value": ""}
    path = _as_given(printed["path"] or "", arguments)
    return make_error(printed["code"], printed["message"], printed["entry"] or "", printed["offset"], path, hint["id"], hint["value"])


def _as_given(path: str, arguments: tuple[str, ...]) -> str:
    """Returns the argument that names `path`, else `path`. JSON is UTF-8 and may not represent the bytes of a path."""
    given = [word.partition("=")[2] if word.startswith("--") else word for word in arguments]
    return next((each for each in given if os.fsencode(each).decode("utf-8", "replace") == path), path)

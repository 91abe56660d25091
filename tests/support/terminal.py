"""Runs the tool on a pseudo-terminal, as a person does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from typing import Any

from support.command_line import skip_without_model

SECONDS = 60  # a test that waits longer has failed


class Terminal:
    """A pseudo-terminal of some columns. `slave` is what the tool writes to."""

    def __init__(self, columns: int) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def run(self, *arguments: object, streams: tuple[str, ...] = ("stdout", "stderr"), **environment: str) -> tuple[int, str]:
        """Runs the tool with these streams on the terminal, and returns the exit code and what the terminal got."""
        process = self.start(*arguments, streams=streams, **environment)
        text = self.read_all(process)
        skip_without_model(text)
        return process.wait(SECONDS), text

    def start(self, *arguments: object, streams: tuple[str, ...], **environment: str) -> subprocess.Popen[bytes]:
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        given.update(dict.fromkeys(streams, self.slave))
        kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        command = [os.environ["ONNXAR"], *map(str, arguments)]
        return subprocess.Popen(command, env={**kept, "TERM": "xterm", **environment}, **given)

    def read_some(self, wait: float) -> bytes:
        """What arrives within so many seconds."""
        if not select.select([self.master], [], [], wait)[0]:
            return b""
        return os.read(self.master, 1 << 16)

    def read_all(self, process: subprocess.Popen[bytes]) -> str:
        """What the terminal gets until the process has ended. The other streams must need no reader."""
        text = b""
        while process.poll() is None:
            text += self.read_some(0.05)
        while more := self.read_some(0):
            text += more
        return text.decode()

    def close(self) -> None:
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def terminal(columns: int = 80) -> Iterator[Terminal]:
    opened = Terminal(columns)
    try:
        yield opened
    finally:
        opened.close()

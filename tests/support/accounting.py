"""Counts the bytes that a process wrote to files and streams, from the kernel's accounting."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def _account(process: subprocess.Popen) -> int:
    fields = Path(f"/proc/{process.pid}/io").read_text().split()
    return int(fields[fields.index("wchar:") + 1])


def written(process: subprocess.Popen) -> int:
    """How many bytes a process has written so far; -1 once it has ended."""
    return -1 if process.poll() is not None else _account(process)


def bytes_written(command: Sequence[str]) -> int:
    """Runs the command to its end; raises CalledProcessError if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # the account ends when the process is reaped
    total = _account(process)
    if process.wait() != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return total

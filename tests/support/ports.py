"""Ports of servers that tests start."""

from __future__ import annotations

import socket
import subprocess
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Waits until the server accepts connections."""
    for _ in range(1000):
        if process.poll() is not None:
            raise AssertionError(f"{process.args[0]} ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"{process.args[0]} does not listen")

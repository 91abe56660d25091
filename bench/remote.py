"""Measures archives at an address: nginx on this machine, and a relay that adds 20 ms to each round trip (relay.py).

Peers read the same tensors from files of the same sizes (remote_peers.py): a zip by zipfile over fsspec, safetensors by
ranges, GGUF by Hugging Face's reader. Needs Debian's nginx-light and curl, and Node from build/node_venv, which `./dev bench` makes.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from measure import MIB, ROOT, TOOL, median_of
from remote_peers import GGUF_READER, Gguf, by_python, quietly, write_gguf, write_safetensors
from report import Section

sys.path.insert(0, str(ROOT / "tests"))

from support.sparse_archive import write_sparse_archive

ROUND_TRIP = 0.02  # seconds
TENSORS = 10_000
DOWNLOAD = 512 * MIB
CONNECTIONS = 8
CONFIGURATION = """
daemon off; pid {home}/pid; error_log {home}/error.log; user {user}; worker_processes 1;
events {{ }}
http {{
  log_format short '$bytes_sent $request_method $status $http_range';
  access_log {home}/access.log short;
  client_body_temp_path {home}/a; proxy_temp_path {home}/b; fastcgi_temp_path {home}/c;
  uwsgi_temp_path {home}/d; scgi_temp_path {home}/e;
  sendfile on;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """nginx, and the relay before it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.home = folder / "nginx"
        self.home.mkdir()
        self.port, behind = free_port(), free_port()
        user = "root" if os.geteuid() == 0 else pathlib.Path.home().owner()
        (self.home / "nginx.conf").write_text(CONFIGURATION.format(home=self.home, user=user, port=behind, folder=folder))
        command = ["nginx", "-p", str(self.home), "-c", str(self.home / "nginx.conf")]
        self.processes = [subprocess.Popen(command, stderr=subprocess.DEVNULL)]
        relay = [sys.executable, str(ROOT / "bench/relay.py"), str(self.port), str(ROUND_TRIP / 2), f"127.0.0.1:{behind}"]
        self.processes.append(subprocess.Popen(relay, stdout=subprocess.PIPE))
        output = self.processes[1].stdout
        assert output and output.readline() == b"ready\n"

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def answers(self, action: Callable[[], object]) -> list[int]:
        """The bytes of each answer to the requests that the action makes."""
        log = self.home / "access.log"
        before = len(log.read_text().splitlines()) if log.exists() else 0
        action()
        time.sleep(0.1)
        return [int(line.split()[0]) for line in log.read_text().splitlines()[before:]]

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def serving(folder: pathlib.Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.close()


def by_curl(address: str, size: int, folder: pathlib.Path) -> Callable[[], None]:
    """As many connections as `get` has, each for one part. The parts are not joined."""
    step = -(-size // CONNECTIONS)
    command: list[object] = ["curl", "-s", "-Z", "--parallel-max", CONNECTIONS, "--fail"]
    for index in range(CONNECTIONS):
        begin = index * step
        if index:
            command += ["--next", "-s", "--fail"]
        command += ["-r", f"{begin}-{min(begin + step, size) - 1}", "-o", folder / f"part{index}", address]
    return quietly(*command)


def measure(folder: pathlib.Path, runs: int) -> Section:
    section = Section(
        "Archives at an address",
        f"A relay before nginx adds {ROUND_TRIP * 1000:.0f} ms to each round trip. The files are sparse and have 10 GiB in {TENSORS} tensors. "
        "Times are those of whole commands, including the start of Python. "
        f"Bars: at most 3 requests list the archive, at most 2 more read a tensor; a download takes at most 1.11 x that of curl with {CONNECTIONS} connections",
        ("what", "requests", "time"),
    )  # fmt: skip
    gguf = Gguf()
    for name, count, size in (("many", TENSORS, MIB), ("large", 10 * 1024 // 4, 4 * MIB)):
        write_sparse_archive(folder / f"{name}.onnxar", count, size)
        write_safetensors(folder / f"{name}.safetensors", count, size)
        write_gguf(folder / f"{name}.gguf", count, size)
    with serving(folder) as server:
        address = server.address

        def row(what: str, action: Callable[[], None]) -> None:
            count = len(server.answers(action))
            section.row(what, str(count), f"{median_of(action, runs):.2f} s")

        row("list 10 000 tensors: `onnxar ls`", quietly(TOOL, "ls", address("many.onnxar")))
        row("— `onnxar.open` of Python", by_python("onnxar", address("many.onnxar")))
        row("— zipfile over fsspec (names alone)", by_python("zip", address("many.onnxar")))
        row("— safetensors by ranges", by_python("safetensors", address("many.safetensors")))
        row(f"— GGUF by {GGUF_READER}", gguf(address("many.gguf")))
        row("open, and read one tensor of 4 MiB: `onnxar cat`", quietly(TOOL, "cat", address("large.onnxar"), "w1000"))
        row("— `onnxar.open` of Python", by_python("onnxar", address("large.onnxar"), "w1000"))
        row("— zipfile over fsspec", by_python("zip", address("large.onnxar"), "w1000"))
        row("— safetensors by ranges", by_python("safetensors", address("large.safetensors"), "w1000"))
        row(f"— GGUF by {GGUF_READER}", gguf(address("large.gguf"), "w1000", 4 * MIB))
        download(section, server, folder, runs)
    return section


def download(section: Section, server: Server, folder: pathlib.Path, runs: int) -> None:
    write_sparse_archive(folder / "get.onnxar", DOWNLOAD // (64 * MIB), 64 * MIB)
    size, address = (folder / "get.onnxar").stat().st_size, server.address("get.onnxar")
    get = quietly(TOOL, "get", address, "-o", folder / "out.onnxar", "-f", "-c", CONNECTIONS, "--no-sync")
    curl = by_curl(address, size, folder)
    times: list[tuple[float, float]] = []
    for _ in range(runs):
        times.append((median_of(get, 1), median_of(curl, 1)))
    ours, theirs = (sorted(column)[len(column) // 2] for column in zip(*times, strict=True))
    section.row(f"download {size // MIB} MiB: `onnxar get`, which compares all CRC-32s", "", f"{ours:.2f} s ({theirs / ours:.2f} x curl's speed)")
    section.row(f"— curl, {CONNECTIONS} parts", "", f"{theirs:.2f} s")

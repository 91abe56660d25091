"""Measures archives on a network file system: sshfs over TCP to this machine, with an added delay (relay.py).

Needs root or the right to mount by FUSE, and Debian's sshfs and openssh-sftp-server.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from measure import ROOT, into_cache, touch_memory
from report import Section
from sessions import worker

SFTP_SERVER = os.environ.get("SFTP_SERVER", "/usr/lib/openssh/sftp-server")
DELAYS = (0, 0.0005, 0.002)  # seconds each way
WAYS = {
    "mapped": ("none", 0),
    "mapped, `will_need`": ("will_need", 0),
    "mapped, `populate`": ("populate", 0),
    "copied in, 1 thread": ("copy", 1),
    "copied in, 2 threads": ("copy", 2),
    "copied in, 8 threads": ("copy", 8),
}


@contextlib.contextmanager
def relayed(delay: float) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(ROOT / "bench/relay.py"), str(port), str(delay), SFTP_SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as relay:
        try:
            assert relay.stdout and relay.stdout.readline() == b"ready\n"
            yield port
        finally:
            relay.kill()


@contextlib.contextmanager
def mounted(folder: pathlib.Path, place: pathlib.Path, port: int) -> Iterator[None]:
    """Mounts `folder`. A new mount starts with an empty cache on the client."""
    subprocess.run(["sshfs", "-o", f"directport={port},ro", f"localhost:{folder}", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["fusermount3", "-u", str(place)], check=True)


def round_trip(place: pathlib.Path) -> float:
    def once() -> float:
        begin = time.perf_counter()
        os.statvfs(place)
        return time.perf_counter() - begin

    return statistics.median(once() for _ in range(20))


def measure(folder: pathlib.Path, runs: int, scale: float = 1) -> Section:
    section = Section("Network file system", f"An archive of {int(1024 * scale)} MiB in tensors of 16 MiB, from Python: `onnxar.open` and a byte of every page, in a separate process; "
                      "seconds, medians. sshfs 3 over TCP without encryption to the same machine, with the given delay for a round trip; a new mount "
                      "for each run, so the client's cache is empty and the server's is warm.", ("way", *(f"{2000 * delay:g} ms" for delay in DELAYS)))
    if not shutil.which("sshfs") or not pathlib.Path(SFTP_SERVER).exists():
        raise SystemExit("network: needs sshfs and sftp-server: apt-get install sshfs openssh-sftp-server")
    served, place = folder / "served", folder / "mount"
    served.mkdir()
    place.mkdir()
    sums = {worker("weights", served / "m.onnxar", int(64 * scale))["sum"]}
    into_cache(served / "m.onnxar")
    touch_memory()
    rows: dict[str, list[str]] = {name: [] for name in WAYS}
    trips = []
    for delay in DELAYS:
        with relayed(delay) as port:
            seconds: dict[str, list[float]] = {name: [] for name in WAYS}
            for _ in range(runs):
                for name, (how, threads) in WAYS.items():
                    with mounted(served, place, port):
                        trip = round_trip(place)
                        figures = worker("touch", place / "m.onnxar", how, threads)
                    seconds[name].append(figures["seconds"])
                    sums.add(figures["sum"])
        trips.append(f"{1000 * trip:.1f} ms")
        for name, times in seconds.items():
            rows[name].append(f"{statistics.median(times):.2f}")
    if len(sums) != 1:
        raise SystemExit(f"the runs read different bytes: {sums}")
    section.row("a round trip, measured", *trips)
    for name, cells in rows.items():
        section.row(name, *cells)
    return section

"""Compares `digest` with sha256sum of the same file, and with OpenSSL, which also uses the processor's instructions."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

import numpy as np
from measure import GIB, MIB, TOOL, into_cache, pairs, ratio_of, run, verdict
from report import Section

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
from support.archives import Archive, Entry, model_of

BAR = 0.8


def make_archive(path: pathlib.Path, entries: int, size: int) -> None:
    random = np.random.default_rng(5)
    data = [Entry(f"{i}.bin", random.bytes(size // entries)) for i in range(entries)]
    path.write_bytes(Archive([*data, model_of()]).file)


def expected(path: pathlib.Path) -> str:
    """By zipfile and hashlib."""
    with zipfile.ZipFile(path) as archive:
        lines = (f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n" for name in sorted(archive.namelist()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def quiet(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(folder: pathlib.Path, count: int, gib: float) -> Section:
    section = Section("Digests", "Medians of interleaved pairs, page cache warm. The peers hash the archive's file in one thread; with N threads, the bar is for "
                      "N times their speed. coreutils' sha256sum is plain C here.", ("what", "figure", "bar"))  # fmt: skip
    cores = os.cpu_count() or 1
    for what, entries in (("64 entries", 64), ("one entry", 1)):
        path = folder / f"{entries}.onnxar"
        make_archive(path, entries, int(gib * GIB) // MIB * MIB)
        run([TOOL, "check", "-q", "--data", str(path)])
        found = subprocess.run([TOOL, "digest", str(path)], check=True, capture_output=True, text=True).stdout.strip()
        if found != expected(path):
            raise SystemExit(f"{path}: the digest is wrong")
        into_cache(path)
        for threads in sorted({1, cores if entries > 1 else 1}):
            for peer, command in (("sha256sum", ["sha256sum", str(path)]), ("openssl dgst -sha256", ["openssl", "dgst", "-sha256", str(path)])):
                compare(section, f"`digest -j {threads}`, {what}, {gib:g} GiB", path, threads, peer, command, count)
        path.unlink()
    return section


def compare(section: Section, what: str, path: pathlib.Path, threads: int, peer: str, command: list[str], count: int) -> None:
    ours = [TOOL, "digest", "-q", "-j", str(threads), str(path)]
    times = pairs(lambda: quiet(ours), lambda: quiet(command), count, lambda: None)
    best = [path.stat().st_size / min(column) / 1e9 for column in zip(*times)]
    ratio = ratio_of(times) / threads
    figure = f"{ratio:.2f} x {f'{threads} x ' if threads > 1 else ''}`{peer}` (best: {best[0]:.2f} against {best[1]:.2f} GB/s)"
    section.row(what, figure, verdict(f"{BAR} x", ratio >= BAR) if peer == "sha256sum" else "")

"""Compares `repack` of stored zips with `cp`, of deflated zips with zlib's inflate, and runs both under the limit of memory."""

from __future__ import annotations

import os
import pathlib
import subprocess
import zipfile
import zlib

import models
import numpy as np
from measure import GIB, MIB, TOOL, Action, into_cache, median_of, pairs, ratio_of, run, touch_memory, verdict
from report import Section

LIMIT = 64 * MIB


def make_zip(path: pathlib.Path, model: pathlib.Path, data: pathlib.Path, method: int) -> None:
    with zipfile.ZipFile(path, "w", method, compresslevel=6) as file:
        file.write(model, "model.onnx")
        file.write(data, data.name)


def make_weights(path: pathlib.Path, size: int) -> None:
    """Writes floats of few digits, like quantised weights, which deflate compresses to about a half."""
    random = np.random.default_rng(3)
    with open(path, "wb") as file:
        for _ in range(size // (16 * MIB)):
            values = random.standard_normal(4 * MIB, np.float32)
            file.write((values.view(np.uint32) & np.uint32(0xFFFF0000)).tobytes())


def expect_same_bytes(archive: pathlib.Path, data: pathlib.Path) -> None:
    """Compares the entry with the file by Python's zipfile, which checks the CRC-32 as well."""
    subprocess.run([TOOL, "check", "-q", "--data", str(archive)], check=True, stdout=subprocess.DEVNULL)
    with zipfile.ZipFile(archive) as entries, entries.open(data.name) as entry, open(data, "rb") as file:
        while piece := file.read(16 * MIB):
            if entry.read(len(piece)) != piece:
                raise SystemExit(f"{archive}: the bytes of {data.name} are wrong")


class Race:
    """Compares `repack` of a zip with another program that reads the same bytes."""

    def __init__(self, source: pathlib.Path, data: pathlib.Path) -> None:
        self.source, self.data = source, data
        self.ours, self.theirs = source.with_suffix(".onnxar"), source.with_suffix(".copy")
        self.repack()()
        expect_same_bytes(self.ours, data)

    def clean(self) -> None:
        for path in (self.ours, self.theirs):
            path.unlink(missing_ok=True)

    def prepare(self) -> None:
        self.clean()
        os.sync()
        touch_memory()
        into_cache(self.source)

    def repack(self, *flags: str) -> Action:
        return lambda: run([TOOL, "repack", "-q", *flags, str(self.source), "-o", str(self.ours)])

    def inflate(self) -> None:
        """Inflates the data entry by zlib piece by piece, and discards the output."""
        with zipfile.ZipFile(self.source) as file:
            info = file.getinfo(self.data.name)
        with open(self.source, "rb") as file:
            file.seek(info.header_offset + 30 + len(info.filename))
            stream, left = zlib.decompressobj(-15), info.compress_size
            while left:
                piece = stream.unconsumed_tail or file.read(min(left, MIB))
                left -= 0 if stream.unconsumed_tail else len(piece)
                stream.decompress(piece, 4 * MIB)
            while stream.unconsumed_tail:
                stream.decompress(stream.unconsumed_tail, 4 * MIB)


def measure(folder: pathlib.Path, count: int, gib: float) -> Section:
    section = Section("Repacking", "Medians of interleaved pairs, prepared as for packing. `cp` copies the zip that `repack` reads; "
                      "zlib inflates the data of the deflated zip and discards it.", ("what", "figure", "bar"))
    _, model = models.make_large(folder, int(gib * GIB))
    data = folder / "external.data"
    stored = folder / "stored.zip"
    make_zip(stored, model, data, zipfile.ZIP_STORED)
    measure_stored(section, Race(stored, data), count)
    measure_deflated(section, folder, count, int(gib * GIB / 8))
    return section


def measure_stored(section: Section, race: Race, count: int) -> None:
    size = race.source.stat().st_size
    copy = ["cp", str(race.source), str(race.theirs)]
    synced = ["sh", "-c", f"cp '{race.source}' '{race.theirs}' && sync '{race.theirs}'"]
    for what, ours, peer, theirs, bar in (("`repack --no-sync`", race.repack("--no-sync"), "cp", copy, 1.25),
                                          ("`repack`", race.repack(), "cp && sync FILE", synced, 1.1)):
        times = pairs(ours, lambda command=theirs: run(command), count, race.prepare)
        best = [size / min(column) / 1e9 for column in zip(*times)]
        ratio = ratio_of(times)
        section.row(f"{what}, stored, {size / GIB:.1f} GiB", f"{ratio:.2f} x `{peer}` (best: {best[0]:.2f} against {best[1]:.2f} GB/s)",
                    verdict(f"{bar} x", ratio >= bar))
    race.clean()
    under_limit(section, race, "stored", "repack")


def measure_deflated(section: Section, folder: pathlib.Path, count: int, size: int) -> None:
    data, deflated = folder / "few_digits.data", folder / "deflated.zip"
    make_weights(data, size)
    link = onnx_link(data)
    make_zip(deflated, link, data, zipfile.ZIP_DEFLATED)
    race = Race(deflated, data)
    times = pairs(race.repack("--no-sync"), race.inflate, count, race.prepare)
    best = [data.stat().st_size / min(column) / 1e9 for column in zip(*times)]
    share = deflated.stat().st_size / data.stat().st_size
    section.row(f"`repack --no-sync`, {data.stat().st_size / GIB:.2f} GiB deflated to {share:.0%}",
                f"{ratio_of(times):.2f} x zlib's inflate alone ({best[0]:.2f} against {best[1]:.2f} GB/s)")
    seconds = median_of(lambda: run([TOOL, "pack", "-q", "--no-sync", str(deflated), "-o", str(race.ours)]), 3, race.prepare)
    section.row("`pack --no-sync` of the deflated zip", f"{data.stat().st_size / seconds / 1e9:.2f} GB/s")
    race.clean()
    for verb in ("repack", "pack"):
        under_limit(section, race, "deflated", verb)


def onnx_link(data: pathlib.Path) -> pathlib.Path:
    """Makes a model whose only tensor is the file."""
    size = data.stat().st_size
    tensor = models.onnx.TensorProto(name="w", data_type=models.onnx.TensorProto.UINT8, dims=[size])
    models.link(tensor, data.name, 0, size)
    path = data.with_suffix(".onnx")
    path.write_bytes(models.plain([tensor]))
    return path


def under_limit(section: Section, race: Race, label: str, verb: str) -> None:
    """Runs the verb under a limit of private writable memory, which the kernel enforces."""
    run(["prlimit", f"--data={LIMIT}", TOOL, verb, "-q", "--no-sync", str(race.source), "-o", str(race.ours)])
    section.row(f"`{verb}` of the {label} zip under `prlimit --data={LIMIT}`", "runs", "64 MiB: met")
    race.clean()

"""Measures how time grows with bytes and with entries, warm and cold, and the cost of a cold start."""

from __future__ import annotations

import os
import pathlib
import subprocess

import models
from measure import GIB, MIB, TOOL, into_cache, median_of, out_of_cache, run, touch_memory
from report import Section

BYTES = (64 * MIB, 256 * MIB, GIB, 2 * GIB, 4 * GIB, 8 * GIB)
ENTRIES = (100, 1000, 10_000, 50_000, 200_000)


def pack(model: pathlib.Path, archive: pathlib.Path, *flags: str) -> None:
    run([TOOL, "pack", "-q", "-f", "--no-sync", *flags, str(model), "-o", str(archive)])


def by_bytes(folder: pathlib.Path, count: int) -> Section:
    section = Section("Growth with bytes", "Weights of 32 MiB in a data file; seconds, medians; cold: the input is not in the page cache.",
                      ("bytes", "`pack`, warm", "`pack`, cold", "`check --data`, warm", "`check --data`, cold"))
    archive = folder / "grown.onnxar"
    for size in BYTES:
        model = models.make_external(folder, size, 32 * MIB, "grown")
        data = model.with_suffix(".data")

        def prepare(cold: bool, path: pathlib.Path) -> None:
            if path == data:
                archive.unlink(missing_ok=True)
                os.sync()
            touch_memory()
            (out_of_cache if cold else into_cache)(path)

        cells = [f"{median_of(lambda: pack(model, archive), count, lambda: prepare(cold, data)):.3f}" for cold in (False, True)]
        cells += [f"{median_of(lambda: run([TOOL, 'check', '-q', '--data', str(archive)]), count, lambda: prepare(cold, archive)):.3f}"
                  for cold in (False, True)]
        section.row(f"{size // MIB} MiB", *cells)
        for path in (model, data, archive):
            path.unlink()
    return section


def by_entries(folder: pathlib.Path, count: int) -> Section:
    section = Section("Growth with entries", "Tensors of 64 bytes, `--threshold 0`; milliseconds of the whole command, medians.",
                      ("entries", "`pack`, warm", "`check`, warm", "`check`, cold", "`ls --json`, warm"))
    archive = folder / "many.onnxar"
    for entries in ENTRIES:
        model = models.make_small_tensors(folder, entries)
        check = [TOOL, "check", "-q", str(archive)]
        cells = [median_of(lambda: pack(model, archive, "--threshold", "0"), count),
                 median_of(lambda: run(check), count),
                 median_of(lambda: run(check), count, lambda: out_of_cache(archive)),
                 median_of(lambda: run(["sh", "-c", f"'{TOOL}' ls --json '{archive}' > /dev/null"]), count)]
        section.row(str(entries), *(f"{cell * 1e3:.1f}" for cell in cells))
        model.unlink()
    archive.unlink()
    return section


def cold_start(folder: pathlib.Path, count: int) -> Section:
    section = Section("Cold start", "2 GiB, not in the page cache; medians.", ("what", "figure"))
    model = models.make_external(folder, 2 * GIB, 32 * MIB, "cold")
    archive = folder / "cold.onnxar"
    pack(model, archive)
    size = archive.stat().st_size
    reader = [str(pathlib.Path(TOOL).parents[1] / "examples/runtime_map"), str(archive)]

    def quiet(command: list[str]) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    first = median_of(lambda: quiet(reader), count, lambda: out_of_cache(archive))
    warm = median_of(lambda: quiet(reader), count)
    section.row("open, and the first tensor (32 MiB) read, a whole process", f"{first * 1e3:.1f} ms ({warm * 1e3:.1f} ms warm)")
    direct = median_of(lambda: quiet(["dd", f"if={archive}", "of=/dev/null", "bs=4M", "iflag=direct"]), count)
    section.row("the device's own rate: `dd iflag=direct bs=4M`", f"{size / direct / 1e9:.2f} GB/s")
    for what, command in (("`check --data`", [TOOL, "check", "-q", "--data", str(archive)]), ("`cp` to /dev/null", ["cp", str(archive), "/dev/null"])):
        def prepare() -> None:
            out_of_cache(archive)
            touch_memory()
            out_of_cache(archive)

        time = median_of(lambda: quiet(command), count, prepare)
        section.row(f"all weights read by {what}", f"{size / time / 1e9:.2f} GB/s, {direct / time:.2f} x the device's rate")
    for path in (model, model.with_suffix(".data"), archive):
        path.unlink()
    return section

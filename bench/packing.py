"""Compares `pack` with `cp`, and runs it under its limit of memory."""

from __future__ import annotations

import os
import pathlib
import statistics
import zipfile

import models
import onnx
from measure import GIB, ROOT, TOOL, Action, into_cache, pairs, ratio_of, run, timed, touch_memory, verdict
from report import Section


COPYING = ROOT / "build/release/bench/copying"
PRIMITIVES = ("copy_file_range", "pread-pwrite", "map-pwrite-1", "map-crc-pwrite-1", "map-crc-pwrite-2", "map-crc-direct-2", "map-crc-map-2")


def expect_same_weights(archive: pathlib.Path, model: pathlib.Path) -> None:
    """Compares every seventh entry, read by Python's zipfile, with its tensor; the tool checks all CRCs."""
    run([TOOL, "check", "-q", "--data", str(archive)])
    loaded = onnx.load(str(model))
    with zipfile.ZipFile(archive) as entries:
        for tensor in loaded.graph.initializer[::7]:
            if entries.read(tensor.name.replace(".", "_")) != tensor.raw_data:
                raise SystemExit(f"{archive}: the bytes of {tensor.name} are wrong")


class Race:
    """Compares `pack` of a model with a copy of the file that holds its weights."""

    def __init__(self, folder: pathlib.Path, model: pathlib.Path, copied: pathlib.Path, count: int) -> None:
        self.model, self.copied, self.count = model, copied, count
        self.ours, self.theirs = folder / "out.onnxar", folder / "out.copy"
        run([TOOL, "pack", "-q", str(model), "-o", str(self.ours)])
        expect_same_weights(self.ours, model)

    def clean(self) -> None:
        for path in (self.ours, self.theirs):
            path.unlink(missing_ok=True)

    def prepare(self) -> None:
        self.clean()
        os.sync()
        touch_memory()
        into_cache(self.copied)

    def pack(self, *flags: str) -> Action:
        return lambda: run([TOOL, "pack", "-q", *flags, str(self.model), "-o", str(self.ours)])

    def compare(self, section: Section, what: str, ours: Action, peer: str, theirs: list[str], bar: float) -> None:
        size = self.copied.stat().st_size
        times = pairs(ours, lambda: run(theirs), self.count, self.prepare)
        best = [size / min(column) / 1e9 for column in zip(*times)]
        ratio = ratio_of(times)
        section.row(what, f"{ratio:.2f} x `{peer}` (best: {best[0]:.2f} against {best[1]:.2f} GB/s)",
                    verdict(f"{bar} x", ratio >= bar))


def measure(folder: pathlib.Path, count: int, gib: float) -> Section:
    section = Section("Packing", "Medians of interleaved pairs; `cp` copies the file that `pack` reads (the data file, for external "
                      "data). Before each run the destination is unlinked, the disk synced, nearly all free memory touched "
                      "and the source read; page cache warm.", ("what", "figure", "bar"))
    inline, external = models.make_large(folder, int(gib * GIB))
    for label, model, copied in (("inline", inline, inline), ("external data", external, folder / "external.data")):
        race = Race(folder, model, copied, count)
        size = f"{label}, {copied.stat().st_size / GIB:.1f} GiB"
        copy = ["cp", str(copied), str(race.theirs)]
        race.compare(section, f"`pack --no-sync`, {size}", race.pack("--no-sync"), "cp", copy, 1.25)
        sync = ["sh", "-c", f"cp '{copied}' '{race.theirs}' && sync '{race.theirs}'"]
        race.compare(section, f"`pack`, {size}", race.pack(), "cp && sync FILE", sync, 1.1)
        race.clean()
    measure_primitives(section, folder, external, count)
    measure_memory(section, folder, external)
    measure_zips(section, folder, folder / "external.data")
    return section


def measure_primitives(section: Section, folder: pathlib.Path, model: pathlib.Path, count: int) -> None:
    """Compares `pack` with ways to copy its data (copying.cc). Those with `crc` in their name also compute CRC-32s."""
    source, out = folder / "external.data", folder / "out.copy"
    ours = folder / "out.onnxar"
    actions: dict[str, list[str]] = {name: [str(COPYING), name, str(source), str(out)] for name in PRIMITIVES}
    actions["pack"] = [str(TOOL), "pack", "-q", "--no-sync", str(model), "-o", str(ours)]
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(count):
        for name, command in actions.items():
            for path in (out, ours):
                path.unlink(missing_ok=True)
            os.sync()
            touch_memory()
            into_cache(source)
            times[name].append(timed(lambda command=command: run(command)))
    speeds = {name: source.stat().st_size / statistics.median(each) / 1e9 for name, each in times.items()}
    for name in PRIMITIVES:
        section.row(f"copy by {name.replace('-', ', ')}", f"{speeds[name]:.2f} GB/s")
    best = max((name for name in PRIMITIVES if "crc" in name), key=speeds.__getitem__)
    ratio = speeds["pack"] / speeds[best]
    section.row(f"`pack --no-sync`, {source.stat().st_size / GIB:.1f} GiB", f"{speeds['pack']:.2f} GB/s, {ratio:.2f} x the fastest with CRC-32 ({best})",
                verdict("0.95 x", ratio >= 0.95))
    for path in (out, ours):
        path.unlink(missing_ok=True)


def measure_memory(section: Section, folder: pathlib.Path, model: pathlib.Path) -> None:
    """Runs the commands under a limit of private writable memory, which the kernel enforces."""
    tensors = len(onnx.load(str(model), load_external_data=False).graph.initializer)
    limit = (64 << 20) + tensors * 1024 + 2 * model.stat().st_size
    archive, back = folder / "memory.onnxar", folder / "back.onnx"
    for what, command in (("pack", ["pack", str(model), "-o", str(archive)]),
                          ("unpack --external-data", ["unpack", str(archive), "-o", str(back), "--external-data", "back.data"])):
        run(["prlimit", f"--data={limit}", TOOL, *command, "-q", "-f", "--no-sync"])
        section.row(f"`{what}` of {tensors * models.TENSOR / GIB:.1f} GiB under `prlimit --data={limit}`", "runs",
                    "64 MiB + 1 KiB a tensor + 2 x skeleton: met")
    for path in (archive, back, folder / "back.data"):
        path.unlink()


def measure_zips(section: Section, folder: pathlib.Path, data: pathlib.Path) -> None:
    """Runs general tools once each, because they are slow."""
    out = folder / "out.zip"

    def with_zipfile() -> None:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.write(data, "weights")

    for name, action in (("zip -0", lambda: run(["zip", "-q", "-0", "-j", str(out), str(data)])),
                         ("Python zipfile, stored", with_zipfile)):
        touch_memory()
        into_cache(data)
        section.row(f"{name}, for comparison", f"{data.stat().st_size / timed(action) / 1e9:.2f} GB/s")
        out.unlink()

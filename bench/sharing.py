"""Measures packing on a file system whose files can share blocks."""

from __future__ import annotations

import contextlib
import os
import pathlib
import statistics
import time
from collections.abc import Iterator

import models
from measure import GIB, MIB, TOOL, into_cache, run, timed, touch_memory
from packing import expect_same_weights
from report import Section

APART = 64  # bytes by which the tensors of the second data file are off their blocks


@contextlib.contextmanager
def mounted_xfs(folder: pathlib.Path, size: int) -> Iterator[pathlib.Path]:
    """Mounts XFS in a sparse file."""
    image, mount = folder / "image", folder / "xfs"
    with open(image, "wb") as file:
        file.truncate(size)
    mount.mkdir()
    run(["mkfs.xfs", "-q", "-m", "reflink=1", str(image)])
    run(["mount", "-t", "xfs", "-o", "loop", str(image), str(mount)])
    try:
        yield mount
    finally:
        run(["umount", str(mount)])


def moved_apart(folder: pathlib.Path, model: pathlib.Path) -> pathlib.Path:
    """Makes the same model with the bytes of its data file shifted, so that no block can be shared."""
    apart = folder / "apart.onnx"
    proto = models.onnx.load(str(model), load_external_data=False)
    with open(folder / "apart.data", "wb") as data:
        data.write(bytes(APART))
        data.write((folder / "external.data").read_bytes())
    for i, tensor in enumerate(proto.graph.initializer):
        del tensor.external_data[:]
        models.link(tensor, "apart.data", APART + i * models.TENSOR, models.TENSOR)
    apart.write_bytes(proto.SerializeToString())
    return apart


def used(folder: pathlib.Path) -> int:
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


class Commands:
    """Commands that write `out`, and some `out.data`. Measures their time, with and without sync, and the room they take."""

    def __init__(self, folder: pathlib.Path, data: pathlib.Path) -> None:
        self.folder, self.data = folder, data  # the file that `cp` copies
        self.outputs = [folder / name for name in ("out", "out.data")]

    def tool(self, *words: object) -> dict[str, list[str]]:
        command = [TOOL, words[0], "-q", *map(str, words[1:]), "-o", str(self.outputs[0])]
        return {"no sync": [*command, "--no-sync"], "sync": command}

    def cp(self, *flags: str) -> dict[str, list[str]]:
        command = ["cp", *flags, str(self.data), str(self.outputs[0])]
        return {"no sync": command, "sync": ["sh", "-c", '"$@" && sync "$0"', str(self.outputs[0]), *command]}

    def clean(self) -> None:
        for path in self.outputs:
            path.unlink(missing_ok=True)

    def run(self, command: list[str], read: pathlib.Path) -> float:
        self.clean()
        os.sync()
        touch_memory()
        into_cache(read)
        return timed(lambda: run(command))

    def room(self, command: list[str]) -> int:
        """The bytes that the command's output takes on the disk."""
        self.clean()
        os.sync()
        time.sleep(2)  # XFS gives room back in the background
        before = used(self.folder)
        run(command)
        os.sync()
        return used(self.folder) - before


def measure(folder: pathlib.Path, count: int, gib: float) -> Section:
    section = Section("Sharing blocks", f"XFS in a file on a loop device. A model of {gib:g} GiB of weights of 32 MiB in a data file, "
                      f"at multiples of 4096; to measure copying, also shifted by {APART} bytes. Medians of {count} "
                      "interleaved runs; before each the destination is unlinked, the disk synced, nearly all free memory "
                      "touched and the source read. CRCs are computed and bytes compared in all cases.",
                      ("command", "seconds, no sync", "seconds, synced", "room on the disk"))
    with mounted_xfs(folder, int((5 * gib + 2) * GIB)) as disk:
        inline, external = models.make_large(disk, int(gib * GIB))
        inline.unlink()
        apart = moved_apart(disk, external)
        archive = disk / "archive.onnxar"
        run([TOOL, "pack", "-q", str(external), "-o", str(archive)])
        expect_same_weights(archive, external)
        commands = Commands(disk, disk / "external.data")
        data, out = disk / "external.data", disk / "out"
        rows = {  # commands, their input, the expected output, the output
            "`pack`": (commands.tool("pack", external), data, archive, out),
            "`pack`, data further on": (commands.tool("pack", apart), disk / "apart.data", archive, out),
            "`unpack --external-data`": (commands.tool("unpack", archive, "--external-data", "out.data"), archive, data,
                                         disk / "out.data"),
            "`repack`": (commands.tool("repack", archive), archive, archive, out),
            "`cp` (shares)": (commands.cp(), data, data, out),
            "`cp --reflink=never`": (commands.cp("--reflink=never"), data, data, out),
        }  # fmt: skip
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(count):
            for name, (ways, read, _, _) in rows.items():
                for way, command in ways.items():
                    times.setdefault((name, way), []).append(commands.run(command, read))
        for name, (ways, _, expected, made) in rows.items():
            room = commands.room(ways["sync"])
            run(["cmp", str(expected), str(made)])
            section.row(name, *(f"{statistics.median(times[name, way]):.3f}" for way in ways), f"{round(room / MIB)} MiB")
    return section

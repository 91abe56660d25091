#!/usr/bin/env python3
"""Compares ways to load weights to a GPU, with torch, safetensors, numpy and onnxar alone (`./dev bench --only gpu`, or on any machine):

    python bench/gpu.py [--gib 2 8] [--runs 3] [--seconds 220] [--folder DIR]

Prints the rows of a table. Without a GPU, torch's CPU takes its place, with ordinary memory instead of pinned memory and with less data.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

MIB, GIB = 1 << 20, 1 << 30
COLUMNS = ("GiB", "page cache", "alignment", "way", "seconds", "GB/s", "host MiB", "of safetensors' speed", "tensors")
ALIGNMENTS = (64, 256, 4096)


def shapes(gib: float) -> dict[str, tuple[int, ...]]:
    """Layers like a transformer's: matrices of 32 MiB and small vectors, 64 MiB together."""
    return {f"layers.{layer}.{name}": shape for layer in range(max(int(gib * GIB) // (64 * MIB), 1))
            for name, shape in {"up": (4096, 4096), "down": (4096, 4096), "norm": (4096,), "bias": (4095,), "scale": (1,)}.items()}  # fmt: skip


def made(gib: float, device: str) -> Iterator[tuple[str, Any]]:
    """Makes each tensor on the device, the same ones every time."""
    import torch

    for index, (name, shape) in enumerate(shapes(gib).items()):
        bits = torch.randint(-(1 << 15), 1 << 15, shape, dtype=torch.int16, device=device,
                             generator=torch.Generator(device).manual_seed(index))  # fmt: skip
        yield name, bits.view(torch.bfloat16)


def are_equal(loaded: dict[str, Any], gib: float, device: str) -> bool:
    import torch

    return loaded.keys() == shapes(gib).keys() and all(
        loaded[name].device.type == device and torch.equal(loaded[name].view(torch.int16), tensor.view(torch.int16)) for name, tensor in made(gib, device)
    )  # fmt: skip


def save(folder: pathlib.Path, gib: float, device: str) -> None:
    """Writes the same tensors in each format."""
    import onnxar
    import onnxar.torch
    import safetensors.torch
    import torch

    tensors = {name: tensor.cpu() for name, tensor in made(gib, device)}
    onnxar.torch.save_file(tensors, folder / "64.onnxar")
    safetensors.torch.save_file(tensors, folder / "w.safetensors")
    torch.save(tensors, folder / "w.pt")


def ways(device: str) -> dict[str, tuple[str, Callable[[str], dict[str, Any]]]]:
    """Maps each way to the end of its file's name and to its function. `copy=True` makes the CPU copy, as a GPU must."""
    import onnxar.torch
    import safetensors.torch
    import torch

    moved = lambda tensors: {name: tensor.to(device, copy=True) for name, tensor in tensors.items()}
    mapped = moved if device == "cpu" else dict  # safetensors maps what it loads to the CPU
    return {
        "`safetensors.torch.load_file(device)`": ("w.safetensors", lambda path: mapped(safetensors.torch.load_file(path, device=device))),
        "`onnxar.torch.load_file(device)`": (".onnxar", lambda path: onnxar.torch.load_file(path, device)),
        "`onnxar.torch.load_file(device, verify=True)`": (".onnxar", lambda path: onnxar.torch.load_file(path, device, verify=True)),
        "`onnxar.torch.load_file()`, `.to(device)`": (".onnxar", lambda path: moved(onnxar.torch.load_file(path))),
        "`torch.load(mmap=True)`, `.to(device)`": ("w.pt", lambda path: moved(torch.load(path, mmap=True))),
        "`torch.load()`, `.to(device)`": ("w.pt", lambda path: moved(torch.load(path))),
    }


def host_memory() -> int:
    """The bytes of this process that are not mapped from a file."""
    return sum(int(line.split()[1]) << 10 for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(("RssAnon", "RssShmem")))


def watched(action: Callable[[], Any]) -> tuple[int, Any]:
    """Returns by how much private memory grows at most, and the result. Watching takes time, so such a run is not timed."""
    before, most, done = host_memory(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            most[0] = max(most[0], host_memory() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = action()
    done.set()
    watcher.join()
    return most[0], result


def wait(device: str) -> None:
    """Waits for the device, and gives back the memory that torch keeps, so that each way allocates it."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize(), torch.cuda.empty_cache()


def prepare(path: pathlib.Path, cold: bool) -> None:
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED if cold else os.POSIX_FADV_NORMAL)
        while not cold and file.read(64 * MIB):
            pass


def figures(load: Callable[[str], dict[str, Any]], path: pathlib.Path, gib: float, device: str, cold: bool, runs: int) -> tuple[float, int, bool]:
    """Returns the median of seconds, the growth of private memory, and whether all tensors are right."""
    times = []
    for _ in range(runs):
        prepare(path, cold)
        begin = time.perf_counter()
        loaded = load(str(path))
        wait(device)
        times.append(time.perf_counter() - begin)
        del loaded
        wait(device)
    memory, loaded = watched(lambda: load(str(path)))
    return statistics.median(times), memory, are_equal(loaded, gib, device)


def compare(folder: pathlib.Path, sizes: list[float], runs: int, device: str, end: float) -> bool:
    """Prints the rows. Returns False if a tensor was wrong."""
    import onnxar
    right = True
    for gib in sizes:
        save(folder, gib, device)
        size = (folder / "w.safetensors").stat().st_size
        for alignment in ALIGNMENTS if gib == sizes[0] else ALIGNMENTS[:1]:
            onnxar.repack(folder / "64.onnxar", folder / f"{alignment}.onnxar", alignment=alignment, overwrite=True)
            for cold in (False, True):
                base = 0.0
                for name, way in ways(device).items():
                    if time.perf_counter() > end:
                        print("the time is over; the other rows are left out", file=sys.stderr)
                        return right
                    if alignment != 64 and name.startswith("`torch."):
                        continue
                    path = folder / (f"{alignment}.onnxar" if way[0] == ".onnxar" else way[0])
                    seconds, memory, equal = figures(way[1], path, gib, device, cold, runs)
                    base, right = base or seconds, right and equal
                    cells = (f"{gib:g}", "cold" if cold else "warm", str(alignment) if way[0] == ".onnxar" else "", name, f"{seconds:.3f}",
                             f"{size / seconds / 1e9:.2f}", f"{memory / MIB:.0f}", f"{base / seconds:.2f} x", "equal" if equal else "**different**")  # fmt: skip
                    print("|" + "|".join(cells) + "|", flush=True)
        for path in folder.iterdir():
            path.unlink()
    return right


def measure(folder: pathlib.Path) -> Any:
    """Returns the section of RESULTS.md. Run by bench/run.py, whose Python needs no torch."""
    from measure import TORCH_PYTHON
    from report import Section

    section = Section("Loading to a GPU", "Weights of bfloat16 in layers of 64 MiB; medians. Host: private memory of the process, of which pinned memory may not "
                      "be a part. Without a GPU, the device is torch's CPU with ordinary memory, which says nothing about GPUs.", COLUMNS)
    done = subprocess.run([str(TORCH_PYTHON), __file__, "--folder", str(folder)], stdout=subprocess.PIPE, text=True, check=True)
    section.intro = f"Device: {done.stdout.splitlines()[0]}. {section.intro}"
    for line in done.stdout.splitlines():
        if line.startswith("|") and not line.startswith("|GiB"):
            section.row(*line.strip("|").split("|"))
    return section


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=220, help="no row begins after this time")
    parser.add_argument("--folder", help="where the files are written, up to four times the size")
    arguments = parser.parse_args()
    end = time.perf_counter() + arguments.seconds
    import onnxar.torch
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        onnxar.torch._RINGS["cpu"] = (lambda size: torch.empty(size, dtype=torch.uint8), lambda devices: lambda: None)
    print(torch.cuda.get_device_name() if device == "cuda" else "no GPU; torch's CPU takes its place", f"torch {torch.__version__}", sep=", ")
    print("|" + "|".join(COLUMNS) + "|")
    with tempfile.TemporaryDirectory(prefix="onnxar_gpu_", dir=arguments.folder) as folder:
        right = compare(pathlib.Path(folder), arguments.gib or ([2, 8] if device == "cuda" else [0.125, 0.25]), arguments.runs, device, end)
    sys.exit(0 if right else "a tensor was wrong")


if __name__ == "__main__":
    main()

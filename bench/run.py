#!/usr/bin/env python3
"""Whole commands against what people would use instead, and the library's own figures: one table in bench/RESULTS.md.

    ONNXAR=build/release/tools/onnxar /usr/bin/python3 bench/run.py [--folder DIR] [--gib 2] [--pairs 9] [--write]

Ratios are medians of interleaved pairs in one run: absolute figures drift from machine to machine, ratios do not.
Every output is compared with its source before its time counts.
"""

from __future__ import annotations

import argparse
import datetime
import json
import mmap
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = os.environ.get("ONNXAR", str(ROOT / "build/release/tools/onnxar"))
LIBRARY_BENCH = ROOT / "build/release/bench/archive_bench"
GIB = 1 << 30
TENSOR = 32 << 20


class Table:
    """Rows of the report, printed as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def row(self, what: str, figure: str, bar: str = "") -> None:
        line = f"| {what} | {figure} | {bar} |"
        print(line, flush=True)
        self.lines.append(line)


TOUCH = """
import mmap, sys
import numpy as np
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
np.frombuffer(memory, np.uint8)[::4096] = 1
"""


def touch_memory() -> None:
    """A virtual machine gives free pages back to its host, and their next use is slow, by a factor of five: use nearly
    all that are free once more, so that each timed run finds them ready."""
    available = next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))
    half = max(available - 6 * GIB, GIB) // 2
    for process in [subprocess.Popen([sys.executable, "-c", TOUCH, str(half)]) for _ in range(2)]:
        if process.wait() != 0:
            raise SystemExit("the memory could not be touched")


def read_once(path: pathlib.Path) -> None:
    """Into the page cache."""
    run(["cp", str(path), "/dev/null"])


def make_models(folder: pathlib.Path, size: int) -> tuple[pathlib.Path, pathlib.Path]:
    """One model of `size` bytes, inline and with external data. Inline stays below protobuf's 2 GiB."""
    count = size // TENSOR
    block = np.random.default_rng(1).integers(0, 1 << 32, TENSOR // 4, dtype=np.uint32)
    inline, external = folder / "inline.onnx", folder / "external.onnx"
    tensors = []
    with open(folder / "external.data", "wb") as data:
        for i in range(count):
            tensor = onnx.TensorProto(name=f"layer.{i}.weight", data_type=onnx.TensorProto.UINT32, dims=[TENSOR // 4])
            tensor.raw_data = (block + np.uint32(i)).tobytes()
            data.write(tensor.raw_data)
            tensors.append(tensor)
    graph = onnx.helper.make_graph([], "bench", [], [], initializer=tensors[:63])
    inline.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    del graph
    for i, tensor in enumerate(tensors):
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "external.data"), ("offset", str(i * TENSOR)), ("length", str(TENSOR))):
            tensor.external_data.add(key=key, value=value)
    graph = onnx.helper.make_graph([], "bench", [], [], initializer=tensors)
    external.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return inline, external


def make_small_entries(folder: pathlib.Path, count: int) -> pathlib.Path:
    """An archive of many small entries."""
    tensors = [onnx.helper.make_tensor(f"decoder.layers.weight.{i}", onnx.TensorProto.FLOAT, [16], b"\1" * 64, raw=True)
               for i in range(count)]
    model = folder / "small.onnx"
    model.write_bytes(onnx.helper.make_model(
        onnx.helper.make_graph([], "small", [], [], initializer=tensors)).SerializeToString())
    archive = folder / "small.onnxar"
    run([TOOL, "pack", "-q", "--no-sync", "--threshold", "0", str(model), "-o", str(archive)])
    return archive


def run(command: list[str]) -> None:
    subprocess.run(command, check=True)


def timed(action: Callable[[], None]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def pairs(ours: Callable[[], None], theirs: Callable[[], None], count: int, prepare: Callable[[], None]) -> list[tuple]:
    """Interleaved; each run begins after `prepare`."""
    times = []
    for i in range(count):
        pair = {}
        for name, action in ((0, ours), (1, theirs)) if i % 2 else ((1, theirs), (0, ours)):
            prepare()
            pair[name] = timed(action)
        times.append((pair[0], pair[1]))
    return times


def compare(table: Table, what: str, peer: str, times: list[tuple], size: int, bar: float) -> None:
    ratio = statistics.median(theirs / ours for ours, theirs in times)
    ours = statistics.median(ours for ours, _ in times)
    theirs = statistics.median(theirs for _, theirs in times)
    verdict = "met" if ratio >= bar else "**missed**"
    table.row(what, f"{ratio:.2f} x `{peer}` ({size / ours / 1e9:.2f} against {size / theirs / 1e9:.2f} GB/s)",
              f"{bar} x: {verdict}")


def expect_same_weights(archive: pathlib.Path, model: pathlib.Path) -> None:
    """The archive's entries, read by Python's zipfile, hold the bytes of the model's tensors; CRCs by the tool."""
    run([TOOL, "check", "-q", "--data", str(archive)])
    loaded = onnx.load(str(model))
    with zipfile.ZipFile(archive) as entries:
        for tensor in loaded.graph.initializer[::7]:
            if entries.read(tensor.name.replace(".", "_")) != tensor.raw_data:
                raise SystemExit(f"{archive}: the bytes of {tensor.name} are wrong")


def bench_pack(table: Table, folder: pathlib.Path, model: pathlib.Path, copied: pathlib.Path, label: str, count: int) -> None:
    size = copied.stat().st_size
    ours, theirs = folder / "out.onnxar", folder / "out.copy"

    def clean() -> None:
        for path in (ours, theirs):
            path.unlink(missing_ok=True)

    def prepare() -> None:
        clean()
        os.sync()
        touch_memory()
        read_once(copied)

    def pack(*flags: str) -> Callable[[], None]:
        return lambda: run([TOOL, "pack", "-q", *flags, str(model), "-o", str(ours)])

    run([TOOL, "pack", "-q", str(model), "-o", str(ours)])
    expect_same_weights(ours, model)
    copy = ["cp", str(copied), str(theirs)]
    compare(table, f"`pack --no-sync`, {label}, {size / GIB:.1f} GiB", "cp",
            pairs(pack("--no-sync"), lambda: run(copy), count, prepare), size, 1.25)
    sync = ["sh", "-c", f"cp '{copied}' '{theirs}' && sync '{theirs}'"]
    compare(table, f"`pack`, {label}, {size / GIB:.1f} GiB", "cp && sync FILE",
            pairs(pack(), lambda: run(sync), count, prepare), size, 1.1)
    clean()


def bench_peers(table: Table, folder: pathlib.Path, model: pathlib.Path) -> None:
    """Slow peers once each: what packing costs with general tools."""
    size = model.stat().st_size
    out = folder / "out.zip"

    def with_zipfile() -> None:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            archive.write(model, "model.onnx")

    for name, action in (("zip -0", lambda: run(["zip", "-q", "-0", "-j", str(out), str(model)])),
                         ("Python zipfile, stored", with_zipfile)):
        out.unlink(missing_ok=True)
        table.row(f"{name}, {size / GIB:.1f} GiB, for comparison", f"{size / timed(action) / 1e9:.2f} GB/s")
    out.unlink(missing_ok=True)


def bench_memory(table: Table, folder: pathlib.Path, model: pathlib.Path, archive: pathlib.Path) -> None:
    """Runs under a limit of private writable memory; the kernel refuses more."""
    tensors = len(onnx.load(str(model), load_external_data=False).graph.initializer)
    limit = (64 << 20) + tensors * 1024 + 2 * model.stat().st_size
    for what, command in (
            ("pack", ["pack", str(model), "-o", str(archive)]),
            ("unpack --external-data", ["unpack", str(archive), "-o", str(folder / "back.onnx"), "--external-data", "back.data"])):
        run(["prlimit", f"--data={limit}", TOOL, *command, "-q", "-f", "--no-sync"])
        table.row(f"`{what}` of {tensors * TENSOR / GIB:.1f} GiB under `prlimit --data={limit}`", "runs",
                  "64 MiB + 1 KiB a tensor + 2 x skeleton: met")
    for name in ("back.onnx", "back.data"):
        (folder / name).unlink()


def library_figures(archive_folder: pathlib.Path) -> dict[str, dict]:
    output = subprocess.run([str(LIBRARY_BENCH), "--benchmark_format=json", "--benchmark_repetitions=5",
                             "--benchmark_report_aggregates_only=true"], check=True, stdout=subprocess.PIPE,
                            env={**os.environ, "TMPDIR": str(archive_folder)}).stdout
    rows = json.loads(output)["benchmarks"]
    return {row["run_name"]: row for row in rows if row["aggregate_name"] == "median"}


def bench_open(table: Table, folder: pathlib.Path, figures: dict[str, dict]) -> None:
    archive = make_small_entries(folder, 10_000)

    def open_with_python() -> None:
        with zipfile.ZipFile(archive) as entries:
            if len(entries.namelist()) != 10_001:
                raise SystemExit("zipfile sees another number of entries")

    python = statistics.median(timed(open_with_python) for _ in range(9)) * 1e3
    ours = figures["open_archive/10000"]["real_time"]
    met = "met" if ours <= 1 and python / ours >= 20 else "**missed**"
    table.row("open 10 000 entries", f"{ours:.2f} ms, {python / ours:.0f} x faster than Python zipfile ({python:.0f} ms)",
              f"1 ms and 20 x: {met}")
    many = figures["open_archive/200000"]["real_time"]
    table.row("open 200 000 entries", f"{many:.1f} ms", f"40 ms: {'met' if many <= 40 else '**missed**'}")


def bench_library(table: Table, figures: dict[str, dict]) -> None:
    verify = figures["verify_all_entries/real_time"]["bytes_per_second"]
    total = figures["sum_of_mapping/real_time"]["bytes_per_second"]
    table.row("verify every CRC-32, warm, 1 GiB, one thread",
              f"{verify / total:.2f} x a 64-bit sum ({verify / 1e9:.1f} against {total / 1e9:.1f} GB/s)",
              f"0.8 x: {'met' if verify / total >= 0.8 else '**missed**'}")
    resolve = figures["resolve_hot"]["real_time"]
    table.row("`resolve` of a tensor, hot", f"{resolve:.0f} ns, no allocation (see tests)",
              f"100 ns: {'met' if resolve < 100 else '**missed**'}")
    crc = figures["crc32_of_memory/1048576"]["bytes_per_second"]
    table.row("CRC-32 of 1 MiB in cache", f"{crc / 1e9:.1f} GB/s")


def described_machine(folder: pathlib.Path) -> list[str]:
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    system = subprocess.run(["stat", "-f", "-c", "%T", str(folder)], stdout=subprocess.PIPE, text=True).stdout.strip()
    return [f"- date {datetime.date.today()}, commit {commit.strip()}{' and changes on top' if changed.strip() else ''}",
            f"- {cpu}, {os.cpu_count()} cores, {os.sysconf('SC_PHYS_PAGES') * 4096 / GIB:.0f} GiB",
            f"- Linux {platform.release()}, file system {system}, page cache warm"]


def warn_of_bad_build() -> None:
    cache = pathlib.Path(TOOL).parents[1] / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    if "CMAKE_BUILD_TYPE:STRING=Release" not in text or "ONNXAR_SANITIZE:STRING=\n" not in text:
        print("warning: this is no plain release build; the figures mean little", file=sys.stderr)


HEADER = """# Results

What `./dev bench` measured last. Ratios are medians of interleaved pairs in one run; the bars are those the project set
itself. `cp` copies the file that `pack` reads (the data file, for external data). Before each timed run of a pair the
destination is unlinked, the disk synced, nearly all free memory touched and the source read.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=None, help="where to write (some 8 GiB); default: a temporary folder")
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--write", action="store_true", help="replace bench/RESULTS.md")
    arguments = parser.parse_args()
    warn_of_bad_build()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="onnxar_bench_", dir=arguments.folder or ROOT / "build"))
    table = Table()
    try:
        touch_memory()
        machine = described_machine(folder)
        print("\n".join(machine), flush=True)
        inline, external = make_models(folder, int(arguments.gib * GIB))
        bench_pack(table, folder, inline, inline, "inline", arguments.pairs)
        bench_pack(table, folder, external, folder / "external.data", "external data", arguments.pairs)
        bench_peers(table, folder, folder / "external.data")
        bench_memory(table, folder, external, folder / "memory.onnxar")
        figures = library_figures(folder)
        bench_open(table, folder, figures)
        bench_library(table, figures)
    finally:
        shutil.rmtree(folder)
    if arguments.write:
        lines = [HEADER, *machine, "", "| what | figure | bar |", "|---|---|---|", *table.lines, ""]
        (ROOT / "bench/RESULTS.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()

"""Runs the library's own benchmarks (*_bench.cc, with Google Benchmark)."""

from __future__ import annotations

import json
import os
import pathlib
import re
import statistics
import subprocess
import zipfile

import models
from measure import PEERS_PYTHON, ROOT, TOOL, into_cache, median_of, run, touch_memory, verdict
from report import Section

PROGRAMS = [ROOT / "build/release/bench" / name for name in ("archive_bench", "model_bench", "load_bench", "reader_bench")]


def figures(folder: pathlib.Path, wanted: str = ".", repetitions: int = 9) -> dict[str, dict]:
    """Runs the benchmarks whose names match, and returns their medians by name."""
    found = {}
    for program in PROGRAMS:
        listed = subprocess.run([str(program), "--benchmark_list_tests"], check=True, stdout=subprocess.PIPE, text=True).stdout
        names = [re.escape(name) for name in listed.split() if re.search(wanted, name)]
        if not names:
            continue  # without a match the program fails
        # By name, since the program knows only the regular expressions of POSIX.
        command = [str(program), f"--benchmark_filter=^({'|'.join(names)})$", "--benchmark_format=json",
                   f"--benchmark_repetitions={repetitions}",
                   "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)}).stdout
        rows = json.loads(output)["benchmarks"]
        found.update({row["run_name"]: row for row in rows if row.get("aggregate_name", "median") == "median"})
    return found


def python_opens(folder: pathlib.Path, count: int) -> float:
    archive = folder / "small.onnxar"
    run([TOOL, "pack", "-q", "-f", "--no-sync", "--threshold", "0", str(models.make_small_tensors(folder, count)), "-o", str(archive)])

    def open_it() -> None:
        with zipfile.ZipFile(archive) as entries:
            if len(entries.namelist()) != count + 1:
                raise SystemExit("zipfile finds a different number of entries")

    return median_of(open_it, 5) * 1e3


ONNX_LOAD = """
import sys, time, onnx
begin = time.perf_counter()
model = onnx.load(sys.argv[1])
print(time.perf_counter() - begin)
if len(model.graph.initializer) != int(sys.argv[2]):
    raise SystemExit("onnx loaded a different model")
"""


def onnx_loads(folder: pathlib.Path) -> float:
    """Seconds in which onnx.load reads an inline model just below 2 GiB, without the start of the process."""
    inline, _ = models.make_large(folder, models.INLINE_TENSORS * models.TENSOR)
    command = [str(PEERS_PYTHON), "-c", ONNX_LOAD, str(inline), str(models.INLINE_TENSORS)]
    times = []
    for _ in range(3):
        touch_memory()
        into_cache(inline)
        times.append(float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    return statistics.median(times)


def measure(folder: pathlib.Path) -> Section:
    section = Section("Library", "Medians of 9 repetitions, interleaved, page cache warm.", ("what", "figure", "bar"))
    all_figures = figures(folder, "^(?!.*_by_)")
    for count, bar in ((10_000, 1), (200_000, 40)):
        ours, python = all_figures[f"open_archive/{count}"]["real_time"], python_opens(folder, count)
        section.row(f"open {count} entries", f"{ours:.2f} ms, {python / ours:.0f} x as fast as Python zipfile ({python:.0f} ms)",
                    verdict(f"{bar} ms and 20 x", ours <= bar and python / ours >= 20))
    for argument, what in ((0, "fresh mapping"), (1, "same mapping again")):
        verify, total = (all_figures[f"{name}/{argument}/real_time"]["bytes_per_second"] for name in ("verify_all_entries", "sum_of_all_entries"))
        section.row(f"verify every CRC-32, 1 GiB, one thread, {what}",
                    f"{verify / total:.2f} x a 64-bit sum ({verify / 1e9:.1f} against {total / 1e9:.1f} GB/s)",
                    verdict("0.8 x", verify / total >= 0.8))
    resolve = all_figures["resolve_hot"]["real_time"]
    section.row("`resolve` of a tensor, hot", f"{resolve:.0f} ns, no allocation (see tests)", verdict("100 ns", resolve < 100))
    for name, what in (("crc32_of_memory/1048576", "CRC-32 of 1 MiB in cache"), ("write_archive/iterations:1/real_time", "write 1 GiB from memory")):
        section.row(what, f"{all_figures[name]['bytes_per_second'] / 1e9:.1f} GB/s")
    for name, what in (("split_model/10000", "split a model of 10 000 tensors, 40 MB"), ("join_model/10000", "join it, from an archive to an inline model of 40 MB, no sync"),
                       ("layout_of_entries/10000", "lay out 10 000 entries, headers and directory")):
        section.row(what, f"{all_figures[name]['real_time']:.2f} ms")
    load = all_figures["load_model_no_copy/1900/real_time"]["real_time"]
    theirs = onnx_loads(folder) * 1e3
    section.row("`Model::load` of an inline model of 1.9 GiB, no copy",
                f"{load:.2f} ms, {theirs / load:.0f} x as fast as onnx.load of one of that size ({theirs:.0f} ms)",
                verdict("10 ms and 100 x", load < 10 and theirs / load >= 100))
    ours, copy = (all_figures[f"{name}/1024/real_time"]["bytes_per_second"] for name in ("consolidate", "memcpy_into_fresh_buffer"))
    section.row("`consolidate_tensors_to_buffer`, 1 GiB",
                f"{ours / copy:.2f} x memcpy into a fresh buffer by 2 threads ({ours / 1e9:.1f} against {copy / 1e9:.1f} GB/s)",
                verdict("0.95 x", ours >= 0.95 * copy))
    return section

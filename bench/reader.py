"""Measures the reader in two files against the library (reader_bench.cc), and the size of a program with it."""

from __future__ import annotations

import pathlib
import re

import library
from measure import ROOT, run, verdict
from report import Section

READER = ROOT / "reader"
FLAGS = ["-std=c99", "-Os", "-ffunction-sections", "-fdata-sections", f"-I{READER}"]


def linked_bytes(linker_map: str) -> dict[str, int]:
    """How many bytes of the reader a program has, by the kind of section."""
    found: dict[str, int] = {}
    for kind, size in re.findall(r"^ \.(\w+)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+) \S*onnxar_reader\.o$", linker_map, re.MULTILINE):
        found[kind] = found.get(kind, 0) + int(size, 16)
    return found


def sizes(folder: pathlib.Path) -> tuple[float, float, float]:
    """kB of examples/reader/sum.c as a stripped program, of the reader's code in it, and of all of the reader in it."""
    parts = {"onnxar_reader": READER / "onnxar_reader.c", "sum": ROOT / "examples/reader/sum.c"}
    for name, source in parts.items():
        run(["gcc-12", *FLAGS, "-c", source, "-o", folder / f"{name}.o"])
    objects = [folder / f"{name}.o" for name in parts]
    run(["gcc-12", *objects, "-Wl,--gc-sections", f"-Wl,-Map={folder / 'map'}", "-s", "-o", folder / "sum"])
    linked = linked_bytes((folder / "map").read_text().partition("Linker script and memory map")[2])
    return (folder / "sum").stat().st_size / 1e3, linked["text"] / 1e3, sum(linked.values()) / 1e3


def measure(folder: pathlib.Path) -> Section:
    section = Section("The reader in two files", "The same files, taking turns; medians of 9 repetitions, page cache warm. Sizes: GCC 12, `-Os`, `--gc-sections`.",
                      ("what", "figure", "bar"))
    figures = library.figures(folder, "_by_(library|reader)")
    for what, name in (("open 10 000 entries", "open/10000"), ("open 200 000 entries", "open/200000"), ("walk through 10 000 linked tensors", "walk/10000")):
        verb, count = name.split("/")
        ours, cpp = (figures[f"{verb}_by_{which}/{count}"]["cpu_time"] for which in ("reader", "library"))
        section.row(what, f"{ours:.2f} ms, {ours / cpp:.2f} x the library's time ({cpp:.2f} ms)", verdict("1.3 x", ours <= 1.3 * cpp))
    program, code, all_of_it = sizes(folder)
    section.row("`examples/reader/sum.c`, stripped", f"{program:.1f} kB", verdict("60 kB", program <= 60))
    section.row("the reader in it", f"{code:.1f} kB of code, {all_of_it:.1f} kB with constants and unwind tables", verdict("25 kB", all_of_it <= 25))
    return section

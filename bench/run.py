#!/usr/bin/env python3
"""Compares whole commands with their usual alternatives, and measures the library's own functions.

    ONNXAR=build/release/tools/onnxar /usr/bin/python3 bench/run.py [--only SECTION...] [--folder DIR] [--write]
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import tempfile
from collections.abc import Callable

import caching
import digesting
import editing
import families
import folders
import gpu
import growth
import library
import network
import onnx_module
import opening
import packing
import peers
import reader
import remote
import repacking
import sessions
import saving
import sharing
import updates
from measure import ROOT, described_machine, touch_memory, warn_of_bad_build
from report import Section, write

Measurement = Callable[[pathlib.Path], Section]


def sections(arguments: argparse.Namespace) -> dict[str, Measurement]:
    return {
        "packing": lambda folder: packing.measure(folder, arguments.pairs, arguments.gib),
        "repacking": lambda folder: repacking.measure(folder, arguments.pairs, arguments.gib),
        "digest": lambda folder: digesting.measure(folder, arguments.pairs, arguments.gib / 2),
        "sharing": lambda folder: sharing.measure(folder, arguments.runs, arguments.gib),
        "families": lambda folder: families.measure(folder, arguments.pairs),
        "folders": lambda folder: folders.measure(folder, arguments.runs),
        "library": library.measure,
        "opening": opening.measure,
        "reader": reader.measure,
        "peers": peers.measure,
        "saving": lambda folder: saving.measure(folder, arguments.runs),
        "onnx_module": lambda folder: onnx_module.measure(folder, arguments.runs),
        "bytes": lambda folder: growth.by_bytes(folder, arguments.runs),
        "entries": lambda folder: growth.by_entries(folder, arguments.runs),
        "cold": lambda folder: growth.cold_start(folder, arguments.runs),
        "replace": lambda folder: editing.measure(folder, arguments.runs),
        "sessions": lambda folder: sessions.measure(folder, arguments.runs, arguments.gib / 2),
        "caching": lambda folder: caching.measure(folder, arguments.runs, arguments.gib / 2, ROOT / "docs/memory.svg" if arguments.write else None),
        "export": lambda folder: sessions.export(folder, arguments.gib / 2),
        "gpu": gpu.measure,
        "network": lambda folder: network.measure(folder, arguments.runs, arguments.gib / 2),
        "remote": lambda folder: remote.measure(folder, arguments.runs),
        "updates": lambda folder: updates.measure(folder, arguments.runs),
    }


BY_NAME = {"folders", "gpu", "network", "remote", "updates"}  # these download a model, need torch, mount a file system or need nginx, so they run only with --only


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=None, help="folder for the outputs (about 16 GiB); default: in build/")
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(sections(parser.parse_args([]))), help="measure only these sections")
    parser.add_argument("--write", action="store_true", help="write the results to bench/RESULTS.md")
    arguments = parser.parse_args()
    warn_of_bad_build()
    measured = []
    chosen = sections(arguments)
    touch_memory()
    for name in arguments.only or [name for name in chosen if name not in BY_NAME]:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="onnxar_bench_", dir=arguments.folder or ROOT / "build"))
        try:
            machine = described_machine(folder)
            print(machine, flush=True)
            measured.append(chosen[name](folder))
            if arguments.write:
                write(ROOT / "bench/RESULTS.md", measured[-1:], machine)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()

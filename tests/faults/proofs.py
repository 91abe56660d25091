"""Proves what a command wrote while nothing failed, by readers that share nothing with it.

A run with a fault is then compared byte for byte.
"""

from __future__ import annotations

import functools
import io
import sys
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
from google.protobuf import text_format

from faults import cases
from faults.running import Good, Run, Stage, difference, good_run
from support import onnx_walk as walk
from support import wire_writer as wire
from support.command_line import MODEL, entries_of

sys.path.append(str(Path(__file__).resolve().parents[2] / "spec" / "reference"))

import onnxar_reader


class WrongOutputError(AssertionError):
    """The command does not do what it should even if nothing fails."""


@functools.cache
def good_runs() -> list[Good]:
    """All cases, each run once. Their folders are removed after the last test."""
    goods = [good_run(case, prove_outputs) for case in cases.all_cases()]
    for good in goods:
        unittest.addModuleCleanup(good.stage.close)
    return goods


def prove_outputs(stage: Stage, run: Run) -> None:
    """The inputs are untouched; each file that was written is sound, and its tensors have their values."""
    changed = [name for name in difference(run.tree, stage.before) if run.tree[name][1]]
    for name in changed:
        if name.startswith("in/"):
            raise WrongOutputError(f"{stage.case.name}: changed {name}")
        prove_file(stage, name)
    tensors = sum(1 for name in changed for _ in tensors_in(stage.root / name))
    if not tensors and not run.stdout + run.stderr.encode() and stage.case.words[0] not in ("undo", "recover"):
        raise WrongOutputError(f"{stage.case.name}: wrote no tensor")


def prove_file(stage: Stage, name: str) -> None:
    path = stage.root / name
    if name.endswith(".onnxar"):
        archive = onnxar_reader.open_archive(path.read_bytes())
        errors = [each for each in onnxar_reader.check(archive, data=True) if each.severity == "error"]
        if errors:
            raise WrongOutputError(f"{stage.case.name}: {errors}")
    for tensor, data in tensors_in(path):
        count = len(data) // 4
        wanted = [wire.content(wire.FLOAT, count, seed) for seed in (tensor, "other")]
        if data not in (*wanted, numpy.arange(count, dtype=numpy.float32).tobytes()):
            raise WrongOutputError(f"{stage.case.name}: {name} has a wrong {tensor}")


def tensors_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all tensors in a file."""
    if path.suffix == ".onnxar":
        entries = entries_of(path)  # compares CRC-32s
        for name, data in entries.items():
            if name == MODEL or name.endswith(".onnx"):
                yield from tensors_of(data, lambda at, begin, length: part(entries[at], begin, length))
    elif path.suffix == ".onnx":
        yield from tensors_of(
            path.read_bytes(), lambda at, begin, length: part((path.parent / at).read_bytes(), begin, length)
        )
    elif path.suffix == ".npy":
        yield path.stem, numpy.load(io.BytesIO(path.read_bytes())).tobytes()
    elif path.suffix == ".txt" and path.name == "m.txt":
        yield from tensors_of(text_format.Parse(path.read_bytes(), walk.Model()).SerializeToString(), part)


def part(data: bytes, begin: int, length: int | None) -> bytes:
    return data[begin:] if length is None else data[begin : begin + length]


def tensors_of(model: bytes, read: Callable[..., bytes]) -> Iterator[tuple[str, bytes]]:
    message = walk.parse(model)
    walk.resolve_external(message, read)
    for site in walk.sites(message):
        yield site.tensor.name, walk.payload(site.tensor) or b""

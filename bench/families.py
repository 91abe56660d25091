"""Compares packing several models into one archive with packing each by itself."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable

import library
import models
import numpy as np
import onnx
from measure import GIB, MIB, TOOL, into_cache, pairs, ratio_of, run, touch_memory, verdict
from report import Section

TENSOR = 16 * MIB
UNIQUE, SHARED = 16, 24  # of encoder and decoders, in tensors of 16 MiB: proportions of Whisper


class Weights:
    """Blocks of numbers that are different for different keys, in whole or in their last value alone."""

    def __init__(self) -> None:
        self.block = np.random.default_rng(5).integers(0, 1 << 32, TENSOR // 4, dtype=np.uint32)

    def of(self, key: int) -> bytes:
        return (self.block + np.uint32(key)).tobytes()

    def alike(self, key: int) -> bytes:
        return self.block[:-1].tobytes() + int(key).to_bytes(4, "little")


def write_model(folder: pathlib.Path, name: str, weights: Iterable[tuple[str, bytes]]) -> pathlib.Path:
    tensors = []
    with open(folder / f"{name}.data", "wb") as data:
        for tensor_name, content in weights:
            tensor = onnx.TensorProto(name=tensor_name, data_type=onnx.TensorProto.UINT32, dims=[TENSOR // 4])
            models.link(tensor, f"{name}.data", data.tell(), TENSOR)
            data.write(content)
            tensors.append(tensor)
    path = folder / f"{name}.onnx"
    path.write_bytes(models.plain(tensors))
    return path


def make_whisper(folder: pathlib.Path) -> list[pathlib.Path]:
    weights = Weights()
    shared = [(f"decoder.{i}", weights.of(1000 + i)) for i in range(SHARED)]
    encoder = write_model(folder, "encoder", ((f"encoder.{i}", weights.of(i)) for i in range(UNIQUE)))
    return [encoder, write_model(folder, "decoder", [*shared, ("cross", weights.of(2000))]), write_model(folder, "decoder_with_past", shared)]


def make_alike(folder: pathlib.Path) -> list[pathlib.Path]:
    """The worst case: candidates by size and beginning, of which none is equal to another."""
    weights = Weights()
    return [write_model(folder, f"alike_{model}", ((f"w{i}", weights.alike(100 * model + i)) for i in range(SHARED))) for model in range(2)]


def compare(section: Section, what: str, family: list[pathlib.Path], entries: int, count: int, bar: float) -> None:
    folder = family[0].parent
    outputs = [folder / f"{model.stem}.onnxar" for model in family]
    whole = folder / "family.onnxar"

    def prepare() -> None:
        for path in (whole, *outputs):
            path.unlink(missing_ok=True)
        touch_memory()
        for model in family:
            into_cache(model.with_suffix(".data"))

    def pack_parts() -> None:
        for model, output in zip(family, outputs):
            run([TOOL, "pack", "-q", "--no-sync", str(model), "-o", str(output)])

    def pack_family() -> None:
        run([TOOL, "pack", "-q", "--no-sync", *map(str, family), "-o", str(whole)])

    times = pairs(pack_family, pack_parts, count, prepare)
    prepare()
    pack_family()
    run([TOOL, "check", "-q", "--data", str(whole)])
    slower = 1 / ratio_of(times)
    section.row(f"packing {what}", f"{slower:.2f} x packing each by itself ({min(a for a, _ in times):.2f} against {min(b for _, b in times):.2f} s)",
                verdict(f"{bar} x", slower <= bar))
    # Large tensors begin on a page of 4 KiB.
    size, least = whole.stat().st_size, entries * TENSOR + sum(model.stat().st_size for model in family)
    section.row(f"size of {what}", f"{size:,} bytes, {least:,} of weights and graphs", verdict("4 KiB of alignment and 1 KiB of headers an entry", size - least <= 5 * 1024 * (entries + len(family))))


def measure_memory(section: Section, family: list[pathlib.Path]) -> None:
    tensors = sum(len(onnx.load(str(model), load_external_data=False).graph.initializer) for model in family)
    limit = (64 << 20) + tensors * 1024 + 2 * sum(model.stat().st_size for model in family)
    out = family[0].parent / "memory.onnxar"
    run(["prlimit", f"--data={limit}", TOOL, "pack", "-q", "--no-sync", *map(str, family), "-o", str(out)])
    section.row(f"`pack` of {tensors * TENSOR / GIB:.1f} GiB in {len(family)} models under `prlimit --data={limit}`", "runs",
                "64 MiB + 1 KiB a tensor + 2 x skeletons: met")
    out.unlink()


def measure(folder: pathlib.Path, count: int) -> Section:
    section = Section("Families", "Medians of interleaved pairs, page cache warm, no sync, each run after nearly all free memory was touched. "
                      "Encoder, decoder and decoder with past: the decoders share all weights but one.", ("what", "figure", "bar"))
    whisper = make_whisper(folder)
    compare(section, "encoder and two decoders", whisper, UNIQUE + SHARED + 1, count, 1.35)
    measure_memory(section, whisper)
    compare(section, "two models that differ in the last value of each tensor", make_alike(folder), 2 * SHARED, count, 2)  # a second pass over all bytes
    found = library.figures(folder, "open_family")
    one, ten = (found[f"open_family/{graphs}"]["real_time"] for graphs in (1, 10))
    section.row("open 1000 entries with ten graphs", f"{ten / one:.2f} x with one graph ({ten:.0f} against {one:.0f} us)", verdict("1.2 x", ten <= 1.2 * one))
    return section

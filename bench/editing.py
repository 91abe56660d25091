"""Measures the bytes that `replace` writes, and its time, in sparse archives of 1, 10 and 40 GiB."""

from __future__ import annotations

import pathlib
import sys
import zipfile

from measure import GIB, MIB, ROOT, TOOL, median_of, run, verdict
from report import Section

sys.path.insert(0, str(ROOT / "tests"))

from support import wire_writer as wire
from support.accounting import bytes_written
from support.archives import MODEL
from support.sparse_archive import linked, write_sparse_archive

SIZES = (1, 10, 40)  # GiB, in entries of 1 GiB
TEXTS = (1024, MIB)  # bytes of a model beside its links
SLACK = 4096


def model_of(gib: int, more: int) -> bytes:
    return wire.model(wire.Part(wire.initializers(*(linked(f"w{index}", GIB) for index in range(gib)))), doc="x" * more)


def bar(archive: pathlib.Path, model: bytes) -> float:
    with zipfile.ZipFile(archive) as file:
        if file.read(MODEL) != model:
            raise SystemExit("the archive has the wrong model")
        return 1.1 * (len(model) + archive.stat().st_size - file.start_dir) + SLACK


def measure(folder: pathlib.Path, count: int) -> Section:
    section = Section("Replacing the model", "Sparse archives with entries of 1 GiB; milliseconds of the whole command, medians. "
                      "Bar: at most 1.1 x (model + directory) + 4 KiB written, whatever the size of the weights.",
                      ("archive", "model", "`replace`", "`replace --no-sync`", "written", "bar"))
    archive, file = folder / "sparse.onnxar", folder / "new.onnx"
    for gib in SIZES:
        write_sparse_archive(archive, gib)
        for more in TEXTS:
            model = model_of(gib, more)
            file.write_bytes(model)
            command = [TOOL, "replace", "-q", str(archive), str(file)]
            written = bytes_written(command)
            times = [median_of(lambda: run([*command, *flags]), count) for flags in ((), ("--no-sync",))]
            cells = (f"{time * 1e3:.1f}" for time in times)
            section.row(f"{gib} GiB", f"{len(model)} bytes", *cells, f"{written} bytes",
                        verdict(f"{bar(archive, model):.0f}", written <= bar(archive, model)))
        archive.unlink()
    return section

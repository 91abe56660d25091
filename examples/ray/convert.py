"""Converts a folder or bucket of ONNX models to archives with Ray, and writes a report as Parquet.

    pip install "ray[data]" onnxar fsspec
    python convert.py models/ s3://bucket/archives report.parquet

Each model is packed, checked with all of its data, and uploaded under its name. An archive that is already there and was made
from the model as it is now is not made again, so a run that was interrupted goes on when it is started again. A worker
that dies loses the model that it had in hand, and Ray gives that one to another.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import pathlib
import tempfile

import fsspec
import pyarrow
import pyarrow.parquet
import ray

import onnxar


@dataclasses.dataclass
class Row:
    """A line of the report."""

    model: str
    archive: str
    state: str  # "packed", "kept" or "failed"
    bytes: int = 0
    tensors: int = 0
    error: str = ""


def version_of(source: str) -> str:
    """Tells one state of a model's folder from another, without reading it."""
    system, path = fsspec.core.url_to_fs(source)
    files = system.find(path.rpartition("/")[0], maxdepth=1, detail=True)
    facts = [(name, info["size"], str(info.get("ETag") or info.get("mtime") or info.get("created"))) for name, info in sorted(files.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@ray.remote(max_retries=3)
def convert(source: str, target: str) -> dict[str, object]:
    """Makes one archive. Its mark beside it says which model it was made from, and is written last."""
    row, version = Row(source, target, "packed"), version_of(source)
    mark = target + ".source"
    system, path = fsspec.core.url_to_fs(mark)
    try:
        if system.exists(path) and system.cat_file(path).decode() == version:
            row.state = "kept"
        else:
            with tempfile.TemporaryDirectory() as folder:
                made = pack(source, pathlib.Path(folder))
                onnxar.put(made, target, overwrite=True)
            system.pipe_file(path, version.encode())
        with onnxar.open(target) as archive:
            row.bytes, row.tensors = sum(entry.size for entry in archive.entries()), len(archive)
    except onnxar.Error as error:  # the model's fault, or the store's: another try would not help
        row.state, row.error = "failed", str(error)
    return dataclasses.asdict(row)


def pack(source: str, folder: pathlib.Path) -> pathlib.Path:
    """Packs a copy of the model and its data, and checks the archive."""
    system, path = fsspec.core.url_to_fs(source)
    parent, _, name = path.rpartition("/")
    for file in system.find(parent, maxdepth=1):
        system.get_file(file, str(folder / file.rpartition("/")[2]))
    made = folder / "made.onnxar"
    onnxar.pack(folder / name, made, sync=False)
    faults = [each for each in onnxar.check(made, data=True) if each.severity == "error"]
    if faults:
        raise onnxar.FormatError(faults[0].code, faults[0].message, faults[0].entry, faults[0].offset, source)
    return made


def models_in(folder: str) -> list[str]:
    system, path = fsspec.core.url_to_fs(folder)
    return [system.unstrip_protocol(found) for found in sorted(system.find(path)) if found.endswith(".onnx")]


def target_of(source: str, folder: str, targets: str) -> str:
    """The archive's address: the model's place below `folder`, with another ending."""
    system, path = fsspec.core.url_to_fs(folder)
    below = source.removeprefix(system.unstrip_protocol(path)).strip("/")
    store, place = fsspec.core.url_to_fs(targets)
    return store.unstrip_protocol(place).rstrip("/") + "/" + below.removesuffix(".onnx") + ".onnxar"


def convert_all(folder: str, targets: str) -> pyarrow.Table:
    pending = [convert.remote(source, target_of(source, folder, targets)) for source in models_in(folder)]
    return pyarrow.Table.from_pylist(ray.get(pending), schema=pyarrow.schema([
        ("model", pyarrow.string()), ("archive", pyarrow.string()), ("state", pyarrow.string()),
        ("bytes", pyarrow.int64()), ("tensors", pyarrow.int64()), ("error", pyarrow.string()),
    ]))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", help="a folder or address; every *.onnx below it is a model")
    parser.add_argument("archives", help="a folder or address for the archives")
    parser.add_argument("report", help="a Parquet file")
    given = parser.parse_args()
    pyarrow.parquet.write_table(convert_all(given.models, given.archives), given.report)


if __name__ == "__main__":
    main()

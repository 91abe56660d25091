"""Packs all models of onnx's backend tests, runs each as it is and as an archive by its path, and compares the outputs.

Usage: PYTHONPATH=MODULE:spec/rfc models.py FOLDER  (the folder of the backend tests' data; the patched ONNX Runtime)
       PYTHONPATH=spec/rfc models.py FOLDER PROGRAM  (of link_archive.cc, which makes the model for any ONNX Runtime)
Prints the counts as JSON; models that differ or are refused only as archives are listed on the standard error.
"""

from __future__ import annotations

import collections
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx_archive import save


def session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Linker:
    """Makes the model that the patched loader has in memory, beside the archive."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, archive: Path) -> Path:
        output = archive.with_name("linked.onnx")
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{archive}\t{output}\t\n")
        self.process.stdin.flush()
        if wrong := self.process.stdout.readline().strip():
            raise ValueError(wrong)
        return output


def read(path: Path, value: onnx.ValueInfoProto) -> object:
    data, kind = path.read_bytes(), value.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def inputs(model: onnx.ModelProto, folder: Path) -> dict[str, object]:
    values = dict(enumerate(model.graph.input))
    paths = sorted(folder.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return {values[i].name: read(path, values[i]) for i, path in enumerate(paths)}


def is_same(one: object, other: object) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(is_same, one, other))
    if one is None or other is None:
        return one is other
    left, right = np.asarray(one), np.asarray(other)
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


def outcome(path: Path, place: Path, link: Callable[[Path], Path]) -> str:
    """Runs a model twice as it is and once as an archive. Models with random outputs differ from themselves."""
    model = onnx.load(path)
    try:
        given = inputs(model, path.parent / "test_data_set_0")
        plain = session(path)
        expected, again = plain.run(None, given), plain.run(None, given)
    except Exception as error:
        return f"plain refused: {type(error).__name__}"
    archive = place / "model.onnxar"
    save(model, archive, size_threshold=1)
    try:
        results = session(link(archive)).run(None, given)
    except Exception as error:
        return f"archive refused: {error}"
    if all(map(is_same, expected, results)):
        return "same"
    return "random" if not all(map(is_same, expected, again)) else "different"


def main() -> int:
    counts: collections.Counter[str] = collections.Counter()
    link = Linker(sys.argv[2]) if len(sys.argv) > 2 else lambda archive: archive
    with tempfile.TemporaryDirectory() as place:
        for path in sorted(Path(sys.argv[1]).rglob("model.onnx")):
            said = outcome(path, Path(place), link)
            counts[said.split(":")[0]] += 1
            if said.startswith(("archive", "different")):
                print(path.parent.name, said, file=sys.stderr)
    print(json.dumps(counts))
    return int(any(counts[kind] for kind in ("archive refused", "different")) or not counts["same"])


if __name__ == "__main__":
    sys.exit(main())

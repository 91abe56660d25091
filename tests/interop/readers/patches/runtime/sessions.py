"""Measures the creation of sessions by path: time and private memory of models with their data in the model, in a file
beside it, in an archive by a link, and in the archive itself. Each session is made in a process of its own; the forms
take turns, so that other programs of the machine disturb all alike.

Usage: PYTHONPATH=MODULE:spec/rfc sessions.py FOLDER MEGABYTES RUNS  (the patched ONNX Runtime). Prints rows as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

WIDTH = 2048
LAYER = WIDTH * WIDTH * 4  # bytes
FILES = {"inline": "inline.onnx", "external": "external.onnx", "link": "link.onnx", "archive": "model.onnxar"}
MOST_INLINE = 2000  # MB


def make(folder: Path, megabytes: int) -> None:
    """A chain of matrix products in each form."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx_archive import Archive, save

    value = helper.make_tensor_value_info
    count = megabytes * 10**6 // LAYER
    graph = helper.make_graph([], "chain", [value("x0", 1, (1, WIDTH))], [value(f"x{count}", 1, (1, WIDTH))])
    for i in range(count):
        bits = np.random.default_rng(i).integers(0, 1 << 16, (WIDTH, WIDTH), np.uint16)
        layer = (bits.astype(np.float32) - 32768) / (32768 * WIDTH)
        graph.initializer.append(numpy_helper.from_array(layer, f"w{i}"))
        graph.node.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
    save(model, folder / FILES["archive"])
    if megabytes <= MOST_INLINE:
        onnx.save(model, folder / FILES["inline"])
    archive = Archive(folder / FILES["archive"])
    linked = archive.model()
    for tensor in linked.graph.initializer:
        (location,) = (pair for pair in tensor.external_data if pair.key == "location")
        pairs = {"location": FILES["archive"], "offset": archive.offset(location.value), "length": LAYER}
        del tensor.external_data[:]
        for key, text in pairs.items():
            tensor.external_data.add(key=key, value=str(text))
        tensor.data_location = TensorProto.EXTERNAL
    onnx.save(linked, folder / FILES["link"])
    onnx.save(model, folder / FILES["external"], save_as_external_data=True, location="external.data")


def anonymous() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def create(path: Path, prepacking: str) -> dict[str, float]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.disable_prepacking", "0" if prepacking == "on" else "1")
    before, begin, cpu = anonymous(), time.perf_counter(), time.process_time()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    figures = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu, "anonymous": anonymous() - before}
    (result,) = session.run(None, {"x0": np.ones((1, WIDTH), np.float32)})
    return {**figures, "checksum": zlib.crc32(result.tobytes())}


def row(form: str, taken: dict[str, list[dict[str, float]]], about: dict[str, object]) -> dict[str, object]:
    """Medians, and the medians of the ratios to external data of the same turn. The time of the processor depends less on the
    load of the machine than the time that passes."""
    median = {key: statistics.median(each[key] for each in taken[form]) for key in ("seconds", "cpu", "anonymous")}
    ratio = {f"{key}_ratio": statistics.median(one[key] / other[key] for one, other in zip(taken[form], taken["external"]))
             for key in median}  # fmt: skip
    return {**about, "form": form, "load": round(os.getloadavg()[1], 1), **median, **ratio}


def measure(folder: Path, megabytes: int, runs: int) -> list[dict[str, object]]:
    make(folder, megabytes)
    forms = [form for form, file in FILES.items() if (folder / file).exists()]
    rows = []
    for prepacking in ("off", "on"):
        taken: dict[str, list[dict[str, float]]] = {form: [] for form in forms}
        for run in range(runs + 1):
            for form in forms if run % 2 else reversed(forms):
                command = [sys.executable, "-B", __file__, "one", folder / FILES[form], prepacking]
                done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE)
                if run > 0:  # the first one brings the files into the page cache
                    taken[form].append(json.loads(done.stdout))
        if len({each["checksum"] for form in forms for each in taken[form]}) != 1:
            raise SystemExit("the outputs differ")
        rows += [row(form, taken, {"megabytes": megabytes, "prepacking": prepacking, "runs": runs}) for form in forms]
    return rows


def main() -> None:
    if sys.argv[1] == "one":
        print(json.dumps(create(Path(sys.argv[2]), sys.argv[3])))
    else:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        print(json.dumps(measure(folder, int(sys.argv[2]), int(sys.argv[3]))))


if __name__ == "__main__":
    main()

"""Times one action: session_worker.py make|session|graph|export|weights|touch ... Run by the Python that has the wheel."""

from __future__ import annotations

import json
import pathlib
import sys
import threading
import time
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx_ir

WIDTH = 2048
LAYER = WIDTH * WIDTH * 4  # bytes


def anonymous() -> int:
    """The bytes of this process's memory that are not mapped from a file."""
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def layer(index: int) -> np.ndarray:
    bits = np.random.default_rng(index).integers(0, 1 << 16, (WIDTH, WIDTH), np.uint16)
    return (bits.astype(np.float32) - 32768) / (32768 * WIDTH)


def lazy_model(count: int, make, shape: tuple[int, int]) -> onnx_ir.Model:
    """Makes a chain of matrix products whose weights are computed on demand."""
    import onnx_ir
    kind = onnx_ir.TensorType(onnx_ir.DataType.FLOAT)
    value = onnx_ir.Value(name="x", shape=onnx_ir.Shape([1, shape[0]]), type=kind)
    inputs, nodes, weights = [value], [], []
    for index in range(count):
        lazy = onnx_ir.LazyTensor(lambda index=index: onnx_ir.Tensor(make(index)), dtype=onnx_ir.DataType.FLOAT,
                                  shape=onnx_ir.Shape(shape), name=f"w{index}")
        weights.append(onnx_ir.Value(name=lazy.name, const_value=lazy, shape=lazy.shape, type=kind))
        nodes.append(onnx_ir.node("MatMul", [value, weights[-1]]))
        value = nodes[-1].outputs[0]
        value.name, value.type, value.shape = f"y{index}", kind, onnx_ir.Shape([1, shape[1]])
    graph = onnx_ir.Graph(inputs, [value], nodes=nodes, initializers=weights, name="chain", opset_imports={"": 20})
    return onnx_ir.Model(graph, ir_version=10)


def make(folder: str, megabytes: str, *forms: str) -> None:
    import onnx_ir
    import onnxar
    place, model = pathlib.Path(folder), lazy_model(int(megabytes) * 10**6 // LAYER, layer, (WIDTH, WIDTH))
    onnxar.save(model, place / "archive.onnxar", overwrite=True, sync=False)
    onnx_ir.save(model, place / "external.onnx", external_data="external.data")
    if "inline" in forms:
        onnxar.unpack(place / "archive.onnxar", place / "inline.onnx", sync=False)


def session(form: str, folder: str, megabytes: str, prepacking: str) -> dict[str, float]:
    import onnxruntime
    import onnxar.onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.disable_prepacking", "0" if prepacking == "1" else "1")
    kind = onnxar.onnxruntime.InferenceSession if form == "archive" else onnxruntime.InferenceSession
    path = str(pathlib.Path(folder, {"archive": "archive.onnxar"}.get(form, f"{form}.onnx")))
    before, begin = anonymous(), time.perf_counter()
    created = kind(path, options, providers=["CPUExecutionProvider"])
    figures = {"seconds": time.perf_counter() - begin, "anonymous": anonymous() - before}
    (result,) = created.run(None, {"x": np.ones((1, WIDTH), np.float32)})
    return {**figures, "checksum": zlib.crc32(result.tobytes())}


def values_for(value) -> np.ndarray:
    kind = {"tensor(int64)": np.int64, "tensor(float)": np.float32}[value.type]
    return np.ones([side if isinstance(side, int) else 4 for side in value.shape], kind)


def graph(path: str, name: str) -> dict[str, float]:
    """A session of one graph: of the archive at the path, or of the file itself."""
    import onnxruntime
    import onnxar.onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.disable_prepacking", "1")
    before, begin = anonymous(), time.perf_counter()
    if path.endswith(".onnxar"):
        created = onnxar.onnxruntime.InferenceSession(path, options, graph=name, providers=["CPUExecutionProvider"])
    else:
        created = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    figures = {"seconds": time.perf_counter() - begin, "anonymous": anonymous() - before}
    results = created.run(None, {value.name: values_for(value) for value in created.get_inputs()})
    return {**figures, "checksum": zlib.crc32(results[0].tobytes())}


def export(path: str, count: str) -> dict[str, float]:
    import onnxar
    side = 4096  # 64 MiB per weight
    model = lazy_model(int(count), lambda index: np.full((side, side), index, np.float32), (side, side))
    before, most, done = anonymous(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], anonymous() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    onnxar.save(model, path, overwrite=True, sync=False)
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    with onnxar.open(path) as archive:
        if len(archive) != int(count) or any(archive[f"w{index}"][0, 0] != index for index in range(int(count))):
            raise SystemExit("the archive holds wrong weights")
    return {"seconds": seconds, "anonymous": most[0]}


def sum_of_pages(archive) -> int:
    return sum(int(array.view(np.uint8).reshape(-1)[::4096].sum()) for array in archive.values())


def weights(path: str, count: str) -> dict[str, int]:
    import onnxar.numpy
    onnxar.numpy.save_file({f"w{index}": layer(index) for index in range(int(count))}, path, overwrite=True)
    with onnxar.open(path) as archive:
        return {"sum": sum_of_pages(archive)}


def touch(path: str, how: str, threads: str) -> dict[str, float]:
    import onnxar
    ways = {"no_copy": False, "threads": int(threads)} if how == "copy" else {"prefetch": how}
    begin = time.perf_counter()
    with onnxar.open(path, **ways) as archive:
        return {"sum": sum_of_pages(archive), "seconds": time.perf_counter() - begin}


def main() -> None:
    action = {"make": make, "session": session, "graph": graph, "export": export, "weights": weights, "touch": touch}[sys.argv[1]]
    print(json.dumps(action(*sys.argv[2:])))


if __name__ == "__main__":
    main()

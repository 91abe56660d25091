"""Times one action of one library: peer_worker.py save|load|read LIBRARY FOLDER [COUNT]. Run by the Python that has it (peers.py, saving.py).

Saving is done several times. The first time takes pages that the machine may have to get from its host; each further one takes the
pages that the file of the one before has just given back, which is the same for all libraries.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx
    import onnx_archive
    import onnx_ir

RFC = str(pathlib.Path(__file__).resolve().parents[1] / "spec/rfc")  # the module for the onnx package
COUNT, SIZE = int(sys.argv[4]) if len(sys.argv) > 4 else 32, 32 << 20
AGAIN = 2


def arrays() -> dict[str, np.ndarray]:
    block = np.random.default_rng(3).integers(0, 1 << 32, SIZE // 4, dtype=np.uint32).view(np.float32)
    return {f"w{i}": block.copy() for i in range(COUNT)}


def as_model(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    import onnx
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    return onnx.helper.make_model(onnx.helper.make_graph([], "peer", [], [], initializer=tensors))


def as_ir(weights: dict[str, np.ndarray]) -> onnx_ir.Model:
    import onnx_ir
    values = [onnx_ir.Value(name=name, const_value=onnx_ir.Tensor(array, name=name)) for name, array in weights.items()]
    return onnx_ir.Model(onnx_ir.Graph([], [], nodes=[], initializers=values, name="peer", opset_imports={"": 20}), ir_version=10)


def remove_saved(name: str, folder: pathlib.Path) -> None:
    for old in (folder / f"{name}.onnx", folder / f"{name}.data"):
        old.unlink(missing_ok=True)


def saver(name: str, folder: pathlib.Path) -> Callable[[], None]:
    """Makes everything except the writing ready, so that only the writing is timed."""
    path = folder / f"{name}.onnx"
    if name.startswith("safetensors"):
        import safetensors.numpy
        weights = arrays()
        if name == "safetensors with model":
            weights["__MODEL_PROTO"] = np.zeros(1000, np.uint8)  # about as large as the model without its weights
        return lambda: safetensors.numpy.save_file(weights, path)
    if name == "torch":
        import torch
        tensors = {name: torch.from_numpy(array) for name, array in arrays().items()}
        return lambda: torch.save(tensors, path)
    if name == "onnxar":
        import onnxar
        model = as_ir(arrays())
        return lambda: onnxar.save(model, path, overwrite=True, sync=False)
    if name == "onnx_ir":
        import onnx_ir
        model = as_ir(arrays())
        return lambda: onnx_ir.save(model, path, external_data=f"{name}.data")
    if name in ("onnxar of protos", "onnxar of protos in onnx_ir", "onnx_ir of protos", "raw_data"):
        return saver_of_protos(name, path)
    import onnx
    proto = as_model(arrays())
    if name == "module":
        sys.path.append(RFC)
        import onnx_archive
        return lambda: onnx_archive.save(proto, path)
    return lambda: onnx.save(proto, path, save_as_external_data=True, location=f"{name}.data")


def saver_of_protos(name: str, path: pathlib.Path) -> Callable[[], None]:
    import onnx_ir
    import onnxar
    proto = as_model(arrays())
    ir = onnx_ir.from_proto(proto)
    return {
        "raw_data": lambda: [len(tensor.raw_data) for tensor in proto.graph.initializer],
        "onnxar of protos": lambda: onnxar.save(proto, path, sync=False),
        "onnxar of protos in onnx_ir": lambda: onnxar.save(ir, path, sync=False),
        "onnx_ir of protos": lambda: onnx_ir.save(ir, path, external_data=f"{name}.data"),
    }[name]


def loader(name: str, folder: pathlib.Path) -> Callable[[], list[np.ndarray]]:
    path = folder / f"{name.removesuffix(', mapped')}.onnx"
    if name == "safetensors, mapped":
        return lambda: mapped_safetensors(path)
    if name.startswith("safetensors"):
        import safetensors

        def load() -> list[np.ndarray]:
            with safetensors.safe_open(path, "np") as file:
                return [file.get_tensor(key) for key in file.keys() if key != "__MODEL_PROTO"]
        return load
    if name == "torch":
        import torch
        return lambda: [tensor.numpy() for tensor in torch.load(path, mmap=True).values()]
    if name == "onnxar":
        import onnxar
        return lambda: list(onnxar.open(path).values())
    if name == "onnx_ir":
        import onnx_ir
        return lambda: [value.const_value.numpy() for value in onnx_ir.load(path).graph.initializers.values()]
    import onnx
    if name.startswith("module"):
        sys.path.append(RFC)
        import onnx_archive
        return lambda: arrays_of_module(onnx_archive.Archive(path), "mapped" in name)
    return lambda: [onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer]


def arrays_of_module(archive: onnx_archive.Archive, are_mapped: bool) -> list[np.ndarray]:
    model = archive.model()
    if not are_mapped:
        archive.load_tensors(model)  # as onnx.load does
    return [archive.array(tensor) for tensor in model.graph.initializer]


def mapped_safetensors(path: pathlib.Path) -> list[np.ndarray]:
    file = np.memmap(path, np.uint8, "r")
    begin = 8 + int(file[:8].view("<u8")[0])
    tensors = [each for key, each in json.loads(file[8:begin].tobytes()).items() if key != "__metadata__"]
    places = [(begin + low, begin + high, each["shape"]) for each in tensors for low, high in [each["data_offsets"]]]
    return [file[low:high].view("<f4").reshape(shape) for low, high, shape in places]


def saving(name: str, folder: pathlib.Path) -> dict[str, float]:
    times, busy, memory = [], [], []
    for _ in range(1 + AGAIN):
        work = saver(name, folder)  # anew, because onnx takes the data out of the model that it saves
        remove_saved(name, folder)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is what is used now
        begin, cpu, before = time.perf_counter(), time.process_time(), used("VmRSS")
        work()
        times.append(time.perf_counter() - begin)
        busy.append(time.process_time() - cpu)
        memory.append(used("VmHWM") - before)
        del work  # its gigabyte, before the next one is made
    if name.startswith("onnxar of protos"):
        expect_saved(folder / f"{name}.onnx")
    return {"first": times[0], "seconds": statistics.median(times[1:]), "first_cpu": busy[0], "cpu": statistics.median(busy[1:]),
            "memory": max(memory)}  # fmt: skip


def expect_saved(path: pathlib.Path) -> None:
    import onnxar
    with onnxar.open(path) as archive:
        if len(archive) != COUNT or not all(np.array_equal(archive[name].view(np.uint32), array.view(np.uint32)) for name, array in arrays().items()):
            raise SystemExit(f"{path.stem}: other data than was saved")


def used(field: str) -> int:
    """VmRSS: the memory of this process, in bytes; VmHWM: its peak."""
    line = next(line for line in open("/proc/self/status") if line.startswith(field))
    return int(line.split()[1]) * 1024


def loading(action: str, name: str, folder: pathlib.Path) -> dict[str, float]:
    work, total = loader(name, folder), 0
    begin, cpu = time.perf_counter(), time.process_time()
    result = work()
    if action == "read":
        total = sum(int(np.ascontiguousarray(array).view(np.uint64).sum(dtype=np.uint64)) for array in result)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    if len(result) != COUNT or any(array.nbytes != SIZE for array in result):
        raise SystemExit(f"{name} loaded wrong tensors")
    if action == "read" and total != sum(int(array.view(np.uint64).sum(dtype=np.uint64)) for array in arrays().values()):
        raise SystemExit(f"{name} loaded wrong bytes")
    return {"seconds": seconds, "cpu": cpu}


def main() -> None:
    action, name, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    print(json.dumps(saving(name, folder) if action == "save" else loading(action, name, folder)))


if __name__ == "__main__":
    main()

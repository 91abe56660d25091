"""Makes the models for the measurements."""

from __future__ import annotations

import pathlib

import numpy as np
import onnx

TENSOR = 32 << 20
INLINE_TENSORS = 63  # one fewer than 2 GiB, which is protobuf's limit

def plain(tensors: list[onnx.TensorProto]) -> bytes:
    return onnx.helper.make_model(onnx.helper.make_graph([], "bench", [], [], initializer=tensors)).SerializeToString()


def make_large(folder: pathlib.Path, size: int) -> tuple[pathlib.Path, pathlib.Path]:
    """Makes a model of `size` bytes, inline and with external data. The inline one stays below protobuf's 2 GiB."""
    block = np.random.default_rng(1).integers(0, 1 << 32, TENSOR // 4, dtype=np.uint32)
    inline, external = folder / "inline.onnx", folder / "external.onnx"
    tensors = []
    with open(folder / "external.data", "wb") as data:
        for i in range(size // TENSOR):
            tensor = onnx.TensorProto(name=f"layer.{i}.weight", data_type=onnx.TensorProto.UINT32, dims=[TENSOR // 4])
            tensor.raw_data = (block + np.uint32(i)).tobytes()
            data.write(tensor.raw_data)
            tensors.append(tensor)
    inline.write_bytes(plain(tensors[:INLINE_TENSORS]))
    for i, tensor in enumerate(tensors):
        link(tensor, "external.data", i * TENSOR, TENSOR)
    external.write_bytes(plain(tensors))
    return inline, external


def link(tensor: onnx.TensorProto, location: str, offset: int, length: int) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)


def make_external(folder: pathlib.Path, size: int, tensor_size: int, name: str) -> pathlib.Path:
    """Makes a model whose `size` bytes of weights are in a data file of random bytes."""
    block = np.random.default_rng(2).bytes(tensor_size)
    tensors = []
    with open(folder / f"{name}.data", "wb") as data:
        for i in range(size // tensor_size):
            tensor = onnx.TensorProto(name=f"w{i}", data_type=onnx.TensorProto.UINT8, dims=[tensor_size])
            link(tensor, f"{name}.data", i * tensor_size, tensor_size)
            data.write(block)
            tensors.append(tensor)
    path = folder / f"{name}.onnx"
    path.write_bytes(plain(tensors))
    return path


def make_small_tensors(folder: pathlib.Path, count: int) -> pathlib.Path:
    tensors = [onnx.helper.make_tensor(f"decoder.layers.weight.{i}", onnx.TensorProto.FLOAT, [16], b"\1" * 64, raw=True)
               for i in range(count)]
    path = folder / f"small_{count}.onnx"
    path.write_bytes(plain(tensors))
    return path

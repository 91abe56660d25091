"""Writes an ONNX archive with zipfile and onnx: write.py [--large] ARCHIVE"""

import struct
import sys
from collections.abc import Iterator
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

import numpy
from onnx import ModelProto, TensorProto, helper

PIECE = numpy.arange(1 << 18, dtype="<f4").tobytes()  # 1 MiB: every weight repeats it
LIMIT = 0x7FFFFFFF  # zipfile writes a zip64 field above it, and the format takes one of any size


def pieces(size: int) -> Iterator[bytes]:
    """As many bytes, in pieces, so that memory stays small."""
    for begin in range(0, size, len(PIECE)):
        yield PIECE[: size - begin]


def add(archive: ZipFile, file: BinaryIO, name: str, size: int, data: Iterator[bytes]) -> None:
    info = ZipInfo(name)
    zeros = -(file.tell() + 30 + len(name) + 6 + (20 if size > LIMIT else 0)) % 64
    info.extra = struct.pack("<3H", 0xD935, 2 + zeros, 64) + bytes(zeros)
    with archive.open(info, "w", force_zip64=size > LIMIT) as entry:
        for piece in data:
            entry.write(piece)
    info.extra = b""  # zipfile would write the padding into the directory, too


def linked(name: str, *dims: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", name), ("offset", 0), ("length", 4 * dims[0] * dims[1])):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(rows: int, columns: int) -> ModelProto:
    nodes = [helper.make_node("MatMul", ["x", "weight"], ["xw"]), helper.make_node("Add", ["xw", "bias"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, rows])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, columns])
    weights = [linked("weight", rows, columns), linked("bias", 16, columns)]
    graph = helper.make_graph(nodes, "example", [x], [y], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def write(path: str, rows: int, columns: int) -> None:
    with open(path, "wb") as file, ZipFile(file, "w") as archive:
        for name, size in (("weight", 4 * rows * columns), ("bias", 4 * 16 * columns)):
            add(archive, file, name, size, pieces(size))
        model = model_of(rows, columns).SerializeToString()
        add(archive, file, "__MODEL_PROTO", len(model), iter([model]))


large = sys.argv[1:2] == ["--large"]
if len(sys.argv) != (3 if large else 2):
    sys.exit("usage: write.py [--large] ARCHIVE")
write(sys.argv[-1], *((1 << 20) + 1024, 1024) if large else (64, 32))

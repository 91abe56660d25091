"""Prints the weights of an ONNX archive with zipfile and onnx: load.py ARCHIVE"""

import mmap
import re
import sys
import zlib
from math import prod
from zipfile import ZipFile

from container import entries, need
from onnx import ModelProto, TensorProto

BITS = (0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2)  # by data type


def linked(tensor: TensorProto, entries: dict[str, memoryview]) -> memoryview:
    keys, link = [pair.key for pair in tensor.external_data], {p.key: p.value for p in tensor.external_data}
    need(all(keys.count(key) < 2 for key in ("location", "offset", "length", "checksum")), "a key is given twice")
    bits = BITS[tensor.data_type] if 0 <= tensor.data_type < len(BITS) else 0
    need(bits and len(tensor.dims) <= 1024 and min(tensor.dims, default=0) >= 0, "bad type or shape")
    size = (prod(tensor.dims) * bits + 7) // 8
    offset, length = link.get("offset", "0"), link.get("length", str(size))
    need(all(re.fullmatch("0|[1-9][0-9]*", number) for number in (offset, length)), "not a number")
    data = entries[link["location"]]
    need(int(length) == size and int(offset) + size <= len(data), "out of the entry's range, or of another length")
    return data[int(offset) : int(offset) + size]


if len(sys.argv) != 2:
    sys.exit("usage: load.py ARCHIVE")
try:
    with open(sys.argv[1], "rb") as source, ZipFile(source) as archive:
        found = entries(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ), archive)
        for tensor in ModelProto.FromString(found["__MODEL_PROTO"]).graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                crc = zlib.crc32(linked(tensor, found))
                print(tensor.name, tensor.data_type, ",".join(map(str, tensor.dims)), f"{crc:08x}")
except Exception as error:
    sys.exit(f"load.py: {type(error).__name__}: {error}")

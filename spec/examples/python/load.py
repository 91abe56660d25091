"""Prints the weights of an ONNX archive with zipfile and onnx: load.py ARCHIVE"""

import mmap
import re
import struct
import sys
import zlib
from math import prod
from zipfile import ZipFile

from onnx import ModelProto, TensorProto

BITS = (0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2)  # by data type
FULL = (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
NAME = re.compile(r"__MODEL_PROTO|(?!__[A-Z])[ !#-)+-9=@-\[\]-{}~]+")


def need(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def directory(file: mmap.mmap) -> list[int]:
    """Number of entries, size and offset: zipfile searches for them, but they have one place."""
    need(file[-22:-18] == b"PK\5\6" and file[-2:] == b"\0\0", "there is not an end record at the end")
    end, found = len(file) - 22, [*struct.unpack("<H2L", file[-12:-2])]
    if file[-42:-38] == b"PK\6\7":
        end, short = end - 76, found
        magic, size, version, *found = struct.unpack("<4sQ2xH16x3Q", file[end : end + 56])
        need((magic, size) == (b"PK\6\6", 44) and 10 <= version <= 45, "bad zip64 end record")
        need(file[end + 64 : end + 72] == end.to_bytes(8, "little"), "the zip64 locator points elsewhere")
        need(all(a in (b, c) for a, b, c in zip(short, found, FULL)), "the end records disagree")
    else:
        need(not any(map(int.__eq__, found, FULL)), "there is not a zip64 locator")
    need(found[1] + found[2] == end and 0 < found[0] <= found[1] // 46, "the directory is somewhere else")
    return found


def fields(extra: bytes) -> dict[int, bytes]:
    found = {}
    while extra:
        kind, size = struct.unpack("<2H", extra[:4])
        need(4 + size <= len(extra) and kind not in found, "bad extra fields")
        found[kind], extra = extra[4 : 4 + size], extra[4 + size :]
    return found


def entries(file: mmap.mmap, archive: ZipFile) -> dict[str, memoryview]:
    """The bytes of all entries, where they are: zipfile would copy them, and does not compare the sizes."""
    (count, size, offset), infos, found = directory(file), archive.infolist(), {}
    need(sum(46 + len(i.orig_filename + i.comment.decode()) + len(i.extra) for i in infos) == size, "bad directory")
    need(len(infos) == count and infos[0].header_offset == 0, "bad number of entries, or place of the first one")
    for info, end in zip(infos, [info.header_offset for info in infos[1:]] + [offset]):
        at, name, size = info.header_offset, info.orig_filename, info.file_size
        need(NAME.fullmatch(name) and name not in found, "bad name")
        need(not info.flag_bits & 0x2049 and not info.compress_type and size == info.compress_size, "not plainly stored")
        need({*fields(info.extra)} <= {1, 0xA11E}, "an extra field that is not known")
        *short, name_size, extra_size = struct.unpack("<2L2H", file[at + 18 : at + 30])
        begin = at + 30 + name_size + extra_size
        need(file[at : at + 4] == b"PK\3\4" and file[at + 30 : at + 30 + name_size] == name.encode(), "bad local header")
        long = fields(file[at + 30 + name_size : begin]).get(1)
        same = [*struct.unpack("<2Q", long)] == [size, size] if long else FULL[1] not in short
        need(same and {*short} <= {size, FULL[1]}, "the local header has another size")
        need(begin + size <= end, "an entry goes beyond the next one")
        found[name] = memoryview(file)[begin : begin + size]
    return found


def linked(tensor: TensorProto, entries: dict[str, memoryview]) -> memoryview:
    keys, link = [pair.key for pair in tensor.external_data], {p.key: p.value for p in tensor.external_data}
    need(all(keys.count(key) < 2 for key in ("location", "offset", "length", "checksum")), "a key is given twice")
    bits = BITS[tensor.data_type] if tensor.data_type < len(BITS) else 0
    need(bits and len(tensor.dims) <= 1024 and min(tensor.dims, default=0) >= 0, "bad type or shape")
    size = (prod(tensor.dims) * bits + 7) // 8
    offset, length = link.get("offset", "0"), link.get("length", str(size))
    need(all(re.fullmatch("0|[1-9][0-9]*", number) for number in (offset, length)), "not a number")
    data = entries[link["location"]]
    need(int(length) == size and int(offset) + size <= len(data), "out of the entry's range, or of another length")
    return data[int(offset) : int(offset) + size]


try:
    with open(sys.argv[1], "rb") as source, ZipFile(source) as archive:
        found = entries(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ), archive)
        for tensor in ModelProto.FromString(found["__MODEL_PROTO"]).graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                crc = zlib.crc32(linked(tensor, found))
                print(tensor.name, tensor.data_type, ",".join(map(str, tensor.dims)), f"{crc:08x}")
except Exception as error:  # noqa: BLE001
    sys.exit(f"load.py: {type(error).__name__}: {error}")

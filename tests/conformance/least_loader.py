"""A loader that applies exactly the rules of spec/loading.md. Comments give the numbers of the rules."""

from __future__ import annotations

import math
import re
import warnings
from struct import unpack_from as read

import onnx
from google.protobuf.message import DecodeError, Message

NONE_16, NONE_32 = 0xFFFF, 0xFFFFFFFF
BITS = (0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6)  # by data type
PLAIN = re.compile("0|[1-9][0-9]{0,19}")


class Refused(Exception):
    pass


def need(holds, rule):
    if not holds:
        raise Refused(rule)


def extras(room):  # 10 and 17
    while room:
        need(len(room) >= 4 and len(room) >= 4 + read("<H", room, 2)[0], "extra fields")
        number, size = read("<2H", room)
        yield number, room[4 : 4 + size]
        room = room[4 + size :]


def end_of(file):  # 1 to 5: entries, directory's begin and end
    end = len(file) - 22
    need(end >= 0 and file[end : end + 4] == b"PK\5\6" and file[end + 20 :] == b"\0\0", 1)
    count, size, begin = own = read("<H2I", file, end + 10)
    if end >= 20 and file[end - 20 : end - 16] == b"PK\6\7":
        end -= 76
        need(end >= 0 and read("<Q", file, end + 64)[0] == end, 3)
        need(file[end : end + 12] == b"PK\6\6\x2c" + bytes(7) and 10 <= read("<H", file, end + 14)[0] <= 45, 3)
        count, size, begin = wide = read("<3Q", file, end + 32)
        need(all(a in (b, none) for a, b, none in zip(own, wide, (NONE_16, NONE_32, NONE_32))), 3)
    else:
        need(count != NONE_16 and NONE_32 not in (size, begin), 2)
    need(begin + size == end and 1 <= count <= size // 46, 5)
    return count, begin, end


def wide_values(own, field):  # 11
    n = own.count(NONE_32)
    if len(field) == 8 * n:
        values = iter(read(f"<{n}Q", field))
        return [next(values) if value == NONE_32 else value for value in own]
    need(len(field) in (24, 28) and own[:n] == (NONE_32,) * n and own[n:] == read("<3Q", field)[n:], 11)
    return read("<3Q", field)


def directory_of(file):  # 6 to 14: by name the offset of the local header, the size, the offset of what follows
    count, at, end = end_of(file)
    begin, found = at, []
    for _ in range(count):
        need(at + 46 <= end and file[at : at + 4] == b"PK\1\2", "header")
        flags, method = read("<2H", file, at + 8)
        packed, size, name, extra, comment = read("<2I3H", file, at + 20)
        need(at + 46 + name + extra + comment <= end, "header")
        need(flags & 0x2049 == 0 and method == 0, 6)
        own, at = (size, packed, *read("<I", file, at + 42)), at + 46 + name
        name, fields = file[at - name : at], list(extras(file[at : at + extra]))
        at += extra + comment
        need(re.fullmatch(rb"[ -~]*", name) and not re.search(rb'[\\:*?"<>|;]', name), 7)
        need(name == b"__MODEL_PROTO" or not re.match(rb"__[A-Z]", name), 9)
        need(len(dict(fields)) == len(fields) and dict(fields).keys() <= {1, 0xA11E}, 10)
        size, packed, offset = wide_values(own, dict(fields).get(1, b""))
        need(size == packed, 12)
        found.append((name, offset, size))
    need(at == end and found[0][1] == 0, 13)
    limits = [offset for _, offset, _ in found[1:]] + [begin]
    need(all(offset + 30 + len(name) + size <= limit for (name, offset, size), limit in zip(found, limits)), 13)
    entries = {name.decode(): (offset, size, limit) for (name, offset, size), limit in zip(found, limits)}
    need(len(entries) == count and "__MODEL_PROTO" in entries, 14)
    return entries


def data_of(file, name, offset, size, limit):  # 15 to 17
    packed, own, length, extra = read("<2I2H", file, offset + 18)
    begin = offset + 30 + length + extra
    need(file[offset : offset + 4] == b"PK\3\4" and file[offset + 30 : begin - extra] == name.encode(), 15)
    need(begin + size <= limit, 16)
    wide = [field for number, field in extras(file[begin - extra : begin]) if number == 1]
    need(all(len(field) == 16 and read("<2Q", field) == (size, size) for field in wide), 17)
    need({packed, own} <= ({size, NONE_32} if wide else {size} - {NONE_32}), 17)
    return file[begin : begin + size]


def tensors_in(message):
    if isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL:
        yield message
    for field, value in message.ListFields():
        if field.message_type:
            for each in [value] if isinstance(value, Message) else value:
                yield from tensors_in(each)


def tensor_data(tensor, data):  # 18 to 24
    need(tensor.data_type not in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING), 18)
    keys = [pair.key for pair in tensor.external_data if pair.key in ("location", "offset", "length", "checksum")]
    need(len(keys) == len(set(keys)), 19)
    where = {pair.key: pair.value for pair in tensor.external_data}
    need(where.get("location") and where["location"] in data, 20)
    for key in {"offset", "length"} & where.keys():
        need(PLAIN.fullmatch(where[key]) and int(where[key]) < 1 << 64, 21)
    entry, offset = data[where["location"]], int(where.get("offset", 0))
    length = int(where.get("length", max(0, len(entry) - offset)))
    need(len(tensor.dims) <= 1024 and min(tensor.dims, default=0) >= 0, 22)
    elements = math.prod(tensor.dims)
    bits = dict(enumerate(BITS)).get(tensor.data_type, 0)
    if bits or elements == 0:
        size = (elements * bits + 7) // 8
        need(max(elements, size) < 1 << 64 and int(where.get("length", size)) == size, 23)
        length = size
    need(offset + length <= len(entry), 24)
    return entry[offset : offset + length]


def parsed(data):
    """None if the parser refuses it."""
    model = onnx.ModelProto()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of groups
            return model if model.ParseFromString(data) == len(data) else None
    except (DecodeError, UnicodeDecodeError):
        return None


def load(file):
    """Reads all of an archive. Raises an exception if it refuses the archive."""
    data = {name: data_of(file, name, *place) for name, place in directory_of(file).items()}
    model = parsed(data["__MODEL_PROTO"])
    return model and [(tensor.name, tensor_data(tensor, data)) for tensor in tensors_in(model)]

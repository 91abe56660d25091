"""What a loader proves and zipfile does not, after ../../loading.md."""

import mmap
import re
import struct
from zipfile import ZipFile

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
    """Returns the bytes of all entries, where they are: zipfile would copy them, and does not compare the sizes."""
    (count, size, offset), infos, found = directory(file), archive.infolist(), {}
    need(sum(46 + len(i.orig_filename + i.comment.decode()) + len(i.extra) for i in infos) == size, "bad directory")
    need(len(infos) == count and infos[0].header_offset == 0, "bad number of entries, or place of the first one")
    for info, end in zip(infos, [info.header_offset for info in infos[1:]] + [offset]):
        at, name, size = info.header_offset, info.orig_filename, info.file_size
        need(NAME.fullmatch(name) and name not in found, "bad name")
        stored = (info.flag_bits & 0x2049, info.compress_type, info.compress_size) == (0, 0, size)
        need(stored, "an entry is not plainly stored")
        need({*fields(info.extra)} <= {1, 0xA11E}, "an extra field that is not known")
        *short, name_size, extra_size = struct.unpack("<2L2H", file[at + 18 : at + 30])
        begin = at + 30 + name_size + extra_size
        same = (file[at : at + 4], file[at + 30 : at + 30 + name_size]) == (b"PK\3\4", name.encode())
        need(same, "bad local header")
        long = fields(file[at + 30 + name_size : begin]).get(1)
        same = FULL[1] not in short if long is None else long == 2 * size.to_bytes(8, "little")
        need(same and {*short} <= {size, FULL[1]}, "the local header has another size")
        need(begin + size <= end, "an entry goes beyond the next one")
        found[name] = memoryview(file)[begin : begin + size]
    return found

"""Other zip readers. Each gives names, sizes and digests of the data that it reads from a file.

`peers.py NAME` runs one of the readers that Python can call: it reads paths from standard input, one a line, and prints
a line of JSON for each: {"entries": [[name in hexadecimal, size, digest], ...]} in the reader's order, or
{"refused": why}. A fourth value of an entry is its size in the reader's listing, if that differs. The programs in
peers/ speak the same protocol. workers.py starts all of them.
"""

from __future__ import annotations

import ctypes
import functools
import json
import locale
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

MOST = 1 << 20  # bytes of an entry that a peer may hand out; no entry here has as many


class Read(NamedTuple):
    """An entry as one reader read it."""

    name: bytes
    size: int
    digest: str  # CRC-32 and Adler-32 of the bytes; two entries may well have the same CRC
    stated: int | None = None  # its size in the peer's listing, if that differs


class Refused(Exception):
    """A peer refuses the file."""


def digest_of(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}"


def read_of(name: bytes, stated: int, data: bytes) -> Read:
    return Read(name, len(data), digest_of(data), None if stated == len(data) else stated)


# --- Python --------------------------------------------------------------------------------------


def _python_data(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with file.open(info) as data:
        return data.read(MOST)


def python(path: Path) -> list[Read]:
    try:
        with zipfile.ZipFile(path) as file:
            infos = file.infolist()
            return [read_of(i.filename.encode(), i.file_size, _python_data(file, i)) for i in infos]
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None


# --- libraries -----------------------------------------------------------------------------------

_TYPES = {
    "p": ctypes.c_void_p, "s": ctypes.c_char_p, "i": ctypes.c_int, "u": ctypes.c_uint, "q": ctypes.c_int64,
    "Q": ctypes.c_uint64, "L": ctypes.c_ulong,
}  # fmt: skip


def load(name: str, **functions: str) -> ctypes.CDLL:
    """Functions with their types, one letter each: the result, then the arguments."""
    loaded = ctypes.CDLL(name)
    for function, code in functions.items():
        entry = getattr(loaded, function)
        entry.restype, *entry.argtypes = (_TYPES[letter] for letter in code)
    return loaded


@functools.cache
def libzip_library() -> ctypes.CDLL:
    return load(
        "libzip.so.4", zip_open="psip", zip_discard="ip", zip_get_num_entries="qpu", zip_get_name="spQu",
        zip_stat_index="ipQup", zip_fopen_index="ppQu", zip_fread="qppQ", zip_fclose="ip", zip_strerror="sp",
        zip_file_strerror="sp",
    )  # fmt: skip


CHECKCONS, RDONLY = 4, 16  # flags of zip_open


def _fields(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


class ZipStat(ctypes.Structure):
    _fields_ = [
        *_fields(ctypes.c_uint64, "valid"),
        *_fields(ctypes.c_char_p, "name"),
        *_fields(ctypes.c_uint64, "index", "size", "comp_size"),
        *_fields(ctypes.c_long, "mtime"),
        *_fields(ctypes.c_uint32, "crc"),
        *_fields(ctypes.c_uint16, "comp_method", "encryption_method"),
        *_fields(ctypes.c_uint32, "flags"),
    ]


def _libzip_data(archive: int, index: int) -> bytes:
    lib = libzip_library()
    file = lib.zip_fopen_index(archive, index, 0)
    if not file:
        raise Refused(lib.zip_strerror(archive).decode())
    try:
        buffer, data = ctypes.create_string_buffer(1 << 14), b""
        while (count := lib.zip_fread(file, buffer, len(buffer))) > 0 and len(data) < MOST:
            data += buffer.raw[:count]
        if count < 0:  # also if the CRC is wrong
            raise Refused(lib.zip_file_strerror(file).decode())
        return data
    finally:
        lib.zip_fclose(file)


def _libzip_entries(archive: int) -> Iterator[Read]:
    lib = libzip_library()
    for index in range(lib.zip_get_num_entries(archive, 0)):
        stat = ZipStat()
        if lib.zip_stat_index(archive, index, 0, ctypes.byref(stat)) != 0:
            raise Refused(lib.zip_strerror(archive).decode())
        yield read_of(lib.zip_get_name(archive, index, 0), stat.size, _libzip_data(archive, index))


def libzip(path: Path) -> list[Read]:
    """With its consistency checks."""
    error = ctypes.c_int()
    archive = libzip_library().zip_open(bytes(path), CHECKCONS | RDONLY, ctypes.byref(error))
    if not archive:
        raise Refused(f"zip_open: error {error.value}")
    try:
        return list(_libzip_entries(archive))
    finally:
        libzip_library().zip_discard(archive)


@functools.cache
def minizip_library() -> ctypes.CDLL:
    return load(
        "libminizip.so.1", unzOpen64="ps", unzClose="ip", unzGoToFirstFile="ip", unzGoToNextFile="ip",
        unzGetCurrentFileInfo64="ippsLpLpL", unzOpenCurrentFile="ip", unzReadCurrentFile="ippu", unzCloseCurrentFile="ip",
    )  # fmt: skip


END_OF_LIST = -100
NAME_ROOM = 1 << 16


class UnzFileInfo(ctypes.Structure):
    _fields_ = [
        *_fields(ctypes.c_ulong, "version", "version_needed", "flag", "compression_method", "dos_date", "crc"),
        *_fields(ctypes.c_uint64, "compressed_size", "uncompressed_size"),
        *_fields(ctypes.c_ulong, "size_filename", "size_file_extra", "size_file_comment"),
        *_fields(ctypes.c_ulong, "disk_num_start", "internal_fa", "external_fa"),
        ("tm", ctypes.c_uint * 6),
    ]


def _good(status: int) -> int:
    if status < 0:
        raise Refused(f"error {status}")
    return status


def _minizip_entry(archive: int) -> Read:
    lib, info, name = minizip_library(), UnzFileInfo(), ctypes.create_string_buffer(NAME_ROOM)
    reference = ctypes.byref(info)
    _good(lib.unzGetCurrentFileInfo64(archive, reference, name, NAME_ROOM, None, 0, None, 0))
    _good(lib.unzOpenCurrentFile(archive))
    buffer, data = ctypes.create_string_buffer(1 << 14), b""
    while (count := _good(lib.unzReadCurrentFile(archive, buffer, len(buffer)))) > 0:
        data += buffer.raw[:count]
        if len(data) > MOST:
            break
    _good(lib.unzCloseCurrentFile(archive))  # compares the CRC
    return read_of(name.raw[: info.size_filename], info.uncompressed_size, data)


def _minizip_entries(archive: int) -> Iterator[Read]:
    status = _good(minizip_library().unzGoToFirstFile(archive))
    while status == 0:
        yield _minizip_entry(archive)
        status = minizip_library().unzGoToNextFile(archive)
    if status != END_OF_LIST:
        _good(status)


def minizip(path: Path) -> list[Read]:
    archive = minizip_library().unzOpen64(bytes(path))
    if not archive:
        raise Refused("unzOpen64")
    try:
        return list(_minizip_entries(archive))
    finally:
        minizip_library().unzClose(archive)


@functools.cache
def libarchive_library() -> ctypes.CDLL:
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    return load(
        "libarchive.so.13", archive_read_new="p", archive_read_support_filter_all="ip", archive_read_support_format_all="ip",
        archive_read_open_filename="ipsL", archive_read_open="ippppp", archive_read_next_header="ipp",
        archive_entry_pathname="sp", archive_entry_size="qp", archive_entry_filetype="up", archive_read_data="qppL",
        archive_error_string="sp", archive_read_free="ip",
    )  # fmt: skip


END_OF_ARCHIVE, WARNING = 1, -20
FOLDER, REGULAR = 0o040000, 0o100000


def _libarchive_good(archive: int, status: int, least: int = 0) -> int:
    if status < least:
        said = libarchive_library().archive_error_string(archive) or b"no reason"
        raise Refused(said.decode(errors="replace"))
    return status


def _libarchive_entry(archive: int, entry: ctypes.c_void_p) -> Read:
    lib = libarchive_library()
    buffer, data = ctypes.create_string_buffer(1 << 14), b""
    name, kind = lib.archive_entry_pathname(entry) or b"", lib.archive_entry_filetype(entry)
    stated = lib.archive_entry_size(entry)
    reading = functools.partial(lib.archive_read_data, archive, buffer, len(buffer))
    while (count := _libarchive_good(archive, reading())) > 0 and len(data) < MOST:
        data += buffer.raw[:count]
    if kind not in (FOLDER, REGULAR):
        name += b" (no regular file)"
    return read_of(name, stated or len(data), data)  # a stream may state its size after the data


def _libarchive_entries(archive: int) -> Iterator[Read]:
    entry = ctypes.c_void_p()
    while True:
        status = libarchive_library().archive_read_next_header(archive, ctypes.byref(entry))
        if _libarchive_good(archive, status, WARNING) == END_OF_ARCHIVE:
            return
        yield _libarchive_entry(archive, entry)


def _libarchive(begin: Callable[[int], int]) -> list[Read]:
    """What bsdtar reads: formats are told by content, as it does."""
    lib = libarchive_library()
    archive = lib.archive_read_new()
    try:
        lib.archive_read_support_filter_all(archive)
        lib.archive_read_support_format_all(archive)
        _libarchive_good(archive, begin(archive))
        return list(_libarchive_entries(archive))
    finally:
        lib.archive_read_free(archive)


def bsdtar(path: Path) -> list[Read]:
    open_file = libarchive_library().archive_read_open_filename
    return _libarchive(lambda archive: open_file(archive, bytes(path), 10240))


READ_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))


def bsdtar_piped(path: Path) -> list[Read]:
    """As on a pipe: the library can neither seek nor skip."""
    data = path.read_bytes()
    whole = ctypes.create_string_buffer(data, len(data))
    sizes = iter([len(data), 0])

    def give(_archive: int, _client: int, at: ctypes.Array) -> int:
        at[0] = ctypes.addressof(whole)
        return next(sizes, 0)

    callback = READ_CALLBACK(give)
    pointer = ctypes.cast(callback, ctypes.c_void_p)
    open_stream = libarchive_library().archive_read_open
    return _libarchive(lambda archive: open_stream(archive, None, None, pointer, None))


# --- programs ------------------------------------------------------------------------------------

_ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "UNZIP": "", "ZIPINFO": ""}


def said(*command: object, warnings: tuple[int, ...] = ()) -> bytes:
    """Standard output of a program; `warnings` are exit codes that are not yet a refusal."""
    words = list(map(str, command))
    done = subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL, env=_ENVIRONMENT)
    if done.returncode not in (0, *warnings):
        errors = done.stderr.decode(errors="replace").replace(words[-1], "FILE").split()
        raise Refused(f"exit code {done.returncode}: {' '.join(errors)[:300]}")
    return done.stdout


def cut(listed: list[tuple[bytes, int]], data: bytes) -> list[Read]:
    """Names and sizes as they are listed, and the bytes of all entries one after another."""
    out, at = [], 0
    for name, size in listed:
        out.append(read_of(name, size, data[at : at + size]))
        at += size
    return [*out, *([read_of(b"(more)", 0, data[at:])] if len(data) > at else [])]


# Blocks of `7z l -slt`: lines `Key = value`, parted by empty ones.
_KEYS = re.compile(rb"^(Path|Size|Folder) = (.*)$", re.MULTILINE)


def seven_zip(path: Path) -> list[Read]:
    listing = said("7z", "l", "-slt", "-tzip", "-sccUTF-8", path, warnings=(1,))
    listed = []
    for block in listing.partition(b"\n----------\n")[2].split(b"\n\n"):
        if keys := dict(_KEYS.findall(block)):
            folder = b"/" if keys[b"Folder"] == b"+" else b""
            listed.append((keys[b"Path"] + folder, int(keys[b"Size"])))
    return cut(listed, said("7z", "x", "-so", "-tzip", path, warnings=(1,)))


# A line of `unzip -v`: length, method, size, ratio, date, time, CRC, name.
_LINE = re.compile(rb"^ *(\d+)  \S+ +\d+ +\S+ \S+ \S+ [0-9a-f]{8}  (.*)$", re.MULTILINE)


def unzip(path: Path) -> list[Read]:
    listing = said("unzip", "-v", path, warnings=(1,))
    listed = [(name, int(size)) for size, name in _LINE.findall(listing)]
    return cut(listed, said("unzip", "-p", path, warnings=(1,)))


# --- all of them ---------------------------------------------------------------------------------

READERS: dict[str, Callable[[Path], list[Read]]] = {
    "python": python,
    "libzip": libzip,
    "minizip": minizip,
    "bsdtar": bsdtar,
    "bsdtar piped": bsdtar_piped,
    "7z": seven_zip,
    "unzip": unzip,
}


def answer(read: Callable[[Path], list[Read]], path: Path) -> dict[str, object]:
    try:
        entries = read(path)
    except Refused as refusal:
        return {"refused": str(refusal)}
    return {"entries": [[e.name.hex(), e.size, e.digest] + [e.stated] * (e.stated is not None) for e in entries]}


def main(name: str) -> None:
    for line in sys.stdin:
        print(json.dumps(answer(READERS[name], Path(line.rstrip("\n")))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

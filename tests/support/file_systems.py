"""Mounts file systems from files for tests, and finds the blocks of a file on them."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

SMALLEST_XFS = 300 << 20  # bytes; mkfs.xfs refuses smaller ones

_FIEMAP, _SYNC = 0xC020660B, 1
_LAST, _SHARED = 0x1, 0x2000  # flags of an extent
_HEAD, _EXTENT = struct.Struct("<QQIIII"), struct.Struct("<QQQ16xI12x")


def mounted_xfs(test: type[unittest.TestCase], *options: str, size: int = SMALLEST_XFS) -> Path:
    """An empty XFS for the tests of a class; `options` are those of mkfs.xfs. The file takes little room. Skips the
    class where none can be had."""
    home = tempfile.TemporaryDirectory()
    test.addClassCleanup(home.cleanup)
    image, folder = Path(home.name, "image"), Path(home.name, "xfs")
    with open(image, "wb") as file:
        file.truncate(size)
    folder.mkdir()
    for command in (["mkfs.xfs", "-q", *options, str(image)], ["mount", "-t", "xfs", "-o", "loop", str(image), str(folder)]):
        if shutil.which(command[0]) is None:
            raise unittest.SkipTest(f"no {command[0]}, and so no file system that shares blocks")
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"cannot mount a file system that shares blocks: {done.stderr.strip()}")
    test.addClassCleanup(subprocess.run, ["umount", str(folder)], check=True)
    return folder


def fill(filler: Path, room: int) -> None:
    """Writes a file that takes all of its file system except `room` bytes.

    The number of free blocks does not tell how large that file has to be: XFS gives the blocks of deleted files back
    later, in the background, at the latest when a file does not fit. So the file grows until nothing fits any more."""
    status = os.statvfs(filler.parent)
    step, size = status.f_bavail * status.f_frsize, 0
    with open(filler, "wb") as file:
        while step >= status.f_frsize:
            try:
                os.posix_fallocate(file.fileno(), size, step)
                size += step
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                step //= 2
        file.truncate(size - room)


def shared_ranges(path: Path) -> list[tuple[int, int]]:
    """Begin and end of the parts of a file whose blocks on the disk are shared with another file."""
    ranges, begin = [], 0
    with open(path, "rb") as file:
        while True:
            request = bytearray(_HEAD.size + 64 * _EXTENT.size)
            _HEAD.pack_into(request, 0, begin, 2**64 - 1, _SYNC, 0, 64, 0)
            fcntl.ioctl(file, _FIEMAP, request)
            count = _HEAD.unpack_from(request)[3]
            for i in range(count):
                logical, _, length, flags = _EXTENT.unpack_from(request, _HEAD.size + i * _EXTENT.size)
                begin = logical + length
                if flags & _SHARED:
                    ranges.append((logical, begin))
                if flags & _LAST:
                    return ranges
            if count == 0:
                return ranges


def shared_bytes(path: Path) -> int:
    return sum(end - begin for begin, end in shared_ranges(path))

"""Files and folders of the cache of sessions: who may write to them, whether they changed, and locks between processes."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import secrets
import stat
import sys
from collections.abc import Iterator
from typing import IO


class Unfit(Exception):
    """Why a session cannot use the cache."""


def boot() -> str:
    """Returns what tells this run of the system from others; empty if the system does not say."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def identity(path: str | os.PathLike[str]) -> str:
    """Returns what changes with the file in one run of the system: a write changes its times, and no program can set the
    time of change. Errors: OSError."""
    status = os.stat(path)
    return " ".join(map(str, [boot(), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]))


def recall(path: pathlib.Path) -> str:
    """Returns the text that `publish` wrote about an identity; empty if there is none, and where the system does not tell its runs apart."""
    with contextlib.suppress(OSError, ValueError):
        return path.read_text(encoding="utf-8") if boot() else ""
    return ""


def publish(path: pathlib.Path, text: str) -> None:
    """Writes the file at once: readers find the old text or the new one. Does nothing where it cannot write, since these files only save work."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    with contextlib.suppress(OSError):
        try:
            with open(temporary, "x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def make_private(folder: pathlib.Path) -> None:
    """Makes the folder and those that it is in, where they are missing, for this user alone. Errors: Unfit (others can change
    what is in it); OSError."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            with contextlib.suppress(FileExistsError):
                each.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if sys.platform != "win32":
        real = folder.resolve()
        _expect_own(real, stat.S_IWGRP | stat.S_IWOTH)
        sticky = real.parent.stat().st_mode & stat.S_ISVTX  # there, only owners rename their folders
        _expect_own(real.parent, 0 if sticky else stat.S_IWGRP | stat.S_IWOTH)


if sys.platform != "win32":

    def _expect_own(folder: pathlib.Path, denied: int) -> None:
        status = folder.stat()
        expect_owner(folder, status)
        if status.st_mode & denied:
            raise Unfit(f"other users can write to {folder}, and could decide what sessions compute: remove their permission (chmod go-w)")

    def expect_owner(path: pathlib.Path, status: os.stat_result) -> None:
        """Errors: Unfit."""
        if status.st_uid not in (os.geteuid(), 0):
            raise Unfit(f"{path} belongs to another user (id {status.st_uid}), who decides what is in it")

else:

    def expect_owner(path: pathlib.Path, status: os.stat_result) -> None:
        """Windows inherits the permissions of the user's folders."""


@contextlib.contextmanager
def alone(path: pathlib.Path) -> Iterator[bool]:
    """Yields whether no other process has the lock, which is not waited for. Its holder may remove the file. Errors: OSError."""
    with open(path, "ab") as file:
        try:
            _lock(file)
            locked = os.path.samestat(os.fstat(file.fileno()), path.stat())  # else its holder has just removed it
        except (BlockingIOError, FileNotFoundError):
            locked = False
        yield locked


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

"""Which faults each call can have, and what a command may do then."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from faults.running import Call, Good, Run, Tree, difference, first_publishing, judge_remains
from support.command_line import DONE, FOUND, IO

SHORT, LIMIT = "short", "limit"
NAMED = ("EIO", "EACCES")
# What each kind of call can fail with.
FAULTS = {
    "open": ("EIO", LIMIT, "EACCES", "EINTR"),
    "openat2": ("EIO", LIMIT, "EACCES", "EINTR"),
    "opendir": ("EIO", "ENOMEM"),
    "readdir": ("EIO",),
    "tmpfile": ("EIO", LIMIT, "EACCES", "ENOSPC", "EINTR"),
    "create": ("EIO", LIMIT, "EACCES", "ENOSPC", "EINTR"),
    "dup": ("EMFILE", LIMIT),
    "read": ("EIO", "EINTR", SHORT),
    "write": ("EIO", "ENOSPC", "EINTR", SHORT),
    "mmap": ("EIO", "ENOMEM", "EACCES"),
    "truncate": ("EIO", "ENOSPC", "EINTR"),
    "allocate": ("EIO", "ENOSPC", "EINTR", "EOPNOTSUPP"),
    "sync": ("EIO", "ENOSPC", "EINTR"),
    "close": ("EIO", "ENOSPC", "EINTR"),
    "lock": ("EIO", "ENOLCK", "EINTR"),
    "link": ("EIO", "ENOSPC", "EACCES"),
    "rename": ("EIO", "ENOSPC", "EACCES"),
    "rename_new": ("EIO", "ENOSPC", "EACCES"),
    "mkdir": ("EIO", "ENOSPC", "EACCES"),
    "stat": NAMED,
    "unlink": NAMED,
    "readlink": NAMED,
    "realpath": NAMED,
    "access": NAMED,
    "chmod": NAMED,
    "chown": NAMED,
    "ioctl": ("EIO",),
    "writeback": ("EIO",),
}
# Faults that go on from a call to the end, and the kinds of calls that have them: a full disk, a disk that died, a folder
# that lost its permissions, and a system that never moves all bytes at once.
LASTING = {
    "ENOSPC": ("tmpfile", "create", "write", "allocate", "mkdir", "link", "sync"),
    "EIO": ("read", "write", "mmap", "sync", "stat", "openat2"),
    "EACCES": ("open", "openat2", "tmpfile", "create", "mkdir", "link", "rename", "rename_new", "stat"),
    SHORT: ("read", "write"),
}
# Calls that were done when they report an interruption, that only advise the system, or whose failure costs rights alone.
HARMLESS = {
    ("close", "EINTR"), ("allocate", "EOPNOTSUPP"), ("access", "EIO"), ("access", "EACCES"), ("chown", "EIO"), ("chown", "EACCES"), ("writeback", "EIO"),
}  # fmt: skip


class Failure(NamedTuple):
    """A run with a fault: of one call, or lasting from it on."""

    good: Good
    call: Call
    fault: str
    lasting: bool

    def run(self) -> Run:
        what = self.fault if self.fault in (SHORT, LIMIT) else str(self.number)
        sign = "+" if self.lasting else ""
        kinds = LASTING[self.fault] if self.lasting else ()
        return self.good.stage.run(f"{self.call.number}{sign}:{what}", kinds)

    @property
    def number(self) -> int:
        """The error that calls return."""
        return errno.EMFILE if self.fault == LIMIT else int(getattr(errno, self.fault))

    @property
    def keeps_from_cleaning(self) -> bool:
        """Whether what was begun cannot be removed: hidden files and folders are left, as by a process that is killed."""
        return self.call.kind == "unlink" or (self.lasting and self.fault in ("EIO", "EACCES"))

    @property
    def is_late_write(self) -> bool:
        """Whether the output's close reports that bytes were not written, and no sync had said so before."""
        late = self.call.kind == "close" and self.call.is_unseen and self.fault == "ENOSPC"
        return late and "--no-sync" in self.good.case.words and self.call.number < first_publishing(self.good)

    @property
    def is_harmless(self) -> bool:
        return self.fault in (SHORT, "EINTR") or (self.call.kind, self.fault) in HARMLESS

    def __str__(self) -> str:
        case, call = self.good.case, self.call
        long = " and from there on" if self.lasting else ""
        return f"{case.name}: {self.fault} in call {call.number}{long}, {call.kind} {call.path}\n    {' '.join(case.words)}"


# --- Judging ---------------------------------------------------------------------------------------------------------


def judge(failure: Failure, run: Run) -> Iterator[str]:
    """What is wrong with a run."""
    good = failure.good
    if run.code < 0 or not run.ended:
        yield f"it crashed with {run.code}: {run.stderr}"
        return
    if run.left:
        yield f"open at the end: {run.left}"
    if run.code == DONE:
        if failure.keeps_from_cleaning:
            yield from judge_remains(good, run.tree)
        elif run.tree != good.run.tree:
            yield f"it succeeded with a wrong result: {difference(run.tree, good.run.tree)}"
        if run.stdout != good.run.stdout:
            yield "it succeeded and printed something else"
        if failure.is_late_write:
            yield "it published a file although a write to it had failed"
        return
    yield from judge_failed(failure, run)


def judge_failed(failure: Failure, run: Run) -> Iterator[str]:
    if failure.is_harmless:
        yield f"it should have succeeded: {run.code}: {run.stderr}"
    if run.code == FOUND and failure.good.case.words[0] == "check":
        yield from judge_finding(failure, run.stdout.decode())
        return
    if run.code != IO:
        yield f"its exit code is {run.code}: {run.stderr}"
        return
    if not failure.good.run.stdout.startswith(run.stdout):
        yield "it printed something else"
    yield from judge_tree(failure, run.tree)
    yield from judge_message(failure, run)


def judge_finding(failure: Failure, printed: str) -> Iterator[str]:
    """`check` goes on where the data of one tensor cannot be read, and reports that."""
    if "error[io." not in printed or os.strerror(failure.number) not in printed:
        yield f"`check` does not give the reason: {printed}"


def judge_tree(failure: Failure, tree: Tree) -> Iterator[str]:
    """A failed command leaves everything as it was. Where files are replaced, those that were replaced before the call
    stay. An error after the last file has its name cannot take it back."""
    good, before = failure.good, failure.good.stage.before
    if tree == before:
        return
    if failure.keeps_from_cleaning:
        yield from judge_remains(good, tree)
    elif failure.call.number < first_publishing(good):
        yield f"it failed and left something: {difference(tree, before)}"
    elif tree != good.run.tree:
        if "-f" not in good.case.words:
            yield f"it failed and left a part of the output: {difference(tree, before)}"
        yield from judge_remains(good, tree, hidden=False)


def judge_message(failure: Failure, run: Run) -> Iterator[str]:
    error = json.loads(run.stderr.splitlines()[-1])["error"]
    if not error["code"].startswith("io.") and error["code"] != "archive.busy":
        yield f"the code of the error is {error['code']}"
    if not is_named(failure, error["path"]) and not failure.lasting and failure.fault != LIMIT:
        yield f"the error names {error['path']}: {error['message']}"
    if os.strerror(failure.number) not in error["message"]:
        yield f"the error does not give the reason: {error['message']}"


def is_named(failure: Failure, path: str | None) -> bool:
    """Whether the error names the file of the call: an output that has no name yet by the name that it will have, and a
    file or its folder by either."""
    call = failure.call
    if call.path in ("stdin", "stdout"):
        return True  # the message says it
    if path is None:
        return False
    root = failure.good.stage.root
    named, concerned = PurePath(root, path), PurePath(call.path)
    if call.is_unseen:
        return PurePath(root, "out") in (named, *named.parents)
    return named in (concerned, concerned.parent) or concerned in named.parents


def failures_of(good: Good) -> Iterator[Failure]:
    for call in good.run.calls:
        for fault in FAULTS[call.kind]:
            yield Failure(good, call, fault, False)
        for fault, kinds in LASTING.items():
            if call.kind in kinds:
                yield Failure(good, call, fault, True)

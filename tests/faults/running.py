"""Runs a command with one of its system calls failing, by the library of shim.c.

The command is found in the environment variable ONNXAR, the library in ONNXAR_FAULTS.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from support.command_line import DONE

Tree = dict[str, tuple[int, bytes]]  # mode and content of what is in a folder, by the path in it
HIDDEN = re.compile(r"\.[^/]*\.[a-z0-9]{6}\.tmp$")  # the temporary name of an output
NAMELESS = re.compile(r"/#\d+ \(deleted\)$")


class Call(NamedTuple):
    """A call that a run made, by the log of shim.c."""

    number: int
    kind: str
    path: str

    @property
    def publishes(self) -> bool:
        """Whether it gives an output its name."""
        return self.kind in ("link", "rename", "rename_new") and not HIDDEN.search(self.path)

    @property
    def is_unseen(self) -> bool:
        """Whether its file has no name yet, or a temporary one."""
        return bool(HIDDEN.search(self.path) or NAMELESS.search(self.path) or self.path.startswith("/proc/"))


class Run(NamedTuple):
    """What a command did and left."""

    code: int
    stdout: bytes
    stderr: str
    calls: list[Call]
    left: list[str]  # descriptors and mappings that were open at the end
    ended: bool  # as programs end, with destructors
    tree: Tree


class Case(NamedTuple):
    """A command and the folder that it runs in, which has the folders `in` and `out`."""

    name: str
    words: tuple[str, ...]
    files: Mapping[str, bytes]
    lacks: tuple[str, ...] = ()  # kinds of calls that the system does not have
    stdin: bytes = b""
    edits: str = ""  # the archive that the command changes in place


def tree_of(folder: Path) -> Tree:
    """All files and folders; a link has its target as content."""
    tree: Tree = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = path.read_bytes() if stat.S_ISREG(mode) else b""
        tree[str(path.relative_to(folder))] = (mode, content)
    return tree


def scratch() -> str | None:
    """A folder in memory, where a sync costs nothing, if there is one with files without a name."""
    try:
        os.close(os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return None
    return "/dev/shm"


@contextlib.contextmanager
def filled_pipe(content: bytes) -> Iterator[BinaryIO]:
    """A pipe that holds all of `content` already: a command reads it by the same calls in every run."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stdin:
        with open(writing, "wb", buffering=0) as pipe:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, max(len(content), mmap.PAGESIZE))
            pipe.write(content)
        yield stdin


class Stage:
    """The folder of one case. It is put back to what it was after each run that changed it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.home = Path(tempfile.mkdtemp(prefix="onnxar-faults-", dir=scratch())).resolve()
        self.root, self.log = self.home / "root", self.home / "log"
        self.set_up()
        self.before = tree_of(self.root)

    def set_up(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for name in ("in", "out"):
            (self.root / name).mkdir(parents=True)
        for name, data in self.case.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o640)

    def close(self) -> None:
        shutil.rmtree(self.home)

    def run(self, at: str = "", kinds: tuple[str, ...] = (), words: tuple[str, ...] | None = None) -> Run:
        """Runs the case's command, or the one of `words`; `at` is FAULTS_AT of shim.c."""
        environment = {
            **os.environ,
            "LD_PRELOAD": os.environ["ONNXAR_FAULTS"],
            "FAULTS_ROOT": str(self.root),
            "FAULTS_LOG": str(self.log),
            "FAULTS_KINDS": "".join(f"{kind}," for kind in kinds),
            "FAULTS_LACKS": "".join(f"{kind}," for kind in self.case.lacks),
            "TMPDIR": str(self.root / "out"),
        }
        if at:
            environment["FAULTS_AT"] = at
        with filled_pipe(self.case.stdin) as stdin:
            done = subprocess.run(
                [os.environ["ONNXAR"], "--json-errors", *(words or self.case.words)],
                stdin=stdin,
                capture_output=True,
                cwd=self.root,
                env=environment,
                check=False,
                timeout=60,
            )
        return self.told(done.returncode, done.stdout, done.stderr.decode())

    def told(self, code: int, stdout: bytes, stderr: str) -> Run:
        lines = [line.split("\t") for line in self.log.read_text(errors="replace").splitlines()]
        calls = [Call(int(line[0]), line[1], line[2]) for line in lines if line[0].isdigit()]
        left = ["\t".join(line) for line in lines if line[0] in ("left", "mapped")]
        return Run(code, stdout, stderr, calls, left, ["end"] in lines, tree_of(self.root))

    def restore(self, run: Run) -> None:
        if run.tree != self.before:
            self.set_up()


class Good(NamedTuple):
    """A case whose command ended well, with nothing failing."""

    case: Case
    stage: Stage
    run: Run


def good_run(case: Case, prove: Callable[[Stage, Run], None]) -> Good:
    """Runs the case without a fault; `prove` looks at what is in the folder then."""
    stage = Stage(case)
    run = stage.run()
    if run.code != DONE or run.left or not run.ended:
        raise AssertionError(f"{case.name}: {run.code}, open: {run.left}: {run.stderr}")
    prove(stage, run)
    stage.restore(run)
    return Good(case, stage, run)


def first_publishing(good: Good) -> int:
    """The number of the call that first shows a part of the output: readers of an edited archive see its last write."""
    if good.case.edits:
        return max(call.number for call in good.run.calls if call.kind in ("write", "truncate"))
    return min((call.number for call in good.run.calls if call.publishes), default=0)


# --- Comparing -------------------------------------------------------------------------------------------------------


def difference(one: Tree, other: Tree) -> list[str]:
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def judge_remains(good: Good, tree: Tree, hidden: bool = True) -> Iterator[str]:
    """What is wrong with what a command left that could not clean up: each file must be as before or as it should become,
    and the model of a set of files the last of them. Hidden files may be left."""
    before, after = good.stage.before, good.run.tree
    for name in sorted({*tree, *before, *after}):
        if hidden and HIDDEN.search(name):
            continue
        if tree.get(name) not in (before.get(name), after.get(name)):
            yield f"it left a wrong {name}"
    published = [call.path for call in good.run.calls if call.publishes]
    if not published or good.case.edits:
        return
    last = os.path.relpath(published[-1], good.stage.root)
    if tree.get(last) == after[last] != before.get(last) and (missing := set(after) - set(tree)):
        yield f"it left the model without {sorted(missing)}"

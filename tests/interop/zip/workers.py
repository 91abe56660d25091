"""Starts the other zip readers as long-running processes, and asks them.

Each gets paths on its standard input and answers with a line of JSON for each, see peers.py. A reader that crashes or
hangs is started again, and its answer is a refusal.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from known import Answer
from peers import Read, Refused, libarchive_library, libzip_library, minizip_library

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build" / "differential"
PATIENCE = 60  # seconds that a reader may take for one file

Command = list[str]


# --- which are installed -------------------------------------------------------------------------


def loads(library: Callable[[], object]) -> bool:
    with contextlib.suppress(OSError):
        return bool(library())
    return False


def of_python(name: str) -> Command:
    return [sys.executable, "-B", str(HERE / "peers.py"), name]


def library(name: str, found: Callable[[], object]) -> Command | None:
    return of_python(name) if loads(found) else None


def program(name: str) -> Command | None:
    return of_python(name) if shutil.which(name) else None


def version_of(python: str) -> str:
    """The version of an interpreter, or nothing if it does not run or is too old for peers.py."""
    ask = "import sys; print(sys.version_info >= (3, 9) and '%d.%d' % sys.version_info[:2] or '')"
    with contextlib.suppress(OSError):
        done = subprocess.run([python, "-c", ask], check=False, capture_output=True, text=True)
        return done.stdout.strip()
    return ""


def other_python() -> Command | None:
    """The newest other version of Python on this machine; PyPy also has a zipfile of another version."""
    root = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    places = [f"/usr/bin/python3.{minor}" for minor in range(20, 8, -1)]
    places += sorted(glob.glob(f"{root}/versions/3.[0-9]*/bin/python3.[0-9]*[0-9]"), key=_minor, reverse=True)
    places += [found for found in [shutil.which("pypy3")] if found]
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for place in places:
        if Path(place).is_file() and version_of(place) not in ("", ours):
            return [place, "-B", str(HERE / "peers.py"), "python"]
    return None


def _minor(place: str) -> int:
    return int(place.rpartition("python3.")[2])


def built(compiler: str, source: str, make: Callable[[Path], Command], may: bool = True) -> Path | None:
    """What the compiler makes of a file or folder, once for each state; None without the compiler, or if it may not."""
    place = HERE / "programs" / source
    files = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]
    state = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()
    out = BUILD / f"{compiler}-{state[:12]}"
    if out.exists():
        return out
    if not may or shutil.which(compiler) is None:
        return None
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f"{out.name}.{os.getpid()}")
    environment = {**os.environ, "GO111MODULE": "off"}
    done = subprocess.run(make(partial), check=False, capture_output=True, env=environment)
    if done.returncode != 0:
        print(f"{compiler} cannot build {source}:\n{done.stderr.decode()}", file=sys.stderr)
        return None
    with contextlib.suppress(OSError):  # another process was faster
        partial.rename(out)
    return out


def go() -> Command | None:
    source = str(HERE / "programs" / "zip_peer.go")
    tool = built("go", "zip_peer.go", lambda out: ["go", "build", "-o", str(out), source])
    return tool and [str(tool)]


def java(way: str) -> Command | None:
    source = str(HERE / "programs" / "ZipPeer.java")
    classes = built("javac", "ZipPeer.java", lambda out: ["javac", "-d", str(out), source])
    options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return classes and ["java", *options, "-cp", str(classes), "ZipPeer", way]


def rust() -> Command | None:
    """Built by `./dev fuzz differential` alone: it takes longer than the tests, and cargo may have to fetch crates."""
    manifest = str(HERE / "programs" / "rust" / "Cargo.toml")
    words = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest]
    may_build = os.environ.get("ONNXAR_BUILD_PEERS") == "1"
    folder = built("cargo", "rust", lambda out: [*words, "--target-dir", str(out)], may_build)
    return folder and [str(folder / "release" / "zip-peer")]


COMMANDS: dict[str, Callable[[], Command | None]] = {
    "python": lambda: of_python("python"),
    "other python": other_python,
    "libzip": lambda: library("libzip", libzip_library),
    "minizip": lambda: library("minizip", minizip_library),
    "bsdtar": lambda: library("bsdtar", libarchive_library),
    "bsdtar piped": lambda: library("bsdtar piped", libarchive_library),
    "7z": lambda: program("7z"),
    "unzip": lambda: program("unzip"),
    "go": go,
    "java ZipFile": lambda: java("file"),
    "java ZipInputStream": lambda: java("stream"),
    "rust": rust,
}


FROM_THE_FRONT = ("bsdtar piped", "java ZipInputStream")  # which do not use the directory


@functools.cache
def command_of(peer: str) -> Command | None:
    """The command that starts the reader; None if it is not installed."""
    return COMMANDS[peer]()


def installed() -> list[str]:
    return [name for name in COMMANDS if command_of(name)]


# --- asking --------------------------------------------------------------------------------------


def parse(line: bytes) -> Answer:
    said = json.loads(line)
    if "refused_hex" in said:
        return Refused(bytes.fromhex(said["refused_hex"]).decode())
    if "refused" in said:
        return Refused(said["refused"])
    return [Read(bytes.fromhex(name), *rest) for name, *rest in said["entries"]]


class Worker:
    """One reader, running."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.process: subprocess.Popen | None = None

    def ask(self, path: Path) -> Answer:
        process = self.process or self._start()
        try:
            process.stdin.write(b"%b\n" % bytes(path))
            process.stdin.flush()
            line = self._line(process)
        except (OSError, TimeoutError) as error:
            self.stop()
            return Refused(f"{type(error).__name__}: the reader was stopped")
        if not line.endswith(b"\n"):
            self.stop()
            return Refused("the reader ended")
        return parse(line)

    def _start(self) -> subprocess.Popen:
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, env=environment, **pipes)
        return self.process

    @staticmethod
    def _line(process: subprocess.Popen) -> bytes:
        """Every answer is one line, so nothing of another one is left in the buffer."""
        if not select.select([process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError
        return process.stdout.readline()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None


class Peers:
    """The readers that are installed. Each runs until `stop`."""

    def __init__(self, names: Iterable[str] | None = None) -> None:
        wanted = installed() if names is None else names
        self.workers = {name: Worker(command_of(name)) for name in wanted}

    def ask(self, name: str, paths: Iterable[Path]) -> list[Answer]:
        return [self.workers[name].ask(path) for path in paths]

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


class Ours(NamedTuple):
    """One reading of ours: a code, or entries; `offsets` are those of an archive's data."""

    code: str
    entries: list[Read]
    offsets: list[int]


class Readings(NamedTuple):
    strict: Ours
    lenient: Ours
    reader: Ours | None = None  # of reader/onnxar_reader.c; None if it was not asked


def _ours(said: dict) -> Ours:
    entries = [Read(bytes.fromhex(name), size, digest) for name, size, digest, *_ in said.get("entries", [])]
    offsets = [each[3] for each in said.get("entries", []) if len(each) > 3]
    return Ours(said.get("code", "ok"), entries, offsets)


def ask_ours(files: Iterable[bytes]) -> list[Readings]:
    given = b"".join(b"%d\n%b" % (len(file), file) for file in files)
    tool = os.environ["ONNXAR_ACCEPTS"]
    done = subprocess.run([tool], input=given, stdout=subprocess.PIPE, check=True)
    said = map(json.loads, done.stdout.splitlines())
    return [Readings(*(_ours(each[name]) for name in ("strict", "lenient", "reader"))) for each in said]

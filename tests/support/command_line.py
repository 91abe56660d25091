"""Runs the command line under test, and checks its output and files.

The tool is found in the environment variable ONNXAR.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights

DONE, FOUND, USAGE, IO, FORMAT = range(5)  # exit codes
MIB, GIB = 1 << 20, 1 << 30
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ALL_SITES = ("--threshold", "0", "--all-sites")  # options of pack: every tensor that can move does
CONTROLS = "line\nbreak \x1b[31mred\x07 \x7f \x85 back\\slash größe"  # a name that has to be escaped
ON_WINDOWS = os.environ.get("ONNXAR_PLATFORM", "").startswith("windows")  # by Wine, on this system
Item, Result = TypeVar("Item"), TypeVar("Result")
IN_BRIEF = 64 * MIB  # files of this size and more, which are sparse, are compared by their size


SAMPLE = int(os.environ.get("ONNXAR_SAMPLE", "1"))  # large tests take one case in this many


def sampled(cases: Iterable[Item]) -> list[Item]:
    """The cases that this run of a large test takes, spread evenly: all, or one in SAMPLE."""
    return list(cases)[::SAMPLE]


def least(count: int) -> int:
    """The least number that a run has to see of a thing that all cases show `count` times, unevenly spread."""
    return count if SAMPLE == 1 else count // (10 * SAMPLE)


def main(usage: str | None = None) -> None:
    """Runs the tests of the script that calls it; prints how to call it, or `usage`, if the tool is missing."""
    if "ONNXAR" not in os.environ:
        sys.exit(usage or f"usage: ONNXAR=path/to/onnxar PYTHONPATH=tests {sys.argv[0]}")
    unittest.main()


# --- runs ----------------------------------------------------------------------------------------

Done = subprocess.CompletedProcess  # with bytes in stdout, text in stderr


def run(*arguments: object, tool: list[str] | None = None, **options: Any) -> Done:
    """Runs the tool; `tool` is the beginning of a command that runs it in another way."""
    command = [*(tool or [os.environ["ONNXAR"]]), *map(str, arguments)]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, check=False, **{**given, **options})
    done.stderr = as_said((done.stderr or b"").decode(errors="replace"))
    skip_without_model(done.stderr)
    return done


def as_said(stderr: str) -> str:
    """What a tool for Windows says, with paths as this system writes them: there, Z: is the root, and a backslash that
    begins no escape separates parts."""
    escape = r"\\(?:[\\\"]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
    return re.sub(rf"({escape})|(?:Z:)?\\", lambda found: found[1] or "/", stderr) if ON_WINDOWS else stderr


def skip_without_model(stderr: str) -> None:
    """Skips the test, if the tool under test is one without protobuf and refused a verb for this reason."""
    if "ONNXAR_WITHOUT_MODEL" in os.environ and "but this onnxar was built without it" in stderr:
        raise unittest.SkipTest("needs protobuf")


def start(*arguments: object, **options: Any) -> subprocess.Popen:
    return subprocess.Popen([os.environ["ONNXAR"], *map(str, arguments)], **options)


class RunError(Exception):
    """A run failed that should have succeeded."""


def output_of(*command: object, piped: bytes = b"") -> bytes:
    """Returns the standard output of a command; raises RunError unless it exits with 0."""
    words = list(map(str, command))
    done = subprocess.run(words, check=False, input=piped, capture_output=True)
    if done.returncode != 0:
        said = (done.stderr + done.stdout).decode(errors="replace").strip()
        skip_without_model(said)
        called = " ".join([Path(words[0]).name, *words[1:]])
        raise RunError(f"{called}: ended with {done.returncode}: {said[-1000:]}")
    return done.stdout


def onnxar(*arguments: object) -> bytes:
    return output_of(os.environ["ONNXAR"], *arguments)


def at_once(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


# --- files ---------------------------------------------------------------------------------------


def look(path: Path) -> tuple[object, ...]:
    """The properties of a file that a failed command must not change."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return status.st_mode, os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return (status.st_mode,)
    brief = status.st_size >= IN_BRIEF
    mode = stat.S_IFMT(status.st_mode) if ON_WINDOWS else status.st_mode  # Wine makes the rest of access lists
    return mode, status.st_size, brief or zlib.crc32(path.read_bytes())


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    # Not by Path.rglob, which fails at links to names that are too long.
    paths = [Path(parent, name) for parent, folders, files in os.walk(folder) for name in folders + files]
    return {str(path.relative_to(folder)): look(path) for path in sorted(paths)}


def label(path: Path) -> str:
    """Enough of the path to identify a model: most are called model.onnx."""
    return "/".join(path.parts[-2:])


def entries_of(path: Path) -> dict[str, bytes]:
    """The entries, the model included, as Python's zipfile reads them."""
    with zipfile.ZipFile(path) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def keys_of(path: Path) -> list[str]:
    return [name for name in entries_of(path) if name != MODEL]


# --- tests ---------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """The expected error for a bad input: a code and the place."""

    code: str
    entry: str | None = None
    offset: int | None = None

    def line(self, path: Path) -> str:
        """The beginning of the line on stderr."""
        words = [f'entry "{self.entry}"'] if self.entry else []
        words += [f"at 0x{self.offset:x}"] if self.offset is not None else []
        place = " ".join(words)
        return f"onnxar: error[{self.code}] {path}: {place}{': ' if place else ''}"


class FolderCase(unittest.TestCase):
    """A test with a separate folder. Methods that are named after an input write it there."""

    def setUp(self) -> None:
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.folder = Path(home.name)
        self.output = self.folder / "out"

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def model(self, *tensors: bytes, name: str = "model.onnx") -> Path:
        return self.write(name, wire.plain(*(tensors or [wire.tensor("w")])))

    def archive(self, *names: str, name: str = "model.onnxar") -> Path:
        return self.archive_of(*weights(*names), model_of(*map(linked, names)), name=name)

    def archive_of(self, *entries: Entry, name: str = "made.onnxar") -> Path:
        return self.write(name, Archive(entries).file)

    def edited_archive(self) -> Path:
        """An archive to which a second model was appended."""
        archive = Archive([*weights("w"), model_of(linked("w"))])
        archive.edit(model_of(linked("w"), wire.tensor("new", count=3)))
        return self.write("edited.onnxar", archive.file)

    def sparse(self, size: int, name: str = "weights.bin") -> Path:
        """A model with one large tensor in a data file that takes no space on the disk."""
        with open(self.folder / name, "wb") as file:
            file.truncate(size)
        link = wire.DataFile(name).link(length=size)
        return self.model(wire.fields_of("w", wire.UINT8, [size], link))

    @contextlib.contextmanager
    def nothing_changes(self) -> Iterator[None]:
        before = snapshot(self.folder)
        yield
        self.assertEqual(snapshot(self.folder), before)


class ToolCase(FolderCase):
    """A test that runs the tool."""

    def as_ordinary_user(self) -> list[str]:
        """The beginning of a command that runs the tool as a user to whom permissions apply."""
        if os.geteuid() != 0:
            return [os.environ["ONNXAR"]]
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv to become an ordinary user with")
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        for folder in (home.name, self.folder):
            os.chmod(folder, 0o755)
        tool = [*NOBODY, shutil.copy(os.environ["ONNXAR"], home.name)]
        if run("--version", tool=tool).returncode != DONE:
            self.skipTest("an ordinary user cannot run the tool here")
        return tool

    def on_posix(self, what: str) -> None:
        """Skips a test of what the tool cannot do, or see, on Windows."""
        if ON_WINDOWS:
            self.skipTest(f"Windows: {what}")

    def with_64_bits(self) -> None:
        """Skips a test of data that a tool of 32 bits refuses, whatever is wrong with it (io.address_space)."""
        if os.environ.get("ONNXAR_PLATFORM") == "linux-i386":
            self.skipTest("data of 2 GiB does not fit in memory")

    def natively(self) -> None:
        """Skips a test that limits or traces the process of the tool, where this process is an emulator's."""
        if "ONNXAR_EMULATED" in os.environ:
            self.skipTest("an emulator runs the tool")

    def in_memory(self, limit: int) -> list[str]:
        """The beginning of a command that runs the tool with a limit of private memory."""
        self.natively()
        tool = ["prlimit", f"--data={limit}", os.environ["ONNXAR"]]
        if run("--version", tool=tool).returncode != DONE:
            self.skipTest("the tool does not even start under that limit: sanitizers need more")
        return tool

    def small_disk(self, size: str) -> Path:
        """The folder `small`, on a file system of this size."""
        folder = self.folder / "small"
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "onnxar-test", str(folder)]
        done = subprocess.run(mount, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", str(folder)], check=True)
        return folder

    def each_way_to_write(self, source: Path) -> Iterator[tuple[object, ...]]:
        """The commands without the output."""
        yield "pack", source
        yield "unpack", source
        yield "unpack", source, "--external-data", "weights.bin"

    def succeeds(self, *arguments: object, **options: Any) -> Done:
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, DONE, f"{arguments}: {done.stderr}")
        return done

    def packed(self, *tensors: bytes, options: Iterable[object] = ()) -> Path:
        """An archive, packed anew on every call."""
        path = self.folder / "packed.onnxar"
        self.succeeds("pack", self.model(*tensors), "-o", path, "-f", *options)
        return path

    def unpacked(self, path: Path) -> bytes:
        back = self.folder / "back.onnx"
        self.succeeds("unpack", path, "-o", back, "-f")
        return back.read_bytes()

    def listing(self, path: Path) -> dict[str, Any]:
        return json.loads(self.succeeds("ls", "--json", path).stdout)

    def fails(self, exit_code: int, begins: str, *arguments: object, **options: Any) -> str:
        """Expects this exit code and such a line on stderr, and unchanged files. Returns the line."""
        with self.nothing_changes():
            done = run(*arguments, **options)
        told = f"{' '.join(map(str, arguments))}: {done.stderr}"
        self.assertEqual(done.returncode, exit_code, told)
        self.assertEqual(done.stdout or b"", b"", told)
        self.assertTrue(done.stderr.startswith(begins), f"{told}\nshould begin: {begins}")
        self.assertEqual(done.stderr.count("\n"), 1, told)
        return done.stderr

    def finds(self, fault: Fault, path: Path, *options: str) -> str:
        """Expects that `check` reports this error first. Returns its message."""
        with self.nothing_changes():
            done = run("check", "--json", "-q", path, *options)
        self.assertEqual((done.returncode, done.stderr), (FOUND, ""))
        report = json.loads(done.stdout)
        errors = [each for each in report["findings"] if each["severity"] == "error"]
        self.assertFalse(report["ok"])
        self.assertEqual(Fault(*(errors[0][key] for key in Fault._fields)), fault, errors[0])
        return as_said(errors[0]["message"])

    def refuses(self, fault: Fault, path: Path, verbs: str = "pack unpack") -> str:
        """Expects that `check` and the verbs report this error of the input. Returns the message."""
        message = self.finds(fault, path)
        for verb in verbs.split():
            if verb == "pack" and fault.code.startswith(("zip.", "archive.model.")):
                self.packs_or_refuses(path)
                continue
            target = [] if verb == "ls" else ["-o", self.output]
            line = self.fails(FORMAT, fault.line(path), verb, path, *target)
            self.assertTrue(line.endswith(message + "\n"), line)
        return message

    def packs_or_refuses(self, path: Path) -> None:
        """Expects that all verbs accept or refuse a foreign zip alike, because they read the container
        by the same rules."""
        with self.nothing_changes():
            repacked = run("repack", path, "-o", self.output, "-f")
            done = run("pack", path, "-o", self.output, "-f")
            self.output.unlink(missing_ok=True)
        read = done.returncode == DONE
        self.assertIn(done.returncode, (DONE, FORMAT), done.stderr)
        self.assertIn("note[zip.foreign]" if read else "error[", done.stderr)
        self.assertTrue(repacked.returncode == DONE or not read, repacked.stderr)
        refused = re.search(r"error\[(zip\.[a-z0-9_.]+)\]", repacked.stderr)
        if refused:
            self.assertIn(refused[0], done.stderr)

    def refuses_archive(
        self, archive: Archive, code: str, entry: str | None, offset: int | None
    ) -> str:
        path = self.write("broken.onnxar", archive.file)
        return self.refuses(Fault(code, entry, offset), path, "pack unpack ls")

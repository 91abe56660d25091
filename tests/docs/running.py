"""Runs the blocks of a page, in their order, in one folder with a model: shell blocks with the tool under test, Python
blocks with the wheel, C++ and C compiled against the libraries. Fragments of C++ are compiled only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docs.blocks import ROOT, Block

HERE = Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]
LIMIT = 900  # seconds for one block: machines are busy


class Failed(Exception):
    pass


def run(command: list[object], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                          check=False, stdin=subprocess.DEVNULL, env=environment)  # fmt: skip
    if done.returncode:
        raise Failed(f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


class Compiler:
    """The compiler and the libraries of the build under test."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.include = ["-I", ROOT / "include", "-I", build / "generated", "-I", HERE]
        self.runtime = ROOT / "build/onnxruntime"

    def required(self) -> list[str]:
        """What the static libraries link, as their pkg-config files say."""
        texts = [(self.build / f"onnxar-{name}.pc").read_text() for name in ("core", "model")]
        wanted = " ".join(re.findall(r"^Requires: (.*)$", "\n".join(texts), re.MULTILINE)).replace(",", " ")
        names = [each for each in wanted.split() if re.fullmatch(r"[a-z]+", each)]
        return subprocess.run(["pkg-config", "--libs", *names], capture_output=True, text=True, check=True).stdout.split()

    def cpp(self, source: Path, *more: object) -> list[object]:
        return [os.environ.get("CXX", "g++-12"), "-std=c++20", "-O0", *WARNINGS, *self.include, *more, source]

    def program(self, source: Path, target: Path) -> list[object]:
        if source.suffix == ".c":
            flags = ["-std=c99", "-pedantic", *WARNINGS, "-I", ROOT / "include", "-I", ROOT / "reader"]
            library = self.build / "src"
            return [os.environ.get("CC", "gcc-12"), *flags, source, ROOT / "reader/onnxar_reader.c", "-o", target, "-L", library, "-lonnxar_c", f"-Wl,-rpath,{library}"]
        libraries = [self.build / "src" / f"libonnxar_{name}.a" for name in ("model", "core")]
        return [*self.cpp(source), "-o", target, *libraries, *self.required(), "-pthread"]


def joined(blocks: list[Block]) -> str:
    """One source of fragments: their includes first, then each in a function of its own."""
    heads, bodies = [], []
    for i, block in enumerate(blocks):
        lines = block.text.splitlines()
        heads += [line for line in lines if line.startswith("#include")]
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        bodies.append(f'void fragment_{i}() {{\n#line {block.line + 1} "{block.page}"\n{body}\n}}\n')
    return '#include "prelude.h"\n' + "\n".join(dict.fromkeys(heads)) + "\n\n" + "\n".join(bodies)


class Worker:
    """A process that runs Python blocks in one namespace (worker.py)."""

    def __init__(self, python: Path, folder: Path, environment: dict[str, str]) -> None:
        self.log = (folder / ".python.log").open("w+")
        self.process = subprocess.Popen([python, "-B", HERE / "worker.py"], cwd=folder, text=True, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)  # fmt: skip
        assert self.process.stdin and self.process.stdout
        self.said, self.answers = self.process.stdin, self.process.stdout

    def run(self, source: Path) -> None:
        self.said.write(f"{source}\n")
        self.said.flush()
        if self.answers.readline() != "ok\n":
            self.log.seek(0)
            raise Failed(self.log.read()[-4000:])

    def end(self) -> None:
        self.said.close()
        self.process.wait(LIMIT)
        self.answers.close()
        self.log.close()


class Story:
    """One page and its folder."""

    def __init__(self, folder: Path, tool: Path, python: Path, compiler: Compiler) -> None:
        self.folder, self.compiler, self.python = folder, compiler, python
        commands = folder / ".bin"
        commands.mkdir()
        (commands / "onnxar").symlink_to(tool.absolute())
        (commands / "onnxar-py").symlink_to(python.absolute().parent / "onnxar-py")
        (commands / "python3").write_text(f'#!/bin/sh\nexec "{python.absolute()}" "$@"\n')
        (commands / "python3").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1",
                            "XDG_CACHE_HOME": str(commands / "cache")}
        for name in ("examples", "reader"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(ROOT / name)
        self.worker: Worker | None = None
        self.fragments: list[Block] = []

    @classmethod
    def in_folder(cls, folder: Path, left: Path | None = None) -> Story:
        """With a model, or the files in the folder of another page that was played, and with the tool, the wheel and the
        libraries that the environment names."""
        if left is None:
            model(folder)
        else:
            shutil.copytree(left, folder, ignore=lambda _, names: [name for name in names if name.startswith(".")], symlinks=True, dirs_exist_ok=True)
        compiler = Compiler(Path(os.environ["ONNXAR_BUILD"]).absolute())
        return cls(folder, Path(os.environ["ONNXAR"]), Path(os.environ["ONNXAR_PACKAGE_PYTHON"]), compiler)

    def run(self, block: Block) -> None:
        {"sh": self.shell, "python": self.in_python, "cpp": self.compiled, "c": self.compiled}[block.language](block)

    def shell(self, block: Block) -> None:
        run(["bash", "-euo", "pipefail", "-c", block.text], self.folder, self.environment)

    def in_python(self, block: Block) -> None:
        source = self.folder / f".{block.page.stem}_{block.line}.py"
        source.write_text("\n" * block.line + block.text)
        self.worker = self.worker or Worker(self.python, self.folder, self.environment)
        self.worker.run(source)

    def compiled(self, block: Block) -> None:
        """Compiles and runs a program. A fragment waits for the others of its page: `end` compiles all of them as one."""
        if not block.is_program:
            if "onnxruntime.h" in block.text and not (self.compiler.runtime / "include").exists():
                print(f"{block.place}: not compiled, as tests/interop/readers/fetch.py has not fetched ONNX Runtime")
            else:
                self.fragments.append(block)
            return
        source = self.folder / f".{block.page.stem}_{block.line}.{ {'cpp': 'cc', 'c': 'c'}[block.language] }"
        source.write_text(f'#line {block.line + 1} "{block.page}"\n{block.text}')
        program = self.folder / f".{block.page.stem}_{block.line}"
        run(self.compiler.program(source, program), self.folder)
        run([program, "model.onnxar"], self.folder)

    def end(self) -> None:
        if self.worker is not None:
            self.worker.end()
        if self.fragments:
            source = self.folder / ".fragments.cc"
            source.write_text(joined(self.fragments))
            run(self.compiler.cpp(source, "-fsyntax-only", "-isystem", self.compiler.runtime / "include"), self.folder)


def model(folder: Path) -> None:
    """What the first line of the quick start makes: a model and its tokenizer."""
    run([sys.executable, "-B", ROOT / "examples/make_model.py", folder / "model.onnx"], folder)

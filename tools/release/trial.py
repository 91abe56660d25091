"""Installs the wheels for this processor in minimal distributions and runs the package's tests there; also the wheel for aarch64, emulated, and the wheels for
musl. Needs root and the network.

Usage: python trial.py [DISTRIBUTION...]; --list prints their names. The wheels are those that wheels.py made.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import emulated
import musl
from pins import PYTHONS, fetched, pins
from roots import DISTRIBUTIONS, Distribution, bare_root, run_in
from sdist import sdists
from steps import bring, finish, required, tried

LEFT_OUT = {"backend_slow_test.py": "it compares with a list of what the pinned ONNX Runtime does not run"}
COMPILE = """
cd /python/Python-*
./configure -q > /dev/null
make -s -j2 > /dev/null
make -s install > /dev/null
"""

OTHERS = {emulated.NAME: emulated.try_emulated, musl.NAME: musl.try_musl}


def compile_python(root: Path) -> None:
    (pin,) = (pin for pin in pins(PYTHONS) if pin.name == "python3.11")
    (root / "python").mkdir()
    subprocess.run(["tar", "-xf", fetched(pin), "-C", root / "python"], check=True)
    finish("compile Python", run_in(root, COMPILE))


def try_in(distribution: Distribution, version: str) -> str:
    root = bare_root(distribution)
    bring(root, "manylinux")
    if distribution.python.startswith("/usr/local"):
        compile_python(root)
    return f"{distribution.name}, {tried(root, distribution.python, version, [*required(), 'pytest'], LEFT_OUT)}"


def main() -> None:
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join([*(each.name for each in DISTRIBUTIONS), *OTHERS]))
        return
    version = sdists()[0].name.removeprefix("onnxar-").removesuffix(".tar.gz")
    for distribution in DISTRIBUTIONS:
        if not names or distribution.name in names:
            print(f"==> {distribution.name}", flush=True)
            print(try_in(distribution, version), flush=True)
    for name, try_other in OTHERS.items():
        if not names or name in names:
            print(f"==> {name}", flush=True)
            print(try_other(version), flush=True)


if __name__ == "__main__":
    main()

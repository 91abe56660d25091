"""Installs the wheels for this processor in bare distributions, and runs the package's tests there; also that for aarch64, emulated. Needs root and the
network.

Usage: python trial.py [DISTRIBUTION...]; --list prints their names. The wheels are those that wheels.py made.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import emulated
import older
from pins import PYTHONS, ROOT, fetched, pins
from roots import DISTRIBUTIONS, Distribution, bare_root, run_in
from sdist import DIST, sdists

# What is installed by the tests is the newest that this Python has.
INSTALL = """
apt-get install -y -qq --no-install-recommends binutils > /dev/null   # nm and readelf, for tests of the module
{python} -m venv /venv
/venv/bin/pip install -q {requirements} pytest
(cd /venv && find . | sort) > /before
/venv/bin/pip install -q --no-deps --no-index /wheels/older/*.whl
/venv/bin/python -c 'import onnxar; assert onnxar.__version__ != "{version}"'
/venv/bin/pip install -q --no-index --upgrade --no-deps --find-links /wheels onnxar=={version}
/venv/bin/python -c 'import onnxar; assert onnxar.__version__ == "{version}"'
/venv/bin/onnxar --version
test ! -e /venv/lib/python3*/site-packages/onnxar/{relic}
"""
# Not backend_test.py: it compares with a list of what the pinned ONNX Runtime does not run.
TESTS = """
cd /project/python/tests
for test in *_test.py; do [[ $test == backend_test.py ]] || /venv/bin/python -B $test; done
"""
UNINSTALL = """
/venv/bin/pip uninstall -q -y onnxar
(cd /venv && find . | sort) > /after
diff /before /after
"""
COMPILE = """
cd /python/Python-*
./configure -q > /dev/null
make -s -j2 > /dev/null
make -s install > /dev/null
"""


def requirements() -> str:
    lines = (ROOT / "python/tests/requirements.txt").read_text().splitlines()
    return " ".join(line.split("==")[0] for line in lines if "==" in line)


def compile_python(root: Path) -> None:
    (pin,) = (pin for pin in pins(PYTHONS) if pin.name == "python3.11")
    (root / "python").mkdir()
    subprocess.run(["tar", "-xf", fetched(pin), "-C", root / "python"], check=True)
    finish("compile Python", run_in(root, COMPILE))


def finish(step: str, done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        sys.exit(f"trial.py: {step} failed:\n{done.stdout[-6000:]}")


def bring(root: Path) -> None:
    """The wheels, the same ones as an older version, and the tests."""
    (root / "wheels/older").mkdir(parents=True)
    for wheel in DIST.glob("*manylinux*_x86_64.whl"):
        shutil.copy(wheel, root / "wheels")
    for folder in ("python/tests", "include", "src", "examples"):  # some tests read the sources
        shutil.copytree(ROOT / folder, root / "project" / folder)


def try_in(distribution: Distribution, version: str) -> str:
    root = bare_root(distribution)
    bring(root)
    if distribution.python.startswith("/usr/local"):
        compile_python(root)
    asked = run_in(root, f"{distribution.python} -c 'import sys; print(*sys.version_info[:2], sep=chr(46))'")
    python = asked.stdout.split()[-1]
    older.make(wheel_for(python), root / "wheels/older")
    finish("install", run_in(root, INSTALL.format(python=distribution.python, requirements=requirements(), version=version, relic=older.RELIC)))
    tests = run_in(root, TESTS)
    finish("tests", tests)
    finish("uninstall", run_in(root, UNINSTALL))
    passed = sum(int(number) for number in re.findall(r"^Ran (\d+) test", tests.stdout, re.MULTILINE))
    return f"{distribution.name}, Python {python}: {passed} tests passed; upgraded, uninstalled without a trace"


def wheel_for(python: str) -> Path:
    tag = "cp" + python.replace(".", "")
    for name in (f"{tag}-{tag}", "cp312-abi3"):
        if found := list(DIST.glob(f"*-{name}-manylinux*_x86_64.whl")):
            return found[0]
    sys.exit(f"trial.py: no wheel for Python {python}: ./dev wheels makes it")


def main() -> None:
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join([*(each.name for each in DISTRIBUTIONS), emulated.NAME]))
        return
    version = sdists()[0].name.removeprefix("onnxar-").removesuffix(".tar.gz")
    for distribution in DISTRIBUTIONS:
        if not names or distribution.name in names:
            print(f"==> {distribution.name}", flush=True)
            print(try_in(distribution, version), flush=True)
    if not names or emulated.NAME in names:
        print(f"==> {emulated.NAME}", flush=True)
        print(emulated.try_emulated(version), flush=True)


if __name__ == "__main__":
    main()

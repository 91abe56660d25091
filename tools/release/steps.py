"""Tries a wheel in a minimal root: installs an older one, upgrades it, runs the package's tests, and uninstalls it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import older
from pins import ROOT
from roots import run_in
from sdist import DIST

# The tests install the newest versions that this Python has.
INSTALL = """
apt-get install -y -qq --no-install-recommends binutils libcurl4 > /dev/null   # nm and readelf, for tests of the module; for addresses
rm -rf /venv
{python} -m venv /venv
/venv/bin/pip install -q {requirements}
(cd /venv && find . | sort) > /before
/venv/bin/pip install -q --no-deps --no-index /wheels/older/{older}
/venv/bin/python -c 'import onnxar; assert onnxar.__version__ != "{version}"'
/venv/bin/pip install -q --no-index --upgrade --no-deps --find-links /wheels onnxar=={version}
/venv/bin/python -c 'import onnxar; assert onnxar.__version__ == "{version}"'
/venv/bin/onnxar --version
test ! -e /venv/lib/python3*/site-packages/onnxar/{relic}
"""
TESTS = """
cd /project/python/tests
failed=
for test in *_test.py; do
  [[ " {left_out} " != *" $test "* && $test != *_large_test.py ]] || continue
  /venv/bin/python -B $test -v > /said 2>&1 || {{ failed+=" $test"; cat /said >> /failures; }}
  grep -E "^Ran [0-9]+ test|[.][.][.] skipped " /said || true
done
[[ -z $failed ]] || {{ cat /failures; echo "failed:$failed"; exit 1; }}
"""
UNINSTALL = """
/venv/bin/pip uninstall -q -y onnxar
(cd /venv && find . | sort) > /after
diff /before /after
"""
# Tests that need more than the package and what it requires.
NEVER = {
    "cached_models_test.py": "it needs other tests of the project",
    "mapping_test.py": "it needs the guide",
    "signing_attacks_slow_test.py": "it needs model-signing",
    "signing_slow_test.py": "it needs model-signing",
}


def required() -> dict[str, str]:
    """Returns what the tests need from PyPI, with the versions that are pinned elsewhere."""
    lines = (ROOT / "python/tests/requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def finish(step: str, done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode != 0:
        sys.exit(f"trial.py: {step} failed:\n{done.stdout[-6000:]}")
    return done.stdout


def bring(root: Path, family: str) -> None:
    """Copies the wheels for the family of systems, and the tests."""
    (root / "wheels/older").mkdir(parents=True)
    for wheel in DIST.glob(f"*{family}*_x86_64.whl"):
        shutil.copy(wheel, root / "wheels")
    for folder in ("python/tests", "tests/interop/readers", "tests/support", "spec/vectors", "include", "src", "examples"):  # some tests read these
        shutil.copytree(ROOT / folder, root / "project" / folder)


def wheel_for(root: Path, python: str) -> Path:
    tag = "cp" + python.replace(".", "")
    for name in (f"{tag}-{tag}", "cp312-abi3"):
        if found := list(root.glob(f"wheels/*-{name}-*.whl")):
            return found[0]
    sys.exit(f"trial.py: no wheel for Python {python}: ./dev wheels makes it")


def summary_of(tests: str, left_out: dict[str, str]) -> str:
    """Returns how many tests passed, and why others did not run."""
    reasons = re.findall(r"[.]{3} skipped (['\"])(.*)\1$", tests, re.MULTILINE)
    passed = sum(int(number) for number in re.findall(r"^Ran (\d+) test", tests, re.MULTILINE)) - len(reasons)
    lines = [f"{passed} tests passed", *(f"skipped: {reason}" for _, reason in reasons)]
    return "\n  ".join([*lines, *(f"left out: {test}: {reason}" for test, reason in left_out.items())])


def tried(root: Path, python: str, version: str, requirements: list[str], left_out: dict[str, str], settings: str = "") -> str:
    """Returns the result with the Python at a path in the root. `left_out` maps files of tests to reasons."""
    left_out = NEVER | left_out
    asked = run_in(root, f"{python} -c 'import sys; print(*sys.version_info[:2], sep=chr(46))'")
    number = finish("Python", asked).split()[-1]
    made = older.make(wheel_for(root, number), root / "wheels/older").name
    finish("install", run_in(root, settings + INSTALL.format(
        python=python, requirements=" ".join(requirements), version=version, relic=older.RELIC, older=made)))  # fmt: skip
    tests = finish("tests", run_in(root, TESTS.format(left_out=" ".join(left_out))))
    finish("uninstall", run_in(root, UNINSTALL))
    return f"Python {number}: upgraded, uninstalled without a trace, {summary_of(tests, left_out)}"

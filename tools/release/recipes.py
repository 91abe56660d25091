"""Fills in the recipes of packaging/: the version, the address and the checksums of the source archive, and names that follow from the version.

Usage: python recipes.py, which writes onnxar-VERSION-source.tar.gz and onnxar-VERSION-recipes.tar.gz to build/release_work/dist
"""

from __future__ import annotations

import email.utils
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pins import ROOT, WORK
from public import HOME
from sdist import DIST, commit_time, packed, run
from versions import first, library_version

RECIPES = ROOT / "packaging"
PLACEHOLDER = re.compile(r"@([A-Z][A-Z0-9_]*)@")


def maintainer() -> str:
    """Returns the maintainer, as Debian's programs read it from the environment."""
    return f"{os.environ.get('DEBFULLNAME', 'The onnxar authors')} <{os.environ.get('DEBEMAIL', 'onnxar@example.org')}>"


def values(source: Path, address: str = "") -> dict[str, str]:
    """Returns the value of each placeholder. Without an address, uses that of the release."""
    version, data = library_version(), source.read_bytes()
    return {
        "VERSION": version,
        "SOVERSION": version.rpartition(".")[0],  # of the C++ libraries, as in src/CMakeLists.txt
        "C_ABI": first("include/onnxar/onnxar_c.h", r"define ONNXAR_C_ABI (\d+)", ROOT)[0],
        "HOME": HOME,
        "URL": address or f"{HOME}/releases/download/v{version}/{source.name}",
        "SHA256": hashlib.sha256(data).hexdigest(),
        "SHA512": hashlib.sha512(data).hexdigest(),
        "MAINTAINER": maintainer(),
        "DATE": email.utils.formatdate(int(commit_time())),
    }


def filled(text: str, known: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: known[found[1]], text)


def fill(folder: Path, known: dict[str, str], recipes: Path = RECIPES) -> None:
    """Writes the recipes to a new folder. Names of files have placeholders, too."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(recipes.rglob("*")):
        out = folder / filled(path.relative_to(recipes).as_posix(), known)
        if path.is_file() and path != RECIPES / "README.md":
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(filled(path.read_text(encoding="utf-8"), known), encoding="utf-8")
            out.chmod(path.stat().st_mode)


def make_source(place: Path) -> Path:
    """Packs the files that git knows or would add, unchanged. A release is made from a clean tag, so these are the tag's files."""
    name = f"onnxar-{library_version()}"
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as work:
        for file in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / file).is_file():
                (Path(work) / name / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, Path(work) / name / file)
        packed(Path(work) / name, place / f"{name}-source.tar.gz")
    return place / f"{name}-source.tar.gz"


def main() -> None:
    source = make_source(DIST)
    folder = WORK / "packaging" / source.name.replace("-source.tar.gz", "-recipes")
    fill(folder, values(source))
    packed(folder, DIST / f"{folder.name}.tar.gz")
    print(run("tar", "-tf", DIST / f"{folder.name}.tar.gz"), end="")


if __name__ == "__main__":
    main()

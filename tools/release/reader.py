"""Packs the reader in two files into one tarball, with its test and the vectors that the test reads.

Usage: python reader.py, which writes build/release_work/dist/onnxar-VERSION-reader.tar.gz, unpacks it elsewhere and runs the test
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pins import ROOT, WORK
from sdist import DIST, packed, run, unpacked
from versions import library_version

READER, VECTORS = ROOT / "reader", ROOT / "spec/vectors"


def fill(folder: Path) -> None:
    (folder / "vectors").mkdir(parents=True)
    for file in (READER / "onnxar_reader.h", READER / "onnxar_reader.c", ROOT / "LICENSE"):
        shutil.copy(file, folder)
    shutil.copytree(READER / "test", folder / "test", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(VECTORS / "manifest.json", folder / "vectors")
    for kind in ("valid", "unparsed", "invalid"):
        shutil.copytree(VECTORS / kind, folder / "vectors" / kind)


def make_reader() -> Path:
    name = f"onnxar-{library_version()}-reader"
    folder = WORK / "reader" / name
    shutil.rmtree(folder, ignore_errors=True)
    fill(folder)
    out = DIST / f"{name}.tar.gz"
    DIST.mkdir(parents=True, exist_ok=True)
    packed(folder, out)
    with tempfile.TemporaryDirectory() as elsewhere:
        print(run(sys.executable, "-B", unpacked(out, Path(elsewhere) / "unpacked") / "test/run.py"), end="")
    print(f"{out.relative_to(ROOT)}: its test passes outside of the tree", flush=True)
    return out


if __name__ == "__main__":
    try:
        make_reader()
    except subprocess.CalledProcessError as error:
        sys.exit(f"reader.py: {error}\n{error.stdout or ''}")

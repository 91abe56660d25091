"""Makes the source distribution: the sources, the archives of cmake/bundled.txt, and the code that protoc generates from onnx.proto.

Usage: python sdist.py, which writes build/release_work/dist/onnxar-VERSION.tar.gz and prints its path
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from pins import BUNDLED, ROOT, WORK, fetched, pins
from public import HOME
from versions import library_version

DIST = WORK / "dist"
PLACE = ROOT / "bundled"  # .gitignore has it


def run(*command: object, cwd: Path = ROOT, **environment: object) -> str:
    """Returns what the command prints; its errors are shown immediately."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    return subprocess.run([*map(str, command)], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True, env=variables).stdout


def commit_time() -> str:
    """Returns the time of all files in archives, which makes the bytes depend only on the commit."""
    return run("git", "log", "-1", "--format=%ct").strip()


def generate(folder: Path) -> None:
    """Generates onnx.pb.cc and onnx.pb.h with the protoc of the bundled protobuf."""
    (wanted,) = (pin.version for pin in pins(BUNDLED) if pin.name == "protobuf")
    found = run("protoc", "--version").split()[1]
    if found != wanted:
        sys.exit(f"sdist.py: this protoc is {found}, the bundled protobuf is {wanted}; Debian 12 has that one in protobuf-compiler")
    folder.mkdir()
    run("protoc", f"--proto_path={ROOT / 'proto'}", f"--cpp_out={folder}", "onnxar/onnx.proto")


def bundle() -> None:
    """Fills bundled/ again."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    for pin in pins(BUNDLED):
        shutil.copy(fetched(pin), PLACE)
    generate(PLACE / "generated")


def sdists() -> list[Path]:
    others = tuple(f"-{kind}.tar.gz" for kind in ("libraries", "reader", "source", "recipes"))
    return [path for path in DIST.glob("onnxar-*.tar.gz") if not path.name.endswith(others)]


def packed(folder: Path, out: Path) -> None:
    """Writes a .tar.gz of the folder: sorted, without a user, with the time of the commit."""
    time = int(commit_time())

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = time
        return entry

    with out.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            archive.add(path, str(path.relative_to(folder.parent)), recursive=False, filter=plain)


def link_absolutely(sdist: Path) -> None:
    """Makes the links of the Python guide absolute: PyPI shows the guide, but not the files to which it links."""
    top = unpacked(sdist, WORK / "sdist")
    for file in ("PKG-INFO", "python/README.md"):
        text = (top / file).read_text(encoding="utf-8")
        (top / file).write_text(text.replace("](../", f"]({HOME}/blob/v{library_version()}/"), encoding="utf-8")
    packed(top, sdist)


def make_sdist() -> Path:
    bundle()
    DIST.mkdir(parents=True, exist_ok=True)
    for old in sdists():
        old.unlink()
    code = f"import scikit_build_core.build as b; print(b.build_sdist({str(DIST)!r}))"
    name = run(sys.executable, "-c", code, SOURCE_DATE_EPOCH=commit_time()).split()[-1]
    shutil.rmtree(PLACE)  # a build of this tree takes the system's libraries
    link_absolutely(DIST / name)
    return DIST / name


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpacks the archive into a new folder, and returns the only folder in it. Its files get the time of this call: in the archive they have the
    time of the commit, which may be earlier than that of objects of other sources."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run("tar", "-xf", archive, "-C", folder, "--no-same-owner", "--touch")
    (top,) = folder.iterdir()
    return top


if __name__ == "__main__":
    print(make_sdist())

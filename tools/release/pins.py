"""Downloads archives of other projects, which tables name by address and SHA-256: cmake/bundled.txt and tools/release/pythons.txt."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/release_work"
DOWNLOADS = WORK / "downloads"
BUNDLED = ROOT / "cmake/bundled.txt"
PYTHONS = ROOT / "tools/release/pythons.txt"


@dataclasses.dataclass(frozen=True)
class Pin:
    """One line of a table."""

    name: str
    version: str
    licence: str  # an SPDX identifier
    sha256: str
    address: str

    @property
    def file(self) -> str:
        return self.address.rsplit("/", 1)[1]


def pins(table: Path) -> list[Pin]:
    lines = (line.split() for line in table.read_text().splitlines())
    return [Pin(*words) for words in lines if words and words[0] != "#"]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetched(pin: Pin, folder: Path = DOWNLOADS) -> Path:
    """Returns the path of the archive, and downloads it first if it is missing. Ends the program if its SHA-256 differs."""
    path = folder / pin.file
    if not path.exists():
        print(f"fetching {pin.address}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        with urllib.request.urlopen(pin.address, timeout=60) as answer, part.open("wb") as file:
            shutil.copyfileobj(answer, file)
        part.rename(path)
    if (found := sha256(path)) != pin.sha256:
        path.unlink()
        sys.exit(f"{pin.address} has the SHA-256 {found}, expected {pin.sha256}: it is removed")
    return path

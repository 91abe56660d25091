"""The inputs that fuzzing has found, one zip file per target in tests/fuzz/corpus: small ones that together reach what all
of them reach. Names in it are the SHA-1 of the bytes, as libFuzzer names its files.

Usage: corpus.py unpack FOLDER             writes FOLDER/TARGET/NAME
       corpus.py pack TARGET FOLDER        replaces the corpus of the target by the files of FOLDER
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

HOME = Path(__file__).resolve().parent / "corpus"
LARGEST = 110_000  # bytes of one zip file, so that all of them stay below 2 MB
LARGEST_INPUT = 8_000


def unpack(folder: Path) -> None:
    for path in sorted(HOME.glob("*.zip")):
        target = folder / path.stem
        target.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path) as corpus:
            corpus.extractall(target)


def packed(inputs: list[bytes]) -> bytes:
    """The same bytes for the same inputs: without times, in the order of sizes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as corpus:
        for data in inputs:
            info = zipfile.ZipInfo(hashlib.sha1(data).hexdigest())
            corpus.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def fitting(inputs: list[bytes]) -> list[bytes]:
    """The smallest inputs, as many as fit."""
    low, high = 0, len(inputs)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(packed(inputs[:middle])) <= LARGEST else (low, middle - 1)
    return inputs[:low]


def pack(target: str, folder: Path) -> None:
    inputs = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda data: (len(data), data))
    kept = fitting([data for data in inputs if len(data) <= LARGEST_INPUT])
    HOME.mkdir(exist_ok=True)
    (HOME / f"{target}.zip").write_bytes(packed(kept))
    print(f"{target}: {len(kept)} of {len(inputs)} inputs")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "unpack":
        unpack(Path(sys.argv[2]))
    elif len(sys.argv) == 4 and sys.argv[1] == "pack":
        pack(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(__doc__)

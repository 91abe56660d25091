#!/usr/bin/env python3
"""Prints mutants of archives with the verdict of the C++ reader on each, as lines of JSON.

Usage: ONNXAR_ACCEPTS=path/to/onnxar_accepts mutants.py ROOT SEED COUNT

A line is {"what": ..., "file": base64, "said": READING}. READING is what tests/interop/zip/accepts.cc prints as
"strict": {"code": ...} or {"entries": [[name in hexadecimal, size, digest, offset], ...]}; the first 8 digits of a
digest are the CRC-32.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

AT_ONCE = 500


def verdicts(files: list[bytes]) -> list[dict]:
    given = b"".join(b"%d\n%b" % (len(file), file) for file in files)
    done = subprocess.run([os.environ["ONNXAR_ACCEPTS"]], input=given, stdout=subprocess.PIPE, check=True)
    return [json.loads(line)["strict"] for line in done.stdout.splitlines()]


def main() -> None:
    root, seed, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    sys.path[:0] = [str(root / "tests"), str(root / "tests/interop/zip")]
    from mutants import mutants

    row = mutants(seed, 0, count)
    while some := list(itertools.islice(row, AT_ONCE)):
        for mutation, said in zip(some, verdicts([each.file for each in some]), strict=True):
            line = {"what": " ".join(map(str, mutation[:2])), "file": base64.b64encode(mutation.file).decode(), "said": said}
            print(json.dumps(line))


if __name__ == "__main__":
    main()

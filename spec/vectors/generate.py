#!/usr/bin/env python3
"""Writes the conformance vectors; README.md tells what they are.

generate.py              writes valid/, unparsed/, invalid/ and manifest.json beside itself
generate.py --check      exits 1 if what is there differs from that
generate.py --large DIR  writes the vectors that are too large to be kept, into DIR
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import checksums
import digests
import invalid_directory
import invalid_ends
import invalid_entries
import invalid_graphs
import invalid_local
import invalid_model_names
import invalid_models
import invalid_names
import invalid_padding
import invalid_runs
import invalid_shadows
import invalid_tails
import invalid_tensors
import invalid_zip64_ends
import large
import valid
import valid_graphs
import valid_model_names
import valid_models
import valid_runs
import valid_stock
import wire_forms
from vector import RULES, Invalid, Vector

HERE = Path(__file__).resolve().parent
FOLDERS = ("valid", "unparsed", "invalid")
KEPT = 65536  # bytes; what is larger is not kept but made when it is wanted
MODULES = (
    valid,
    valid_stock,
    valid_models,
    invalid_ends,
    invalid_zip64_ends,
    invalid_directory,
    invalid_names,
    invalid_entries,
    invalid_local,
    invalid_padding,
    invalid_tails,
    invalid_models,
    invalid_tensors,
    checksums,
    digests,
    wire_forms,
    valid_graphs,
    valid_model_names,
    valid_runs,
    invalid_graphs,
    invalid_model_names,
    invalid_shadows,
    invalid_runs,
    large,
)


def all_vectors() -> Iterator[Vector]:
    return itertools.chain.from_iterable(module.vectors() for module in MODULES)


def described(vector: Vector) -> dict[str, object]:
    """The vector's object in the manifest."""
    row: dict[str, object] = {"file": path_of(vector), "about": vector.about, "case": vector.case}
    if isinstance(vector, Invalid):
        row |= {"stage": vector.stage, "rule": vector.rule, "code": RULES[vector.rule]}
    else:
        row |= {"stage": None}
    row |= {"loader": True} if vector.binds_loader else {}
    row |= vector.expectation()
    return row | ({"large": True} if len(vector.file) > KEPT else {})


def path_of(vector: Vector) -> str:
    if isinstance(vector, Invalid):
        return f"invalid/{vector.name}.onnxar"
    return f"{'valid' if vector.is_parsed else 'unparsed'}/{vector.name}.onnxar"


def make() -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What is kept, and what is not: bytes by path."""
    kept: dict[str, bytes] = {}
    not_kept: dict[str, bytes] = {}
    rows = []
    for vector in all_vectors():
        path = path_of(vector)
        if path in kept or path in not_kept:
            raise ValueError(f"two vectors are named {path}")
        (kept if len(vector.file) <= KEPT else not_kept)[path] = vector.file
        rows.append(described(vector))
    kept["manifest.json"] = manifest(rows)
    return kept, not_kept


def manifest(rows: list[dict[str, object]]) -> bytes:
    """A line a vector, so that a change of one is a change of one line."""
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def present() -> set[str]:
    files = {path for folder in FOLDERS for path in (HERE / folder).glob("*")}
    files.add(HERE / "manifest.json")
    return {path.relative_to(HERE).as_posix() for path in files if path.is_file()}


def differing(files: dict[str, bytes]) -> list[str]:
    """Names of what is missing, left over or other than it would be made."""
    changed = [
        name for name in files.keys() & present() if (HERE / name).read_bytes() != files[name]
    ]
    return sorted({*changed, *(files.keys() ^ present())})


def write(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the conformance vectors.")
    parser.add_argument("--check", action="store_true", help="compare with what is there")
    parser.add_argument("--large", metavar="DIR", type=Path, help="write the large ones into DIR")
    arguments = parser.parse_args()
    kept, not_kept = make()
    if arguments.large:
        write(not_kept, arguments.large)
    elif arguments.check:
        names = differing(kept)
        print(*(f"differs: {name}" for name in names), sep="\n", end="\n" if names else "")
        return 1 if names else 0
    else:
        for name in present() - kept.keys():
            (HERE / name).unlink()
        write(kept, HERE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A checker of ONNX archives that follows ../checking.md step by step.

The end of the file, directory headers and names are in directory.py, places and local headers in
archive.py, the model in model.py and wire_format.py, superseded tails and remarks here.
"""

from __future__ import annotations

import argparse
import json
import mmap
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from archive import MODEL, Archive, open_archive
from checksum import check_checksums, has_odd_checksum
from directory import NONE_16, NONE_32, Entry, Limits
from model import Link, Model, read_model
from rules import ERROR, NOTE, WARNING, Finding, Refused, as_error, finding
from tensors import Tensor

__all__ = ["Archive", "Entry", "Finding", "Limits", "Refused", "check", "open_archive"]


def check(archive: Archive, data: bool = False, strict: bool = False) -> list[Finding]:
    """Returns everything that is wrong with an archive that could be opened (stages use, check and
    check data), or remarks if nothing is wrong."""
    errors: list[Finding] = []

    def attempt(prove: Callable[..., object], *arguments: object) -> None:
        try:
            prove(*arguments)
        except Refused as refused:
            errors.append(refused.finding)

    for entry in archive.entries:
        attempt(archive.place, entry)
    attempt(check_tails, archive)
    model = read_model(archive)
    errors += model.errors
    if data:
        for entry in archive.entries:
            attempt(archive.check_crc, entry)
        errors += check_checksums(model.links, archive)
    errors = list(dict.fromkeys(errors))  # each once
    remarks = [] if errors else list(remarks_on(archive, model))
    if strict:
        remarks = [as_error(each) if is_refused_by_strict(each) else each for each in remarks]
    return errors + remarks


def is_refused_by_strict(remark: Finding) -> bool:
    return remark.severity == WARNING or remark.rule == "R10"


# --- superseded tails ----------------------------------------------------------------------------


def check_tails(archive: Archive) -> None:
    """Checks T2."""
    known: set[int] = set()
    for _, tail in sorted(archive.tails.items()):
        try:
            check_states(archive, tail.end, known)
        except Refused:
            raise Refused(finding(ERROR, "T2", tail.begin, tail.entry.name)) from None


def check_states(archive: Archive, end: int, known: set[int]) -> None:
    """Opens the state that ends at `end`, the states in its tails, and so on, except states that
    are known. Proves each local header. The user's limits do not apply."""
    ends = list({end} - known)
    known.add(end)
    while ends:
        state = Archive(archive.file[: ends.pop()], Limits(), archive.zeros)
        for entry in state.entries:
            state.place(entry)
        before = {tail.end for tail in state.tails.values()} - known
        known |= before
        ends += before


# --- remarks: what is allowed and yet not right --------------------------------------------------


def remarks_on(archive: Archive, model: Model) -> Iterator[Finding]:
    yield from zip64_remarks(archive)
    for tensor in model.tensors:
        yield from tensor_remarks(tensor)
    for link in model.links:
        yield from link_remarks(link, archive)
    for at, graph in model.duplicates:
        yield finding(WARNING, "R14", at, graph)
    yield from sharing_remarks(model.links)
    yield from entry_remarks(archive, model.links)
    for tail in archive.tails.values():
        yield finding(NOTE, "R10", tail.begin, tail.entry.name)


def zip64_remarks(archive: Archive) -> Iterator[Finding]:
    """Yields R1."""
    said = archive.directory
    fits = said.entries < NONE_16 and max(said.size, said.offset) < NONE_32
    if said.has_zip64 and fits:
        yield finding(WARNING, "R1", said.offset)
    for entry in archive.entries:
        in_header = entry.has_zip64 and max(entry.size, entry.offset) < NONE_32
        in_local = archive.place(entry).has_zip64 and entry.size < NONE_32
        if in_header or in_local:
            yield finding(WARNING, "R1", entry.offset, entry.name)


def tensor_remarks(tensor: Tensor) -> Iterator[Finding]:
    if tensor.is_external:
        if tensor.has_unknown_key:
            yield finding(WARNING, "R7", tensor.at, tensor.graph)
        if has_odd_checksum(tensor):
            yield finding(WARNING, "R13", tensor.at, tensor.graph)
    elif None not in (tensor.raw_size, tensor.size) and tensor.raw_size > tensor.size:
        yield finding(WARNING, "R8", tensor.at, tensor.graph)
    elif tensor.has_surplus:
        yield finding(WARNING, "R12", tensor.at, tensor.graph)
    elif tensor.lacks_data:
        yield finding(WARNING, "R11", tensor.at, tensor.graph)


def link_remarks(link: Link, archive: Archive) -> Iterator[Finding]:
    if not is_identifier(link.entry.name):
        yield finding(WARNING, "R2", link.tensor.at, link.tensor.graph)
    if link.length < 1024:
        yield finding(WARNING, "R5", link.tensor.at, link.tensor.graph)
    if (archive.place(link.entry).data + link.offset) % 64 != 0:
        yield finding(WARNING, "R6", link.tensor.at, link.tensor.graph)


def sharing_remarks(links: list[Link]) -> Iterator[Finding]:
    """Yields R3, and R9 for links to the same data."""
    by_entry: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.length > 0:
            by_entry[link.entry.name].append(link)
    for in_entry in by_entry.values():
        in_entry.sort(key=lambda link: (link.offset, link.end))
        reach = 0
        graphs = {in_entry[0].tensor.graph}  # in which a tensor has this data
        for before, link in pairwise(in_entry):
            reach = max(reach, before.end)
            if (link.offset, link.end) == (before.offset, before.end):
                if link.tensor.graph in graphs:
                    yield finding(NOTE, "R9", link.tensor.at, link.tensor.graph)
                graphs.add(link.tensor.graph)
                continue
            graphs = {link.tensor.graph}
            if link.offset < reach:
                yield finding(WARNING, "R3", link.tensor.at, link.tensor.graph)


TEXTS = {"LICENSE", "LICENCE", "NOTICE", "COPYING", "README", "AUTHORS"}


def entry_remarks(archive: Archive, links: list[Link]) -> Iterator[Finding]:
    """Yields R4; a note after an edit, because the edit left the entry."""
    severity = NOTE if archive.tails else WARNING
    named = {link.entry.name for link in links} | {MODEL}
    for entry in archive.entries:
        if is_identifier(entry.name) and entry.name not in named | TEXTS:
            yield finding(severity, "R4", entry.offset, entry.name)


def is_identifier(name: str) -> bool:
    return re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) is not None


# --- command line --------------------------------------------------------------------------------

DONE, FOUND, FAILED = 0, 1, 3  # exit codes; argparse has 2 for a bad usage


def main() -> int:
    options = parser().parse_args()
    try:
        return options.run(open_archive(mapped(options.file)), options)
    except Refused as refused:
        report([refused.finding], options)
        return FOUND
    except OSError as error:
        report_error(f"{error.filename or options.file}: {error.strerror}")
        return FAILED


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(description="Reads ONNX archives, by the text of the format")
    verbs = words.add_subparsers(required=True, metavar="list|check|extract")
    for name, run in (("list", list_entries), ("check", check_file), ("extract", extract)):
        verb = verbs.add_parser(name)
        verb.set_defaults(run=run)
        verb.add_argument("file", type=Path)
        if name == "check":
            verb.add_argument("--data", action="store_true", help="also compare CRC-32s")
            verb.add_argument("--strict", action="store_true", help="warnings are errors")
        if name == "extract":
            verb.add_argument("name")
            verb.add_argument("-o", "--output", type=Path, help="instead of standard output")
        else:
            verb.add_argument("--json", action="store_true")
    return words


def mapped(path: Path) -> bytes | mmap.mmap:
    with open(path, "rb") as file:
        is_empty = file.seek(0, 2) == 0  # and cannot be mapped
        return b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def list_entries(archive: Archive, options: argparse.Namespace) -> int:
    rows = [
        {"name": entry.name, "offset": begin, "size": entry.size, "crc32": entry.crc32}
        for entry in archive.entries
        for begin in [archive.place(entry).data]
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
    for row in [] if options.json else rows:
        print(f"{row['offset']:12} {row['size']:12} {row['crc32']:08x} {shown(row['name'])}")
    return DONE


def check_file(archive: Archive, options: argparse.Namespace) -> int:
    findings = check(archive, options.data, options.strict)
    report(findings, options)
    return FOUND if any(each.severity == ERROR for each in findings) else DONE


def extract(archive: Archive, options: argparse.Namespace) -> int:
    entry = archive.by_name.get(options.name.encode(errors="surrogateescape"))
    if entry is None:
        report_error(f"{options.file}: no entry {options.name}")
        return FAILED
    archive.check_crc(entry)
    if options.output is None:
        sys.stdout.buffer.write(archive.data(entry))
    else:
        options.output.write_bytes(archive.data(entry))
    return DONE


def report(findings: Iterable[Finding], options: argparse.Namespace) -> None:
    """Prints findings to standard output if the user asked for them, else to standard error."""
    is_asked_for = options.run is check_file
    if is_asked_for and options.json:
        print(json.dumps([asdict(each) for each in findings], indent=2))
        return
    for each in findings:
        place = "" if each.offset is None else f" at 0x{each.offset:x}"
        entry = "" if each.entry is None else f" in {shown(each.entry)}"
        line = f"{each.severity}[{each.code}]{entry}{place}: {each.message} ({each.rule})"
        print(line, file=sys.stdout if is_asked_for else sys.stderr)


def report_error(message: str) -> None:
    print(f"onnxar_reader: {shown(message)}", file=sys.stderr)


def shown(name: str) -> str:
    """Escapes a name: it may hold characters that move a terminal's cursor (background.md,
    Security)."""
    return "".join(
        each if each.isprintable() and each != "\\" else each.encode("unicode_escape").decode()
        for each in name
    )


if __name__ == "__main__":
    sys.exit(main())

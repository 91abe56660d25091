"""Packs models and unpacks them: the model comes back, the archive holds its weights."""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
import unittest
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper
from support import command_line, zoo
from support import onnx_walk as walk
from support.archives import MODEL
from support.command_line import ALL_SITES, DONE, MIB, at_once, label, onnxar, run
from support.wire_reader import identity_promised


class Least(NamedTuple):
    """The least that a run covers; less means that models are missing and the run proves nothing."""

    models: int
    moved: int
    by_bytes: int


LEAST_ZOO = Least(models=130, moved=5000, by_bytes=50)
LEAST_ZOO_DEFAULT = Least(models=130, moved=1100, by_bytes=50)
LEAST_ZOO_EXTERNAL = Least(models=130, moved=1100, by_bytes=130)
LEAST_TESTDATA = Least(models=1000, moved=150, by_bytes=1000)

DEFAULT_THRESHOLD = 1024
SHAPE_LIMIT = 1024  # integers below this many bytes stay, at any threshold
KEY = re.compile(r"(?!__[A-Z])[A-Za-z_][A-Za-z0-9_]*")
FAULTS_SHOWN = 5  # of one model

# --- an archive, read without the tool -----------------------------------------------------------


class Archive:
    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as file:
            self.infos = file.infolist()
            self.entries = {info.filename: file.read(info) for info in self.infos}
        self._file = path.read_bytes()
        self.model = walk.parse(self.entries[MODEL])

    def data_offset(self, info: zipfile.ZipInfo) -> int:
        """Where an entry's bytes begin, from its local header alone."""
        header = info.header_offset
        signature, name, extra = struct.unpack_from("<4s22xHH", self._file, header)
        if signature != b"PK\3\4":
            raise ValueError(f"{info.filename}: no local header at {header}")
        return header + 30 + name + extra

    def read(self, location: str, offset: int, length: int | None) -> bytes:
        end = None if length is None else offset + length
        return self.entries[location][offset:end]


def layout_faults(archive: Archive) -> Iterator[str]:
    names = [info.filename for info in archive.infos]
    if names[-1] != MODEL:
        yield f"the last entry is {names[-1]!r}"
    if archive.infos[0].header_offset != 0:
        yield f"the first entry begins at {archive.infos[0].header_offset}"
    if len({name.casefold() for name in names}) != len(names):
        yield "entries that differ in case alone"
    for info in archive.infos:
        offset = archive.data_offset(info)
        alignment = 64 if info.file_size < MIB else 4096
        if offset % alignment:
            yield f"{info.filename}: data at {offset}, not at a multiple of {alignment}"
        if info.filename != MODEL and not KEY.fullmatch(info.filename):
            yield f"{info.filename!r} is not a key"


# --- what moved ----------------------------------------------------------------------------------

Sites = dict[str, walk.Site]


def sites_of(model: walk.Message) -> Sites:
    return {site.path: site for site in walk.sites(model)}


def external_of(sites: Sites) -> set[str]:
    return {path for path, site in sites.items() if walk.is_external(site.tensor)}


def must_stay(site: walk.Site) -> bool:
    tensor, data = site.tensor, walk.payload(site.tensor)
    is_shape = tensor.data_type in (walk.INT32, walk.INT64) and len(data or b"") < SHAPE_LIMIT
    return (
        not data  # strings, empty tensors, typed fields that do not convert
        or is_shape
        or site.kind == "sparse_indices"
        or tensor.HasField("segment")
    )


def must_move(site: walk.Site, is_default: bool) -> bool:
    """Skips what the format leaves open: unknown types, raw data of a wrong size."""
    tensor = site.tensor
    if must_stay(site) or tensor.data_type not in walk.LAYOUTS:
        return False
    if tensor.HasField("raw_data") and not walk.is_sized_right(tensor):
        return False
    is_large = len(walk.payload(tensor)) >= DEFAULT_THRESHOLD
    return not is_default or (is_large and site.in_plain_scope)


def defined_twice(originals: Sites) -> set[str]:
    """The initializers whose name another one of their graph has: they stay."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, site in originals.items():
        graph = re.fullmatch(r"(.*\.)(initializer\[\d+\]|sparse_initializer\[\d+\]\.values)", path)
        if graph and site.tensor.name:
            found.setdefault((graph[1], site.tensor.name), set()).add(path)
    return {path for paths in found.values() if len(paths) > 1 for path in paths}


def moved_faults(originals: Sites, moved: set[str], is_default: bool) -> Iterator[str]:
    twice = defined_twice(originals)
    for path, site in originals.items():
        if path in moved and (must_stay(site) or path in twice):
            yield f"{path}: moved, must stay"
        if path not in moved and path not in twice and must_move(site, is_default):
            yield f"{path}: stayed, must move"


def entry_faults(
    archive: Archive, packed: Sites, originals: Sites, moved: set[str]
) -> Iterator[str]:
    if packed.keys() != originals.keys():
        yield "the model in the archive has other tensors than the original"
        return
    for path in sorted(moved):
        tensor, target = packed[path].tensor, walk.link(packed[path].tensor)
        if walk.has_payload(tensor):
            yield f"{path}: payload beside its link"
        if walk.keys_of_link(packed[path].tensor) != walk.KEYS:
            yield f"{path}: link {target}"
        elif target["location"] not in archive.entries:
            yield f"{path}: no entry {target['location']!r}"
        elif slice_of(archive, target) != walk.payload(originals[path].tensor):
            yield f"{path}: entry {target['location']!r} holds other bytes"


def slice_of(archive: Archive, target: dict[str, str]) -> bytes:
    return archive.read(target["location"], int(target["offset"]), int(target["length"]))


# --- judging one model ---------------------------------------------------------------------------


class Verdict(NamedTuple):
    name: str
    moved: int = 0
    by_bytes: bool = False
    faults: tuple[str, ...] = ()


def judge(source: Path, work: Path, options: tuple[str, ...]) -> Verdict:
    """Packs and unpacks; looks at the archive and at what comes back."""
    packed, back = work / "packed.onnxar", work / "back.onnx"
    onnxar("pack", source, "-o", packed, "--no-sync", *options)
    checked = run("check", "--data", "-q", packed)
    onnxar("unpack", packed, "-o", back)

    spelling = source.read_bytes()
    linked = external_of(sites_of(walk.parse(spelling)))
    original, archive = walk.load(source), Archive(packed)
    originals, inside = sites_of(original), sites_of(archive.model)
    moved = external_of(inside)
    faults = [
        *([checked.stdout.decode()] if (checked.returncode == DONE) != zoo.passes_check(source) else []),
        *layout_faults(archive),
        *moved_faults(originals, moved, is_default=not options),
        *entry_faults(archive, inside, originals, moved),
    ]
    by_bytes = identity_promised(spelling, moved | linked)
    if by_bytes and back.read_bytes() != spelling:
        faults.append("not the same bytes after unpack")
    if faults or not by_bytes:
        faults += walk.differences(original, walk.load(back))
    return Verdict(label(source), len(moved), by_bytes, tuple(faults))


def judge_external(source: Path, work: Path) -> Verdict:
    """Goes through a data file: pack, unpack with external data, pack that, unpack inline."""
    first, second, back = work / "first.onnxar", work / "second.onnxar", work / "back.onnx"
    beside, again = work / "beside" / "model.onnx", work / "again" / "model.onnx"
    onnxar("pack", source, "-o", first, "--no-sync", *ALL_SITES)
    for archive, outside in ((first, beside), (second, again)):
        outside.parent.mkdir()
        onnxar("unpack", archive, "--external-data", "weights.bin", "-o", outside)
        onnxar("pack", outside, "-o", second, "--no-sync", "-f", *ALL_SITES)
    onnxar("unpack", second, "-o", back)

    original, linked = walk.load(source), sites_of(walk.parse(beside.read_bytes()))
    faults = [
        f"with external data: {each}" for each in walk.differences(original, walk.load(beside))
    ]
    faults += walk.differences(original, walk.load(back))
    faults += link_faults(linked)
    by_bytes = contents(beside.parent) == contents(again.parent)
    faults += [] if by_bytes else ["with external data: packed and unpacked, it is not the same bytes"]
    return Verdict(label(source), len(external_of(linked)), by_bytes, tuple(faults))


def link_faults(linked: Sites) -> Iterator[str]:
    for path in sorted(external_of(linked)):
        if walk.keys_of_link(linked[path].tensor) != walk.KEYS:
            yield f"{path}: link {walk.link(linked[path].tensor)}"


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


Judge = Callable[[Path, Path], Verdict]


def judge_safely(judged: Judge, source: Path) -> Verdict:
    """A verdict in any case: one model that fails must not hide the others."""
    with tempfile.TemporaryDirectory() as work:
        try:
            return judged(source, Path(work))
        except Exception as error:
            return Verdict(label(source), faults=(f"{type(error).__name__}: {error}",))


def report(verdicts: Iterable[Verdict]) -> str:
    """One paragraph for each model that has faults."""
    paragraphs = []
    for verdict in verdicts:
        shown = list(verdict.faults[:FAULTS_SHOWN])
        if len(verdict.faults) > FAULTS_SHOWN:
            shown.append(f"and {len(verdict.faults) - FAULTS_SHOWN} more")
        if shown:
            paragraphs.append("\n  ".join([verdict.name, *shown]))
    return "\n".join(paragraphs)


# --- the tests -----------------------------------------------------------------------------------


class RoundTrip(unittest.TestCase):
    def hold(self, models: list[Path], judged: Judge, least: Least) -> None:
        verdicts = at_once(partial(judge_safely, judged), models)
        moved = sum(verdict.moved for verdict in verdicts)
        by_bytes = sum(verdict.by_bytes for verdict in verdicts)
        print(
            f"{self.id().rpartition('.')[2]}: {len(models)} models, {moved} payloads moved, "
            f"{by_bytes} models judged by bytes",
            flush=True,
        )
        faults = report(verdicts)
        count = sum(bool(verdict.faults) for verdict in verdicts)
        if faults:
            self.fail(f"{count} of {len(models)} models fail:\n{faults}")
        self.assertGreaterEqual(len(models), least.models)
        self.assertGreaterEqual(moved, least.moved)
        self.assertGreaterEqual(by_bytes, least.by_bytes)


class Zoo(RoundTrip):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.models = zoo.write_zoo(Path(folder.name))

    def test_every_site_comes_back(self) -> None:
        self.hold(self.models, partial(judge, options=ALL_SITES), LEAST_ZOO)

    def test_default_options_come_back(self) -> None:
        self.hold(self.models, partial(judge, options=()), LEAST_ZOO_DEFAULT)

    def test_external_data_comes_back(self) -> None:
        self.hold(self.models, judge_external, LEAST_ZOO_EXTERNAL)


class SavedByOnnx(command_line.ToolCase):
    """What ONNX's own Python package writes: links of location, offset and length, data without gaps."""

    SIZES = (1024, 64 * 64, 3 * 1024)  # values; multiples of 64 bytes, so that they begin where we would begin them

    def test_with_a_data_file_it_comes_back_byte_for_byte(self) -> None:
        arrays = {f"w{n}": np.arange(size, dtype=np.float32) + n for n, size in enumerate(self.SIZES)}
        tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
        model = helper.make_model(helper.make_graph([], "graph", [], [], tensors))
        before, after = self.folder / "before", self.folder / "after"
        for folder in (before, after):
            folder.mkdir()
        options = {"all_tensors_to_one_file": True, "location": "m.data", "size_threshold": 1024}
        onnx.save(model, str(before / "m.onnx"), save_as_external_data=True, **options)
        self.succeeds("pack", before / "m.onnx", "-o", self.output)
        self.succeeds("unpack", self.output, "-o", after / "m.onnx", "--external-data", "m.data")
        self.assertEqual(set(contents(before)), {"m.onnx", "m.data"})
        self.assertEqual(contents(after), contents(before))


class Testdata(RoundTrip):
    """The models that ONNX tests its backends with, as Debian packages them."""

    PACKAGE = "libonnx-testdata"

    def models(self) -> list[Path]:
        try:
            command = ["dpkg", "-L", self.PACKAGE]
            listing = subprocess.run(command, check=False, capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("no dpkg")
        if listing.returncode != 0:
            self.skipTest(f"{self.PACKAGE} is not installed")
        return sorted(Path(line) for line in listing.stdout.splitlines() if line.endswith(".onnx"))

    def test_every_site_comes_back(self) -> None:
        models = self.models()
        self.hold(models, partial(judge, options=ALL_SITES), LEAST_TESTDATA)


if __name__ == "__main__":
    command_line.main()

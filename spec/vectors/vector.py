"""What a vector is: a file, and what a reader must say of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from builder import MODEL, SMALLEST_MODEL, Archive, Entry, encoded

# The code that names the breach of each rule of the text.
RULES = {
    "E1": "zip.end.missing",
    "E2": "zip.end.not_last",
    "E3": "zip.end.comment",
    "E4": "zip.end.multi_disk",
    "E5": "zip.zip64.locator",
    "E6": "zip.zip64.record",
    "E7": "zip.zip64.disagree",
    "E8": "zip.end.directory_bounds",
    "E9": "zip.directory.empty",
    "E10": "zip.directory.count",
    "E11": "zip.limit.entries",
    "E12": "zip.limit.directory",
    "D1": "zip.directory.header",
    "D2": "zip.entry.encrypted",
    "D3": "zip.entry.descriptor",
    "D4": "zip.entry.flags",
    "D5": "zip.entry.method",
    "D6": "zip.entry.version",
    "D7": "zip.entry.disk",
    "D8": "zip.entry.comment",
    "D9": "zip.entry.attributes",
    "D10": "zip.extra.malformed",
    "D11": "zip.extra.unknown",
    "D12": "zip.extra.duplicate",
    "D13": "zip.zip64.extra",
    "D14": "zip.entry.sizes",
    "D15": "zip.entry.empty_crc",
    "D16": "zip.extra.alignment",
    "N1": "zip.name.empty",
    "N2": "zip.name.too_long",
    "N6": "zip.name.absolute",
    "N8": "zip.name.directory",
    "N9": "zip.name.part",
    "N10": "zip.name.duplicate",
    "N11": "zip.name.folded",
    "N12": "zip.name.prefix",
    "N13": "archive.name.reserved",
    "N14": "zip.name.character",
    "N15": "zip.name.part_too_long",
    "N16": "zip.name.part_end",
    "N17": "zip.name.device",
    "P1": "zip.entry.first_offset",
    "P2": "zip.entry.order",
    "P3": "zip.entry.overlap",
    "P4": "zip.entry.bounds",
    "P5": "zip.entry.gap",
    "P6": "archive.model.missing",
    "P7": "archive.model.not_last",
    "P8": "archive.model.too_large",
    "L1": "zip.local.header",
    "L2": "zip.local.name",
    "L3": "zip.local.field",
    "L4": "zip.extra.malformed",
    "L5": "zip.extra.unknown",
    "L6": "zip.extra.duplicate",
    "L7": "zip.zip64.extra",
    "L8": "zip.local.size",
    "L10": "zip.padding.record",
    "L11": "zip.padding.alignment",
    "L12": "zip.padding.alignment",
    "L13": "zip.entry.version",
    "L14": "zip.extra.alignment",
    "L15": "zip.local.header",
    "T1": "zip.data.crc",
    "G2": "archive.model.too_large",
    "G3": "archive.graph.link_marker",
    "G4": "archive.graph.name",
    "G6": "archive.graph.shadow",
    "T2": "archive.tail.prefix",
    "M1": "onnx.model.invalid",
    "M2": "wire.truncated",
    "M3": "wire.varint",
    "M4": "wire.tag",
    "M5": "wire.type",
    "M6": "wire.depth",
    "M7": "wire.repeated_message",
    "M8": "onnx.external_data.no_location",
    "M9": "onnx.external_data.missing",
    "M10": "onnx.external_data.duplicate_key",
    "M11": "onnx.external_data.bad_offset",
    "M12": "onnx.external_data.bad_length",
    "M13": "onnx.external_data.out_of_range",
    "M14": "onnx.external_data.marker",
    "M15": "onnx.external.string",
    "M16": "onnx.external.data_beside",
    "M17": "onnx.tensor.dims",
    "M18": "onnx.tensor.length",
    "M19": "onnx.tensor.no_type",
    "M20": "onnx.tensor.data_beside",
    "M21": "onnx.tensor.wrong_field",
    "M22": "onnx.external_data.checksum",
}

# The rules that bind a loader (../loading.md), and those that bind it in linked tensors alone.
LOADER_RULES = frozenset(
    "E1 E2 E3 E5 E6 E7 E8 E9 E10 D1 D2 D3 D5 D10 D11 D12 D13 D14 N10 N13 N14 P1 P2 P3 P4 P6 "
    "L1 L2 L4 L7 L8 M8 M9 M11 M12 M13 M14 M15".split()
)
LOADER_RULES_OF_LINKS = frozenset("M10 M17 M18 M19".split())


@dataclass(frozen=True)
class Valid:
    name: str
    about: str
    archive: Archive
    case: str | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: Mapping[str, int] = field(default_factory=dict)
    left_out: str = ""  # the entry that the digest does not cover
    is_parsed: bool = True  # protobuf's parsers accept the model
    has_known_types: bool = True  # of linked tensors

    @property
    def binds_loader(self) -> bool:
        """True if a loader must accept it."""
        return self.is_parsed and self.has_known_types

    @property
    def file(self) -> bytes:
        return bytes(self.archive.file)

    @property
    def digest(self) -> str:
        """By ../digest.md."""
        sums = {e.name.encode(): hashlib.sha256(e.data).hexdigest() for e in self.archive.entries}
        sums.pop(self.left_out.encode(), None)
        lines = (f"{sums[name]}  ".encode() + name + b"\n" for name in sorted(sums))
        return hashlib.sha256(b"".join(lines)).hexdigest()

    def expectation(self) -> dict[str, object]:
        remarks: dict[str, object] = {"warnings": sorted({*self.warnings, *self.notes})}
        if self.options:
            remarks = {"options": dict(self.options), **remarks}
        if self.notes:
            remarks["notes"] = sorted(self.notes)
        remarks["digest"] = self.digest
        listing = self.archive.listing()
        if len(listing) > 1000:  # the manifest should stay a text that people read
            return {**remarks, "count": len(listing)}
        keys = ("name", "offset", "size", "crc32")
        return {**remarks, "entries": [dict(zip(keys, row)) for row in listing]}


@dataclass(frozen=True)
class Invalid:
    name: str
    about: str
    rule: str
    file: bytes
    offset: int  # that the error names
    entry: str = ""  # that the error names
    stage: str = "open"
    case: str | None = None
    options: Mapping[str, int] = field(default_factory=dict)
    is_linked: bool = False  # the tensor that is wrong
    also: tuple[str, ...] = ()  # further rules that it breaks

    @property
    def binds_loader(self) -> bool:
        """True if a loader must refuse it. It need not look at graphs beside the model."""
        bound = LOADER_RULES | (LOADER_RULES_OF_LINKS if self.is_linked else frozenset())
        is_in_graph = self.rule.startswith("M") and self.entry != MODEL
        broken = self.also if is_in_graph else (self.rule, *self.also)
        return not bound.isdisjoint(broken)

    def expectation(self) -> dict[str, object]:
        place: dict[str, object] = {"also": list(self.also)} if self.also else {}
        place["entry"] = self.entry
        if not _is_utf8(self.entry):
            del place["entry"]
            place["entry_hex"] = encoded(self.entry).hex()
        place["offset"] = self.offset
        return {**place, **({"options": dict(self.options)} if self.options else {})}


Vector = Valid | Invalid


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- what faults are put into --------------------------------------------------------------------

SIDE_FILES = ("a.bin", "b.bin")  # no identifiers, so that nobody misses a tensor that uses them


def content(seed: int, size: int) -> bytes:
    """Bytes that look like nothing in particular."""
    return bytes((seed + 37 * i + i * i // 5) % 251 for i in range(size))


def side_file(name: str = "a.bin", size: int = 20, **differing: object) -> Entry:
    return Entry(name, content(len(name) + ord(name[:1] or "?"), size), **differing)


def model(data: bytes = SMALLEST_MODEL, **differing: object) -> Entry:
    return Entry(MODEL, data, **differing)


def weight(name: str, size: int = 1024, **differing: object) -> Entry:
    """An entry large enough for a link to it to be no small one."""
    return Entry(name, content(sum(name.encode()), size), **differing)


def sample(*, zip64: bool = False) -> Archive:
    """Two side files and the smallest model: it has no fault, and nothing is worth a warning."""
    return Archive([*(side_file(name) for name in SIDE_FILES), model()], zip64=zip64)

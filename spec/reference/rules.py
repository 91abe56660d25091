"""The rules of the format, the codes that name their breach, and what is said of a breach.

The ids are those of ../onnx-archive.md, ../checking.md and ../graphs.md. Where a rule is enforced,
its id is in the call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn


class Rule(NamedTuple):
    code: str
    breach: str  # in words


RULES = {
    # The end of the file
    "E1": Rule("zip.end.missing", "the file does not end in an end record"),
    "E2": Rule("zip.end.not_last", "something follows the end record"),
    "E3": Rule("zip.end.comment", "there is an archive comment"),
    "E4": Rule("zip.end.multi_disk", "the end records state more than one disk"),
    "E5": Rule("zip.zip64.locator", "no zip64 locator that points to the bytes before itself"),
    "E6": Rule("zip.zip64.record", "no zip64 end record of 56 bytes and version 10 to 45"),
    "E7": Rule("zip.zip64.disagree", "the end record and the zip64 end record disagree"),
    "E8": Rule("zip.end.directory_bounds", "the directory does not end at the end records"),
    "E9": Rule("zip.directory.empty", "there is no entry"),
    "E10": Rule("zip.directory.count", "the stated number of entries does not fill the directory"),
    "E11": Rule("zip.limit.entries", "more entries than the limit"),
    "E12": Rule("zip.limit.directory", "a larger directory than the limit"),
    # Directory headers
    "D1": Rule("zip.directory.header", "no directory header that lies in the directory"),
    "D2": Rule("zip.entry.encrypted", "the entry is encrypted"),
    "D3": Rule("zip.entry.descriptor", "the entry has a data descriptor"),
    "D4": Rule("zip.entry.flags", "a flag is set that must not be"),
    "D5": Rule("zip.entry.method", "the entry is not stored"),
    "D6": Rule("zip.entry.version", "version needed is not from 10 to 45"),
    "D7": Rule("zip.entry.disk", "the entry is on another disk"),
    "D8": Rule("zip.entry.comment", "the entry has a comment"),
    "D9": Rule("zip.entry.attributes", "the attributes are not those of a regular file"),
    "D10": Rule("zip.extra.malformed", "the extra fields do not fill their stated length"),
    "D11": Rule("zip.extra.unknown", "an extra field other than zip64 and alignment"),
    "D12": Rule("zip.extra.duplicate", "an extra field twice"),
    "D13": Rule("zip.zip64.extra", "the zip64 field does not hold the values that it should"),
    "D14": Rule("zip.entry.sizes", "size and compressed size differ"),
    "D15": Rule("zip.entry.empty_crc", "the CRC-32 of no bytes is not 0"),
    "D16": Rule("zip.extra.alignment", "the alignment is not 2 bytes, a power of two up to 16384"),
    # Names
    "N1": Rule("zip.name.empty", "the name is empty"),
    "N2": Rule("zip.name.too_long", "the name has more than 1024 bytes"),
    "N6": Rule("zip.name.absolute", "the name is an absolute path"),
    "N8": Rule("zip.name.directory", "the name is that of a folder"),
    "N9": Rule("zip.name.part", "a part of the name is empty, `.` or `..`"),
    "N10": Rule("zip.name.duplicate", "another entry has this name"),
    "N11": Rule("zip.name.folded", "the name differs from another in the case of letters only"),
    "N12": Rule("zip.name.prefix", "an entry's name is a folder of another's"),
    "N13": Rule("archive.name.reserved", "the name is reserved: a newer reader is needed"),
    "N14": Rule("zip.name.character", "a character in the name that readers treat differently"),
    "N15": Rule("zip.name.part_too_long", "a part of the name has more than 255 bytes"),
    "N16": Rule("zip.name.part_end", "a part of the name ends in a dot or a space"),
    "N17": Rule("zip.name.device", "a part of the name is a device on Windows"),
    # Places and local headers
    "P1": Rule("zip.entry.first_offset", "the first entry is not at offset 0"),
    "P2": Rule("zip.entry.order", "the entry lies before the one that is listed before it"),
    "P3": Rule("zip.entry.overlap", "the entry overlaps the next"),
    "P4": Rule("zip.entry.bounds", "the entry does not end before the directory"),
    "P5": Rule("zip.entry.gap", "bytes after the data that are not a superseded tail"),
    "P6": Rule("archive.model.missing", "there is no entry __MODEL_PROTO"),
    "P7": Rule("archive.model.not_last", "__MODEL_PROTO is not the last entry"),
    "P8": Rule("archive.model.too_large", "the model is larger than the limit"),
    "L1": Rule("zip.local.header", "no local header with room for its name and extra fields"),
    "L2": Rule("zip.local.name", "the local header has another name"),
    "L3": Rule("zip.local.field", "a field differs from the directory's"),
    "L4": Rule("zip.extra.malformed", "the extra fields do not fill their stated length"),
    "L5": Rule("zip.extra.unknown", "an extra field other than zip64 and padding"),
    "L6": Rule("zip.extra.duplicate", "an extra field twice, or two padding records"),
    "L7": Rule("zip.zip64.extra", "no zip64 field of both sizes where one is required"),
    "L8": Rule("zip.local.size", "a size differs from the directory's"),
    "L10": Rule("zip.padding.record", "the padding is not an alignment and zeros"),
    "L11": Rule("zip.padding.alignment", "the alignment is not one that the record may hold"),
    "L12": Rule("zip.padding.alignment", "the data is not at a multiple of its alignment"),
    "L13": Rule("zip.entry.version", "version needed is not from 10 to 45 in the local header"),
    "L14": Rule("zip.extra.alignment", "the directory states a different alignment, or only it states one"),
    "L15": Rule("zip.local.header", "the local header has more than 65535 bytes"),
    "T1": Rule("zip.data.crc", "the CRC-32 of the data differs"),
    # The model
    "M1": Rule("onnx.model.invalid", "not a serialised ModelProto with a graph"),
    "M2": Rule("wire.truncated", "a field does not end in its message"),
    "M3": Rule("wire.varint", "a varint of more than 10 bytes"),
    "M4": Rule("wire.tag", "a tag of more than 5 bytes, or an invalid field number"),
    "M5": Rule("wire.type", "a wire type other than 0, 1, 2 and 5"),
    "M6": Rule("wire.depth", "messages nest more than 100 deep"),
    "M7": Rule("wire.repeated_message", "a message is given twice where one is expected"),
    "M8": Rule("onnx.external_data.no_location", "the link has no location"),
    "M9": Rule("onnx.external_data.missing", "there is no entry of the location's name"),
    "M10": Rule("onnx.external_data.duplicate_key", "a key is given twice"),
    "M11": Rule("onnx.external_data.bad_offset", "offset is not a plain decimal number"),
    "M12": Rule("onnx.external_data.bad_length", "length is not a plain decimal number"),
    "M13": Rule("onnx.external_data.out_of_range", "the linked bytes do not lie in the entry"),
    "M14": Rule("onnx.external_data.marker", "the location names memory of a process"),
    "M15": Rule("onnx.external.string", "strings are linked"),
    "M16": Rule("onnx.external.data_beside", "the linked tensor has data of its own"),
    "M17": Rule("onnx.tensor.dims", "a dimension is negative, or there are too many dimensions or bytes"),
    "M18": Rule("onnx.tensor.length", "the data is not as long as type and dimensions call for"),
    "M19": Rule("onnx.tensor.no_type", "the tensor has no data type"),
    "M20": Rule("onnx.tensor.data_beside", "the tensor has values in two fields"),
    "M21": Rule("onnx.tensor.wrong_field", "the values are in the field of another type"),
    "M22": Rule("onnx.external_data.checksum", "the SHA-1 of the entry differs"),
    # Further graphs
    "G2": Rule("archive.model.too_large", "the graph is larger than the limit"),
    "G3": Rule("archive.graph.link_marker", "the graph says that it is a link"),
    "G4": Rule("archive.graph.name", "the model's name is given twice, is not a valid name, or is taken"),
    "G6": Rule("archive.graph.shadow", "an entry in the graph's folder hides the linked one"),
    # Superseded tails
    "T2": Rule("archive.tail.prefix", "the superseded tail does not end in an archive"),
    # Remarks: what is allowed and yet not right
    "R1": Rule("zip.zip64.unneeded", "zip64 where it is not needed"),
    "R2": Rule("archive.key.not_identifier", "a tensor's entry has a name that is not a C identifier"),
    "R3": Rule("archive.entry.overlapping_links", "links overlap without being the same"),
    "R4": Rule("archive.entry.unused", "no tensor names this entry"),
    "R5": Rule("onnx.external.small", "a linked tensor of less than 1024 bytes"),
    "R6": Rule("onnx.external.unaligned", "linked data that is not at a multiple of 64"),
    "R7": Rule("onnx.external_data.unknown_key", "an unknown key"),
    "R8": Rule("onnx.tensor.long_raw", "raw_data is longer than type and dimensions call for"),
    "R9": Rule("archive.entry.shared", "tensors share their data"),
    "R10": Rule("archive.tail.superseded", "an edit superseded the bytes from here"),
    "R11": Rule("onnx.tensor.no_data", "the tensor has elements, and there is no data"),
    "R12": Rule("onnx.tensor.long_typed", "there are more values than type and dimensions call for"),
    "R13": Rule("onnx.external_data.checksum", "a checksum that is not 40 hexadecimal digits"),
    "R14": Rule("onnx.graph.duplicate", "the name is defined before in the same graph"),
}

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True)
class Finding:
    rule: str
    code: str
    severity: str
    entry: str | None
    offset: int | None  # in the file
    message: str


def finding(severity: str, rule: str, at: int | None, entry: str | None = None) -> Finding:
    return Finding(rule, RULES[rule].code, severity, entry, at, RULES[rule].breach)


class Refused(Exception):
    """The breach of one rule."""

    def __init__(self, what: Finding) -> None:
        super().__init__(what.message)
        self.finding = what
        self.rule, self.code, self.message = what.rule, what.code, what.message
        self.entry, self.offset = what.entry, what.offset


def refuse(rule: str, at: int, entry: str | None = None) -> NoReturn:
    raise Refused(finding(ERROR, rule, at, entry))


def require(rule: str, is_kept: bool, at: int, entry: str | None = None) -> None:
    if not is_kept:
        refuse(rule, at, entry)


def as_error(what: Finding) -> Finding:
    return replace(what, severity=ERROR)

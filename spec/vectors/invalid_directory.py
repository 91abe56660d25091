"""Faults of directory headers (D). They are named at the header's offset."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace

from builder import (
    ALIGNMENT_ID,
    SENTINEL32,
    Archive,
    Entry,
    alignment_field,
    extra_field,
    zip64_field,
)
from vector import SIDE_FILES, Invalid, content, model, sample, side_file

AT = Archive([side_file("a.bin")]).directory  # the offset of the second entry
SIZE = 20
WIDE = {"compressed": SENTINEL32, "size": SENTINEL32}


def vectors() -> Iterator[Invalid]:
    yield from headers()
    yield from flags()
    yield from fixed_fields()
    yield from attributes()
    yield from extra_fields()
    yield from zip64_lengths()
    yield from zip64_values()
    yield from sizes()
    yield from repeated_alignments()


def second(
    name: str,
    rule: str,
    about: str,
    *,
    case: str | None = None,
    also: tuple[str, ...] = (),
    **differing: object,
) -> Invalid:
    """The second of three entries differs from what conforms."""
    archive = Archive([side_file("a.bin"), side_file("b.bin", **differing), model()])
    file = bytes(archive.file)
    return Invalid(name, about, rule, file, archive.central[1], "b.bin", case=case, also=also)


# --- D1 ------------------------------------------------------------------------------------------


def headers() -> Iterator[Invalid]:
    for index, which in enumerate(("first", "second", "last")):
        archive = sample()
        at = archive.central[index]
        file = bytes(archive.put(at, b"PK\1\3").file)
        about = f"The {which} directory header's signature is wrong."
        yield Invalid(f"header_signature_{which}", about, "D1", file, at, case="h112")
    for case, name in (("h42", "extra_length"), ("h47", "name_length"), ("h48", "comment_length")):
        archive = sample().set_central(1, **{name: 0xFFFF})
        file, at = bytes(archive.file), archive.central[1]
        about = f"A directory header runs past the directory: {name.replace('_', ' ')} 65535."
        yield Invalid(f"header_{name}", about, "D1", file, at, case=case)
    archive = sample().set_central(-1, name_length=14)
    file, at = bytes(archive.file), archive.central[-1]
    about = "The last directory header runs past the directory by a byte."
    yield Invalid("header_past_by_1", about, "D1", file, at, case="h47")


# --- D2 to D8 ------------------------------------------------------------------------------------


def flags() -> Iterator[Invalid]:
    def flagged(name: str, rule: str, case: str, bit: int, about: str) -> Invalid:
        return second(name, rule, about, case=case, both={"flags": 1 << bit})

    yield flagged("flag_encrypted", "D2", "h14", 0, "Flag bit 0: encrypted.")
    about = "Flag bit 0, encrypted, in the directory alone."
    yield second("flag_encrypted_central", "D2", about, case="h13", central={"flags": 1})
    yield flagged("flag_strong", "D2", "h15", 6, "Flag bit 6: strong encryption.")
    yield flagged("flag_masked", "D2", "h16", 13, "Flag bit 13: masked headers.")
    about = "Flag bit 3 in the directory alone: a data descriptor that is not there."
    yield second("flag_descriptor_central", "D3", about, case="h11", central={"flags": 8})
    yield from descriptors()
    yield flagged("flag_patch", "D4", "h17", 5, "Flag bit 5: patch data.")
    for bit in (1, 2, 4, 7, 8, 9, 10, 12, 14, 15):
        yield flagged(f"flag_bit_{bit}", "D4", "x05", bit, f"Flag bit {bit}.")


def descriptors() -> Iterator[Invalid]:
    """Whole ones, as streaming writers make them: crc and sizes are 0 in the local header."""
    zeros = {"crc32": 0, "compressed": 0, "size": 0}
    plain = side_file("b.bin", both={"flags": 8}, local=zeros)
    crc = zlib.crc32(plain.data)
    values = struct.pack("<III", crc, SIZE, SIZE)
    for name, case, behind, central, about in (
        ("", "a02", b"PK\7\x08" + values, {}, "A data descriptor."),
        ("_bare", "a03", values, {}, "A data descriptor without a signature."),
        ("_central_0", "x13", b"PK\7\x08" + values, zeros, "Sizes in the descriptor alone."),
        ("_false", "x14", b"PK\7\x08" + bytes(12), {}, "A data descriptor that says zeros."),
    ):
        entry = replace(plain, behind=behind, central=central)
        archive = Archive([side_file(), entry, model()])
        file, at = bytes(archive.file), archive.central[1]
        yield Invalid(f"descriptor{name}", about, "D3", file, at, "b.bin", case=case)


def fixed_fields() -> Iterator[Invalid]:
    deflated = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = content(7, 100) * 10
    packed = deflated.compress(data) + deflated.flush()
    both = {"method": 8, "crc32": zlib.crc32(data), "size": len(data), "version": 20}
    archive = Archive([side_file(), Entry("b.bin", packed, both=both), model()])
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("method_deflated", "A deflated entry.", "D5", file, at, "b.bin", case="a06")
    archive = Archive([side_file(), model(bytes.fromhex("ab3a0300"), both={**both, "size": 2})])
    # 3a 00, deflated as fixed codes; whoever inflates finds the smallest model
    about = "A deflated model."
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("method_model", about, "D5", file, at, archive.entries[1].name, case="x11")
    about = "Method 8 in the directory, where the data is stored."
    yield second("method_central", "D5", about, case="h09", central={"method": 8})
    about = "Method 99, as of AES encryption."
    yield second("method_99", "D5", about, case="x19", both={"method": 99})
    for version, case in ((0, None), (9, None), (46, None), (99, "h20"), (0xFFFF, "h20")):
        about = f"Version needed {version}."
        yield second(f"version_{version}", "D6", about, case=case, both={"version": version})
    about = "Host 3 in the upper byte of version needed."
    yield second("version_host", "D6", about, both={"version": 3 << 8 | 20})
    yield second("disk_1", "D7", "The entry begins on disk 1.", case="h93", central={"disk": 1})
    about = "The entry begins on disk 65535, a sentinel that nothing stands for."
    yield second("disk_sentinel", "D7", about, case="h93", central={"disk": 0xFFFF})
    about = "The entry begins on disk 1, its zip64 field says."
    field = zip64_field(SIZE, SIZE, AT, disk=1)
    yield second("disk_zip64", "D7", about, case="h93", central=WIDE, central_extra=field)
    yield second("comment", "D8", "An entry comment.", case="a15", comment=b"layer 1")


def attributes() -> Iterator[Invalid]:
    for name, case, values, about in (
        ("reserved", "x03", {"internal": 2}, "Internal attributes: bit 1."),
        ("reserved_text", "x03", {"internal": 3}, "Internal attributes: bit 1 beside that for text."),
        ("reserved_15", "x03", {"internal": 0x8000}, "Internal attributes: bit 15."),
        ("link", "a08", {"external": 0o120777 << 16}, "A symbolic link."),
        ("folder", "x18", {"external": 0o040755 << 16}, "A Unix folder whose name has no slash."),
        ("fifo", "x18", {"external": 0o010644 << 16}, "A named pipe."),
        ("device", "x18", {"external": 0o020644 << 16}, "A character device."),
        ("block_device", "x18", {"external": 0o060644 << 16}, "A block device."),
        ("socket", "x18", {"external": 0o140644 << 16}, "A socket."),
        ("unknown_type", "x18", {"external": 0o170644 << 16}, "A Unix type that does not exist."),
        ("dos_folder", "x18", {"external": 0x10}, "A DOS folder whose name has no slash."),
        ("dos_volume", "x18", {"external": 0x08}, "A DOS volume label."),
        ("reparse_point", "x18", {"external": 0x400}, "A reparse point of Windows."),
        ("host_amiga", None, {"made_by": 1 << 8 | 10}, "Made on an Amiga, as 7-Zip reads the mode."),
        ("host_ntfs", None, {"made_by": 10 << 8 | 10}, "Made on host 10."),
        ("host_255", None, {"made_by": 0xFF0A}, "Made on a host that does not exist."),
    ):
        yield second(f"attributes_{name}", "D9", about, case=case, central=values)


# --- D10 to D12 ----------------------------------------------------------------------------------


def extra_fields() -> Iterator[Invalid]:
    empty, padding = zip64_field(), extra_field(0xD935, b"\x40\0")
    for name, case, extra, about in (
        ("overrun", "h44", struct.pack("<HH", 1, 8), "An extra field announces 8 bytes too many."),
        ("stray_1", "h45", empty + b"\0", "One byte behind the extra fields."),
        ("stray_2", "h45", b"\0" * 2, "Two zero bytes of extra fields."),
        ("stray_3", "h45", empty + b"\0" * 3, "Three bytes behind the extra fields."),
    ):
        yield second(f"extra_{name}", "D10", about, case=case, central_extra=extra)
    crc = zlib.crc32(b"b.bin")
    for name, case, field, about in (
        ("path", "h46", extra_field(0x7075, struct.pack("<BI", 1, crc) + b"c.bin"), "Unicode Path"),
        ("comment", "x20", extra_field(0x6375, struct.pack("<BI", 1, 0)), "Unicode Comment"),
        ("time", None, extra_field(0x5455, b"\1" + bytes(4)), "extended timestamp"),
        ("aes", "x19", extra_field(0x9901, b"\2\0AE\3\0\0"), "AES encryption"),
        ("padding", None, padding, "padding, which is for local headers"),
        ("zeros", None, bytes(4), "id 0 without bytes"),
    ):
        about = f"An extra field in the directory: {about}."
        yield second(f"extra_{name}", "D11", about, case=case, central_extra=field)
    for name, rule, extra, about in (
        ("padding_stray", "D11", padding + b"\0", "a padding record, then a stray byte"),
        ("time_twice", "D11", extra_field(0x5455, b"") * 2, "an unknown field twice"),
        ("twice_stray", "D12", empty * 2 + b"\0", "two zip64 fields, then a stray byte"),
        ("twice_padding", "D12", empty * 2 + padding, "two zip64 fields, then a padding record"),
        ("stray_padding", "D10", empty + b"\x35\xd9\xff", "a zip64 field, then half a record"),
    ):
        about = f"Extra fields in the directory, the first fault counts: {about}."
        yield second(f"extra_{name}", rule, about, central_extra=extra)
    yield second("extra_twice", "D12", "Two zip64 fields.", central_extra=empty * 2)
    about = "Two alignment records in the directory."
    twice = alignment_field(64) * 2
    yield second("extra_alignment_twice", "D12", about, record=ALIGNMENT_ID, central_extra=twice)
    fields = zip64_field(SIZE, SIZE) + zip64_field(SIZE + 1, SIZE + 1)
    about = "Two zip64 fields that say different sizes."
    yield second(
        "extra_twice_differing", "D12", about, case="h37", central=WIDE, central_extra=fields
    )


# --- D13 -----------------------------------------------------------------------------------------


def zip64_lengths() -> Iterator[Invalid]:
    offset = {"offset": SENTINEL32}
    every = {**WIDE, **offset}
    values = SIZE, SIZE, AT
    for name, case, sentinels, extra, about in (
        (
            "missing_sizes",
            "h27",
            WIDE,
            b"",
            "Both sizes are sentinels, and there is no zip64 field",
        ),
        ("missing_size", "h27", {"size": SENTINEL32}, b"", "The size is a sentinel, nothing else"),
        ("missing_packed", "h27", {"compressed": SENTINEL32}, b"", "The compressed size is one"),
        ("missing_offset", "h28", offset, b"", "The offset is a sentinel, and there is no field"),
        ("short", "h35", WIDE, zip64_field(SIZE), "Two sentinels, and a field with one value"),
        ("short_2", "h35", every, zip64_field(SIZE, SIZE), "Three sentinels, and a field with two"),
        ("empty", "h35", WIDE, zip64_field(), "Two sentinels, and a field with none"),
        ("long", "h36", WIDE, zip64_field(*values, 0, 0), "A field of 40 bytes"),
        (
            "one_more",
            "h36",
            offset,
            zip64_field(AT, 0),
            "One sentinel, and a field with two values",
        ),
        ("unasked", "h36", {}, zip64_field(SIZE), "No sentinel, and a field with one value"),
        (
            "unasked_2",
            "h36",
            {},
            zip64_field(SIZE, SIZE),
            "No sentinel, and a field with two values",
        ),
        ("disk_of_sizes", "h36", WIDE, zip64_field(SIZE, SIZE, disk=0), "Both sizes and the disk"),
        ("half", "h35", WIDE, extra_field(1, bytes(15)), "A field of 15 bytes for two values"),
    ):
        about += "."
        differing = {"central": sentinels, "central_extra": extra}
        yield second(f"zip64_{name}", "D13", about, case=case, **differing)


def zip64_values() -> Iterator[Invalid]:
    for name, values, about in (
        ("size", (SIZE + 1, SIZE, AT), "another size than the header"),
        ("packed", (SIZE, SIZE + 1, AT), "another compressed size than the header"),
        ("offset", (SIZE, SIZE, AT + 64), "another offset than the header"),
    ):
        about = f"A zip64 field of all three values says {about}."
        field = zip64_field(*values)
        yield second(f"zip64_beside_{name}", "D13", about, case="h40", central_extra=field)
    for name, sentinels, sentence in (
        ("offset", {"offset": SENTINEL32}, "the offset alone"),
        ("packed", {"compressed": SENTINEL32}, "the compressed size alone"),
        ("ends", {"size": SENTINEL32, "offset": SENTINEL32}, "size and offset alone"),
    ):
        about = f"A zip64 field of all three values where {sentence} is asked for."
        field = zip64_field(SIZE, SIZE, AT)
        step = {"central": sentinels, "central_extra": field}
        yield second(f"zip64_step_{name}", "D13", about, **step)
    about = "A zip64 field of 24 bytes for two sentinels says another offset than the header."
    field = zip64_field(SIZE, SIZE, AT + 64)
    yield second("zip64_24_offset", "D13", about, case="h40", central=WIDE, central_extra=field)


# --- D14 and D15 ---------------------------------------------------------------------------------


def sizes() -> Iterator[Invalid]:
    for name, case, both, about in (
        (
            "less",
            "h21",
            {"size": 2 * SIZE},
            "The compressed size is that of the data, the size twice it.",
        ),
        (
            "more",
            "h22",
            {"size": SIZE // 2},
            "The size is half of the compressed one, that of the data.",
        ),
        (
            "half",
            "h23",
            {"compressed": SIZE // 2},
            "The compressed size is half of the size, that of the data.",
        ),
        ("packed_0", "h23", {"compressed": 0}, "The compressed size is 0."),
    ):
        yield second(f"sizes_{name}", "D14", about, case=case, both=both)
    about = "The zip64 field says two sizes that differ."
    field = zip64_field(SIZE, SIZE + 1)
    yield second("sizes_zip64", "D14", about, case="h40", central=WIDE, central_extra=field)
    entries = [Entry(name, both={"crc32": 1} if name == "b.bin" else {}) for name in SIDE_FILES]
    archive = Archive([*entries, model()])
    file, at = bytes(archive.file), archive.central[1]
    about = "An entry of no bytes whose CRC-32 is 1."
    yield Invalid("empty_crc", about, "D15", file, at, "b.bin", case="x04")


# --- D16 -----------------------------------------------------------------------------------------


def repeated_alignments() -> Iterator[Invalid]:
    def repeated(name: str, about: str, field: bytes, rule: str = "D16", **more: object) -> Invalid:
        return second(name, rule, about, record=ALIGNMENT_ID, central_extra=field, **more)

    for payload in (b"", b"\x40", b"\x40\0\0"):
        about = f"An alignment record of {len(payload)} bytes in the directory."
        field = extra_field(ALIGNMENT_ID, payload)
        yield repeated(f"alignment_repeated_size_{len(payload)}", about, field)
    about = "The directory has the local header's alignment record with its padding, as Go writes it."
    field = extra_field(ALIGNMENT_ID, b"\x40\0" + bytes(21))
    yield repeated("alignment_repeated_padding", about, field)
    for alignment in (0, 1, 32, 63, 96, 32768, 0x8040, 0xFFFF):
        about = f"An alignment of {alignment:#x} in the directory, no power of two from 64 to 16384."
        field = alignment_field(alignment)
        yield repeated(f"alignment_repeated_{alignment:x}", about, field)
    about = "Two faults: a zip64 field that nothing asks for, and a false alignment in the directory."
    field = alignment_field(63) + zip64_field(SIZE)
    yield repeated("alignment_repeated_and_zip64", about, field, "D13", also=("D16",))
    entries = [side_file(), Entry("b.bin", record=ALIGNMENT_ID, both={"crc32": 1})]
    entries[1] = replace(entries[1], central_extra=alignment_field(63))
    archive = Archive([*entries, model()])
    about = "Two faults: an entry of no bytes whose CRC-32 is 1, and a false alignment."
    file, at = bytes(archive.file), archive.central[1]
    yield Invalid("alignment_repeated_and_crc", about, "D15", file, at, "b.bin", also=("D16",))

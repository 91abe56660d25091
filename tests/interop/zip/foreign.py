"""Zip files as other programs write them, built field by field: the seeds of mutations of foreign zips.

Each is small, and has the forms by which the zips of one program differ from those of others: flags, versions, extra
fields, data descriptors, zip64. What the programs were seen to write is stated here in code; no program is run.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from recipes import REGULAR, S32, UNIX
from support.archives import LOCAL, MODEL, Record, builder, encoded, extra_field, zip64_field

DESCRIBED, UTF8 = 0x8, 0x800  # flags
DESCRIPTOR = Record(b"PK\7\x08", "crc32:I, compressed:I, size:I")
DESCRIPTOR64 = Record(b"PK\7\x08", "crc32:I, compressed:Q, size:Q")
TIME, DATE = 0x6A2E, 0x5A76


def deflate(data: bytes) -> bytes:
    squeezed = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeezed.compress(data) + squeezed.flush()


@dataclass(frozen=True)
class Part:
    """An entry, or a folder if the name ends in a slash."""

    name: str
    data: bytes = b""
    deflated: bool = False
    descriptor: Record | None = None  # after the data; local values are 0 then
    signed: bool = True  # the descriptor has a signature
    wide: bool = False  # the local sizes are in a zip64 field
    wide_central: bool = False
    flags: int = 0
    version: int = 20
    made_by: int = 20
    external: int = 0
    local_extra: bytes = b""
    central_extra: bytes = b""
    align: int = 0  # pads with PyTorch's field "FB"
    comment: bytes = b""

    @property
    def stored(self) -> bytes:
        return deflate(self.data) if self.deflated else self.data

    def entry(self, at: int, between: bytes) -> builder.Entry:
        """As the builder of the vectors takes it, for a local header at this offset; `between` follows it."""
        values = {"crc32": zlib.crc32(self.data), "compressed": len(self.stored), "size": len(self.data)}
        described = self.descriptor.pack(**values)[0 if self.signed else 4 :] if self.descriptor else b""
        stated = dict.fromkeys(values, 0) if self.descriptor else values
        wide, wide_central = {"size": S32, "compressed": S32}, {"size": S32, "compressed": S32, "offset": S32}
        extra = (zip64_field(stated["size"], stated["compressed"]) if self.wide else b"") + self.local_extra
        if self.align:
            end = at + LOCAL.size + len(encoded(self.name)) + len(extra) + 4
            extra += extra_field(0x4246, b"Z" * (-end % self.align))
        flags = self.flags | (DESCRIBED if self.descriptor else 0)
        return builder.Entry(
            self.name, self.stored, padding=b"", extra=extra, comment=self.comment, behind=described + between,
            both={"version": self.version, "flags": flags, "method": 8 * self.deflated, "time": TIME, "date": DATE},
            local={**stated, **(wide if self.wide else {})},
            central={**values, "made_by": self.made_by, "external": self.external, **(wide_central if self.wide_central else {})},
            central_extra=(zip64_field(len(self.data), len(self.stored), at) if self.wide_central else b"") + self.central_extra,
        )  # fmt: skip


@dataclass(frozen=True)
class Zip:
    parts: tuple[Part, ...]
    wide_end: bool = False
    comment: bytes = b""
    backwards: bool = False  # the directory lists the entries in the opposite order
    before: bytes = b""
    between: bytes = b""

    def build(self) -> bytes:
        archive = builder.Archive([])
        archive.file[:] = self.before
        for part in self.parts:
            archive.add(part.entry(len(archive.file), self.between))
        archive.finish(zip64=self.wide_end, listed=range(len(self.parts))[:: -1 if self.backwards else 1])
        archive.set_end(comment_length=len(self.comment))
        return bytes(archive.file) + self.comment


# --- the programs --------------------------------------------------------------------------------

UNIX_FILE = {"made_by": UNIX << 8 | 30, "external": (REGULAR | 0o644) << 16}
STAMP = extra_field(0x5455, struct.pack("<BI", 1, 1700000000))
LOCAL_STAMPS = extra_field(0x5455, struct.pack("<B2I", 3, 1700000000, 1700000000))
OWNER = extra_field(0x7875, struct.pack("<BBIBI", 1, 4, 1000, 4, 1000))


def files(**form: object) -> tuple[Part, ...]:
    """The files of a model; the same form for each."""
    rng = random.Random(7)
    contents = {"w": rng.randbytes(150), "dir/b": b"abcd" * 40, MODEL: b"\x3a\x00"}
    return tuple(Part(name, data, **form) for name, data in contents.items())


def pytorch() -> Zip:
    """torch.save: a top-level folder, data at multiples of 64, sizes in descriptors after stored data."""
    named = (Part("archive/" + each.name, each.data) for each in files())
    form = {"flags": UTF8, "made_by": 0, "version": 0, "align": 64, "descriptor": DESCRIPTOR}
    return Zip(tuple(Part(each.name, each.data, **form) for each in named))


def info_zip(**form: object) -> Zip:
    extras = {"local_extra": LOCAL_STAMPS + OWNER, "central_extra": STAMP + OWNER}
    folder = Part("dir/", **{**UNIX_FILE, "external": 0o040755 << 16 | 0x10}, **extras, version=10)
    return Zip((folder, *files(**{**UNIX_FILE, **extras, "version": 10, **form})))


def piped_with_nothing() -> Zip:
    """An empty file among those that Info-ZIP writes to a pipe."""
    form = {"deflated": True, "version": 45, "descriptor": DESCRIPTOR64, "wide": True}
    return Zip((Part("empty", **form), *files(**form)))


def mac_finder() -> Zip:
    """Archive Utility: descriptors, and a second file with attributes for each."""
    form = {**UNIX_FILE, "deflated": True, "descriptor": DESCRIPTOR, "local_extra": STAMP}
    beside = Part("__MACOSX/._w", b"\0\5\x16\7" + bytes(60), **form)
    return Zip((*files(**form), beside))


def zipalign() -> Zip:
    """Zeros after the last extra field, too few for another one."""
    return Zip(files(local_extra=bytes(3)))


PROGRAMS: dict[str, Callable[[], Zip]] = {
    "PyTorch": pytorch,
    "Python": lambda: Zip(files(made_by=UNIX << 8 | 20, external=0o600 << 16)),
    "Python, deflated": lambda: Zip(files(deflated=True, made_by=UNIX << 8 | 20)),
    "Python, zip64 forced": lambda: Zip(files(wide=True, version=45, made_by=UNIX << 8 | 45)),
    "Python, to a pipe": lambda: Zip(files(descriptor=DESCRIPTOR, made_by=UNIX << 8 | 20)),
    "zip -0": info_zip,
    "zip": lambda: info_zip(deflated=True, version=20),
    "zip -fd": lambda: info_zip(deflated=True, version=20, descriptor=DESCRIPTOR),
    "zip, to a pipe": lambda: info_zip(deflated=True, version=45, descriptor=DESCRIPTOR64, wide=True),
    "zip, an empty file to a pipe": piped_with_nothing,
    "bsdtar": lambda: info_zip(version=20),
    "bsdtar, to a pipe": lambda: info_zip(deflated=True, version=20, descriptor=DESCRIPTOR, flags=UTF8),
    "Java": lambda: Zip(files(deflated=True, descriptor=DESCRIPTOR, flags=UTF8)),
    "Java, stored": lambda: Zip(files(version=10, made_by=10, flags=UTF8)),
    "Go": lambda: Zip(files(deflated=True, descriptor=DESCRIPTOR, local_extra=STAMP, central_extra=STAMP)),
    "Go, zip64": lambda: Zip(files(version=45, wide_central=True, made_by=45), wide_end=True),
    "Finder": mac_finder,
    "zipalign": zipalign,
    "unsigned descriptors": lambda: Zip(files(deflated=True, descriptor=DESCRIPTOR, signed=False)),
    "comments": lambda: Zip(files(comment=b"of an entry"), comment=b"of the archive"),
    "zip64 everywhere": lambda: Zip(files(wide=True, wide_central=True, version=45), wide_end=True),
    "zip64 end": lambda: Zip(files(), wide_end=True),
    "in reverse": lambda: Zip(files(), backwards=True),
    "self-extracting": lambda: Zip(files(), before=b"#!/bin/sh\nexit\n"),
    "gaps": lambda: Zip(files(deflated=True), between=bytes(17)),
    "beyond ASCII": lambda: Zip((Part("größe", b"1", flags=UTF8), Part("дир/w", b"2"), *files())),
    "one file": lambda: Zip(files()[-1:]),
}


def zips() -> dict[str, bytes]:
    return {f"foreign: {name}": make().build() for name, make in PROGRAMS.items()}

"""Zips of other makers: `pack` and `repack` follow one list, and read only what common tools read alike."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import CENTRAL, END, LOCAL, MODEL, Entry, linked, model_of, weights
from support.command_line import FORMAT, MIB, ToolCase, entries_of, run


def content() -> list[tuple[str, bytes]]:
    model = model_of(linked("w"))
    return [(each.name, each.data) for each in (model, *weights("w"))] + [("notes.txt", b"text" * 9)]


def field_of(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def zip64(*values: int) -> bytes:
    return field_of(1, struct.pack(f"<{len(values)}Q", *values))


@dataclass
class Zip:
    """A plain zip of `content` with unusual fields; `local` and `central` belong to `w`."""

    prefix: bytes = b""
    comment: bytes = b""
    local: dict[str, int] = field(default_factory=dict)
    central: dict[str, int] = field(default_factory=dict)
    local_extra: bytes = b""
    central_extra: bytes = b""
    deflate: bool = False
    more: tuple[str, ...] = ()  # names of further entries, which are empty
    zip64_version: int | None = None  # of a zip64 end record
    unlisted: str = ""  # an entry that the directory does not list

    def build(self) -> bytes:
        file, directory, count = bytearray(self.prefix), bytearray(), 0
        for name, data in [*content(), *((name, b"") for name in self.more)]:
            odd = name == "w"
            fields = {**Entry(name, data).fields(), "name_length": len(name)}
            if odd and self.deflate:
                raw = zlib.compressobj(9, wbits=-15)
                data = raw.compress(data) + raw.flush()
                fields.update(method=8, compressed=len(data))
            extra = self.local_extra if odd else b""
            said = {**fields, **(self.local if odd else {}), "extra_length": len(extra)}
            at = len(file)
            file += LOCAL.pack(**said) + name.encode() + extra + data
            if name == self.unlisted:
                continue
            extra = self.central_extra if odd else b""
            said = {"made_by": 20, **fields, **(self.central if odd else {}), "offset": at}
            directory += CENTRAL.pack(**said, extra_length=len(extra)) + name.encode() + extra
            count += 1
        return bytes(file) + bytes(directory) + self.end(count, len(directory), len(file))

    def end(self, count: int, size: int, at: int) -> bytes:
        records = b""
        if self.zip64_version is not None:
            numbers = struct.pack("<QQQQ", count, count, size, at)
            records = struct.pack("<IQHHII", 0x06064B50, 44, 45, self.zip64_version, 0, 0) + numbers
            records += struct.pack("<IIQI", 0x07064B50, 0, at + size, 1)
        here = {"entries_here": count, "entries": count, "directory_size": size}
        end = END.pack(**here, directory_offset=at, comment_length=len(self.comment))
        return records + end + self.comment


SIZE = len(dict(content())["w"])
ALL = 0xFFFFFFFF

READ = {
    "plain": Zip(),
    "deflated": Zip(deflate=True),
    "a comment": Zip(comment=b"made by hand"),
    "a prefix": Zip(prefix=b"#!/bin/sh\nexit\n"),
    "a prefix and a comment": Zip(prefix=b"#!/bin/sh\nexit\n", comment=b"made by hand"),
    "a folder": Zip(more=("folder/",)),
    "zipalign's zeros": Zip(local_extra=bytes(7)),
    "an unknown field": Zip(local_extra=field_of(0x5455, bytes(5)), central_extra=field_of(0x5455, bytes(5))),
    "times that differ": Zip(local={"time": 7}),
    "the flag for UTF-8 in the local header": Zip(local={"flags": 0x800}),
    "the flag for UTF-8 in the directory": Zip(central={"flags": 0x800}),
    "an alignment whose method may change": Zip(
        local_extra=field_of(0xA11E, b"\x40\x80" + bytes(9)), central_extra=field_of(0xA11E, b"\x40\x80")
    ),
    "version 20": Zip(local={"version": 20}, central={"version": 20}),
    "Windows attributes": Zip(central={"external": 0x20}),
    "zip64 end record of version 20": Zip(zip64_version=20),
    "zip64 end record of version 45": Zip(zip64_version=45),
    "an unneeded zip64 field of both sizes": Zip(central_extra=zip64(SIZE, SIZE)),
    "an unneeded zip64 field of one size": Zip(central_extra=zip64(SIZE)),
    "an unneeded local zip64 field": Zip(local_extra=zip64(SIZE, SIZE)),
    "local sizes in a zip64 field": Zip(
        local_extra=zip64(SIZE, SIZE), local={"size": ALL, "compressed": ALL, "version": 45}
    ),
}

# One of each kind; tests/zip has all of them.
REFUSED = {
    "a signature in the comment": (Zip(comment=b"see PK\5\6 there"), "zip.end.ambiguous", ""),
    "a first entry that is not listed": (Zip(unlisted=MODEL), "zip.entry.unlisted", ""),
    "a name that unzip takes for w": (Zip(more=("w;1",)), "zip.name.duplicate", ""),
    "the DOS bit of a folder": (Zip(central={"external": 0x10}), "zip.entry.attributes", ""),
    "an encrypted entry": (Zip(local={"flags": 1}, central={"flags": 1}), "zip.entry.encrypted", "without a password"),
    "flags that differ": (Zip(local={"flags": 0x2}), "zip.local.field", ""),
    "a link to libarchive": (Zip(local_extra=field_of(0x6C78, bytes(9))), "zip.extra.unknown", ""),
}


class OneList(ToolCase):
    def test_what_is_read_by_both_verbs(self) -> None:
        for name, made in READ.items():
            with self.subTest(name):
                path = self.write("in.zip", made.build())
                for verb in ("pack", "repack"):
                    self.succeeds(verb, path, "-o", self.output, "-f", "--no-sync")
                    self.assertEqual(entries_of(self.output), dict(content()), verb)

    def test_what_is_refused_by_both_verbs_in_one_sentence(self) -> None:
        for name, (made, code, words) in REFUSED.items():
            with self.subTest(name), self.nothing_changes():
                path = self.write("in.zip", made.build())
                told = {run(verb, path, "-o", self.output).stderr for verb in ("pack", "repack")}
                self.assertEqual(len(told), 1, told)
                self.assertIn(f"error[{code}]", *told)
                self.assertIn(words, *told)
                path.unlink()


class OtherReaders(ToolCase):
    """Common tools read the same entries from every zip that we read."""

    def hold(self, *command: str) -> None:
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        for name, made in READ.items():
            with self.subTest(name):
                path = self.write("in.zip", made.build())
                folder = self.folder / "unzipped"
                folder.mkdir()
                done = subprocess.run([*command, path], cwd=folder, capture_output=True, check=False)
                seen = {
                    str(each.relative_to(folder)): each.read_bytes()
                    for each in folder.rglob("*")
                    if each.is_file()
                }
                shutil.rmtree(folder)
                self.assertEqual(seen, dict(content()), done.stderr)

    def test_info_zip(self) -> None:
        self.hold("unzip", "-q")

    def test_7_zip(self) -> None:
        self.hold("7z", "x", "-bd", "-y")

    def test_bsdtar(self) -> None:
        self.hold("bsdtar", "-xf")

    def test_python(self) -> None:
        for name, made in READ.items():
            with self.subTest(name), zipfile.ZipFile(io.BytesIO(made.build())) as file:
                infos = [info for info in file.infolist() if not info.is_dir()]
                self.assertEqual({each.filename: file.read(each) for each in infos}, dict(content()))


class Expansion(ToolCase):
    def bomb(self, name: str, *models: str) -> Path:
        """A small zip that holds 40 MiB of zeros."""
        path = self.folder / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(MODEL, wire.plain(*(linked(each, 10 * MIB) for each in models)))
            file.writestr(name, bytes(40 * MIB))
        return path

    def test_expansion_beyond_eight_times_needs_the_option(self) -> None:
        path = self.bomb("w", "w")
        for verb in ("pack", "repack"):
            for dry in ((), ("-n",)):
                with self.nothing_changes():
                    done = run(verb, path, "-o", self.output, *dry)
                self.assertEqual(done.returncode, FORMAT)
                self.assertIn("error[zip.limit.expansion]", done.stderr)
            needed = done.stderr.split("--max-expansion ")[1].split()[0]
            options = ("--no-sync", "--max-expansion", int(needed) + 10)
            self.succeeds(verb, path, "-o", self.output, *options)
            self.assertEqual(entries_of(self.output)["w"], bytes(40 * MIB))
            self.output.unlink()


if __name__ == "__main__":
    command_line.main()

"""Archives with one wrong field or offset: each is refused with a code and a place.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests bad_archive_test.py
"""

from __future__ import annotations

from support import command_line
from support.archives import CENTRAL, LOCAL, MODEL, Archive, Entry, linked, model_of, sound, weights
from support.command_line import FORMAT, Fault, ToolCase


class SoundArchive(ToolCase):
    """The archive that all faults are made from is valid."""

    def test_is_good(self) -> None:
        path = self.write("sound.onnxar", sound().file)
        self.succeeds("check", "--strict", "--data", path)

    def test_is_what_pack_writes(self) -> None:
        for alignment in (64, 4096):
            entries = (*weights("a", "b"), model_of(linked("a"), linked("b")))
            made = Archive(Entry(each.name, each.data, alignment) for each in entries)
            path = self.write("made.onnxar", made.file)
            self.succeeds("pack", path, "-o", self.output, "-f", "--align", alignment)
            self.assertEqual(self.output.read_bytes(), bytes(made.file))


class Records(ToolCase):
    """Every field of the records: a value that contradicts the other fields, and its code."""

    LOCAL_FIELDS = (
        ("version", 46, "zip.entry.version"),
        ("version", 9, "zip.entry.version"),
        ("flags", 0x8, "zip.local.field"),
        ("flags", 0x802, "zip.local.field"),
        ("method", 8, "zip.local.field"),
        ("time", 1, "zip.local.field"),
        ("date", 0x22, "zip.local.field"),
        ("crc32", 0, "zip.local.field"),
        ("compressed", 1199, "zip.local.size"),
        ("compressed", 0xFFFFFFFF, "zip.zip64.extra"),
        ("size", 1201, "zip.local.size"),
        ("size", 0xFFFFFFFF, "zip.zip64.extra"),
        ("name_length", 0, "zip.local.name"),
        ("name_length", 2, "zip.local.name"),
        ("name_length", 0xFFFF, "zip.local.header"),
        ("extra_length", 0, "zip.padding.alignment"),
        ("extra_length", 3, "zip.extra.malformed"),
        ("extra_length", 0xFFFF, "zip.local.header"),
    )

    def test_each_field_of_a_local_header(self) -> None:
        self.assertLessEqual(LOCAL.fields.keys(), {name for name, *_ in self.LOCAL_FIELDS})
        for index, entry in ((0, "a"), (1, "b")):
            for name, value, code in self.LOCAL_FIELDS:
                with self.subTest(entry=entry, field=name, value=value):
                    archive = sound()
                    archive.set_local(index, **{name: value})
                    self.refuses_archive(archive, code, entry, archive.headers[index])

    def test_local_signature(self) -> None:
        archive = sound()
        archive.put(archive.headers[1], b"PK\3\5")
        self.refuses_archive(archive, "zip.local.header", "b", archive.headers[1])

    def test_local_name(self) -> None:
        archive = sound()
        archive.put(archive.headers[1] + LOCAL.size, b"c")
        self.refuses_archive(archive, "zip.local.name", "b", archive.headers[1])

    # The offset is that of the directory header, unless the local one is named.
    CENTRAL_FIELDS = (
        ("version", 46, "zip.entry.version"),
        ("version", 9, "zip.entry.version"),
        ("flags", 0x1, "zip.entry.encrypted"),
        ("flags", 0x8, "zip.entry.descriptor"),
        ("flags", 0x2, "zip.entry.flags"),
        ("flags", 0x10, "zip.entry.flags"),
        ("method", 8, "zip.entry.method"),
        ("compressed", 1199, "zip.entry.sizes"),
        ("compressed", 0xFFFFFFFF, "zip.zip64.extra"),
        ("size", 1201, "zip.entry.sizes"),
        ("size", 0xFFFFFFFF, "zip.zip64.extra"),
        ("comment_length", 1, "zip.entry.comment"),
        ("disk", 1, "zip.entry.disk"),
        ("internal", 2, "zip.entry.attributes"),
        ("external", 0x10, "zip.entry.attributes"),
        ("external", 0o120777 << 16, "zip.entry.attributes"),
        ("offset", 0xFFFFFFFF, "zip.zip64.extra"),
        ("offset", 0, "zip.entry.order"),
        ("time", 1, "zip.local.field local"),
        ("date", 0x22, "zip.local.field local"),
        ("crc32", 1, "zip.local.field local"),
        ("name_length", 0, "zip.name.empty unnamed"),
        ("extra_length", 4, "zip.extra.malformed"),
    )
    FREE = frozenset({"made_by"})  # the reader does not care

    def test_each_field_of_a_directory_header(self) -> None:
        covered = {name for name, *_ in self.CENTRAL_FIELDS} | self.FREE
        self.assertLessEqual(CENTRAL.fields.keys(), covered)
        for name, value, expected in self.CENTRAL_FIELDS:
            code, *where = expected.split()
            with self.subTest(field=name, value=value):
                archive = sound()
                archive.set_central(1, **{name: value})
                place = (archive.headers if where == ["local"] else archive.central)[1]
                self.refuses_archive(archive, code, None if where == ["unnamed"] else "b", place)

    def test_directory_signature(self) -> None:
        archive = sound()
        archive.put(archive.central[1], b"PK\1\1")
        self.refuses_archive(archive, "zip.directory.header", None, archive.central[1])

    # The offset is that of the end record, unless the directory is named.
    END_FIELDS = (
        ("disk", 1, "zip.end.multi_disk"),
        ("directory_disk", 1, "zip.end.multi_disk"),
        ("entries_here", 2, "zip.end.multi_disk"),
        ("entries", 2, "zip.end.multi_disk"),
        ("entries", 0xFFFF, "zip.end.multi_disk"),
        ("directory_size", 1, "zip.end.directory_bounds"),
        ("directory_size", 0xFFFFFFFF, "zip.zip64.locator"),
        ("directory_offset", 1, "zip.end.directory_bounds"),
        ("directory_offset", 0x7FFFFFFF, "zip.end.directory_bounds"),
        ("comment_length", 1, "zip.end.comment"),
    )

    def test_each_field_of_the_end_record(self) -> None:
        for name, value, code in self.END_FIELDS:
            with self.subTest(field=name, value=value):
                archive = sound()
                archive.set_end(**{name: value})
                self.refuses_archive(archive, code, None, archive.end)

    def test_entry_counts_that_agree_on_a_wrong_number(self) -> None:
        for count, code, where in (
            (0, "zip.directory.empty", "directory"),
            (2, "zip.directory.count", "central"),
            (1000, "zip.directory.count", "directory"),
        ):
            with self.subTest(count=count):
                archive = sound()
                archive.set_end(entries=count, entries_here=count)
                place = archive.central[2] if where == "central" else getattr(archive, where)
                self.refuses_archive(archive, code, None, place)


class Bounds(ToolCase):
    """Order and bounds of records and data."""

    # Also bytes that begin as a model or a text: a file that ends as a zip is a zip.
    PREFIXES = (b"#", b"#!/bin/sh\n", b"\x08\x08", bytes(64), b"x" * 70_000)

    def test_prepended_bytes(self) -> None:
        for prefix in self.PREFIXES:
            with self.subTest(prefix=prefix[:10]):
                archive = sound()
                archive.file[:0] = prefix
                end = archive.end + len(prefix)
                self.expect_prepended(archive, Fault("zip.end.directory_bounds", None, end))

    def test_prepended_bytes_that_all_offsets_know_of(self) -> None:
        for prefix in self.PREFIXES:
            with self.subTest(prefix=prefix[:10]):
                archive = sound()
                archive.prepend(prefix)
                place = archive.directory + len(prefix)
                self.expect_prepended(archive, Fault("zip.entry.first_offset", "a", place))

    def expect_prepended(self, archive: Archive, fault: Fault) -> None:
        """All verbs see the zip in the file, and report the faults of the zip."""
        message = self.refuses_archive(archive, *fault)
        self.assertRegex(message, "bytes (precede the archive|were inserted)")
        self.assertNotRegex(message.lower(), "protobuf|message|wire")
        path = self.folder / "broken.onnxar"
        self.fails(FORMAT, fault.line(path), "cat", path, "a")

    def test_appended_bytes(self) -> None:
        for more in (1, 21, 22, 65535):
            with self.subTest(more=more):
                archive = sound()
                archive.file += bytes(more)
                self.refuses_archive(archive, "zip.end.not_last", None, archive.end)

    def test_more_appended_bytes_than_a_comment_holds(self) -> None:
        archive = sound()
        archive.file += bytes(70_000)
        self.refuses_archive(archive, "zip.end.missing", None, len(archive.file))

    def test_two_archives_in_one_file(self) -> None:
        archive = sound()
        archive.file *= 2
        self.refuses_archive(archive, "zip.end.directory_bounds", None, len(archive.file) - 22)

    def test_overlap(self) -> None:
        archive = sound()
        archive.set_both(0, size=1400, compressed=1400)
        self.refuses_archive(archive, "zip.entry.overlap", "a", 0)

    def test_overlap_of_the_directory(self) -> None:
        archive = sound()
        archive.set_both(-1, size=400, compressed=400)
        self.refuses_archive(archive, "zip.entry.bounds", MODEL, archive.headers[-1])

    def test_two_entries_on_the_same_bytes(self) -> None:
        archive = sound()
        archive.set_central(1, offset=archive.headers[0])
        self.refuses_archive(archive, "zip.entry.order", "b", archive.central[1])

    def test_entry_behind_the_directory(self) -> None:
        archive = sound()
        archive.set_central(-1, offset=archive.end)
        self.refuses_archive(archive, "zip.entry.bounds", MODEL, archive.central[-1])

    def test_entry_far_behind_the_file(self) -> None:
        archive = sound()
        archive.set_central(1, offset=0x7FFFFFFF)
        self.refuses_archive(archive, "zip.entry.order", MODEL, archive.central[2])

    def test_gap(self) -> None:
        archive = Archive([*weights("a", count=301), *weights("b"), model_of(linked("a"))])
        archive.set_both(0, size=1200, compressed=1200)
        self.refuses_archive(archive, "zip.entry.gap", "a", archive.data[0] + 1200)


if __name__ == "__main__":
    command_line.main(__doc__)

"""`repack`: an archive of any zip, as zipalign aligns; `-c` only looks.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests repack_test.py
"""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import (
    CENTRAL,
    END,
    LOCAL,
    MODEL,
    Archive,
    Entry,
    linked,
    model_of,
    sound,
    weights,
)
from support.command_line import (
    DONE,
    FORMAT,
    FOUND,
    IO,
    MIB,
    USAGE,
    Fault,
    ToolCase,
    entries_of,
    run,
    snapshot,
)


def zip_of(entries: Iterable[tuple[str, bytes]], order: list[int] | None = None) -> bytes:
    """Local headers without any extra field, then a directory that lists them in `order`."""
    file, headers = bytearray(), []
    for name, data in entries:
        fields = Entry(name, data).fields
        headers.append((name, fields, len(file)))
        file += LOCAL.pack(**fields) + name.encode() + data
    directory = len(file)
    for name, fields, at in [headers[i] for i in order or range(len(headers))]:
        file += CENTRAL.pack(**fields, made_by=20, offset=at) + name.encode()
    size = len(file) - directory
    count = len(order or headers)
    file += END.pack(
        entries_here=count, entries=count, directory_size=size, directory_offset=directory
    )
    return bytes(file)


def contents() -> list[tuple[str, bytes]]:
    """The model first, as exporters have it."""
    large = Entry("large", wire.content(wire.UINT8, 2 * MIB, "large"))
    model = model_of(linked("a"), linked("b"))
    return [(each.name, each.data) for each in (model, *weights("a", "b"), large)]


def expected() -> bytes:
    """The archive that becomes of them."""
    entries = [Entry(name, data, 4096 if len(data) >= MIB else 64) for name, data in contents()]
    return bytes(Archive([*entries[1:], entries[0]]).file)


class RepackCase(ToolCase):
    def repacked(self, source: Path, *options: object) -> bytes:
        done = self.succeeds("repack", source, "-o", self.output, "-f", *options)
        self.assertEqual(done.stdout, b"")
        self.succeeds("check", "--data", "-q", self.output)
        return self.output.read_bytes()


class AsZipalign(RepackCase):
    """What zipalign is known for."""

    def test_unaligned_input(self) -> None:
        source = self.write("in.zip", zip_of(contents()))
        self.assertEqual(run("repack", "-c", 64, source).returncode, FOUND)
        self.assertEqual(self.repacked(source), expected())
        self.succeeds("repack", "-c", 64, self.output)
        if shutil.which("zipalign"):
            subprocess.run(["zipalign", "-c", "64", self.output], check=True)

    def test_holes_between_entries(self) -> None:
        entries = contents()
        entries[1:1] = [("hole", bytes(100))]
        entries += [("", bytes(7))]
        source = self.write("in.zip", zip_of(entries, order=[0, 2, 3, 4]))
        self.assertEqual(self.repacked(source), expected())

    def test_order_of_local_headers_is_not_the_directorys(self) -> None:
        source = self.write("in.zip", zip_of(contents(), order=[3, 0, 2, 1]))
        self.assertEqual(self.repacked(source), expected())

    def test_folders(self) -> None:
        entries = [("folder/", b""), *contents(), ("folder/empty/", b"")]
        source = self.write("in.zip", zip_of(entries))
        self.assertEqual(self.repacked(source), expected())
        told = self.succeeds("repack", "-c", 1, "-v", source).stdout.decode()
        self.assertIn(" folder/ (OK - folder)\n", told)

    def test_double_alignment(self) -> None:
        source = self.write("in.zip", zip_of(contents()))
        for options in ((), ("--align", 4096), ("--align", 32768)):
            once = self.repacked(source, *options)
            again = self.write("once.onnxar", once)
            self.assertEqual(self.repacked(again), once)
            self.assertEqual(self.repacked(again, *options), once)

    def test_over_an_output_of_zipalign(self) -> None:
        if shutil.which("zipalign") is None:
            self.skipTest("zipalign is not installed")
        source = self.write("in.zip", zip_of(contents()))
        aligned = self.folder / "aligned.zip"
        subprocess.run(["zipalign", "64", source, aligned], check=True, capture_output=True)
        self.succeeds("repack", "-c", 64, aligned)
        self.assertEqual(self.repacked(aligned), expected())


class OtherTools(RepackCase):
    """Zips as common tools make them of a folder."""

    def zipped(self, *command: str) -> None:
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        home = self.folder / "home"
        for name, data in [*contents(), ("sub/größe.txt", b"text" * 100)]:
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        target = self.folder / "in.zip"
        subprocess.run([*command, target, "."], cwd=home, check=True, capture_output=True)
        files = dict([*contents(), ("sub/größe.txt", b"text" * 100)])
        self.repacked(target)
        self.assertEqual(entries_of(self.output), files)

    def test_info_zip(self) -> None:
        self.zipped("zip", "-r")

    def test_info_zip_stored(self) -> None:
        self.zipped("zip", "-r", "-0", "-X")

    def test_7_zip(self) -> None:
        self.zipped("7z", "a", "-tzip")

    def test_python_with_zip64_everywhere(self) -> None:
        path = self.folder / "in.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in contents():
                with file.open(name, "w", force_zip64=True) as entry:
                    entry.write(data)
            file.comment = b"a comment"
        self.assertEqual(self.repacked(path), expected())

    def test_archive_that_a_zip_tool_changed(self) -> None:
        path = self.write("in.onnxar", expected())
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
            file.writestr("notes.txt", "text" * 100)
        self.fails(FORMAT, "onnxar: error[zip.entry.method]", "ls", path)
        self.repacked(path)
        files = {**dict(contents()), "notes.txt": b"text" * 100}
        self.assertEqual(entries_of(self.output), files)
        self.assertEqual(list(entries_of(self.output))[-1], MODEL)


class Archives(RepackCase):
    def test_are_reproduced(self) -> None:
        for options in ((), ("--align", 4096), ("--align", 32768), ("--threshold", 0)):
            path = self.packed(wire.tensor("w"), wire.tensor("größe", wire.UINT8, 3 * MIB), options=options)
            done = self.succeeds("repack", path, "-o", self.output, "-f")
            self.assertNotIn("zip.foreign", done.stderr)
            self.assertEqual(self.output.read_bytes(), path.read_bytes())

    def test_superseded_states_go(self) -> None:
        path = self.edited_archive()
        self.assertGreater(self.listing(path)["unused_bytes"], 0)
        self.repacked(path)
        self.assertEqual(self.listing(self.output)["unused_bytes"], 0)
        self.assertEqual(entries_of(self.output), entries_of(path))
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))

    def test_over_itself(self) -> None:
        path = self.edited_archive()
        path.chmod(0o640)
        wanted = self.repacked(path)
        self.fails(USAGE, Fault("output.exists").line(path), "repack", path, "-o", path)
        self.succeeds("repack", path, "-o", path, "-f")
        self.assertEqual(path.read_bytes(), wanted)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(set(snapshot(self.folder)), {path.name, "out"})

    def test_dry_run(self) -> None:
        path = self.edited_archive()
        with self.nothing_changes():
            done = self.succeeds("repack", path, "-o", self.output, "-n")
        self.assertIn("would repack", done.stderr)


class Check(RepackCase):
    def setUp(self) -> None:
        super().setUp()
        self.plain = self.write("in.zip", zip_of(contents()))
        self.archive_path = self.write("in.onnxar", expected())

    def test_says_how_far_off_each_entry_is(self) -> None:
        with self.nothing_changes():
            done = run("repack", "-c", 64, "-v", self.plain)
        self.assertEqual(done.returncode, FOUND)
        offsets, at = [], 0
        for name, data in contents():
            at += LOCAL.size + len(name)
            offsets.append((str(at), name, f"off by {at % 64}" if at % 64 else "OK"))
            at += len(data)
        rows = [line.split(maxsplit=2) for line in done.stdout.decode().splitlines()]
        self.assertEqual([(a, b, c.strip("()")) for a, b, c in rows], offsets)
        self.assertIn("4 of 4 entries", done.stderr)

    def test_of_aligned_entries(self) -> None:
        for alignment in (1, 2, 64, "64B"):
            done = self.succeeds("repack", "-c", alignment, self.archive_path)
            self.assertEqual(done.stdout, b"")
        self.assertEqual(run("repack", "-c", 4096, self.archive_path).returncode, FOUND)

    def test_quiet(self) -> None:
        for path, code in ((self.plain, FOUND), (self.archive_path, DONE)):
            done = run("repack", "-q", "-c", 64, path)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", ""))

    def test_compressed_entries_need_no_alignment(self) -> None:
        path = self.folder / "deflated.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("x" * 7, bytes(1000))
        done = self.succeeds("repack", "-c", 64, "-v", path)
        self.assertIn(b"(OK - compressed)", done.stdout)

    def test_needs_no_model(self) -> None:
        path = self.write("other.zip", zip_of([("x", b"data")]))
        self.succeeds("repack", "-c", 1, path)

    def test_names_are_escaped(self) -> None:
        path = self.write("other.zip", zip_of([("back\\slash", b"data")]))
        line = Fault("zip.name.backslash", "back\\\\slash", 44).line(path)
        self.fails(FORMAT, line, "repack", "-c", 64, path)

    def test_usage(self) -> None:
        for call in (
            (self.plain,),
            ("-c", 64),
            (self.plain, "-c"),
            (self.plain, "-c", 0),
            (self.plain, "-c", 3),
            (self.plain, "-c", -1),
            (self.plain, "-c", 64, "-o", self.output),
            (self.plain, "-c", 64, "--align", 64),
            (self.plain, "-c", 64, "-f"),
            (self.plain, "-o", self.output, "--align", 0),
            (self.plain, "-o", self.output, "--align", 32),
            (self.plain, "-o", self.output, "--align", 65536),
        ):
            with self.subTest(call=call), self.nothing_changes():
                done = run("repack", *call)
                self.assertEqual((done.returncode, done.stdout), (USAGE, b""), done.stderr)
                self.assertNotEqual(done.stderr, "")


class Refused(RepackCase):
    """Code, entry and offset; nothing is written."""

    def refused(self, data: bytes, code: str, entry: str | None, offset: int | None) -> str:
        path = self.write("in.zip", data)
        line = Fault(code, entry, offset).line(path)
        told = self.fails(FORMAT, line, "repack", path, "-o", self.output)
        self.assertEqual(run("pack", path, "-o", self.output).returncode, FORMAT)
        self.assertFalse(self.output.exists())
        return told

    def directory(self, data: bytes, name: str) -> int:
        """The offset of its header."""
        return data.index(b"PK\1\2", data.rindex(name.encode()) - CENTRAL.size)

    def test_two_readings(self) -> None:
        double = zip_of([*contents(), ("a", b"other")])
        self.refused(double, "zip.name.duplicate", "a", self.directory(double, "a"))
        folded = zip_of([*contents(), ("LARGE", b"other")])
        self.refused(folded, "zip.name.folded", "LARGE", self.directory(folded, "LARGE"))
        prefix = zip_of([*contents(), ("a/b", b"other")])
        self.refused(prefix, "zip.name.prefix", "a/b", self.directory(prefix, "a/b"))
        twice = zip_of(contents(), order=[0, 1, 1, 2, 3])
        first = len(contents()[0][1]) + LOCAL.size + len(MODEL)
        self.refused(twice, "zip.entry.overlap", "a", first)

    def test_encrypted(self) -> None:
        if shutil.which("zip") is None:
            self.skipTest("zip is not installed")
        self.write("secret", bytes(100))
        target = self.folder / "secret.zip"
        command = ["zip", "-q", "-P", "password", target, "secret"]
        subprocess.run(command, cwd=self.folder, check=True)
        data = target.read_bytes()
        told = self.refused(data, "zip.entry.encrypted", "secret", data.index(b"PK\1\2"))
        self.assertIn("password", told)

    def test_symbolic_link(self) -> None:
        info = zipfile.ZipInfo("link")
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        path = self.folder / "link.zip"
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("m.onnx", wire.plain(wire.tensor("w")))
            file.writestr(info, "/etc/passwd")
        data = path.read_bytes()
        self.refused(data, "zip.entry.attributes", "link", data.rindex(b"PK\1\2"))

    def test_other_methods(self) -> None:
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            path = self.folder / "other.zip"
            with zipfile.ZipFile(path, "w", method) as file:
                file.writestr("m.onnx", wire.plain(wire.tensor("w")))
            data = path.read_bytes()
            self.refused(data, "zip.entry.method", "m.onnx", data.index(b"PK\1\2"))

    def test_wrong_checksum(self) -> None:
        data = bytearray(zip_of(contents()))
        at = data.index(weights("b")[0].data)
        data[at + 600] ^= 1
        self.refused(bytes(data), "zip.data.crc", "b", at)

    def test_wrong_checksum_of_deflated_data(self) -> None:
        path = self.folder / "deflated.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("m.onnx", wire.plain(wire.tensor("w")))
            file.writestr("w", bytes(range(256)) * 4)
        data = bytearray(path.read_bytes())
        for at in (data.index(b"PK\3\4", 4), data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)):
            struct.pack_into("<I", data, at + (14 if data[at + 2] == 3 else 16), 1)
        self.refused(bytes(data), "zip.data.crc", "w", data.index(b"PK\3\4", 4) + LOCAL.size + 1)

    def test_second_end_record(self) -> None:
        """A whole archive in the comment of another zip: readers differ in which of them they see."""
        outer = bytearray(zip_of([("m.onnx", wire.plain(wire.tensor("w")))]))
        end = len(outer) - END.size
        inner = sound()
        END.put(outer, end, "comment_length", len(inner.file))
        inner.prepend(bytes(outer))
        self.refused(bytes(inner.file), "zip.end.ambiguous", None, end)

    def test_truncated(self) -> None:
        data = zip_of(contents()[:3])
        for size in (*range(0, 200, 7), *range(200, len(data), 97), *range(len(data) - 100, len(data))):
            with self.subTest(size=size):
                self.refused_cut(data[:size], size)

    def refused_cut(self, data: bytes, size: int) -> None:
        path = self.write("in.zip", data)
        line = Fault("zip.end.missing", None, size).line(path)
        self.fails(FORMAT, line, "repack", path, "-o", self.output)


class Bombs(RepackCase):
    def bomb(self, size: int, says: int) -> Path:
        """`size` zeros, deflated, that are said to be another number."""
        raw = zlib.compressobj(9, wbits=-15)
        data = raw.compress(bytes(size)) + raw.flush()
        files = [("m.onnx", wire.plain(wire.tensor("w"))), ("bomb", data)]
        file = bytearray(zip_of(files))
        central = file.rindex(b"PK\1\2")
        local = file.index(b"PK\3\4", 4)
        crc = zlib.crc32(bytes(size))
        for at, record in ((local, LOCAL), (central, CENTRAL)):
            for name, value in {"method": 8, "size": says, "crc32": crc}.items():
                record.put(file, at, name, value)
        return self.write("bomb.zip", bytes(file))

    def test_that_says_too_little_is_stopped(self) -> None:
        path = self.bomb(256 * MIB, 1000)
        for verb in ("repack", "pack"):
            self.fails(FORMAT, "onnxar: error[zip.data.inflate]", verb, path, "-o", self.output)

    def test_that_says_too_much_is_refused_before_anything_is_written(self) -> None:
        path = self.bomb(1000, 2**32 - 2)
        line = f'onnxar: error[zip.data.inflate] {path}: entry "bomb" at 0x'
        self.assertIn("no deflate stream", self.fails(FORMAT, line, "repack", path, "-o", self.output))

    def test_that_is_right_is_inflated_in_bounded_memory(self) -> None:
        path = self.bomb(128 * MIB, 128 * MIB)
        tool = ["prlimit", f"--data={48 * MIB}", os.environ["ONNXAR"]]
        done = run("repack", path, "-o", self.output, "--no-sync", tool=tool)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertGreater(self.output.stat().st_size, 128 * MIB)


class Outputs(RepackCase):
    def test_folder_is_missing(self) -> None:
        nowhere = self.folder / "nowhere"
        path = self.edited_archive()
        line = Fault("io.not_found").line(nowhere)
        self.fails(IO, line, "repack", path, "-o", nowhere / "out")

    def test_disk_is_full(self) -> None:
        small = self.folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "onnxar-test", str(small)]
        done = subprocess.run(mount, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a small file system: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        path = self.write("small/in.zip", zip_of(contents()))
        for target in (small / "out", path):
            line = Fault("io.disk_full").line(target)
            self.fails(IO, line, "repack", path, "-o", target, "-f")
        deflated = self.folder / "deflated.zip"
        with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("m.onnx", wire.plain(wire.tensor("w")))
            file.writestr("zeros", bytes(8 * MIB))
        self.fails(IO, "onnxar: error[io.disk_full]", "pack", deflated, "-o", small / "out")


if __name__ == "__main__":
    command_line.main(__doc__)

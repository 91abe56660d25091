"""Zips that `repack` and `pack` refuse, bombs among them; outputs that cannot be written.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests bad_zip_test.py
"""

from __future__ import annotations

import shutil
import stat
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import (
    CENTRAL,
    END,
    LOCAL,
    MODEL,
    exported_files,
    linked,
    plain_zip,
    sound,
    weights,
)
from support.command_line import DONE, FORMAT, IO, MIB, Fault, ToolCase, run


class Refused(ToolCase):
    """Expects code, entry and offset, and that nothing is written."""

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
        double = plain_zip([*exported_files(), ("a", b"other")])
        self.refused(double, "zip.name.duplicate", "a", self.directory(double, "a"))
        folded = plain_zip([*exported_files(), ("LARGE", b"other")])
        self.refused(folded, "zip.name.folded", "LARGE", self.directory(folded, "LARGE"))
        prefix = plain_zip([*exported_files(), ("a/b", b"other")])
        self.refused(prefix, "zip.name.prefix", "a/b", self.directory(prefix, "a/b"))
        twice = plain_zip(exported_files(), order=[0, 1, 1, 2, 3])
        first = len(exported_files()[0][1]) + LOCAL.size + len(MODEL)
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
        data = bytearray(plain_zip(exported_files()))
        at = data.index(weights("b")[0].data)
        data[at + 600] ^= 1
        self.refused(bytes(data), "zip.data.crc", "b", at)

    def test_wrong_checksum_of_deflated_data(self) -> None:
        path = self.folder / "deflated.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("m.onnx", wire.plain(linked("w", 256)))
            file.writestr("w", bytes(range(256)) * 4)
        data = bytearray(path.read_bytes())
        for at in (data.index(b"PK\3\4", 4), data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)):
            struct.pack_into("<I", data, at + (14 if data[at + 2] == 3 else 16), 1)
        self.refused(bytes(data), "zip.data.crc", "w", data.index(b"PK\3\4", 4) + LOCAL.size + 1)

    def test_second_end_record(self) -> None:
        """An archive in the comment of an outer zip: readers differ in which of the two they see."""
        outer = bytearray(plain_zip([("m.onnx", wire.plain(wire.tensor("w")))]))
        end = len(outer) - END.size
        inner = sound()
        END.put(outer, end, comment_length=len(inner.file))
        inner.prepend(bytes(outer))
        self.refused(bytes(inner.file), "zip.end.ambiguous", None, end)

    def test_truncated(self) -> None:
        data = plain_zip(exported_files()[:3])
        end = len(data)
        for size in (*range(0, 200, 7), *range(200, end, 97), *range(end - 100, end)):
            with self.subTest(size=size):
                self.refused_cut(data[:size], size)

    def refused_cut(self, data: bytes, size: int) -> None:
        path = self.write("in.zip", data)
        line = Fault("zip.end.missing", None, size).line(path)
        self.fails(FORMAT, line, "repack", path, "-o", self.output)


class Bombs(ToolCase):
    def bomb(self, size: int, says: int) -> Path:
        """`size` zeros, deflated, with a different stated size."""
        raw = zlib.compressobj(9, wbits=-15)
        data = raw.compress(bytes(size)) + raw.flush()
        files = [("m.onnx", wire.plain(wire.tensor("w"))), ("bomb.bin", data)]
        file = bytearray(plain_zip(files))
        central = file.rindex(b"PK\1\2")
        local = file.index(b"PK\3\4", 4)
        crc = zlib.crc32(bytes(size))
        for at, record in ((local, LOCAL), (central, CENTRAL)):
            for name, value in {"method": 8, "size": says, "crc32": crc}.items():
                record.put(file, at, **{name: value})
        return self.write("bomb.zip", bytes(file))

    def test_that_says_too_little_is_stopped(self) -> None:
        path = self.bomb(256 * MIB, 1000)  # stopped at the first byte too many
        for verb in ("repack", "pack"):
            self.fails(FORMAT, "onnxar: error[zip.data.inflate]", verb, path, "-o", self.output)

    def test_that_says_too_much_is_refused_before_anything_is_written(self) -> None:
        path = self.bomb(1000, 2**32 - 2)
        line = f'onnxar: error[zip.data.inflate] {path}: entry "bomb.bin" at 0x'
        told = self.fails(FORMAT, line, "repack", path, "-o", self.output)
        self.assertIn("impossible with deflate", told)

    def test_that_is_right_is_inflated_in_bounded_memory(self) -> None:
        path = self.bomb(128 * MIB, 128 * MIB)
        tool = self.in_memory(48 * MIB)
        for verb in ("repack", "pack"):
            options = ("-f", "--no-sync", "--max-expansion", 2000)
            done = run(verb, path, "-o", self.output, *options, tool=tool)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertGreater(self.output.stat().st_size, 128 * MIB)


class Outputs(ToolCase):
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
        path = self.write("small/in.zip", plain_zip(exported_files()))
        for target in (small / "out", path):
            line = Fault("io.disk_full").line(target)
            self.fails(IO, line, "repack", path, "-o", target, "-f")
        deflated = self.folder / "deflated.zip"
        with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("m.onnx", wire.plain(linked("zeros", 2 * MIB)))
            file.writestr("zeros", bytes(8 * MIB))
        call = ("pack", deflated, "-o", small / "out", "--max-expansion", 2000)
        self.fails(IO, "onnxar: error[io.disk_full]", *call)


if __name__ == "__main__":
    command_line.main(__doc__)

"""Zips that `repack` and `pack` refuse, bombs among them; outputs that cannot be written."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import CENTRAL, LOCAL, exported_files, linked, plain_zip
from support.command_line import DONE, FORMAT, IO, MIB, Fault, ToolCase, run


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

    def test_bomb_that_claims_too_little_is_stopped(self) -> None:
        path = self.bomb(32 * MIB, 1000)  # stopped at the first byte too many
        for verb in ("repack", "pack"):
            self.fails(FORMAT, "onnxar: error[zip.data.inflate]", verb, path, "-o", self.output)

    def test_bomb_that_claims_too_much_is_refused(self) -> None:
        path = self.bomb(1000, 2**32 - 2)
        line = f'onnxar: error[zip.data.inflate] {path}: entry "bomb.bin" at 0x'
        self.assertIn("impossible with deflate", self.fails(FORMAT, line, "repack", path, "-o", self.output))

    def test_honest_bomb_is_inflated_in_bounded_memory(self) -> None:
        path = self.bomb(128 * MIB, 128 * MIB)
        tool = self.in_memory(48 * MIB)
        for verb in ("repack", "pack"):
            options = ("-f", "--no-sync", "--max-expansion", 2000)
            done = run(verb, path, "-o", self.output, *options, tool=tool)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertGreater(self.output.stat().st_size, 128 * MIB)


class Outputs(ToolCase):
    def test_disk_is_full(self) -> None:
        small = self.small_disk("3m")
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
    command_line.main()

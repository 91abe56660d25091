"""Models with wrong links, and models that are too large, are refused with a code and a place.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests bad_model_test.py
"""

from __future__ import annotations

import os

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights
from support.command_line import DONE, FORMAT, GIB, IO, Fault, ToolCase, run


class Links(ToolCase):
    """Links of a model into its archive; the place is that of the tensor."""

    def expect(self, code: str, tensor: bytes, *, data: bytes | None = None) -> str:
        entry = Entry("w", weights("w")[0].data if data is None else data)
        archive = Archive([entry, model_of(wire.tensor("before"), tensor)])
        offset = archive.file.index(tensor, archive.data[1])
        path = self.write("links.onnxar", archive.file)
        return self.refuses(Fault(code, MODEL, offset), path)

    def test_to_a_missing_entry(self) -> None:
        for location in ("v", "W", "./w", "w/", "../w", "/w", " w"):
            with self.subTest(location=location):
                message = self.expect("onnx.external_data.missing", linked("w", location=location))
                self.assertIn(f'"{location}"', message)

    def test_without_a_location(self) -> None:
        self.expect("onnx.external_data.no_location", linked("w", location=""))

    def test_outside_the_entry(self) -> None:
        code = "onnx.external_data.out_of_range"
        for offset, count in ((1, 300), (1200, 300), (1201, 300), (2**64 - 1, 300), (0, 301)):
            with self.subTest(offset=offset, count=count):
                self.expect(code, linked("w", count, offset=offset))

    NUMBERS = (
        *("", "x", "-1", "+0", " 0", "0 ", "00", "01", "0x10", "1e3", "0.0", "1,200"),
        *(str(2**64), str(2**64 + 1200), "9" * 50, "１"),
    )

    def test_offset_that_is_no_plain_decimal(self) -> None:
        for spelt in self.NUMBERS:
            with self.subTest(offset=spelt):
                self.expect("onnx.external_data.bad_offset", linked("w", offset=spelt))

    def test_length_that_is_no_plain_decimal(self) -> None:
        for spelt in (*self.NUMBERS, "+1200", "01200", "1200 "):
            with self.subTest(length=spelt):
                self.expect("onnx.external_data.bad_length", linked("w", length=spelt))

    def test_key_given_twice(self) -> None:
        again = wire.block(wire.EXTERNAL_DATA, wire.pair("offset", "0"))
        tensor = linked("w", offset=0) + again
        archive = Archive([*weights("w"), model_of(tensor)])
        path = self.write("links.onnxar", archive.file)
        last = archive.file.rindex(wire.pair("offset", "0"))
        self.refuses(Fault("onnx.external_data.duplicate_key", MODEL, last), path)

    def test_length_against_the_shape(self) -> None:
        for dims in ([299], [301], [], [0], [10, 31], [2**40]):
            with self.subTest(dims=dims):
                self.expect("onnx.tensor.length", linked("w", dims=dims))

    def test_length_against_the_type(self) -> None:
        link = wire.DataFile("w").link(length=1200)
        for kind in ("DOUBLE", "UINT8", "FLOAT16", "INT4", "COMPLEX64"):
            with self.subTest(kind=kind):
                tensor = wire.fields_of("w", wire.TYPES[kind], [300], link)
                self.expect("onnx.tensor.length", tensor)

    def test_entry_too_short_for_the_shape(self) -> None:
        whole = wire.fields_of("w", wire.FLOAT, [300], wire.DataFile("w").link())
        self.expect("onnx.external_data.out_of_range", whole, data=bytes(1199))

    def test_impossible_dimensions(self) -> None:
        for dims in ([-300], [2**40, 2**40], [2**63]):
            with self.subTest(dims=dims):
                self.expect("onnx.tensor.dims", linked("w", dims=dims))

    def test_strings(self) -> None:
        link = wire.DataFile("w").link(length=1200)
        tensor = wire.scalar(wire.DIMS, 300) + wire.scalar(wire.DATA_TYPE, wire.STRING) + link
        self.expect("onnx.external.string", tensor)

    def test_data_beside_the_link(self) -> None:
        data = wire.content(wire.FLOAT, 300, "w")
        for encode in wire.ENCODINGS.values():
            tensor = linked("w") + encode(wire.FLOAT, data)
            self.expect("onnx.external.data_beside", tensor)

    def test_markers_of_other_processes(self) -> None:
        for location in ("*/_ORT_MEM_ADDR_/*", "#onnxar:0:0", "#onnxar:12345:1"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.marker", linked("w", location=location))

    def test_to_the_model_itself(self) -> None:
        model = model_of(linked("w", 2, location=MODEL))
        archive = Archive([*weights("w"), model])
        done = run("unpack", self.write("self.onnxar", archive.file), "-o", self.output)
        self.assertIn(done.returncode, (DONE, FORMAT), done.stderr)  # but never a crash

    def test_inline_data_too_short(self) -> None:
        for count in (300, 200):  # `pack` moves the first, and the second stays in the model
            with self.subTest(count=count):
                data = wire.block(wire.RAW_DATA, bytes(4 * count - 4))
                short = wire.fields_of("w", wire.FLOAT, [count], data)
                archive = Archive([model_of(short)])
                place = archive.file.index(short)
                path = self.write("short.onnxar", archive.file)
                self.refuses(Fault("onnx.tensor.length", MODEL, place), path)
                path = self.model(short)
                place = path.read_bytes().index(short)
                self.refuses(Fault("onnx.tensor.length", None, place), path)


class DataFiles(ToolCase):
    """Links of a model into files beside it."""

    def expect(self, code: str, location: str, count: int = 300, **link: object) -> str:
        tensor = linked("w", count, location=location, **link)
        path = self.model(wire.tensor("before"), tensor, name="models/model.onnx")
        fault = Fault(code, None, path.read_bytes().index(tensor))
        message = self.refuses(fault, path)
        for verb in ("pack", "unpack"):  # also with the data in a different place
            wide = ("--data-dir", path.parent, "-o", self.output)
            self.fails(FORMAT, fault.line(path), verb, path, *wide)
        return message

    def test_missing(self) -> None:
        message = self.expect("onnx.external_data.missing", "w.bin")
        self.assertIn("w.bin", message)
        self.assertIn("--data-dir", message)

    def test_in_a_folder_that_is_missing_or_a_file(self) -> None:
        self.write("models/file", b"")
        for location in ("nowhere/w.bin", "file/w.bin"):
            self.expect("onnx.external_data.missing", location)

    def test_outside_the_folder(self) -> None:
        outside = self.write("outside.bin", bytes(1200))
        (self.folder / "models" / "sub").mkdir(parents=True)
        for location in ("../outside.bin", "sub/../../outside.bin", str(outside), "/etc/passwd"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.bad_location", location)

    def test_link_that_leaves_the_folder(self) -> None:
        self.on_posix("Wine 8 shows no symbolic links")
        outside = self.write("outside.bin", bytes(1200))
        folder = self.folder / "models"
        folder.mkdir()
        (folder / "absolute.bin").symlink_to(outside)
        (folder / "relative.bin").symlink_to("../outside.bin")
        (folder / "chain.bin").symlink_to("relative.bin")
        (folder / "up").symlink_to("..")
        (folder / "loop.bin").symlink_to("loop.bin")
        for location in ("absolute.bin", "relative.bin", "chain.bin", "up/outside.bin", "loop.bin"):
            with self.subTest(location=location):
                self.expect("onnx.external_data.outside", location)

    def test_link_within_the_folder_is_followed(self) -> None:
        path = self.model(linked("w", location="here.bin"), name="models/model.onnx")
        self.write("models/real.bin", bytes(1200))
        (path.parent / "here.bin").symlink_to("real.bin")
        self.succeeds("pack", path, "-o", self.output)

    def test_too_short(self) -> None:
        self.write("models/w.bin", bytes(1199))
        message = self.expect("onnx.external_data.out_of_range", "w.bin")
        self.assertIn("1199", message)

    def test_empty(self) -> None:
        self.write("models/w.bin", b"")
        self.expect("onnx.external_data.out_of_range", "w.bin")

    def test_offset_behind_the_end(self) -> None:
        self.write("models/w.bin", bytes(1200))
        for offset in (1, 1200, 5000, 2**63, 2**64 - 1200):
            with self.subTest(offset=offset):
                self.expect("onnx.external_data.out_of_range", "w.bin", offset=offset)

    def test_length_against_the_shape(self) -> None:
        self.write("models/w.bin", bytes(1200))
        self.expect("onnx.tensor.length", "w.bin", count=300, length=1199)

    def test_no_regular_file(self) -> None:
        path = self.model(linked("w", location="w.bin"), name="models/model.onnx")
        data = path.parent / "w.bin"
        for make in (data.mkdir, lambda: os.mkfifo(data)):
            make()
            for verb in ("pack", "unpack"):
                line = Fault("io.not_a_file").line(data)
                self.fails(IO, line, verb, path, "-o", self.output)
            data.rmdir() if data.is_dir() else data.unlink()

    def test_data_dir_that_is_missing(self) -> None:
        path = self.model(linked("w", location="w.bin"))
        nowhere = self.folder / "nowhere"
        line = Fault("io.not_found").line(nowhere)
        self.fails(IO, line, "pack", path, "-o", self.output, "--data-dir", nowhere)


class Large(ToolCase):
    def test_inline_model_over_2_gib(self) -> None:
        self.with_64_bits()
        path = self.sparse(2 * GIB)
        line = Fault("onnx.model.too_large").line(self.output)
        for options in ((), ("-n",), ("--threshold", "4GiB")):
            told = self.fails(FORMAT, line, "unpack", path, "-o", self.output, *options)
            self.assertIn("--external-data", told)

    def test_model_entry_over_2_gib(self) -> None:
        self.with_64_bits()
        path = self.sparse(2 * GIB)
        command = ("pack", path, "-o", self.output, "--threshold", "4GiB")
        told = self.fails(FORMAT, Fault("onnx.model.too_large").line(self.output), *command)
        self.assertIn("--threshold", told)


if __name__ == "__main__":
    command_line.main(__doc__)

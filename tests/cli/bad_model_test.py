"""Models with wrong links, and models that are too large, are refused with a code and a place."""

from __future__ import annotations


from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, linked, model_of, weights
from support.command_line import FORMAT, GIB, Fault, ToolCase


class Links(ToolCase):
    """Links of a model into its archive; the place is that of the tensor. The vectors have all faults."""

    def expect(self, code: str, tensor: bytes) -> str:
        archive = Archive([*weights("w"), model_of(wire.tensor("before"), tensor)])
        offset = archive.file.index(tensor, archive.data[1])
        path = self.write("links.onnxar", archive.file)
        return self.refuses(Fault(code, MODEL, offset), path)

    def test_to_a_missing_entry(self) -> None:
        for location in ("v", "W", "./w", "w/", "../w", "/w", " w"):
            with self.subTest(location=location):
                message = self.expect("onnx.external_data.missing", linked("w", location=location))
                self.assertIn(f'"{location}"', message)

    def test_other_faults(self) -> None:
        self.expect("onnx.external_data.out_of_range", linked("w", offset=1))
        self.expect("onnx.external_data.bad_length", linked("w", length="1200 "))
        self.expect("onnx.tensor.length", linked("w", dims=[299]))
        self.expect("onnx.external_data.marker", linked("w", location="*/_ORT_MEM_ADDR_/*"))


class DataFiles(ToolCase):
    """Links of a model into files beside it."""

    def expect(self, code: str, location: str, **link: object) -> str:
        tensor = linked("w", location=location, **link)
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

    def test_folder(self) -> None:
        self.write("models/sub/w.bin", bytes(1200))
        for location in ("sub", "sub/", "./"):
            with self.subTest(location=location):
                self.assertIn("is not a regular file", self.expect("onnx.external_data.missing", location))

    def test_other_faults(self) -> None:
        self.write("outside.bin", bytes(1200))
        self.write("models/w.bin", bytes(1199))
        self.expect("onnx.external_data.bad_location", "../outside.bin")
        self.expect("onnx.tensor.length", "w.bin", length=1199)
        self.assertIn("1199", self.expect("onnx.external_data.out_of_range", "w.bin"))

    def test_link_that_leaves_the_folder(self) -> None:
        self.on_posix("Wine 8 shows no symbolic links")
        self.write("outside.bin", bytes(1200))
        (self.folder / "models").mkdir()
        (self.folder / "models" / "link.bin").symlink_to("../outside.bin")
        self.expect("onnx.external_data.outside", "link.bin")


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
    command_line.main()

"""The options of `unpack`."""

from __future__ import annotations

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.command_line import MIB, ToolCase, snapshot


class ExternalData(ToolCase):
    """`unpack --external-data NAME`; tests/convert/convert_faults_test.cc has the names that it refuses."""

    def test_data_lies_beside_the_model(self) -> None:
        (self.folder / "sub").mkdir()
        target = self.folder / "sub" / "model.onnx"
        command = ("unpack", self.archive("a", "b"), "-o", target)
        self.succeeds(*command, "--external-data", "weights.bin")
        self.assertEqual(set(snapshot(target.parent)), {"model.onnx", "weights.bin"})
        model = walk.parse(target.read_bytes())
        locations = [walk.link(each.tensor)["location"] for each in walk.external_sites(model)]
        self.assertEqual(locations, ["weights.bin", "weights.bin"])
        walk.load_external(model, target.parent)
        for tensor in model.graph.initializer:
            self.assertEqual(tensor.raw_data, wire.content(wire.FLOAT, 300, tensor.name))

    def test_data_file_without_data_is_empty(self) -> None:
        (self.folder / "sub").mkdir()
        target = self.folder / "sub" / "model.onnx"
        self.succeeds("unpack", self.model(wire.tensor("n", wire.UINT8, 8)), "-o", target, "--external-data", "weights.bin")
        self.assertEqual(set(snapshot(target.parent)), {"model.onnx", "weights.bin"})
        self.assertEqual((target.parent / "weights.bin").read_bytes(), b"")

    def test_alignment(self) -> None:
        source = self.archive("a", "b", "c")
        for alignment in (64, 4096, 65536):
            command = ("unpack", source, "-o", self.output, "-f", "--align", alignment)
            self.succeeds(*command, "--external-data", "weights.bin")
            model = walk.parse(self.output.read_bytes())
            links = [walk.link(site.tensor) for site in walk.sites(model)]
            offsets = [int(link["offset"]) for link in links]
            self.assertEqual(offsets, [0, max(alignment, 1216), 2 * max(alignment, 1216)])

    SIZES = (999, 1000, 1023, 1024, 1025, 1_000_000, MIB)

    def test_threshold(self) -> None:
        source = self.model(*(wire.tensor(f"n{size}", wire.UINT8, size) for size in self.SIZES))
        options = ("--external-data", "weights.bin", "--threshold", "1MB")
        self.succeeds("unpack", source, "-o", self.output, *options)
        model = walk.parse(self.output.read_bytes())
        outside = [int(walk.link(each.tensor)["length"]) for each in walk.external_sites(model)]
        self.assertEqual(outside, [1_000_000, MIB])


if __name__ == "__main__":
    command_line.main()

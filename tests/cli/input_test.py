"""Inputs: recognised by content, and found together with their data."""

from __future__ import annotations

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import linked
from support.command_line import FORMAT, FOUND, ToolCase, entries_of, run


class Inputs(ToolCase):
    def test_inputs_are_recognised_by_content(self) -> None:
        model, archive = self.model().read_bytes(), self.archive("w").read_bytes()
        for name in ("model.onnxar", "model.zip", "model.txt", "no_extension"):
            with self.subTest(name):
                path = self.write(name, model)
                self.succeeds("check", path)
                self.succeeds("pack", path, "-o", self.output, "-f")
        for name in ("model.onnx", "model.txt", "model.pb", "no_extension"):
            with self.subTest(name):
                path = self.write(name, archive)
                self.assertEqual([each["name"] for each in self.listing(path)["entries"]], ["w"])
                self.succeeds("check", "--data", path)
                self.succeeds("unpack", path, "-o", self.output, "-f")

    def test_data_dir(self) -> None:
        data = wire.content(wire.FLOAT, 300, "w")
        source = self.model(linked("w", location="sub/w.bin"), name="models/model.onnx")
        self.write("data/sub/w.bin", data)
        elsewhere = ("--data-dir", self.folder / "data")
        self.assertEqual(run("pack", source, "-o", self.output).returncode, FORMAT)
        self.assertEqual(run("check", source).returncode, FOUND)
        self.succeeds("check", source, *elsewhere)
        self.succeeds("pack", source, "-o", self.output, *elsewhere)
        self.assertEqual(entries_of(self.output)["w"], data)
        self.succeeds("unpack", source, "-o", self.folder / "inline.onnx", *elsewhere)
        inline = walk.parse((self.folder / "inline.onnx").read_bytes())
        self.assertEqual(inline.graph.initializer[0].raw_data, data)

    def test_paths_relative_to_the_working_folder(self) -> None:
        self.model(linked("w", location="w.bin"), name="models/model.onnx")
        self.write("models/w.bin", bytes(1200))
        self.succeeds("pack", "models/model.onnx", "-o", "out", cwd=self.folder)
        self.succeeds("pack", "model.onnx", "-o", "../out2", cwd=self.folder / "models")
        self.assertEqual(self.output.read_bytes(), (self.folder / "out2").read_bytes())

    def test_model_behind_a_link(self) -> None:
        source = self.model(wire.tensor("w"))
        link = self.folder / "link.onnx"
        link.symlink_to(source.name)
        self.succeeds("pack", link, "-o", self.output)
        self.assertEqual(self.unpacked(self.output), source.read_bytes())
        self.assertTrue(link.is_symlink())

    def test_model_and_data_behind_links(self) -> None:
        """Laid out as in download caches: contents in one folder, names in a second one."""
        data = wire.content(wire.FLOAT, 300, "w")
        source = self.model(linked("w", location="model.onnx_data"), name="blobs/0123")
        self.write("blobs/4567", data)
        names = self.folder / "snapshots"
        names.mkdir()
        (names / "model.onnx").symlink_to(f"../blobs/{source.name}")
        (names / "model.onnx_data").symlink_to("../blobs/4567")
        self.succeeds("check", names / "model.onnx")
        self.succeeds("pack", names / "model.onnx", "-o", self.output)
        self.assertEqual(entries_of(self.output)["w"], data)

    def test_names_with_spaces_and_dashes(self) -> None:
        self.model(name="--my model.onnx")
        self.succeeds("pack", "./--my model.onnx", "-o", "-out.onnxar", cwd=self.folder)
        self.succeeds("check", "--", "-out.onnxar", cwd=self.folder)


if __name__ == "__main__":
    command_line.main()

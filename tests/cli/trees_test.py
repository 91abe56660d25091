"""unpack -o FOLDER/ gives back the trees that pack takes: repositories, pipelines, packages, and folders for GenAI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import USAGE, ToolCase

SHARED, UNET, VAE = wire.plain(wire.tensor("shared")), wire.plain(wire.tensor("u")), wire.plain(wire.tensor("v"), wire.tensor("shared"))
MANIFEST = {
    "schema_version": "1.0",
    "components": {"model": {"variants": {name: {"executor_info": {"ort": {"model_file": "model.onnx"}}} for name in ("fp32", "int8")}}},
}
LAYOUTS: Mapping[str, Mapping[str, bytes]] = {
    "repository": {"config.json": b"{}", "tokenizer.json": b"[]", "onnx/model.onnx": UNET, "onnx/model_q4.onnx": VAE, "LICENSE": b"free"},
    "pipeline": {
        "model_index.json": b"{}", "unet/model.onnx": UNET, "unet/config.json": b"{}", "vae_decoder/model.onnx": VAE,
        "text_encoder/model.onnx": SHARED, "tokenizer/vocab.json": b"{}", "scheduler/scheduler_config.json": b"{}",
    },
    "package": {"manifest.json": json.dumps(MANIFEST).encode(), "fp32/model.onnx": UNET, "int8/model.onnx": VAE, "int8/notes.txt": b""},
    "genai": {"genai_config.json": b"{}", "model.onnx": UNET, "draft.onnx": VAE, "tokenizer_config.json": b"{}"},
    "names": {
        "a b/model.onnx": UNET, "a b/(c)/m [1].onnx": VAE, "deep/er/and/deeper/x.onnx": SHARED,
        "-f.onnx": SHARED, "unet.onnx": UNET, "unet/unet.onnx": VAE, "$HOME.onnx": SHARED, "a'b&.txt": b"1",
    },
}  # fmt: skip


class TreeCase(ToolCase):
    def tree(self, files: Mapping[str, bytes], name: str = "tree") -> Path:
        for path, data in files.items():
            self.write(f"{name}/{path}", data)
        return self.folder / name

    def packed(self, folder: Path) -> Path:
        self.succeeds("pack", folder, "-o", self.output, "-f", "--no-sync")
        self.succeeds("check", "--data", "--strict", self.output)
        return self.output

    def unpacked(self, *options: object, name: str = "back") -> dict[str, bytes]:
        folder = self.folder / name
        self.succeeds("unpack", self.output, "-o", f"{folder}/", "--no-sync", *options)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Trees(TreeCase):
    def test_trees_come_back_byte_for_byte(self) -> None:
        for layout, files in LAYOUTS.items():
            with self.subTest(layout):
                self.packed(self.tree(files, layout))
                self.assertEqual(self.unpacked(name=f"{layout}_back"), files)


class DataFiles(TreeCase):
    """Models of a repository with data files: `model` and `model_q4` share a tensor."""

    def setUp(self) -> None:
        super().setUp()
        files: dict[str, bytes] = {"config.json": b"{}"}
        for model, names in (("model", "ab"), ("model_q4", "bc")):
            data = wire.DataFile(f"{model}.onnx_data")
            tensors = [data.tensor(name, align=64) for name in names]
            files |= {f"onnx/{model}.onnx": wire.plain(*tensors), f"onnx/{data.location}": bytes(data.data)}
        self.files = files
        self.packed(self.tree(files))

    def test_star_is_the_name_of_the_model(self) -> None:
        files = self.unpacked("--external-data", "*_data")
        self.assertEqual(files, self.files)

    def test_one_name_is_one_file_in_each_folder(self) -> None:
        files = self.unpacked("--external-data", "weights.bin")
        self.assertEqual(sorted(set(files) - set(self.files)), ["onnx/weights.bin"])
        self.assertEqual(len(files["onnx/weights.bin"]), 2 * 1216 + 1200)

    def test_data_file_is_not_linked(self) -> None:
        self.unpacked("--external-data", "*_data")
        for path in (self.folder / "back").rglob("*.onnx_data"):
            self.assertEqual(path.stat().st_nlink, 1)

    def test_each_name_of_a_pattern_is_checked(self) -> None:
        self.tree({"onnx/a..b.onnx": SHARED}, "dots")
        self.packed(self.folder / "dots")
        line = self.fails(USAGE, "onnxar: error[usage.argument]", "unpack", self.output, "-o", f"{self.folder}/back/", "--external-data", "*_data")
        self.assertIn('"a..b.onnx_data" must be a plain file name', line)
        self.assertFalse((self.folder / "back").exists())

    def test_pattern_works_for_a_file(self) -> None:
        one = self.folder / "one.onnx"
        self.succeeds("unpack", self.output, "-o", one, "--model", "onnx/model_q4", "--external-data", "*_data")
        self.assertTrue((self.folder / "one.onnx_data").is_file())


class TooLarge(TreeCase):
    """A model that protobuf cannot read with its data inside."""

    def planned(self, name: str) -> str:
        self.with_64_bits()
        size = 2 << 30
        self.sparse(size)
        named = wire.block(14, wire.pair("onnxar.model.name", name))
        link = wire.DataFile("weights.bin").link(length=size)
        part = wire.Part(wire.initializers(wire.fields_of("w", wire.UINT8, [size], link)), named)
        model = self.write("large.onnx", wire.model(part))
        return self.succeeds("unpack", "-n", model, "-o", f"{self.folder}/back/").stderr

    def test_data_is_where_transformers_js_looks(self) -> None:
        self.assertIn("in onnx/model_q4.onnx_data", self.planned("onnx/model_q4"))
        self.assertIn("in a/onnx/model.onnx_data", self.planned("a/onnx/model"))

    def test_data_elsewhere_is_beside_the_model(self) -> None:
        self.assertIn("in unet/model.onnx.data", self.planned("unet/model"))
        self.assertIn("in xonnx/model.onnx.data", self.planned("xonnx/model"))


if __name__ == "__main__":
    command_line.main()

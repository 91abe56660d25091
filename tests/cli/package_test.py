"""Model packages of ONNX Runtime: `pack` of a folder with a manifest, and `--variant` of `pack` and `replace`."""

from __future__ import annotations

import json
import shutil
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.command_line import FORMAT, USAGE, ToolCase, entries_of, keys_of

OPTION = "session.model_external_initializers_file_folder_path"
ASSET = "sha256:" + "a" * 64


class PackageCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.folder / "package"
        self.data = wire.content(wire.FLOAT, 300, "a")

    def put(self, name: str, data: bytes) -> None:
        self.write(f"package/{name}", data)

    def graph(self, name: str, file: str = "w.bin") -> None:
        self.put(name, wire.plain(wire.fields_of("a", wire.FLOAT, [300], wire.DataFile(file).link(length=1200))))

    def manifest(self, variants: dict[str, str | None], **more: Any) -> bytes:
        """A manifest with a component `c` of these variants, each with the folder of its data."""
        body = {name: self.variant(folder) for name, folder in variants.items()}
        manifest = {"schema_version": "1.0", "components": {"c": {"variants": body}}, **more}
        return json.dumps(manifest, indent=2).encode()

    @staticmethod
    def variant(folder: str | None) -> dict[str, Any]:
        ort: dict[str, Any] = {"model_file": "model.onnx"}
        if folder is not None:
            ort["session_options"] = {"session.intra_op_num_threads": "1", OPTION: folder}
        return {"ep": "CPUExecutionProvider", "executor_info": {"ort": ort}}

    def packed_manifest(self) -> Any:
        return json.loads(entries_of(self.output)["manifest.json"])


class Folders(PackageCase):
    def test_first_variant_is_the_first_model(self) -> None:
        for name in ("a", "z"):
            self.graph(f"{name}/model.onnx")
            self.put(f"{name}/w.bin", self.data)
        self.put("manifest.json", self.manifest({"gone": None, "z": None, "a": None}))
        self.succeeds("pack", self.root, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["a_2", "manifest.json", "a/model.onnx"])
        self.put("genai_config.json", b"{}")
        self.succeeds("pack", self.root, "-o", self.output, "-f")
        self.assertEqual(keys_of(self.output)[-1], "z/model.onnx")

    def test_data_is_found_where_the_package_says(self) -> None:
        for option, folder in ((ASSET, f"shared_assets/{ASSET.replace(':', '-')}"), (ASSET + "/sub", f"shared_assets/{ASSET.replace(':', '-')}/sub"),
                               ("weights", "v/weights"), (".", "v")):  # fmt: skip
            with self.subTest(option=option):
                self.graph("v/model.onnx")
                self.put(f"{folder}/w.bin", self.data)
                self.put("manifest.json", self.manifest({"v": option}))
                done = self.succeeds("pack", self.root, "-o", self.output, "-f")
                self.assertIn('"manifest.json" is packed without the folders of data', done.stderr)
                self.assertEqual(keys_of(self.output), ["a", "manifest.json"])
                self.assertEqual(entries_of(self.output)["a"], self.data)
                ort = self.packed_manifest()["components"]["c"]["variants"]["v"]["executor_info"]["ort"]
                self.assertEqual(ort["session_options"], {"session.intra_op_num_threads": "1"})
                (self.root / folder / "w.bin").unlink()

    def test_data_in_two_places_must_be_equal(self) -> None:
        self.graph("v/model.onnx")
        self.put("v/w.bin", self.data)
        self.put("weights/w.bin", self.data)
        self.put("manifest.json", self.manifest({"v": ASSET}, shared_assets={ASSET: "weights"}))
        self.succeeds("pack", self.root, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["a", "manifest.json"])
        self.put("weights/w.bin", bytes(1200))
        line = self.fails(USAGE, "onnxar: error[usage.argument] ", "pack", self.root, "-o", self.output, "-f")
        self.assertIn('is in "v" and in "weights", with different bytes', line)

    def test_folder_outside_the_package_is_not_read(self) -> None:
        self.graph("v/model.onnx")
        self.write("outside/w.bin", self.data)
        for option in ("../../outside", str(self.folder / "outside"), "sha256:../../outside"):
            with self.subTest(option=option):
                self.put("manifest.json", self.manifest({"v": option}, layout="installed"))
                done = self.fails(FORMAT, "onnxar: error[onnx.external_data.missing] ", "pack", self.root, "-o", self.output)
                self.assertIn("w.bin", done)

    def test_link_in_the_package_does_not_lead_out(self) -> None:
        self.on_posix("its links need a privilege")
        self.graph("v/model.onnx")
        self.write("outside/w.bin", self.data)
        (self.root / "weights").symlink_to(self.folder / "outside")
        self.put("manifest.json", self.manifest({"v": ASSET}, shared_assets={ASSET: "weights"}))
        self.fails(FORMAT, "onnxar: error[onnx.external_data.outside] ", "pack", self.root, "-o", self.output,
                   "--exclude", "weights")  # fmt: skip

    def test_manifest_that_is_not_understood_is_kept(self) -> None:
        self.put("m.onnx", wire.plain(wire.tensor("w")))
        for text, warning in ((b"{", "is not JSON"), (b"\xef\xbb\xbf{}", "byte order mark"), (b'{"a": NaN}', "is not JSON"),
                              (self.manifest({}).replace(b'"1.0"', b'"9.0"'), "is not known"), (b"[1]", None)):  # fmt: skip
            with self.subTest(text=text):
                self.put("manifest.json", text)
                done = self.succeeds("pack", self.root, "-o", self.output, "-f")
                self.assertEqual(entries_of(self.output)["manifest.json"], text)
                self.assertIn(warning or "", done.stderr)
                self.assertEqual("warning" in done.stderr, warning is not None)


class Choices(PackageCase):
    def test_chosen_graphs_are_packed_like_their_folder(self) -> None:
        for name in ("x", "y", "z"):
            self.put(f"{name}/model.onnx", wire.plain(wire.tensor("shared"), wire.tensor(name)))
        self.put("manifest.json", self.manifest({"x": None, "y": None, "z": None}))
        whole, part, expected = self.folder / "whole.onnxar", self.folder / "part", self.folder / "expected.onnxar"
        self.succeeds("pack", self.root, "-o", whole)
        for chosen in (["x", "y"], ["y"], ["z", "x"]):
            with self.subTest(chosen=chosen):
                self.succeeds("pack", whole, *(f"--model={name}/model.onnx" for name in chosen), "-o", self.output, "-f")
                self.assertEqual(list(self.packed_manifest()["components"]["c"]["variants"]), sorted(chosen))
                for name in chosen:
                    shutil.copytree(self.root / name, part / name)
                (part / "manifest.json").write_bytes(entries_of(self.output)["manifest.json"])
                self.succeeds("pack", part, "-o", expected, "-f", "--first", f"{chosen[0]}/model")
                self.assertEqual(self.output.read_bytes(), expected.read_bytes())
                shutil.rmtree(part)

    def test_wrong_choices_are_refused(self) -> None:
        model = self.model(wire.tensor("a"), name="a.onnx")
        archive = self.folder / "family.onnxar"
        self.succeeds("pack", model, "-o", archive)
        self.fails(USAGE, "onnxar: error[usage.no_such_entry] ", "pack", archive, "--model", "v", "-o", self.output)
        self.fails(USAGE, "onnxar: error[usage.argument] ", "pack", model, "--model", "v", "-o", self.output)


class Variants(PackageCase):
    def setUp(self) -> None:
        super().setUp()
        shared = wire.tensor("shared")
        self.models = [self.model(shared, wire.tensor(name), name=f"{name}.onnx") for name in ("fp32", "int8", "int4")]

    def variants(self) -> list[tuple[str, str, str]]:
        """Name, provider and device of each variant."""
        (component,) = self.packed_manifest()["components"].values()
        return [(name, body["ep"], body.get("device", "")) for name, body in component["variants"].items()]

    def test_pack_writes_a_manifest(self) -> None:
        done = self.succeeds("pack", *self.models[:2], "-o", self.output, "--variant", "fp32=cpu", "--variant", "int8.onnx=cuda:gpu")
        self.assertIn("equal weights saved 1.2 kB", done.stderr)
        self.assertNotIn("warning", done.stderr)
        self.assertEqual(self.variants(), [("fp32", "CPUExecutionProvider", ""), ("int8", "CUDAExecutionProvider", "gpu")])
        self.succeeds("check", "--data", "--strict", self.output)

    def test_one_model_gets_a_name(self) -> None:
        self.succeeds("pack", self.models[0], "-o", self.output, "--variant", "fp32=openvino:NPU")
        self.assertEqual(self.variants(), [("fp32", "OpenVINOExecutionProvider", "npu")])

    def test_variant_that_is_never_chosen_is_warned_of(self) -> None:
        done = self.succeeds("pack", *self.models[:2], "-o", self.output, "--variant", "fp32=cpu", "--variant", "int8=cpu")
        self.assertIn('the variant "int8" of "model" can only be chosen by name', done.stderr)

    def test_folder_with_variants_keeps_its_manifest(self) -> None:
        for name in ("a", "b"):
            self.put(f"{name}/model.onnx", self.models[0].read_bytes())
        self.put("manifest.json", self.manifest({"a": None}, package_name="mine"))
        self.succeeds("pack", self.root, "-o", self.output, "--variant", "a=qnn", "--variant", "b=cpu")
        manifest = self.packed_manifest()
        self.assertEqual(manifest["package_name"], "mine")
        self.assertEqual(manifest["components"]["c"]["variants"]["a"]["ep"], "QNNExecutionProvider")
        self.assertEqual(manifest["components"]["b"]["variants"]["model"]["ep"], "CPUExecutionProvider")

    def test_replace_changes_graph_and_manifest_at_once(self) -> None:
        self.succeeds("pack", *self.models[:2], "-o", self.output, "--variant", "fp32=cpu", "--variant", "int8=cuda")
        before = self.output.read_bytes()
        done = self.succeeds("replace", self.output, self.models[2], "--model", "int4", "--variant", "int4=qnn:npu")
        self.assertIn("equal weights saved 1.2 kB", done.stderr)
        self.assertEqual(self.variants()[-1], ("int4", "QNNExecutionProvider", "npu"))
        self.succeeds("check", "--data", self.output)
        self.succeeds("replace", self.output, "--variant", "int4=cpu")
        self.assertEqual(self.variants()[-1], ("int4", "CPUExecutionProvider", ""))
        self.succeeds("replace", self.output, "--remove", "int8.onnx")
        self.assertEqual([name for name, _, _ in self.variants()], ["fp32", "int4"])
        self.succeeds("check", "--data", self.output)
        for _ in range(3):
            self.succeeds("undo", self.output, "--force")
        self.assertEqual(self.output.read_bytes(), before)

    def test_last_variant_takes_the_manifest_along(self) -> None:
        self.succeeds("pack", *self.models[:2], "-o", self.output, "--variant", "int8=cuda")
        self.succeeds("replace", self.output, "--remove", "int8.onnx")
        self.assertNotIn("manifest.json", keys_of(self.output))

    def test_wrong_variants_change_nothing(self) -> None:
        self.succeeds("pack", *self.models[:2], "-o", self.output)
        before = self.output.read_bytes()
        for text in ("fp32", "fp32=", "=cpu", "fp32=cpuu", "fp32=cpu:tpu", "none=cpu"):
            with self.subTest(text=text):
                self.fails(USAGE, "onnxar: error[usage.argument] ", "replace", self.output, "--variant", text)
                self.fails(USAGE, "onnxar: error[usage.argument] ", "pack", *self.models[:2], "-o", self.folder / "no",
                           "--variant", text)  # fmt: skip
        self.assertEqual(self.output.read_bytes(), before)
        self.assertFalse((self.folder / "no").exists())

    def test_manifest_with_a_fault_is_not_edited(self) -> None:
        for text in (b"{", b"{}", self.manifest({"x": None}).replace(b'"components"', b'"components": {}, "components"')):
            with self.subTest(text=text):
                file = self.write("m.json", text)
                fault = f'onnxar: error[usage.argument] {self.output}: entry "manifest.json"'
                self.fails(USAGE, fault, "pack", *self.models[:2], "-o", self.output, "--add", f"manifest.json={file}",
                           "--variant", "fp32=cpu")  # fmt: skip


if __name__ == "__main__":
    command_line.main()

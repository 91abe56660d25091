"""Folders of links, as ONNX Runtime, onnx, onnx_ir and GenAI open them: each row of the table of layouts."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import unittest
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
from genai_test import CONFIG, Decoder, tokens_of
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest, weights

import onnxar
import onnxar.onnxruntime

OPTION = "session.model_external_initializers_file_folder_path"
X = np.ones((1, 16), np.float32)


def model_of(seed: int) -> onnx.ModelProto:
    """Returns a model that multiplies by its own weight, and adds a table that all models share."""
    stored = [numpy_helper.from_array(weights(16, 300, seed=seed), "w"), numpy_helper.from_array(weights(300, seed=99), "table")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "table"], ["y"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, ["b", 16])], [value("y", TensorProto.FLOAT, ["b", 300])], stored)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def result_of(model: Any) -> np.ndarray:
    (y,) = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": X})
    return y


def opens_in_onnx(path: pathlib.Path) -> bool:
    try:
        onnx.load(str(path))
    except Exception:
        return False
    return True


def opens_in_ir(path: pathlib.Path) -> bool:
    try:
        return all(value.const_value.numpy().size for value in onnx_ir.load(path).graph.initializers.values())
    except Exception:
        return False


class FoldersTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.store, self.out = self.folder / "store", self.folder / "out"
        self.store.mkdir()
        self.archive = self.store / "a.onnxar"

    def pack(self, models: Mapping[str, int], files: Mapping[str, Any] = {}) -> None:
        tree = self.folder / "tree"
        self.models = models
        for name, seed in models.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            onnx.save(model_of(seed), tree / name)
        for name, value in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(json.dumps(value))
        onnxar.pack(tree, self.archive)
        shutil.rmtree(tree)

    def assert_runs(self, onnx_opens: bool) -> None:
        for name, seed in self.models.items():
            path = self.out / name
            np.testing.assert_array_equal(result_of(str(path)), result_of(model_of(seed).SerializeToString()))
            self.assertEqual([opens_in_onnx(path), opens_in_ir(path)], [onnx_opens, onnx_opens], name)
            self.assertTrue(onnxar.verify_link(path))
            self.assertEqual([each for each in onnxar.check(path, data=True) if each.severity == "error"], [])

    def shares_blocks(self) -> bool:
        """True if this file system can share blocks. Links that need the archive then get a copy."""
        return any(path.stat().st_size == self.archive.stat().st_size for path in self.out.rglob("*.onnxar") if not path.is_symlink())


REPOSITORY = {"onnx/model.onnx": 1, "onnx/model_q4.onnx": 2}
PIPELINE = {"unet/model.onnx": 1, "vae_decoder/model.onnx": 2, "text_encoder/model.onnx": 3}


class Layouts(FoldersTest):
    def test_copy_beside_links_of_one_folder(self) -> None:
        self.pack(REPOSITORY, {"config.json": {}})
        onnxar.link(self.archive, f"{self.out}/", copy=True)
        self.assert_runs(True)
        self.assertEqual(json.loads((self.out / "config.json").read_text()), {})
        self.assertTrue(self.archive.exists())
        self.assertEqual([path.name for path in self.store.iterdir()], ["a.onnxar"])
        self.assertEqual((self.out / "onnx/a.onnxar").stat().st_nlink, 1)

    def test_archive_moved_beside_links(self) -> None:
        self.pack(REPOSITORY)
        onnxar.link(self.archive, f"{self.out}/", move=True)
        self.assert_runs(True)
        self.assertEqual(list(self.store.iterdir()), [])
        shutil.move(self.out, self.folder / "moved")
        self.out = self.folder / "moved"
        self.assert_runs(True)

    def test_archive_stays_or_shares_its_blocks(self) -> None:
        self.pack(REPOSITORY)
        onnxar.link(self.archive, f"{self.out}/")
        self.assert_runs(self.shares_blocks())

    def test_links_beside_the_archive(self) -> None:
        self.pack({"a.onnx": 1, "b.onnx": 2}, {"config.json": {}})
        self.out = self.store
        os.rename(self.archive, self.store / "family.onnxar")
        onnxar.link(self.store / "family.onnxar", self.store)
        self.assert_runs(True)
        self.assertEqual({path.name for path in self.store.iterdir()}, {"family.onnxar", "a.onnx", "b.onnx", "config.json"})

    def test_pairs_of_symbolic_links(self) -> None:
        self.pack(PIPELINE, {"model_index.json": {}, "unet/config.json": {}})
        onnxar.link(self.archive, f"{self.out}/")
        self.assert_runs(False)
        beside = {"a.unet--model.onnx", "a.vae_decoder--model.onnx", "a.text_encoder--model.onnx"}
        self.assertEqual({path.name for path in self.store.iterdir()}, {"a.onnxar", *beside})
        self.assertEqual(os.readlink(self.out / "unet/model.onnx"), "../../store/a.unet--model.onnx")
        self.assertEqual(os.readlink(self.out / "unet/a.onnxar"), "../../store/a.onnxar")

    def test_pipeline_with_copies(self) -> None:
        self.pack(PIPELINE)
        onnxar.link(self.archive, f"{self.out}/", copy=True)
        self.assert_runs(True)

    def test_moved_archive_of_a_pipeline(self) -> None:
        self.pack({**PIPELINE, "top.onnx": 4})
        onnxar.link(self.archive, f"{self.out}/", move=True)
        self.assertEqual(list(self.store.iterdir()), [])
        self.models = PIPELINE
        self.assert_runs(False)
        self.models = {"top.onnx": 4}
        self.assert_runs(True)

    def test_folder_and_archive_move_together(self) -> None:
        self.pack(PIPELINE)
        onnxar.link(self.archive, f"{self.out}/")
        both = self.folder / "both"
        both.mkdir()
        for name in ("out", "store"):
            os.rename(self.folder / name, both / name)
        self.out = both / "out"
        self.assert_runs(False)


def variant(**ort_info: Any) -> dict[str, Any]:
    return {"ep": "CPUExecutionProvider", "executor_info": {"ort": ort_info}}


@unittest.skipUnless(hasattr(ort, "ModelPackageContext"), "ONNX Runtime has model packages since 1.32")
class Packages(FoldersTest):
    MODELS = {"unet/cpu/model.onnx": 1, "unet/int8/m.onnx": 2, "text/cpu/model.onnx": 3, "shared_assets/sha256-" + "b" * 64 + "/model.onnx": 4}
    FILES = {
        "unet/component.json": {"variants": {"cpu": variant(model_file="model.onnx", session_options={"session.intra_op_thread_count": "1"})}},
        "text/cpu/ort_info.json": {"model_file": "model.onnx"},
        "manifest.json": {
            "schema_version": "1.0",
            "components": {
                "unet": "unet",
                "int8": {"variants": {"v": {"variant_directory": "unet/int8", **variant(model_file="m.onnx", session_options={OPTION: "old"})}}},
                "text": {"variants": {"cpu": {"variant_directory": "text/cpu", "ep": "CPUExecutionProvider", "executor_info": {"ort": "ort_info.json"}}}},
                "asset": {"variants": {"empty": {"variant_directory": "empty", **variant(model_file="sha256:" + "b" * 64 + "/model.onnx")}}},
            },
            "shared_assets": {"sha256:" + "c" * 64: "shared_assets/weights"},
        },
    }  # fmt: skip
    COMPONENTS = {"unet": 1, "int8": 2, "text": 3, "asset": 4}

    def assert_package_runs(self, root: pathlib.Path) -> None:
        context = ort.ModelPackageContext(str(root))
        for component, seed in self.COMPONENTS.items():
            selected = context.select_component(component, ort.ModelPackageOptions(ort.SessionOptions()))
            (y,) = selected.create_session().run(None, {"x": X})
            np.testing.assert_array_equal(y, result_of(model_of(seed).SerializeToString()), component)

    def test_installed_package(self) -> None:
        self.pack(self.MODELS, self.FILES)
        onnxar.link(self.archive, f"{self.out}/")
        self.assert_package_runs(self.out)
        self.assertEqual([path.name for path in self.store.iterdir()], ["a.onnxar"])
        manifest = json.loads((self.out / "manifest.json").read_text())
        self.assertEqual([manifest["layout"], manifest["shared_assets"]], ["installed", {}])
        options = json.loads((self.out / "unet/component.json").read_text())["variants"]["cpu"]["executor_info"]["ort"]["session_options"]
        self.assertEqual(options, {"session.intra_op_thread_count": "1", OPTION: "../../../store"})
        for name in self.MODELS:
            self.assertTrue(onnxar.verify_link(self.out / name))
            self.assertEqual([each for each in onnxar.check(self.out / name, data=True) if each.severity == "error"], [])

    def test_package_and_archive_move_together(self) -> None:
        self.pack(self.MODELS, self.FILES)
        onnxar.link(self.archive, f"{self.out}/")
        both = self.folder / "both"
        both.mkdir()
        for name in ("out", "store"):
            os.rename(self.folder / name, both / name)
        self.assert_package_runs(both / "out")
        self.assertTrue(onnxar.verify_link(both / "out/text/cpu/model.onnx"))

    def test_link_is_stale_after_archive_is_rewritten(self) -> None:
        self.pack(self.MODELS, self.FILES)
        onnxar.link(self.archive, f"{self.out}/")
        onnxar.pack(self.archive, self.archive, overwrite=True, threshold=1 << 20)
        with self.assertRaises(onnxar.Error) as caught:
            onnxar.verify_link(self.out / "text/cpu/model.onnx")
        self.assertEqual(caught.exception.code, "onnx.link.stale")

    def test_package_takes_its_archive_with_it(self) -> None:
        self.pack(self.MODELS, self.FILES)
        onnxar.link(self.archive, f"{self.out}/", copy=True)
        self.assert_package_runs(self.out)
        moved = self.folder / "moved"
        onnxar.link(self.archive, f"{moved}/", move=True)
        self.assert_package_runs(moved)
        self.assertEqual([path.parent for path in moved.rglob("*.onnxar")], [moved])

    def test_portable_package_has_archive_beside_links(self) -> None:
        files = {"manifest.json": {"schema_version": "1.0", "components": {"m": {"variants": {"cpu": {"variant_directory": ".", **variant(model_file="m.onnx")}}}}}}  # fmt: skip
        self.pack({"m.onnx": 1}, files)
        onnxar.link(self.archive, f"{self.out}/", copy=True)
        self.COMPONENTS = {"m": 1}
        self.assert_package_runs(self.out)
        self.assert_runs(True)
        self.assertEqual(json.loads((self.out / "manifest.json").read_text()), files["manifest.json"])

    def test_temporary_installed_package(self) -> None:
        self.pack(self.MODELS, self.FILES)
        with onnxar.onnxruntime.installed_package(self.archive) as root:
            self.assert_package_runs(pathlib.Path(root))
        self.assertFalse(os.path.exists(root))
        self.assertEqual([path.name for path in self.store.iterdir()], ["a.onnxar"])

    def test_archive_without_a_package_is_refused(self) -> None:
        self.pack(REPOSITORY)
        with self.assertRaises(onnxar.Error) as caught, onnxar.onnxruntime.installed_package(self.archive):
            pass
        self.assertEqual(caught.exception.code, "usage.argument")


class GenAI(FoldersTest):
    def packed(self) -> list[int]:
        tree = self.folder / "tree"
        tree.mkdir()
        onnx.save(Decoder(101).model, tree / "target.onnx")
        (tree / "genai_config.json").write_text(json.dumps(CONFIG))
        tokens = tokens_of(tree, "target.onnx")
        onnxar.pack(tree, self.archive)
        return tokens

    def test_archive_in_another_folder(self) -> None:
        tokens = self.packed()
        onnxar.link(self.archive, f"{self.out}/")
        self.assertEqual(tokens_of(self.out, "target.onnx"), tokens)
        if not self.shares_blocks():
            options = json.loads((self.out / "genai_config.json").read_text())["model"]["decoder"]["session_options"]
            self.assertEqual(options, {OPTION: "../store", "provider_options": []})
        self.assertTrue(onnxar.verify_link(self.out / "target.onnx"))

    def test_option_suffices_to_find_the_archive(self) -> None:
        tokens = self.packed()
        onnxar.link(self.archive, f"{self.out}/")
        if self.shares_blocks():
            self.skipTest("the archive is in the folder")
        data = (self.out / "target.onnx").read_bytes()
        (self.out / "target.onnx").unlink()
        (self.out / "a.onnxar").unlink()
        (self.out / "target.onnx").write_bytes(data)
        self.assertEqual(tokens_of(self.out, "target.onnx"), tokens)

    def test_archive_in_the_folder(self) -> None:
        tokens = self.packed()
        onnxar.link(self.archive, f"{self.out}/", move=True)
        self.assertEqual(tokens_of(self.out, "target.onnx"), tokens)
        self.assertEqual(json.loads((self.out / "genai_config.json").read_text()), CONFIG)


if __name__ == "__main__":
    unittest.main()

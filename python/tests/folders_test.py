"""Model packages: `pack` of folders and `variants`, and that ONNX Runtime opens the manifest that is written."""

import json
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest

import onnxar


def model(seed: int) -> onnx.ModelProto:
    weights = np.random.default_rng(seed).random((4, 256), dtype=np.float32)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name, n in (("x", 4), ("y", 256)))
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Package(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for name, seed in (("fp32", 1), ("int8", 2)):
            onnx.save(model(seed), self.folder / f"{name}.onnx")
        self.archive = self.folder / "p/p.onnxar"
        self.archive.parent.mkdir()
        self.files = [self.folder / "fp32.onnx", self.folder / "int8.onnx"]

    def manifest(self) -> dict:
        return json.loads(onnxar.cat(self.archive, "manifest.json"))

    def test_folder_is_packed_beside_it(self) -> None:
        root = self.folder / "repo"
        (root / "onnx").mkdir(parents=True)
        for name in ("model", "model_q4"):
            onnx.save(model(1), root / f"onnx/{name}.onnx")
        (root / "notes.tmp").write_bytes(b"x")
        report = onnxar.pack(root, exclude=["*.tmp"], first="onnx/model_q4")
        self.assertEqual(report.model_path, self.folder / "repo.onnxar")
        self.assertEqual((report.graphs, report.side_files, report.shared_bytes), (1, 0, 4096))
        with onnxar.open(report.model_path) as archive:
            self.assertEqual(archive.graphs(), ["onnx/model_q4.onnx", "onnx/model.onnx"])
        self.refused("usage.argument", onnxar.pack, root, exclude="*.tmp")

    def test_variants_are_written_and_removed(self) -> None:
        onnxar.pack(self.files, self.archive, variants={"fp32": "cpu", "int8": "cuda:gpu"})
        variants = self.manifest()["components"]["model"]["variants"]
        self.assertEqual([(name, body["ep"]) for name, body in variants.items()],
                         [("fp32", "CPUExecutionProvider"), ("int8", "CUDAExecutionProvider")])  # fmt: skip
        report = onnxar.replace(self.archive, self.files[0], graph="int4", variants={"int4": "qnn:npu"})
        self.assertEqual(report.shared_bytes, 4096)
        onnxar.replace(self.archive, remove=["int8.onnx"])
        self.assertEqual(list(self.manifest()["components"]["model"]["variants"]), ["fp32", "int4"])
        onnxar.replace(self.archive, variants={"int4": "cpu"})
        self.assertNotIn("device", self.manifest()["components"]["model"]["variants"]["int4"])

    @unittest.skipUnless(hasattr(onnxruntime, "ModelPackageContext"), "ONNX Runtime before 1.32 has no model packages")
    def test_onnx_runtime_opens_links_and_manifest(self) -> None:
        onnxar.pack(self.files, self.archive, variants={"int8": "cuda:gpu", "fp32": "cpu"})
        folder = self.archive.parent
        for name in ("int8", "fp32"):
            onnxar.link(self.archive, folder / f"{name}.onnx", graph=name)
        (folder / "manifest.json").write_text(json.dumps(self.manifest()))
        package = onnxruntime.ModelPackageContext(str(folder))
        self.assertEqual(package.get_variant_names("model"), ["int8", "fp32"])
        options = onnxruntime.SessionOptions()
        options.add_provider("CPUExecutionProvider", {})
        chosen = package.select_component("model", onnxruntime.ModelPackageOptions(options))
        self.assertEqual(chosen.get_selected_variant_name(), "fp32")
        (y,) = chosen.create_session().run(None, {"x": np.ones((1, 4), np.float32)})
        weights = numpy_helper.to_array(model(1).graph.initializer[0])
        np.testing.assert_allclose(y, weights.sum(axis=0, keepdims=True), rtol=1e-5)
        self.assertEqual(Path(chosen.get_selected_variant_folder_path()).resolve(), folder.resolve())


if __name__ == "__main__":
    unittest.main()

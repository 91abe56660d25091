"""The functions of onnx that `register` extends, their arguments, and the code that uses the others with archives."""

from __future__ import annotations

import io
import subprocess
import sys
import traceback
import unittest
import unittest.mock

import numpy as np
import onnx
import onnx.utils
from onnx.reference import ReferenceEvaluator
from support import ArchiveTest, matmul_model, weights

import onnxar


class Registry(ArchiveTest):
    @staticmethod
    def made() -> onnx.ModelProto:
        return onnx.shape_inference.infer_shapes(matmul_model())  # onnx cuts out values of known shapes

    def setUp(self) -> None:
        super().setUp()
        onnxar.register()

    def test_load_and_save_are_reached_by_name_and_format(self):
        for load in (onnx.load, onnx.load_model):
            self.assertEqual(load(self.path), self.model)
        for save in (onnx.save, onnx.save_model):
            save(self.model, self.folder / "s.onnxar")
            save(self.model, self.folder / "s.other", format="onnxar")
            self.assertEqual((self.folder / "s.onnxar").read_bytes(), self.path.read_bytes())
            self.assertEqual((self.folder / "s.other").read_bytes(), self.path.read_bytes())
        self.assertEqual(onnx.load_model_from_string(self.path.read_bytes(), format="onnxar"), self.model)

    def test_functions_with_paths_take_archives(self):
        other = self.folder / "other.onnxar"
        onnx.checker.check_model(str(self.path), full_check=True)
        onnx.utils.extract_model(self.path, other, ["x"], ["product"])
        self.assertEqual([node.op_type for node in onnxar.load(other).graph.node], ["MatMul"])
        self.assertEqual(self.names(), {"m.onnxar", "other.onnxar"})

    def test_wrong_model_is_refused_by_check_model(self):
        model = matmul_model()
        model.graph.node[0].op_type = "Unknown"
        onnxar.save(model, self.path, overwrite=True)
        with self.assertRaisesRegex(onnx.checker.ValidationError, "Unknown"):
            onnx.checker.check_model(self.path)
        self.assertEqual(self.names(), {"m.onnxar"})

    def test_shapes_are_inferred_for_both_kinds_of_files(self):
        plain, archive = self.folder / "plain.onnx", self.folder / "other.onnxar"
        onnxar.save(matmul_model(), self.path, overwrite=True)
        onnxar.unpack(self.path, plain)
        for source, target in ((self.path, archive), (plain, archive), (self.path, self.folder / "made.onnx"), (self.path, ""), (plain, "")):
            with self.subTest(source=source, target=target):
                onnx.shape_inference.infer_shapes_path(source, target, data_prop=True)
                found = onnx.load(target or source)
                self.assertLessEqual({"product", "sum"}, {value.name for value in found.graph.value_info})
                np.testing.assert_array_equal(onnx.numpy_helper.to_array(found.graph.initializer[0]), weights(64, 64))
        self.assertEqual(self.names(), {"m.onnxar", "plain.onnx", "other.onnxar", "made.onnx"})

    def test_shapes_are_inferred_for_name_of_255_bytes(self):
        onnxar.save(matmul_model(), self.path, overwrite=True)
        long = self.folder / ("m" * 248 + ".onnxar")
        onnx.shape_inference.infer_shapes_path(self.path, long)
        onnx.checker.check_model(long)
        self.assertLessEqual({"product", "sum"}, {value.name for value in onnx.load(long).graph.value_info})
        self.assertEqual(self.names(), {"m.onnxar", long.name})

    def test_refused_save_keeps_marks_of_external_data(self):
        onnx.convert_model_to_external_data(self.model, size_threshold=0)
        before = self.model.SerializeToString()
        with self.assertRaises(FileNotFoundError):
            onnx.save(self.model, self.folder / "none" / "s.onnxar")
        self.assertEqual(self.model.SerializeToString(), before)

    def test_negative_threshold_moves_all_as_in_onnx(self):
        onnx.save(self.model, self.folder / "s.onnxar", save_as_external_data=True, size_threshold=-1)
        self.assertEqual(onnx.load(self.folder / "s.onnxar"), self.model)

    def test_errors_hide_passwords_of_addresses(self):
        for address in ("https://user:secret@127.0.0.1:9/m.onnxar", "memory://user:secret@none/m.onnxar?key=secret"):
            for call in (onnx.load, onnx.checker.check_model, onnx.shape_inference.infer_shapes_path,
                         lambda to: onnx.save(self.model, to), lambda to: onnxar.put(self.path, to.replace("memory", "s3")),
                         lambda to: onnxar.put(self.folder / "none.onnxar", to), lambda to: onnx.utils.extract_model(to, self.folder / "x", [], [])):  # fmt: skip
                with self.assertRaises(Exception) as raised:
                    call(address)
                self.assertNotIn("secret", "".join(traceback.format_exception(raised.exception)), call)

    def test_shapes_of_large_archive_go_to_a_link(self):
        """Refuses to write a plain model, because it could not be read. float16 of ONNX Runtime and
        onnxconverter_common ask for one."""
        onnxar.save(matmul_model(), self.path, overwrite=True)
        with unittest.mock.patch.object(onnx.checker, "MAXIMUM_PROTOBUF", 1000):
            onnx.shape_inference.infer_shapes_path(self.path, self.folder / "made.onnx")
        self.assertEqual(self.names(), {"m.onnxar", "made.onnx"})
        self.assertTrue(onnxar.verify_link(self.folder / "made.onnx"))
        self.assertLessEqual({"product", "sum"}, {value.name for value in onnx.load(self.folder / "made.onnx").graph.value_info})

    def test_refused_shapes_leave_nothing_behind(self):
        model = matmul_model()
        model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 7
        onnxar.save(model, self.path, overwrite=True)
        before = self.path.read_bytes()
        for target in ("", self.folder / "other.onnxar", self.folder / "other.onnx"):
            with self.assertRaises(onnx.shape_inference.InferenceError):
                onnx.shape_inference.infer_shapes_path(self.path, target, strict_mode=True, data_prop=True)
            self.assertEqual(self.names(), {"m.onnxar"})
        self.assertEqual(self.path.read_bytes(), before)

    def test_extract_model_is_reached_without_checks(self):
        out = self.folder / "part.onnxar"
        onnx.utils.extract_model(self.path, out, ["x"], ["product"], check_model=False, infer_shapes=False)
        self.assertEqual([node.op_type for node in onnxar.load(out).graph.node], ["MatMul"])

    def test_functions_imported_before_are_reached(self):
        script = """
            import sys
            from onnx import load, load_model, save_model
            from onnx.checker import check_model
            from onnx.shape_inference import infer_shapes_path
            import onnxar
            onnxar.register()
            check_model(sys.argv[1])
            infer_shapes_path(sys.argv[1])
            save_model(load(sys.argv[1]), sys.argv[2], save_as_external_data=True)
            assert load_model(sys.argv[2]) == load(sys.argv[1])
        """
        script = "\n".join(line.strip() for line in script.splitlines())
        subprocess.run([sys.executable, "-c", script, self.path, self.folder / "copy.onnxar"], check=True)
        self.assertEqual(self.names(), {"m.onnxar", "copy.onnxar"})


class ExternalData(Registry):
    """Archives, with the arguments `save_as_external_data` and `load_external_data`."""

    OPTIONS: tuple[dict[str, object], ...] = (
        {},
        {"location": "w.data"},
        {"all_tensors_to_one_file": False},
        {"size_threshold": 100},
        {"convert_attribute": True},
    )

    def assert_same_data(self, model: onnx.ModelProto) -> None:
        """onnx leaves a data_location of DEFAULT in a tensor whose data it loaded."""
        for before, after in zip(self.made().graph.initializer, model.graph.initializer, strict=True):
            self.assertEqual(after.raw_data, before.raw_data)

    def test_all_data_is_in_the_archive(self):
        for options in self.OPTIONS:
            with self.subTest(options):
                onnx.save(self.model, self.folder / "s.onnxar", save_as_external_data=True, **options)
                self.assertEqual(self.names(), {"m.onnxar", "s.onnxar"})
                self.assertEqual(self.model, self.made(), "the message keeps its data")
                self.assertEqual(onnx.load(self.folder / "s.onnxar"), self.model)
        onnx.save(self.model, self.folder / "s.onnxar", save_as_external_data=True, size_threshold=100)
        with onnxar.open(self.folder / "s.onnxar") as archive:
            self.assertIn("b", [entry.name for entry in archive.entries()])

    def test_marked_tensors_are_saved(self):
        """ONNX Runtime's tools mark tensors, and leave the rest to onnx.save."""
        onnx.external_data_helper.convert_model_to_external_data(self.model, location="w.data", convert_attribute=True)
        onnx.save(self.model, self.folder / "s.onnxar")
        self.assertEqual(self.names(), {"m.onnxar", "s.onnxar"})
        self.assertEqual(onnx.load(self.folder / "s.onnxar"), self.made())

    def test_refusal_leaves_nothing_behind(self):
        self.model.graph.initializer[0].dims[0] = 65  # more than its data
        for target, options in ((self.folder / "s.onnxar", {}), (self.folder / "s", {"format": "onnxar"}), (self.path, {})):
            before = self.model.SerializeToString()
            self.refused("onnx.tensor.length", onnx.save, self.model, target, save_as_external_data=True, location="w.data", **options)
            self.assertEqual(self.names(), {"m.onnxar"})
            self.assertEqual(self.model.SerializeToString(), before)
        self.assertEqual(onnx.load(self.path), self.made())

    def test_data_that_was_not_loaded_is_beside_the_output(self):
        onnx.save(self.made(), self.folder / "plain.onnx", save_as_external_data=True, location="plain.data")
        onnx.save(onnx.load(self.folder / "plain.onnx", load_external_data=False), self.folder / "s.onnxar")
        self.assertEqual(onnx.load(self.folder / "s.onnxar"), self.made())

    def test_model_without_its_weights_is_a_link(self):
        model = onnx.load(self.path, load_external_data=False)
        self.assertLess(model.ByteSize(), 4096)
        onnx.save(model, self.folder / "linked.onnx")
        self.assertTrue(onnxar.verify_link(self.folder / "linked.onnx"))
        onnx.checker.check_model(self.folder / "linked.onnx")
        onnx.save(model, self.folder / "s.onnxar")
        self.assertEqual(onnx.load(self.folder / "s.onnxar"), self.made())
        onnx.load_external_data_for_model(model, str(self.folder))
        self.assert_same_data(model)

    def test_files_of_other_names_are_treated_as_before(self):
        model = self.made()
        onnx.save(model, self.folder / "plain.onnx", save_as_external_data=True, location="plain.data")
        self.assertEqual(self.names(), {"m.onnxar", "plain.onnx", "plain.data"})
        self.assert_same_data(onnx.load(self.folder / "plain.onnx"))
        onnx.checker.check_model(self.folder / "plain.onnx")
        with (self.folder / "f").open("w+b") as file:
            onnx.save(self.made(), file)
            file.seek(0)
            self.assertEqual(onnx.load(file), self.made())

    def test_file_objects_are_taken(self):
        with (self.folder / "f.onnxar").open("w+b") as file:
            onnx.save(self.made(), file, save_as_external_data=True)
            for loads in (True, False):
                file.seek(0)
                self.assertEqual(onnx.load(file, load_external_data=loads), self.made())
        onnx.save(self.made().SerializeToString(), stream := io.BytesIO(), "onnxar")
        self.assertEqual(onnx.load(io.BytesIO(stream.getvalue()), "onnxar"), self.made())
        self.assertEqual(self.names(), {"m.onnxar", "f.onnxar"})

    def test_other_messages_are_refused(self):
        self.refused("usage.argument", onnx.save, self.model.graph, self.folder / "s.onnxar")
        self.assertEqual(self.names(), {"m.onnxar"})


class TwoLines(Registry):
    def test_check_model(self):
        onnx.checker.check_model(onnxar.load(self.path))

    def test_extract_model(self):
        part = onnx.utils.Extractor(onnxar.load(self.path)).extract_model(["x"], ["product"])
        onnxar.save(part, self.folder / "part.onnxar")
        found = ReferenceEvaluator(onnxar.load(self.folder / "part.onnxar"))
        x = weights(2, 64, seed=3)
        np.testing.assert_allclose(found.run(None, {"x": x})[0], x @ weights(64, 64), rtol=1e-4, atol=1e-4)

    def test_shape_inference_reads_and_moves_no_weight(self):
        onnxar.save(matmul_model(), self.path, overwrite=True)
        with onnxar.edit(self.path) as e:
            e.model.CopyFrom(onnx.shape_inference.infer_shapes(e.model))
        self.assertEqual(e.report.bytes_added, 0)
        names = {value.name for value in onnxar.load(self.path).graph.value_info}
        self.assertLessEqual({"product", "sum"}, names)
        self.assertEqual({finding.severity for finding in onnxar.check(self.path, data=True)}, {"note"})


if __name__ == "__main__":
    unittest.main()

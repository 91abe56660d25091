"""Unmodified ONNX Runtime runs archives: through links in memory and in files, and with weights handed over."""

from __future__ import annotations

import inspect
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
from building import archive
from onnx import TensorProto, helper, numpy_helper
from support import ArchiveTest, FolderTest, matmul_model, weights

import onnxar
import onnxar.numpy
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]


def quiet(**entries: str) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(f"session.{key}", value)
    return options


class RuntimeTest(ArchiveTest):
    @staticmethod
    def made() -> onnx.ModelProto:
        return matmul_model(256)

    def setUp(self) -> None:
        super().setUp()
        self.x = weights(3, 256, seed=1)

    def outputs(self, session: ort.InferenceSession) -> list[np.ndarray]:
        return session.run(None, {"x": self.x})

    def assert_same(self, session: ort.InferenceSession, options: ort.SessionOptions | None = None) -> None:
        """Expects the results of the inline model, bit for bit."""
        inline = ort.InferenceSession(self.model.SerializeToString(), options or quiet(), providers=CPU)
        for ours, theirs in zip(self.outputs(session), self.outputs(inline), strict=True):
            self.assertEqual((ours.dtype, ours.shape, ours.tobytes()), (theirs.dtype, theirs.shape, theirs.tobytes()))


class Sessions(RuntimeTest):
    def test_unknown_arguments_are_refused(self):
        for name in ("grapf", "provider"):
            with self.assertRaisesRegex(TypeError, f"InferenceSession has no argument '{name}'"):
                onnxar.onnxruntime.InferenceSession(self.path, providers=CPU, **{name: "x"})
        self.outputs(onnxar.onnxruntime.InferenceSession(self.path, providers=CPU, enable_fallback=0, disabled_optimizers=["ConstantFolding"]))

    def test_session_equals_inline_model(self):
        for disabled in ("0", "1"):
            options = quiet(disable_prepacking=disabled)
            session = onnxar.onnxruntime.InferenceSession(self.path, options, providers=CPU)
            self.assertIsInstance(session, ort.InferenceSession)
            self.assert_same(session, options)

    def test_all_arguments_are_those_of_onnxruntime(self):
        theirs, ours = (inspect.signature(kind.__init__).parameters.values()
                        for kind in (ort.InferenceSession, onnxar.onnxruntime.InferenceSession))  # fmt: skip
        self.assertEqual([(each.name, each.kind) for each in ours if each.name not in ("graph", "component", "variant", "cache")], [(each.name, each.kind) for each in theirs])
        by_name = onnxar.onnxruntime.InferenceSession(
            path_or_bytes=str(self.path), sess_options=quiet(), providers=CPU, provider_options=[{}]
        )
        by_place = onnxar.onnxruntime.InferenceSession(self.path, quiet(), CPU, [{}], disabled_optimizers=["ConstantFolding"])
        bare = onnxar.onnxruntime.InferenceSession(self.path)
        for session in (by_name, by_place, bare):
            self.assert_same(session)

    def test_the_weights_are_mapped_from_the_archive(self):
        session = onnxar.onnxruntime.InferenceSession(self.path, quiet(disable_prepacking="1"), providers=CPU)
        self.assertIn(str(self.path), pathlib.Path("/proc/self/maps").read_text())
        self.assert_same(session, quiet(disable_prepacking="1"))

    def test_a_symlink_as_in_a_cache_of_the_hub_runs(self):
        blob = self.folder / "blobs" / "0123abc"
        snapshot = self.folder / "snapshots" / "main" / "model.onnxar"
        for path in (blob, snapshot):
            path.parent.mkdir(parents=True)
        self.path.rename(blob)
        snapshot.symlink_to(os.path.relpath(blob, snapshot.parent))
        self.assert_same(onnxar.onnxruntime.InferenceSession(snapshot, quiet(), providers=CPU))

    def test_relative_path_and_unusual_letters_run(self):
        other = self.folder / "with späces" / "mödel 1.onnxar"
        other.parent.mkdir()
        self.path.rename(other)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.assert_same(onnxar.onnxruntime.InferenceSession("with späces/mödel 1.onnxar", quiet(), providers=CPU))

    def test_session_survives_replacement_of_archive(self):
        session = onnxar.onnxruntime.InferenceSession(self.path, quiet(disable_prepacking="1"), providers=CPU)
        onnxar.numpy.save_file({"w": np.zeros((256, 256), np.float32)}, self.path, overwrite=True)
        self.assert_same(session, quiet(disable_prepacking="1"))

    def test_edit_affects_only_new_sessions(self):
        before = onnxar.onnxruntime.InferenceSession(self.path, quiet(), providers=CPU)
        edited = onnx.ModelProto.FromString(self.model.SerializeToString())
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(self.path, edited)
        self.assert_same(before)
        self.model = edited
        self.assert_same(onnxar.onnxruntime.InferenceSession(self.path, quiet(), providers=CPU))

    def test_bad_archive_raises_onnxar_error(self):
        (self.folder / "m.onnx").write_bytes(self.model.SerializeToString())
        for path, kind in ((self.folder / "m.onnx", "zip."), (self.folder / "none", "io.not_found")):
            with self.assertRaises(onnxar.Error) as raised:
                onnxar.onnxruntime.InferenceSession(path)
            self.assertTrue(raised.exception.code.startswith(kind), raised.exception)
            with self.assertRaises(onnxar.Error) as raised:
                onnxar.onnxruntime.InferenceSession(path.read_bytes() if path.exists() else self.model)
            self.assertTrue(raised.exception.code.startswith(kind if path.exists() else "usage."), raised.exception)

    def test_the_runtime_may_be_missing(self):
        code = "import sys; sys.modules['onnxruntime'] = None; import onnxar; import onnxar.onnxruntime"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("needs the package onnxruntime, which is not installed", done.stderr)


class Neighbours(unittest.TestCase):
    def test_modules_load_together_in_every_order(self):
        use = ("m = onnx.helper.make_model(onnx.helper.make_graph([], 'g', [], []));"
               "assert onnxar._core.Archive and onnxruntime.get_available_providers();"
               "onnx.checker.check_model(m)")  # fmt: skip
        for order in itertools.permutations(("onnxar", "onnx", "onnxruntime")):
            with self.subTest(order=order):
                program = "\n".join([*(f"import {name}" for name in order), use])
                subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


class Links(RuntimeTest):
    def test_a_link_is_a_model_and_a_folder(self):
        link = onnxar.link(self.path)
        self.assertEqual(link.folder, str(self.folder.resolve()))
        self.assertTrue(onnxar.verify_link(link))
        options = quiet(model_external_initializers_file_folder_path=str(link.folder))
        self.assert_same(ort.InferenceSession(link.model, options, providers=CPU))

    def test_a_link_file_is_read_by_everybody(self):
        file = self.folder / "m.onnx"
        onnxar.link(self.path, file)
        self.assertLess(file.stat().st_size, 4096)
        self.assertTrue(onnxar.verify_link(file))
        self.assert_same(ort.InferenceSession(file, quiet(), providers=CPU))
        (tensor, *_) = onnx.load(file).graph.initializer
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), weights(256, 256))
        value = onnx_ir.load(file).graph.initializers["w"].const_value
        np.testing.assert_array_equal(value.numpy(), weights(256, 256))
        onnx.checker.check_model(str(file))
        file.write_bytes(self.model.SerializeToString())
        self.assertFalse(onnxar.verify_link(file), "it is not a link")

    def test_a_link_outlives_an_edit_and_not_a_rewrite(self):
        link = onnxar.link(self.path, self.folder / "m.onnx")
        edited = onnx.ModelProto.FromString(self.model.SerializeToString())
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(self.path, edited)
        self.assertTrue(onnxar.verify_link(link))
        self.assert_same(ort.InferenceSession(self.folder / "m.onnx", quiet(), providers=CPU))
        onnxar.save(matmul_model(256), self.path, alignment=4096, overwrite=True)
        for stale in (link, self.folder / "m.onnx"):
            self.refused("onnx.link.stale", onnxar.verify_link, stale)

    def test_a_link_in_another_folder_runs_from_1_28_on(self):
        link = onnxar.link(self.path)
        elsewhere = self.folder / "elsewhere" / "m.onnx"
        elsewhere.parent.mkdir()
        elsewhere.write_bytes(link.model)
        options = quiet(model_external_initializers_file_folder_path=str(link.folder))
        self.assert_same(ort.InferenceSession(elsewhere, options, providers=CPU))

    def test_archive_inside_another_file_runs(self):
        host, begin = self.folder / "host", 4160
        host.write_bytes(bytes(begin) + self.path.read_bytes() + b"behind")
        where = {"offset": begin, "length": self.path.stat().st_size}
        link = onnxar.link(host, self.folder / "h.onnx", **where)
        options = quiet(model_external_initializers_file_folder_path=str(link.folder))
        self.assert_same(ort.InferenceSession(link.model, options, providers=CPU))
        self.assert_same(ort.InferenceSession(self.folder / "h.onnx", quiet(), providers=CPU))
        self.assertTrue(onnxar.verify_link(self.folder / "h.onnx"))
        error = self.refused("usage.argument", onnxar.link, host, offset=begin + 1)
        self.assertEqual(error.path, str(host.resolve()))

    def test_archive_replaced_during_start_is_detected(self):
        other = self.folder / "other.onnxar"
        onnxar.save(matmul_model(256), other, alignment=4096)
        real = onnxar._link.link

        def link_and_replace(path: pathlib.Path, graph: str) -> onnxar.Link:
            link = real(path, graph=graph)
            shutil.copyfile(other, self.folder / "copy")
            (self.folder / "copy").rename(path)
            return link

        onnxar._link.link = link_and_replace
        self.addCleanup(setattr, onnxar._link, "link", real)
        self.refused("onnx.link.stale", onnxar.onnxruntime.InferenceSession, self.path, quiet(), providers=CPU)


class HandedOver(RuntimeTest):
    def test_session_uses_views_as_initializers(self):
        with onnxar.open(self.path) as archive:
            values = {name: ort.OrtValue.ortvalue_from_numpy(archive[name]) for name in ("w",)}
        options = quiet()
        for name, value in values.items():
            options.add_initializer(name, value)
        link = onnxar.link(self.path)
        options.add_session_config_entry(onnxar.onnxruntime.FOLDER, str(link.folder))
        self.assert_same(ort.InferenceSession(link.model, options, providers=CPU))

    def test_external_initializers_need_no_folder(self):
        model = helper.make_model(
            helper.make_graph(
                [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 256])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                [numpy_helper.from_array(weights(256, 256), "w")],
            ), ir_version=10, opset_imports=[helper.make_opsetid("", 20)],
        )  # fmt: skip
        self.model = model
        onnxar.save(model, self.path, overwrite=True)
        with onnxar.open(self.path) as archive:
            value, proto = ort.OrtValue.ortvalue_from_numpy(archive["w"]), archive.model()
        options = quiet()
        options.add_external_initializers(["w"], [value])
        self.assert_same(ort.InferenceSession(proto, options, providers=CPU))


class Example(FolderTest):
    def test_the_example_runs_and_says_what_it_found(self):
        example = pathlib.Path(__file__).parents[2] / "examples/use_archive.py"
        done = subprocess.run([sys.executable, example, self.folder / "m.onnxar"], check=True, capture_output=True, text=True)
        self.assertIn("w: 16384 bytes at 64", done.stdout)
        self.assertIn("computes what NumPy computes", done.stdout)


class TooLarge(FolderTest):
    # The tensor is larger than its entry, and than any memory.
    def test_too_large_tensor_is_refused_before_session(self):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 10])
        onnxar._proto.set_link(tensor, "w", 1 << 52)
        node = helper.make_node("Identity", ["w"], ["y"])
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        model = helper.make_model(helper.make_graph([node], "g", [], [output], [tensor]), ir_version=10)
        path = self.folder / "m.onnxar"
        path.write_bytes(archive(model.SerializeToString(), w=bytes(4)))
        self.refused("onnx.external_data.out_of_range", onnxar.onnxruntime.InferenceSession, path)


class GpuOptions(RuntimeTest):
    """The options of ONNX Runtime's loaders for GPUs, on a CPU: they are accepted for links, and have the documented limits."""

    LIMITS = {"threads": ("0", "64", "65"), "chunk_bytes": ("4096", "67108864", "4097"), "min_size_bytes": ("0", str(1 << 32), "-1"),
              "pinned_memory_bytes": (str(1 << 20), str(1 << 30), str(1 << 31))}  # fmt: skip

    def setUp(self) -> None:
        super().setUp()
        if tuple(map(int, ort.__version__.split(".")[:2])) < (1, 32):
            self.skipTest("ONNX Runtime before 1.32 lacks these options")
        self.linked = self.folder / "linked.onnx"
        onnxar.link(self.path, self.linked)

    def outputs(self, **entries: str) -> list[np.ndarray]:
        options = quiet(**{f"external_data_loader.{key}": value for key, value in entries.items()})
        return ort.InferenceSession(str(self.linked), options, providers=CPU).run(None, {"x": weights(1, 256, seed=1)})

    def test_links_run_with_loader_options(self) -> None:
        expected = self.outputs()
        for column in (0, 1):
            found = self.outputs(**{key: values[column] for key, values in self.LIMITS.items()})
            self.assertEqual([each.tobytes() for each in found], [each.tobytes() for each in expected])

    def test_loader_options_have_documented_limits(self) -> None:
        for key, (_, _, wrong) in self.LIMITS.items():
            with self.assertRaisesRegex(Exception, f"session.external_data_loader.{key} must be"):
                self.outputs(**{key: wrong})


if __name__ == "__main__":
    unittest.main()

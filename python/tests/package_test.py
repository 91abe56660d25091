"""Model packages in an archive: choosing a variant as ONNX Runtime does, and its options."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import time
import unittest
import unittest.mock
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from families_test import matmul
from support import FolderTest

import onnxar
import onnxar.onnxruntime
from onnxar import _variants

CPU, OPENVINO, CUDA = "CPUExecutionProvider", "OpenVINOExecutionProvider", "CUDAExecutionProvider"
SELECTS = unittest.skipUnless(hasattr(ort, "ModelPackageContext"), "this ONNX Runtime selects no variants")


def body(ep: str | None = CPU, model_file: str = "model.onnx", **more: Any) -> dict[str, Any]:
    """Returns a variant's body; `more` are members of it, or of its executor_info, which begin with `info_`."""
    info = {"model_file": model_file, **{key.removeprefix("info_"): more.pop(key) for key in list(more) if key.startswith("info_")}}
    return {**({} if ep is None else {"ep": ep}), "executor_info": {"ort": info}, **more}


def manifest(variants: Any, **more: Any) -> dict[str, Any]:
    return {"schema_version": "1.0", "components": {"model": {"variants": variants}}, **more}


class PackageTest(FolderTest):
    """`scales` are the factors of the graphs, which identify them. The folder `files` is what the archive is packed
    from."""

    scales = {"fp32/model.onnx": 2, "int8/model.onnx": 3, "gpu/model.onnx": 5}

    def setUp(self) -> None:
        super().setUp()
        self.files = self.folder / "files"
        for name, scale in self.scales.items():
            path = self.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            onnx.save(matmul(scale=scale), path)
        self.path = self.folder / "p.onnxar"

    def pack(self, said: Any, **more: Any) -> None:
        """Packs the graphs with a manifest, and further JSON files or bytes by their names."""
        for name, value in {"manifest.json": said, **more}.items():
            path = self.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        onnxar.pack(self.files, self.path, overwrite=True)

    def session(self, component: str = "model", **more: Any) -> onnxar.onnxruntime.InferenceSession:
        return onnxar.onnxruntime.InferenceSession(self.path, component=component, **more)

    def selected(self) -> Any:
        """Returns what ONNX Runtime selects in the folder."""
        return ort.ModelPackageContext(str(self.files)).select_component("model", ort.ModelPackageOptions(ort.SessionOptions()))

    def scale_of(self, session: ort.InferenceSession) -> int:
        x = np.ones((1, 64), np.float32)
        (y,) = session.run(None, {"x": x})
        (base,) = onnxar.onnxruntime.InferenceSession(self.path, graph="fp32/model", providers=[CPU]).run(None, {"x": x})
        return round(2 * float(y[0, 0] / base[0, 0]))

    def error(self, *said: str, component: str = "model", **more: Any) -> str:
        found = str(self.refused("usage.argument", self.session, component, **more))
        for each in said:
            self.assertIn(each, found)
        return found


@SELECTS
class Choosing(PackageTest):
    def test_first_variant_that_fits_is_chosen(self) -> None:
        self.pack(manifest({"gpu": body(CUDA), "int8": body(), "fp32": body()}))
        for providers in (None, [CPU], [CUDA, CPU], [(CUDA, {"device_id": "1"}), (CPU, {})]):
            session = self.session(providers=providers)
            self.assertEqual((session.variant, self.scale_of(session)), ("int8", 3))
            self.assertEqual(session.get_providers(), [CPU])
        self.assertEqual(self.scale_of(self.session(providers=[CUDA, CPU], provider_options=[{"device_id": "0"}, {}])), 3)

    def test_choice_is_that_of_onnx_runtime(self) -> None:
        needs = [{}, {"device": "CPU"}, {"device": "npu"}, {"compatibility_string": "x"}, {"device": "gpu", "compatibility_string": "x"}]
        for first in needs:
            for second in needs:
                self.pack(manifest({"int8": body(**first), "fp32": body(**second)}))
                try:
                    theirs = self.selected().get_selected_variant_name()
                except RuntimeError:
                    self.error("found no variant")
                    continue
                self.assertEqual(self.session(providers=[CPU]).variant, theirs, (first, second))

    def test_session_computes_what_the_folder_does(self) -> None:
        self.pack(manifest({"int8": body(), "fp32": body()}))
        theirs = self.selected().create_session()
        x = np.ones((3, 64), np.float32)
        np.testing.assert_array_equal(self.session().run(None, {"x": x})[0], theirs.run(None, {"x": x})[0])

    def test_sources_in_memory_have_variants(self) -> None:
        self.pack(manifest({"int8": body(), "fp32": body()}))
        with onnxar.open(self.path) as archive:
            for source in (self.path.read_bytes(), archive, str(self.path)):
                session = onnxar.onnxruntime.InferenceSession(source, component="model", providers=[CPU])
                self.assertEqual((session.variant, self.scale_of(session)), ("int8", 3))

    def test_errors_list_variants_and_what_each_needs(self) -> None:
        self.pack(manifest({"gpu": body(CUDA, device="gpu"), "int8": body(OPENVINO)}))
        listed = f"gpu needs {CUDA} on gpu; int8 needs {OPENVINO}"
        self.error(listed, f"no variant for {CPU}", providers=[CPU])
        self.error(listed, providers=None)
        self.error(listed, f"none of the providers {CUDA}", providers=[CUDA])
        self.error(listed, "no variant 'fp16'", variant="fp16")
        self.pack(manifest({str(i): body(CUDA) for i in range(30)}))
        self.error("9 needs", "; and 20 more")

    def test_options_of_the_caller_choose_and_stay(self) -> None:
        self.pack(manifest({"gpu": body(CUDA), "int8": body(info_session_options={"session.intra_op_num_threads": "3"})}))
        options = ort.SessionOptions()
        options.add_provider(CPU, {})
        session = self.session(sess_options=options)
        self.assertEqual((session.variant, session.get_session_options().intra_op_num_threads), ("int8", 0))

    def test_names_and_paths_do_not_reach_onnx_runtime(self) -> None:
        hostile = {"../../x": body(CUDA), "/etc": body(CUDA), "": body(CUDA), "a:b\n": body(CUDA, "../m.onnx"), "int8": body()}
        self.pack(manifest(hostile))
        self.assertEqual(self.session().variant, "int8")

    def test_ten_thousand_variants_take_no_second(self) -> None:
        self.pack(manifest({**{str(i): body(CUDA) for i in range(10_000)}, "int8": body()}))
        began = time.monotonic()
        self.assertEqual(self.session().variant, "int8")
        self.assertLess(time.monotonic() - began, 10)


class Naming(PackageTest):
    def test_a_variant_by_name_needs_no_selector(self) -> None:
        self.pack(manifest({"gpu": body(CUDA), "int8": body(), "fp32": body()}))
        for name, scale in {"gpu": 5, "int8": 3, "fp32": 2}.items():
            session = self.session(variant=name, providers=[CPU])
            self.assertEqual((session.variant, self.scale_of(session)), (name, scale))
            self.assertEqual(self.session("", variant=name).variant, name)
        self.assertIsNone(onnxar.onnxruntime.InferenceSession(self.path, providers=[CPU]).variant)

    def test_old_onnx_runtime_needs_a_name(self) -> None:
        self.pack(manifest({"int8": body(), "fp32": body()}))
        with unittest.mock.patch.object(_variants, "ort") as old:
            old.__version__, old.get_available_providers = "1.31.1", ort.get_available_providers
            del old.ModelPackageContext, old.get_ep_devices
            self.error("ONNX Runtime 1.31.1 cannot choose", f"int8 needs {CPU}; fp32 needs {CPU}", providers=[CPU])

    def test_pickled_session_keeps_its_variant(self) -> None:
        self.pack(manifest({"int8": body(info_session_options={"session.intra_op_num_threads": "2"}), "fp32": body()}))
        session = pickle.loads(pickle.dumps(self.session(variant="int8", providers=[CPU])))
        self.assertEqual((session.variant, self.scale_of(session)), ("int8", 3))
        self.assertEqual(session.get_session_options().intra_op_num_threads, 2)
        session.set_providers([CPU])
        again = pickle.loads(pickle.dumps(session))
        self.assertEqual((again.variant, self.scale_of(again)), ("int8", 3))

    def test_cached_session_keeps_its_variant(self) -> None:
        self.pack(manifest({"int8": body(), "fp32": body()}))
        for is_cached in (True, True):
            session = self.session(variant="int8", providers=[CPU], cache=self.folder / "cache")
            self.assertEqual((session.variant, session.is_cached, self.scale_of(session)), ("int8", is_cached, 3))
            session.set_providers([CPU])
            self.assertEqual(session.variant, "int8")

    def test_component_is_named_or_the_only_one(self) -> None:
        one, two = ({"variants": {name: body()}} for name in ("int8", "fp32"))
        self.pack({"schema_version": 1, "components": {"a": one, "b": two}})
        self.error("pass `component`: its components are a, b", component="", variant="int8")
        self.error("no component 'model': its components are a, b")
        self.assertEqual(self.scale_of(self.session("b", variant="fp32")), 2)
        self.refused("usage.argument", self.session, "a", graph="fp32/model")
        self.refused("usage.argument", onnxar.onnxruntime.InferenceSession, onnxar.link(self.path), component="a")

    def test_components_in_files(self) -> None:
        info = {"model_file": "./model.onnx"}
        inner = {"component_name": "x", "variants": {"int8": {"ep": CPU, "executor_info": {"ort": "ort_info.json", "other": {}}}}}
        self.scales = {"fp32/model.onnx": 2, "decoder/int8/model.onnx": 7}
        shutil.rmtree(self.files)
        super().setUp()
        for where, file in {"decoder": "decoder/component.json", "./decoder/": "decoder/component.json", "decoder/d.json": "decoder/d.json"}.items():
            self.pack({"schema_version": "1.0", "components": {"model": where}}, **{file: inner, "decoder/int8/ort_info.json": info})
            self.assertEqual(self.scale_of(self.session(variant="int8")), 7)

    def test_folders_and_assets_of_variants(self) -> None:
        digest = "sha256:" + "a" * 64
        self.scales = {"fp32/model.onnx": 2, f"shared_assets/{digest.replace(':', '-')}/m.onnx": 7, "store/m.onnx": 11}
        super().setUp()
        for directory, file, scale in ((".", "fp32/model.onnx", 2), ("./fp32/", "././model.onnx", 2), ("none", f"{digest}/m.onnx", 7)):
            self.pack(manifest({"v": body(model_file=file, variant_directory=directory)}))
            self.assertEqual(self.scale_of(self.session(variant="v")), scale)
        self.pack(manifest({"v": body(model_file=f"{digest}/m.onnx")}, shared_assets={digest: "store"}))
        self.assertEqual(self.scale_of(self.session(variant="v")), 11)

    def test_only_model_needs_no_name(self) -> None:
        onnxar.pack(matmul(scale=2), self.path, side_files={"manifest.json": json.dumps(manifest({"v": body()})).encode()})
        self.assertEqual(self.session(variant="v").variant, "v")


class Options(PackageTest):
    def options_of(self, options: dict[str, str], **more: Any) -> ort.SessionOptions:
        self.pack(manifest({"int8": body(info_session_options=options)}))
        return self.session(variant="int8", **more).get_session_options()

    def test_options_of_the_variant_apply(self) -> None:
        found = self.options_of({"session.intra_op_num_threads": "3", "session.disable_prepacking": "1", "session.log_id": "mine"})
        self.assertEqual((found.intra_op_num_threads, found.get_session_config_entry("session.disable_prepacking"), found.logid), (3, "1", "mine"))

    @SELECTS
    def test_options_apply_as_onnx_runtime_applies_them(self) -> None:
        members = ("intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level", "execution_mode", "enable_mem_pattern",
                   "enable_cpu_mem_arena", "log_severity_level", "log_verbosity_level", "logid", "use_deterministic_compute")  # fmt: skip
        values = [("intra_op_num_threads", "2"), ("inter_op_num_threads", " 2"), ("graph_optimization_level", "Enable_Basic"),
                  ("execution_mode", "PARALLEL"), ("enable_mem_pattern", "0"), ("enable_mem_pattern", "False"), ("enable_cpu_mem_arena", "false"),
                  ("log_severity_level", "3"), ("log_verbosity_level", "1"), ("log_id", "mine"), ("use_deterministic_compute", "true"),
                  ("intra_op_num_threads", "x"), ("intra_op_num_threads", "99999999999"), ("execution_mode", "1"), ("enable_mem_pattern", "no"),
                  ("graph_optimization_level", "0"), ("optimized_model_filepath", "x"), ("enable_profiling", "0"), ("made_up", "1")]  # fmt: skip
        for name, value in values:
            with self.subTest(name, value=value):
                self.pack(manifest({"int8": body(info_session_options={f"session.{name}": value})}))
                found: list[Any] = []
                for make in (lambda: self.selected().create_session(), lambda: self.session(variant="int8")):
                    try:
                        options = make().get_session_options()
                        found.append([getattr(options, each) for each in members])
                    except Exception:  # ONNX Runtime's errors have no class in common
                        found.append("refused")
                self.assertEqual(*found)

    def test_only_options_of_the_caller_count(self) -> None:
        found = self.options_of({"session.intra_op_num_threads": "3", "session.enable_profiling": "1"}, sess_options=ort.SessionOptions())
        self.assertEqual(found.intra_op_num_threads, 0)

    def test_folder_of_weights_is_the_archive(self) -> None:
        key = "session.model_external_initializers_file_folder_path"
        for value in ("weights", "../..", "/etc", "sha256:" + "a" * 64):
            found = self.options_of({key: value})
            self.assertEqual(found.get_session_config_entry(key), os.path.realpath(self.folder))

    def test_options_for_files_are_refused(self) -> None:
        for key in ("ep.context_file_path", "ep.context_enable", "session.optimized_model_filepath", "session.enable_profiling"):
            self.pack(manifest({"int8": body(info_session_options={key: "x"}), "fp32": body()}))
            self.error(key, "unpack the archive", variant="int8")
            self.assertEqual(self.session(variant="fp32").variant, "fp32")
        self.pack(manifest({"int8": body(info_session_options={"ep.context_file_path": "x"})}))
        options = ort.SessionOptions()
        self.error("ep.context_file_path", variant="int8", sess_options=options)
        options.add_session_config_entry("ep.context_file_path", "mine")
        self.assertEqual(self.session(variant="int8", sess_options=options).variant, "int8")
        self.assertEqual(self.names(), {"files", "p.onnxar"})

    def test_provider_options_are_for_the_variant(self) -> None:
        self.pack(manifest({"int8": body(info_provider_options={"a": "1", "b": "2"}), "gpu": body(CUDA, info_provider_options={"a": "1"})}))

        def chosen(name: str = "int8", options: Any = None, providers: Any = None, given: Any = None) -> _variants.Chosen:
            return _variants.choose(str(self.path), "model", name, options, providers, given)

        self.assertEqual(chosen().providers, [(CPU, {"a": "1", "b": "2"})])
        self.assertEqual(chosen(providers=[OPENVINO, (CPU, {"b": "3"})]).providers, [(OPENVINO, {}), (CPU, {"a": "1", "b": "3"})])
        self.assertEqual(chosen(providers=[CPU], given=[{"b": "3"}]).providers, [(CPU, {"a": "1", "b": "3"})])
        self.assertEqual(chosen(providers=[CPU], options=ort.SessionOptions()).providers, [(CPU, {})])
        self.assertIsNone(chosen(name="gpu").providers)
        self.refused("usage.argument", chosen, providers=[CPU], given=[{}, {}])


if __name__ == "__main__":
    unittest.main()

"""Manifests of model packages that are not valid. Each is an error that names the file and the place."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

import onnx
from families_test import matmul
from package_test import CPU, CUDA, PackageTest, body, manifest

import onnxar


class Manifests(PackageTest):
    def test_what_is_not_a_package(self) -> None:
        said = manifest({"int8": body()})
        for value in ({}, [], "x", 1, None, {"schema_version": "1.0"}, {"components": {}}, {"name": "My app", "icons": []}):
            self.pack(value)
            self.error("not a model package", variant="int8")
        self.pack(said, **{"genai_config.json": {}})
        self.error("not a model package", variant="int8")
        onnxar.pack(matmul(scale=2), self.path, side_files={"sub/manifest.json": json.dumps(said).encode()}, overwrite=True)
        self.error("not a model package", variant="int8")

    def test_versions(self) -> None:
        for version in ("1.0", "1.9", "1", 1):
            self.pack({**manifest({"int8": body()}), "schema_version": version})
            self.assertEqual(self.session(variant="int8").variant, "int8")
        deep: Any = 1
        for _ in range(200):
            deep = [deep]
        for version in ("2.0", "0.9", "", "1.0.0", "1.x", "x" * 10_000, 2, 1.0, True, None, [], {}, deep, 10**4000):
            self.pack({**manifest({"int8": body()}), "schema_version": version})
            self.assertLess(len(self.error("schema_version", "reads 1", variant="int8")), 5000)

    def test_wrong_types(self) -> None:
        wrong = [None, True, 1, 1.5, "text", [], {}, [1]]
        good = manifest({"int8": body(device="cpu", compatibility_string="", variant_directory="int8", info_session_options={"a": "1"},
                                      info_provider_options={"a": "1"})}, shared_assets={})  # fmt: skip
        self.pack(good)
        self.session(variant="int8")
        places = [path for path in _places(good) if path != ("schema_version",)]
        self.assertGreater(len(places), 12)
        for path in places:
            for value in wrong:
                if type(value) is type(_at(good, path)):
                    continue
                with self.subTest(path, value=value):
                    said = json.loads(json.dumps(good))
                    _at(said, path[:-1])[path[-1]] = value
                    self.pack(said)
                    listed = self.error(variant="int8", providers=[CPU])
                    self.assertIn("manifest.json", listed)

    def test_missing_members(self) -> None:
        for change in ({"executor_info": {}}, {"executor_info": {"ort": {}}}, {"executor_info": {"other": {"model_file": "x"}}}, {}):
            self.pack(manifest({"int8": change, "fp32": body()}))
            self.error("'int8'", "model_file", variant="int8")
            self.assertEqual(self.session(variant="fp32").variant, "fp32")
        self.pack({"schema_version": "1.0", "components": {"model": {}}})
        self.error("variants is missing")
        self.pack(manifest({}))
        self.error("none")
        self.pack({"schema_version": "1.0", "components": {}})
        self.error("none")

    def test_paths_that_leave_the_package(self) -> None:
        outside = self.folder / "outside.onnx"
        onnx.save(matmul(scale=13), outside)
        for path in ("../outside.onnx", "../../outside.onnx", str(outside), "a/../../outside.onnx", "..", "/", "fp32/../fp32/model.onnx"):
            for change in ({"model_file": path}, {"variant_directory": path}, {"model_file": "sha256:aa/" + path}):
                self.pack(manifest({"v": body(**change), "int8": body()}, layout="installed"))
                self.error("leaves the package", variant="v")
                self.assertEqual(self.session(variant="int8").variant, "int8")
            self.pack({"schema_version": "1.0", "components": {"model": path}})
            self.error("leaves the package")
            self.pack(manifest({"v": {"ep": CPU, "executor_info": {"ort": path}}}))
            self.error("leaves the package", variant="v")
            self.pack(manifest({"v": body(model_file="sha256:aa/m.onnx")}, shared_assets={"sha256:aa": path}))
            self.error("leaves the package", variant="v")

    def test_missing_files_are_refused(self) -> None:
        for file in ("none.onnx", "MODEL.ONNX", "model", "", ".", "model.onnx/", "a\\model.onnx", "C:/model.onnx", "manifest.json"):
            self.pack(manifest({"int8": body(model_file=file)}))
            if file != "model.onnx/":
                self.error("is not a graph of the archive", variant="int8")
        for where in ("none", "none.json", "", "."):
            self.pack({"schema_version": "1.0", "components": {"model": where}})
            self.error("no file", variant="int8")
            self.pack(manifest({"int8": {"ep": CPU, "executor_info": {"ort": where}}}))
            self.error("no file", variant="int8")

    def test_texts_that_are_not_json(self) -> None:
        good = json.dumps(manifest({"int8": body()}))
        for name, data in {
            "empty": b"", "cut": good[:-1].encode(), "more": good.encode() + b"x", "NaN": good.replace("{", '{"a": NaN,', 1).encode(),
            "Infinity": good.replace("{", '{"a": -Infinity,', 1).encode(), "UTF-16": good.encode("utf-16"), "Latin-1": b'{"\xe9": 1}',
            "comment": good.encode() + b"// x", "zeros": bytes(100), "digits": b'{"a": ' + b"9" * 100_000 + b"}", "quotes": good.replace('"', "'").encode(),
        }.items():  # fmt: skip
            with self.subTest(name):
                self.pack(data)
                self.error("manifest.json", "not valid JSON", variant="int8")
        for data in (good.encode("utf-8-sig"), b" \n" + good.encode() + b"\r\n\t"):
            self.pack(data)
            self.assertEqual(self.session(variant="int8").variant, "int8")

    def test_deep_manifests(self) -> None:
        for depth in (10_000, 1_000_000):
            for opened, closed in (("[", "]"), ('{"a":', "}")):
                inner = opened * depth + "1" + closed * depth
                self.pack(json.dumps(manifest({"int8": body()}, additional_metadata="HERE")).replace('"HERE"', inner).encode())
                self.error("inside each other", variant="int8")

    def test_large_manifests(self) -> None:
        said = json.dumps(manifest({"int8": body()}))
        self.pack(said.encode() + b" " * (100 << 20))
        began = time.monotonic()
        self.error("more than 16 MiB", variant="int8")
        self.assertLess(time.monotonic() - began, 2)
        self.pack(manifest({"int8": body(), "x" * (1 << 20): body(CUDA)}))
        self.assertLess(len(self.error("no variant", variant="y")), 2000)
        self.assertLess(len(self.error("no component", component="y" * 100_000, variant="y")), 2000)

    def test_a_key_that_occurs_twice_is_a_warning(self) -> None:
        one, two = (json.dumps({name: body()})[1:-1] for name in ("int8", "fp32"))
        many = ", ".join(f'"a{i % 9}": 1' for i in range(1000))
        for text in (f'{{"variants": {{{one}}}, "variants": {{{two}}}}}', f'{{"variants": {{{two}, {two}}}}}', f'{{"variants": {{{two}}}, {many}}}'):
            self.pack(f'{{"schema_version": "1.0", "components": {{"model": {text}}}}}'.encode())
            with self.assertWarnsRegex(RuntimeWarning, "twice; the last one is used") as seen:
                self.assertEqual(self.session(variant="fp32").variant, "fp32")
            self.assertEqual(len(seen.warnings), 1)
            self.assertEqual(seen.filename, __file__)

    def test_texts_that_onnx_runtime_cannot_have(self) -> None:
        for text in ("a\0b", "\ud800", "x\udfff"):
            for change in ({"ep": text}, {"device": text}, {"compatibility_string": text}, {"model_file": text}, {"variant_directory": text},
                           {"info_session_options": {text: "1"}}, {"info_session_options": {"a": text}}, {"info_provider_options": {text: ""}}):  # fmt: skip
                self.pack(manifest({"int8": body(**change)}))
                self.error("not allowed", variant="int8")

    def test_damaged_manifest(self) -> None:
        self.pack(manifest({"int8": body()}))
        data = bytearray(self.path.read_bytes())
        at = data.index(b'"schema_version"')
        data[at + 1] ^= 1
        self.path.write_bytes(data)
        self.refused("zip.data.crc", self.session, variant="int8")


def _places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return []
    return [place for key, each in value.items() for place in ((*path, key), *_places(each, (*path, key)))]


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


if __name__ == "__main__":
    unittest.main()

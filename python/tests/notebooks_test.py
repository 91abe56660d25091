"""Completion, tables, names of outputs, and messages, as a user of a notebook sees them."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import unittest

import numpy as np
import onnx
from support import ArchiveTest, matmul_model

import onnxar


class Notebooks(ArchiveTest):
    def test_keys_of_an_archive_are_completed(self):
        with onnxar.open(self.path) as archive:
            self.assertEqual(archive._ipython_key_completions_(), list(archive))
        with onnxar.edit(self.path) as e:
            e.files["a.json"] = b"{}"
            self.assertEqual(e._ipython_key_completions_(), list(e.archive))
            self.assertEqual(e.files._ipython_key_completions_(), ["a.json"])

    def test_table_has_the_largest_tensors_first(self):
        with onnxar.open(self.path) as archive:
            page = archive._repr_html_()
        heads = ["<th>tensor</th>", "<th>dtype</th>", "<th>shape</th>", "<th>size</th>", "<th>entry</th>"]
        self.assertIn("".join(heads), page)
        rows = ["<td>w</td><td>FLOAT</td><td>64x64</td><td>16.4 kB</td><td>w</td>", "<td>scale</td>", "<td>b</td>",
                "<td>shape</td><td>INT64</td><td>2</td><td>16 bytes</td><td>(in the model)</td>"]  # fmt: skip
        self.assertEqual(sorted(rows, key=page.index), rows)

    def test_listing_has_what_the_command_shows(self):
        (row,) = (dataclasses.asdict(entry) for entry in onnxar.ls(self.path) if entry.name == "w")  # as pandas makes columns
        self.assertEqual((row["name"], row["tensors"], row["dtype"], row["shape"], row["size"]), ("w", ("w",), "FLOAT", (64, 64), 16384))
        model = onnxar.ls(self.path)[-1]
        self.assertEqual((model.tensors, model.dtype, model.shape), ((), "", None))

    def test_files_of_a_summary_have_a_short_repr(self):
        text = repr(onnxar.show(self.path).files)
        self.assertLess(len(text), 120)
        self.assertRegex(text, r"m\.onnxar': [\d.]+ kB, \d+ blocks")

    def test_unknown_key_of_an_edit_mentions_put(self):
        with onnxar.edit(self.path) as e:
            error = self.refused("usage.no_such_tensor", e.__setitem__, "new", np.ones(3, np.float32))
            self.assertIn("put() adds a tensor", error.message)
            error = self.refused("usage.no_such_tensor", e.__setitem__, "graph.initializer[0]", np.ones(3, np.float32))
            self.assertNotIn("put()", error.message)

    def test_help_shows_the_name_open(self):
        self.assertIn("open(source", pydoc.plain(pydoc.render_doc(onnxar.open)))
        self.assertEqual((onnxar.open.__name__, onnxar.open.__module__), ("open", "onnxar"))

    def test_functions_explain_arguments_with_an_example(self):
        for name in onnxar.__all__:
            function = getattr(onnxar, name)
            if isinstance(function, type):
                continue
            with self.subTest(name):
                self.assertIn(f"onnxar.{name}(", function.__doc__)
                if "ther arguments" not in function.__doc__:
                    for argument in inspect.signature(function).parameters:
                        self.assertRegex(function.__doc__, rf"\b{argument}\b")


class Outputs(ArchiveTest):
    def setUp(self) -> None:
        super().setUp()
        self.plain = self.folder / "n.onnx"
        onnx.save(self.model, self.plain)

    def test_pack_and_unpack_name_the_output(self):
        self.assertEqual(onnxar.pack(self.plain).model_path, self.folder / "n.onnxar")
        self.assertEqual(onnxar.unpack(self.path).model_path, self.folder / "m.onnx")
        self.assertEqual(onnxar.load(self.folder / "n.onnxar"), self.model)
        self.refused("output.exists", onnxar.pack, str(self.plain))

    def test_output_is_needed_for_other_inputs(self):
        for source in (self.path, [self.plain], {"a": self.plain}, self.model, self.plain.read_bytes(), "https://host/n.onnx"):
            self.assertIn("an output is needed", self.refused("usage.argument", onnxar.pack, source).message)
        self.assertIn("NAME.onnxar", self.refused("usage.argument", onnxar.unpack, self.plain).message)

    def test_report_of_a_file_object_has_no_path(self):
        with open(self.folder / "x.onnxar", "wb") as file:
            self.assertIsNone(onnxar.save(matmul_model(), file).model_path)


if __name__ == "__main__":
    unittest.main()

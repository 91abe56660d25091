"""Archives, edits and their files are mappings, and the package has the names that the guide explains."""

from __future__ import annotations

import pathlib
import re
import unittest
from collections.abc import Mapping, MutableMapping

import numpy as np
from onnx import helper, numpy_helper
from support import FolderTest

import onnxar
import onnxar.numpy

GUIDE = pathlib.Path(__file__).resolve().parents[1] / "README.md"
ARRAYS = {"a": np.ones((2, 3), np.float32), "b": np.array([np.nan, 0.0]), "c": np.array(3.0)}


class Mappings(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        tensors = [numpy_helper.from_array(array, name) for name, array in ARRAYS.items()]
        self.path = self.folder / "m.onnxar"
        model = helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))
        onnxar.save(model, self.path, side_files={"t.json": b"{}"})

    def expect_mapping(self, found: Mapping, expected: dict) -> None:
        self.assertIsInstance(found, Mapping)
        self.assertEqual(list(found), list(expected))
        self.assertEqual(list(found.keys()), list(expected))
        self.assertEqual(found.keys(), expected.keys())
        self.assertEqual(len(found), len(expected))
        for (name, value), (key, listed), other in zip(found.items(), expected.items(), found.values(), strict=True):
            self.assertEqual(name, key)
            for each in (value, other, found[name], found.get(name)):
                np.testing.assert_array_equal(each, listed)
            self.assertIn(name, found)
        self.assertNotIn("missing", found)
        self.assertIsNone(found.get("missing"))
        self.assertEqual(found.get("missing", 7), 7)
        with self.assertRaises(KeyError):
            found["missing"]
        self.assertTrue(found == found)
        self.assertTrue(found == expected)
        self.assertTrue(expected == found)
        self.assertFalse(found == {})
        self.assertFalse(found == 1)
        with self.assertRaises(TypeError):
            hash(found)

    def test_an_archive_is_a_mapping(self) -> None:
        with onnxar.open(self.path) as archive, onnxar.open(self.path) as again:
            self.expect_mapping(archive, ARRAYS)
            self.assertEqual(archive, again)

    def test_one_bit_shape_or_type_makes_archives_unequal(self) -> None:
        with onnxar.open(self.path) as archive:
            for other in (-ARRAYS["b"], ARRAYS["b"].reshape(2, 1), ARRAYS["b"].astype(np.float32), [1, 2], None):
                self.assertNotEqual(archive, {**ARRAYS, "b": other})

    def test_an_edit_is_a_mapping_with_what_was_set(self) -> None:
        with onnxar.edit(self.path) as edit:
            self.expect_mapping(edit, ARRAYS)
            edit["a"] = ARRAYS["a"] * 2
            edit.put("new", np.arange(4))
            self.expect_mapping(edit, {**ARRAYS, "a": ARRAYS["a"] * 2, "new": np.arange(4)})

    def test_files_of_an_edit_are_a_mutable_mapping(self) -> None:
        with onnxar.edit(self.path) as edit:
            self.assertIsInstance(edit.files, MutableMapping)
            self.expect_mapping(edit.files, {"t.json": b"{}"})
            edit.files.update({"u.json": b"[]"})
            self.assertEqual(edit.files.pop("t.json"), b"{}")
            self.expect_mapping(edit.files, {"u.json": b"[]"})


class Names(unittest.TestCase):
    def test_dir_is_what_the_guide_explains(self) -> None:
        words = set(re.findall(r"\w+", GUIDE.read_text()))
        names = [name for name in dir(onnxar) if name != "__version__"]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([name for name in names if name.startswith("_") or name not in words], [])
        for name in dir(onnxar):
            self.assertTrue(hasattr(onnxar, name), name)
        self.assertLessEqual(set(onnxar.__all__), set(names))


if __name__ == "__main__":
    unittest.main()

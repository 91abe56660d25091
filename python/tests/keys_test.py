"""A text means a tensor's name, its entry or its site, and the same for reading, writing and extracting."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper, numpy_helper
from support import FolderTest

import onnxar

BIG = 512  # elements that become an entry


def model_of(names: list[str], constants: list[str] = [], size: int = BIG) -> ModelProto:  # noqa: B006
    """Returns a tensor of each name, first initializers and then Constants, filled with its number from 1 on."""
    arrays = [numpy_helper.from_array(np.full(size, number, np.float32), name) for number, name in enumerate(names + constants, 1)]
    nodes = [helper.make_node("Constant", [], [f"c{i}"], value=array) for i, array in enumerate(arrays[len(names):])]
    graph = helper.make_graph(nodes, "g", [], [], arrays[: len(names)])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


HOSTILE = {
    "names": model_of(["a", "b"]),
    "an unnamed tensor": model_of(["a"], [""]),
    "a name twice": model_of(["dup", "dup"]),
    "a name three times": model_of(["graph.initializer[1]", "dup", "dup"]),
    "the site of an unnamed one": model_of(["graph.node[0].attr.value"], [""]),
    "the site of each other": model_of(["graph.initializer[1]", "graph.initializer[0]"]),
    "the site of a tilde": model_of(["graph.node[0].attr.value", "graph.node[0].attr.value~"], [""]),
    "an initializer and constants": model_of(["c", "graph.node[1].attr.value"], ["c", "c"]),
    "small ones": model_of(["dup", "dup"], ["", ""], size=8),
    "an entry's name": model_of(["a.b", "a_b", "a b"]),
    "patterns": model_of(["a*", "ab", "[ab]", "graph.*", "~", "ab~"], ["", "?"]),
    "an entry's name twice": model_of(["a.b", "a_b", "a_b"]),
    "an output's name": model_of(["c1", "c0~"], ["", "c0"]),
    "a site of another with tildes": model_of(["graph.initializer[1]~", "graph.initializer[0]~~"], [""]),
}


def site_or_code(call: Callable[[], Any]) -> str:
    """Returns the site of the tensor that is found, or the code of the refusal."""
    try:
        return call().site
    except onnxar.Error as error:
        return error.code


class Keys(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"

    def save(self, model: ModelProto) -> None:
        onnxar.save(model, self.path, overwrite=True)

    def content(self) -> dict[str, tuple[str, float]]:
        with onnxar.open(self.path) as archive:
            return {key: (archive.info(key).site, float(array[0])) for key, array in archive.items()}

    def test_constant_is_found_by_its_output(self):
        self.save(model_of(["a", "c1"], ["", "named"]))  # outputs c0 and c1
        with onnxar.open(self.path) as archive:
            self.assertEqual((archive.tensor("c0")[0], archive.tensor("c1")[0]), (3, 2))  # names go before outputs
            self.assertEqual((archive.info("c0").output, archive.info("named").output, archive.info("a").output), ("c0", "c1", ""))
            self.assertEqual(archive.get_slice("c0").shape, (BIG,))
            self.assertNotIn("c0", archive)
            self.assertIn("an output", self.refused("usage.no_such_tensor", archive.__getitem__, "c0").message)
        with onnxar.edit(self.path) as e:
            e.put("c0", np.full(BIG, 7, np.float32))
        self.assertEqual(onnxar.load(self.path).graph.node[0].attribute[0].t.raw_data, np.full(BIG, 7, np.float32).tobytes())
        (row,) = onnxar.extract(self.path, "c0", self.folder / "c.npy")
        self.assertEqual(row.tensor.output, "c0")
        self.assertEqual(np.load(self.folder / "c.npy")[0], 7)

    def test_site_means_its_tensor_before_an_output(self):
        for names in (["", ""], ["named", "too"]):
            model = model_of([], names)
            model.graph.node[0].output[0] = "graph.node[1].attr.value"
            self.save(model)
            with onnxar.open(self.path) as archive:
                self.assertEqual(archive.tensor("graph.node[1].attr.value")[0], 2)
            onnxar.extract(self.path, "graph.node[1].attr.value", self.folder / "c.npy", overwrite=True)
            self.assertEqual(np.load(self.folder / "c.npy")[0], 2)

    def test_output_of_several_constants_is_ambiguous(self):
        model = model_of([], ["p", "q"])
        for node in model.graph.node:
            node.output[0] = "same"
        self.save(model)
        with onnxar.open(self.path) as archive:
            self.refused("usage.ambiguous_tensor", archive.tensor, "same")

    def test_each_key_reads_and_writes_one_tensor(self):
        for name, model in HOSTILE.items():
            self.save(model)
            before = self.content()
            self.assertEqual(sorted(number for _, number in before.values()), list(range(1, len(before) + 1)))
            for key, (site, number) in before.items():
                for write in (onnxar.Edit.__setitem__, onnxar.Edit.put):
                    with self.subTest(name, key=key, write=write.__name__):
                        self.save(model)
                        with onnxar.edit(self.path) as e:
                            self.assertEqual(e[key][0], number)
                            write(e, key, e[key] * 100)
                            self.assertEqual(e[key][0], number * 100)
                            self.assertEqual(len(e), len(before))
                        self.assertEqual(self.content(), before | {key: (site, number * 100)})

    def test_each_key_is_extracted(self):
        for name, model in HOSTILE.items():
            self.save(model)
            for key, (site, number) in self.content().items():
                with self.subTest(name, key=key):
                    (found,) = onnxar.extract(self.path, key, self.folder / "x.npy", overwrite=True)
                    self.assertEqual((found.tensor.site, np.load(self.folder / "x.npy")[0]), (site, number))

    def test_archive_and_extract_select_the_same(self):
        shared = model_of(["first", "second"], ["", "first"])  # one entry has the bytes of both initializers
        shared.graph.initializer[1].raw_data = shared.graph.initializer[0].raw_data
        output = model_of(["a"], ["named", "too"])
        output.graph.node[0].output[0] = "graph.node[1].attr.value"
        texts = {"", "*", "?", "no such tensor", "graph.*", "graph.initializer[*]", "graph.initializer[9]", "[ab]"}
        for name, model in {**HOSTILE, "a shared entry": shared, "an output that is a site": output}.items():
            self.save(model)
            with onnxar.open(self.path) as archive:
                infos = [archive.info(key) for key in archive]
                known = {text for info in infos for text in (info.name, info.site, info.output)} | {*archive, *(entry.name for entry in archive.entries())}
                for text in sorted(texts | known | {text + more for text in known for more in ("~", "~~", "*")}):
                    with self.subTest(name, text=text):
                        selected = site_or_code(lambda: archive.info(text))
                        extracted = site_or_code(lambda: onnxar.extract(self.path, text, self.folder / "x.npy", overwrite=True)[0].tensor)
                        if selected == "usage.no_such_tensor" and extracted == "usage.argument":
                            self.assertRegex(text, r"[*?\[]")  # a pattern, which needs a folder, and which Archive does not know
                        else:
                            self.assertEqual(extracted, selected)

    def test_all_keys_are_set_in_one_loop(self):
        for name, model in HOSTILE.items():
            for shared in (False, True):
                with self.subTest(name, shared=shared):
                    self.save(model)
                    before = self.content()
                    with onnxar.edit(self.path) as e:
                        if shared:
                            e.model.producer_name = "me"
                        for key in e:
                            e[key] = e[key] * 100
                    self.assertEqual(self.content(), {key: (site, number * 100) for key, (site, number) in before.items()})

    def test_renamed_tensor_is_not_taken_for_another(self):
        self.save(model_of(["a", "b"]))
        before = self.path.read_bytes()
        with self.assertRaisesRegex(onnxar.Error, "renamed in `model`") as caught, onnxar.edit(self.path) as e:
            first, second = e.model.graph.initializer
            first.name, second.name = "b", "a"
            e["a"] = e["a"] * 2
        self.assertEqual(caught.exception.code, "usage.argument")
        self.assertEqual(self.path.read_bytes(), before)

    def test_attributes_of_one_name_are_refused(self):
        model = model_of([], ["c"])
        model.graph.node[0].attribute.append(model.graph.node[0].attribute[0])
        self.save(model)
        with self.assertRaises(onnxar.Error) as caught, onnxar.edit(self.path) as e:
            e.model.producer_name = "me"
        self.assertEqual(caught.exception.code, "onnx.model.invalid")

    def test_data_outside_of_a_name_defined_twice_stays(self):
        first, second = (numpy_helper.from_array(np.full(BIG, number, np.float32), "dup") for number in (1, 2))
        model = helper.make_model(helper.make_graph([], "g", [], [], [first, second]), ir_version=10)
        (self.folder / "w.bin").write_bytes(first.raw_data + second.raw_data)
        for number, tensor in enumerate(model.graph.initializer):
            onnx.external_data_helper.set_external_data(tensor, "w.bin", number * 4 * BIG, 4 * BIG)
            tensor.ClearField("raw_data")
        onnxar.save(model, self.path, data_dir=self.folder)
        before = self.path.read_bytes()
        with self.assertRaisesRegex(onnxar.Error, "outside the model, and its graph defines its name more than once") as caught:
            with onnxar.edit(self.path) as e:
                e["graph.initializer[0]"] = np.zeros(BIG, np.float32)
        self.assertEqual(caught.exception.code, "onnx.graph.duplicate")
        self.assertEqual(self.path.read_bytes(), before)

    def test_name_counts_before_entry_and_site(self):
        self.save(model_of(["graph.initializer[1]", "b", "a.b", "a_b"]))
        with onnxar.open(self.path) as archive:
            self.assertEqual(list(archive), ["graph.initializer[1]", "b", "a.b", "a_b"])
            entries = {site: entry.name for entry in archive.entries() for site in entry.sites}
            texts = {"graph.initializer[1]": 1, "graph.initializer[1]~": 2, "graph.initializer[0]": 1, "a_b": 4,
                     entries["graph.initializer[3]"]: 4}  # fmt: skip
            for text, number in texts.items():
                self.assertEqual(archive.tensor(text)[0], number, text)
        for text, number in texts.items():
            onnxar.extract(self.path, text, self.folder / "x.npy", overwrite=True)
            self.assertEqual(np.load(self.folder / "x.npy")[0], number, text)

    def test_ambiguous_name_lists_its_sites(self):
        self.save(model_of(["dup", "dup"], ["twice", "twice", "dup"]))
        sites = {"dup": ["graph.initializer[0]", "graph.initializer[1]"],
                 "twice": ["graph.node[0].attr.value", "graph.node[1].attr.value"]}  # fmt: skip

        def put(name: str) -> None:
            with onnxar.edit(self.path) as e:
                e.put(name, np.zeros(BIG, np.float32))

        def put_with_model(name: str) -> None:
            with onnxar.edit(self.path) as e:
                e.model.producer_name = "me"
                e.put(name, np.zeros(BIG, np.float32))

        def set_item(name: str) -> None:
            with onnxar.edit(self.path) as e:
                e[name] = np.zeros(BIG, np.float32)

        archive = onnxar.open(self.path)
        before = self.path.read_bytes()
        for name, places in sites.items():
            for call in (archive.__getitem__, archive.tensor, archive.info, archive.get_slice, put, set_item):
                error = self.refused("usage.ambiguous_tensor", call, name)
                self.assertIsInstance(error, KeyError)
                self.assertIn("their keys are " + ", ".join(places) + " [", str(error))
            self.refused("usage.ambiguous_tensor", put_with_model, name)
            error = self.refused("usage.ambiguous_tensor", onnxar.extract, self.path, name, self.folder / "x")
            self.assertIn("by its site: " + ", ".join(places) + " [", str(error))
            self.assertNotIn(name, archive)
            self.assertIsNone(archive.get(name))
        self.assertEqual(self.path.read_bytes(), before)

    def test_put_of_site_or_entry_changes_its_tensor(self):
        unnamed = "graph.node[0].attr.value"
        for text, key in {"graph.initializer[0]": "layer.0/w", "layer_0_w": "layer.0/w", unnamed: unnamed, unnamed + "~": unnamed}.items():
            self.save(model_of(["layer.0/w"], [""]))
            with onnxar.edit(self.path) as e:
                e.put(text, np.full(BIG, 7, np.float32))
                self.assertEqual((e[key][0], len(e)), (7, 2))
            self.assertEqual({key: number for key, (_, number) in self.content().items()}, {"layer.0/w": 1, unnamed: 2} | {key: 7})

    def test_setting_other_text_says_which_key(self):
        self.save(model_of(["layer.0/w"]))
        for text in ("graph.initializer[0]", "layer_0_w"):
            with onnxar.edit(self.path) as e:
                error = self.refused("usage.no_such_tensor", e.__setitem__, text, np.zeros(BIG, np.float32))
                self.assertIn("'layer.0/w'", str(error))


class Moved(FolderTest):
    """Tensors without a name, after the caller changed `Edit.model`."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"
        onnxar.save(model_of([], ["", "", ""]), self.path)

    def test_tensor_is_found_where_it_moved(self):
        with onnxar.edit(self.path) as e:
            del e.model.graph.node[0]
            e.model.graph.node.insert(0, helper.make_node("Identity", ["c1"], ["i"]))
            e.model.graph.node.insert(0, helper.make_node("Identity", ["c1"], ["j"]))
            e["graph.node[1].attr.value"] = np.full(BIG, 20, np.float32)
        with onnxar.open(self.path) as archive:
            self.assertEqual([float(array[0]) for array in archive.values()], [20, 3])

    def test_tensor_that_is_gone_is_refused(self):
        before = self.path.read_bytes()
        with onnxar.edit(self.path) as e:
            del e.model.graph.node[0]
            for _ in range(2):
                error = self.refused("usage.no_such_tensor", e.__setitem__, "graph.node[0].attr.value", np.zeros(BIG, np.float32))
                self.assertIn("not in `model` any more", str(error))
            e.model.graph.node.insert(0, helper.make_node("Identity", ["c1"], ["i"]))
            self.refused("usage.no_such_tensor", e.put, "graph.node[0].attr.value", np.zeros(BIG, np.float32))
        self.assertTrue(self.path.read_bytes().startswith(before))

    def test_removed_name_does_not_mean_an_attribute(self):
        onnxar.save(model_of(["c"], ["c", "d"]), self.path, overwrite=True)
        with onnxar.edit(self.path) as e:
            del e.model.graph.initializer[0]
            self.refused("usage.no_such_tensor", e.__setitem__, "c", np.zeros(BIG, np.float32))
            e.put("c", np.full(BIG, 7, np.float32))
            e.model.graph.node.insert(0, helper.make_node("Identity", ["c1"], ["i"]))
            e.model.graph.initializer.append(numpy_helper.from_array(np.zeros(BIG, np.float32), "d"))
            e["d"] = np.full(BIG, 8, np.float32)
        with onnxar.open(self.path) as archive:
            self.assertEqual({archive.info(key).site: float(array[0]) for key, array in archive.items()},
                             {"graph.node[1].attr.value": 2, "graph.node[2].attr.value": 8, "graph.initializer[0]": 7,
                              "graph.initializer[1]": 0})  # fmt: skip


if __name__ == "__main__":
    unittest.main()

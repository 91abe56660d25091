"""Tests how onnx_ir represents a model, and where the data of its tensors comes from."""

from __future__ import annotations

import os
import unittest
import warnings
from collections.abc import Callable
from unittest import mock

import numpy as np
import onnx
import onnx_ir
from building import archive, block, number, pair
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from sites import every_site, every_site_of_ir, float_tensor
from support import FolderTest, matmul_model

import onnxar
from onnxar import _ir


def with_defaults() -> onnx.ModelProto:
    """Returns a tensor at every site that onnx_ir keeps, also in the defaults of a function's attributes."""
    model = every_site_of_ir(1024)
    function = model.functions[0]
    function.doc_string = "with defaults"
    function.attribute.append("without_default")
    inner = helper.make_graph([helper.make_node("Constant", [], ["c"], value=float_tensor("in_graph", 600))], "default", [], [],
                              [float_tensor("of_graph", 601)])  # fmt: skip
    function.attribute_proto.extend([
        helper.make_attribute("tensor", float_tensor("default", 602)), helper.make_attribute("graph", inner),
        helper.make_attribute("tensors", [float_tensor("first", 603), float_tensor("second", 604)]),
        helper.make_attribute("graphs", [inner]), helper.make_attribute("number", 3),
    ])  # fmt: skip
    return model


def matmul_archive(change: Callable[[onnx.ModelProto], object]) -> bytes:
    """Returns the archive of a model that was changed: two nodes, the values x, w, product, b, sum, y and others."""
    model = matmul_model()
    change(model)
    return onnxar.save(model)


def tensors_of(model: onnx_ir.Model) -> list[object]:
    return [tensor for tensors, _ in _ir._places(model) for tensor in tensors]


class Data(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"
        self.addCleanup(os.chdir, os.getcwd())
        (self.folder / "here").mkdir()
        os.chdir(self.folder / "here")

    def plant(self) -> None:
        """Puts a file of other data into the current folder for each entry, and for the archive."""
        for name in [*(entry.name for entry in onnxar.ls(self.path)), self.path.name, "model.data", "0", "1"]:
            with open(name, "wb") as file:
                file.write(b"\xff" * 8192)

    def test_reads_no_tensor_from_current_folder(self):
        model = with_defaults()
        onnxar.save(model, self.path, all_sites=True)
        self.plant()
        loaded = onnxar.load_ir(self.path)
        expected = {numpy_helper.to_array(t).tobytes() for t in (float_tensor("", 600), float_tensor("", 601), float_tensor("", 602))}
        data = {tensor.numpy().tobytes() for tensor in tensors_of(loaded)}
        self.assertLessEqual(expected, data)
        self.assertNotIn(b"\xff" * 16, {each[:16] for each in data})
        onnxar.save(loaded, self.folder / "again.onnxar", all_sites=True)
        self.assertEqual(lines_of(model) - lines_of(onnxar.load(self.folder / "again.onnxar")), set())

    def test_unvisited_site_reads_no_file(self):
        onnxar.save(with_defaults(), self.path, all_sites=True)
        self.plant()
        with mock.patch.object(_ir, "_places", return_value=iter(())):
            loaded = onnxar.load_ir(self.path)
        tensor = loaded.graph.initializers["initializer"].const_value
        with self.assertRaises(ValueError):
            tensor.numpy()
        self.assertIn("\0", str(tensor.path))

    def test_odd_locations_stay_in_the_archive(self):
        w = np.arange(512, dtype=np.float32)
        link = pair("location", "w") + pair("length", "2048")
        head = number(1, 512) + number(2, 1) + block(8, "w")
        for spelling in (number(14, 0) + link + number(14, 1), number(14, 1) + link + number(14, 9), link + number(14, 1 | 1 << 32), number(14, 1) + link):
            default = block(1, "value") + block(5, head + spelling) + number(20, AttributeProto.TENSOR)
            node = block(2, "c") + block(4, "Constant") + block(5, default)
            function = block(1, "F") + block(5, "c") + block(7, node) + block(11, default) + block(10, "q")
            graph = block(2, "g") + block(5, head + spelling) + block(1, node)
            proto = number(1, 10) + block(7, graph) + block(8, number(2, 21)) + block(25, function)
            self.path.write_bytes(archive(proto, w=w.tobytes()))
            self.plant()
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                loaded = onnxar.load_ir(self.path)
            found = tensors_of(loaded)
            self.assertEqual(len(found), 4)
            for tensor in found:
                np.testing.assert_array_equal(tensor.numpy(), w)


    def test_link_without_length_takes_what_the_dims_need(self):
        values = np.arange(1024, dtype=np.float32)
        tensor = number(1, 256) + number(2, 1) + block(8, "w") + pair("location", "all") + pair("offset", "1024") + number(14, 1)
        proto = number(1, 10) + block(7, block(2, "g") + block(5, tensor)) + block(8, number(2, 21))
        self.path.write_bytes(archive(proto, all=values.tobytes()))
        np.testing.assert_array_equal(onnxar.open(self.path)["w"], values[256:512])
        np.testing.assert_array_equal(onnxar.load_ir(self.path).graph.initializers["w"].const_value.numpy(), values[256:512])

    def test_odd_numbers_are_refused_at_the_use(self):
        for key, text in (("offset", "0x0"), ("offset", "-1"), ("length", "+2048"), ("length", "02048"), ("length", "9" * 30), ("offset", " 0")):
            tensor = number(1, 512) + number(2, 1) + block(8, "w") + pair("location", "w") + pair(key, text) + number(14, 1)
            proto = number(1, 10) + block(7, block(2, "g") + block(5, tensor)) + block(8, number(2, 21))
            self.path.write_bytes(archive(proto, w=bytes(2048)))
            loaded = onnxar.load_ir(self.path).graph.initializers["w"].const_value
            self.refused(f"onnx.external_data.bad_{key}", loaded.numpy)
        for links in (b"", pair("location", ""), pair("location", "../w"), pair("location", str(self.path))):
            tensor = number(1, 512) + number(2, 1) + block(8, "w") + links + number(14, 1)
            proto = number(1, 10) + block(7, block(2, "g") + block(5, tensor)) + block(8, number(2, 21))
            self.path.write_bytes(archive(proto, w=bytes(2048)))
            with self.assertRaises(onnxar.Error):
                onnxar.load_ir(self.path).graph.initializers["w"].const_value.numpy()


class Losses(FolderTest):
    def test_refuses_sparse_tensors_by_name(self):
        model = every_site(1024)
        model.ClearField("training_info")
        whole = list(model.graph.sparse_initializer)
        for place, name in ((model.graph, "values_of_graph"), (model.graph.node[1].attribute[0].g, "values_of_graph")):
            del model.graph.node[3:]
            del model.graph.sparse_initializer[:]
            place.sparse_initializer.extend(whole)
            onnxar.save(model, self.folder / "m.onnxar", overwrite=True)
            self.assertIn(name, str(self.refused("usage.argument", onnxar.load_ir, self.folder / "m.onnxar")))

    def test_refuses_sparse_attributes_and_maps(self):
        model = matmul_model()
        model.graph.node.add(op_type="S", output=["s"]).attribute.append(every_site(8).graph.node[3].attribute[2])
        onnxar.save(model, self.folder / "m.onnxar")
        self.assertIn("values_of_node", str(self.refused("usage.argument", onnxar.load_ir, self.folder / "m.onnxar")))
        model = matmul_model()
        model.graph.input.add(name="m").type.map_type.key_type = TensorProto.INT64
        onnxar.save(model, self.folder / "m.onnxar", overwrite=True)
        self.assertIn("Map types", str(self.refused("usage.argument", onnxar.load_ir, self.folder / "m.onnxar")))

    def test_names_what_is_left_out(self):
        model = matmul_model()
        model.training_info.add().algorithm.name = "a"
        model.graph.node[1].MergeFromString(number(9000, 1))
        model.MergeFromString(block(9001, "new"))
        model.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32)))
        model.graph.initializer.add(name="part", data_type=1, dims=[1], raw_data=bytes(4)).segment.end = 1
        onnxar.save(model, self.folder / "m.onnxar")
        with self.assertWarns(UserWarning) as loading:
            loaded = onnxar.load_ir(self.folder / "m.onnxar")
        with self.assertWarns(UserWarning) as saving:
            onnxar.save(loaded, self.folder / "n.onnxar")
        for warned in (loading, saving):
            for name in ("training_info[0]", "unknown fields of the model", "unknown fields of graph.node[1]", "graph.initializer[3]",
                         "the segment of graph.initializer[4]"):  # fmt: skip
                self.assertIn(name, str(warned.warning))
            self.assertEqual(warned.filename, __file__)

    def test_names_initializers_without_data(self):
        model = onnx_ir.from_proto(matmul_model())
        model.graph.initializers["w"].const_value = None
        with self.assertWarnsRegex(UserWarning, "'w', which has no data"):
            onnxar.save(model, self.folder / "m.onnxar")

    def test_keeps_everything_else(self):
        model = with_defaults()
        model.producer_name, model.producer_version, model.domain, model.model_version, model.doc_string = "p", "1", "d", 3, "doc"
        model.metadata_props.add(key="k", value="v")
        model.graph.doc_string = "graph"
        model.graph.metadata_props.add(key="k", value="v")
        model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3], "input"))
        node = model.graph.node.add(op_type="Op", domain="mine", name="n", doc_string="doc", input=["x", "", "initializer"], output=["y"])
        node.metadata_props.add(key="k", value="v")
        node.attribute.extend([helper.make_attribute("i", 1), helper.make_attribute("f", 1.5), helper.make_attribute("s", "text"),
                               helper.make_attribute("is", [1, 2]), helper.make_attribute("fs", [1.0]), helper.make_attribute("ss", ["a"])])  # fmt: skip
        model.graph.value_info.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, [11]))
        annotation = model.graph.quantization_annotation.add(tensor_name="initializer")
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="c")
        onnxar.save(model, self.folder / "m.onnxar", all_sites=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            onnxar.save(onnxar.load_ir(self.folder / "m.onnxar"), self.folder / "n.onnxar")
        saved = onnxar.load(self.folder / "n.onnxar")
        self.assertEqual(lines_of(model) - lines_of(saved), set())


def lines_of(message: object, site: str = "") -> set[str]:
    """Returns each scalar of a message with the path to it. Repeated messages are identified by their content, not by
    their order."""
    found = set()
    for field, value in message.ListFields():
        several = hasattr(value, "extend")
        for each in value if several else [value]:
            path = f"{site}.{field.name}"
            found |= lines_of(each, path) if field.message_type is not None else {f"{path} {each!r}"}
    return found



def twice(messages, **fields) -> None:
    for value in ("1", "2"):
        messages.add(**fields, value=value)


class Dropped(FolderTest):
    """onnx_ir keeps the last of several elements with one key, and information only about values of the graph."""

    LEFT_OUT = {
        "all but the last of metadata_props named 'k' in the model": lambda model: twice(model.metadata_props, key="k"),
        "all but the last of metadata_props named 'k' in graph": lambda model: twice(model.graph.metadata_props, key="k"),
        "all but the last of metadata_props named 'k' in graph.node[1]": lambda model: twice(model.graph.node[1].metadata_props, key="k"),
        "all but the last of metadata_props named 'k' in graph.initializer[0]":
            lambda model: twice(model.graph.initializer[0].metadata_props, key="k"),
        "all but the last of metadata_props named 'k' in graph.input[0]": lambda model: twice(model.graph.input[0].metadata_props, key="k"),
        "all but the last of opset_import named 'x' in the model":
            lambda model: model.opset_import.extend([helper.make_opsetid("x", 1), helper.make_opsetid("x", 2)]),
        "all but the last of value_info named 'sum' in graph":
            lambda model: model.graph.value_info.extend([helper.make_tensor_value_info("sum", 1, [each]) for each in (1, 2)]),
        "the value_info of 'nowhere' in graph": lambda model: model.graph.value_info.append(helper.make_tensor_value_info("nowhere", 1, [1])),
        "the quantization_annotation of 'nowhere' in graph": lambda model: model.graph.quantization_annotation.add(tensor_name="nowhere"),
    }  # fmt: skip
    REFUSED = {
        "several of attribute named 'alpha' in graph.node[0]":
            lambda model: model.graph.node[0].attribute.extend([helper.make_attribute("alpha", each) for each in (1.0, 2.0)]),
        "several of functions named 'x F' in the model": lambda model: model.functions.extend([
            helper.make_function("x", "F", ["a"], ["b"], [helper.make_node(op, ["a"], ["b"])], model.opset_import) for op in ("Neg", "Abs")]),
    }  # fmt: skip

    def test_left_out_elements_are_named(self):
        for lost, change in self.LEFT_OUT.items():
            with self.subTest(lost):
                with self.assertWarns(UserWarning) as warned:
                    model = onnxar.load_ir(matmul_archive(change))
                self.assertIn(f": {lost}", str(warned.warning))
                for output in (self.folder / "saved.onnxar", None):
                    with self.assertWarns(UserWarning) as warned:
                        onnxar.save(model, output, overwrite=True)
                    self.assertIn(lost, str(warned.warning))
                    self.assertEqual(warned.filename, __file__)

    def test_elements_that_change_the_model_are_refused(self):
        for what, change in self.REFUSED.items():
            with self.subTest(what):
                self.assertIn(what, self.refused("usage.argument", onnxar.load_ir, matmul_archive(change)).message)

    def test_ordinary_model_is_loaded_without_a_warning(self):
        def named(model: onnx.ModelProto) -> None:
            model.graph.value_info.append(helper.make_tensor_value_info("sum", 1, [None, 64]))
            model.graph.quantization_annotation.add(tensor_name="sum")
            model.metadata_props.add(key="k", value="1")
            model.graph.metadata_props.add(key="k", value="1")

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            onnxar.save(onnxar.load_ir(matmul_archive(named)), self.folder / "saved.onnxar")

    def test_tensor_without_data_stays(self):
        model = matmul_model()
        model.graph.initializer[0].ClearField("raw_data")  # 16 KiB by its shape
        onnxar.save(onnxar.load_ir(onnxar.save(model)), self.folder / "saved.onnxar")
        self.assertFalse(onnx.load_from_string(onnxar.cat(self.folder / "saved.onnxar")).graph.initializer[0].HasField("raw_data"))

    def test_errors_of_onnx_ir_are_of_this_package(self):
        model = onnxar.load_ir(onnxar.save(matmul_model()))
        for fail in (TypeError("why"), ValueError("why"), onnx_ir.serde.SerdeError("why"), AttributeError()):
            for name, call in (("from_proto", lambda: onnxar.load_ir(onnxar.save(matmul_model()))), ("to_proto", lambda: onnxar.save(model))):
                with mock.patch.object(onnx_ir, name, side_effect=fail):
                    self.assertIn(str(fail) or "AttributeError", self.refused("usage.argument", call).message)


if __name__ == "__main__":
    unittest.main()

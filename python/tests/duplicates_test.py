"""Tests that no form of a model changes what ONNX Runtime computes, even where it treats data inside and outside the model differently."""

from __future__ import annotations

import itertools
import pathlib
import unittest

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from support import FolderTest

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]
SIZE = 512  # of each tensor: more than the least that becomes an entry
DUPLICATE = "onnx.graph.duplicate"


def constant(value: float, name: str = "w", size: int = SIZE) -> TensorProto:
    return numpy_helper.from_array(np.full(size, value, np.float32), name)


def vector(name: str, size: int | None = SIZE) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])


def model_of(nodes: list[onnx.NodeProto], initializers: list[TensorProto], more_inputs: tuple[onnx.ValueInfoProto, ...] = ()) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "graph", [vector("x"), *more_inputs], [vector("y", None)], initializers)
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])


ADD = helper.make_node("Add", ["x", "w"], ["y"])


def if_node(*branch: onnx.NodeProto, initializers: tuple[TensorProto, ...] = ()) -> list[onnx.NodeProto]:
    """Nodes that compute `y` in a branch of an If."""
    graph = helper.make_graph(list(branch), "branch", [], [vector("y_in_branch")], list(initializers))
    yes = numpy_helper.from_array(np.array(True))
    return [helper.make_node("Constant", [], ["yes"], value=yes),
            helper.make_node("If", ["yes"], ["y"], then_branch=graph, else_branch=graph)]  # fmt: skip


def outcome(session: object) -> object:
    """Returns the first number that the session gives for zeros, or None if it cannot be made."""
    try:
        made = session()
    except onnxar.Error:
        raise
    except Exception:  # ONNX Runtime's errors have no class in common
        return None
    (y, *_) = made.run(None, {"x": np.zeros(SIZE, np.float32)} if made.get_inputs() else {})
    return y.ravel()[0]


class PlacesTest(FolderTest):
    def written(self, model: onnx.ModelProto, name: str = "m") -> pathlib.Path:
        path = self.folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    def out(self, tensor: TensorProto) -> TensorProto:
        """Moves the data of a tensor to a file of its own."""
        name = f"{len(self.names())}.bin"
        (self.folder / name).write_bytes(tensor.raw_data)
        for key, value in (("location", name), ("offset", "0"), ("length", str(len(tensor.raw_data)))):
            tensor.external_data.add(key=key, value=value)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        return tensor

    @staticmethod
    def session(path: pathlib.Path) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        return ort.InferenceSession(path, options, providers=CPU)

    @staticmethod
    def session_of_archive(source: object) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        return onnxar.onnxruntime.InferenceSession(source, options, providers=CPU)

    def outcomes(self, path: pathlib.Path, threshold: int = 1) -> dict[str, object]:
        """Returns what ONNX Runtime computes with each form of the model; "refused" if this package does not make the form."""
        archive = self.folder / "a.onnxar"
        self.report = onnxar.pack(path, archive, threshold=threshold, all_sites=True, overwrite=True)
        forms = {
            "archive": lambda: self.session_of_archive(archive),
            "memory": lambda: self.session_of_archive(archive.read_bytes()),
            "link": lambda: self.session(self.link_of(archive)),
            "inside": lambda: self.session(onnxar.unpack(archive, self.folder / "inside.onnx", overwrite=True).model_path),
            "outside": lambda: self.session(
                onnxar.unpack(archive, self.folder / "outside.onnx", external_data="outside.data", overwrite=True).model_path
            ),
        }
        found: dict[str, object] = {"plain": outcome(lambda: self.session(path))}
        for form, make in forms.items():
            try:
                found[form] = outcome(make)
            except onnxar.Error as error:
                self.assertEqual(error.code, DUPLICATE, error)
                found[form] = "refused"
        return found

    def link_of(self, archive: pathlib.Path) -> pathlib.Path:
        link = self.folder / "link.onnx"
        onnxar.link(archive, link, overwrite=True)
        return link

    def assert_same(self, path: pathlib.Path, threshold: int = 1) -> None:
        found = self.outcomes(path, threshold)
        for form, value in found.items():
            self.assertEqual(value, found["plain"], f"{form}: {found}")


class Duplicates(PlacesTest):
    def cases(self) -> dict[str, onnx.ModelProto]:
        made = {}
        for inside in itertools.product((True, False), repeat=2):
            name = "".join("io"[not each] for each in inside)

            def tensors(size: int = SIZE, inside: tuple[bool, ...] = inside) -> list[TensorProto]:
                both = constant(1, size=size), constant(2, size=size)
                return [each if stays else self.out(each) for each, stays in zip(both, inside, strict=True)]

            made[f"initializers {name}"] = model_of([ADD], tensors())
            first, second = tensors()
            made[f"constant {name}"] = model_of([helper.make_node("Constant", [], ["w"], value=first), ADD], [second])
            nodes = [helper.make_node("Constant", [], ["w"], value=each) for each in tensors()]
            made[f"constants {name}"] = model_of([*nodes, ADD], [])
            made[f"inputs {name}"] = model_of([ADD], tensors(), (vector("w"),))
            branch = helper.make_node("Add", ["x", "w"], ["y_in_branch"])
            made[f"branch {name}"] = model_of(if_node(branch, initializers=tuple(tensors())), [])
            made[f"unused {name}"] = model_of([helper.make_node("Identity", ["x"], ["y"])], tensors())
        return made

    def test_cached_session_equals_plain_session(self):
        unused = numpy_helper.from_array(np.ones(1, np.int64), "unused")
        path = self.written(model_of([ADD], [unused, self.out(constant(1)), constant(2)]))
        onnxar.pack(path, self.folder / "m.onnxar")
        expected = outcome(lambda: ort.InferenceSession(path, providers=CPU))
        (cache := self.folder / "cache").mkdir(mode=0o700)
        for _ in range(2):
            with self.assertWarnsRegex(RuntimeWarning, "defines a name more than once"):
                session = onnxar.onnxruntime.InferenceSession(self.folder / "m.onnxar", providers=CPU, cache=cache)
            self.assertEqual(outcome(lambda made=session: made), expected)

    def test_result_is_that_of_the_plain_model_or_refused(self):
        for name, model in self.cases().items():
            with self.subTest(name):
                path = self.written(model)
                found = self.outcomes(path)
                for form in ("archive", "link", "outside"):  # these do not move data
                    self.assertEqual(found[form], found["plain"], found)
                for form in ("memory", "inside"):
                    self.assertIn(found[form], ("refused", found["plain"]), found)
                    if name.endswith(" ii"):
                        self.assertEqual(found[form], found["plain"], found)
                self.assertEqual({each.code for each in self.report.remarks}, {DUPLICATE})
                self.assertEqual({each.code for each in onnxar.check(path) if each.severity == "warning"} & {DUPLICATE}, {DUPLICATE})

    def test_save_and_replace_do_not_move_them(self):
        model = model_of([ADD], [constant(1), constant(2)])
        plain = outcome(lambda: self.session(self.written(model)))
        archive = self.folder / "s.onnxar"
        report = onnxar.save(model, archive)
        self.assertEqual([each.code for each in report.remarks], [DUPLICATE] * 2)
        self.assertEqual(outcome(lambda: self.session_of_archive(archive)), plain)
        onnxar.replace(archive, self.written(model))
        self.assertEqual(outcome(lambda: self.session_of_archive(archive)), plain)
        self.assertEqual(onnxar.load(archive), model)

    def test_save_keeps_external_data_outside(self):
        model = model_of([ADD], [self.out(constant(1)), self.out(constant(2))])
        plain = outcome(lambda: self.session(self.written(model)))
        archive = self.folder / "s.onnxar"
        onnxar.save(model, archive, data_dir=self.folder, threshold=1 << 30)
        self.assertEqual(outcome(lambda: self.session_of_archive(archive)), plain)
        self.refused(DUPLICATE, onnxar.load, archive)

    def test_link_has_remarks(self):
        archive = self.folder / "a.onnxar"
        onnxar.pack(self.written(model_of([ADD], [constant(1), constant(2)])), archive)
        remarks = onnxar.link(archive).remarks
        self.assertEqual([each.code for each in remarks], [DUPLICATE] * 2)
        self.assertIn("graph.initializer[0]", remarks[0].message)

    def test_load_ir_refuses_what_onnx_ir_would_drop(self):
        model = model_of([ADD], [constant(1), constant(2)])
        self.assertEqual(len(onnx_ir.from_proto(model).graph.initializers), 1, "onnx_ir keeps one of two")
        archive = self.folder / "s.onnxar"
        sparse = onnx.SparseTensorProto(values=constant(1), dims=[SIZE])
        sparse.indices.CopyFrom(numpy_helper.from_array(np.arange(SIZE), "indices"))
        with_sparse = model_of([ADD], [constant(1)])
        with_sparse.graph.sparse_initializer.append(sparse)
        in_branch = model_of(if_node(helper.make_node("Add", ["x", "w"], ["y_in_branch"]), initializers=(constant(1), constant(2))), [])
        node = model_of([helper.make_node("Identity", ["x"], ["w"]), ADD], [constant(1)])
        for each in (model, with_sparse, in_branch, node):
            onnxar.save(each, archive, overwrite=True)
            self.assertEqual(self.refused(DUPLICATE, onnxar.load_ir, archive).entry, "w")


class Differences(PlacesTest):
    """Tests the rows of docs/interop.md about data inside and outside a model."""

    def test_two_inputs_or_graphs_may_share_a_name(self):
        branch = helper.make_node("Add", ["x", "w"], ["y_in_branch"])
        for initializers in ([constant(1)], [self.out(constant(1))]):
            self.assert_same(self.written(model_of([ADD], initializers, (vector("w"),))))
            self.assert_same(self.written(model_of(if_node(branch), initializers)))  # a name of the outer graph
            self.assert_same(self.written(model_of(if_node(branch, initializers=(constant(2),)), initializers)))

    def test_initializer_that_no_node_takes_is_harmless(self):
        nodes = [helper.make_node("Identity", ["x"], ["y"])]
        for initializers in ([constant(1)], [self.out(constant(1))]):
            self.assert_same(self.written(model_of(nodes, initializers)))

    def test_default_of_an_input_can_be_overridden(self):
        archive = self.folder / "a.onnxar"
        onnxar.pack(self.written(model_of([ADD], [constant(1)], (vector("w"),))), archive)
        for source in (archive, archive.read_bytes()):
            session = self.session_of_archive(source)
            for w, expected in (({}, 1), ({"w": np.full(SIZE, 5, np.float32)}, 5)):
                (y,) = session.run(None, {"x": np.zeros(SIZE, np.float32), **w})
                self.assertEqual(y[0], expected)

    def test_small_data_in_the_model_is_taken_as_outside(self):
        small = [constant(1, size=31), constant(2, size=31)]  # less than 128 bytes
        nodes = [helper.make_node("Concat", ["x", "w"], ["y_all"], axis=0), helper.make_node("ReduceSum", ["y_all"], ["y"])]
        found = {outcome(lambda made=made: self.session(self.written(model_of(nodes, made)))) for made in (small, list(map(self.out, small)))}
        self.assertEqual(len(found), 1, "link puts external data of less than 128 bytes into the model")

    def test_empty_tensor_is_inside(self):
        nodes = [helper.make_node("Concat", ["x", "w"], ["y"], axis=0)]
        for tensor in (constant(1, size=0), self.out(constant(1, size=0))):
            path = self.written(model_of(nodes, [tensor]))
            self.assert_same(path)
            self.assertEqual(self.report.tensors_outside, 0)

    def test_strings_are_inside(self):
        strings = helper.make_tensor("w", TensorProto.STRING, [200], [b"0123456789"] * 200)
        model = model_of([helper.make_node("Identity", ["w"], ["y"])], [strings])
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.STRING
        del model.graph.input[:]
        self.assert_same(self.written(model))
        self.assertEqual(self.report.tensors_outside, 0)
        outside = self.out(TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], raw_data=b"0"))
        model.graph.initializer[0].CopyFrom(outside)
        self.assertIsNone(outcome(lambda: self.session(self.written(model))), "ONNX Runtime refuses strings outside")
        self.refused("onnx.external.string", onnxar.pack, self.written(model), self.folder / "refused.onnxar")

    def test_shapes_are_inside(self):
        shape = numpy_helper.from_array(np.array([SIZE], np.int64), "shape")
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Add", ["r", "w"], ["y"])]
        path = self.written(model_of(nodes, [shape, constant(1)]))
        self.assert_same(path)
        outside = self.written(model_of(nodes, [self.out(shape), constant(1)]), "outside")
        self.assertIsNone(outcome(lambda: self.session(outside)), "ONNX Runtime needs shapes while it builds the graph")
        self.assertEqual(self.outcomes(outside)["archive"], 1.0)

    def test_attributes_of_other_nodes_are_inside_links(self):
        value = numpy_helper.from_array(np.array([3], np.float32))
        size = numpy_helper.from_array(np.array([SIZE], np.int64), "size")
        nodes = [helper.make_node("ConstantOfShape", ["size"], ["w"], value=value), ADD]
        self.assert_same(self.written(model_of(nodes, [size])))


if __name__ == "__main__":
    unittest.main()

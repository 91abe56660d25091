"""Archives of what inference needs: `freeze`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, TrainingInfoProto, helper, numpy_helper
from onnx.helper import make_node

from support import command_line
from support.command_line import FORMAT, GIB, IO, MIB, USAGE, ToolCase, run

FLOAT = TensorProto.FLOAT


def value(name: str, dims: list[object] | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, [300] if dims is None else dims)


def weight(name: str, seed: int = 0, dims: tuple[int, ...] = (300,)) -> TensorProto:
    return numpy_helper.from_array(np.random.default_rng(seed).standard_normal(dims).astype(np.float32), name)


def open_weight(name: str, kind: int = FLOAT, dims: tuple[int, ...] = (300,)) -> TensorProto:
    return TensorProto(name=name, data_type=kind, dims=dims)


def model_of(nodes: list[Any], initializers: list[TensorProto], inputs: list[str] = ["x"], outputs: list[str] = ["y"],
             functions: list[Any] = [], **options: Any) -> ModelProto:  # fmt: skip
    graph = helper.make_graph(nodes, "g", list(map(value, inputs)), list(map(value, outputs)), initializers)
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid("local", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=opsets, functions=functions, **options)


def function(name: str, *nodes: Any) -> Any:
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["b"], list(nodes), opsets)


class FreezeCase(ToolCase):
    def saved(self, model: ModelProto, name: str = "m.onnx") -> Path:
        return self.write(name, model.SerializeToString())

    def frozen(self, model: ModelProto, *options: object) -> ModelProto:
        """With its data inside; by Debian's onnx it is a good model."""
        self.succeeds("freeze", self.saved(model), "-o", self.output, "-f", "--no-sync", *options)
        self.succeeds("check", "--data", self.output)
        found = onnx.load_model_from_string(self.unpacked(self.output))
        onnx.checker.check_model(found)
        return found

    def refused(self, code: str, model: ModelProto, place: str, exit_code: int = FORMAT, *options: object) -> str:
        path = self.saved(model)
        line = self.fails(exit_code, f"onnxar: error[{code}] ", "freeze", path, "-o", self.output, *options)
        self.assertIn(f'entry "{place}"' if place else "", line)
        return line


class WhatIsReached(FreezeCase):
    def test_dead_branches_and_unused_weights(self) -> None:
        nodes = [
            make_node("Add", ["x", "w"], ["s"], name="live"),
            make_node("Mul", ["x", "v"], ["dead"]),
            make_node("Neg", ["dead"], ["deader"]),
            make_node("Relu", ["s"], ["y"]),
        ]
        model = model_of(nodes, [weight("w"), weight("v", 1), weight("u", 2)], ["x", "unused"])
        model.graph.value_info.extend([value("s"), value("dead")])
        found = self.frozen(model)
        self.assertEqual([node.op_type for node in found.graph.node], ["Add", "Relu"])
        self.assertEqual(list(found.graph.initializer), [model.graph.initializer[0]])
        self.assertEqual([each.name for each in found.graph.input], ["x", "unused"])
        self.assertEqual([each.name for each in found.graph.value_info], ["s"])
        self.assertEqual([entry["name"] for entry in self.listing(self.output)["entries"]], ["w"])

    def test_what_is_needed_stays_byte_for_byte(self) -> None:
        model = model_of([make_node("Add", ["x", "w"], ["y"], doc_string="why")], [weight("w")])
        model.metadata_props.add(key="k", value="v")
        self.assertEqual(self.frozen(model), model)

    def test_docs_and_metadata_on_request(self) -> None:
        model = model_of([make_node("Add", ["x", "w"], ["y"], doc_string="why")], [weight("w")], doc_string="all")
        model.metadata_props.add(key="k", value="v")
        found = self.frozen(model, "--strip-docs", "--strip-metadata")
        self.assertEqual((found.doc_string, found.graph.node[0].doc_string, len(found.metadata_props)), ("", "", 0))
        self.assertEqual(len(self.frozen(model, "--strip-docs").metadata_props), 1)

    def test_training_info(self) -> None:
        model = model_of([make_node("Add", ["x", "w"], ["y"])], [weight("w"), weight("momentum")])
        info = TrainingInfoProto()
        info.algorithm.CopyFrom(helper.make_graph([make_node("Neg", ["momentum"], ["m"])], "t", [], [value("m")]))
        model.training_info.append(info)
        found = self.frozen(model)
        self.assertEqual((len(found.training_info), len(found.graph.initializer)), (0, 1))

    def test_subgraphs_use_what_is_around_them(self) -> None:
        def branch(name: str, *nodes: Any, output: str = "out") -> onnx.GraphProto:
            return helper.make_graph(list(nodes), name, [], [value(output)], [weight(f"{name}_unused")])

        then = branch("then", make_node("Add", ["w", "s"], ["out"]), make_node("Neg", ["v"], ["dead"]))
        other = branch("else", make_node("Identity", ["u"], ["out"]))
        nodes = [
            make_node("Neg", ["x"], ["s"]),
            make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
        ]
        condition = numpy_helper.from_array(np.array(True), "c")
        model = model_of(nodes, [condition, weight("w"), weight("v", 1), weight("u", 2)])
        found = self.frozen(model)
        self.assertEqual([tensor.name for tensor in found.graph.initializer], ["c", "w", "u"])
        self.assertEqual([node.op_type for node in found.graph.node], ["Neg", "If"])
        bodies = [attribute.g for attribute in found.graph.node[1].attribute]
        self.assertEqual(sorted(node.op_type for body in bodies for node in body.node), ["Add", "Identity"])
        self.assertEqual([len(body.initializer) for body in bodies], [0, 0])

    def test_functions_that_are_called_by_functions(self) -> None:
        functions = [
            function("Unused", make_node("Neg", ["a"], ["b"])),
            function("Inner", make_node("Neg", ["a"], ["b"]), make_node("Unused", ["a"], ["c"], domain="local")),
            function("Outer", make_node("Inner", ["a"], ["b"], domain="local")),
        ]
        found = self.frozen(model_of([make_node("Outer", ["x"], ["y"], domain="local")], [], functions=functions))
        self.assertEqual([each.name for each in found.functions], ["Inner", "Outer"])
        self.assertEqual(len(found.functions[0].node), 1)

    def test_imports_of_operators_that_are_used_no_longer(self) -> None:
        def imports(owner: Any) -> dict[str, int]:
            return {opset.domain: opset.version for opset in owner.opset_import}

        odd = make_node("Odd", ["a"], ["b"], domain="odd")
        functions = [
            function("Inner", make_node("Scale", ["a"], ["b"], domain="deep")),
            function("Outer", make_node("Inner", ["a"], ["b"], domain="local"), make_node("Dead", ["a"], ["c"], domain="dead")),
            helper.make_function("unused", "F", ["a"], ["b"], [odd], [helper.make_opsetid("odd", 3)]),
        ]
        functions[0].opset_import.append(helper.make_opsetid("deep", 4))
        functions[1].opset_import.append(helper.make_opsetid("dead", 5))
        branch = helper.make_graph([make_node("Within", ["x"], ["b"], domain="inside")], "g", [], [value("b")])
        nodes = [
            make_node("Outer", ["x"], ["s"], domain="local"),
            make_node("Tree", ["s"], ["t"], domain="ai.onnx.ml"),
            make_node("If", ["t"], ["y"], then_branch=branch, else_branch=branch),
            make_node("F", ["x"], ["gone"], domain="unused"),
            make_node("Adam", ["x"], ["gone too"], domain="ai.onnx.preview.training"),
        ]
        model = model_of(nodes, [], functions=functions)
        names = ("deep", "dead", "unused", "odd", "inside", "ai.onnx.ml", "ai.onnx.preview.training")
        model.opset_import.extend(helper.make_opsetid(name, 2 + place) for place, name in enumerate(names))
        path = self.saved(model)
        told = self.succeeds("freeze", path, "-o", self.output, "--no-sync").stderr
        self.assertIn("; 6 opset imports that nothing uses", told)
        found = onnx.load_model_from_string(self.unpacked(self.output))
        self.assertEqual(imports(found), {"": 13, "local": 1, "deep": 2, "inside": 6, "ai.onnx.ml": 7})
        self.assertEqual([imports(each) for each in found.functions], [{"": 13, "deep": 4}, {"": 13, "local": 1}])

    def test_an_import_stays_where_it_is_the_only_one(self) -> None:
        model = model_of([], [weight("y")])
        del model.opset_import[:]
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
        self.succeeds("freeze", self.saved(model), "-o", self.output)
        self.assertEqual(len(onnx.load_model_from_string(self.unpacked(self.output)).opset_import), 1)

    def test_an_unused_default_goes_with_its_input(self) -> None:
        model = model_of([make_node("Add", ["x", "w"], ["y"])], [weight("w"), weight("v")], ["x", "w", "v"])
        found = self.frozen(model)
        self.assertEqual([each.name for each in found.graph.input], ["x", "w"])

    def test_it_says_what_went(self) -> None:
        model = model_of([make_node("Relu", ["x"], ["y"]), make_node("Neg", ["x"], ["n"])], [weight("w")])
        done = self.succeeds("freeze", self.saved(model), "-o", self.output, "-n")
        self.assertIn("without 1 node, 1 initializer, 0 functions, 0 training infos", done.stderr)
        self.assertFalse(self.output.exists())

    def test_json_reports_the_same(self) -> None:
        model = model_of([make_node("Add", ["x", "w"], ["y"])], [open_weight("w"), weight("v")])
        model.training_info.add()
        np.savez(self.folder / "w.npz", w=np.zeros(300, np.float32), more=np.zeros(3))
        done = self.succeeds("freeze", self.saved(model), "-o", self.output, "--json", "--weights", self.folder / "w.npz", "-q")
        self.assertEqual(done.stderr, "")
        told = json.loads(done.stdout)
        saved = told.pop("saved")
        self.assertEqual(told, {"nodes": 0, "initializers": 1, "inputs": 0, "functions": 0, "training_infos": 1, "opset_imports": 0,
                                "filled": 1,
                                "surplus": ["more"]})  # fmt: skip
        size = self.output.stat().st_size
        self.assertEqual((saved["tensors_outside"], saved["payload_bytes"], saved["file_bytes"]), (1, 1200, size))
        self.assertEqual((saved["model_path"], saved["data_file"], saved["remarks"]), (str(self.output), "", []))
        self.assertEqual({key: saved[key] for key in ("graphs", "graphs_left_out", "side_files", "side_files_left_out")},
                         {"graphs": 0, "graphs_left_out": 0, "side_files": 0, "side_files_left_out": 0})  # fmt: skip

    def test_of_every_form(self) -> None:
        nodes = [make_node("Add", ["x", "w"], ["y"]), make_node("Neg", ["x"], ["dead"])]
        source = self.saved(model_of(nodes, [weight("w"), weight("v")]))
        archive, beside, text = (self.folder / name for name in ("a.onnxar", "beside.onnx", "m.textproto"))
        self.succeeds("pack", source, "-o", archive)
        self.succeeds("unpack", source, "-o", beside, "--external-data", "w.bin")
        self.succeeds("unpack", source, "-o", text, "--text")
        self.succeeds("freeze", source, "-o", self.output)
        expected = self.output.read_bytes()
        for path in (archive, beside, text):
            self.succeeds("freeze", path, "-o", self.output, "-f")
            self.assertEqual(self.output.read_bytes(), expected, path)

    def test_a_model_larger_than_memory_allows(self) -> None:
        source = self.sparse(GIB)
        model = onnx.load(source, load_external_data=False)
        model.graph.output.append(helper.make_tensor_value_info("w", TensorProto.UINT8, [GIB]))
        tool = self.in_memory(64 * MIB)
        self.succeeds("freeze", self.saved(model), "-o", self.output, "--no-sync", tool=tool)
        self.assertEqual(self.listing(self.output)["entries"][0]["size"], GIB)


class BadGraphs(FreezeCase):
    def test_cycles(self) -> None:
        nodes = [make_node("Add", ["x", "b"], ["a"]), make_node("Neg", ["a"], ["b"]), make_node("Neg", ["b"], ["y"])]
        line = self.refused("onnx.graph.cycle", model_of(nodes, []), "graph.node[1]")
        self.assertIn("depends on its own output, through graph.node[0]", line)
        loop = model_of([make_node("Neg", ["y"], ["y"])], [])
        self.assertIn("uses its own output", self.refused("onnx.graph.cycle", loop, "graph.node[0]"))

    def test_undefined_names(self) -> None:
        line = self.refused("onnx.graph.dangling", model_of([make_node("Add", ["x", "gone"], ["y"])], []), "graph.node[0]")
        self.assertIn('no input, initializer or node defines "gone"', line)
        self.refused("onnx.graph.dangling", model_of([], [], outputs=["gone"]), "graph.output[0]")
        self.refused("onnx.graph.dangling", model_of([], [], outputs=[""]), "graph.output[0]")
        dead = model_of([make_node("Neg", ["gone"], ["dead"]), make_node("Neg", ["x"], ["y"])], [])
        self.assertEqual(len(self.frozen(dead).graph.node), 1)

    def test_functions(self) -> None:
        call = [make_node("F", ["x"], ["y"], domain="local")]
        again = function("G", make_node("F", ["a"], ["b"], domain="local"))
        first = function("F", make_node("G", ["a"], ["b"], domain="local"))
        line = self.refused("onnx.graph.cycle", model_of(call, [], functions=[first, again]), "functions[0]")
        self.assertIn("recursion", line)
        self.refused("onnx.graph.duplicate", model_of(call, [], functions=[first, first]), "functions[1]")
        dangling = function("F", make_node("Add", ["a", "x"], ["b"]))
        self.refused("onnx.graph.dangling", model_of(call, [], functions=[dangling]), "functions[0].node[0]")

    def test_model_may_be_replaced(self) -> None:
        model = self.saved(model_of([make_node("Neg", ["x"], ["y"])], []))
        self.succeeds("freeze", model, "-o", model, "-f")


class Weights(FreezeCase):
    """Fills `y = x + w + v`, where `w` is an initializer without data and `v` an input."""

    def setUp(self) -> None:
        super().setUp()
        nodes = [make_node("Add", ["x", "w"], ["s"]), make_node("Add", ["s", "v"], ["y"])]
        self.graph = model_of(nodes, [open_weight("w")], ["x", "v"])
        self.arrays = {name: numpy_helper.to_array(weight(name, seed)) for seed, name in enumerate("wv")}

    def npz(self, compressed: bool = False, **arrays: np.ndarray) -> Path:
        (np.savez_compressed if compressed else np.savez)(self.folder / "w.npz", **arrays)
        return self.folder / "w.npz"

    def expect_filled(self, path: Path) -> None:
        found = self.frozen(self.graph, "--weights", path)
        self.assertEqual([each.name for each in found.graph.input], ["x"])
        tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in found.graph.initializer}
        self.assertEqual(tensors.keys(), self.arrays.keys())
        for name, array in self.arrays.items():
            np.testing.assert_array_equal(tensors[name], array)

    def test_from_npz(self) -> None:
        for compressed in (False, True):
            with self.subTest(compressed=compressed):
                self.expect_filled(self.npz(compressed, **self.arrays))

    def test_filled_tensor_is_not_reported_as_missing(self) -> None:
        weights = self.npz(**self.arrays)
        told = self.succeeds("freeze", self.saved(self.graph), "--weights", weights, "-o", self.output, "-v").stderr
        self.assertNotIn("no_data", told)

    def test_from_a_model_in_every_form(self) -> None:
        tensors = [numpy_helper.from_array(array, name) for name, array in self.arrays.items()]
        source = self.saved(model_of([], tensors, outputs=[]), "weights.onnx")
        archive, beside = self.folder / "w.onnxar", self.folder / "b.onnx"
        self.succeeds("pack", source, "-o", archive)
        self.succeeds("unpack", source, "-o", beside, "--external-data", "w.bin")
        for path in (source, archive, beside):
            self.expect_filled(path)

    def test_shapes_and_types_are_checked(self) -> None:
        for array, code, told in (
            (np.zeros(3, np.float32), "onnx.weights.shape", "must have shape [300], but has shape [3] in this file"),
            (np.zeros((1, 300), np.float32), "onnx.weights.shape", "but has shape [1,300]"),
            (np.zeros(300), "onnx.weights.type", "must have type FLOAT, but has type <f8"),
            (np.zeros(300, ">f4"), "numpy.array.unsupported", "big-endian"),
            (np.zeros(300, object), "numpy.array.unsupported", "NumPy's type"),
            (np.zeros((20, 15), np.float32, "F"), "numpy.array.unsupported", "Fortran"),
            (np.zeros(300, [("a", "<f4")]), "numpy.array.unsupported", "records"),
        ):
            for name in ("w", "v"):
                with self.subTest(told=told, name=name):
                    line = self.refused(code, self.graph, "", FORMAT, "--weights", self.npz(**{**self.arrays, name: array}))
                    self.assertIn(f"{self.folder / 'w.npz'}", line)
                    self.assertIn(told, line)

    def test_a_named_dimension_takes_any_size(self) -> None:
        self.graph.graph.input[1].CopyFrom(value("v", ["n"]))
        self.expect_filled(self.npz(**self.arrays))

    def test_types_that_numpy_lacks(self) -> None:
        tensor = open_weight("w", TensorProto.BFLOAT16)
        model = model_of([make_node("Cast", ["w"], ["y"], to=FLOAT)], [tensor])
        bits = np.arange(300, dtype=np.uint16)
        for array in (bits, bits.view("V2")):
            found = self.frozen(model, "--weights", self.npz(w=array))
            self.assertEqual(found.graph.initializer[0].raw_data, bits.tobytes())

    def test_what_stays_open(self) -> None:
        line = self.refused("onnx.tensor.no_data", self.graph, "graph.initializer[0]")
        self.assertIn('the initializer "w"', line)
        self.refused("onnx.tensor.no_data", self.graph, "graph.initializer[0]", FORMAT, "--weights", self.npz(v=self.arrays["v"]))
        other = self.npz(**{"model.w": self.arrays["v"], "x.bias": self.arrays["w"]})
        line = self.refused("usage.argument", self.graph, "", USAGE, "--weights", other)
        self.assertIn('; the model needs "w", "x", "v"; near names: "model.w"\n', line)
        freezing = ("freeze", self.saved(self.graph), "-o", self.output)
        self.fails(IO, "onnxar: error[io.not_found]", *freezing, "--weights", self.folder / "no")

    def test_unused_weights_are_reported(self) -> None:
        path = self.npz(**self.arrays, momentum=self.arrays["w"])
        done = run("freeze", self.saved(self.graph), "-o", self.output, "--weights", path)
        self.assertIn("2 tensors filled", done.stderr)
        self.assertIn('1 unused tensor in w.npz, such as "momentum"', done.stderr)


if __name__ == "__main__":
    command_line.main()

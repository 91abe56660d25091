"""Models that were frozen give the results that they gave before, by onnx's reference evaluator.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests frozen_results_test.py, with the packages of requirements.txt
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from support import command_line
from support.command_line import ToolCase

# A dead branch and an unused weight on every level; subgraphs that use what is around them, one within another;
# functions that call functions.
MODEL = """
<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
g (float[n] x, float[n] unused) => (float[n] y, float[n] z)
<float[3] w = {1, 2, 3}, float[3] v = {4, 5, 6}, float[3] dead_weight = {7, 8, 9}, bool yes = {1}>
{
  s = local.Outer (x)
  dead = Mul (s, dead_weight)
  deader = local.Unused (dead)
  y = If (yes) <
    then_branch = a () => (float[n] out) <float[3] inner = {1, 1, 2}> {
      t = Add (s, v)
      gone = Neg (w)
      out = If (yes) <
        then_branch = b () => (float[n] out2) { out2 = Mul (t, inner) },
        else_branch = c () => (float[n] out2) { out2 = Sub (t, w) }
      >
    },
    else_branch = d () => (float[n] out) { out = Identity (w) }
  >
  z = Relu (s)
}

<domain: "local", opset_import: ["" : 17]>
Unused (a) => (b) { b = Exp (a) }

<domain: "local", opset_import: ["" : 17, "local" : 1]>
Inner (a) => (b) { two = Constant <value = float {2}> () b = Mul (a, two) nothing = Neg (a) }

<domain: "local", opset_import: ["" : 17, "local" : 1]>
Outer (a) => (b) { c = local.Inner (a) b = Neg (c) other = local.Unused (a) }
"""


class FrozenResults(ToolCase):
    def frozen(self, model: ModelProto, *options: object) -> ModelProto:
        source, back = self.folder / "m.onnx", self.folder / "back.onnx"
        onnx.save(model, source)
        self.succeeds("freeze", source, "-o", self.output, "-f", "--threshold", 0, *options)
        self.succeeds("unpack", self.output, "-o", back, "-f")
        found = onnx.load(back)
        onnx.checker.check_model(found)
        return found

    def results(self, model: ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
        return ReferenceEvaluator(model).run(None, inputs)

    def expect_equal(self, model: ModelProto, found: ModelProto, inputs: dict[str, np.ndarray]) -> None:
        given = {each.name for each in found.graph.input}
        before, after = self.results(model, inputs), self.results(found, {k: v for k, v in inputs.items() if k in given})
        self.assertGreater(len(before), 0)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_dead_branches_functions_and_training_info(self) -> None:
        model = parser.parse_model(MODEL)
        info = onnx.TrainingInfoProto()
        info.algorithm.CopyFrom(model.graph)
        model.training_info.append(info)
        found = self.frozen(model, "--strip-docs", "--strip-metadata")
        inputs = {name: np.array([1, -2, 3], np.float32) for name in ("x", "unused")}
        self.expect_equal(model, found, inputs)
        self.assertEqual([each.name for each in found.functions], ["Inner", "Outer"])
        self.assertEqual(sorted(each.name for each in found.graph.initializer), ["v", "w", "yes"])
        self.assertEqual([node.op_type for node in found.graph.node], ["Outer", "If", "Relu"])
        self.assertEqual(len(found.training_info), 0)

    def test_weights_of_a_checkpoint(self) -> None:
        arrays = {name: np.random.default_rng(seed).standard_normal(300).astype(np.float32) for seed, name in enumerate("wv")}
        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [300]) for name in ("x", "v", "y")]
        nodes = [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Mul", ["s", "v"], ["y"])]
        complete = helper.make_graph(nodes, "g", value[:2], value[2:], [numpy_helper.from_array(arrays["w"], "w")])
        opened = helper.make_graph(nodes, "g", value[:2], value[2:], [TensorProto(name="w", data_type=1, dims=[300])])
        checkpoint = self.folder / "w.npz"
        np.savez_compressed(checkpoint, **arrays)
        opset = [helper.make_opsetid("", 17)]
        found = self.frozen(helper.make_model(opened, opset_imports=opset, ir_version=10), "--weights", checkpoint)
        x = np.arange(300, dtype=np.float32)
        model = helper.make_model(complete, opset_imports=opset, ir_version=10)
        self.expect_equal(model, found, {"x": x, "v": arrays["v"]})

    def test_onnxs_own_models(self) -> None:
        """Of each only the nodes that its outputs need: all of them, so nothing changes."""
        folder = Path(onnx.__file__).parent / "backend/test/data"
        models = sorted((folder / "simple").glob("*/model.onnx")) + sorted((folder / "light").glob("*.onnx"))
        self.assertGreater(len(models), 10)
        for path in models:
            with self.subTest(model=str(path.relative_to(folder))):
                model = onnx.load(path)
                found = self.frozen(model)
                self.assertEqual([node.op_type for node in found.graph.node], [node.op_type for node in model.graph.node])


if __name__ == "__main__":
    command_line.main(__doc__)

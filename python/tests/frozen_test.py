"""Freezing does not change the results of a model, in ONNX Runtime and in onnx's reference evaluator."""

from __future__ import annotations

import unittest

import numpy as np
import onnx
import onnxruntime as ort
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator
from support import FolderTest

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]

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


class Frozen(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.output = self.folder / "frozen.onnxar"

    def frozen(self, model: ModelProto, **options) -> tuple[onnxar.FreezeReport, ModelProto]:
        """Returns the report, and the model: as an archive in `output`, and here with its data inside."""
        report = onnxar.freeze(model, self.output, threshold=0, overwrite=True, sync=False, **options)
        found = onnxar.load(self.output)
        onnx.checker.check_model(found)
        return report, found

    def expect_equal(self, model: ModelProto, found: ModelProto, inputs: dict[str, np.ndarray]) -> None:
        """The results of the model, of what is found in the archive, and of the archive as it is."""
        given = {name: inputs[name] for name in (each.name for each in found.graph.input)}
        session = ort.InferenceSession(model.SerializeToString(), providers=CPU)
        frozen = onnxar.onnxruntime.InferenceSession(self.output, providers=CPU)
        pairs = [(session.run(None, inputs), frozen.run(None, given)),
                 (ReferenceEvaluator(model).run(None, inputs), ReferenceEvaluator(found).run(None, given))]  # fmt: skip
        for before, after in pairs:
            self.assertEqual(len(before), len(model.graph.output))
            for one, other in zip(before, after, strict=True):
                np.testing.assert_array_equal(one, other, strict=True)
        np.testing.assert_allclose(*(before[0] for before, _ in pairs), rtol=1e-6)

    def test_dead_branches_functions_and_training_info(self):
        model = parser.parse_model(MODEL)
        info = onnx.TrainingInfoProto()
        info.algorithm.CopyFrom(model.graph)
        model.training_info.append(info)
        report, found = self.frozen(model, strip_docs=True, strip_metadata=True)
        inputs = {name: np.array([1, -2, 3], np.float32) for name in ("x", "unused")}
        self.expect_equal(model, found, inputs)
        self.assertEqual([each.name for each in found.functions], ["Inner", "Outer"])
        self.assertEqual(sorted(each.name for each in found.graph.initializer), ["v", "w", "yes"])
        self.assertEqual([node.op_type for node in found.graph.node], ["Outer", "If", "Relu"])
        self.assertEqual(len(found.training_info), 0)
        self.assertEqual((report.nodes, report.initializers, report.functions, report.training_infos), (5, 1, 1, 1))

    def test_weights_of_a_checkpoint(self):
        arrays = {name: np.random.default_rng(seed).standard_normal(300).astype(np.float32) for seed, name in enumerate("wv")}
        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [300]) for name in ("x", "v", "y")]
        nodes = [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Mul", ["s", "v"], ["y"])]
        complete = helper.make_graph(nodes, "g", value[:2], value[2:], [numpy_helper.from_array(arrays["w"], "w")])
        opened = helper.make_graph(nodes, "g", value[:2], value[2:], [TensorProto(name="w", data_type=1, dims=[300])])
        checkpoint = self.folder / "w.npz"
        np.savez_compressed(checkpoint, **arrays, more=np.zeros(3))
        whole, open_ = (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
                        for graph in (complete, opened))  # fmt: skip
        report, found = self.frozen(open_, weights=checkpoint)
        self.assertEqual((report.filled, report.surplus), (2, ["more"]))
        self.expect_equal(whole, found, {"x": np.arange(300, dtype=np.float32), "v": arrays["v"]})


if __name__ == "__main__":
    unittest.main()

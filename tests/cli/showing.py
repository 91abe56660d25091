"""Models for tests of `show`, and what it says of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from onnx import TensorProto, helper

from support.command_line import ToolCase


class ShowCase(ToolCase):
    def shown(self, path: Path, *options: object) -> dict[str, Any]:
        return json.loads(self.succeeds("show", "--json", path, *options).stdout)

    def text(self, path: Path, *options: object) -> str:
        return self.succeeds("show", path, *options).stdout.decode()

    def save(self, nodes: list, inputs: dict[str, list], initializers: dict[str, list] = {}, **more: Any) -> Path:
        """A model whose initializers are zeros of these shapes; outputs are those of the last node."""
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
        weights = [
            TensorProto(name=name, dims=dims, data_type=1, raw_data=bytes(4 * math.prod(dims)))
            for name, dims in initializers.items()
        ]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in nodes[-1].output]
        graph = helper.make_graph(nodes, "g", values, outputs, weights)
        return self.write("m.onnx", helper.make_model(graph, **more).SerializeToString())

    def cost(self, nodes: list, inputs: dict[str, list], initializers: dict[str, list] = {}, **more: Any) -> Any:
        """The number, or the text for an unknown one."""
        cost = self.shown(self.save(nodes, inputs, initializers, **more))["cost"]
        return cost["multiply_adds"] if not cost["not_known"] else [each["reason"] for each in cost["not_known"]]

"""Models of the current onnx, looked into: as text and back, their nodes and tensors.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests current_looking_large_test.py, with the packages of requirements.txt
"""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
from google.protobuf import text_format
from onnx import TensorProto, numpy_helper

from current_onnx_large_test import LEAST_CASES, LEAST_FILES, models_of_the_wheel
from support import command_line
from support.command_line import ALL_SITES, at_once, least, onnxar, output_of, sampled

LEAST_ALIKE, LEAST_TENSORS = 1900, 400


def tensors_of(graph: onnx.GraphProto) -> Iterator[tuple[str, TensorProto]]:
    """Initializers and tensors in the attributes of nodes of the main graph, by their sites."""
    for index, tensor in enumerate(graph.initializer):
        yield f"graph.initializer[{index}]", tensor
    for index, node in enumerate(graph.node):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield f"graph.node[{index}].attr.{attribute.name}", attribute.t


def nodes_of(nodes: Iterator[onnx.NodeProto]) -> int:
    """With those of subgraphs."""
    count = 0
    for node in nodes:
        count += 1
        for attribute in node.attribute:
            graphs = [attribute.g] if attribute.HasField("g") else []
            count += sum(nodes_of(graph.node) for graph in (*graphs, *attribute.graphs))
    return count


def judge_text(path: Path, folder: Path, model: onnx.ModelProto) -> tuple[bool, str]:
    """Whether nothing was lost, and what is wrong."""
    text = output_of(os.environ["ONNXAR"], "dump", "--with-data", "-q", path)
    if text_format.Parse(text, onnx.ModelProto()).SerializeToString(deterministic=True) != model.SerializeToString(
        deterministic=True
    ):
        return False, "its text says something else"
    piped, packed = folder / "piped", folder / "packed"
    output_of(os.environ["ONNXAR"], "pack", "-", "-o", piped, "--no-sync", *ALL_SITES, piped=text)
    onnxar("pack", path, "-o", packed, "--no-sync", *ALL_SITES)
    alike = piped.read_bytes() == packed.read_bytes()
    return alike, "" if alike else "its text packs to other bytes"


def judge_tensors(path: Path, folder: Path, model: onnx.ModelProto) -> tuple[int, str]:
    """How many of the first few were extracted, and what is wrong."""
    count = 0
    for site, tensor in islice(tensors_of(model.graph), 3):
        if tensor.data_type == TensorProto.STRING:
            continue
        onnxar("extract", path, site, "-o", folder / "x.npy", "-f", "--no-sync", "-q")
        found, expected = np.load(folder / "x.npy"), numpy_helper.to_array(tensor)
        count += 1
        same_bytes = expected.dtype.itemsize != found.dtype.itemsize or found.tobytes() == expected.tobytes()
        if found.shape != expected.shape or not same_bytes:
            return count, f"{site} is another tensor"
    return count, ""


def judge(name: str, data: bytes) -> tuple[bool, int, str]:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        path = folder / "m.onnx"
        path.write_bytes(data)
        model = onnx.load_model_from_string(data)
        try:
            shown = json.loads(onnxar("show", "--json", "--nodes", path))
            alike, fault = judge_text(path, folder, model)
            tensors, other = judge_tensors(path, folder, model)
        except command_line.RunError as error:
            return False, 0, f"{name}: {error}"
        expected = nodes_of(model.graph.node) + sum(nodes_of(each.node) for each in model.functions)
        if len(shown["nodes"]) != expected or shown["graph"]["cycle"]:
            fault = f"{len(shown['nodes'])} nodes are shown instead of {expected}"
        faults = [f"{name}: {each}" for each in (fault, other) if each]
        return alike, tensors, "; ".join(faults)


class Wheel(unittest.TestCase):
    def test_every_model_is_shown_dumped_and_extracted(self) -> None:
        models = list(models_of_the_wheel())
        alike, tensors, faults = (list(column) for column in zip(*at_once(lambda model: judge(*model), sampled(models))))
        print(f"{len(models)} models, {sum(alike)} the same as text, {sum(tensors)} tensors extracted", flush=True)
        self.assertEqual([fault for fault in faults if fault], [])
        self.assertGreaterEqual(len(models), LEAST_FILES + LEAST_CASES)
        self.assertGreaterEqual(sum(alike), least(LEAST_ALIKE))
        self.assertGreaterEqual(sum(tensors), least(LEAST_TENSORS))


if __name__ == "__main__":
    command_line.main(__doc__)

"""Tests core/graph/onnx_archive.cc of the change for ONNX Runtime: what it makes of archives, and whether ONNX Runtime runs that.

Usage: PYTHONPATH=spec/rfc onnxruntime_archive.py PROGRAM  (of link_archive.cc; with onnx, onnxruntime and NumPy)
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from google.protobuf.message import DecodeError, Message
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_archive import MODEL, Archive, ArchiveError, save

VECTORS = Path(__file__).resolve().parents[4] / "spec" / "vectors"
GRAPH = re.compile(r"[^/]\.onnx$")
# Rules of tensors that ONNX Runtime checks where it uses the data, or that its protobuf parser judges.
LEFT_TO_OTHERS = ("M1", "M2", "M3", "M4", "M5", "M6", "M7", "M15", "M16", "M17", "M18", "M19", "M20", "M21")


def tensors(message: Message) -> Iterator[TensorProto]:
    for field, value in message.ListFields():
        for each in (value if field.is_repeated else [value]) if field.message_type is not None else ():
            if isinstance(each, TensorProto):
                yield each
            else:
                yield from tensors(each)


class LinkedModel(unittest.TestCase):
    program = ""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def link(self, archives: list[Path], graphs: list[str] | None = None) -> list[tuple[str, Path]]:
        outputs = [self.folder / f"{i}.onnx" for i in range(len(archives))]
        names = graphs or [""] * len(archives)
        lines = "".join(f"{archive}\t{output}\t{graph}\n" for archive, output, graph in zip(archives, outputs, names))
        done = subprocess.run([self.program], input=lines, capture_output=True, text=True, check=True, errors="replace")
        said = done.stdout.split("\n")[:-1]
        self.assertEqual(len(said), len(archives))
        return list(zip(said, outputs))

    def compare(self, path: Path, graph: str, wrong: str, output: Path) -> int:
        """Compares each tensor that is in an entry with the bytes that the Python loader finds. Returns how many there are."""
        try:
            archive = Archive(path)
            model = archive.model(graph or MODEL)
        except (ArchiveError, DecodeError):
            return 0  # a model that protobuf's parser refuses
        self.assertEqual(wrong, "")
        content, compared = path.read_bytes(), 0
        for tensor, made in zip(tensors(model), tensors(onnx.ModelProto.FromString(output.read_bytes())), strict=True):
            if tensor.data_location != TensorProto.EXTERNAL:
                continue
            expected = bytes(archive.data(tensor))
            if made.data_location == TensorProto.EXTERNAL:
                said = {pair.key: pair.value for pair in made.external_data}
                self.assertEqual((said["location"], int(said["length"])), (path.name, len(expected)))
                begin = int(said["offset"])
                self.assertEqual(content[begin : begin + len(expected)], expected)
                self.assertGreaterEqual(len(expected), 1024)
            else:
                self.assertEqual(made.raw_data, expected)
            compared += 1
        return compared

    def test_valid_archives_are_linked_to_their_tensors(self) -> None:
        paths = sorted((VECTORS / "valid").glob("*.onnxar"))
        compared = 0
        for path, (wrong, output) in zip(paths, self.link(paths)):
            with self.subTest(path.name):
                compared += self.compare(path, "", wrong, output)
        self.assertGreater(compared, 100)

    def test_graphs_are_linked_to_their_tensors(self) -> None:
        paths = [path for path in sorted((VECTORS / "valid").glob("*.onnxar")) if b".onnx" in path.read_bytes()]
        pairs = [(path, name) for path in paths for name in Archive(path).entries if GRAPH.search(name)]
        compared = 0
        for (path, name), (wrong, output) in zip(pairs, self.link([path for path, _ in pairs], [name for _, name in pairs])):
            with self.subTest(path.name, graph=name):
                compared += self.compare(path, name, wrong, output)
        self.assertGreater(compared, 30)

    def test_what_a_loader_must_refuse_is_refused(self) -> None:
        manifest = json.loads((VECTORS / "manifest.json").read_text())
        vectors = [each for each in manifest if each["stage"] and each.get("loader") and each["rule"] not in LEFT_TO_OTHERS]
        # A runtime does not look at entries that no tensor uses, and compares the shape with what there is where it reads.
        vectors = [each for each in vectors if each["stage"] != "use" or each["entry"] == MODEL]
        vectors = [each for each in vectors if each["file"] != "invalid/range_no_length.onnxar" and (VECTORS / each["file"]).exists()]
        self.assertGreater(len(vectors), 150)
        for vector, (wrong, _) in zip(vectors, self.link([VECTORS / each["file"] for each in vectors])):
            with self.subTest(vector["file"], about=vector["about"]):
                self.assertNotEqual(wrong, "")

    # The archive is its data file.
    def test_onnx_runtime_runs_the_linked_model(self) -> None:
        weight = numpy_helper.from_array(np.arange(1200, dtype=np.float32).reshape(40, 30), "w")
        constant = numpy_helper.from_array(np.full((40, 30), 7, np.float32), "c")
        nodes = [
            helper.make_node("Constant", [], ["c"], value=constant),
            helper.make_node("Mul", ["x", "w"], ["m"]),
            helper.make_node("Add", ["m", "c"], ["y"]),
        ]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "graph", [value("x", 1, (40, 30))], [value("y", 1, (40, 30))], [weight])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
        path = self.folder / "model.onnxar"
        save(model, path)
        ((wrong, output),) = self.link([path])
        self.assertEqual(wrong, "")
        self.assertLess(output.stat().st_size, 1000)
        x = {"x": np.random.default_rng(1).random((40, 30), np.float32)}
        session = onnxruntime.InferenceSession(str(output), providers=["CPUExecutionProvider"])
        np.testing.assert_array_equal(session.run(None, x)[0], ReferenceEvaluator(model).run(None, x)[0])


if __name__ == "__main__":
    LinkedModel.program = sys.argv.pop()
    unittest.main()

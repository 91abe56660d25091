"""Downloads and updates from servers of HTTP."""

from __future__ import annotations

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from web_support import WebTest

import onnxar

COUNT = 100_000  # elements of a tensor


def model_of(*seeds: int) -> onnx.ModelProto:
    weights = [numpy_helper.from_array(np.random.default_rng(seed).random(COUNT, np.float32), f"w{i}") for i, seed in enumerate(seeds)]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [COUNT])
    return helper.make_model(helper.make_graph([helper.make_node("Add", ["w0", "w1"], ["y"])], "g", [], [result], weights))


class Get(WebTest):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.old, self.new, self.output = (self.folder / f"{name}.onnxar" for name in ("old", "new", "out"))
        onnxar.pack(model_of(*range(8)), self.old)
        onnxar.pack(model_of(*range(7), 99), self.new)
        self.address = self.server.serve("/m.onnxar", self.new.read_bytes())

    def test_download_is_the_file_of_the_server(self):
        steps = []
        report = onnxar.get(self.address, self.output, progress=lambda *step: steps.append(step))
        self.assertEqual(self.output.read_bytes(), self.new.read_bytes())
        self.assertEqual((report.entries, report.file_bytes, report.reused_bytes), (9, self.new.stat().st_size, 0))
        self.assertEqual(steps[-1], (report.file_bytes, report.file_bytes))

    def test_entries_of_an_old_version_are_reused(self):
        planned = onnxar.get(self.address, self.output, reuse=[self.old], dry_run=True)
        report = onnxar.get(self.address, self.output, reuse=[self.old], digest=str(onnxar.digest(self.new).hex))
        self.assertEqual(self.output.read_bytes(), self.new.read_bytes())
        self.assertEqual(report.reused_bytes, 7 * 4 * COUNT)
        self.assertEqual(planned.reused_bytes, report.reused_bytes)
        self.assertLess(report.downloaded_bytes, 800_000)

    def test_replaced_version_is_reused(self):
        self.output.write_bytes(self.old.read_bytes())
        report = onnxar.get(self.address, self.output, overwrite=True)
        self.assertEqual(report.reused_bytes, 7 * 4 * COUNT)
        self.assertEqual(self.output.read_bytes(), self.new.read_bytes())

    def test_graph_is_what_pack_writes(self):
        onnxar.pack({"one": self._saved("one", 1, 2), "two": self._saved("two", 2, 3)}, self.new, overwrite=True)
        onnxar.pack(self.new, self.folder / "packed.onnxar", graph="two")
        onnxar.get(self.server.serve("/family", self.new.read_bytes()), self.output, graph="two")
        self.assertEqual(self.output.read_bytes(), (self.folder / "packed.onnxar").read_bytes())

    def test_several_graphs_are_what_pack_writes(self):
        names = {name: self._saved(name, at, at + 1) for at, name in enumerate(("one", "two", "three"))}
        onnxar.pack(names, self.new, variants={"one": "cpu", "two": "cuda", "three": "openvino"}, overwrite=True)
        address = self.server.serve("/family", self.new.read_bytes())
        for graph in (["three", "two"], ("one", "three"), ["two"]):
            with self.subTest(graph=graph):
                onnxar.pack(self.new, self.folder / "packed.onnxar", graph=graph, overwrite=True)
                onnxar.get(address, self.output, graph=graph, overwrite=True)
                self.assertEqual(self.output.read_bytes(), (self.folder / "packed.onnxar").read_bytes())
                with onnxar.open(self.output) as archive:
                    self.assertEqual(archive.graphs(), [f"{name}.onnx" for name in graph])
        for graph in (["one", ""], [1], ["one", "four"]):
            with self.subTest(graph=graph), self.assertRaises(onnxar.Error):
                onnxar.pack(self.new, self.folder / "wrong.onnxar", graph=graph)

    def _saved(self, name: str, *seeds: int) -> pathlib.Path:
        onnx.save(model_of(*seeds), self.folder / f"{name}.onnx")
        return self.folder / f"{name}.onnx"

    def test_wrong_arguments_are_refused(self):
        for address in ("model.onnxar", "gs://bucket/model", 7, None):
            with self.subTest(address=address), self.assertRaises(onnxar.ArgumentError):
                onnxar.get(address, self.output)
        for wrong in ({"timeout": -1}, {"timeout": float("nan")}, {"digest": "12"}, {"graph": "g", "digest": "0" * 64}):
            with self.subTest(wrong=wrong), self.assertRaises(onnxar.ArgumentError):
                onnxar.get(self.address, self.output, **wrong)
        self.assertEqual(self.server.requests, [])

    def test_wrong_digest_gets_no_name(self):
        with self.assertRaises(onnxar.Error) as caught:
            onnxar.get(self.address, self.output, digest="0" * 64)
        self.assertEqual(caught.exception.code, "remote.answer")
        self.assertFalse(self.output.exists())

    def test_exception_of_progress_ends_the_download(self):
        def stop(done: int, total: int) -> None:
            raise KeyError("stop")

        with self.assertRaises(KeyError):
            onnxar.get(self.address, self.output, progress=stop)
        self.assertFalse(self.output.exists())
        self.assertGreater(onnxar.get(self.address, self.output).resumed_bytes, 0)


if __name__ == "__main__":
    unittest.main()

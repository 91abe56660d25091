"""Sessions of several graphs, in several processes, share the pages of common weights. PSS counts a page that n
mappings share as 1/n for each."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from support import FolderTest

import onnxar

ROWS, COLUMNS = 1 << 15, 512
SHARED = 4 * ROWS * COLUMNS  # 64 MiB
PROCESSES = 2
NAMES = ("encoder", "decoder")

WORKER = """
import json, sys
import numpy as np, onnxruntime as ort
import onnxar.onnxruntime
kind, folder = sys.argv[1:]
options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.add_session_config_entry("session.disable_prepacking", "1")
make = {
    "nothing": lambda name: None,
    "plain": lambda name: ort.InferenceSession(f"{folder}/plain/{name}.onnx", options, providers=["CPUExecutionProvider"]),
    "external": lambda name: ort.InferenceSession(f"{folder}/external/{name}.onnx", options, providers=["CPUExecutionProvider"]),
    "archive": lambda name: onnxar.onnxruntime.InferenceSession(f"{folder}/family.onnxar", options, providers=["CPUExecutionProvider"], graph=name),
}[kind]
sessions = [make(name) for name in ("encoder", "decoder")]
for session in sessions:
    if session is not None:
        session.run(None, {"x": np.ones((1, %d), np.float32)})
print("ready", flush=True)
sys.stdin.readline()
with open("/proc/self/smaps_rollup") as lines:
    fields = dict(line.split(":") for line in list(lines)[1:])
print(json.dumps({name: 1024 * int(fields[name].split()[0]) for name in ("Pss", "Rss", "Pss_Anon")}), flush=True)
sys.stdin.readline()
""" % ROWS  # noqa: UP031


def model(scale: float) -> onnx.ModelProto:
    """y = (x @ table) * scale, so that a run reads all of the table."""
    table = np.broadcast_to(np.arange(ROWS, dtype=np.float32)[:, None] / ROWS, (ROWS, COLUMNS))
    stored = [numpy_helper.from_array(np.ascontiguousarray(table), "table"), numpy_helper.from_array(np.float32([scale]), "scale")]
    nodes = [helper.make_node("MatMul", ["x", "table"], ["h"]), helper.make_node("Mul", ["h", "scale"], ["y"])]
    value = lambda name, count: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, count])
    graph = helper.make_graph(nodes, "g", [value("x", ROWS)], [value("y", COLUMNS)], stored)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


@unittest.skipUnless(pathlib.Path("/proc/self/smaps_rollup").exists(), "this system does not tell the PSS of a process")
class SharedPages(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for folder in ("plain", "external"):
            (self.folder / folder).mkdir()
        for scale, name in enumerate(NAMES, 1):
            onnx.save(model(scale), self.folder / "plain" / f"{name}.onnx")
            onnx.save(model(scale), self.folder / "external" / f"{name}.onnx", save_as_external_data=True, location=f"{name}.data")
        onnxar.pack([self.folder / "plain" / f"{name}.onnx" for name in NAMES], self.folder / "family.onnxar")

    def pss(self, kind: str) -> int:
        """Returns the sum over processes that have their sessions at the same time."""
        workers = [
            subprocess.Popen([sys.executable, "-B", "-c", WORKER, kind, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        try:
            for worker in workers:
                self.assertEqual(worker.stdout.readline(), "ready\n")
            answers = []
            for worker in workers:
                worker.stdin.write("\n")
                worker.stdin.flush()
                answers.append(json.loads(worker.stdout.readline()))
            return sum(each["Pss"] for each in answers)
        finally:
            for worker in workers:
                worker.communicate()

    def test_pages_of_common_weights_are_there_once(self) -> None:
        found = {kind: self.pss(kind) for kind in ("nothing", "plain", "external", "archive")}
        times = {kind: (found[kind] - found["nothing"]) / SHARED for kind in found}
        print("PSS of", PROCESSES, "processes with 2 sessions each, in sizes of the common weight:", {kind: round(value, 2) for kind, value in times.items()})
        self.assertLess(times["archive"], 1.3)
        self.assertGreater(times["archive"], 0.9)
        self.assertGreater(times["external"], 1.9)  # each file once
        self.assertGreater(times["plain"], 3.8)  # each session has its own


if __name__ == "__main__":
    unittest.main()

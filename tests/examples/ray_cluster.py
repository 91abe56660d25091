"""The examples for Ray, on a cluster of this machine with two workers, and what their sessions take of its memory.

Usage: PYTHONPATH=tests:examples/ray ray_cluster.py, by a Python that has examples/ray/requirements.txt and the wheel; `./dev ray`
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

import batch_inference
import convert
import numpy as np
import onnx
import onnxruntime
import ray
import ray.data
from onnx import TensorProto, helper, numpy_helper

import onnxar

WIDTH, LAYERS = 2048, 6
MODEL_BYTES = LAYERS * WIDTH * WIDTH * 4
MIB = 1 << 20
MARK = "ONNXAR_TEST_MARK"


def chain(width: int = WIDTH, layers: int = LAYERS) -> onnx.ModelProto:
    """y = x @ w0 @ w1 ..."""
    numbers = np.random.default_rng(5)
    weights = [numpy_helper.from_array(numbers.standard_normal((width, width), np.float32) / width, f"w{i}") for i in range(layers)]
    names = ["x", *(f"h{i}" for i in range(layers - 1)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(layers)]
    row = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "chain", row[:1], row[1:], weights)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def memory() -> dict[str, int]:
    """The kernel's sums for this process, in bytes."""
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}


@ray.remote(num_cpus=1)
class Measured:
    """A session in a worker, and how much more memory the worker has than before it."""

    def __init__(self, path: str, prepacking: bool) -> None:
        onnxruntime.get_available_providers()
        self.before = memory()
        if path.endswith(".onnxar"):
            self.session = batch_inference.Model(path, "x", prepacking).session
        else:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            if not prepacking:
                options.add_session_config_entry("session.disable_prepacking", "1")
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(self) -> float:
        return float(self.session.run(None, {"x": np.ones((1, WIDTH), np.float32)})[0].sum())

    def more(self, what: str) -> int:
        return memory()[what] - self.before[what]


def sums(path: pathlib.Path, workers: int, prepacking: bool, what: str) -> int:
    """What so many workers take together while all of them have a session."""
    actors = [Measured.remote(str(path), prepacking) for _ in range(workers)]
    ray.get([actor.run.remote() for actor in actors])
    total = sum(ray.get([actor.more.remote(what) for actor in actors]))
    for actor in actors:
        ray.kill(actor)
    return total


class DiesOnce(batch_inference.Model):
    """The first worker that gets a batch is killed."""

    def __call__(self, batch):
        try:
            os.close(os.open(os.environ[MARK], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().__call__(batch)
        os.kill(os.getpid(), signal.SIGKILL)


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="onnxar_ray_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        os.environ[MARK] = str(cls.folder / "mark")
        onnx.save(chain(), cls.folder / "m.onnx")
        onnxar.pack(cls.folder / "m.onnx", cls.folder / "m.onnxar", sync=False)
        paths = os.pathsep.join(map(os.path.abspath, sys.path))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 * MIB,
                 runtime_env={"env_vars": {"PYTHONPATH": paths, MARK: os.environ[MARK]}})  # fmt: skip
        cls.addClassCleanup(ray.shutdown)


class Inference(Cluster):
    def rows(self, count: int = 300) -> tuple[ray.data.Dataset, np.ndarray]:
        x = np.random.default_rng(1).standard_normal((count, WIDTH), np.float32)
        return ray.data.from_items([{"id": i, "x": row} for i, row in enumerate(x)], override_num_blocks=6), x

    def expect(self, found: ray.data.Dataset, x: np.ndarray) -> None:
        rows = sorted(found.take_all(), key=lambda row: row["id"])
        self.assertEqual([row["id"] for row in rows], list(range(len(x))))
        (expected,) = onnxruntime.InferenceSession(str(self.folder / "m.onnx")).run(None, {"x": x})
        np.testing.assert_allclose(np.stack([row["y"] for row in rows]), expected, rtol=1e-3, atol=1e-5)

    def test_rows_equal_those_of_a_session_without_ray(self) -> None:
        rows, x = self.rows()
        self.expect(batch_inference.infer(str(self.folder / "m.onnxar"), rows, "x", workers=2), x)

    def test_killed_worker_loses_nothing(self) -> None:
        rows, x = self.rows()
        given = (str(self.folder / "m.onnxar"), "x")
        found = rows.map_batches(DiesOnce, fn_constructor_args=given, compute=ray.data.ActorPoolStrategy(size=2), batch_size=50, num_cpus=1)
        self.expect(found, x)
        self.assertTrue(pathlib.Path(os.environ[MARK]).exists())


class Memory(Cluster):
    def test_workers_share_the_weights(self) -> None:
        print(f"\n| model of {MODEL_BYTES // MIB} MiB | PSS of 1 worker | of 2 | anonymous of 1 | of 2 |\n|---|---|---|---|---|")
        found = {}
        for prepacking in (False, True):
            for form in ("onnxar", "onnx"):
                figures = [sums(self.folder / f"m.{form}", n, prepacking, what) / MIB for what in ("Pss", "Anonymous") for n in (1, 2)]
                found[form, prepacking] = figures
                cells = " | ".join(f"{figure:.0f} MiB" for figure in figures)
                print(f"| {'archive' if form == 'onnxar' else 'inline'}, prepacking {'on' if prepacking else 'off'} | {cells} |")
        one, two, private, of_two = found["onnxar", False]
        activations = 2 * 16  # MiB: arenas, stacks and messages of the second worker
        self.assertLess(two, 1.1 * one + activations)
        self.assertLess(of_two, 1.1 * private + activations)
        self.assertGreater(found["onnx", False][1], 1.9 * MODEL_BYTES / MIB)


class Conversion(Cluster):
    def setUp(self) -> None:
        self.models, self.archives = self.folder / "models", self.folder / "archives"
        self.names = [f"{i}/m.onnx" for i in range(5)]
        for name in self.names:
            (self.models / name).parent.mkdir(parents=True, exist_ok=True)
            onnx.save(chain(1024, 4), self.models / name)
        onnx.save(onnx.load(self.models / "4/m.onnx"), self.models / "4/m.onnx", save_as_external_data=True, location="m.data")
        (self.models / "bad").mkdir(exist_ok=True)
        (self.models / "bad/m.onnx").write_bytes(b"no model" * 100)

    def states(self) -> dict[str, str]:
        rows = convert.convert_all(str(self.models), str(self.archives)).to_pylist()
        return {row["model"].split("/models/")[1]: row["state"] for row in rows}

    def test_run_resumes_and_survives_a_killed_worker(self) -> None:
        killed: list[int] = []
        thread = threading.Thread(target=self.kill_a_worker, args=(killed,))
        thread.start()
        states = self.states()
        thread.join()
        self.assertEqual(len(killed), 1)
        self.assertEqual(states, {**dict.fromkeys(self.names, "packed"), "bad/m.onnx": "failed"})
        for name in self.names:
            archive = self.archives / name.replace(".onnx", ".onnxar")
            self.assertEqual(onnxar.check(archive, data=True), [])
            self.assertEqual(onnxar.load(archive).graph.initializer[3].raw_data, onnx.load(self.models / name).graph.initializer[3].raw_data)
        self.assertEqual(self.states(), {**dict.fromkeys(self.names, "kept"), "bad/m.onnx": "failed"})
        onnx.save(chain(512, 2), self.models / "0/m.onnx")
        self.assertEqual({name for name, state in self.states().items() if state == "packed"}, {"0/m.onnx"})

    @staticmethod
    def kill_a_worker(killed: list[int]) -> None:
        """Kills the first worker that is seen at a conversion."""
        for _ in range(6000):
            for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    is_worker = place.read_bytes().startswith(b"ray::convert")
                except OSError:
                    continue
                if is_worker:
                    killed.append(int(place.parent.name))
                    os.kill(killed[0], signal.SIGKILL)
                    return
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)

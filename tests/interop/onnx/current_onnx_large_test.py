"""Models of the current onnx, there and back; models that onnx and onnx_ir save with external data.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests current_onnx_large_test.py, with the packages of requirements.txt
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import tempfile
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from support import command_line
from support import onnx_walk as walk
from support.command_line import ALL_SITES, ToolCase, at_once, least, onnxar, sampled
from support.wire_reader import identity_promised

LEAST_FILES, LEAST_CASES, LEAST_MOVED, LEAST_BY_BYTES = 140, 1800, 2500, 1750


def models_of_the_wheel() -> Iterator[tuple[str, bytes]]:
    """All that lie in the package as files, and all that its node tests are made of."""
    for path in sorted(Path(onnx.__file__).parent.rglob("*.onnx")):
        yield command_line.label(path), path.read_bytes()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            yield case.name, case.model.SerializeToString()


def round_trip(name: str, data: bytes) -> tuple[int, bool, str]:
    """Inline, archive, external data, archive, inline: payloads moved, whether judged by bytes, what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        start, first, beside, second, back = (
            Path(folder) / each for each in ("m.onnx", "1.onnxar", "beside.onnx", "2.onnxar", "back.onnx")
        )
        start.write_bytes(data)
        try:
            onnxar("pack", start, "-o", first, "--no-sync", *ALL_SITES)
            onnxar("check", "--data", "-q", first)
            onnxar("unpack", first, "-o", beside, "--external-data", "weights.bin", "--no-sync", *ALL_SITES)
            onnxar("pack", beside, "-o", second, "--no-sync", *ALL_SITES)
            onnxar("unpack", second, "-o", back, "--no-sync")
        except command_line.RunError as error:
            return 0, False, f"{name}: {error}"
        moved = [site.path for site in walk.external_sites(walk.parse(beside.read_bytes()))]
        if identity_promised(data, moved):
            return len(moved), True, "" if back.read_bytes() == data else f"{name}: other bytes"
        faults = walk.differences(walk.parse(data), walk.load(back))
        return len(moved), False, f"{name}: {faults[0]}" if faults else ""


class Wheel(unittest.TestCase):
    def test_every_model_comes_back(self) -> None:
        models = list(models_of_the_wheel())
        results = at_once(lambda model: round_trip(*model), sampled(models))
        moved, by_bytes, faults = (list(column) for column in zip(*results))
        print(f"{len(models)} models, {sum(moved)} payloads moved, {sum(by_bytes)} judged by bytes", flush=True)
        self.assertEqual([fault for fault in faults if fault], [])
        self.assertGreaterEqual(len(models), LEAST_FILES + LEAST_CASES)
        self.assertGreaterEqual(sum(moved), least(LEAST_MOVED))
        self.assertGreaterEqual(sum(by_bytes), least(LEAST_BY_BYTES))


def sample() -> onnx.ModelProto:
    """Initializers and an attribute, of types new and old."""
    random = np.random.default_rng(7)
    weights = [
        numpy_helper.from_array(random.standard_normal((40, 40), np.float32), "layer.0/weight"),
        numpy_helper.from_array(random.standard_normal(600).astype(np.float16), "half"),
        helper.make_tensor("nibbles", TensorProto.INT4, (4096,), random.integers(0, 255, 2048, np.uint8).tobytes(), raw=True),
        numpy_helper.from_array(np.arange(3, dtype=np.int64), "shape"),
    ]
    constant = numpy_helper.from_array(random.standard_normal((40, 40), np.float32), "constant")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=constant),
        helper.make_node("MatMul", ["layer.0/weight", "c"], ["y"]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, (40, 40))
    return helper.make_model(helper.make_graph(nodes, "graph", [], [output], weights))


def payloads(model: onnx.ModelProto) -> dict[str, str]:
    """Digest of the raw bytes by site, of a model whose data is loaded."""
    parsed = walk.parse(model.SerializeToString())
    walk.normalise(parsed)
    return {site.path: hashlib.sha256(site.tensor.raw_data).hexdigest() for site in walk.sites(parsed)}


class OtherPeoplesData(ToolCase):
    """External data that others wrote, and theirs of what we write."""

    def holds(self, path: Path, expected: onnx.ModelProto) -> None:
        """Packs and is the same model; what is unpacked from it, onnx and onnx_ir load."""
        archive, back, beside = (self.folder / name for name in ("a.onnxar", "back.onnx", "out/beside.onnx"))
        beside.parent.mkdir(exist_ok=True)
        self.succeeds("pack", path, "-o", archive, "-f", "--threshold", "0")
        self.succeeds("check", "--data", archive)
        self.succeeds("unpack", archive, "-o", back, "-f")
        self.assertEqual(payloads(onnx.load(back)), payloads(expected))
        for options in (("--external-data", "weights.bin"), ("--per-tensor",)):
            self.succeeds("unpack", archive, "-o", beside, "-f", "--threshold", "0", *options)
            onnx.checker.check_model(str(beside), full_check=True)
            self.assertEqual(payloads(onnx.load(beside)), payloads(expected))
            again = onnx_ir.to_proto(onnx_ir.load(beside))
            self.assertEqual(len(again.graph.initializer), len(expected.graph.initializer))
            for ours, theirs in zip(onnx_ir.load(beside).graph.initializers.values(), expected.graph.initializer):
                self.assertEqual(ours.const_value.tobytes(), theirs.raw_data)

    def test_onnx_with_one_data_file_and_with_many(self) -> None:
        for one_file in (True, False):
            for attributes in (False, True):
                folder = self.folder / f"{one_file}{attributes}"
                folder.mkdir()
                path = folder / "m.onnx"
                onnx.save(
                    sample(), path, save_as_external_data=True, all_tensors_to_one_file=one_file,
                    location="weights" if one_file else None, size_threshold=0, convert_attribute=attributes,
                )
                with self.subTest(one_file=one_file, attributes=attributes):
                    self.holds(path, sample())

    def test_onnx_ir(self) -> None:
        path = self.folder / "m.onnx"
        onnx_ir.save(onnx_ir.from_proto(sample()), path, external_data="m.data", size_threshold_bytes=0)
        self.assertTrue((self.folder / "m.data").exists())
        self.holds(path, sample())


if __name__ == "__main__":
    command_line.main(__doc__)

"""Two models compared: `diff`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import command_line
from support.command_line import FORMAT, FOUND, GIB, IO, MIB, USAGE, ToolCase, run


class Diff(ToolCase):
    def saved(self, name: str, op: str = "Add", weight: np.ndarray | None = None, opset: int = 13) -> Path:
        array = np.arange(600, dtype=np.float32) if weight is None else weight
        graph = helper.make_graph(
            [helper.make_node(op, ["x", "w"], ["y"], name="first"), helper.make_node("Relu", ["y"], ["z"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 600])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 600])],
            [numpy_helper.from_array(array, "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        return self.write(name, model.SerializeToString())

    def same(self, before: Path, after: Path) -> None:
        done = self.succeeds("diff", before, after)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(done.stderr.startswith("the same: "), done.stderr)
        self.assertTrue(json.loads(self.succeeds("diff", "--json", before, after).stdout)["same"])

    def different(self, before: Path, after: Path) -> tuple[list[str], dict[str, Any]]:
        """Lines for people, and JSON."""
        text, data = run("diff", "-q", before, after), run("diff", "-q", "--json", before, after)
        self.assertEqual((text.returncode, text.stderr), (FOUND, ""))
        self.assertEqual((data.returncode, data.stderr), (FOUND, ""))
        report = json.loads(data.stdout)
        self.assertFalse(report["same"])
        return text.stdout.decode().splitlines(), report

    def test_a_model_and_itself_in_every_form(self) -> None:
        source = self.saved("m.onnx")
        archive, beside, text = (self.folder / name for name in ("a.onnxar", "b.onnx", "t.textproto"))
        self.succeeds("pack", source, "-o", archive)
        self.succeeds("unpack", source, "-o", beside, "--external-data", "w.bin")
        self.succeeds("unpack", source, "-o", text, "--text")
        for other in (source, archive, beside, text):
            self.same(source, other)
            self.same(other, source)

    def test_after_replace(self) -> None:
        archive = self.folder / "a.onnxar"
        self.succeeds("pack", self.saved("m.onnx"), "-o", archive)
        before = self.write("before.onnxar", archive.read_bytes())
        self.succeeds("replace", archive, self.saved("edited.onnx", op="Sub", opset=14))
        lines, report = self.different(before, archive)
        self.assertEqual(
            lines,
            ['changed graph.node[0].op_type (first): "Add" -> "Sub"', "changed opset_import[0].version (ai.onnx): 13 -> 14"],
        )
        self.assertEqual(report["tensors"], [])
        self.assertEqual(
            report["graph"][1],
            {"change": "changed", "site": "opset_import[0].version", "name": "ai.onnx", "before": "13", "after": "14"},
        )

    def test_after_one_flipped_bit(self) -> None:
        flipped = np.arange(600, dtype=np.float32)
        flipped[512] *= -1
        archives = [self.folder / "a.onnxar", self.folder / "b.onnxar"]
        for archive, model in zip(archives, (self.saved("m.onnx"), self.saved("n.onnx", weight=flipped))):
            self.succeeds("pack", model, "-o", archive)
        lines, report = self.different(*archives)
        told = "changed graph.initializer[0] (w): 1 of 600 elements differ, the first is 512; at most 1024, relatively 2"
        self.assertEqual(lines, [told])
        self.assertEqual(report["graph"], [])
        expected = {"elements": 600, "differing": 1, "first": 512, "max_absolute": 1024.0, "max_relative": 2.0, "not_finite": 0}
        self.assertEqual(report["tensors"][0]["data"], expected)

    def test_damage_is_not_a_difference(self) -> None:
        archive = self.folder / "a.onnxar"
        self.succeeds("pack", self.saved("m.onnx"), "-o", archive)
        data = bytearray(archive.read_bytes())
        data[self.listing(archive)["entries"][0]["offset"]] ^= 1
        damaged = self.write("damaged.onnxar", data)
        self.fails(FORMAT, f"onnxar: error[zip.data.crc] {damaged}: ", "diff", archive, damaged)

    def test_numbers_are_numpys(self) -> None:
        random = np.random.default_rng(7)
        for kind in (np.float32, np.float64, np.float16):
            with self.subTest(type=kind):
                before = random.standard_normal(5000).astype(kind)
                after = np.where(random.random(5000) < 0.3, before * kind(1.01), before).astype(kind)
                pair = self.saved("a.onnx", weight=before), self.saved("b.onnx", weight=after)
                data = self.different(*pair)[1]["tensors"][0]["data"]
                wide, other = before.astype(np.float64), after.astype(np.float64)
                gap = np.abs(wide - other)
                self.assertEqual(data["differing"], np.count_nonzero(before != after))
                self.assertEqual(data["first"], int(np.flatnonzero(before != after)[0]))
                self.assertEqual(data["max_absolute"], gap.max())
                self.assertEqual(data["max_relative"], (gap / np.maximum(np.abs(wide), np.abs(other))).max())

    def test_types_and_shapes(self) -> None:
        wide = self.saved("wide.onnx", weight=np.zeros((2, 300), np.float64))
        lines, report = self.different(self.saved("m.onnx"), wide)
        self.assertEqual(lines, ["changed graph.initializer[0] (w): FLOAT[600], 2400 bytes -> DOUBLE[2,300], 4800 bytes"])
        self.assertEqual(report["tensors"][0]["after"], {"dtype": "DOUBLE", "shape": [2, 300], "bytes": 4800})
        self.assertIsNone(report["tensors"][0]["data"])

    def test_external_data_in_another_folder(self) -> None:
        source = self.saved("m.onnx")
        self.succeeds("unpack", source, "-o", self.folder / "beside.onnx", "--external-data", "w.bin")
        (self.folder / "data").mkdir()
        (self.folder / "w.bin").rename(self.folder / "data/w.bin")
        beside = self.folder / "beside.onnx"
        self.fails(FORMAT, f"onnxar: error[onnx.external_data.missing] {beside}", "diff", source, beside)
        for pair in ((source, beside), (beside, source), (beside, beside)):
            self.succeeds("diff", "--data-dir", self.folder / "data", *pair)

    def with_files(self, name: str, **files: bytes) -> Path:
        path = self.folder / name
        given = [word for key, data in files.items() for word in ("--add", f"{key}.txt={self.write(key, data)}")]
        self.succeeds("pack", self.saved("m.onnx"), "-o", path, *given)
        return path

    def test_side_files(self) -> None:
        before = self.with_files("a.onnxar", same=b"same", longer=b"words", gone=b"one", flipped=b"0123")
        after = self.with_files("b.onnxar", same=b"same", longer=b"words.", new=b"", flipped=b"0133")
        lines, report = self.different(before, after)
        self.assertEqual(
            lines,
            [
                "changed file flipped.txt: 4 bytes -> 4 bytes, the first that differs is 2",
                "removed file gone.txt: 3 bytes",
                "changed file longer.txt: 5 bytes -> 6 bytes, the first that differs is 5",
                "added file new.txt: 0 bytes",
            ],
        )
        self.assertEqual((report["graph"], report["tensors"]), ([], []))
        self.assertEqual(
            report["files"][1:3],
            [
                {"change": "removed", "name": "gone.txt", "before": 3, "after": None, "first": None},
                {"change": "changed", "name": "longer.txt", "before": 5, "after": 6, "first": 5},
            ],
        )
        self.same(before, before)
        self.assertIn("0 of tensors, 4 of side files,", run("diff", before, after).stderr)

    def test_models_larger_than_memory_allows(self) -> None:
        before = self.sparse(GIB)
        after = self.write("after/model.onnx", before.read_bytes())
        with open(self.folder / "after/weights.bin", "wb") as file:
            file.truncate(GIB)
            file.seek(GIB - 1)
            file.write(b"\5")
        tool = self.in_memory(64 * MIB)
        done = run("diff", "--json", "-q", before, after, tool=tool)
        self.assertEqual((done.returncode, done.stderr), (FOUND, ""))
        data = json.loads(done.stdout)["tensors"][0]["data"]
        self.assertEqual((data["elements"], data["differing"], data["first"]), (GIB, 1, GIB - 1))
        self.assertEqual(data["max_absolute"], 5)

    def test_refusals(self) -> None:
        model = self.model()
        self.fails(IO, "onnxar: error[io.not_found]", "diff", model, self.folder / "none")
        broken = self.write("broken.onnx", model.read_bytes()[:-1])
        self.fails(FORMAT, f"onnxar: error[wire.truncated] {broken}", "diff", model, broken)
        self.assertEqual(run("diff", model).returncode, USAGE)

    def test_side_files_count_only_in_archives(self) -> None:
        archive = self.with_files("a.onnxar", notes=b"hello")
        self.same(self.saved("m.onnx"), archive)
        self.same(archive, self.saved("m.onnx"))


if __name__ == "__main__":
    command_line.main()

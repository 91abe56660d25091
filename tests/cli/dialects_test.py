"""Models as older exporters wrote them: `pack` reads them.

The zips are made with Python's zipfile and Debian's onnx, as those exporters make them.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support import command_line
from support.archives import MODEL
from support.command_line import MIB, ToolCase, entries_of, run, snapshot

METHODS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}
STAND_IN = b"__EXTERNAL"
Files = dict[str, bytes]


def weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1973)
    return {
        "encoder.weight": random.standard_normal((40, 50), np.float32),
        "17": random.integers(-(2**40), 2**40, (300,), np.int64),
        "bias": np.zeros((3,), np.float32),
        "large": random.integers(0, 3, (2 * MIB,), np.uint8),
    }


def model() -> onnx.ModelProto:
    """Two of its tensors are attributes, one of them in a subgraph."""
    tensors = {name: numpy_helper.from_array(value, name) for name, value in weights().items()}
    inner = helper.make_node("Constant", [], ["c"], value=tensors["17"])
    output = helper.make_tensor_value_info("c", TensorProto.INT64, [300])
    branch = helper.make_graph([inner], "branch", [], [output])
    nodes = [
        helper.make_node("Constant", [], ["bias"], value=tensors["bias"]),
        helper.make_node("If", ["cond"], ["y"], then_branch=branch, else_branch=branch),
    ]
    condition = helper.make_tensor_value_info("cond", TensorProto.BOOL, [])
    result = helper.make_tensor_value_info("y", TensorProto.INT64, [300])
    initializers = [tensors["encoder.weight"], tensors["large"]]
    graph = helper.make_graph(nodes, "graph", [condition], [result], initializers)
    return helper.make_model(graph, producer_name="exporter")


def tensors_of(proto: onnx.ModelProto) -> list[TensorProto]:
    def of_graph(graph: onnx.GraphProto) -> list[TensorProto]:
        found = list(graph.initializer)
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    found.append(attribute.t)
                if attribute.type == onnx.AttributeProto.GRAPH:
                    found += of_graph(attribute.g)
        return found

    return of_graph(proto.graph)


def pytorch() -> Files:
    """torch.onnx's ExportTypes.ZIP_ARCHIVE: each initializer is an entry."""
    proto, files = model(), {}
    for tensor in proto.graph.initializer:
        files[tensor.name] = tensor.raw_data
        tensor.raw_data = STAND_IN
    return {MODEL: proto.SerializeToString(), **files}


def tf2onnx() -> Files:
    """`--large_model`: tensors of constants, too; names without what a file may not have."""
    proto, files = model(), {}
    for number, tensor in enumerate(tensors_of(proto)):
        if len(tensor.raw_data) < 1024:
            continue
        name = "".join(c if c.isalnum() else "_" for c in tensor.name) + f"_{number}"
        files[name] = tensor.raw_data
        tensor.ClearField("raw_data")
        tensor.external_data.add(key="location", value=name)
        tensor.data_location = TensorProto.EXTERNAL
    return {MODEL + ".onnx": proto.SerializeToString(), **files}


def with_data_file(folder: Path) -> Files:
    """The output of onnx.save, and a file that belongs to it."""
    onnx.save(model(), str(folder / "m.onnx"), save_as_external_data=True, location="m.data")
    return {
        "m.onnx": (folder / "m.onnx").read_bytes(),
        "m.data": (folder / "m.data").read_bytes(),
        "tokenizer.json": b"{}",
    }


class DialectCase(ToolCase):
    def zip_of(self, files: Files, method: int, name: str = "model.zip") -> Path:
        path = self.folder / name
        with zipfile.ZipFile(path, "w", method) as file:
            for entry, data in files.items():
                file.writestr(entry, data)
        return path

    def assert_packs(self, source: Path, told: str) -> Path:
        """Unpacking gives the model that the exporter began with, byte for byte."""
        before = snapshot(self.folder)
        done = self.succeeds("pack", source, "-o", self.output)
        self.assertRegex(done.stderr, rf"note\[zip\.foreign\] .*{told}")
        self.assertEqual({**snapshot(self.folder), "out": None}, {**before, "out": None})
        self.succeeds("check", "--data", "--strict", "-q", self.output)
        self.assertEqual(self.unpacked(self.output), model().SerializeToString())
        (self.folder / "back.onnx").unlink()
        return self.output


class Dialects(DialectCase):
    def test_pytorch(self) -> None:
        for label, method in METHODS.items():
            with self.subTest(label):
                self.assert_packs(self.zip_of(pytorch(), method), "PyTorch").unlink()

    def test_pytorchs_folder(self) -> None:
        for name, data in pytorch().items():
            self.write(f"export/{name}", data)
        self.assert_packs(self.folder / "export", "folder that PyTorch exported")

    def test_tf2onnx(self) -> None:
        for label, method in METHODS.items():
            with self.subTest(label):
                self.assert_packs(self.zip_of(tf2onnx(), method), "tf2onnx").unlink()

    def test_model_and_data_file(self) -> None:
        files = with_data_file(self.folder)
        for label, method in METHODS.items():
            for folder in ("", "export/"):
                with self.subTest(label, folder=folder):
                    named = {folder + name: data for name, data in files.items()}
                    path = self.zip_of(named, method)
                    archive = self.assert_packs(path, r"a \.onnx file and its data files")
                    self.assertEqual(entries_of(archive)["tokenizer.json"], b"{}")
                    archive.unlink()

    def test_onnx_loads_what_comes_of_it(self) -> None:
        self.assert_packs(self.zip_of(pytorch(), zipfile.ZIP_DEFLATED), "PyTorch")
        data = ("--external-data", "weights.bin")
        self.succeeds("unpack", self.output, "-o", self.folder / "plain.onnx", *data)
        loaded = onnx.load(str(self.folder / "plain.onnx"))
        onnx.checker.check_model(str(self.folder / "plain.onnx"))
        values = {each.name: numpy_helper.to_array(each) for each in tensors_of(loaded)}
        for name, value in weights().items():
            np.testing.assert_array_equal(values[name], value)


class Memory(DialectCase):
    SIZE = 96 * MIB

    def test_of_deflated_entries_is_bounded(self) -> None:
        """Under a limit of private memory that holds none of the tensors."""
        data = bytes(self.SIZE)  # deflates to nearly nothing
        tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[self.SIZE])
        tensor.raw_data = STAND_IN
        proto = helper.make_model(helper.make_graph([], "graph", [], [], [tensor]))
        files = {MODEL: proto.SerializeToString(), "w": data}
        path = self.zip_of(files, zipfile.ZIP_DEFLATED)
        self.assertLess(path.stat().st_size, MIB)
        tool = self.in_memory(64 * MIB)
        options = ("--no-sync", "--max-expansion", 2000)
        done = run("pack", path, "-o", self.output, *options, tool=tool)
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(self.output) as file:
            self.assertEqual(file.getinfo("w").CRC, zipfile.ZipFile(path).getinfo("w").CRC)


if __name__ == "__main__":
    command_line.main()

"""Models for tests, and a temporary folder for each test."""

from __future__ import annotations

import pathlib
import signal
import tempfile
import unittest
from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnxar
from onnxar import _core


def weights(*shape: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def matmul_model(size: int = 64) -> onnx.ModelProto:
    """y = x @ w + b, with one more weight in a Constant node, and a shape that has to stay inside."""
    initializers = [numpy_helper.from_array(weights(size, size), "w"), numpy_helper.from_array(weights(size, seed=8), "b")]
    initializers.append(numpy_helper.from_array(np.array([-1, size], np.int64), "shape"))
    scale = numpy_helper.from_array(weights(1, 512, seed=9), "scale")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["y"]),
        helper.make_node("Constant", [], ["z"], "constant", value=scale),
    ]
    graph = helper.make_graph(
        nodes,
        "matmul",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, size])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, size]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 512]),
        ],
        initializers,
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])


def arrays_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def memory_of(action: Callable[[], object]) -> int:
    """Returns by how many bytes the memory of this process grows at most. Runs the action twice, since the first run also allocates what stays."""
    reset = pathlib.Path("/proc/self/clear_refs")
    if not reset.exists():
        raise unittest.SkipTest("this system cannot reset the peak of a process's memory")
    action()
    reset.write_text("5")
    before = status("VmRSS")
    action()
    return status("VmHWM") - before


def status(field: str) -> int:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))


class RangedFile:
    """A file in memory that is read in ranges. `fetched` counts the bytes that were read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.fetched = data, 0

    def __call__(self, targets: list[tuple[int, memoryview]]) -> None:
        for offset, target in targets:
            self.fetched += len(target)
            target[:] = self.data[offset : offset + len(target)]

    def open(self) -> _core.RangedArchive:
        return _core.RangedArchive.open_ranges(self, len(self.data), "m")


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="onnxar_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, code: str, call: Callable[..., object], *arguments: object, **named: object) -> onnxar.Error:
        """Expects that the call raises an error of this code, and returns it."""
        with self.assertRaises(onnxar.Error) as raised:
            call(*arguments, **named)
        self.assertEqual(raised.exception.code, code, raised.exception)
        return raised.exception

    def interrupt_after(self, seconds: float) -> None:
        """Raises KeyboardInterrupt in this thread after so many seconds, unless the test ends before."""

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def write_zeros(self, name: str, size: int) -> None:
        """Writes the model `NAME.onnx`, whose only tensor is a hole in `NAME.data`."""
        with (self.folder / f"{name}.data").open("wb") as file:
            file.truncate(size)
        tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", f"{name}.data"), ("offset", "0"), ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        (self.folder / f"{name}.onnx").write_bytes(model.SerializeToString())

    def names(self) -> set[str]:
        """Returns the names in the folder, so that tests find files that were left behind."""
        return {path.name for path in self.folder.iterdir()}


class ArchiveTest(FolderTest):
    """`path` is the archive of `model`."""

    @staticmethod
    def made() -> onnx.ModelProto:
        return matmul_model()

    def setUp(self) -> None:
        super().setUp()
        self.model = self.made()
        self.path = self.folder / "m.onnxar"
        onnxar.save(self.model, self.path)

    def mapped(self) -> bool:
        """Returns True if the archive is mapped by this process."""
        return str(self.path) in pathlib.Path("/proc/self/maps").read_text()

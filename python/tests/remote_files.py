"""An archive that is not a local file: file systems of fsspec, and a test that has it on one of them."""

from __future__ import annotations

import unittest.mock

import fsspec
import numpy as np
import onnx
from fsspec.implementations.memory import MemoryFileSystem
from onnx import helper, numpy_helper
from support import ArchiveTest, arrays_of, weights

import onnxar
from onnxar import _remote

ADDRESS = "memory://bucket/m.onnxar"
COUNT = 30
SIZE = 20_000  # elements of each: the weights do not fit in what is read when the archive is opened


def many_weights() -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(weights(SIZE, seed=i), f"layer{i // 10}.{i}") for i in range(COUNT)]
    return helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))


class Other(MemoryFileSystem):
    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace(f"{cls.protocol}://", "memory://"))


class Versionless(Other):
    """Does not state when a file was made."""

    protocol = "versionless"
    store: dict = {}
    pseudo_dirs = [""]

    def info(self, path, **options):
        return {key: value for key, value in super().info(path, **options).items() if key != "created"}


class Misbehaving(Other):
    protocol = "misbehaving"
    store: dict = {}
    pseudo_dirs = [""]
    answer = None

    def cat_file(self, path, start=None, end=None, **options):
        data = super().cat_file(path, start, end, **options)
        return data if self.answer is None else self.answer(data)


for each in (Versionless, Misbehaving):
    fsspec.register_implementation(each.protocol, each, clobber=True)


class RangesTest(ArchiveTest):
    made = staticmethod(many_weights)

    def setUp(self) -> None:
        super().setUp()
        self.data = self.path.read_bytes()
        self.memory = fsspec.filesystem("memory")
        self.memory.pipe("/bucket/m.onnxar", self.data)
        self.addCleanup(self.memory.rm, "/", recursive=True)
        self.fetched: list[list[tuple[int, int]]] = []
        fetch = _remote.FsspecFile.fetch

        def noted(file, ranges):
            self.fetched.append(ranges)
            return fetch(file, ranges)

        patch = unittest.mock.patch.object(_remote.FsspecFile, "fetch", noted)
        patch.start()
        self.addCleanup(patch.stop)

    def expect_all(self, archive: onnxar.Archive) -> None:
        expected = arrays_of(self.model)
        self.assertEqual(list(archive), list(expected))
        for name, array in archive.items():
            np.testing.assert_array_equal(array, expected[name], strict=True)

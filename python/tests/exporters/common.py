"""Shared by the tests of exporters: saves and packs a model that an exporter made, and compares its outputs."""

from __future__ import annotations

import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]


class ExporterTest(unittest.TestCase):
    def compare(self, made: object, feeds: dict[str, np.ndarray], least_outside: int = 0, write: Callable[[object, str], None] = onnx.save) -> None:
        """At least `least_outside` tensors have their data outside the model. `write` writes the model as its exporter
        does."""
        with tempfile.TemporaryDirectory() as name:
            plain, saved, packed = (Path(name) / each for each in ("plain.onnx", "saved.onnxar", "packed.onnxar"))
            write(made, str(plain))
            expected = ort.InferenceSession(str(plain), providers=CPU).run(None, feeds)
            self.assertGreaterEqual(onnxar.save(made, saved).tensors_outside, least_outside)
            onnxar.pack(plain, packed)
            for archive in (saved, packed):
                onnxar.check(archive, data=True)
                self.same(onnxar.onnxruntime.InferenceSession(archive, providers=CPU).run(None, feeds), expected)
            unpacked = Path(name) / "unpacked.onnx"
            onnxar.unpack(packed, unpacked)
            self.same(ort.InferenceSession(str(unpacked), providers=CPU).run(None, feeds), expected)

    def same(self, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
        """Compares outputs, not bytes: some exporters write lists of numbers, and `unpack` converts them to raw
        data."""
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)

"""Servers that are slow, fall silent or never answer: `timeout` of `onnxar.open`."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import pathlib
import socket
import sys
import time
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from support import FolderTest, weights

import onnxar

SPEC = importlib.util.spec_from_file_location("slow_server", pathlib.Path(__file__).parents[2] / "tests/support/slow_server.py")
slow = importlib.util.module_from_spec(SPEC)
sys.modules["slow_server"] = slow
SPEC.loader.exec_module(slow)

LIMIT = 0.3  # seconds


def model_of(elements: int) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(weights(elements, seed=i), f"w{i}") for i in range(10)]
    return helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))


class SlowTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        path = self.folder / "m.onnxar"
        onnxar.save(model_of(20_000), path)
        manager = slow.slow_server(path.read_bytes())
        self.server = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)

    def times_out(self, call) -> None:
        begin = time.monotonic()
        with self.assertRaises(onnxar.Error) as raised:
            call()
        self.assertEqual(raised.exception.code, "remote.timeout", raised.exception)
        self.assertIn("timeout=0", str(raised.exception))
        self.assertIsInstance(raised.exception, OSError)
        self.assertLess(time.monotonic() - begin, 4)
        self.assertGreater(time.monotonic() - begin, 2 * LIMIT, "it is asked once more")

    def opened(self) -> onnxar.Archive:
        return onnxar.open(self.server.address, timeout=LIMIT)

    def test_a_server_that_never_answers(self):
        self.server.delay = 60
        self.times_out(self.opened)
        self.assertEqual(len(self.server.requests), 2)
        self.times_out(lambda: asyncio.run(onnxar.open_async(self.server.address, timeout=LIMIT)))
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            self.times_out(lambda: onnxar.open(f"http://127.0.0.1:{deaf.getsockname()[1]}/m", timeout=LIMIT))

    def test_a_server_that_stops_in_the_middle(self):
        self.server.most = 1000
        self.times_out(self.opened)
        self.server.honest = 1
        archive = self.opened()
        self.times_out(lambda: archive["w1"])
        self.server.slow = 0
        np.testing.assert_array_equal(archive["w1"], weights(20_000, seed=1))

    def test_a_byte_at_a_time(self):
        self.server.piece, self.server.pause = 1, 0.05
        self.times_out(self.opened)
        self.server.piece, self.server.pause, self.server.head_pause = 1 << 20, 0, 0.05
        self.times_out(self.opened)

    def test_a_read_that_is_too_slow_once_is_read_again(self):
        self.server.slow, self.server.most = 1, 1000
        with self.opened() as archive:
            self.assertEqual(len(archive), 10)

    def test_a_slow_but_steady_server_may_take_long(self):
        path = self.folder / "small.onnxar"
        onnxar.save(model_of(300), path)
        self.server.data = path.read_bytes()
        self.server.piece, self.server.pause = len(self.server.data) // 15, 0.1
        begin = time.monotonic()
        with self.opened() as archive:
            self.assertEqual(len(archive), 10)
        self.assertGreater(time.monotonic() - begin, 4 * LIMIT)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_longer_limit_waits_longer_and_none_without_end(self):
        self.server.delay = 1
        for limit in (10, 0):
            with self.subTest(limit=limit), onnxar.open(self.server.address, timeout=limit) as archive:
                self.assertEqual(len(archive), 10)
        self.assertEqual(len(self.server.requests), 2)

    def test_what_is_no_number_of_seconds_is_refused(self):
        for limit in (-1, math.nan, math.inf):
            with self.subTest(limit=limit), self.assertRaises(onnxar.Error) as raised:
                onnxar.open(self.server.address, timeout=limit)
            self.assertEqual(raised.exception.code, "usage.argument")
        self.assertEqual(self.server.requests, [])

    def test_the_usual_limit_is_that_of_the_other_languages(self):
        self.assertEqual(inspect.signature(onnxar.open).parameters["timeout"].default, 30)


if __name__ == "__main__":
    unittest.main()

"""Containers whose image has an archive in a layer: file systems that overlay one folder share its pages."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from onnx import helper, numpy_helper
from support import FolderTest

import onnxar

READER = """
import pathlib, re, sys
import onnxar
with onnxar.open(sys.argv[1]) as archive:
    weight = archive["w"]
    weight.sum()
    print("ready", flush=True)
    sys.stdin.readline()
    sizes = pathlib.Path("/proc/self/smaps").read_text().partition("m.onnxar")[2]
    print(re.search(r"Pss: +(\\d+)", sizes)[1], re.search(r"Rss: +(\\d+)", sizes)[1], flush=True)
    sys.stdin.readline()
"""
SIZE = 32 << 20  # bytes


class Containers(FolderTest):
    def mounted(self, layer: pathlib.Path, name: str) -> pathlib.Path:
        """A file system as a container has it: its own writable layer over that of the image."""
        top, work, mount = (self.folder / f"{name}_{part}" for part in ("top", "work", "mount"))
        for each in (top, work, mount):
            each.mkdir()
        options = f"lowerdir={layer},upperdir={top},workdir={work}"
        done = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, mount], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f"overlayfs cannot be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", mount], check=True)
        return mount

    def test_two_containers_share_weights_in_memory(self):
        layer = self.folder / "layer"
        layer.mkdir()
        weight = numpy_helper.from_array(np.ones(SIZE // 4, np.float32), "w")
        onnxar.save(helper.make_model(helper.make_graph([], "g", [], [], initializer=[weight])), layer / "m.onnxar")
        with contextlib.ExitStack() as stack:
            readers = []
            for name in ("one", "two"):
                command = [sys.executable, "-c", READER, str(self.mounted(layer, name) / "m.onnxar")]
                readers.append(stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)))
            for reader in readers:
                self.assertEqual(reader.stdout.readline(), "ready\n")
            for reader in readers:
                reader.stdin.write("\n")
                reader.stdin.flush()
                share, resident = (int(size) * 1024 for size in reader.stdout.readline().split())
                self.assertGreaterEqual(resident, SIZE)
                self.assertLess(share, 0.6 * SIZE)
            for reader in readers:
                reader.communicate("\n")


if __name__ == "__main__":
    unittest.main()

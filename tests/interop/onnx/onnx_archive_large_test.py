"""The module for upstream writes entries beyond 4 GiB as the tool does, and holds none in memory.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests:spec/rfc onnx_archive_large_test.py
"""

from __future__ import annotations

import subprocess
import sys

from onnx_archive import Archive
from support.command_line import GIB, MIB, ToolCase, main, onnxar, output_of

SIZE = 4 * GIB + 100
LIMIT = 256 * MIB  # of private memory
SAVE = """
import mmap, sys
import onnx
import onnx_archive

model, data, output = sys.argv[1:]
with open(data, "rb") as file:
    weights = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
onnx_archive.save(onnx.load(model, load_external_data=False), output, data=lambda tensor: weights)
"""


class Large(ToolCase):
    def test_entry_beyond_4_gib_is_saved_like_by_the_tool(self) -> None:
        source, saved = self.sparse(SIZE), self.folder / "saved.onnxar"
        save = [sys.executable, "-c", SAVE, source, self.folder / "weights.bin", saved]
        subprocess.run(["prlimit", f"--data={LIMIT}", *map(str, save)], check=True)
        onnxar("pack", source, "-o", self.output, "-q", "--no-sync")
        output_of("cmp", saved, self.output)
        archive = Archive(saved)
        (tensor,) = archive.model().graph.initializer
        array = archive.array(tensor)
        self.assertEqual((array.shape, array[-1]), ((SIZE,), 0))


if __name__ == "__main__":
    main(__doc__)

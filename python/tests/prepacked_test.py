"""The layout of data that ONNX Runtime wrote."""

from __future__ import annotations

import unittest

from building import EXTERNAL, head, model, pair

from onnxar import _prepacked


class Layouts(unittest.TestCase):
    def tensor(self, offset: int, length: int, location: str = "data", **more: str) -> bytes:
        pairs = {"location": location, "offset": str(offset), "length": str(length)} | more
        return model(head("t", 4) + b"".join(pair(*each) for each in pairs.items()) + EXTERNAL)

    def test_data_in_the_file_is_moved(self):
        layout = _prepacked.Layout("data", 100)
        layout.moved(self.tensor(84, 16, prepacked_0="kernel|0;80;1"))
        self.assertEqual(layout.ranges, {(84, 16): 0, (0, 80): 256})

    def test_data_elsewhere_is_refused(self):
        for bad, said in ((self.tensor(0, 16, "other.bin"), "other.bin"), (self.tensor(0, 16, "../data"), "data is in"), (self.tensor(85, 16), "outside"),
                          (self.tensor(0, 101), "outside"), (self.tensor(-1, 16), "outside"), (self.tensor(10, -1), "outside"),
                          (self.tensor(0, 16, prepacked_0="kernel|96;16;1"), "outside")):  # fmt: skip
            with self.assertRaisesRegex(ValueError, said):
                _prepacked.Layout("data", 100).moved(bad)


if __name__ == "__main__":
    unittest.main()

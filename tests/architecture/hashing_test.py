"""Tables whose keys come from files are hashed under a random key: see src/base/keyed_hash.h.

Usage: hashing_test.py
"""

from __future__ import annotations

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("src/onnx", "src/convert", "src/model", "tools")  # what reads models; keys of rules are the code's own
SEEDED = re.compile(r"std::unordered_(?:map|set)<(?:std::)?string(?:_view)?\b[^;]*")


class Hashing(unittest.TestCase):
    def test_no_table_of_what_reads_models_has_strings_for_keys_under_a_known_seed(self) -> None:
        sources = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.[ch]*"))]
        self.assertGreater(len(sources), 100)
        for path in sources:
            found = SEEDED.findall(path.read_text())
            self.assertEqual(found, [], f"{path}: use base::KeyedMap or base::KeyedSet")


if __name__ == "__main__":
    unittest.main()

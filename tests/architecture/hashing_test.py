"""Tables whose keys come from files are hashed under a random key: see src/base/keyed_hash.h.

Usage: hashing_test.py
"""

from __future__ import annotations

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "src/base/keyed_hash.h"
SEEDED = re.compile(r"std::unordered_(?:multi)?(?:map|set)<[^;]*")


class Hashing(unittest.TestCase):
    def test_no_table_hashes_under_a_known_seed(self) -> None:
        sources = [path for folder in ("include", "src", "tools") for path in sorted((ROOT / folder).rglob("*.[ch]*"))]
        self.assertGreater(len(sources), 100)
        for path in set(sources) - {HOME}:
            found = SEEDED.findall(path.read_text())
            self.assertEqual(found, [], f"{path}: use base::KeyedMap or base::KeyedSet")


if __name__ == "__main__":
    unittest.main()

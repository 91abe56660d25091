"""Tables whose keys come from files are hashed under a random key: see src/base/keyed_hash.h.

Usage: hashing_test.py
"""

from __future__ import annotations

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = {"base", "zip", "archive", "wire"}  # rooms that read no models
ROOMS = [room for room in (ROOT / "src").iterdir() if room.is_dir() and room.name not in LEFT_OUT] + [ROOT / "tools"]
SEEDED = re.compile(r"std::unordered_(?:map|set)<(?:std::)?string(?:_view)?\b[^;]*")


class Hashing(unittest.TestCase):
    def test_no_table_of_what_reads_models_has_strings_for_keys_under_a_known_seed(self) -> None:
        sources = [path for room in ROOMS for path in sorted(room.rglob("*.[ch]*"))]
        self.assertGreater(len(sources), 100)
        for path in sources:
            found = SEEDED.findall(path.read_text())
            self.assertEqual(found, [], f"{path}: use base::KeyedMap or base::KeyedSet")


if __name__ == "__main__":
    unittest.main()

"""`ls` with a pattern and an order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.command_line import USAGE, ToolCase, run

SIZES = {"b.weight": 2000, "a.weight": 1500, "c.bias": 3000}


class Ls(ToolCase):
    def sample(self) -> Path:
        return self.packed(*(wire.tensor(name, wire.UINT8, size) for name, size in SIZES.items()))

    def keys(self, *options: str) -> list[str]:
        document: dict[str, Any] = json.loads(self.succeeds("ls", self.sample(), "--json", *options).stdout)
        return [entry["name"] for entry in document["entries"]]

    def test_without_an_order_entries_are_as_in_the_file(self) -> None:
        self.assertEqual(self.keys(), ["b_weight", "a_weight", "c_bias"])
        self.assertEqual(self.keys("--sort", "offset"), self.keys())

    def test_the_largest_are_first(self) -> None:
        self.assertEqual(self.keys("--sort", "size"), ["c_bias", "b_weight", "a_weight"])

    def test_by_name(self) -> None:
        self.assertEqual(self.keys("--sort", "name"), ["a_weight", "b_weight", "c_bias"])

    def test_pattern_matches_names_of_tensors_and_entries(self) -> None:
        self.assertEqual(self.keys("*.weight"), ["b_weight", "a_weight"])
        self.assertEqual(self.keys("c_*"), ["c_bias"])
        self.assertEqual(self.keys("[ab]*", "--sort", "name"), ["a_weight", "b_weight"])

    def test_the_table_says_how_many_of_all_are_shown(self) -> None:
        lines = self.succeeds("ls", self.sample(), "*.weight").stdout.decode().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[-1], "2 of 3 entries, 3.5 kB of data")
        self.assertNotIn("__MODEL_PROTO", "".join(lines))

    def test_a_pattern_that_nothing_matches_is_an_error(self) -> None:
        done = run("ls", self.sample(), "x*")
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertIn("error[usage.no_such_entry]", done.stderr)

    def test_other_orders_are_refused(self) -> None:
        self.assertEqual(run("ls", self.sample(), "--sort", "colour").returncode, USAGE)


if __name__ == "__main__":
    command_line.main()

"""Archives with the most entries that a 16-bit count can hold, and with one more."""

from __future__ import annotations

import zipfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import END, MODEL
from support.command_line import ToolCase, output_of

LOCATOR = b"PK\6\7"


class ManyEntries(ToolCase):
    def archive_of_so_many(self, count: int) -> Path:
        """`count` entries in all, the model among them."""
        model = self.model(*(wire.tensor(f"t{index}", count=16) for index in range(count - 1)))
        self.succeeds("pack", model, "-o", self.output, "--threshold", "0", "--no-sync", "-f")
        return self.output

    def has_locator(self, path: Path) -> bool:
        return path.read_bytes()[-END.size - 20 :].startswith(LOCATOR)

    def all_read(self, count: int) -> None:
        path = self.archive_of_so_many(count)
        self.assertEqual(self.has_locator(path), count >= 0xFFFF)
        self.succeeds("check", "--data", "-q", path)
        names = [each["name"] for each in self.listing(path)["entries"]] + [MODEL]
        self.assertEqual(len(set(names)), count)
        with zipfile.ZipFile(path) as file:
            self.assertEqual(file.namelist(), names)
            self.assertIsNone(file.testzip())
        self.assertEqual(output_of("bsdtar", "-tf", path).decode().splitlines(), names)
        self.assertIn(f"Files: {count}\n".encode(), output_of("7z", "t", path))

    def test_one_less_than_the_sentinel(self) -> None:
        self.all_read(0xFFFE)

    def test_the_sentinel(self) -> None:
        self.all_read(0xFFFF)

    def test_one_more(self) -> None:
        self.all_read(0x10000)

    def test_two_hundred_thousand(self) -> None:
        self.all_read(200_000)


if __name__ == "__main__":
    command_line.main()

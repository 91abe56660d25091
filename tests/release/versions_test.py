"""Everything that states a version agrees, and a difference is found."""

from __future__ import annotations

import re
import shutil
import sys
import unittest
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
import pins
import versions


class Versions(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.copy = self.folder
        for file in {"include/onnxar/version.h", *(file for file, _ in (*versions.STATED, *versions.FORMAT))}:
            (self.copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.copy / file)

    def change(self, file: str, old: str, new: str) -> None:
        text = (self.copy / file).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.copy / file).write_text(text.replace(old, new), encoding="utf-8")

    def test_this_tree_states_one_version(self) -> None:
        self.assertEqual(versions.faults(), [])

    def test_every_statement_is_compared(self) -> None:
        version = versions.library_version()
        self.change("include/onnxar/version.h", "_PATCH " + version.split(".")[2], "_PATCH 77")
        whole = [file for file, pattern in versions.STATED if pattern.count(r"(\d+)") == 3]
        self.assertEqual(len(versions.faults(self.copy)), len(whole))
        self.change("include/onnxar/version.h", "_MAJOR " + version.split(".")[0], "_MAJOR 88")
        self.assertEqual(len(versions.faults(self.copy)), len(versions.STATED))

    def test_other_version_in_the_specification_is_found(self) -> None:
        self.change("spec/links.md", "Version 1.0,", "Version 1.1,")
        self.assertEqual(len(versions.faults(self.copy)), 1)

    def test_changelog_without_the_release_date_is_found(self) -> None:
        text = (self.copy / "CHANGELOG.md").read_text(encoding="utf-8")
        (self.copy / "CHANGELOG.md").write_text(re.sub(r"(?m)^## \[.*$", "## [Unreleased]", text), encoding="utf-8")
        self.assertIn("CHANGELOG.md: no version", versions.faults(self.copy)[0])

    def test_notes_are_the_changelog_of_this_version(self) -> None:
        version = versions.library_version()
        (self.copy / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{version}] - 2026-01-01\n- new\n\n## [0.0.1] - 2025-01-01\n- old\n")
        self.assertEqual(versions.notes(self.copy), "- new\n")


class Pins(FolderCase):
    # Each bundled archive also has a licence.
    def test_every_archive_has_a_hash(self) -> None:
        for table in (pins.BUNDLED, pins.PYTHONS):
            for pin in pins.pins(table):
                self.assertRegex(pin.sha256, "^[0-9a-f]{64}$", pin.name)
        for pin in pins.pins(pins.BUNDLED):
            self.assertTrue((ROOT / f"cmake/licenses/{pin.name}.txt").is_file(), pin.name)

    def test_archive_with_a_wrong_hash_is_removed(self) -> None:
        source, place = self.write("a.tar", b"bytes"), self.folder / "downloads"
        with self.assertRaises(SystemExit):
            pins.fetched(pins.Pin("a", "1", "MIT", "0" * 64, source.as_uri()), place)
        self.assertEqual(list(place.iterdir()), [])
        good = pins.Pin("a", "1", "MIT", pins.sha256(source), source.as_uri())
        self.assertEqual(pins.fetched(good, place).read_bytes(), b"bytes")


if __name__ == "__main__":
    unittest.main()

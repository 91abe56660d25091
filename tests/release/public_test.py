"""The texts that depend on whether the packages are published fit the state, and can be switched."""

from __future__ import annotations

import shutil
import sys
import unittest
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
import public
import versions

FILES = {"include/onnxar/version.h", *public.ADDRESSED, *(text.file for text in public.TEXTS), *(file for file, _ in (*versions.STATED, *versions.FORMAT))}


class Public(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        for file in FILES:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.folder / file)

    def all_files(self) -> dict[str, str]:
        return {file: (self.folder / file).read_text(encoding="utf-8") for file in FILES}

    def test_this_tree_has_the_texts_of_its_state(self) -> None:
        self.assertEqual(public.faults(), [])

    def test_both_states_are_complete_and_can_be_switched(self) -> None:
        now = self.all_files()
        for is_published in (not public.PUBLISHED, public.PUBLISHED):
            self.assertEqual(len(public.faults(self.folder, is_published)), len(public.TEXTS))
            for _ in range(2):
                public.write(self.folder, is_published)
                self.assertEqual(public.faults(self.folder, is_published), [])
            self.assertEqual(versions.faults(self.folder), [])
            self.assertLessEqual(len((self.folder / "README.md").read_text(encoding="utf-8").splitlines()), 70)
        self.assertEqual(self.all_files(), now)

    def test_published_readme_has_badges_and_install_line(self) -> None:
        public.write(self.folder, is_published=True)
        text = (self.folder / "README.md").read_text(encoding="utf-8")
        self.assertEqual(text.count("[!["), 5)
        self.assertIn("`pip install onnxar`", text)

    def test_each_changed_text_and_address_is_found(self) -> None:
        for file in {text.file for text in public.TEXTS} | {*public.ADDRESSED}:
            text = (self.folder / file).read_text(encoding="utf-8")
            (self.folder / file).write_text("another text\n")
            found = public.faults(self.folder)
            self.assertTrue(found, file)
            self.assertTrue(all(line.startswith(f"{file} does not ") for line in found), found)
            (self.folder / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    unittest.main()

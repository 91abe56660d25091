"""Every verb calls an empty or cut zip by that name, not a broken model."""

from __future__ import annotations

import zipfile
from pathlib import Path

from support import command_line
from support.archives import END, exported_files, plain_zip, sound
from support.command_line import FORMAT, FOUND, ToolCase, run


class CutZips(ToolCase):
    def said(self, path: Path) -> list[str]:
        """The message of each verb that takes a model."""
        lines = []
        for verb, *more in (
            ("check",),
            ("ls",),
            ("pack", "-o", self.output),
            ("unpack", "-o", self.output),
            ("repack", "-o", self.output),
            ("show",),
            ("dump",),
            ("extract", "w", "-o", self.output),
        ):
            done = run(verb, path, *more)
            if "needs protobuf" in done.stderr:  # a tool without onnxar::model
                continue
            self.assertEqual(done.returncode, FOUND if verb == "check" else FORMAT, verb)
            lines.append(f"{verb}: {done.stdout.decode()}{done.stderr}")
        self.assertFalse(self.output.exists())
        return lines

    def assert_said(self, path: Path, code: str, *words: str) -> None:
        for line in self.said(path):
            self.assertIn(f"error[{code}]", line)
            for word in words:
                self.assertIn(word, line)

    def test_empty_zip(self) -> None:
        path = self.folder / "empty.zip"
        with zipfile.ZipFile(path, "w"):
            pass
        self.assertEqual(path.stat().st_size, END.size)
        self.assert_said(path, "zip.directory.empty", "zip file is empty")

    def test_zip_cut_anywhere(self) -> None:
        whole = plain_zip(exported_files())
        for size in (4, 21, 22, 30, len(whole) // 2, len(whole) - END.size, len(whole) - 1):
            with self.subTest(size=size):
                path = self.write("cut.zip", whole[:size])
                self.assert_said(path, "zip.end.missing", "cut short")

    def test_archive_cut_anywhere(self) -> None:
        whole = bytes(sound().file)
        for size in (4, len(whole) // 2, len(whole) - END.size, len(whole) - 1):
            with self.subTest(size=size):
                self.assert_said(self.write("cut.zip", whole[:size]), "zip.end.missing", "cut short")

    def test_zip_whose_front_is_missing(self) -> None:
        whole = plain_zip(exported_files())
        directory = whole.index(b"PK\1\2")
        for begin in (10, 100, directory):
            with self.subTest(begin=begin):
                path = self.write("tail.zip", whole[begin:])
                self.assert_said(path, "zip.end.directory_bounds", "removed")
        end = self.write("end.zip", whole[-END.size :])
        self.assert_said(end, "zip.end.directory_bounds", "removed")


if __name__ == "__main__":
    command_line.main()

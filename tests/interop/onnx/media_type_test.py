"""Other programs tell archives by content or by name: `file` and the shared MIME database.

Usage: PYTHONPATH=tests media_type_test.py
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import unittest
from pathlib import Path

from support.archives import MODEL, Archive, Entry, exported_files, model_of, plain_zip
from support.command_line import FolderCase, output_of
from support.sparse_archive import write_sparse_archive

SPEC = Path(__file__).resolve().parents[3] / "spec"
MAGIC, XML = (SPEC / "media-type" / name for name in ("onnxar.magic", "onnxar.xml"))
ZIP64_RECORDS = b"PK\6\6".ljust(56, b"\0") + b"PK\6\7".ljust(20, b"\0")  # what `file` looks at
TYPE, ZIP = "application/vnd.onnx.archive+zip", "application/zip"


class File(FolderCase):
    """With the system's own entries after ours, as an administrator would have them."""

    def told(self, *paths: Path, what: str = "--mime-type") -> list[str]:
        magic = f"{MAGIC}:/usr/share/misc/magic"
        return output_of("file", "-b", "-m", magic, what, *paths).decode().splitlines()

    def test_the_entries_are_without_fault(self) -> None:
        output_of("file", "-c", "-m", MAGIC)  # compiles them; says what is wrong
        typical = SPEC / "vectors" / "valid" / "typical.onnxar"
        self.assertEqual(self.told(typical, what="-p"), ["ONNX archive"])

    def test_every_valid_vector_is_an_archive(self) -> None:
        paths = sorted((SPEC / "vectors/valid").iterdir())
        self.assertGreaterEqual(len(paths), 100)
        told = dict(zip(paths, self.told(*paths)))
        self.assertEqual({path: said for path, said in told.items() if said != TYPE}, {})

    def test_extra_fields_of_last_header_are_recognised(self) -> None:
        entry = [Entry("a.bin", b"a"), model_of()]
        alignment = struct.pack("<3H", 0xA11E, 2, 64)
        for size in (None, 0, 8, 16, 24, 28):
            zip64 = b"" if size is None else struct.pack("<2H", 1, size) + bytes(size)
            for extra in (zip64, zip64 + alignment, alignment + zip64):
                for records in (b"", ZIP64_RECORDS):
                    with self.subTest(size=size, extra=extra, zip64_end=bool(records)):
                        made = Archive(entry)
                        made.set_central(-1, extra_length=len(extra))
                        end = bytes(made.file[made.end :])
                        path = self.write("made", made.file[: made.end] + extra + records + end)
                        self.assertEqual(self.told(path), [TYPE])

    def test_archives_beyond_4_gib_are_recognised(self) -> None:
        path = self.folder / "large"
        write_sparse_archive(path, 5)
        self.assertEqual(self.told(path), [TYPE])

    def test_other_zip_files_are_not_archives(self) -> None:
        model = model_of()
        others = {
            "exported": plain_zip(exported_files()),
            "model first": bytes(Archive([model, Entry("a.bin", b"")]).file),
            "other name": bytes(Archive([Entry(f"x{MODEL}", model.data)]).file),
            "a comment": bytes(Archive([model]).file) + b"!",
            "an archive at another place": b"#!" + bytes(Archive([model]).file),
        }
        for name, data in others.items():
            with self.subTest(name):
                self.assertNotIn(TYPE, self.told(self.write("other.zip", data)))

    def test_extension_is_printed(self) -> None:
        told = self.told(SPEC / "vectors/valid/typical.onnxar", what="--extension")
        self.assertEqual(told, ["onnxar"])


class SharedMimeInfo(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        packages = self.folder / "mime" / "packages"
        packages.mkdir(parents=True)
        shutil.copy(XML, packages)
        output_of("update-mime-database", self.folder / "mime")

    def told(self, path: Path) -> str:
        ours = {"XDG_DATA_HOME": str(self.folder), "XDG_DATA_DIRS": "/usr/share"}
        words = [f"{name}={value}" for name, value in ours.items()]
        said = output_of("env", *words, "gio", "info", "-a", "standard::content-type", path)
        return said.decode().split()[-1]

    # Other zip files stay zip files.
    def test_extension_identifies_archives_only(self) -> None:
        for name, expected in (("model.onnxar", TYPE), ("MODEL.ONNXAR", TYPE), ("model.zip", ZIP)):
            path = self.write(name, Archive([model_of()]).file)
            self.assertEqual(self.told(path), expected)

    def test_zip_tools_may_open_it(self) -> None:
        self.assertIn(f"{TYPE} {ZIP}", (self.folder / "mime/subclasses").read_text().splitlines())

    def test_it_has_a_name_for_people(self) -> None:
        said = (self.folder / "mime" / f"{TYPE}.xml").read_text()
        self.assertIn("<comment>ONNX archive</comment>", said)


class Page(FolderCase):
    def test_commands_of_the_page_work_under_a_prefix(self) -> None:
        share = self.folder / "share"
        for source, folder in ((MAGIC, share / "file"), (XML, share / "mime/packages")):
            folder.mkdir(parents=True)
            shutil.copy(source, folder)
        archive = self.write("model.onnxar", Archive([model_of()]).file)
        (script,) = re.findall("```sh\n(.*?)```", (SPEC / "media-type.md").read_text(), re.S)
        script = script.replace("PREFIX=/usr/local ", f"PREFIX={self.folder} ")
        data_dirs = f"XDG_DATA_DIRS={share}:{os.environ.get('XDG_DATA_DIRS', '/usr/share')}"
        words = ["env", "-C", self.folder, f"XDG_DATA_HOME={self.folder}", data_dirs]
        said = output_of(*words, "bash", "-ec", script).decode()
        self.assertIn(f"{archive.name}: ONNX archive\n", said)
        self.assertIn(f"standard::content-type: {TYPE}\n", said)


class OnePlaceForEachFact(unittest.TestCase):
    def test_the_registration_names_the_type_and_the_files(self) -> None:
        text = (SPEC / "media-type.md").read_text()
        for said in (TYPE, "vnd.onnx.archive+zip", MAGIC.name, XML.name):
            self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()

"""Archives are ordinary zip files: common tools accept them, and unpack a model from them."""

from __future__ import annotations

import shutil
import tempfile
import unittest
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from support import command_line, zoo
from support import onnx_walk as walk
from support.archives import MODEL
from support.command_line import ALL_SITES, at_once, label, onnxar, output_of

import onnx


class Packed(NamedTuple):
    source: Path
    archive: Path


def pack(each: Packed) -> Packed:
    onnxar("pack", each.source, "-o", each.archive, "--no-sync", *ALL_SITES)
    return each


def pack_zoo(folder: Path) -> list[Packed]:
    """Every model of the zoo, with as many entries as it can have."""
    return at_once(pack, [Packed(model, folder / f"{n}.onnxar") for n, model in enumerate(zoo.write_zoo(folder / "zoo"))])


def judge(check: Callable[[Packed], None], each: Packed) -> str:
    """The faults of one archive; empty if it has none."""
    try:
        check(each)
    except Exception as error:
        return f"{label(each.source)}: {type(error).__name__}: {error}"
    return ""


class ZipTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.packed = pack_zoo(Path(folder.name))

    def hold(self, check: Callable[[Packed], None]) -> None:
        faults = list(filter(None, at_once(partial(judge, check), self.packed)))
        if faults:
            listing = "\n".join(faults)
            self.fail(f"{len(faults)} of {len(self.packed)} archives fail:\n{listing}")

    def accepts(self, *command: str) -> None:
        """Holds when the command, given an archive as its last argument, ends with 0."""
        self.need(command[0])
        self.hold(lambda each: output_of(*command, each.archive))

    def need(self, program: str) -> None:
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def test_unzip_tests_it(self) -> None:
        self.accepts("unzip", "-tqq")

    def test_zipinfo_lists_it(self) -> None:
        self.accepts("zipinfo", "-v")

    def test_7z_tests_it(self) -> None:
        self.accepts("7z", "t")

    def test_bsdtar_lists_it(self) -> None:
        self.accepts("bsdtar", "-tf")

    def test_bsdtar_lists_it_from_a_pipe(self) -> None:
        self.need("bsdtar")

        def check(each: Packed) -> None:
            listed = output_of("bsdtar", "-tf", "-", piped=each.archive.read_bytes()).decode()
            with zipfile.ZipFile(each.archive) as file:
                self.assertEqual(listed.splitlines(), file.namelist())

        self.hold(check)

    def test_zipalign_finds_it_aligned(self) -> None:
        self.accepts("zipalign", "-c", "64")

    def test_python_reads_it(self) -> None:
        def check(each: Packed) -> None:
            with zipfile.ZipFile(each.archive) as file:
                self.assertIsNone(file.testzip())
                self.assertEqual(file.namelist()[-1], MODEL)

        self.hold(check)

    def test_unzipped_it_is_a_model_with_external_data(self) -> None:
        self.need("unzip")

        def check(each: Packed) -> None:
            with tempfile.TemporaryDirectory() as folder:
                output_of("unzip", "-q", each.archive, "-d", folder)
                loaded = onnx.load(str(Path(folder, MODEL)))
                model = walk.parse(loaded.SerializeToString())
                walk.load_external(model, Path(folder))  # onnx itself does not visit all sites
            self.assertEqual(walk.differences(walk.load(each.source), model)[:5], [])

        self.hold(check)


if __name__ == "__main__":
    command_line.main()

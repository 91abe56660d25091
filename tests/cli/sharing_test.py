"""On a file system that can, large weights share the blocks of the file that they come from.

Needs a file system to mount, and so root.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import IO, MIB, Fault, ToolCase, entries_of
from support.file_systems import fill, mounted_xfs, shared_bytes, shared_ranges

SIZE = 3 * MIB + 1000  # the last block is not full: it is copied
WHOLE_BLOCKS = SIZE // 4096 * 4096
LARGE = wire.content(wire.UINT8, SIZE, "large")


class OnXfs(ToolCase):
    """In a folder on it."""

    xfs: Path

    def setUp(self) -> None:
        home = tempfile.TemporaryDirectory(dir=self.xfs)
        self.addCleanup(home.cleanup)
        self.folder = Path(home.name)
        self.output = self.folder / "out"

    def external(self, at: int = 4096) -> Path:
        """A model with a small and a large tensor in weights.bin, the large one at `at`."""
        data = wire.DataFile("weights.bin")
        small = data.tensor("small", count=300)
        data.add(bytes(at - len(data.data)))
        large = data.tensor("large", wire.UINT8, SIZE)
        self.write("weights.bin", bytes(data.data))
        return self.model(small, large)

    def packed_external(self) -> Path:
        path = self.folder / "model.onnxar"
        self.succeeds("pack", self.external(), "-o", path)
        return path

    def holds_the_weights(self, archive: Path) -> None:
        entries = entries_of(archive)  # compares CRCs
        self.assertEqual(entries["large"], LARGE)
        self.assertEqual(entries["small"], wire.content(wire.FLOAT, 300, "small"))
        self.succeeds("check", "--data", "-q", archive)


class Sharing(OnXfs):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.xfs = mounted_xfs(cls, "-m", "reflink=1")

    def test_pack_shares_what_lies_on_blocks(self) -> None:
        self.on_posix("Wine shares no blocks")
        archive = self.packed_external()
        self.holds_the_weights(archive)
        self.assertEqual(shared_bytes(archive), WHOLE_BLOCKS)
        self.assertEqual(shared_bytes(self.folder / "weights.bin"), WHOLE_BLOCKS)

    def test_link_folder_gets_a_copy_that_shares_blocks(self) -> None:
        self.on_posix("Wine shares no blocks")
        archive = self.packed_external()
        told = self.succeeds("link", archive, "-o", f"{self.output}/").stderr
        self.assertIn("wrote 1 copy of the archive (shared blocks)", told)
        copy = self.output / archive.name
        self.assertEqual(copy.read_bytes(), archive.read_bytes())
        self.assertGreaterEqual(shared_bytes(copy), WHOLE_BLOCKS // MIB * MIB)
        self.succeeds("check", "--data", self.output / "model.onnx")

    def test_pack_copies_what_lies_elsewhere_in_its_blocks(self) -> None:
        model = self.external(at=4096 + 64)
        self.succeeds("pack", model, "-o", self.output)
        self.holds_the_weights(self.output)
        self.assertEqual(shared_bytes(self.output), 0)

    def test_archive_equals_one_without_shared_blocks(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            elsewhere = Path(home, "out")
            self.succeeds("pack", self.external(), "-o", elsewhere)
            self.assertTrue(self.packed_external().read_bytes() == elsewhere.read_bytes())

    def test_data_on_another_file_system_is_copied(self) -> None:
        model = self.external()
        with tempfile.TemporaryDirectory() as home:
            (self.folder / "weights.bin").rename(self.folder / "kept")
            Path(home, "weights.bin").write_bytes((self.folder / "kept").read_bytes())
            self.succeeds("pack", model, "-o", self.output, "--data-dir", home)
        self.holds_the_weights(self.output)
        self.assertEqual(shared_bytes(self.output), 0)

    def test_every_way_out_of_an_archive_shares(self) -> None:
        self.on_posix("Wine shares no blocks")
        archive = self.packed_external()
        ways = {
            "data": ("unpack", archive, "-o", self.folder / "a.onnx", "--external-data", "data"),
            "large": ("unpack", archive, "-o", self.folder / "b.onnx", "--per-tensor"),
            "packed": ("pack", archive, "-o", self.folder / "packed"),
            "repacked": ("repack", archive, "-o", self.folder / "repacked"),
            "raw": ("extract", archive, "large", "--raw", "-o", self.folder / "raw"),
        }
        for name, command in ways.items():
            with self.subTest(way=command[0]):
                self.succeeds(*command)
                self.assertEqual(shared_bytes(self.folder / name), WHOLE_BLOCKS)
        self.assertTrue((self.folder / "large").read_bytes() == LARGE)
        self.assertTrue((self.folder / "raw").read_bytes() == LARGE)
        self.assertEqual((self.folder / "repacked").read_bytes(), archive.read_bytes())
        self.holds_the_weights(self.folder / "packed")
        self.assertTrue((self.folder / "data").read_bytes().endswith(LARGE))

    def test_blocks_that_begin_within_the_data(self) -> None:
        """A model that is written unchanged has the same offsets, which are not multiples of a block."""
        self.on_posix("Wine shares no blocks")
        model = self.model(wire.tensor("w", wire.UINT8, SIZE))
        self.succeeds("unpack", model, "-o", self.output)
        self.assertTrue(self.output.read_bytes() == model.read_bytes())
        [(begin, end)] = shared_ranges(self.output)
        self.assertEqual(begin % 4096, 0)
        self.assertGreater(begin, 0)
        self.assertGreater(end - begin, SIZE - 2 * 4096)

    def test_changing_one_file_leaves_the_other(self) -> None:
        archive = self.packed_external()
        [at] = (each["offset"] for each in self.listing(archive)["entries"] if each["name"] == "large")
        with open(archive, "r+b") as file:
            file.seek(at + 5000)
            file.write(b"changed")
        self.assertTrue((self.folder / "weights.bin").read_bytes().endswith(LARGE))
        with open(self.folder / "weights.bin", "r+b") as file:
            file.seek(4096 + 2 * MIB)
            file.write(b"changed, too")
        expected = LARGE[:5000] + b"changed" + LARGE[5007:]
        self.assertTrue(archive.read_bytes()[at : at + SIZE] == expected)

    def test_repacked_in_place(self) -> None:
        self.on_posix("Wine shares no blocks")
        archive = self.packed_external()
        before = archive.read_bytes()
        self.succeeds("repack", archive, "-o", archive, "-f")
        self.assertTrue(archive.read_bytes() == before)
        self.assertEqual(shared_bytes(archive), WHOLE_BLOCKS)  # with the data file, as before

    def test_replace_appends_shared_data_and_undo_cuts_it(self) -> None:
        self.on_posix("Wine shares no blocks")
        archive = self.archive("w")
        before = archive.read_bytes()
        self.succeeds("replace", archive, self.external(), "--append-external")
        self.assertEqual(shared_bytes(archive), WHOLE_BLOCKS)
        self.holds_the_weights(archive)
        self.succeeds("undo", archive, "--force")
        self.assertTrue(archive.read_bytes() == before)
        self.assertTrue((self.folder / "weights.bin").read_bytes().endswith(LARGE))

    def test_side_file_shares_blocks(self) -> None:
        self.on_posix("Wine shares no blocks")
        file = self.write("tokens", LARGE)
        self.succeeds("pack", self.model(), "-o", self.output, "--add", f"tokens.bin={file}")
        self.assertEqual(shared_bytes(self.output), WHOLE_BLOCKS)
        self.assertEqual(entries_of(self.output)["tokens.bin"], LARGE)

    def fill_the_disk(self) -> None:
        """All bytes except fewer than a large tensor takes."""
        fill(self.folder / "filler", room=SIZE // 2)

    def test_shared_data_needs_no_space(self) -> None:
        self.on_posix("Wine shares no blocks")
        model = self.external()
        self.fill_the_disk()
        self.succeeds("pack", model, "-o", self.output)
        self.holds_the_weights(self.output)
        self.assertEqual(shared_bytes(self.output), WHOLE_BLOCKS)

    def test_full_disk_is_an_error_if_data_must_be_copied(self) -> None:
        model = self.external(at=4096 + 64)
        self.fill_the_disk()
        line = self.fails(IO, Fault("io.disk_full").line(self.output), "pack", model, "-o", self.output)
        self.assertIn("disk is full", line)


class NotSharing(OnXfs):
    """The same kind of file system, made without support for sharing."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.xfs = mounted_xfs(cls, "-m", "reflink=0")

    def test_pack_copies(self) -> None:
        archive = self.packed_external()
        self.holds_the_weights(archive)
        self.assertEqual(shared_bytes(archive), 0)


if __name__ == "__main__":
    command_line.main()

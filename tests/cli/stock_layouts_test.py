"""Archives that stock zip libraries laid out go through every verb as our own do."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import ALIGNMENT_ID, LOCAL, MODEL, PADDING_ID
from support.command_line import ToolCase, onnxar
from support.every_verb import Journey, hold
from support.stock_layout import LAYOUTS, Layout, relaid


class StockJourney(Journey):
    """As `Journey`, for an archive that a different library laid out."""

    def __init__(self, model: Path, folder: Path, layout: Layout) -> None:
        super().__init__(model, folder)
        self.layout = layout

    def run(self) -> None:
        onnxar("pack", self.model, "-o", self.archive, "--no-sync", "-q")
        self.ours = self.archive.read_bytes()
        self.data = relaid(self.ours, self.layout)
        hold("another layout", self.data != self.ours)
        self.archive.write_bytes(self.data)
        self.entries = command_line.entries_of(self.archive)
        onnxar("check", "--data", "-q", self.archive)
        onnxar("unpack", self.archive, "-o", self.back, "--no-sync", "-q")
        hold("unpack: as it came", self.back.read_bytes() == self.model.read_bytes())
        self.go_through_verbs()

    def repack(self) -> None:
        for verb in ("repack", "pack"):
            again = self.folder / verb
            onnxar(verb, self.archive, "-o", again, "--no-sync", "-q")
            hold(f"{verb}: ours, byte for byte", again.read_bytes() == self.ours)


def infos_of(path: Path) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as archive:
        return archive.infolist()


class StockLayouts(ToolCase):
    def model(self) -> Path:
        # "n" * 34 is a name after which data at a multiple of 64 needs no padding record
        tensors = (wire.tensor(name, wire.FLOAT, 304) for name in ("n" * 34, "a", "b", "c"))
        return self.write("model.onnx", wire.plain(*tensors, wire.tensor("small", wire.FLOAT, 3)))

    def each(self) -> Iterator[tuple[str, Layout, Path]]:
        """One folder for each layout."""
        for name, layout in LAYOUTS.items():
            folder = self.folder / name
            folder.mkdir()
            yield name, layout, folder

    def stock(self, layout: Layout, folder: Path) -> Path:
        path = folder / "stock.onnxar"
        onnxar("pack", self.model(), "-o", path, "--no-sync", "-q")
        path.write_bytes(relaid(path.read_bytes(), layout))
        return path

    def test_every_verb_takes_them(self) -> None:
        for name, layout, folder in self.each():
            with self.subTest(name):
                StockJourney(self.model(), folder, layout).run()

    def test_check_remarks_only_zip64(self) -> None:
        for name, layout, folder in self.each():
            with self.subTest(name):
                report = json.loads(onnxar("check", "--data", "--json", self.stock(layout, folder)))
                codes = {each["code"] for each in report["findings"]}
                self.assertEqual(codes, {"zip.zip64.unneeded"} if layout.has_warnings else set())

    def test_one_entry_has_no_padding_record(self) -> None:
        folder = self.folder / "rust"
        folder.mkdir()
        file = self.stock(LAYOUTS["rust"], folder).read_bytes()
        self.assertEqual(struct.unpack_from("<HH", file, LOCAL.size - 4), (34, 0))

    def test_edit_keeps_old_bytes_and_appends_our_layout(self) -> None:
        added = wire.tensor("added", wire.FLOAT, 300)
        for name, layout, folder in self.each():
            with self.subTest(name):
                path = self.stock(layout, folder)
                before = path.read_bytes()
                offsets = {each.filename: each.header_offset for each in infos_of(path)}
                edited = self.write("edited.onnx", wire.plain(added))
                onnxar("replace", path, edited, "--no-sync", "-q")
                after = path.read_bytes()
                self.assertEqual(after[: len(before)], before)
                onnxar("check", "--data", "-q", path)
                infos = {each.filename: each for each in infos_of(path)}
                del offsets[MODEL]
                kept = {each: infos[each].header_offset for each in offsets}
                self.assertEqual(kept, offsets)
                self.assertEqual(list(infos)[-2:], ["added", MODEL])
                at = infos["added"].header_offset
                self.assertEqual(after[at + 4 : at + 10], struct.pack("<HHH", 10, 0, 0))

    def test_edit_uses_the_alignment_of_either_record(self) -> None:
        for record in (PADDING_ID, ALIGNMENT_ID):
            with self.subTest(hex(record)):
                path = self.folder / f"{record}.onnxar"
                onnxar("pack", self.model(), "-o", path, "--no-sync", "-q")
                path.write_bytes(relaid(path.read_bytes(), Layout(record), lambda size: 512))
                edited = self.write("edited.onnx", wire.plain(wire.tensor("added")))
                onnxar("replace", path, edited, "--no-sync", "-q")
                entries = json.loads(onnxar("ls", "--json", path))["entries"]
                self.assertEqual({each["alignment"] for each in entries}, {512})
                self.assertEqual(entries[-1]["offset"] % 512, 0)

    def test_ls_shows_64_without_a_record(self) -> None:
        folder = self.folder / "rust"
        folder.mkdir()
        path = self.stock(LAYOUTS["rust"], folder)
        rows = json.loads(onnxar("ls", "--json", path))
        self.assertEqual({each["alignment"] for each in rows["entries"]}, {64})
        table = onnxar("ls", path).decode().splitlines()
        self.assertEqual(table[1].split()[-1], "64")


if __name__ == "__main__":
    command_line.main()

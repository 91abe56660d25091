"""A reader of external data that ignores keys reads what the tool writes.

MIGraphX takes the first pair of external_data for the location, the second for the offset and the third for the length.
"""

from __future__ import annotations

import itertools
import zipfile
from pathlib import Path

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL, Entry, model_of, weights
from support.command_line import ToolCase, entries_of

COUNT = 300  # values of a tensor
NAMES = ("a", "b", "c")
OUTPUT = 12  # of a graph


def content(name: str) -> bytes:
    return wire.content(wire.FLOAT, COUNT, name)


def by_position(model: bytes, files: dict[str, bytes]) -> dict[str, bytes]:
    """The data of each external tensor, by its name; `files` has the contents by location."""
    found = {}
    for site in walk.external_sites(walk.parse(model)):
        location, offset, length = walk.link_by_position(site.tensor)
        found[site.tensor.name] = files[location][offset : offset + length]
    return found


def files_beside(model: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in model.parent.iterdir() if file.is_file() and file != model}


class Read(ToolCase):
    """Each way to write external data."""

    maxDiff = 2000

    def sources(self, *names: str) -> list[Path]:
        """A model whose tensors have those names, in the forms of different writers."""
        inline = self.model(*map(wire.tensor, names), name="inline.onnx")
        return [inline, *self.external(*names), self.archive(*names, name="source.onnxar")]

    def external(self, *names: str) -> list[Path]:
        """With a data file: keys in each order, and without the optional ones."""
        paths = []
        orders = [order for count in (1, 2, 3) for order in itertools.permutations(walk.KEYS, count)]
        for number, order in enumerate(order for order in orders if "location" in order):
            tensors = []
            for name in names:
                values = {"location": f"{name}.bin", "offset": "0", "length": str(4 * COUNT)}
                self.write(f"{number}/{name}.bin", content(name))
                pairs = (wire.block(wire.EXTERNAL_DATA, wire.pair(key, values[key])) for key in order)
                link = b"".join(pairs) + wire.scalar(wire.DATA_LOCATION, 1)
                tensors.append(wire.fields_of(name, wire.FLOAT, [COUNT], link))
            paths.append(self.model(*tensors, name=f"{number}/model.onnx"))
        return paths

    def holds(self, model: bytes, files: dict[str, bytes], names: tuple[str, ...] = NAMES) -> None:
        self.assertEqual(by_position(model, files), {name: content(name) for name in names})
        for site in walk.external_sites(walk.parse(model)):
            self.assertEqual(walk.keys_of_link(site.tensor)[:3], walk.KEYS)

    def archive_holds(self, path: Path, names: tuple[str, ...] = NAMES) -> None:
        entries = entries_of(path)
        self.holds(entries[MODEL], entries, names)

    def beside_holds(self, path: Path, names: tuple[str, ...] = NAMES) -> None:
        self.holds(path.read_bytes(), files_beside(path), names)

    def test_archive_has_links_in_order_from_every_source(self) -> None:
        for source in self.sources(*NAMES):
            for options in ((), ("--checksum", "sha1"), command_line.ALL_SITES):
                with self.subTest(source=source.name, options=options):
                    self.succeeds("pack", source, "-o", self.output, "-f", *options)
                    self.archive_holds(self.output)

    def test_a_checksum_is_the_fourth_pair(self) -> None:
        self.succeeds("pack", self.model(), "-o", self.output, "--checksum", "sha1")
        (site,) = walk.external_sites(walk.parse(entries_of(self.output)[MODEL]))
        self.assertEqual(walk.keys_of_link(site.tensor), [*walk.KEYS, "checksum"])

    def test_a_model_with_one_data_file_or_many(self) -> None:
        for number, source in enumerate(self.sources(*NAMES)):
            for option in (("--external-data", "weights.bin"), ("--per-tensor",)):
                with self.subTest(source=source.name, option=option):
                    path = self.folder / f"{option[0][2:]}-{number}" / "model.onnx"
                    path.parent.mkdir()
                    self.succeeds("unpack", source, "-o", path, *option)
                    self.beside_holds(path)

    def test_a_link_to_an_archive(self) -> None:
        path = self.archive(*NAMES, name="home/source.onnxar")
        beside = path.parent / "link.onnx"
        self.succeeds("link", path, "-o", beside)
        self.beside_holds(beside)

    def test_an_archive_that_was_edited(self) -> None:
        """A tensor stays, one is found by its bytes, one is new, and one has a part of an entry."""
        path = self.archive("a", "b", name="edited.onnxar")
        whole, half = wire.DataFile("b").link(length=4 * COUNT), wire.DataFile("b").link(length=2 * COUNT, offset=600)
        model = self.model(
            wire.fields_of("b", wire.FLOAT, [COUNT], whole),
            wire.tensor("a"),
            wire.tensor("c"),
            wire.fields_of("half", wire.FLOAT, [COUNT // 2], half),
        )
        self.succeeds("replace", path, model)
        entries = entries_of(path)
        expected = {name: content(name) for name in NAMES} | {"half": content("b")[600:]}
        self.assertEqual(by_position(entries[MODEL], entries), expected)

    def test_graphs_of_packed_archive_have_ordered_links(self) -> None:
        links = [wire.DataFile(name).link(length=4 * COUNT) for name in NAMES]
        tensors = [wire.fields_of(name, wire.FLOAT, [COUNT], link) for name, link in zip(NAMES, links)]
        graph = Entry("other.onnx", wire.plain(*tensors[1:]))
        path = self.archive_of(*weights(*NAMES), graph, model_of(tensors[0]))
        self.succeeds("pack", path, "-o", self.output)
        entries = entries_of(self.output)
        self.holds(entries[MODEL], entries, NAMES[:1])
        self.holds(entries["other.onnx"], entries, NAMES[1:])

    def test_an_archive_that_a_draft_s_writer_made(self) -> None:
        """Before 1.0 an offset of 0 was left out."""
        old = [wire.fields_of(name, wire.FLOAT, [COUNT], wire.DataFile(name).link(length=4 * COUNT)) for name in NAMES]
        path = self.archive_of(*weights(*NAMES), model_of(*old))
        self.succeeds("check", "--data", "--strict", path)
        self.succeeds("pack", path, "-o", self.output)
        self.archive_holds(self.output)
        self.succeeds("replace", path, self.write("m.onnx", entries_of(path)[MODEL]))
        self.archive_holds(path)

    def test_a_frozen_model(self) -> None:
        outputs = b"".join(wire.block(OUTPUT, wire.block(1, name)) for name in NAMES)
        tensors = [*map(wire.tensor, NAMES), wire.tensor("unused")]
        source = self.write("m.onnx", wire.model(wire.Part(wire.initializers(*tensors) + outputs)))
        self.succeeds("freeze", source, "-o", self.output)
        self.archive_holds(self.output)

    def test_a_model_that_was_text(self) -> None:
        text = self.write("model.textproto", self.succeeds("dump", "--with-data", self.archive(*NAMES)).stdout)
        self.succeeds("pack", text, "-o", self.output)
        self.archive_holds(self.output)

    def test_a_zip_of_older_exporters(self) -> None:
        stand_in = wire.block(wire.RAW_DATA, "__EXTERNAL")
        stand_ins = [wire.fields_of(name, wire.FLOAT, [COUNT], stand_in) for name in NAMES]
        path = self.folder / "pytorch.zip"
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(MODEL, wire.plain(*stand_ins))
            for name in NAMES:
                file.writestr(name, content(name))
        self.succeeds("pack", path, "-o", self.output)
        self.archive_holds(self.output)
        model = self.folder / "beside" / "model.onnx"
        model.parent.mkdir()
        self.succeeds("unpack", self.output, "-o", model, "--external-data", "w")
        self.beside_holds(model)


if __name__ == "__main__":
    command_line.main()

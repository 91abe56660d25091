"""The options of `pack`, and packing an archive anew."""

from __future__ import annotations

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL
from support.command_line import MIB, ToolCase, entries_of
from support.sites import at_every_site


class Alignment(ToolCase):
    def test_spelt_with_a_unit(self) -> None:
        made = [
            self.packed(wire.tensor("w"), options=("--align", spelt)).read_bytes()
            for spelt in ("4096", "4KiB", "4kib", "4096b")
        ]
        self.assertEqual(len(set(made)), 1)
        self.assertEqual(self.listing(self.folder / "packed.onnxar")["alignment"], 4096)


class Threshold(ToolCase):
    SIZES = (999, 1000, 1023, 1024, 1025, 1_000_000, MIB)

    def moved(self, threshold: object) -> set[int]:
        tensors = (wire.tensor(f"n{size}", wire.UINT8, size) for size in self.SIZES)
        path = self.packed(*tensors, options=("--threshold", threshold))
        return {len(data) for name, data in entries_of(path).items() if name != MODEL}

    def test_units(self) -> None:
        units = {"0": 0, "1": 1, "1000": 1000, "1KB": 1000, "1kB": 1000, "1KiB": 1024, "1025": 1025, "1MB": 1_000_000, "1MiB": MIB}
        for spelt, least in {**units, "1GiB": 1 << 30}.items():
            with self.subTest(threshold=spelt):
                self.assertEqual(self.moved(spelt), {each for each in self.SIZES if each >= least})


def in_subgraph(path: str) -> bool:
    """Whether an attribute of a node on this path holds a graph."""
    return ".g." in path or ".graphs[" in path


class Sites(ToolCase):
    """The sites whose tensors a set of options moves out of the model."""

    def moved(self, *options: str) -> set[str]:
        source = self.write("sites.onnx", wire.model(*at_every_site(wire.tensor)))
        self.succeeds("pack", source, "-o", self.output, "-f", *options)
        return {site.path for site in walk.external_sites(walk.parse(entries_of(self.output)[MODEL]))}

    def sites(self) -> list[walk.Site]:
        model = walk.parse(wire.model(*at_every_site(wire.tensor)))
        kinds = ("initializer", "attribute", "sparse_values")
        floats = (site for site in walk.sites(model) if site.tensor.data_type == wire.FLOAT.value)
        return [site for site in floats if site.kind in kinds]

    def test_options_choose_them(self) -> None:
        plain = [site for site in self.sites() if site.in_plain_scope]
        for options, expected in (
            ((), plain),
            (("--all-sites",), self.sites()),
            (("--no-attributes",), [site for site in plain if site.kind == "initializer"]),
            (("--no-subgraphs",), [site for site in plain if not in_subgraph(site.path)]),
        ):
            with self.subTest(options=options):
                self.assertEqual(self.moved(*options), {site.path for site in expected})
        self.assertTrue(any(in_subgraph(site.path) for site in plain))

    def test_what_every_runtime_looks_for(self) -> None:
        self.assertEqual(self.moved("--no-subgraphs", "--no-attributes"), {"graph.initializer[0]"})

    def test_without_attributes_of_all_sites(self) -> None:
        moved = self.moved("--all-sites", "--no-attributes")
        self.assertLessEqual(self.moved("--no-attributes"), moved)
        plain = {site.path for site in self.sites() if site.kind == "attribute"}
        in_scope = {site.path for site in self.sites() if site.in_plain_scope}
        self.assertEqual(moved & plain & in_scope, set())


class PackArchive(ToolCase):
    def test_drops_what_an_edit_superseded(self) -> None:
        path = self.edited_archive()
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.listing(self.output)["unused_bytes"], 0)
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))


if __name__ == "__main__":
    command_line.main()

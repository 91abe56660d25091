"""The options of `pack`, and packing an archive anew.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests pack_options_test.py
"""

from __future__ import annotations

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL, Entry, linked, model_of, weights
from support.command_line import MIB, ToolCase, entries_of, keys_of
from support.sites import at_every_site


class Alignment(ToolCase):
    def test_every_alignment_of_archives(self) -> None:
        tensors = [wire.tensor(f"w{n}", wire.UINT8, 1024 + 37 * n) for n in range(5)]
        tensors.append(wire.tensor("large", wire.UINT8, MIB))
        for exponent in range(6, 16):
            alignment = 1 << exponent
            path = self.packed(*tensors, options=("--align", alignment))
            listing = self.listing(path)
            self.succeeds("check", "--strict", "--data", path)
            self.assertEqual(listing["alignment"], alignment)
            self.assertEqual(listing["model"]["offset"] % alignment, 0)
            for entry in listing["entries"]:
                wanted = max(alignment, 4096 if entry["size"] >= MIB else 64)
                self.assertEqual(entry["alignment"], wanted)
                self.assertEqual(entry["offset"] % wanted, 0)

    def test_spelt_with_a_unit(self) -> None:
        made = [
            self.packed(wire.tensor("w"), options=("--align", spelt)).read_bytes()
            for spelt in ("4096", "4KiB", "4kib", "4096b")
        ]
        self.assertEqual(len(set(made)), 1)


class Threshold(ToolCase):
    SIZES = (999, 1000, 1023, 1024, 1025, 1_000_000, MIB)

    def moved(self, threshold: object) -> set[int]:
        tensors = (wire.tensor(f"n{size}", wire.UINT8, size) for size in self.SIZES)
        path = self.packed(*tensors, options=("--threshold", threshold))
        return {len(data) for name, data in entries_of(path).items() if name != MODEL}

    def test_units(self) -> None:
        for spelt, least in (
            ("0", 0),
            ("1", 1),
            ("1000", 1000),
            ("1KB", 1000),
            ("1kB", 1000),
            ("1KiB", 1024),
            ("1025", 1025),
            ("1MB", 1_000_000),
            ("1MiB", MIB),
            ("1GiB", 1 << 30),
        ):
            with self.subTest(threshold=spelt):
                self.assertEqual(self.moved(spelt), {each for each in self.SIZES if each >= least})

    def test_default(self) -> None:
        path = self.packed(*(wire.tensor(f"n{size}", wire.UINT8, size) for size in self.SIZES))
        moved = {len(data) for name, data in entries_of(path).items() if name != MODEL}
        self.assertEqual(moved, {size for size in self.SIZES if size >= 1024})


def in_subgraph(path: str) -> bool:
    """Whether an attribute of a node on this path holds a graph."""
    return ".g." in path or ".graphs[" in path


class Sites(ToolCase):
    """The sites whose tensors a set of options moves out of the model."""

    def moved(self, *options: str) -> set[str]:
        source = self.write("sites.onnx", wire.model(*at_every_site(wire.tensor)))
        self.succeeds("pack", source, "-o", self.output, "-f", *options)
        return {
            site.path for site in walk.external_sites(walk.parse(entries_of(self.output)[MODEL]))
        }

    def sites(self) -> list[walk.Site]:
        model = walk.parse(wire.model(*at_every_site(wire.tensor)))
        kinds = ("initializer", "attribute", "sparse_values")
        floats = (site for site in walk.sites(model) if site.tensor.data_type == wire.FLOAT.value)
        return [site for site in floats if site.kind in kinds]

    def test_default(self) -> None:
        expected = {site.path for site in self.sites() if site.in_plain_scope}
        self.assertEqual(self.moved(), expected)

    def test_all_sites(self) -> None:
        self.assertEqual(self.moved("--all-sites"), {site.path for site in self.sites()})

    def test_no_attributes(self) -> None:
        plain = (site for site in self.sites() if site.in_plain_scope)
        expected = {site.path for site in plain if site.kind == "initializer"}
        self.assertEqual(self.moved("--no-attributes"), expected)

    def test_no_subgraphs(self) -> None:
        expected = {site.path for site in self.sites() if site.in_plain_scope and not in_subgraph(site.path)}
        self.assertEqual(self.moved("--no-subgraphs"), expected)
        self.assertLess(expected, self.moved())

    def test_what_every_runtime_looks_for(self) -> None:
        self.assertEqual(self.moved("--no-subgraphs", "--no-attributes"), {"graph.initializer[0]"})

    def test_without_attributes_of_all_sites(self) -> None:
        moved = self.moved("--all-sites", "--no-attributes")
        self.assertLessEqual(self.moved("--no-attributes"), moved)
        plain = {site.path for site in self.sites() if site.kind == "attribute"}
        in_scope = {site.path for site in self.sites() if site.in_plain_scope}
        self.assertEqual(moved & plain & in_scope, set())


class ReservedNames(ToolCase):
    """Tensors named as the model's own entry is, in any case of letters, get other keys."""

    def test_each_alone(self) -> None:
        for name in ("__model_proto", "__MODEL_PROTO", "__Model_Proto", "__MODEL_PROTO.onnx"):
            with self.subTest(name=name):
                self.judge(name)

    def test_all_in_one_model(self) -> None:
        self.judge("__model_proto", "__MODEL_PROTO", "__Model_Proto", "__model_proto_2")

    def judge(self, *names: str) -> None:
        path = self.packed(*map(wire.tensor, names))
        self.succeeds("check", "--strict", "--data", path)
        self.assertEqual([name.casefold() for name in entries_of(path)].count("__model_proto"), 1)
        found = [entry["tensors"][0]["name"] for entry in self.listing(path)["entries"]]
        self.assertEqual(found, list(names))
        self.assertEqual(self.unpacked(path), self.model(*map(wire.tensor, names)).read_bytes())


class PackArchive(ToolCase):
    def test_leaves_unused_entries_out(self) -> None:
        entries = (*weights("left", "w"), Entry("LICENSE.txt", b"free"), model_of(linked("w")))
        path = self.archive_of(*entries)
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "LICENSE.txt"])
        self.assertEqual(entries_of(self.output)["LICENSE.txt"], b"free")
        self.succeeds("check", "--data", self.output)

    def test_gives_keys_anew(self) -> None:
        tensors = (linked("first weight", location="b"), linked("second", location="a"))
        path = self.archive_of(*weights("a", "b"), model_of(*tensors))
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["first_weight", "second"])
        self.assertEqual(entries_of(self.output)["second"], weights("a")[0].data)
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))

    def test_drops_what_an_edit_superseded(self) -> None:
        path = self.edited_archive()
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.listing(self.output)["unused_bytes"], 0)
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))

    def test_of_an_archive_is_idempotent(self) -> None:
        path = self.packed(wire.tensor("a"), wire.tensor("A"), wire.tensor("with space"))
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.output.read_bytes(), path.read_bytes())

    def test_moves_what_the_options_say(self) -> None:
        path = self.packed(wire.tensor("small", count=100), options=("--threshold", "0"))
        self.assertEqual(keys_of(path), ["small"])
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), [])


if __name__ == "__main__":
    command_line.main(__doc__)

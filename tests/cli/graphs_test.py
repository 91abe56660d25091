"""Archives of several graphs: no verb loses one, nor a weight that only a further graph names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL, Entry, linked, model_of, plain_zip, weights
from support.command_line import FORMAT, USAGE, Fault, ToolCase, entries_of, keys_of, run

Weights = dict[str, bytes]
NAME_KEY = "onnxar.model.name"


def graph(name: str, *tensors: bytes, props: Mapping[str, str] = {}) -> Entry:
    pairs = b"".join(wire.block(14, wire.pair(key, value)) for key, value in props.items())
    return Entry(name, wire.plain(*tensors) + pairs)


def weights_in(model: bytes, files: Mapping[str, bytes]) -> Weights:
    """The data of each tensor, inline or external."""

    def read(location: str, offset: int, length: int | None) -> bytes:
        data = files[location]
        return data[offset:] if length is None else data[offset : offset + length]

    message = walk.parse(model)
    walk.resolve_external(message, read)
    return {site.tensor.name: walk.payload(site.tensor) or b"" for site in walk.sites(message)}


def graphs_of(path: Path) -> dict[str, Weights]:
    """The data that each graph of an archive computes with."""
    entries = entries_of(path)
    names = [name for name in entries if name == MODEL or (name.endswith(".onnx") and "/" not in name)]
    return {name: weights_in(entries[name], entries) for name in names}


def weight(name: str) -> bytes:
    return wire.content(wire.FLOAT, 300, name)


class GraphsCase(ToolCase):
    """`b.onnx` shares `w` with the model, and only `b.onnx` uses `v`."""

    WANTED = {
        "b.onnx": {"w": weight("w"), "v": weight("v")},
        MODEL: {"w": weight("w")},
    }

    def setUp(self) -> None:
        super().setUp()
        self.archive_path = self.several()

    def several(self, *more: Entry, name: str = "several.onnxar") -> Path:
        return self.archive_of(
            *weights("w", "v"),
            Entry("t.json", b"{}"),
            graph("b.onnx", linked("w"), linked("v")),
            *more,
            graph(MODEL, linked("w"), props={NAME_KEY: "a"}),
            name=name,
        )

    def holds_all(self, path: Path, wanted: Mapping[str, Weights] | None = None) -> None:
        self.succeeds("check", "--data", path)
        self.assertEqual(graphs_of(path), wanted or self.WANTED)
        self.assertEqual(entries_of(path)["t.json"], b"{}")


class Rewriting(GraphsCase):
    def test_pack_of_an_archive_is_the_same_archive(self) -> None:
        self.succeeds("pack", self.archive_path, "-o", self.output)
        self.holds_all(self.output)
        self.assertEqual(self.output.read_bytes(), self.archive_path.read_bytes())

    def test_pack_keeps_graphs_if_keys_change(self) -> None:
        entries = [Entry("other", weight("w")), Entry("x.bin", weight("v")), Entry("t.json", b"{}")]
        places = {"w": "other", "v": "x.bin"}.items()
        tensors = [wire.fields_of(name, wire.FLOAT, [300], wire.DataFile(at).link(length=1200)) for name, at in places]
        path = self.archive_of(*entries, graph("b.onnx", *tensors), graph(MODEL, tensors[0]))
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "v", "t.json", "b.onnx"])
        self.holds_all(self.output)

    def test_pack_moves_data_out_of_graphs(self) -> None:
        path = self.archive_of(graph("b.onnx", wire.tensor("v")), model_of(wire.tensor("w")))
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "v", "b.onnx"])
        self.assertEqual(graphs_of(self.output), {"b.onnx": {"v": weight("v")}, MODEL: {"w": weight("w")}})

    def test_repack_of_an_edited_archive(self) -> None:
        self.succeeds("replace", self.archive_path, self.model(wire.tensor("w")))
        self.succeeds("repack", self.archive_path, "-o", self.output)
        self.holds_all(self.output)

    def test_repack_and_pack_of_what_a_zip_tool_made(self) -> None:
        entries = entries_of(self.archive_path)
        path = self.write("plain.zip", plain_zip(list(entries.items())))
        for verb in ("repack", "pack"):
            with self.subTest(verb=verb):
                self.succeeds(verb, path, "-o", self.output, "-f")
                self.holds_all(self.output)

    def test_repack_renames_a_graph(self) -> None:
        self.succeeds("repack", self.archive_path, "-o", self.output, "--rename", "b.onnx=c.onnx")
        self.assertEqual(graphs_of(self.output)["c.onnx"], self.WANTED["b.onnx"])

    def test_freeze(self) -> None:
        self.succeeds("freeze", self.archive_path, "-o", self.output)
        wanted = {**self.WANTED, MODEL: {}}  # no output needs the model's weight
        self.holds_all(self.output, wanted)

    def test_replace_keeps_graphs_and_the_model_s_name(self) -> None:
        new = self.model(wire.tensor("w"), wire.tensor("new"))
        self.succeeds("replace", self.archive_path, new)
        wanted = {**self.WANTED, MODEL: {"w": weight("w"), "new": weight("new")}}
        self.holds_all(self.archive_path, wanted)
        self.assertIn(NAME_KEY.encode(), entries_of(self.archive_path)[MODEL])

    # The new model needs no weight.
    def test_replace_keeps_weights_of_graphs(self) -> None:
        self.succeeds("replace", self.archive_path, self.model(wire.tensor("i", count=3)))
        self.succeeds("pack", self.archive_path, "-o", self.output)
        wanted = {**self.WANTED, MODEL: {"i": wire.content(wire.FLOAT, 3, "i")}}
        self.holds_all(self.output, wanted)

    def test_pack_of_several_states_adds_up(self) -> None:
        """Only weights that no graph names any more are left out."""
        path = self.several(graph("c.onnx", linked("gone")), *weights("gone", "unused"))
        self.succeeds("replace", path, "--remove", "unused")
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "v", "gone", "t.json", "b.onnx", "c.onnx"])


class Unpacking(GraphsCase):
    def restored(self, *options: object) -> dict[str, bytes]:
        folder = self.folder / "restored"
        shutil.rmtree(folder, ignore_errors=True)
        self.succeeds("unpack", self.archive_path, "-o", f"{folder}/", *options)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_folder_takes_graphs_that_load(self) -> None:
        for options in ((), ("--external-data", "all.bin"), ("--per-tensor",)):
            with self.subTest(options=options):
                files = self.restored(*options)
                self.assertEqual(weights_in(files["b.onnx"], files), self.WANTED["b.onnx"])
                self.assertEqual(weights_in(files["a.onnx"], files), self.WANTED[MODEL])
                self.assertEqual(files["t.json"], b"{}")

    def test_weight_that_graphs_share_is_there_once(self) -> None:
        self.assertEqual(len(self.restored("--external-data", "all.bin")["all.bin"]), 1216 + 1200)

    def test_unpacked_model_has_its_name_and_no_mark_of_it(self) -> None:
        for options in ((), ("--external-data", "all.bin")):
            self.assertNotIn(NAME_KEY.encode(), self.restored(*options)["a.onnx"])
        self.assertNotIn(NAME_KEY.encode(), self.unpacked(self.archive_path))

    def test_text_has_graphs_beside_it(self) -> None:
        files = self.restored("--text")
        self.assertEqual(weights_in(files["b.onnx"], {}), self.WANTED["b.onnx"])
        self.assertNotIn(NAME_KEY.encode(), files["a.textproto"])
        self.succeeds("unpack", "--text", self.archive_path, "-o", self.output)
        self.assertNotIn(NAME_KEY.encode(), self.output.read_bytes())

    def test_link_has_no_name_among_graphs(self) -> None:
        link = self.folder / "link.onnx"
        self.succeeds("link", self.archive_path, "-o", link)
        self.assertNotIn(NAME_KEY.encode(), link.read_bytes())
        self.succeeds("replace", self.archive_path, link)
        self.assertIn(NAME_KEY.encode(), entries_of(self.archive_path)[MODEL])

    def test_file_omits_graphs_and_reports_them(self) -> None:
        done = self.succeeds("unpack", self.archive_path, "-o", self.output)
        self.assertIn("1 side file and 1 graph of the archive left out", done.stderr)

    def test_graph_with_the_name_of_the_archive_keeps_it(self) -> None:
        path = self.archive_of(graph("made.onnx"), model_of())
        self.succeeds("unpack", path, "-o", f"{self.output}/")
        self.assertEqual(sorted(each.name for each in self.output.iterdir()), ["made.onnx", "model.onnx"])


class Adding(GraphsCase):
    """`pack --add NAME.onnx=FILE` makes a graph."""

    def packing(self, added: bytes, *options: object) -> tuple[object, ...]:
        file = self.write("added", added)
        return "pack", self.model(wire.tensor("w")), "-o", self.output, "--add", f"c.onnx={file}", *options

    def test_graph_over_the_model_s_weights(self) -> None:
        self.succeeds(*self.packing(wire.plain(linked("w"))))
        self.assertEqual(keys_of(self.output), ["w", "c.onnx"])
        self.succeeds("check", "--data", "--strict", self.output)

    def test_added_file_that_is_not_a_graph_gets_advice(self) -> None:
        for code, added in (
            ("onnx.external_data.missing", wire.plain(linked("nowhere"))),
            ("wire.type", b"\x0btext"),
            ("archive.graph.link_marker", graph("", props={"onnxar.link.size": "1"}).data),
        ):
            with self.subTest(code=code):
                arguments = self.packing(added)
                line = self.fails(FORMAT, Fault(code, "c.onnx").line(self.output), *arguments)
                self.assertIn("under the name `c.onnx.bin` it is a side file", line)

    def test_added_graph_replaces_one_and_its_weights(self) -> None:
        file = self.write("added", wire.plain(linked("w")))
        self.succeeds("pack", self.archive_path, "-o", self.output, "--add", f"b.onnx={file}")
        self.assertEqual(keys_of(self.output), ["w", "t.json", "b.onnx"])

    def swapped(self, first: bytes, second: bytes) -> Path:
        """An archive whose tensor `w` is in the entry `v`, and the other way round: `pack` names them anew."""
        tensors = [wire.fields_of(name, wire.FLOAT, [300], wire.DataFile(at).link(length=1200)) for name, at in ("wv", "vw")]
        return self.archive_of(Entry("v", first), Entry("w", second), model_of(*tensors), name="swapped.onnxar")

    # Its links would name other weights in the output.
    def test_graph_with_swapped_weights_is_refused(self) -> None:
        path, added = self.swapped(weight("w"), weight("v")), self.write("added", wire.plain(linked("w")))
        for more in ([], ["--dry-run"], ["--rename", "c.onnx=d.onnx"]):
            with self.subTest(more=more):
                arguments = "pack", path, "-o", self.output, "--add", f"c.onnx={added}", *more
                line = self.fails(USAGE, Fault("usage.argument", "c.onnx").line(self.output), *arguments)
                self.assertIn("`onnxar replace --add` keeps the names", line)
        self.assertFalse(self.output.exists())
        self.succeeds("replace", path, "--add", f"c.onnx={added}")
        self.assertEqual(graphs_of(path)["c.onnx"], {"w": weight("v")})

    def test_graph_with_equal_weights_is_added(self) -> None:
        added = self.write("added", wire.plain(linked("w")))
        for path in self.archive_path, self.swapped(weight("w"), weight("w")):
            with self.subTest(path=path.name):
                self.succeeds("pack", path, "-o", self.output, "-f", "--add", f"c.onnx={added}")
                self.assertEqual(graphs_of(self.output)["c.onnx"], {"w": weight("w")})

    def test_broken_graph_can_be_made_a_side_file(self) -> None:
        path = self.archive_of(Entry("b.onnx", b"\xff"), model_of())
        line = self.fails(FORMAT, "onnxar: error[wire.", "pack", path, "-o", self.output)
        self.assertIn("`onnxar repack --rename b.onnx=b.onnx.bin` makes a side file of it", line)
        self.succeeds("repack", path, "-o", self.output, "--rename", "b.onnx=b.onnx.bin")
        self.succeeds("check", self.output)


class Editing(GraphsCase):
    """`replace --add` and `--remove`."""

    def replaced(self, *options: object) -> list[str]:
        before = self.archive_path.read_bytes()
        self.succeeds("replace", self.archive_path, *options)
        after = self.archive_path.read_bytes()
        self.assertEqual(after[: len(before)], before)
        self.succeeds("check", "--data", self.archive_path)
        return keys_of(self.archive_path)

    # New files follow them.
    def test_existing_files_and_graphs_keep_their_position(self) -> None:
        for name, data, keys in (
            ("t.json", b"[1]", ["w", "v", "t.json", "b.onnx"]),
            ("b.onnx", wire.plain(linked("v")), ["w", "v", "t.json", "b.onnx"]),
            ("new.json", b"[1]", ["w", "v", "t.json", "b.onnx", "new.json"]),
        ):
            with self.subTest(name=name):
                self.archive_path = self.several()
                self.assertEqual(self.replaced("--add", f"{name}={self.write('new', data)}"), keys)
                self.assertEqual(entries_of(self.archive_path)[name], data)
                if name != "b.onnx":
                    self.assertEqual(graphs_of(self.archive_path), self.WANTED)

    def test_files_and_the_model_are_replaced_at_once(self) -> None:
        file = self.write("new", b"[1]")
        model = self.model(wire.tensor("w"), wire.tensor("new"))
        keys = self.replaced(model, "--add", f"t.json={file}", "--remove", "b.onnx")
        self.assertEqual(keys, ["w", "v", "new", "t.json"])

    def test_what_is_not_there_and_the_model_are_refused(self) -> None:
        for code, name in (("usage.no_such_entry", "none"), ("usage.argument", MODEL)):
            line = Fault(code, name).line(self.archive_path)
            self.fails(USAGE, line, "replace", self.archive_path, "--remove", name)


class Refused(GraphsCase):
    """Ambiguous edits, and edits that lose data, are refused before anything is written."""

    def refuses(self, kind: int, fault: Fault, at: Path, *arguments: object) -> str:
        with self.nothing_changes():
            return self.fails(kind, fault.line(at), *arguments)

    def test_added_entry_with_name_of_archive_is_refused(self) -> None:
        path, file = self.several(name="own.onnxar"), self.write("new", b"[1]")
        link = self.folder / "link.onnxar"
        link.symlink_to(path.name)
        for name in ("own.onnxar", "OWN.onnxar", "link.onnxar"):
            at = path if name != "link.onnxar" else link
            self.refuses(USAGE, Fault("usage.own_name", name), at, "replace", link, "--add", f"{name}={file}")
        path = self.several(name="Own.onnx")
        self.refuses(USAGE, Fault("usage.own_name", "own.onnx"), path, "replace", path, self.model(), "--model", "own")

    def test_model_keeps_its_name_once(self) -> None:
        pairs = b"".join(wire.block(14, wire.pair(NAME_KEY, name)) for name in ("a", "z"))
        new = self.write("new.onnx", wire.plain(wire.tensor("w")) + pairs)
        self.succeeds("replace", self.archive_path, new)
        self.succeeds("check", self.archive_path)
        self.assertEqual(entries_of(self.archive_path)[MODEL].count(NAME_KEY.encode()), 1)

    def test_no_writer_accepts_a_model_with_a_wrong_name(self) -> None:
        fault = Fault("archive.graph.name", MODEL)
        for names in (("x", "y"), ("a/",), ("",)):
            pairs = b"".join(wire.block(14, wire.pair(NAME_KEY, name)) for name in names)
            file = self.write("wrong.onnx", wire.plain(wire.tensor("w")) + pairs)
            for verb in ("pack", "freeze"):
                with self.subTest(names=names, verb=verb):
                    line = self.refuses(FORMAT, fault, self.output, verb, file, "-o", self.output)
                    self.assertIn("`onnxar unpack` writes it without a name", line)
            self.succeeds("unpack", file, "-o", self.folder / "right.onnx", "-f")
            self.succeeds("pack", self.folder / "right.onnx", "-o", self.folder / "right.onnxar", "-f")

    def test_file_that_takes_the_model_s_name_is_refused(self) -> None:
        file, fault = self.write("new", b"[1]"), Fault("archive.graph.name", MODEL)
        named = wire.plain(wire.tensor("w")) + wire.block(14, wire.pair(NAME_KEY, "a"))
        model = self.write("named.onnx", named)
        add = ("--add", f"a.onnx/x={file}")
        self.refuses(FORMAT, fault, self.output, "pack", model, "-o", self.output, *add)
        self.refuses(FORMAT, fault, self.archive_path, "replace", self.archive_path, *add)
        self.refuses(FORMAT, fault, self.archive_path, "replace", self.archive_path, self.model(), *add)
        for names in ("b.onnx=a.onnx", "b.onnx=A.onnx", "t.json=a.onnx/t.json"):
            line = ("repack", self.archive_path, "-o", self.output, "--rename", names)
            done = self.fails(FORMAT, "onnxar: error[archive.graph.name]", *line)
            self.assertIn(MODEL, done)

    def test_new_weight_is_not_linked_to_equal_side_file(self) -> None:
        """A link would make it a weight, and `unpack` would not write it any more."""
        path = self.archive_of(*weights("w"), Entry("x.bin", weight("new")), model_of(linked("w")))
        self.succeeds("replace", path, self.model(wire.tensor("w"), wire.tensor("new")))
        self.assertEqual(keys_of(path), ["w", "x.bin", "new"])
        self.succeeds("unpack", path, "-o", f"{self.folder}/restored/")
        self.assertEqual((self.folder / "restored" / "x.bin").read_bytes(), weight("new"))

    def test_weight_with_unusual_key_is_linked(self) -> None:
        tensor = wire.fields_of("w", wire.FLOAT, [300], wire.DataFile("x.bin").link(length=1200))
        path = self.archive_of(Entry("x.bin", weight("w")), model_of(tensor))
        self.succeeds("replace", path, self.model(wire.tensor("w")))
        self.assertEqual(keys_of(path), ["x.bin"])


class Looking(GraphsCase):
    def test_ls_distinguishes_graphs_and_side_files(self) -> None:
        kinds = {row["name"]: row["kind"] for row in self.listing(self.archive_path)["entries"]}
        self.assertEqual(kinds, {"w": "weight", "v": "weight", "t.json": "side file", "b.onnx": "graph"})
        text = self.succeeds("ls", self.archive_path).stdout.decode()
        self.assertRegex(text, r"b\.onnx +\(graph\)")
        self.assertRegex(text, r"t\.json +\(side file\)")

    def test_diff_compares_graphs_as_files(self) -> None:
        other = self.several(graph("c.onnx"), name="other.onnxar")
        done = run("diff", "--json", self.archive_path, other)
        self.assertEqual([each["name"] for each in json.loads(done.stdout)["files"]], ["c.onnx"])

    def test_check_names_the_graph(self) -> None:
        path = self.archive_of(graph("b.onnx", linked("nowhere")), model_of())
        report = json.loads(run("check", "--json", "-q", path).stdout)
        found = [(each["code"], each["entry"]) for each in report["findings"]]
        self.assertEqual(found, [("onnx.external_data.missing", "b.onnx")])

    def test_verbs_of_the_model_ignore_a_broken_graph(self) -> None:
        path = self.archive_of(*weights("w"), Entry("b.onnx", b"\xff"), model_of(linked("w")))
        for verb in ("show", "dump"):
            self.succeeds(verb, path)
        self.succeeds("link", path, "-o", self.folder / "link.onnx")
        self.succeeds("extract", path, "w", "-o", self.folder / "w.npy")


if __name__ == "__main__":
    command_line.main()

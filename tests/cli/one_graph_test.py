"""`--model NAME`: verbs look at, write and replace one graph of an archive; `ls` tells which graphs use an entry."""

from __future__ import annotations

import json
import re
import shutil

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Entry, linked, model_of, weights
from support.command_line import DONE, FOUND, USAGE, Fault, ToolCase, entries_of, keys_of, run

NAME_KEY = b"onnxar.model.name"


def weight(name: str) -> bytes:
    return wire.content(wire.FLOAT, 300, name)


class GraphCase(ToolCase):
    """Model `a` has tensors `w` and `x`, graph `b` has `w` and `v`; `t.json` is a side file."""

    def setUp(self) -> None:
        super().setUp()
        self.a = self.model(wire.tensor("w"), wire.tensor("x"), name="a.onnx")
        self.b = self.model(wire.tensor("v"), wire.tensor("w"), name="b.onnx")
        self.family = self.folder / "f.onnxar"
        file = self.write("t", b"{}")
        self.succeeds("pack", self.a, self.b, "--add", f"t.json={file}", "-o", self.family)

    def out(self, *arguments: object) -> str:
        return self.succeeds(*arguments).stdout.decode()


class Summaries(GraphCase):
    def test_show_names_all_graphs_with_their_sizes(self) -> None:
        sizes = {entry: len(data) for entry, data in entries_of(self.family).items()}
        for options in ((), ("--model", "b")):
            document = json.loads(self.out("show", "--json", self.family, *options))
            numbers = {"weight_bytes": 2400, "shared_bytes": 1200, "parameters": 600}
            self.assertEqual(document["graphs"], [{"name": "a", "model_bytes": sizes[MODEL], **numbers},
                                                  {"name": "b", "model_bytes": sizes["b.onnx"], **numbers}])  # fmt: skip
            self.assertEqual(json.loads(self.out("ls", "--json", self.family))["graphs"], document["graphs"])
            self.assertEqual((document["storage"]["side_bytes"], document["storage"]["graph_bytes"]), (2, sizes["b.onnx"]))
        lines = self.out("show", self.family).splitlines()
        (at,) = (number for number, line in enumerate(lines) if line.startswith("graphs"))
        numbers = r"600 parameters, weights 2\.4 kB \(1\.2 kB of them shared\), model \d+ bytes"
        self.assertRegex(lines[at], f"^graphs +a: {numbers}$")
        self.assertRegex(lines[at + 1], f"^ +b: {numbers}$")
        self.succeeds("show", self.family, "--html", self.output)
        self.assertRegex(self.output.read_text(), f"<bdi>b</bdi>: {numbers}<")

    def test_graphs_in_folders_are_listed_by_path(self) -> None:
        for name in ("unet/deep/model", "unet/model", "unet.a", "vae/x&y"):
            self.succeeds("replace", self.family, self.b, "--model", name)
        names = ["a", "b", "unet.a", "unet/deep/model", "unet/model", "vae/x&y"]
        lines = self.out("ls", self.family).splitlines()
        told = [line.removeprefix("graph ").partition(":")[0] for line in lines if line.startswith("graph ")]
        self.assertEqual(sorted(told), names)
        self.assertEqual(sorted(each["name"] for each in json.loads(self.out("show", "--json", self.family))["graphs"]), names)
        self.succeeds("show", self.family, "--html", self.output)
        (cell,) = re.findall(r"(?s)<th>Graphs</th><td>(.*?)</td>", self.output.read_text())
        self.assertEqual(re.sub(r": \d.*?(?=<)|<ul.*?>|</?bdi>|\n", "", cell).replace("</li>", ""),
                         "<li>a<li>b<li>unet.a<li>unet/<li>deep/<li>model</ul><li>model</ul><li>vae/<li>x&amp;y</ul></ul>")  # fmt: skip

    def test_graph_that_cannot_be_read_hides_no_other(self) -> None:
        broken = Entry("b/c.onnx", wire.plain(wire.tensor("v"))[:-3])
        path = self.archive_of(*weights("w"), broken, Entry("d.onnx", model_of(linked("w")).data), model_of(linked("w")))
        rows = {each["name"]: each for each in json.loads(self.out("ls", "--json", path))["graphs"]}
        self.assertEqual([(rows[name]["parameters"], rows[name]["shared_bytes"]) for name in ("", "d")], [(300, 1200)] * 2)
        self.assertIn("b/c", rows)

    def test_model_without_a_name_is_shown_as_model(self) -> None:
        path = self.archive_of(Entry("b.onnx", wire.plain(wire.tensor("v"))), model_of(wire.tensor("w")))
        self.assertEqual([each["name"] for each in json.loads(self.out("show", "--json", path))["graphs"]], ["", "b"])
        self.assertIn("(model): 300 parameters", self.out("show", path))

    def test_archive_of_one_graph_lists_no_graphs(self) -> None:
        self.succeeds("pack", self.a, "-o", self.output)
        self.assertEqual(json.loads(self.out("show", "--json", self.output))["graphs"], [])
        self.assertEqual([line for line in self.out("show", self.output).splitlines() if line.startswith("graphs")], [])


class Listing(GraphCase):
    def test_ls_shows_the_graphs_of_each_entry(self) -> None:
        rows = [line.split() for line in self.out("ls", self.family).replace("side file", "side_file").splitlines()]
        self.assertEqual(rows[0][-1], "GRAPHS")
        told = {row[0]: row[7:] for row in rows[1:-1]}
        self.assertEqual(told["w"], ["a", "b"])
        self.assertEqual((told["x"], told["v"], told["t.json"]), (["a"], ["b"], []))

    def test_ls_json_lists_tensors_of_further_graphs(self) -> None:
        entries = {entry["name"]: entry for entry in self.listing(self.family)["entries"]}
        self.assertEqual({name: entry["graphs"] for name, entry in entries.items()},
                         {"w": [MODEL, "b.onnx"], "x": [MODEL], "v": ["b.onnx"], "t.json": [], "b.onnx": []})  # fmt: skip
        self.assertEqual([tensor["name"] for tensor in entries["v"]["tensors"]], ["v"])
        self.assertEqual([tensor["name"] for tensor in entries["w"]["tensors"]], ["w"])
        self.assertEqual(self.listing(self.family)["model"]["graph"], "a")

    def test_model_option_lists_only_entries_of_that_graph(self) -> None:
        document = json.loads(self.out("ls", "--json", "--model", "b", self.family))
        self.assertEqual([entry["name"] for entry in document["entries"]], ["w", "v"])
        self.assertEqual(document["entries"][0]["graphs"], ["b.onnx", MODEL])
        table = self.out("ls", "--model", "b.onnx", self.family)
        self.assertIn("2 of 5 entries", table)

    def test_archive_of_one_graph_has_no_such_column(self) -> None:
        self.succeeds("pack", self.a, "-o", self.output)
        self.assertNotIn("GRAPHS", self.out("ls", self.output))

    def test_broken_graph_does_not_hide_the_others(self) -> None:
        path = self.archive_of(*weights("w"), Entry("b.onnx", wire.plain(linked("w")) + b"\xff"), model_of())
        (entry, _) = self.listing(path)["entries"]
        self.assertEqual(entry["graphs"], ["b.onnx"])


class Reading(GraphCase):
    def test_names_that_mean_a_graph(self) -> None:
        for name, wanted in (("b", "b.onnx"), ("b.onnx", "b.onnx"), ("a", MODEL), ("a.onnx", MODEL), (MODEL, MODEL)):
            with self.subTest(name=name):
                done = self.succeeds("cat", self.family, f"--model={name}")
                self.assertEqual(done.stdout, entries_of(self.family)[wanted])
        self.assertEqual(self.succeeds("cat", "--model", self.family).stdout, entries_of(self.family)[MODEL])

    def test_unknown_name_lists_the_graphs(self) -> None:
        fault = Fault("usage.no_such_entry", "c").line(self.family)
        to = ("-o", self.output)
        for verb, more in {"show": (), "ls": (), "dump": (), "unpack": to, "link": to, "freeze": to, "extract": ("w", *to)}.items():
            with self.subTest(verb=verb):
                line = self.fails(USAGE, fault, verb, self.family, *more, "--model", "c")
                self.assertIn('it has "a" (the model), "b"', line)
        self.fails(USAGE, fault, "cat", self.family, "--model=c")

    def test_other_forms_have_one_graph(self) -> None:
        for verb in ("show", "dump"):
            line = self.fails(USAGE, Fault("usage.argument").line(self.a), verb, self.a, "--model", "b")
            self.assertIn("only an archive has several graphs", line)

    def test_extract(self) -> None:
        self.succeeds("extract", self.family, "v", "--model", "b", "--raw", "-o", self.output)
        self.assertEqual(self.output.read_bytes(), weight("v"))
        line = Fault("usage.no_such_tensor").line(self.family)
        self.fails(USAGE, line, "extract", self.family, "v", "--raw", "-o", self.folder / "v")

    def test_show_and_dump(self) -> None:
        document = json.loads(self.out("show", "--json", self.family, "--model", "b"))
        self.assertEqual({tensor["name"] for tensor in document["largest"]}, {"v", "w"})
        text = self.out("dump", self.family, "--model", "b")
        self.assertIn('name: "v"', text)
        self.assertNotIn('name: "x"', text)

    def test_diff_compares_the_data_of_every_graph(self) -> None:
        other = self.folder / "other.onnxar"
        add = ("--add", f"t.json={self.folder / 't'}")
        self.succeeds("pack", self.a, self.b, *add, "--checksum", "sha1", "-o", other)
        self.succeeds("diff", self.family, other)
        b = self.model(wire.tensor("v", seed="other"), wire.tensor("w"), name="other/b.onnx")
        self.succeeds("pack", self.a, b, *add, "-o", other, "-f")
        size = len(entries_of(other)["b.onnx"])
        done = run("diff", self.family, other)
        self.assertEqual(done.returncode, FOUND)
        self.assertEqual(done.stdout.decode(), f"changed file b.onnx: {size} bytes -> {size} bytes, of other data\n")
        self.assertIn("(v)", run("diff", self.family, other, "--model", "b").stdout.decode())

    def test_diff(self) -> None:
        self.succeeds("diff", self.family, self.family, "--model", "b")
        for pair in ((self.family, self.b), (self.b, self.family)):
            self.succeeds("diff", *pair, "--model", "b")
            self.assertEqual(run("diff", *pair).returncode, FOUND)
        self.succeeds("diff", self.family, self.a)  # its name among the graphs is not the model's
        self.succeeds("diff", self.family, self.a, "--model", "a")
        self.assertEqual(run("diff", self.a, self.b, "--model", "b").returncode, USAGE)


class Writing(GraphCase):
    def test_unpack_writes_the_one_graph(self) -> None:
        self.succeeds("unpack", self.family, "--model", "b", "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.b.read_bytes())

    def test_unpack_to_a_folder_writes_side_files(self) -> None:
        for name, model in (("a", self.a), ("b", self.b)):
            folder = self.folder / f"folder_of_{name}"
            self.succeeds("unpack", self.family, "--model", name, "-o", f"{folder}/")
            self.assertEqual(sorted(path.name for path in folder.iterdir()), [f"{name}.onnx", "t.json"])
            self.assertEqual((folder / f"{name}.onnx").read_bytes(), model.read_bytes())

    def test_pack_makes_it_the_model(self) -> None:
        done = self.succeeds("pack", self.family, "--model", "b", "-o", self.output)
        self.assertEqual(keys_of(self.output), ["v", "w", "t.json"])
        self.assertNotIn("left out", done.stderr)
        self.succeeds("unpack", self.output, "-o", self.folder / "again.onnx")
        self.assertEqual((self.folder / "again.onnx").read_bytes(), self.b.read_bytes())

    def test_freeze(self) -> None:
        self.succeeds("freeze", self.family, "--model", "b", "-o", self.output)
        self.assertEqual(keys_of(self.output), ["t.json"])  # no output needs a weight
        self.succeeds("check", "--data", self.output)


class Linking(GraphCase):
    def test_link_of_one_graph(self) -> None:
        link = self.folder / "b_link.onnx"
        self.succeeds("link", self.family, "--model", "b", "-o", link)
        self.succeeds("check", "--data", link)
        self.succeeds("diff", link, self.b)

    def test_without_a_name_each_graph_gets_a_link(self) -> None:
        folder = self.folder / "linked"
        folder.mkdir()
        archive = shutil.copy(self.family, folder)
        done = self.succeeds("link", archive)
        self.assertEqual(done.stderr.count("linked 2 tensors"), 2)
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["a.onnx", "b.onnx", "f.onnxar"])
        for name in ("a", "b"):
            self.succeeds("check", "--data", folder / f"{name}.onnx")
            self.succeeds("diff", folder / f"{name}.onnx", self.folder / f"{name}.onnx")
            self.assertNotIn(NAME_KEY, (folder / f"{name}.onnx").read_bytes())

    def test_one_existing_output_prevents_all_links(self) -> None:
        self.b.unlink()
        self.fails(USAGE, Fault("output.exists").line(self.a), "link", self.family)
        self.assertFalse(self.b.exists())
        self.succeeds("link", self.family, "-f")
        self.succeeds("check", self.b)

    def test_dry_run_writes_no_link(self) -> None:
        for path in (self.a, self.b):
            path.unlink()
        with self.nothing_changes():
            self.succeeds("link", self.family, "-n")

    def test_model_without_a_name_has_that_of_the_archive(self) -> None:
        for name, code in (("m.onnxar", DONE), ("g.onnxar", USAGE)):
            path = self.archive_of(*weights("w"), Entry("g.onnx", wire.plain(linked("w"))), model_of(linked("w")), name=name)
            self.assertEqual(run("link", path).returncode, code)
        self.assertTrue((self.folder / "m.onnx").exists())

    def test_name_needs_an_output(self) -> None:
        self.assertEqual(run("link", self.family, "--model", "b").returncode, USAGE)


class Replacing(GraphCase):
    def replaced(self, *arguments: object) -> dict[str, bytes]:
        before = self.family.read_bytes()
        model = entries_of(self.family)[MODEL]
        self.succeeds("replace", self.family, *arguments)
        self.assertTrue(self.family.read_bytes().startswith(before))
        self.succeeds("check", "--data", self.family)
        entries = entries_of(self.family)
        self.assertEqual(entries[MODEL], model)
        return entries

    def graph(self, name: str) -> bytes:
        path = self.folder / "taken.onnx"
        self.succeeds("unpack", self.family, "--model", name, "-o", path, "-f")
        return path.read_bytes()

    def test_replaced_graph_links_existing_data(self) -> None:
        new = self.model(wire.tensor("renamed", seed="x"), wire.tensor("n"), name="new.onnx")
        entries = self.replaced(new, "--model", "b")
        self.assertEqual(list(entries), ["w", "x", "v", "t.json", "n", "b.onnx", MODEL])
        self.assertEqual(self.graph("b"), new.read_bytes())
        self.assertEqual(self.graph("a"), self.a.read_bytes())
        self.succeeds("undo", "--force", self.family)
        self.assertEqual(self.graph("b"), self.b.read_bytes())

    def test_graph_is_edited_with_cat_and_replace(self) -> None:
        path = self.folder / "graph.onnx"
        path.write_bytes(self.succeeds("cat", self.family, "--model=b").stdout + wire.block(2, "edited"))
        entries = self.replaced(path, "--model", "b")
        self.assertEqual(entries["b.onnx"], path.read_bytes())
        self.assertEqual(list(entries), ["w", "x", "v", "t.json", "b.onnx", MODEL])

    def test_name_that_no_graph_has_adds_one(self) -> None:
        new = self.model(wire.tensor("c"), wire.tensor("w"), name="new.onnx")
        entries = self.replaced(new, "--model", "c")
        self.assertEqual(self.graph("c"), new.read_bytes())
        self.assertEqual(self.graph("b"), self.b.read_bytes())
        self.assertIn("c.onnx", entries)

    def test_own_name_is_the_model(self) -> None:
        new = self.model(wire.tensor("x"), name="new.onnx")
        self.succeeds("replace", self.family, new, "--model", "a")
        self.assertEqual(self.graph("a"), new.read_bytes())
        self.assertIn(NAME_KEY, entries_of(self.family)[MODEL])

    def test_link_becomes_a_graph_without_its_marker(self) -> None:
        link = self.folder / "link.onnx"
        self.succeeds("link", self.family, "--model", "b", "-o", link)
        entries = self.replaced(link, "--model", "b")
        self.assertNotIn(b"onnxar.link", entries["b.onnx"])

    def test_dry_run_prints_the_size(self) -> None:
        new = self.model(wire.tensor("n"), name="new.onnx")
        with self.nothing_changes():
            told = self.succeeds("replace", self.family, new, "--model", "b", "-n").stderr
        done = self.succeeds("replace", self.family, new, "--model", "b").stderr
        self.assertEqual(told.replace("would replace", "replaced"), done)
        self.assertIn("replaced the graph b: ", done)

    # Bad names are refused, too.
    def test_model_option_without_a_model_is_refused(self) -> None:
        self.assertEqual(run("replace", self.family, "--model", "b", "--remove", "t.json").returncode, USAGE)
        with self.nothing_changes():
            for name in ("a/", "con", "__X", "größe"):
                done = run("replace", self.family, self.b, "--model", name)
                self.assertNotEqual(done.returncode, DONE, name)


if __name__ == "__main__":
    command_line.main()

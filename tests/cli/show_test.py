"""Summaries of models: `show`."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnx.helper import make_node

from cli.showing import ShowCase
from support import architectures, command_line
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import CONTROLS, FORMAT, IO, USAGE

MARKUP = "<script>alert('x')</script>&\"<b>"


class Architectures(ShowCase):
    """Counts that are widely published."""

    def test_resnet50(self) -> None:
        shown = self.shown(architectures.resnet50(self.folder / "resnet50.onnx"))
        self.assertEqual(shown["parameters"], 25_557_032)
        self.assertEqual(shown["statistics"], 2 * 26_560)
        cost = {each["op"]: (each["nodes"], each["multiply_adds"]) for each in shown["cost"]["by_op"]}
        self.assertEqual(cost, {"Conv": (53, 4_087_136_256), "Gemm": (1, 2_048_000)})
        self.assertEqual(shown["cost"]["multiply_adds"], 4_089_184_256)
        self.assertEqual(shown["cost"]["not_known"], [])
        self.assertIn("4.09 G", self.text(self.folder / "resnet50.onnx"))

    def test_bert_base(self) -> None:
        layer = 4 * 128 * 768 * 768 + 2 * 128 * 768 * 3072 + 2 * 128 * 128 * 768
        path = architectures.bert_base(self.folder / "bert.onnx")
        cost = self.shown(path)["cost"]
        self.assertEqual((cost["multiply_adds"], cost["not_known"]), (12 * layer, []))
        self.assertIn("11.17 G", self.text(path))
        packed = self.folder / "bert.onnxar"
        self.succeeds("pack", path, "-o", packed, "--no-sync")
        self.assertEqual(self.shown(packed)["cost"], cost)

    def test_cost_with_an_open_dimension_is_not_a_number(self) -> None:
        cost = self.shown(architectures.bert_base(self.folder / "open.onnx", "length"))["cost"]
        self.assertEqual((cost["multiply_adds"], cost["at_least"]), (None, 0))
        [matmul] = cost["not_known"]
        self.assertEqual((matmul["op"], matmul["nodes"]), ("MatMul", 96))
        self.assertEqual(matmul["reason"], "its shapes are not known")
        self.assertRegex(self.text(self.folder / "open.onnx"), r"(?m)^multiply-adds +18432\*length\^2 \+ 84934656\*length$")

    def test_value_info_is_believed(self) -> None:
        nodes = [
            make_node("Mystery", ["x"], ["y"], domain="custom"),
            make_node("MatMul", ["y", "w"], ["z"]),
        ]
        path = self.save(nodes, {"x": [4, 8]}, {"w": [8, 16]})
        self.assertEqual({each["op"] for each in self.shown(path)["cost"]["not_known"]}, {"Mystery", "MatMul"})
        model = onnx.load(path)
        model.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8]))
        cost = self.shown(self.write("m.onnx", model.SerializeToString()))["cost"]
        self.assertEqual((cost["at_least"], [each["op"] for each in cost["not_known"]]), (4 * 8 * 16, ["Mystery"]))
        self.assertRegex(self.text(self.folder / "m.onnx"), r"(?m)^multiply-adds +at least 512: MatMul 512 in 1$")


class Summary(ShowCase):
    def test_json_is_whole(self) -> None:
        shown = self.shown(self.archive("w"))
        keys = (
            "path form producer domain model_version doc_string ir_version opsets metadata graph functions training_infos "
            "parameters statistics tensors by_type by_site largest cost storage graphs files remarks"
        )
        self.assertEqual(list(shown), keys.split())
        self.assertEqual((shown["form"], shown["ir_version"], shown["producer"]["name"]), ("archive", 8, "zoo"))
        self.assertEqual(shown["opsets"], [{"domain": "", "version": 17}])
        self.assertEqual(shown["by_type"], {"FLOAT": {"tensors": 1, "elements": 300, "bytes": 1200}})
        self.assertEqual(shown["by_site"], {"initializer": {"tensors": 1, "elements": 300, "bytes": 1200}})
        self.assertEqual(shown["largest"][0]["name"], "w")

    def test_interface(self) -> None:
        nodes = [make_node("Add", ["x", "w"], ["y"])]
        path = self.save(nodes, {"x": ["batch", None, 3], "w": [3]}, {"w": [3]})
        graph = self.shown(path)["graph"]
        self.assertEqual(graph["inputs"], [{"name": "x", "type": "FLOAT", "shape": ["batch", None, 3]}])
        self.assertEqual(graph["outputs"], [{"name": "y", "type": "FLOAT", "shape": None}])
        self.assertIn("x FLOAT[batch,?,3]", self.text(path))

    def test_empty_graphs(self) -> None:
        value = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", None, 3])]
        for inputs in ([], value):
            path = self.write("m.onnx", helper.make_model(helper.make_graph([], "g", inputs, inputs)).SerializeToString())
            told = self.text(path)
            self.assertRegex(told, r"(?m)^graph +g: 0 nodes, depth 0$")
            self.assertRegex(told, r"(?m)^multiply-adds +0$")
            self.assertEqual(self.text(path, "--nodes"), "")
            self.succeeds("show", path, "--html", self.output, "-f")
        line = self.fails(FORMAT, "onnxar: error[onnx.model.invalid]", "show", self.write("m.onnx", b"\x08\x08"))
        self.assertIn("it has no graph", line)

    def test_depth_counts_the_longest_path_in_any_order(self) -> None:
        nodes = [
            make_node("Add", ["b", "a"], ["c"]),
            make_node("Relu", ["a"], ["b"]),
            make_node("Relu", ["x"], ["a"]),
            make_node("Relu", ["c"], ["d"]),
        ]
        graph = self.shown(self.save(nodes, {"x": [1]}))["graph"]
        self.assertEqual((graph["depth"], graph["cycle"], graph["dangling"]), (4, [], []))
        self.assertEqual(graph["ops"], [{"domain": "", "op": "Relu", "nodes": 3}, {"domain": "", "op": "Add", "nodes": 1}])

    def test_cycles_and_undefined_names_are_shown(self) -> None:
        nodes = [
            make_node("Add", ["x", "c"], ["a"]),
            make_node("Relu", ["a"], ["b"]),
            make_node("Add", ["b", "lost"], ["c"]),
            make_node("Relu", ["c"], ["y"]),
        ]
        path = self.save(nodes, {"x": [1]})
        graph = self.shown(path)["graph"]
        self.assertEqual(sorted(graph["cycle"]), [f"graph.node[{i}]" for i in range(3)])
        self.assertEqual(graph["dangling"], [{"site": "graph.node[2]", "name": "lost"}])
        self.assertIn("lost, used by graph.node[2]", self.text(path))

    def test_cycles_in_subgraphs_are_found_at_their_sites(self) -> None:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        loop = [make_node("Relu", ["y"], ["a"]), make_node("Relu", ["a"], ["y"])]
        branch = helper.make_graph([make_node("Relu", ["x"], ["b"]), *loop], "b", [], value)
        path = self.save([make_node("If", ["c"], ["z"], then_branch=branch)], {"c": [], "x": [2]})
        cycle = [f"graph.node[0].attr.then_branch.node[{i}]" for i in (1, 2)]
        self.assertEqual(sorted(self.shown(path)["graph"]["cycle"]), cycle)
        self.assertRegex(self.text(path), r"(?m)^cycle +graph\.node\[0\]\.attr")

    def test_subgraphs_see_the_names_around_them(self) -> None:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        branch = helper.make_graph([make_node("Add", ["a", "w"], ["y"])], "b", [], value)
        nodes = [
            make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch),
            make_node("Relu", ["x"], ["a"]),
        ]
        graph = self.shown(self.save(nodes, {"c": [], "x": [2]}, {"w": [2]}))["graph"]
        self.assertEqual((graph["dangling"], graph["depth"], graph["subgraphs"]), ([], 2, 2))
        self.assertEqual((graph["nodes"], graph["all_nodes"]), (2, 4))

    def test_storage(self) -> None:
        tensors = (wire.tensor("large", wire.UINT8, 5000), wire.tensor("small", wire.UINT8, 100))
        source = self.model(*tensors)
        sums = self.shown(source)["storage"]
        self.assertEqual((sums["inline_bytes"], sums["model_bytes"]), (5100, source.stat().st_size))
        sums = self.shown(self.packed(*tensors))["storage"]
        self.assertEqual((sums["inline_bytes"], sums["archived_bytes"], sums["unused_bytes"]), (100, 5000, 0))
        sums = self.shown(self.edited_archive())["storage"]
        self.assertGreater(sums["unused_bytes"], 0)

    def test_blocks_cover_every_file_in_order(self) -> None:
        tensors = (wire.tensor("a", wire.UINT8, 5000), wire.tensor("b"), wire.tensor("c", count=3))
        beside = self.folder / "beside.onnx"
        self.succeeds("unpack", self.model(*tensors), "-o", beside, "--external-data", "weights.bin", "--align", "4096")
        side = self.archive_of(*weights("w", "unused"), Entry("notes.txt", b"hello"), model_of(linked("w")))
        text = self.folder / "m.textproto"
        self.succeeds("unpack", side, "-o", text, "--text")
        for path in (self.model(*tensors), self.packed(*tensors), beside, side, self.edited_archive(), text):
            for file in self.shown(path)["files"]:
                with self.subTest(path=path.name, file=file["path"]):
                    end = 0
                    for block in file["blocks"]:
                        self.assertEqual(block["offset"], end)
                        self.assertGreater(block["size"], 0)
                        end += block["size"]
                    self.assertEqual(end, Path(file["path"]).stat().st_size)

    def test_functions_training_and_metadata(self) -> None:
        body = [make_node("Relu", ["a"], ["b"]), make_node("Relu", ["b"], ["c"])]
        function = helper.make_function("f", "Twice", ["a"], ["c"], body, [])
        path = self.save([make_node("Twice", ["x"], ["y"], domain="f")], {"x": [1]}, functions=[function])
        model = onnx.load(path)
        model.metadata_props.add(key="task", value="sort")
        model.training_info.add()
        path.write_bytes(model.SerializeToString())
        shown = self.shown(path)
        row = {"domain": "f", "name": "Twice", "overload": "", "inputs": ["a"], "outputs": ["c"], "nodes": 2}
        self.assertEqual((shown["functions"], shown["training_infos"]), ([row], 1))
        self.assertEqual(shown["metadata"], [{"key": "task", "value": "sort"}])
        told = self.text(path)
        self.assertIn("f.Twice: 2 nodes, 1 input, 1 output", told)
        self.assertIn("1 training info", told)
        self.assertIn("task = sort", told)

    def test_padding_is_what_ls_says(self) -> None:
        path = self.archive("w", "v")
        self.assertEqual(self.shown(path)["storage"]["padding_bytes"], self.listing(path)["padding_bytes"])
        self.assertGreater(self.listing(path)["padding_bytes"], 0)

    def test_missing_data_files(self) -> None:
        path = self.model(linked("w", location="gone.bin"), linked("v", location="../up.bin"))
        self.assertEqual([file["missing"] for file in self.shown(path)["files"]], [False, True, True])

    def test_nothing_is_looked_at_outside_the_folder(self) -> None:
        (self.folder / "home").mkdir()
        self.write("outside.bin", bytes(5000))
        (self.folder / "home/link.bin").symlink_to(self.folder / "outside.bin")
        path = self.model(linked("w", location="link.bin"), linked("v", location="../outside.bin"), name="home/m.onnx")
        told = [(file["missing"], file["size"]) for file in self.shown(path)["files"][1:]]
        self.assertEqual(told, [(True, 0), (True, 0)])

    def test_names_are_escaped(self) -> None:
        nodes = [make_node("Relu", ["x"], ["y"], name="\x1b[31mred\x07", domain="d\x9bm", attribute="\x1b]0;")]
        path = self.save(nodes, {"x": [1]}, {"\x1b[2J": [1]}, producer_name="\x1b[1m")
        for options in ((), ("--nodes",)):
            told = self.text(path, *options)
            self.assertTrue(all(line.isprintable() for line in told.splitlines()), told)

    def test_no_weight_is_read(self) -> None:
        model = self.sparse(1 << 40)
        self.assertEqual(self.shown(model)["by_type"]["UINT8"]["bytes"], 1 << 40)

    def test_refusals(self) -> None:
        self.fails(IO, "onnxar: error[io.not_found]", "show", self.folder / "missing")
        self.fails(FORMAT, "onnxar: error[wire.", "show", self.write("junk", b"\x08\x08\x3a\xff\x01"))
        self.fails(FORMAT, "onnxar: error[zip.", "show", self.write("zip", b"PK\3\4" + bytes(50)))
        self.assertEqual(command_line.run("show", "--op", "Relu", self.model()).returncode, USAGE)


class Nodes(ShowCase):
    def model_with_subgraph(self) -> Path:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        branch = helper.make_graph([make_node("Relu", ["x"], ["y"])], "then", [], value)
        function = helper.make_function("f", "F", ["a"], ["c"], [make_node("Relu", ["a"], ["c"])], [])
        nodes = [
            make_node("Conv", ["x", "w"], ["v"], name="first", kernel_shape=[3, 3], auto_pad="VALID"),
            make_node("If", ["c"], ["z"], then_branch=branch),
        ]
        return self.save(nodes, {"x": [1]}, functions=[function])

    def test_a_line_a_node(self) -> None:
        self.assertEqual(
            self.text(self.model_with_subgraph(), "--nodes").splitlines(),
            [
                'Conv "first" (x, w) -> (v) auto_pad="VALID" kernel_shape=[3,3]',
                'If (c) -> (z) then_branch=graph "then"',
                "  Relu (x) -> (y)",
                "functions[0]:",
                "  Relu (a) -> (c)",
            ],
        )

    def test_only_one_operator(self) -> None:
        path = self.model_with_subgraph()
        self.assertEqual(self.text(path, "--nodes", "--op", "Relu").count("\n"), 3)
        rows = self.shown(path, "--nodes", "--op", "Relu")["nodes"]
        sites = [row["site"] for row in rows]
        self.assertEqual(sites, ["graph.node[1].attr.then_branch.node[0]", "functions[0].node[0]"])


class Page(HTMLParser):
    """Elements with their text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.rects: list[dict[str, str | None]] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "rect":
            self.rects.append(dict(attrs))
            self.titles.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open[-2:] == ["rect", "title"]:
            self.titles[-1] += data
        elif "style" not in self.open:
            self.text += data


class Html(ShowCase):
    def page(self, path: Path) -> str:
        self.succeeds("show", path, "--html", self.output, "-f")
        return self.output.read_text()

    def judge_map(self, page: Page, path: Path) -> None:
        """A rectangle for every block (in pieces where it spans rows), in file order, to scale."""
        blocks = [block for file in self.shown(path)["files"] for block in file["blocks"]]
        widths: list[tuple[str, float]] = []
        for rect, title in zip(page.rects, page.titles):
            if not widths or widths[-1][0] != title:
                widths.append((title, 0.0))
            widths[-1] = (title, widths[-1][1] + float(rect["width"]))
        self.assertEqual(len(widths), len(blocks))
        scale = sum(width for _, width in widths) / sum(block["size"] for block in blocks)
        for (title, width), block in zip(widths, blocks):
            self.assertTrue(title.endswith(f"bytes at 0x{block['offset']:x}"), title)
            self.assertAlmostEqual(width, block["size"] * scale, delta=0.02)

    def test_the_map_shows_every_block_to_scale(self) -> None:
        kinds = (wire.tensor(kind.name, kind, 3000) for kind in wire.TYPES.values())
        for path in (self.packed(*kinds), self.edited_archive(), self.model(wire.tensor("w"))):
            page = Page(self.page(path))
            self.assertEqual(page.open, [])
            self.judge_map(page, path)
        classes = {rect["class"].split()[0] for rect in page.rects}
        self.assertEqual(classes, {"graph", "float32"})

    def test_page_needs_no_other_file(self) -> None:
        html = self.page(self.archive("w"))
        self.assertNotRegex(html, r"(?i)<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:")
        self.assertIn("prefers-color-scheme: dark", html)

    def test_names_are_text_and_no_markup(self) -> None:
        nodes = [make_node(MARKUP, ["x"], ["y"], domain=MARKUP)]
        path = self.save(nodes, {MARKUP: [1], "x": [MARKUP]}, {MARKUP: [300]}, producer_name=MARKUP)
        page = Page(self.page(path))
        self.assertFalse({"script", "b"} & set(page.tags))
        self.assertGreaterEqual(page.text.count(MARKUP), 4)
        self.assertIn(MARKUP, "".join(page.titles))
        self.assertNotIn("\x1b", self.page(self.model(wire.tensor(CONTROLS))))

    def test_a_browser_builds_the_same_document(self) -> None:
        if shutil.which("chromium") is None:
            self.skipTest("no chromium")
        path = self.packed(wire.tensor("a"), wire.tensor(MARKUP, wire.UINT8, 5000))
        self.page(path)
        page = self.folder / "page.html"
        self.output.rename(page)
        profile = f"--user-data-dir={self.folder}/profile"
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", profile, "--dump-dom"]
        done = subprocess.run([*command, page.as_uri()], capture_output=True, timeout=120, check=True)
        dom = Page(done.stdout.decode())
        self.assertEqual(dom.titles, Page(page.read_text()).titles)
        self.judge_map(dom, path)
        self.assertFalse({"script", "b"} & set(dom.tags))

    def test_many_blocks_are_gathered(self) -> None:
        path = self.model(*(wire.tensor(f"t{i}", wire.UINT8, 8) for i in range(11_000)), wire.tensor("l", wire.UINT8, 1 << 22))
        html = self.page(path)
        self.assertLess(len(html), 2_000_000)
        self.assertRegex(html, r"\d+ small blocks \(the largest: graph\), \d+ bytes at 0x")
        page = Page(html)
        width = sum(float(rect["width"]) for rect in page.rects)
        self.assertAlmostEqual(width, 12 * 1000, delta=len(page.rects) * 0.001 + 0.01)

    def test_outputs(self) -> None:
        self.write("out", b"mine")
        self.fails(USAGE, "onnxar: error[output.exists]", "show", self.archive("w"), "--html", self.output)


if __name__ == "__main__":
    command_line.main()

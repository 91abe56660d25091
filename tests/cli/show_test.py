"""Summaries of models: `show`.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests show_test.py
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper, shape_inference

from support import architectures, command_line
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import CONTROLS, FORMAT, IO, USAGE, ToolCase

MARKUP = "<script>alert('x')</script>&\"<b>"


class ShowCase(ToolCase):
    def shown(self, path: Path, *options: object) -> dict[str, Any]:
        return json.loads(self.succeeds("show", "--json", path, *options).stdout)

    def text(self, path: Path, *options: object) -> str:
        return self.succeeds("show", path, *options).stdout.decode()

    def save(self, nodes: list, inputs: dict[str, list], initializers: dict[str, list] = {}, **more: Any) -> Path:
        """A model whose initializers are zeros of these shapes; outputs are those of the last node."""
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
        weights = [
            TensorProto(name=name, dims=dims, data_type=1, raw_data=bytes(4 * math.prod(dims)))
            for name, dims in initializers.items()
        ]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in nodes[-1].output]
        graph = helper.make_graph(nodes, "g", values, outputs, weights)
        return self.write("m.onnx", helper.make_model(graph, **more).SerializeToString())

    def cost(self, nodes: list, inputs: dict[str, list], initializers: dict[str, list] = {}, **more: Any) -> Any:
        """The number, or the text for an unknown one."""
        cost = self.shown(self.save(nodes, inputs, initializers, **more))["cost"]
        return cost["multiply_adds"] if not cost["not_known"] else [each["reason"] for each in cost["not_known"]]


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

    def test_what_depends_on_an_open_dimension_is_no_number(self) -> None:
        cost = self.shown(architectures.bert_base(self.folder / "open.onnx", "length"))["cost"]
        self.assertEqual((cost["multiply_adds"], cost["at_least"]), (None, 0))
        [matmul] = cost["not_known"]
        self.assertEqual((matmul["op"], matmul["nodes"]), ("MatMul", 96))
        self.assertEqual(matmul["reason"], "its shapes are not known")
        self.assertRegex(self.text(self.folder / "open.onnx"), r"(?m)^multiply-adds +18432\*length\^2 \+ 84934656\*length$")

    def test_value_info_is_believed(self) -> None:
        nodes = [
            helper.make_node("Mystery", ["x"], ["y"], domain="custom"),
            helper.make_node("MatMul", ["y", "w"], ["z"]),
        ]
        path = self.save(nodes, {"x": [4, 8]}, {"w": [8, 16]})
        self.assertEqual({each["op"] for each in self.shown(path)["cost"]["not_known"]}, {"Mystery", "MatMul"})
        model = onnx.load(path)
        model.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8]))
        cost = self.shown(self.write("m.onnx", model.SerializeToString()))["cost"]
        self.assertEqual((cost["at_least"], [each["op"] for each in cost["not_known"]]), (4 * 8 * 16, ["Mystery"]))
        self.assertRegex(self.text(self.folder / "m.onnx"), r"(?m)^multiply-adds +at least 512: MatMul 512 in 1$")


class Costs(ShowCase):
    """Operator by operator; the numbers are worked out by hand."""

    # Operator, attributes, its input, its weights, and the count.
    COUNTS = (
        ("MatMul", {}, [2, 3], [[3, 5]], 30),
        ("MatMul", {}, [7, 1, 2, 3], [[4, 3, 5]], 7 * 4 * 30),
        ("MatMul", {}, [3], [[3, 5]], 15),
        ("MatMul", {}, [2, 3], [[3]], 6),
        ("MatMul", {}, [3], [[3]], 3),
        ("Gemm", {"transA": 1, "transB": 1}, [3, 2], [[5, 3]], 30),
        ("Conv", {}, [1, 3, 8, 8], [[4, 3, 3, 3]], 4 * 6 * 6 * 27),
        ("Conv", {"group": 3}, [2, 3, 8, 8], [[6, 1, 3, 3]], 2 * 6 * 6 * 6 * 9),
        ("Conv", {"strides": [2, 3], "pads": [1, 0, 1, 0]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 5 * 3 * 9),
        ("Conv", {"dilations": [2, 2]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 25 * 9),
        ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [1, 1, 9, 9], [[1, 1, 3, 3]], 25 * 9),
        ("Conv", {"auto_pad": "VALID"}, [1, 1, 9], [[1, 1, 3]], 7 * 3),
        ("ConvTranspose", {"strides": [2, 2]}, [1, 8, 5, 5], [[8, 4, 3, 3]], 8 * 25 * 36),
        ("LSTM", {"hidden_size": 5}, [7, 4, 3], [[2, 20, 3], [2, 20, 5]], 7 * 4 * 2 * 20 * 8),
    )

    def test_products_convolutions_and_recurrent_layers(self) -> None:
        for op, attributes, x, given, expected in self.COUNTS:
            with self.subTest(op=op, attributes=attributes, x=x, weights=given):
                initializers = {f"w{i}": dims for i, dims in enumerate(given)}
                node = helper.make_node(op, ["x", *initializers], ["y"], **attributes)
                self.assertEqual(self.cost([node], {"x": x}, initializers), expected)

    def test_shapes_that_nodes_reckon(self) -> None:
        """Flattening with Shape, Gather, Concat and Reshape, as exporters write it."""
        nodes = [
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Constant", [], ["zero"], value=helper.make_tensor("", TensorProto.INT64, [], [0])),
            helper.make_node("Gather", ["shape", "zero"], ["batch"]),
            helper.make_node("Constant", [], ["axes"], value_ints=[0]),
            helper.make_node("Unsqueeze", ["batch", "axes"], ["batches"]),
            helper.make_node("Constant", [], ["rest"], value_ints=[-1]),
            helper.make_node("Concat", ["batches", "rest"], ["flat"], axis=0),
            helper.make_node("Reshape", ["x", "flat"], ["y"]),
            helper.make_node("MatMul", ["y", "w"], ["z"]),
        ]
        self.assertEqual(self.cost(nodes, {"x": [2, 3, 4]}, {"w": [12, 5]}), 2 * 12 * 5)

    def test_agreement_with_shape_inference_of_onnx(self) -> None:
        """Each operator between a tensor and a product, whose count then depends on its shape."""
        steps = {
            "Transpose": ([], {"perm": [2, 0, 1]}), "Flatten": ([], {"axis": 2}), "Squeeze": ([[1]], {}),
            "Unsqueeze": ([[0, -1]], {}), "Slice": ([[1, -5], [100, -1], [0, 2], [1, 2]], {}),
            "Pad": ([[0, 0, 1, 2, 0, 3]], {}), "ReduceSum": ([[1]], {"keepdims": 0}), "ReduceMean": ([], {"axes": [0]}),
            "Gather": ([[0, 1, 1]], {"axis": 2}), "Expand": ([[5, 1, 1, 1]], {}), "Reshape": ([[0, -1, 2]], {}),
            "MaxPool": ([], {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}), "GlobalAveragePool": ([], {}),
            "AveragePool": ([], {"kernel_shape": [2], "pads": [1, 0]}), "Softmax": ([], {}), "Identity": ([], {}),
            "Split": ([[2, 4]], {"axis": 0}), "Concat": ([], {"axis": 0}), "Add": ([], {}),
        }  # fmt: skip
        for op, (constants, attributes) in steps.items():
            names = [f"c{i}" for i in range(len(constants))]
            nodes = [
                helper.make_node("Constant", [], [name], value=helper.make_tensor("", TensorProto.INT64, [len(values)], values))
                for name, values in zip(names, constants)
            ]
            outputs = ["y", "other"] if op == "Split" else ["y"]
            nodes += [
                helper.make_node(op, ["x", *names, *(["x"] if op == "Add" else [])], outputs, **attributes),
                helper.make_node("Reshape", ["y", "flat"], ["row"]),
                helper.make_node("MatMul", ["row", "row_t"], ["z"]),
            ]
            nodes.insert(-2, helper.make_node("Constant", [], ["flat"], value_ints=[1, -1]))
            nodes.insert(-1, helper.make_node("Transpose", ["row"], ["row_t"]))
            path = self.save(nodes, {"x": [6, 1, 8]}, opset_imports=[helper.make_opsetid("", 13)])
            inferred = shape_inference.infer_shapes(onnx.load(path), strict_mode=True, data_prop=True)
            [y] = [each for each in inferred.graph.value_info if each.name == "y"]
            elements = math.prod(dim.dim_value for dim in y.type.tensor_type.shape.dim)
            with self.subTest(op=op, elements=elements):
                self.assertGreater(elements, 0)
                self.assertEqual(self.shown(path)["cost"]["multiply_adds"], elements)

    def test_functions_are_counted_at_each_call(self) -> None:
        body = [helper.make_node("MatMul", ["a", "b"], ["c"])]
        function = helper.make_function("f", "Twice", ["a", "b"], ["c"], body, [helper.make_opsetid("", 13)])
        nodes = [
            helper.make_node("Twice", ["x", "w"], ["y"], domain="f"),
            helper.make_node("Twice", ["y", "v"], ["z"], domain="f"),
        ]
        cost = self.cost(nodes, {"x": [2, 3]}, {"w": [3, 4], "v": [4, 5]}, functions=[function])
        self.assertEqual(cost, 2 * 3 * 4 + 2 * 4 * 5)

    def test_subgraphs_count_apart(self) -> None:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        branch = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "b", [], value)
        node = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
        cost = self.shown(self.save([node], {"c": [], "x": [2, 3]}, {"w": [3, 4]}))["cost"]
        self.assertEqual((cost["multiply_adds"], cost["at_least"], cost["in_subgraphs"]), (None, 0, 48))

    def test_what_is_not_known_is_named_and_not_guessed(self) -> None:
        for op, domain in (("Einsum", ""), ("Magic", "custom")):
            node = helper.make_node(op, ["x"], ["y"], domain=domain)
            self.assertEqual(len(self.cost([node], {"x": [2]})), 1)
            ops = self.shown(self.folder / "m.onnx")["graph"]["ops"]
            self.assertEqual(ops, [{"domain": domain, "op": op, "nodes": 1}])
        self.assertEqual(self.cost([helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}), 0)


class Summary(ShowCase):
    def test_json_is_whole(self) -> None:
        shown = self.shown(self.archive("w"))
        keys = (
            "path form producer domain model_version doc_string ir_version opsets metadata graph functions training_infos "
            "parameters statistics tensors by_type by_site largest cost storage files remarks"
        )
        self.assertEqual(list(shown), keys.split())
        self.assertEqual((shown["form"], shown["ir_version"], shown["producer"]["name"]), ("archive", 8, "zoo"))
        self.assertEqual(shown["opsets"], [{"domain": "", "version": 17}])
        self.assertEqual(shown["by_type"], {"FLOAT": {"tensors": 1, "elements": 300, "bytes": 1200}})
        self.assertEqual(shown["by_site"], {"initializer": {"tensors": 1, "elements": 300, "bytes": 1200}})
        self.assertEqual(shown["largest"][0]["name"], "w")

    def test_interface(self) -> None:
        nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
        path = self.save(nodes, {"x": ["batch", None, 3], "w": [3]}, {"w": [3]})
        graph = self.shown(path)["graph"]
        self.assertEqual(graph["inputs"], [{"name": "x", "type": "FLOAT", "shape": ["batch", None, 3]}])
        self.assertEqual(graph["outputs"], [{"name": "y", "type": "FLOAT", "shape": None}])
        self.assertIn("x FLOAT[batch,?,3]", self.text(path))

    def test_graphs_of_nothing(self) -> None:
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

    def test_depth_counts_nodes_on_the_longest_path_in_any_order(self) -> None:
        nodes = [
            helper.make_node("Add", ["b", "a"], ["c"]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("Relu", ["x"], ["a"]),
            helper.make_node("Relu", ["c"], ["d"]),
        ]
        graph = self.shown(self.save(nodes, {"x": [1]}))["graph"]
        self.assertEqual((graph["depth"], graph["cycle"], graph["dangling"]), (4, [], []))
        self.assertEqual(graph["ops"], [{"domain": "", "op": "Relu", "nodes": 3}, {"domain": "", "op": "Add", "nodes": 1}])

    def test_cycles_and_names_that_nothing_gives(self) -> None:
        nodes = [
            helper.make_node("Add", ["x", "c"], ["a"]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("Add", ["b", "lost"], ["c"]),
            helper.make_node("Relu", ["c"], ["y"]),
        ]
        path = self.save(nodes, {"x": [1]})
        graph = self.shown(path)["graph"]
        self.assertEqual(sorted(graph["cycle"]), [f"graph.node[{i}]" for i in range(3)])
        self.assertEqual(graph["dangling"], [{"site": "graph.node[2]", "name": "lost"}])
        self.assertIn("lost, used by graph.node[2]", self.text(path))

    def test_subgraphs_see_the_names_around_them(self) -> None:
        value = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        branch = helper.make_graph([helper.make_node("Add", ["a", "w"], ["y"])], "b", [], value)
        nodes = [
            helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch),
            helper.make_node("Relu", ["x"], ["a"]),
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
        body = [helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Relu", ["b"], ["c"])]
        function = helper.make_function("f", "Twice", ["a"], ["c"], body, [])
        path = self.save([helper.make_node("Twice", ["x"], ["y"], domain="f")], {"x": [1]}, functions=[function])
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

    def test_data_files_that_are_not_there(self) -> None:
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
        nodes = [helper.make_node("Relu", ["x"], ["y"], name="\x1b[31mred\x07", domain="d\x9bm", attribute="\x1b]0;")]
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
        branch = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "then", [], value)
        function = helper.make_function("f", "F", ["a"], ["c"], [helper.make_node("Relu", ["a"], ["c"])], [])
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["v"], name="first", kernel_shape=[3, 3], auto_pad="VALID"),
            helper.make_node("If", ["c"], ["z"], then_branch=branch),
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

    def test_it_stands_alone(self) -> None:
        html = self.page(self.archive("w"))
        self.assertNotRegex(html, r"(?i)<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:")
        self.assertIn("prefers-color-scheme: dark", html)

    def test_names_are_text_and_no_markup(self) -> None:
        nodes = [helper.make_node(MARKUP, ["x"], ["y"], domain=MARKUP)]
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
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile", "--dump-dom"]
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
    command_line.main(__doc__)

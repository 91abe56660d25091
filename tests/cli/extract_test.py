"""Tensors as files: `extract`."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from support import command_line
from support import wire_writer as wire
from support.archives import linked, model_of, weights
from support.command_line import FORMAT, GIB, MIB, USAGE, ToolCase, run
from support.sites import SITES, at_every_site

# The type that NumPy reads, by the type of the tensor; types that it lacks are read as integers.
NUMPY = {
    "FLOAT": "<f4", "UINT8": "u1", "INT8": "i1", "UINT16": "<u2", "INT16": "<i2", "INT32": "<i4", "INT64": "<i8",
    "BOOL": "?", "FLOAT16": "<f2", "DOUBLE": "<f8", "UINT32": "<u4", "UINT64": "<u8", "COMPLEX64": "<c8",
    "COMPLEX128": "<c16",
}  # fmt: skip
INTEGERS = {"BFLOAT16": "<u2", "INT4": "i1", "INT2": "i1"}  # others: u1


def spread(data: bytes, kind: wire.DataType, count: int) -> np.ndarray:
    """Elements below 8 bits, the first in the lowest bits; of INT4 and INT2 with their sign."""
    per_byte = 8 // kind.bits
    mask = (1 << kind.bits) - 1
    values = [data[i // per_byte] >> kind.bits * (i % per_byte) & mask for i in range(count)]
    if kind.name.startswith("INT"):
        values = [value - (value >> kind.bits - 1 << kind.bits) for value in values]
    return np.array(values, np.int8 if kind.name.startswith("INT") else np.uint8)


class Extract(ToolCase):
    def extracted(self, model: Path, which: str, *options: object) -> np.ndarray:
        self.succeeds("extract", model, which, "-o", self.folder / "x.npy", "-f", "--no-sync", *options)
        return np.load(self.folder / "x.npy", allow_pickle=False)

    def test_every_type_in_every_encoding(self) -> None:
        count = 1013  # a prime, so that it is not a multiple of any block
        for label, encode in wire.ENCODINGS.items():
            kinds = wire.TYPES.values()
            model = self.model(*(wire.tensor(kind.name, kind, count, encode) for kind in kinds))
            self.succeeds("extract", model, "*", "-o", f"{self.folder / label}/", "--no-sync")
            for kind in kinds:
                with self.subTest(type=kind.name, encoding=label):
                    data = wire.content(kind, count, kind.name)
                    found = np.load(self.folder / label / f"{kind.name}.npy", allow_pickle=False)
                    if kind.bits < 8:
                        self.assertEqual(found.tolist(), spread(data, kind, count).tolist())
                        continue
                    expected = np.frombuffer(data, NUMPY.get(kind.name, INTEGERS.get(kind.name, "u1")))
                    self.assertEqual(found.dtype, expected.dtype)
                    self.assertEqual(found.tobytes(), expected.tobytes())

    def test_shapes(self) -> None:
        for dims in ([], [1], [300], [3, 100], [2, 0, 5], [1] * 300):
            count = int(np.prod(dims, dtype=int))
            data = wire.raw(wire.FLOAT, wire.content(wire.FLOAT, count, "w"))
            model = self.model(wire.fields_of("w", wire.FLOAT, dims, data if count else b""))
            with self.subTest(dims=dims):
                self.succeeds("extract", model, "w", "-o", self.folder / "x.npy", "-f", "--no-sync")
                with open(self.folder / "x.npy", "rb") as file:
                    version = np.lib.format.read_magic(file)
                    shape, order, dtype = np.lib.format.read_array_header_1_0(file)
                    self.assertEqual((version, shape, order, dtype), ((1, 0), tuple(dims), False, np.float32))
                    self.assertEqual(file.tell() % 64, 0)
                    self.assertEqual(file.read(), wire.content(wire.FLOAT, count, "w"))

    def test_raw(self) -> None:
        kind = wire.TYPES["INT4"]
        self.succeeds("extract", self.model(wire.tensor("w", kind, 33, wire.packed)), "w", "-o", self.output, "--raw")
        self.assertEqual(self.output.read_bytes(), wire.content(kind, 33, "w"))

    def test_every_form(self) -> None:
        source = self.model(wire.tensor("w"))
        archive, beside, text = (self.folder / name for name in ("a.onnxar", "beside.onnx", "t"))
        self.succeeds("pack", source, "-o", archive)
        self.succeeds("unpack", source, "-o", beside, "--external-data", "weights")
        self.succeeds("unpack", source, "-o", text, "--text")
        for path in (source, archive, beside, text):
            self.assertEqual(self.extracted(path, "w").tobytes(), wire.content(wire.FLOAT, 300, "w"), path)

    def test_every_site_by_its_path(self) -> None:
        model = self.write("m.onnx", wire.model(*at_every_site(wire.tensor, wire.FLOAT, 300, wire.raw)))
        archive = self.folder / "a.onnxar"
        self.succeeds("pack", model, "-o", archive, *command_line.ALL_SITES)
        listed = self.listing(archive)["entries"]
        self.assertGreaterEqual(len(listed), len(SITES))
        names = [entry["tensors"][0]["name"] for entry in listed]
        for entry in listed:
            data = archive.read_bytes()[entry["offset"] :][: entry["size"]]
            for path in (model, archive):
                self.assertEqual(self.extracted(path, entry["tensors"][0]["site"]).tobytes(), data)
            if names.count(entry["name"]) <= 1:  # else it is the name of several
                self.assertEqual(self.extracted(archive, entry["name"]).tobytes(), data)

    def test_name_takes_precedence_over_key(self) -> None:
        first = wire.fields_of("second", wire.FLOAT, [300], wire.DataFile("first").link(length=1200))
        second = wire.fields_of("other", wire.FLOAT, [300], wire.DataFile("second").link(length=1200))
        path = self.archive_of(*weights("first", "second"), model_of(first, second))
        self.assertEqual(self.extracted(path, "second").tobytes(), wire.content(wire.FLOAT, 300, "first"))
        self.assertEqual(self.extracted(path, "first").tobytes(), wire.content(wire.FLOAT, 300, "first"))
        self.assertEqual(self.extracted(path, "other").tobytes(), wire.content(wire.FLOAT, 300, "second"))

    def test_it_says_what_it_wrote(self) -> None:
        kind = wire.TYPES["BFLOAT16"]
        model = self.model(wire.fields_of("w", kind, [2, 3], wire.raw(kind, bytes(12))))
        told = self.succeeds("extract", model, "w", "-o", self.output).stderr
        expected = f"w: BFLOAT16[2,3] -> {self.output}, 140 bytes, <u2 (NumPy has no BFLOAT16: the file has its bits as integers)\n"
        self.assertEqual(told, expected)

    def test_a_tensor_larger_than_memory_allows(self) -> None:
        model = self.sparse(GIB)
        self.succeeds("extract", model, "w", "-o", self.output, "--raw", "--no-sync", tool=self.in_memory(64 * MIB))
        self.assertEqual(self.output.stat().st_size, GIB)


class Patterns(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        names = ("layer.0/weight", "layer.0/bias", "layer.1/weight", "LAYER.1/weight", "head")
        self.source = self.model(*map(wire.tensor, names))

    def written(self) -> list[str]:
        return sorted(path.name for path in self.output.iterdir())

    def test_into_a_folder_that_is_made(self) -> None:
        self.succeeds("extract", self.source, "layer.*/weight", "-o", f"{self.output}/")
        self.assertEqual(self.written(), ["layer_0_weight.npy", "layer_1_weight.npy"])
        found = np.load(self.output / "layer_1_weight.npy")
        self.assertEqual(found.tobytes(), wire.content(wire.FLOAT, 300, "layer.1/weight"))

    def test_a_name_that_looks_like_a_pattern(self) -> None:
        source = self.model(wire.tensor("w[0]*"), wire.tensor("w0"), name="odd.onnx")
        self.succeeds("extract", source, "w[0]*", "-o", self.output, "--raw")
        self.assertEqual(self.output.read_bytes(), wire.content(wire.FLOAT, 300, "w[0]*"))

    def test_a_folder_is_needed(self) -> None:
        self.fails(USAGE, "onnxar: error[usage.argument]", "extract", self.source, "layer*", "-o", self.output)

    def test_nothing_matches(self) -> None:
        self.fails(USAGE, "onnxar: error[usage.no_such_tensor]", "extract", self.source, "x*", "-o", f"{self.output}/")

    def test_one_that_cannot_be_written_leaves_nothing(self) -> None:
        without_data = wire.head(wire.FLOAT, [3]) + wire.block(wire.NAME, "empty")
        source = self.model(wire.tensor("a"), without_data, name="mixed.onnx")
        self.fails(FORMAT, "onnxar: error[onnx.tensor.no_data]", "extract", source, "*", "-o", f"{self.output}/")
        self.output.mkdir()
        self.write("out/layer_0_bias.npy", b"mine")
        self.fails(USAGE, "onnxar: error[output.exists]", "extract", self.source, "*", "-o", self.output)

    def test_pattern_skips_strings_with_a_warning(self) -> None:
        source = self.model(wire.strings("words"), wire.tensor("a"), name="mixed.onnx")
        for number, options in enumerate(((), ("--raw",))):
            folder = self.folder / f"to{number}"
            told = self.succeeds("extract", source, "*", "-o", f"{folder}/", *options).stderr
            self.assertIn("onnxar: warning: words holds strings, which have no array", told)
            self.assertEqual([path.stem for path in folder.iterdir()], ["a"])
        self.assertEqual(self.succeeds("extract", source, "*", "-o", f"{folder}/", "-f", "-q").stderr, "")
        for which in ("w*", "words"):  # nothing else is wanted
            self.fails(FORMAT, "onnxar: error[onnx.tensor.strings]", "extract", source, which, "-o", f"{self.output}/")

    def test_a_dry_run(self) -> None:
        with self.nothing_changes():
            told = self.succeeds("extract", self.source, "*", "-o", f"{self.output}/", "-n").stderr
        self.assertIn("layer_0_bias.npy", told)

    def test_empty_output_is_refused_also_in_a_dry_run(self) -> None:
        for which in ("layer.*", "layer.0/weight"):
            for options in ((), ("-n",)):
                with self.subTest(which=which, options=options), self.nothing_changes():
                    told = "onnxar: error[usage.argument] --output was given an empty value"
                    self.fails(USAGE, told, "extract", self.source, which, "-o", "", *options)


class Outputs(ToolCase):
    """The tensor of a Constant node is also found by the name of the node's output."""

    def constants(self, *tensors: bytes) -> Path:
        nodes = [wire.node("Constant", wire.attribute(wire.T, each)) for each in tensors]
        body = b"".join(wire.block(wire.GRAPH_NODE, each) for each in nodes)
        return self.write("m.onnx", wire.model(wire.Part(body), wire.Part(wire.initializers(wire.tensor("w")))))

    def forms(self, model: Path) -> list[Path]:
        archive = self.folder / "m.onnxar"
        self.succeeds("pack", model, "-f")
        return [model, archive]

    def test_constant_is_found_by_its_output(self) -> None:
        for name in ("", "named"):
            for model in self.forms(self.constants(wire.tensor(name, seed="c"))):
                for which in ("out", "o?t"):
                    self.succeeds("extract", model, which, "-o", f"{self.folder / 'x'}/", "-f")
                    (path,) = (self.folder / "x").iterdir()
                    self.assertEqual(path.name, f"{name or 'out'}.npy")
                    self.assertEqual(np.load(path).tobytes(), wire.content(wire.FLOAT, 300, "c"))
                    path.unlink()

    def test_name_and_key_take_precedence_over_output(self) -> None:
        model = self.constants(wire.tensor("w", seed="c"))
        archive = self.archive_of(*weights("out"), model_of(linked("other", location="out")), name="k.onnxar")
        self.succeeds("extract", model, "w", "-o", self.output)
        self.assertEqual(np.load(self.output).tobytes(), wire.content(wire.FLOAT, 300, "w"))
        self.succeeds("extract", archive, "out", "-o", self.output, "-f")
        self.assertEqual(np.load(self.output).tobytes(), wire.content(wire.FLOAT, 300, "out"))

    def test_several_outputs_of_one_name_are_ambiguous(self) -> None:
        model = self.constants(wire.tensor("a"), wire.tensor("b"))
        told = self.fails(USAGE, "onnxar: error[usage.ambiguous_tensor]", "extract", model, "out", "-o", self.output)
        self.assertIn("graph.node[1].attr.value", told)

    def test_ls_and_show_name_the_output(self) -> None:
        model, archive = self.forms(self.constants(wire.tensor("")))
        rows = self.succeeds("ls", archive, "out").stdout.decode().splitlines()
        self.assertEqual((len(rows), rows[1].split()[1]), (3, "out"))
        (entry,) = [each for each in self.listing(archive)["entries"] if each["tensors"][0]["output"]]
        self.assertEqual((entry["tensors"][0]["name"], entry["tensors"][0]["output"]), ("", "out"))
        self.assertIn("out FLOAT[300]", self.succeeds("show", model).stdout.decode())

    def test_node_with_many_attributes_is_read_once(self) -> None:
        attribute = wire.attribute(wire.T, wire.fields_of("", wire.FLOAT, [0], b""))
        nodes = {count: wire.block(wire.GRAPH_NODE, wire.node("Constant", *[attribute] * count)) for count in (5_000, 80_000)}
        seconds = {}
        for count, body in nodes.items():
            model = self.write("many.onnx", wire.model(wire.Part(body)))
            begin = time.monotonic()
            self.succeeds("show", "--json", model)
            seconds[count] = time.monotonic() - begin
        self.assertLess(seconds[80_000], 0.5 + 64 * seconds[5_000])  # 256 times as long if each read the node


class Refusals(ToolCase):
    def refused(self, exit_code: int, code: str, model: Path, which: str, *options: object) -> str:
        return self.fails(exit_code, f"onnxar: error[{code}] {model}", "extract", model, which, "-o", self.output, *options)

    def test_a_missing_name_suggests_near_ones(self) -> None:
        model = self.model(*map(wire.tensor, ("encoder.weight", "encoder.bias", "decoder.weight", "x" * 300)))
        told = self.refused(USAGE, "usage.no_such_tensor", model, "encodr.weight")
        self.assertIn('near names: "encoder.weight", "decoder.weight"\n', told)
        self.assertNotIn("near", self.refused(USAGE, "usage.no_such_tensor", model, "nothing like it"))
        self.assertIn('"encoder.bias"', self.refused(USAGE, "usage.no_such_tensor", model, "bias"))
        self.refused(USAGE, "usage.no_such_tensor", model, "")

    def test_candidates_of_an_ambiguous_name(self) -> None:
        body = wire.model(wire.Part(wire.initializers(wire.tensor("w"), wire.tensor("w"))), SITES["t"](wire.tensor("w")))
        told = self.refused(USAGE, "usage.ambiguous_tensor", self.write("m.onnx", body), "w")
        self.assertIn("2 tensors match \"w\"; name one of them by its site: graph.initializer[0], graph.initializer[1]\n", told)

    def test_only_the_data_that_is_asked_for_is_needed(self) -> None:
        model = self.model(linked("gone", location="gone.bin"), wire.tensor("here"))
        self.succeeds("extract", model, "here", "-o", self.output)
        done = run("extract", model, "gone", "-o", self.folder / "gone.npy")
        self.assertIn("error[onnx.external_data.missing]", done.stderr)
        self.assertFalse((self.folder / "gone.npy").exists())

    def test_tensors_without_raw_bytes(self) -> None:
        model = self.model(wire.strings("s"), wire.head(wire.FLOAT, [3]) + wire.block(wire.NAME, "empty"),
                           wire.tensor("later", wire.DataType("LATER", 99, 8, 0, "B"), 20),
                           wire.fields_of("few", wire.FLOAT, [9], wire.packed(wire.FLOAT, bytes(8))))  # fmt: skip
        self.refused(FORMAT, "onnx.tensor.strings", model, "s")
        self.refused(FORMAT, "onnx.tensor.no_data", model, "empty")
        self.assertIn("--raw", self.refused(FORMAT, "onnx.tensor.not_converted", model, "later"))
        self.refused(FORMAT, "onnx.tensor.length", model, "few")
        self.succeeds("extract", model, "later", "-o", self.output, "--raw")
        self.assertEqual(self.output.stat().st_size, 20)

    def test_damaged_data(self) -> None:
        path = self.archive("w", "v")
        data = bytearray(path.read_bytes())
        data[64] ^= 1
        path.write_bytes(data)
        self.fails(FORMAT, "onnxar: error[zip.data.crc]", "extract", path, "w", "-o", self.output)
        self.succeeds("extract", path, "v", "-o", self.output)


if __name__ == "__main__":
    command_line.main()

"""Models as text: `dump`, `unpack --text`, and every verb that reads text."""

from __future__ import annotations

import json
import os
import struct
import subprocess

from google.protobuf import text_format

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import DONE, FORMAT, FOUND, IO, USAGE, ToolCase, run
from support.sites import at_every_site

LARGE = 4096  # bytes


def parsed(text: bytes) -> walk.Message:
    """By Python's protobuf, with the schema of the onnx package."""
    return text_format.Parse(text, walk.Model())


def every_byte() -> bytes:
    """A tensor with every byte value, in an order that puts a digit after each of them."""
    data = bytes(value for byte in range(256) for value in (byte, ord("7"))) * 4
    return wire.fields_of("bytes", wire.UINT8, [len(data)], wire.raw(wire.UINT8, data))


class Dump(ToolCase):
    def dumped(self, path: object, *options: object) -> bytes:
        return self.succeeds("dump", "-q", path, *options).stdout

    def sample(self) -> bytes:
        """Every type at every site, in every encoding, small and large."""
        kinds = [*wire.TYPES.values()]
        tensors = [
            wire.tensor(f"{kind.name}_{label}_{count}", kind, count, encode)
            for kind in kinds
            for label, encode in (("raw", wire.raw), ("packed", wire.packed))
            for count in (3, 5000)
        ]
        sites = at_every_site(wire.tensor, wire.FLOAT, 700, wire.raw)
        model = wire.model(wire.Part(wire.initializers(*tensors, every_byte(), wire.strings("s"))), *sites)
        return walk.parse(model).SerializeToString()  # in the order that protobuf writes

    def test_text_is_what_protobuf_prints(self) -> None:
        """Exactly, so that two dumps can be compared line by line with those of other tools."""
        path = self.model(every_byte(), wire.tensor("small", wire.UINT8, 7))
        expected = text_format.MessageToString(walk.parse(path.read_bytes()))
        self.assertEqual(self.dumped(path, "--with-data").decode(), expected)

    def test_packed_text_is_the_packed_model(self) -> None:
        source = self.write("m.onnx", self.sample())
        expected, piped = self.folder / "expected", self.folder / "piped"
        for options in ((), ("--threshold", "0", "--all-sites")):
            self.succeeds("pack", source, "-o", expected, "-f", *options)
            text = self.dumped(source, "--with-data")
            self.succeeds("pack", "-", "-o", piped, "-f", *options, stdin=None, input=text)
            self.assertEqual(piped.read_bytes(), expected.read_bytes())
            self.assertEqual(self.dumped(expected, "--with-data"), self.dumped(piped, "--with-data"))

    def test_text_of_every_form_is_the_same(self) -> None:
        source = self.model(wire.tensor("a"), wire.tensor("b", wire.UINT8, LARGE))
        archive, beside, text = (self.folder / name for name in ("a.onnxar", "beside.onnx", "m.textproto"))
        self.succeeds("pack", source, "-o", archive)
        self.succeeds("unpack", archive, "-o", beside, "--external-data", "weights.bin")
        self.succeeds("unpack", archive, "-o", text, "--text")
        expected = self.dumped(source, "--with-data")
        self.assertEqual(text.read_bytes(), expected)
        for path in (archive, beside, text):
            self.assertEqual(self.dumped(path, "--with-data"), expected, path)

    def test_large_typed_fields_are_left_out(self) -> None:
        text = self.dumped(self.model(wire.tensor("w", wire.FLOAT, 1024, wire.packed)))
        self.assertIn(b"# raw_data: 4096 bytes, left out here", text)
        self.assertNotIn(b"float_data", text)

    def test_what_was_left_out_is_counted(self) -> None:
        done = self.succeeds("dump", self.model(wire.tensor("a"), wire.tensor("b"), wire.tensor("c", count=2)))
        self.assertEqual(done.stderr, "left out the data of 2 tensors; --with-data prints it\n")

    def test_dump_keeps_links_and_needs_no_data_files(self) -> None:
        path = self.model(linked("w", location="not/there.bin"))
        [tensor] = parsed(self.dumped(path)).graph.initializer
        self.assertEqual({pair.key: pair.value for pair in tensor.external_data}["location"], "not/there.bin")
        done = run("dump", "--with-data", path)
        self.assertEqual((done.returncode, done.stdout), (FORMAT, b""))
        self.assertIn("error[onnx.external_data.missing]", done.stderr)

    def test_names_cannot_command_a_terminal(self) -> None:
        text = self.dumped(self.model(wire.tensor(command_line.CONTROLS)))
        self.assertTrue(all(byte == 10 or 32 <= byte < 127 for byte in text))
        self.assertEqual(parsed(text).graph.initializer[0].name, command_line.CONTROLS)

    def test_weights_are_not_gathered_in_memory(self) -> None:
        size = 96 << 20
        done = self.succeeds(
            "dump", "--with-data", self.sparse(size), tool=self.in_memory(64 << 20), stdout=subprocess.DEVNULL
        )
        self.assertEqual(done.stderr, "")

    def test_omitted_side_files_are_reported(self) -> None:
        path = self.archive_of(*weights("w"), Entry("notes.txt", b"hello"), model_of(linked("w")))
        done = self.succeeds("dump", "--with-data", path)
        self.assertIn('note[onnx.text.loss] entry "notes.txt"', done.stderr)


class LeftOut(ToolCase):
    """A model from text whose data was left out: verbs that write it report what is missing."""

    def setUp(self) -> None:
        super().setUp()
        tensors = (wire.tensor("large", wire.UINT8, LARGE), wire.tensor("small", wire.UINT8, 9), wire.strings("words"))
        self.source = self.model(*tensors, wire.head(wire.FLOAT, [0]))
        self.text = self.write("m.textproto", self.succeeds("dump", "-q", self.source).stdout)
        self.remark = (
            'warning[onnx.tensor.no_data] tensor "large" (graph.initializer[0]): it has no data, and type UINT8 and the '
            f"dimensions call for {LARGE} bytes; `onnxar dump --with-data` prints them, `onnxar freeze --weights` fills "
        )

    def test_writers_say_so(self) -> None:
        for verb in ("pack", "unpack"):
            told = self.succeeds(verb, self.text, "-o", self.output, "-f").stderr
            self.assertTrue(told.startswith(f"onnxar: {self.remark}"), told)
            self.assertEqual(told.count("onnx.tensor.no_data"), 1)
        archive = self.archive("w")
        told = self.succeeds("replace", archive, self.text).stderr
        self.assertEqual(told.count(self.remark), 1, told)

    def test_what_is_whole_is_not_remarked_upon(self) -> None:
        self.assertNotIn("no_data", self.succeeds("pack", self.source, "-o", self.output).stderr)
        self.assertEqual(self.succeeds("check", "-q", self.source).stdout, b"")

    def test_check_finds_it(self) -> None:
        self.succeeds("pack", "-q", self.text, "-o", self.output)
        for path in (self.text, self.output):
            found = self.succeeds("check", path).stdout.decode()
            self.assertRegex(found, r"\Awarning\[onnx\.tensor\.no_data\] [^\n]*tensor \"large\" [^\n]*\n\Z")
            self.assertEqual(run("check", "--strict", "-q", path).returncode, FOUND)


class Losses(ToolCase):
    """Text reports what it cannot carry, and nothing else."""

    def warnings(self, model: bytes) -> str:
        return self.succeeds("dump", "--with-data", self.write("m.onnx", model)).stderr

    def test_nothing_to_say(self) -> None:
        quiet = struct.pack("<f", float("nan"))
        nan = wire.fields_of("nan", wire.FLOAT, [1], wire.block(wire.FLOAT_DATA, quiet))
        self.assertEqual(self.warnings(wire.plain(nan, wire.tensor("w"))), "")

    def test_unknown_fields(self) -> None:
        told = self.warnings(wire.plain(wire.tensor("w") + wire.block(7777, "later")) + wire.scalar(7778, 1))
        self.assertIn("2 messages have fields that the schema does not know", told)
        self.assertNotIn(b"7777", run("dump", "--with-data", "-q", self.folder / "m.onnx").stdout)

    def test_nans_with_a_payload_or_a_sign(self) -> None:
        for bits in (0x7FC00001, 0xFFC00000, 0x7F800001):
            data = wire.block(wire.FLOAT_DATA, struct.pack("<I", bits))
            told = self.warnings(wire.plain(wire.fields_of("nan", wire.FLOAT, [1], data)))
            self.assertIn("1 NaN in a typed field has a sign or a payload", told, hex(bits))

    def test_another_encoding(self) -> None:
        data = wire.raw(wire.FLOAT, bytes(8))
        told = self.warnings(wire.plain(data + wire.head(wire.FLOAT, [2])))
        self.assertIn("not in the order or encoding that protobuf writes", told)

    def test_shared_data(self) -> None:
        tied = wire.fields_of("tied", wire.FLOAT, [300], wire.DataFile("w").link(length=1200))
        path = self.archive_of(*weights("w"), model_of(linked("w"), tied))
        self.assertIn("1 tensor shares another tensor's data", self.succeeds("dump", "--with-data", path).stderr)


TEXT = b"""# A model that somebody wrote.
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  initializer { dims: 2 data_type: 1 name: "w" raw_data: "\\000\\000\\200?\\000\\000\\000@" }
  initializer { dims: 300 data_type: 1 name: "v" data_location: EXTERNAL
    external_data { key: "location" value: "v.bin" } }
}
"""


class Text(ToolCase):
    """Text is recognised by content, under any name, by every verb."""

    def setUp(self) -> None:
        super().setUp()
        self.data = wire.content(wire.FLOAT, 300, "v")
        self.write("home/v.bin", self.data)
        self.text = self.write("home/model", TEXT)

    def test_pack_reads_data_from_the_folder_of_the_text(self) -> None:
        self.succeeds("pack", self.text, "-o", self.output)
        self.assertEqual(command_line.entries_of(self.output)["v"], self.data)

    def test_data_of_stdin_is_in_the_working_folder(self) -> None:
        self.succeeds("pack", "-", "-o", self.output, stdin=None, input=TEXT, cwd=self.text.parent)
        self.assertEqual(command_line.entries_of(self.output)["v"], self.data)
        self.succeeds("pack", "-", "-o", self.output, "-f", "--data-dir", self.text.parent, stdin=None, input=TEXT)
        self.assertEqual(command_line.entries_of(self.output)["v"], self.data)

    def test_other_verbs(self) -> None:
        back = self.folder / "back.onnx"
        self.succeeds("unpack", self.text, "-o", back)
        w, v = walk.parse(back.read_bytes()).graph.initializer
        self.assertEqual((w.raw_data, v.raw_data), (struct.pack("<2f", 1, 2), self.data))
        self.succeeds("check", "--data", self.text)
        self.succeeds("extract", self.text, "v", "-o", self.folder / "v.npy")
        self.assertEqual((self.folder / "v.npy").read_bytes()[128:], self.data)
        self.assertEqual(json.loads(self.succeeds("show", "--json", self.text).stdout)["form"], "textproto")
        archive = self.folder / "a.onnxar"
        self.succeeds("pack", back, "-o", archive)
        self.succeeds("replace", archive, self.text, "--append-external")
        self.assertEqual(len(walk.parse(command_line.entries_of(archive)[command_line.MODEL]).graph.initializer), 2)

    def test_text_and_bytes_are_distinguished(self) -> None:
        for begin in (b"", b"\n\t # c\n\n", b"\xef\xbb\xbf", b'producer_name: "x"\n', b"graph{}", b"domain:'d'"):
            self.text.write_bytes(begin + (TEXT if begin != b"graph{}" else b""))
            with self.subTest(begin):
                self.succeeds("check", "-q", self.text)
        for model in (wire.plain(wire.tensor("w")), wire.block(2, "ir_version: 8 {") + wire.plain()):
            self.succeeds("unpack", self.write("m", model), "-o", self.output, "-f")
            self.assertEqual(self.output.read_bytes(), model)

    def refused(self, text: bytes, begins: str) -> None:
        self.text.write_bytes(text)
        for verb in (("pack", "-o", self.output), ("unpack", "-o", self.output), ("dump",), ("show",)):
            line = self.fails(FORMAT, f"onnxar: error[onnx.text.syntax] {self.text}: {begins}", verb[0], self.text, *verb[1:])
            self.assertNotIn("\x1b", line)
        done = run("check", self.text)
        self.assertEqual((done.returncode, done.stdout.decode()[:27]), (FOUND, "error[onnx.text.syntax] lin"))

    def test_syntax_errors_say_line_and_column(self) -> None:
        self.refused(b"ir_version: 8\ngraph {\n  nme: 'g'\n}\n", 'line 3, column 6: Message type "onnxar.schema.GraphProto"')
        self.refused(b"ir_version: 8\ngraph {", "line 2, column 8: ")
        self.refused(b"ir_version: 'eight'\n", "line 1, column 13: Expected integer")
        self.refused(b"grph { }\n", "line 1, column 6: Message type")
        self.refused(b"ir_version: 8\n" + b"# far behind\n" * 30 + b'graph { name: "\x1b[31m }', "line 32, column ")
        self.refused(b"ir_version: 8 ir_version: 9", "line 1, column 25: Non-repeated field")

    def test_depth_is_limited(self) -> None:
        deep = b"graph { " + b"node { attribute { g { " * 60 + b"} } } " * 60 + b"}"
        self.refused(deep, "line 1, column ")

    def test_text_without_a_graph(self) -> None:
        self.text.write_bytes(b"ir_version: 8\n")
        line = f"onnxar: error[onnx.model.invalid] {self.text}: this is not an ONNX model"
        self.fails(FORMAT, line, "pack", self.text, "-o", self.output)

    def test_standard_input_that_is_closed(self) -> None:
        done = run("pack", "-", "-o", self.output, preexec_fn=lambda: os.close(0))
        self.assertEqual(done.returncode, IO)
        self.assertIn("cannot read the standard input", done.stderr)

    def test_standard_input_of_other_forms(self) -> None:
        for source in (self.model(wire.tensor("w")), self.archive("w")):
            with open(source, "rb") as file:
                self.succeeds("unpack", "-", "-o", self.output, "-f", stdin=file)
            expected = self.folder / "expected"
            self.succeeds("unpack", source, "-o", expected, "-f")
            self.assertEqual(self.output.read_bytes(), expected.read_bytes())


class UnpackText(ToolCase):
    def test_text_output_is_not_replaced(self) -> None:
        path = self.archive("w")
        with self.nothing_changes():
            self.succeeds("unpack", path, "-o", self.output, "--text", "-n")
        self.write("out", b"mine")
        self.fails(USAGE, "onnxar: error[output.exists]", "unpack", path, "-o", self.output, "--text")

    def test_damaged_data_leaves_nothing_behind(self) -> None:
        path = self.archive("w")
        data = bytearray(path.read_bytes())
        data[64] ^= 1
        path.write_bytes(data)
        self.fails(FORMAT, "onnxar: error[zip.data.crc]", "unpack", path, "-o", self.output, "--text")

    def test_closed_pipe_is_an_error(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)  # before the tool begins: a short text would fit into the pipe, and be written
        with open(writing, "wb") as pipe:
            done = subprocess.run([os.environ["ONNXAR"], "dump", self.model()], stdout=pipe)
        self.assertNotEqual(done.returncode, DONE)


if __name__ == "__main__":
    command_line.main()

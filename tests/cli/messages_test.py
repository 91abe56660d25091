"""The messages of the command line: findings, names, and escaping."""

from __future__ import annotations

import json

from onnx import TensorProto, helper
from support import command_line
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import CONTROLS, DONE, FORMAT, FOUND, USAGE, ToolCase, entries_of, run

TURNED = "a\u202egnp.exe"  # a terminal shows what is after U+202E from right to left
NOT_ASCII = "größe 模型 \U0001f600"
ESCAPED = {
    TURNED: r"a\u202egnp.exe",
    NOT_ASCII: r"gr\u00f6\u00dfe \u6a21\u578b \U0001f600",
    CONTROLS: r"line\x0abreak \x1b[31mred\x07 \x7f \u0085 back\\slash gr\u00f6\u00dfe",
}


class Check(ToolCase):
    def test_quiet_it_prints_errors_only(self) -> None:
        entries = (*weights("w", "left"), model_of(linked("w"), linked("v")))
        done = run("check", "-q", self.archive_of(*entries))
        self.assertEqual((done.returncode, done.stderr), (FOUND, ""))
        self.assertRegex(done.stdout.decode(), r"\Aerror\[onnx\.external_data\.missing\][^\n]*\n\Z")

    def test_quiet_of_warnings_it_prints_nothing(self) -> None:
        path = self.archive_of(*weights("w", "left"), model_of(linked("w")))
        self.assertIn("warning[archive.entry.unused]", run("check", path).stdout.decode())
        done = run("check", "-q", path)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (DONE, b"", ""))
        strict = run("check", "-q", "--strict", path)
        self.assertEqual((strict.returncode, strict.stdout.count(b"\n")), (FOUND, 1))

    def test_check_warns_of_a_plain_model_named_onnxar(self) -> None:
        path = self.model(name="model.onnxar")
        done = run("check", path)
        self.assertEqual(done.returncode, DONE)
        self.assertEqual(run("check", "--strict", path).returncode, FOUND)
        expected = (
            "warning[archive.plain_model] this is a plain ModelProto, not an archive, but its name ends in .onnxar; "
            "`onnxar pack` makes an archive of it, or name it .onnx\n"
        )
        self.assertEqual(done.stdout.decode(), expected)
        self.succeeds("check", self.model(name="model.onnx"))
        self.succeeds("pack", path, "-o", self.output)


class Verbs(ToolCase):
    def test_a_word_that_is_not_a_verb_is_named(self) -> None:
        for word in ("pakc", "model.onnx", "a\x1b[2J"):
            done = run(word, "model.onnx")
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
            shown = word.replace("\x1b", "\\x1b")
            near = "; did you mean `pack`?" if word == "pakc" else ""
            line = f"onnxar: error[usage.argument] unknown verb `{shown}`{near}; `onnxar --help` lists the verbs\n"
            self.assertEqual(done.stderr, line)


class Numbers(ToolCase):
    def test_sizes_are_rounded_to_the_unit_that_they_reach(self) -> None:
        for size, text in ((1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
                           (999_999, "1.0 MB")):  # fmt: skip
            with self.subTest(size=size):
                path = self.model(wire.tensor("w", wire.UINT8, size))
                told = self.succeeds("pack", path, "-o", self.output, "-n", "--threshold", "0").stderr
                self.assertIn(f"would pack 1 tensor into 1 entry ({text})", told)


class LeftOut(ToolCase):
    """Entries that no tensor names are left out, with a note."""

    def old_archive(self, *names: str) -> object:
        entries = [Entry(name, bytes(1000)) for name in names]
        return self.archive_of(*entries, *weights("w"), Entry("notes.txt", b"hello"), model_of(linked("w")))

    def test_pack_names_the_entries_that_it_drops(self) -> None:
        told = self.succeeds("pack", self.old_archive("old", "older"), "-o", self.output).stderr
        line = "onnxar: note[archive.entry.unused] left out, as no tensor refers to them: "
        self.assertTrue(told.startswith(line + 'the entries "old", "older" (1.95 KiB (2000 bytes))\n'), told)
        self.assertEqual(list(entries_of(self.output)), ["w", "notes.txt", "__MODEL_PROTO"])

    def test_unpack_and_dry_runs_name_dropped_entries(self) -> None:
        path = self.old_archive("old")
        self.assertIn('the entry "old"', self.succeeds("pack", path, "-o", self.output, "-n").stderr)
        for form in ((), ("--external-data", "w.bin"), ("--text",)):
            with self.subTest(form=form):
                self.assertIn('the entry "old"', self.succeeds("unpack", path, "-o", self.output, "-f", *form).stderr)

    def test_many_are_counted(self) -> None:
        names = [f"old{number}" for number in range(50)]
        told = self.succeeds("pack", self.old_archive(*names), "-o", self.output).stderr
        self.assertIn('"old0", "old1", ', told)
        self.assertIn(" and 40 more (", told)
        self.assertNotIn('"old10"', told)

    def test_dropped_entries_are_reported_first(self) -> None:
        inline = (wire.fields_of(f"t{number}", wire.FLOAT, [300], wire.packed(wire.FLOAT, bytes(1204))) for number in range(20))
        path = self.archive_of(Entry("old", bytes(10)), model_of(*inline))
        told = self.succeeds("pack", path, "-o", self.output).stderr
        self.assertIn("more (-v shows them)", told)
        self.assertIn('the entry "old"', told.splitlines()[0])


class Json(ToolCase):
    """Output is ASCII for any name."""

    def ascii(self, *command: object) -> str:
        done = run(*command)
        self.assertTrue(done.stdout.isascii(), done.stdout)
        return json.dumps(json.loads(done.stdout), ensure_ascii=False)

    def named(self, name: str, file: str = "m.onnx") -> object:
        node = helper.make_node("Identity", [name], ["y"], name=name)
        value = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        weight = TensorProto(name=name, data_type=1, dims=[300], raw_data=bytes(1200))
        model = helper.make_model(helper.make_graph([node], name, [], [value], [weight]), producer_name=name)
        return self.write(file, model.SerializeToString())

    def test_of_every_verb_that_prints_it(self) -> None:
        for name in (NOT_ASCII, TURNED):
            model, other = self.named(name), self.named("w", "other.onnx")
            archive = self.folder / "a.onnxar"
            self.succeeds("pack", model, "-o", archive, "-f")
            self.assertIn(name, self.ascii("ls", "--json", archive))
            self.assertIn(name, self.ascii("show", "--json", "--nodes", model))
            self.assertIn(name, self.ascii("diff", "--json", model, other))
            self.ascii("freeze", "--json", model, "-o", self.output, "-f")
            self.ascii("check", "--json", self.model(linked(name, location="gone.bin"), name="broken.onnx"))

    def test_paths_are_whole(self) -> None:
        folder = self.folder / NOT_ASCII
        folder.mkdir()
        path = self.packed(wire.tensor("w")).rename(folder / "a.onnxar")
        self.assertIn(NOT_ASCII, self.ascii("ls", "--json", path))

    def test_bytes_that_are_not_utf8_become_a_replacement(self) -> None:
        tensor = wire.head(wire.FLOAT, [300]) + wire.block(8, b"bad\xff\xfe") + wire.raw(wire.FLOAT, bytes(1200))
        done = self.succeeds("ls", "--json", self.packed(tensor))
        self.assertIn(rb'"bad\ufffd\ufffd"', done.stdout)


class Names(ToolCase):
    def lines_are_plain(self, text: str) -> None:
        self.assertTrue(text.isascii(), text)
        self.assertTrue(all(line.isprintable() for line in text.splitlines()), text)

    def test_are_escaped_in_listings(self) -> None:
        for name, escaped in ESCAPED.items():
            with self.subTest(name=name):
                model = self.model(wire.tensor(name))
                for command in (("show", model), ("ls", self.packed(wire.tensor(name)))):
                    text = self.succeeds(*command).stdout.decode()
                    self.assertIn(escaped, text)
                    self.lines_are_plain(text)
                self.assertIn(escaped, self.succeeds("extract", model, name, "-o", self.output, "-f").stderr)
                self.lines_are_plain(run("diff", model, self.model(name="other.onnx")).stdout.decode())

    def test_are_escaped_in_messages(self) -> None:
        for name, escaped in ESCAPED.items():
            with self.subTest(name=name):
                path = self.model(linked(name, location=name))
                for text in (run("check", path).stdout.decode(), run("pack", path, "-o", self.output).stderr):
                    self.assertEqual((text.count("\n"), text.count(escaped)), (1, 2), text)
                    self.lines_are_plain(text)

    def test_paths_keep_letters_but_not_direction_marks(self) -> None:
        path = self.model(name=f"{NOT_ASCII}.onnx")
        self.assertIn(NOT_ASCII, self.succeeds("check", path).stderr)
        self.assertIn(NOT_ASCII, run("check", f"{path}.none").stderr)
        told = run("ls", self.folder / TURNED).stderr
        self.assertIn(r"a\u202egnp.exe", told)

    def test_long_ones_are_cut_in_messages(self) -> None:
        name = "n" * 1_000_000
        cut = f'"{"n" * 200}..." (1000000 bytes)'
        path = self.model(linked(name, location=name))
        found = run("check", path).stdout.decode()
        self.assertEqual(found.count(cut), 2)  # tensor and data file
        self.assertLess(len(found), 1000)
        self.assertLess(len(run("pack", path, "-o", self.output).stderr), 1000)
        path = self.archive_of(model_of(linked(name, location=name)))
        found = run("check", path).stdout.decode()
        self.assertEqual(found.count(cut), 2)
        self.assertLess(len(found), 1000)
        strings = self.model(wire.strings(name), name="strings.onnx")
        self.assertIn(cut, run("extract", strings, "graph.initializer[0]", "-o", self.output).stderr)


class Strings(ToolCase):
    def test_extract_names_the_tensor_and_the_place(self) -> None:
        tensor = wire.strings("words")
        path = self.model(wire.tensor("w"), tensor)
        at = path.read_bytes().index(tensor)
        line = f'onnxar: error[onnx.tensor.strings] {path}: at 0x{at:x}: tensor "words" (graph.initializer[1]): it holds strings'
        for options in ((), ("--raw",)):
            self.fails(FORMAT, line, "extract", path, "words", "-o", self.output, *options)

    def test_archive_names_the_tensor_and_the_place(self) -> None:
        tensor = wire.strings("words")
        path = self.packed(wire.tensor("w"), tensor)
        at = path.read_bytes().index(tensor)
        line = f'onnxar: error[onnx.tensor.strings] {path}: entry "__MODEL_PROTO" at 0x{at:x}: tensor "words"'
        self.fails(FORMAT, line, "extract", path, "words", "-o", self.output)


class BadValues(ToolCase):
    """Tensors with an error of `check` are not handed out, but packed with a warning."""

    def test_tensor_without_type_is_packed_with_a_warning(self) -> None:
        untyped = wire.scalar(1, 300) + wire.block(8, "t") + wire.raw(wire.FLOAT, bytes(1200))
        path = self.model(untyped)
        self.fails(FORMAT, f"onnxar: error[onnx.tensor.no_type] {path}: at 0x", "extract", path, "t", "-o", self.output, "--raw")
        told = self.succeeds("pack", path, "-o", self.output).stderr
        self.assertIn("warning[onnx.tensor.no_type]", told)
        again = self.succeeds("pack", self.output, "-o", self.folder / "again").stderr
        self.assertIn("warning[onnx.tensor.no_type]", again)


class DefaultDomain(ToolCase):
    """Some exporters write `ai.onnx` for the empty domain."""

    def batch_normalization(self, domain: str) -> object:
        names = ("scale", "bias", "mean", "variance")
        nodes = [
            helper.make_node("BatchNormalization", ["x", *names], ["y"], domain=domain),
            helper.make_node("Gemm", ["y", "w"], ["z"], domain=domain),
        ]
        weights = [TensorProto(name=name, data_type=1, dims=[4], raw_data=bytes(16)) for name in names]
        weights.append(TensorProto(name="w", data_type=1, dims=[4, 8], raw_data=bytes(128)))
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
        got = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
        model = helper.make_model(helper.make_graph(nodes, "g", [given], [got], weights))
        model.opset_import[0].domain = domain
        return self.write(f"{domain}.onnx", model.SerializeToString())

    def shown(self, domain: str) -> dict:
        document = json.loads(self.succeeds("show", "--json", "--nodes", self.batch_normalization(domain)).stdout)
        return {key: value for key, value in document.items() if key not in ("path", "file_size", "files", "storage")}

    def test_show_says_the_same_of_both_spellings(self) -> None:
        spelt = self.shown("ai.onnx")
        self.assertEqual(spelt, self.shown(""))
        self.assertEqual(spelt["parameters"], 8 + 32)
        self.assertEqual(spelt["cost"]["multiply_adds"], 2 * 4 * 8)
        self.assertEqual({each["domain"] for each in spelt["nodes"]}, {""})
        self.assertNotEqual(spelt, self.shown("com.other"))


if __name__ == "__main__":
    command_line.main()

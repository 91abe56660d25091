"""Side files and models of many files: what `pack --add` takes in, what `unpack` lays down.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests side_files_test.py
"""

from __future__ import annotations

import resource

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import IO, USAGE, Fault, ToolCase, entries_of, keys_of, snapshot


class Adding(ToolCase):
    """`pack --add NAME=FILE`."""

    def test_added_files_are_entries_behind_the_weights(self) -> None:
        words = self.write("words.txt", b"a b c")
        empty = self.write("empty", b"")
        path = self.packed(wire.tensor("w"), options=("--add", f"tokenizer.json={words}", "--add", f"docs/empty.txt={empty}"))
        self.assertEqual(keys_of(path), ["w", "tokenizer.json", "docs/empty.txt"])
        self.assertEqual(entries_of(path)["tokenizer.json"], b"a b c")
        self.assertEqual(entries_of(path)["docs/empty.txt"], b"")
        self.succeeds("check", "--data", "--strict", path)

    def test_name_may_hold_an_equals_sign_in_the_file_alone(self) -> None:
        file = self.write("a=b", b"text")
        path = self.packed(options=("--add", f"a.txt={file}"))
        self.assertEqual(entries_of(path)["a.txt"], b"text")

    def test_added_file_replaces_one_of_the_same_name(self) -> None:
        old = self.archive_of(*weights("w"), Entry("a.txt", b"old"), Entry("b.txt", b"kept"), model_of(linked("w")))
        new = self.write("new", b"new")
        self.succeeds("pack", old, "-o", self.output, "--add", f"a.txt={new}")
        self.assertEqual(keys_of(self.output), ["w", "a.txt", "b.txt"])
        self.assertEqual(entries_of(self.output)["a.txt"], b"new")

    def test_key_keeps_clear_of_an_added_folder(self) -> None:
        file = self.write("file", b"text")
        path = self.packed(wire.tensor("docs"), options=("--add", f"docs/a.txt={file}"))
        self.assertEqual(keys_of(path), ["docs_2", "docs/a.txt"])

    def test_bad_names(self) -> None:
        model, file = self.model(), self.write("file", b"text")
        for text in ("a.txt", "=file", "a.txt=", f"identifier={file}", f"__MODEL_PROTO={file}"):
            with self.subTest(text=text):
                self.fails(USAGE, "onnxar: error[usage.argument] ", "pack", model, "-o", self.output, "--add", text)
        for name in ("../a.txt", "/a.txt", "a//b.txt", "C:/a.txt", "a\\b.txt", "a;1.txt", "größe.txt", "a.", "nul.txt"):
            with self.subTest(name=name):
                fault = "onnxar: error[zip.name."
                self.fails(command_line.FORMAT, fault, "pack", model, "-o", self.output, "--add", f"{name}={file}")

    def test_file_that_is_missing_or_a_folder(self) -> None:
        model = self.model()
        (self.folder / "folder").mkdir()
        for name, code in (("none", "io.not_found"), ("folder", "io.not_a_file")):
            added = self.folder / name
            self.fails(IO, Fault(code).line(added), "pack", model, "-o", self.output, "--add", f"a.txt={added}")


class Restoring(ToolCase):
    """What `unpack` does with side files."""

    FILES = {"a.txt": b"first", "docs/deep/b.txt": b"second", "empty.txt": b""}

    def source(self) -> object:
        files = (Entry(name, data) for name, data in self.FILES.items())
        return self.archive_of(*weights("w"), *files, model_of(linked("w")))

    def test_side_files_lie_beneath_the_folder_of_the_output(self) -> None:
        source = self.source()
        for number, options in enumerate(((), ("--external-data", "weights.bin"), ("--per-tensor",))):
            folder = self.folder / str(number)
            folder.mkdir()
            self.succeeds("unpack", source, "-o", folder / "m.onnx", *options)
            for name, data in self.FILES.items():
                self.assertEqual((folder / name).read_bytes(), data)

    def test_target_that_exists_stops_all(self) -> None:
        source, target = self.source(), self.folder / "out" / "m.onnx"
        self.write("out/docs/deep/b.txt", b"mine")
        self.fails(USAGE, Fault("output.exists").line(self.folder / "out/docs/deep/b.txt"), "unpack", source, "-o", target)
        self.succeeds("unpack", source, "-o", target, "-f")
        self.assertEqual((target.parent / "docs/deep/b.txt").read_bytes(), b"second")

    def test_folder_that_is_a_file(self) -> None:
        source, target = self.source(), self.folder / "out" / "m.onnx"
        self.write("out/docs", b"a file")
        self.fails(USAGE, Fault("usage.argument").line(self.folder / "out/docs"), "unpack", source, "-o", target, "-f")

    def test_nothing_is_written_through_a_link(self) -> None:
        source, target = self.source(), self.folder / "out" / "m.onnx"
        (self.folder / "elsewhere" / "deep").mkdir(parents=True)
        self.write("elsewhere/file", b"old")
        for name, leads_to in (("docs", "elsewhere"), ("a.txt", "elsewhere/file"), ("docs/deep", "elsewhere/deep")):
            link = target.parent / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self.folder / leads_to)
            with self.subTest(name=name):
                self.fails(USAGE, Fault("usage.argument").line(link), "unpack", source, "-o", target, "-f")
            link.unlink()

    def test_output_of_a_side_files_name(self) -> None:
        fault = Fault("usage.argument").line(self.folder / "a.txt")
        self.fails(USAGE, fault, "unpack", self.source(), "-o", self.folder / "a.txt")
        self.fails(USAGE, fault, "unpack", self.source(), "-o", self.output, "--external-data", "a.txt")

    def test_dry_run_makes_no_folder(self) -> None:
        source = self.source()
        with self.nothing_changes():
            self.succeeds("unpack", source, "-o", self.output, "-n")

    def test_failure_leaves_no_folder(self) -> None:
        source = self.source()
        data = bytearray(source.read_bytes())
        data[data.index(b"second")] ^= 1
        source.write_bytes(data)
        with self.nothing_changes():
            self.assertEqual(command_line.run("unpack", source, "-o", self.output).returncode, command_line.FORMAT)


class PerTensor(ToolCase):
    """`unpack --per-tensor`."""

    def test_each_tensor_has_a_file_named_by_its_key(self) -> None:
        names = ["layer.0/w", "b", "B"]
        source = self.packed(*map(wire.tensor, names))
        folder = self.folder / "out"
        folder.mkdir()
        self.succeeds("unpack", source, "-o", folder / "m.onnx", "--per-tensor")
        self.assertEqual(set(snapshot(folder)), {"m.onnx", "layer_0_w", "b", "B_2"})
        model = walk.load(folder / "m.onnx")
        for tensor, name in zip(model.graph.initializer, names):
            self.assertEqual(tensor.raw_data, wire.content(wire.FLOAT, 300, name))

    def test_it_is_packed_again(self) -> None:
        model = self.model(wire.tensor("a"), wire.tensor("b"))
        archive = self.packed(wire.tensor("a"), wire.tensor("b"))
        files = self.folder / "files"
        files.mkdir()
        self.succeeds("unpack", archive, "-o", files / "m.onnx", "--per-tensor")
        self.succeeds("pack", files / "m.onnx", "-o", self.output)
        self.assertEqual(self.unpacked(self.output), model.read_bytes())

    def test_key_keeps_clear_of_the_output(self) -> None:
        source = self.packed(wire.tensor("out"))
        self.succeeds("unpack", source, "-o", self.output, "--per-tensor")
        self.assertEqual((self.folder / "out_2").read_bytes(), wire.content(wire.FLOAT, 300, "out"))

    def test_more_tensors_than_files_may_be_open(self) -> None:
        count, most = 300, 100
        source = self.packed(*(wire.tensor(f"w{i}", wire.UINT8, 1024) for i in range(count)))
        folder = self.folder / "out"
        folder.mkdir()
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.succeeds("unpack", source, "-o", folder / "m.onnx", "--per-tensor", preexec_fn=limit)
        self.assertEqual(len(snapshot(folder)), count + 1)

    def test_one_file_and_many_exclude_each_other(self) -> None:
        command = ("unpack", self.archive("w"), "-o", self.output, "--per-tensor", "--external-data", "x")
        with self.nothing_changes():
            self.assertEqual(command_line.run(*command).returncode, USAGE)

    def test_target_that_exists_stops_all(self) -> None:
        source = self.archive("a", "b")
        self.write("b", b"mine")
        self.fails(USAGE, Fault("output.exists").line(self.folder / "b"), "unpack", source, "-o", self.output, "--per-tensor")


class Over(ToolCase):
    """Writing over what is being read."""

    def test_data_file_that_is_read(self) -> None:
        model = self.model(wire.tensor("a"), wire.tensor("b"))
        before = model.read_bytes()
        command = ("unpack", model, "-o", model, "--external-data", "weights.bin", "-f")
        self.succeeds(*command)
        first = snapshot(self.folder)
        for _ in range(2):
            self.succeeds(*command)
            self.assertEqual(snapshot(self.folder), first)  # nothing is appended
        self.succeeds("pack", model, "-o", self.output)
        self.assertEqual(self.unpacked(self.output), before)

    def test_archive_that_is_read(self) -> None:
        path = self.packed(wire.tensor("a"))
        before = path.read_bytes()
        self.succeeds("pack", path, "-o", path, "-f")
        self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    command_line.main(__doc__)

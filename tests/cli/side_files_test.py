"""Side files and models of many files: `pack --add` adds them, and `unpack` writes them."""

from __future__ import annotations

import fcntl
import os
import resource
import zipfile
from pathlib import Path

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

    # The name in the archive may not contain one.
    def test_file_name_may_contain_an_equals_sign(self) -> None:
        file = self.write("a=b", b"text")
        path = self.packed(options=("--add", f"a.txt={file}"))
        self.assertEqual(entries_of(path)["a.txt"], b"text")

    def test_added_file_replaces_one_of_the_same_name(self) -> None:
        old = self.archive_of(*weights("w"), Entry("a.txt", b"old"), Entry("b.txt", b"kept"), model_of(linked("w")))
        new = self.write("new", b"new")
        self.succeeds("pack", old, "-o", self.output, "--add", f"a.txt={new}")
        self.assertEqual(keys_of(self.output), ["w", "a.txt", "b.txt"])
        self.assertEqual(entries_of(self.output)["a.txt"], b"new")

    def test_bad_names(self) -> None:
        model, file = self.model(), self.write("file", b"text")
        for text in ("a.txt", "=file", "a.txt=", f"identifier={file}", f"__MODEL_PROTO={file}"):
            with self.subTest(text=text):
                self.fails(USAGE, "onnxar: error[usage.argument] ", "pack", model, "-o", self.output, "--add", text)
        fault = "onnxar: error[zip.name.part]"
        self.fails(command_line.FORMAT, fault, "pack", model, "-o", self.output, "--add", f"../a.txt={file}")

    def test_file_that_is_missing_or_a_folder(self) -> None:
        model = self.model()
        (self.folder / "folder").mkdir()
        for name, code in (("none", "io.not_found"), ("folder", "io.not_a_file")):
            added = self.folder / name
            self.fails(IO, Fault(code).line(added), "pack", model, "-o", self.output, "--add", f"a.txt={added}")


class SideFilesCase(ToolCase):
    """An archive with side files."""

    FILES = {"a.txt": b"first", "docs/deep/b.txt": b"second", "empty.txt": b"", ".ssh/authorized_keys": b"a key"}

    def setUp(self) -> None:
        super().setUp()
        files = (Entry(name, data) for name, data in self.FILES.items())
        self.source = self.archive_of(*weights("w"), *files, model_of(linked("w")))
        self.into = self.folder / "new"

    def files_in(self, folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class ToAFolder(SideFilesCase):
    """`unpack -o FOLDER/`"""

    def test_folder_that_is_made_takes_everything(self) -> None:
        alone = self.unpacked(self.source)
        self.succeeds("unpack", self.source, "-o", f"{self.into}/")
        self.assertEqual(self.files_in(self.into), self.FILES | {"made.onnx": alone})

    def test_empty_folder_that_is_there_takes_everything(self) -> None:
        self.into.mkdir()
        told = self.succeeds("unpack", self.source, "-o", f"{self.into}/").stderr
        self.assertIn("with 4 side files", told)
        self.assertIn(f"{self.into}/made.onnx", told)
        self.assertLessEqual(self.FILES.items(), self.files_in(self.into).items())

    def test_data_files_are_in_the_folder(self) -> None:
        for expected, options in (("weights.bin", ("--external-data", "weights.bin")), ("w", ("--per-tensor",))):
            folder = self.folder / f"with_{expected}"
            self.succeeds("unpack", self.source, "-o", f"{folder}/", *options)
            self.assertEqual(set(self.files_in(folder)), {*self.FILES, "made.onnx", expected})
            self.succeeds("check", "--data", folder / "made.onnx")

    def test_text_is_in_the_folder(self) -> None:
        self.succeeds("unpack", self.source, "-o", f"{self.into}/", "--text")
        self.assertEqual(set(self.files_in(self.into)), {*self.FILES, "made.textproto"})

    def test_model_of_the_standard_input_has_a_plain_name(self) -> None:
        with open(self.source, "rb") as piped:
            self.succeeds("unpack", "-", "-o", f"{self.into}/", stdin=piped)
        self.assertEqual(set(self.files_in(self.into)), {*self.FILES, "model.onnx"})

    def test_data_too_large_for_a_model_is_beside_it(self) -> None:
        self.with_64_bits()
        model = self.sparse(2 << 30)
        told = self.succeeds("unpack", "-n", model, "-o", f"{self.into}/").stderr
        self.assertIn("in model.onnx.data", told)

    def test_nonempty_folder_is_refused_even_with_force(self) -> None:
        line = Fault("output.not_empty").line(self.into)
        for name in ("mine.txt", ".hidden"):
            self.write(f"new/{name}", b"mine")
            for options in ((), ("-f",), ("-n",)):
                with self.nothing_changes():
                    self.fails(USAGE, line, "unpack", self.source, "-o", f"{self.into}/", *options)
            (self.into / name).unlink()

    def test_existing_folder_needs_no_slash(self) -> None:
        self.into.mkdir()
        self.succeeds("unpack", self.source, "-o", self.into)
        self.assertEqual(set(self.files_in(self.into)), {*self.FILES, "made.onnx"})
        self.fails(USAGE, Fault("output.not_empty").line(self.into), "unpack", self.source, "-o", self.into)

    def test_file_of_that_name_is_refused(self) -> None:
        self.write("new", b"a file")
        self.fails(IO, Fault("io.not_a_file").line(self.into), "unpack", self.source, "-o", f"{self.into}/")

    def test_failure_leaves_no_folder(self) -> None:
        data = bytearray(self.source.read_bytes())
        data[data.index(b"second")] ^= 1
        self.source.write_bytes(data)
        with self.nothing_changes():
            done = command_line.run("unpack", self.source, "-o", f"{self.into}/")
            self.assertEqual(done.returncode, command_line.FORMAT)

    def test_more_folders_than_files_may_be_open(self) -> None:
        names = [f"{i}/{i}/file" for i in range(110)]
        source = self.archive_of(*weights("w"), *(Entry(name, b"") for name in names), model_of(linked("w")))
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        self.succeeds("unpack", source, "-o", f"{self.into}/", preexec_fn=limit)
        self.assertEqual(set(self.files_in(self.into)), {"made.onnx", *names})


class ToAFile(SideFilesCase):
    """`unpack -o FILE`"""

    def test_side_files_are_left_out_and_counted(self) -> None:
        folder = self.folder / "home"
        for number, options in enumerate(((), ("--external-data", "weights.bin"), ("--per-tensor",), ("--text",))):
            folder.mkdir()
            told = self.succeeds("unpack", self.source, "-o", folder / "m.onnx", *options).stderr
            self.assertIn("4 side files of the archive left out; `-o FOLDER/` restores everything", told)
            self.assertEqual(set(self.files_in(folder)) - {"weights.bin", "w"}, {"m.onnx"})
            folder.rename(self.folder / str(number))

    def test_no_remark_without_side_files_or_if_quiet(self) -> None:
        self.assertNotIn("left out", self.succeeds("unpack", self.archive("w"), "-o", self.output).stderr)
        self.assertEqual(self.succeeds("unpack", "-q", "-f", self.source, "-o", self.output).stderr, "")


class Links(ToolCase):
    """Symbolic links at the output."""

    def test_link_of_another_user_in_sticky_folder_fails(self) -> None:
        self.on_posix("Wine 8 shows no symbolic links")
        if os.geteuid() != 0:
            self.skipTest("only root can lay the link of another user")
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        target, link = self.write("target", b"precious"), shared / "out"
        link.symlink_to(target)
        os.chown(link, 12345, 12345, follow_symlinks=False)
        source = self.archive("w")
        for verb in ("unpack", "pack", "repack"):
            self.fails(IO, Fault("io.permission").line(link), verb, source, "-o", link, "-f")
        self.assertEqual(target.read_bytes(), b"precious")
        os.chown(link, 0, 0, follow_symlinks=False)
        self.succeeds("unpack", source, "-o", link, "-f")
        self.assertNotEqual(target.read_bytes(), b"precious")

    def test_inflating_avoids_existing_names(self) -> None:
        with zipfile.ZipFile(self.folder / "model.zip", "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("model.onnx", self.model().read_bytes())
        (self.folder / ".onnxar_inflated").mkdir()
        self.succeeds("pack", self.folder / "model.zip", "-o", self.output)


class PerTensor(ToolCase):
    """`unpack --per-tensor`."""

    def test_each_tensor_has_a_file_named_by_its_key(self) -> None:
        names = ["layer.0/w", "b", "B", "m"]
        source = self.packed(*map(wire.tensor, names))
        folder = self.folder / "out"
        folder.mkdir()
        self.succeeds("unpack", source, "-o", folder / "m", "--per-tensor")
        self.assertEqual(set(snapshot(folder)), {"m", "layer_0_w", "b", "B_2", "m_2"})
        model = walk.load(folder / "m")
        for tensor, name in zip(model.graph.initializer, names):
            self.assertEqual(tensor.raw_data, wire.content(wire.FLOAT, 300, name))

    def test_more_tensors_than_files_may_be_open(self) -> None:
        count, most = 110, 100
        source = self.packed(*(wire.tensor(f"w{i}", wire.UINT8, 1024) for i in range(count)))
        folder = self.folder / "out"
        folder.mkdir()
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.succeeds("unpack", source, "-o", folder / "m.onnx", "--per-tensor", preexec_fn=limit)
        self.assertEqual(len(snapshot(folder)), count + 1)

    def test_one_data_file_and_many_cannot_be_combined(self) -> None:
        command = ("unpack", self.archive("w"), "-o", self.output, "--per-tensor", "--external-data", "x")
        with self.nothing_changes():
            self.assertEqual(command_line.run(*command).returncode, USAGE)


class Over(ToolCase):
    """The output replaces the input."""

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

    def test_archive_locked_by_a_reader_is_replaced(self) -> None:
        path = self.packed(wire.tensor("a"))
        with open(path, "rb") as reader:
            fcntl.flock(reader, fcntl.LOCK_SH)
            self.succeeds("pack", path, "-o", path, "-f")


if __name__ == "__main__":
    command_line.main()

"""--dry-run: accepts and refuses what the run does, and writes nothing. A run that refuses does so before it writes."""

from __future__ import annotations

import resource
from collections.abc import Iterator

from support import command_line
from support import wire_writer as wire
from support.archives import linked, model_of, weights
from support.command_line import Done, ToolCase, run, snapshot

NAMES = (
    "new.txt", "x.txt", "X.TXT", "x.txt/y", "w", "w.onnx", "W.onnx", "g.onnx", "G.onnx", "__MODEL_PROTO", "__model_proto", "__model_proto/x",
    "__Foo.txt", "a/../b", "/abs", "a//b", "con.txt", "a b ", "a:b", "é.txt", "p.onnxar", "p.onnx", ".onnx", "d/e.onnx", "x" * 256, "x" * 255, "",
)  # fmt: skip
GRAPHS = ("a.onnx", "junk.onnx", "empty", "external.onnx", "skeleton.onnx", "moved.onnx", "link.onnx", "p.onnxar", "folder", "missing")
OUTPUTS = ("o.onnxar", "x", "folder", "folder/", "missing/o", "missing/o/", "x/", "p.onnxar", "x" * 256, "x" * 256 + "/")
CONTRADICTIONS = (
    ("--add", "x.txt=x", "--remove", "x.txt"), ("--add", "n.txt=x", "--remove", "n.txt"), ("--remove", "x.txt", "--remove", "x.txt"),
    ("--add", "x.txt=x", "--add", "x.txt=x"), ("--add", "n.txt=x", "--add", "n.txt=x"), ("--add", "g.onnx=a.onnx", "--remove", "g.onnx"),
    ("--model", "g", "--remove", "g.onnx"), ("--model", "g", "--add", "g.onnx=a.onnx"), ("--model", "n", "--remove", "n.onnx"),
)  # fmt: skip

Command = tuple[object, ...]


def named() -> Iterator[Command]:
    """Commands with a name for an entry or a file."""
    for name in NAMES:
        for verb in (("pack", "a.onnx", "-o", "o"), ("pack", "p.onnxar", "-o", "o"), ("replace", "p.onnxar"), ("replace", "p.onnxar", "a.onnx")):
            yield *verb, "--add", f"{name}=x"
            yield *verb, "--add", f"{name}=a.onnx"
        for verb in ("pack", "repack"):
            yield verb, "p.onnxar", "-o", "o", "--rename", f"x.txt={name}"
            yield verb, "p.onnxar", "-o", "o", "--rename", f"g.onnx={name}"
        yield "pack", "a.onnx", "-o", "o", "--graph", f"{name}=p.onnxar"
        yield "replace", "p.onnxar", "--remove", name
        yield "replace", "p.onnxar", "a.onnx", "--model", name
        yield "unpack", "p.onnxar", "-o", "u.onnx", "--external-data", name
        yield "unpack", "p.onnxar", "-o", "new/", "--external-data", name
        yield "link", "p.onnxar", "--model", name, "-o", "l.onnx"
        yield "freeze", "p.onnxar", "--model", name, "-o", "o"
        yield "extract", "p.onnxar", name, "-o", "o.npy"


def with_graphs() -> Iterator[Command]:
    """Commands with a file for a model or a graph."""
    for file in GRAPHS:
        for name in ("h.onnx", "g.onnx", "h.txt"):
            yield "pack", "a.onnx", "-o", "o", "--add", f"{name}={file}"
            yield "pack", "p.onnxar", "-o", "o", "--add", f"{name}={file}"
            yield "replace", "p.onnxar", "--add", f"{name}={file}"
            yield "replace", "p.onnxar", "a.onnx", "--add", f"{name}={file}"
            yield "replace", "p.onnxar", "--remove", "x.txt", "--add", f"{name}={file}"
        yield "pack", file, "-o", "o"
        yield "pack", "a.onnx", file, "-o", "o"
        yield "replace", "p.onnxar", file
        yield "replace", "p.onnxar", file, "--append-external"
        yield "replace", "p.onnxar", file, "--model", "g"
        yield "replace", "p.onnxar", file, "--model", "g", "--remove", "x.txt"


def with_outputs() -> Iterator[Command]:
    for output in OUTPUTS:
        for force in ((), ("--force",)):
            for verb in ("pack", "repack", "unpack", "link", "freeze"):
                yield verb, "p.onnxar", "-o", output, *force
            yield "unpack", "p.onnxar", "-o", output, "--per-tensor", *force
            yield "extract", "p.onnxar", "w", "-o", output, *force
            yield "extract", "p.onnxar", "*", "-o", output, *force
    for pair in (("q.t", "q.t"), ("q.t", "Q.t"), ("q", "q/r.t")):
        yield "replace", "p.onnxar", *(word for name in pair for word in ("--add", f"{name}=x"))
        yield "pack", "a.onnx", "-o", "o", *(word for name in pair for word in ("--add", f"{name}=x"))
    for options in CONTRADICTIONS:
        for model in ((), ("a.onnx",)):
            yield "replace", "p.onnxar", *model, *options
    yield "undo", "p.onnxar"
    yield "recover", "p.onnxar"
    yield "recover", "a.onnx"


class DryRun(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        graph = wire.plain(linked("w"))
        self.archive_of(*weights("w"), command_line.Entry("x.txt", b"x"), command_line.Entry("g.onnx", graph), model_of(linked("w")), name="p.onnxar")
        self.model(wire.tensor("w", count=301), name="a.onnx")
        data = wire.DataFile("data.bin")
        self.model(data.tensor("v"), name="external.onnx")
        self.write("data.bin", data.data)
        self.model(linked("w"), name="skeleton.onnx")
        self.model(wire.fields_of("w", wire.FLOAT, [1], data.link(location="x.txt", offset=0, length=1)), name="moved.onnx")
        for name, content in {"x": b"x", "empty": b"", "junk.onnx": b"junk" * 9, "folder/in": b""}.items():
            self.write(name, content)
        self.succeeds("link", "p.onnxar", "-o", "link.onnx", cwd=self.folder)

    def outcome(self, done: Done) -> tuple[int, str]:
        """Exit code, and code of the error."""
        return done.returncode, done.stderr.partition("error[")[2].partition("]")[0]

    def compare(self, commands: Iterator[Command]) -> None:
        """Each command in turn, after those that were accepted before: the folder is put back to what it was."""
        before, files = snapshot(self.folder), self.files()
        for command in commands:
            with self.subTest(command=command):
                planned = run(*command, "--dry-run", cwd=self.folder)
                self.assertEqual(snapshot(self.folder), before, "the dry run wrote")
                done = run(*command, "--no-sync", cwd=self.folder)
                self.assertEqual(self.outcome(planned), self.outcome(done), done.stderr)
                if done.returncode:
                    self.assertEqual(self.files(), files, "refused, but something changed")
            if self.files() != files:
                self.put_back(files)
                before = snapshot(self.folder)

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else b"/" for path in self.folder.rglob("*")}

    def put_back(self, files: dict[str, bytes]) -> None:
        for name in sorted(self.files().keys() - files.keys(), reverse=True):
            path = self.folder / name
            path.rmdir() if path.is_dir() else path.unlink()
        for name, content in files.items():
            if content != b"/" and (self.folder / name).read_bytes() != content:
                (self.folder / name).write_bytes(content)

    def test_names(self) -> None:
        self.compare(named())

    def test_models_and_graphs(self) -> None:
        self.compare(with_graphs())

    def test_outputs(self) -> None:
        self.compare(with_outputs())

    def test_contradictory_options_are_usage_errors(self) -> None:
        for options in CONTRADICTIONS:
            model = ("a.onnx",) if "--model" in options else ()
            with self.subTest(options=options), self.nothing_changes():
                for dry in ((), ("-n",)):
                    done = run("replace", "p.onnxar", *model, *options, *dry, cwd=self.folder)
                    self.assertEqual(self.outcome(done), (command_line.USAGE, "usage.argument"), done.stderr)
                    self.assertIn("name it once", done.stderr)

    def test_refuses_before_it_writes(self) -> None:
        """A process that may write 100 bytes is refused for the name, not for what it cannot write."""
        self.on_posix("no limits of a process")

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        def code(*command: object) -> str:
            done = run(*command, cwd=self.folder, preexec_fn=limited)
            self.assertNotEqual(done.returncode, 0, command)
            return self.outcome(done)[1]

        for verb in (("replace", "p.onnxar", "a.onnx"), ("pack", "a.onnx", "-o", "o")):
            self.assertIn(code(*verb), ("io.failed", "io.disk_full"))
            self.assertEqual(code(*verb, "--add", "con.txt=x"), "zip.name.device")
            self.assertEqual(code(*verb, "--add", "h.onnx=junk.onnx"), "wire.truncated")
            self.assertEqual(code(*verb, "--add", "h.onnx=external.onnx"), "onnx.external_data.missing")


class TwoMeanings(ToolCase):
    """A location that is an entry and a file beside the model."""

    def test_added_graph_with_data_beside_it(self) -> None:
        data = wire.DataFile("w")
        archive = self.archive("w")
        graph = self.model(data.tensor("w"), name="beside/h.onnx")
        entry = command_line.entries_of(archive)["w"]
        for verb in (("replace", archive), ("pack", archive, "-o", self.output), ("pack", self.model(), "-o", self.output)):
            command = (*verb, "--no-sync", "--add", f"h.onnx={graph}")
            for content in (bytes(len(entry)), b"short"):
                self.write("beside/w", content)
                with self.nothing_changes():
                    told = self.fails(command_line.USAGE, f"onnxar: error[usage.argument] {self.folder}/beside/w: ", *command)
                self.assertIn('refers to "w", which is a file beside it and also an entry', told)
        self.write("beside/w", entry)  # with the bytes of the entry, both mean the same
        self.succeeds("replace", archive, "--no-sync", "--add", f"h.onnx={graph}")
        self.succeeds("check", "-q", "--data", archive)

    def test_graph_added_to_a_link_of_an_archive(self) -> None:
        # `pack` names the weights in the order of the model, so the two names change their meaning.
        tensors = [wire.fields_of("a", wire.FLOAT, [300], link_to("b")), wire.fields_of("b", wire.FLOAT, [300], link_to("a"))]
        path = self.archive_of(*weights("a", "b"), model_of(*tensors))
        graph = self.model(linked("a"), name="graph/g.onnx")
        self.succeeds("link", path, "-o", self.folder / "link.onnx")
        for model in (path, self.folder / "link.onnx"):
            told = self.fails(command_line.USAGE, "onnxar: error[usage.argument] ", "pack", model, "-o", self.output, "--add", f"g.onnx={graph}")
            self.assertIn("the output has other data under this name", told)


def link_to(location: str) -> bytes:
    return wire.DataFile(location).link(offset=0, length=1200)


if __name__ == "__main__":
    command_line.main()

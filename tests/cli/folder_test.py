"""`pack FOLDER` of hostile and unusual folders: a clear error or a good archive, and nothing outside the folder is read."""

from __future__ import annotations

import itertools
import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import DONE, FORMAT, IO, USAGE, Fault, ToolCase, entries_of, keys_of, run

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
SECRET = b"-----BEGIN PRIVATE KEY-----"


class FolderCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.folder / "export"
        self.plain = wire.plain(wire.tensor("w"))
        self.put({"model.onnx": self.plain})

    def put(self, files: Mapping[str, bytes]) -> Path:
        for name, data in files.items():
            self.write(f"export/{name}", data)
        return self.root

    def refused(self, exit_code: int, fault: str, *options: object) -> str:
        """The error of packing the folder; nothing is written."""
        before = sorted(self.folder.rglob("*"))
        line = self.fails(exit_code, fault, "pack", self.root, "-o", self.output, *options)
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        self.assertNotIn(SECRET.decode(), line)
        return line

    def good(self, *options: object) -> list[str]:
        """The entries of the packed folder except weights and the model."""
        self.succeeds("pack", self.root, "-o", self.output, "-f", *options)
        self.succeeds("check", "--data", "--strict", self.output)
        return [name for name in keys_of(self.output) if "." in name or "/" in name]


def linked(name: str, file: str) -> bytes:
    return wire.fields_of(name, wire.FLOAT, [300], wire.DataFile(file).link(length=1200))


class Output(FolderCase):
    def test_archive_is_beside_the_folder(self) -> None:
        for given, cwd in (("export", "."), ("export/", "."), ("./export/.", "."), (".", "export"), ("../export", "export")):
            with self.subTest(given=given):
                self.succeeds("pack", given, cwd=self.folder / cwd)
                (self.folder / "export.onnxar").unlink()
        self.assertEqual([path.name for path in self.folder.iterdir()], ["export"])

    def test_earlier_output_in_the_folder_is_left_out(self) -> None:
        output = self.root / "all.onnxar"
        for _ in range(2):
            self.succeeds("pack", self.root, "-o", output, "-f")
            self.assertEqual(keys_of(output), ["w"])


class Choice(FolderCase):
    def test_patterns_leave_files_and_folders_out(self) -> None:
        self.put({"old/a.onnx": b"\xff", "old/b.txt": b"1", "a.tmp": b"1", "b/c.tmp": b"1", "b/d.txt": b"1"})
        self.assertEqual(self.good("--exclude", "old", "--exclude", "*.tmp"), ["b/d.txt"])
        done = self.succeeds("pack", self.root, "-o", self.output, "-f", "--exclude", "old", "--exclude", "nothing*")
        self.assertIn('nothing is left out by the pattern "nothing*"', done.stderr)

    def test_error_says_that_all_models_are_excluded(self) -> None:
        line = self.refused(IO, Fault("io.not_a_file").line(self.root), "--exclude", "*")
        self.assertIn("no .onnx file left after the exclusions", line)

    def test_more_files_than_mappings_are_packed(self) -> None:
        """A process of Linux has 65 530 mappings."""
        self.put({f"{i % 300}.d/{i}.txt": b"1" for i in range(66_000)})
        self.assertEqual(len(self.good()), 66_000)

    def test_warns_of_folders_that_unpack_refuses(self) -> None:
        self.put({f"{i}.d/a.txt": b"" for i in range(5000)})
        done = self.succeeds("pack", self.root, "-o", self.output)
        self.assertIn("warning[zip.limit.folders]", done.stderr)
        self.assertIn("`unpack` and `link` refuse to make these folders", done.stderr)
        self.assertEqual(run("unpack", self.output, "-o", f"{self.folder}/tree/").returncode, FORMAT)

    def test_first_model_is_chosen(self) -> None:
        self.put({"unet/model.onnx": wire.plain(wire.tensor("u")), "vae.onnx": wire.plain(wire.tensor("v"))})
        for first, others in (("unet", ["model.onnx", "vae.onnx"]), ("unet/model.onnx", ["model.onnx", "vae.onnx"]),
                              ("vae", ["model.onnx", "unet/model.onnx"])):  # fmt: skip
            self.assertEqual(self.good("--first", first), others)
        self.assertIn('has no model "none"', self.refused(USAGE, Fault("usage.argument").line(self.root), "--first", "none"))

    def test_first_of_several_files(self) -> None:
        a, b = self.write("a.onnx", self.plain), self.write("b.onnx", wire.plain(wire.tensor("b")))
        self.succeeds("pack", a, b, "-o", self.output, "--first", "b")
        self.assertEqual(keys_of(self.output)[-1], "a.onnx")
        self.fails(USAGE, Fault("usage.argument").line(self.output), "pack", a, b, "-o", self.output, "-f", "--first", "c")
        for option in ("--first", "--exclude"):
            self.fails(USAGE, Fault("usage.argument").line(a), "pack", a, "-o", self.output, "-f", option, "a")

    def test_first_model_by_name_is_reported(self) -> None:
        (self.root / "model.onnx").rename(self.root / "b.onnx")
        self.put({"a.onnx": self.plain})
        done = self.succeeds("pack", self.root, "-o", self.output)
        self.assertIn('"a.onnx" is the first model, by its name', done.stderr)


BAD_PARTS = ["a:b", "a*", "a?", 'a"b', "a<b", "a>b", "a|b", "a;1", "a\\b", "a\tb", "a\x01", "a\x7f", "é", "日本", "😀", "e\u0301",
             "a.", "a ", "a..", "x. .", "aux", "con", "NUL", "com1", "lpt9", "aux.txt", "Con.json", "prn.a.b"]  # fmt: skip
BAD_NAMES = [
    *BAD_PARTS,
    *(f"sub/{part}" for part in BAD_PARTS),
    *(f"{part}/file.txt" for part in BAD_PARTS),
    *(f"{part}.onnx" for part in ("a:b", "a*", "é", "aux")),
    *("Makefile", "Dockerfile", "a", "_", "vocab", "merges", "CHANGELOG", "_private", "x1"),
    *("__MODEL", "__Xyz", "__model_proto", "__MODEL_PROTO.txt", "__A/b.txt"),
]  # fmt: skip


class Names(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.on_posix("its file systems refuse such names themselves")

    def proposals(self, line: str) -> list[str]:
        found = line.strip().rsplit("gives another name: ", 1)[1]
        return re.split(r", (?=[^,]*=)", found)

    def test_each_bad_name_gets_a_name_that_works(self) -> None:
        self.assertGreaterEqual(len(BAD_NAMES), 100)
        for name in BAD_NAMES:
            with self.subTest(name=name):
                path = self.write(f"export/{name}", self.plain if name.endswith(".onnx") else b"1")
                done = run("pack", self.root, "-o", self.output)
                self.assertIn(done.returncode, (USAGE, FORMAT), done.stderr)
                self.assertFalse(self.output.exists())
                (proposal,) = self.proposals(done.stderr.strip())
                new = proposal.rsplit("=", 1)[1]
                self.assertEqual(self.good("--rename", f"{name}={new}"), [new])
                self.output.unlink()
                path.unlink()
                for parent in (path.parent, *path.parent.parents):
                    if parent == self.root:
                        break
                    parent.rmdir()

    def test_all_bad_names_are_listed_at_once(self) -> None:
        self.put({"Makefile": b"1", "sub/a:b.txt": b"1", "aux.json": b"1", "good.txt": b"1", "x:y/m.onnx": self.plain})
        line = self.refused(USAGE, Fault("usage.argument", "Makefile").line(self.output))
        for name in ('"aux.json"', '"sub/a:b.txt"', '"x:y/m.onnx"'):
            self.assertIn(f"the name {name} is also refused", line)
        wanted = ["Makefile=Makefile.txt", "aux.json=_aux.json", "sub/a:b.txt=sub/a_b.txt", "x:y/m.onnx=x_y/m.onnx"]
        self.assertEqual(sorted(self.proposals(line)), sorted(wanted))
        names = self.good(*itertools.chain.from_iterable(("--rename", pair) for pair in wanted))
        self.assertEqual(sorted(names), sorted(["_aux.json", "Makefile.txt", "good.txt", "sub/a_b.txt", "x_y/m.onnx"]))

    def test_bad_name_of_the_first_model(self) -> None:
        (self.root / "model.onnx").unlink()
        self.put({"a:b/model.onnx": self.plain})
        line = self.refused(FORMAT, Fault("zip.name.character", "a:b/model.onnx").line(self.output))
        self.assertEqual(self.proposals(line), ["a:b/model.onnx=a_b/model.onnx"])
        self.good("--rename", "a:b/model.onnx=a_b/model.onnx")

    def test_names_that_differ_in_case(self) -> None:
        self.put({"Read.me": b"1", "read.me": b"2", "A/x.txt": b"1", "a.txt/x": b"1", "A.txt": b"1"})
        if len(list(self.root.iterdir())) != 6:
            self.skipTest("this file system ignores case")
        line = self.refused(FORMAT, "onnxar: error[zip.name.")
        self.assertEqual(len(self.proposals(line)), 2, line)
        self.good(*itertools.chain.from_iterable(("--rename", pair) for pair in self.proposals(line)))

    def test_proposed_name_does_not_exist(self) -> None:
        self.put({"Makefile": b"1", "Makefile.txt": b"2", "a:b.txt": b"3", "a_b.txt": b"4", "a*b.txt": b"5"})
        line = self.refused(USAGE, Fault("usage.argument", "Makefile").line(self.output))
        wanted = ["Makefile=Makefile_2.txt", "a*b.txt=a_b_2.txt", "a:b.txt=a_b_3.txt"]
        self.assertEqual(sorted(self.proposals(line)), sorted(wanted))

    def test_long_list_is_cut(self) -> None:
        self.put({f"bad{i}": b"1" for i in range(1000)})
        line = self.refused(USAGE, Fault("usage.argument", "bad0").line(self.output))
        self.assertIn("and 980 more names", line)
        self.assertLess(len(line), 10_000)

    def test_long_names_are_cut(self) -> None:
        deep = "/".join(["d" * 200] * 6)
        self.put({f"{deep}/a.json": b"1"})
        line = self.refused(FORMAT, "onnxar: error[zip.name.too_long]")
        self.assertTrue(line.strip().endswith("=a.json"), line)


class Links(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.on_posix("its links need a privilege")
        self.write("secret", SECRET)
        self.write("outside/secret.txt", SECRET)

    def link(self, name: str, target: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        return path

    def test_links_that_lead_out_are_refused(self) -> None:
        outside = ["../secret", str(self.folder / "secret"), "/etc/passwd", "../outside/secret.txt", "../export/../secret"]
        for place, target in itertools.product(("a.txt", "sub/a.txt"), outside):
            with self.subTest(place=place, target=target):
                path = self.link(place, ("../" + target) if place.startswith("sub") and target.startswith("..") else target)
                line = self.refused(USAGE, Fault("usage.argument").line(path))
                self.assertIn(f"--exclude {place}", line)
                self.good("--exclude", place)
                self.output.unlink()
                path.unlink()

    def test_links_to_folders_are_refused(self) -> None:
        self.put({"sub/x.txt": b"1"})
        for name, target in (("l", "sub"), ("l", "."), ("l", ".."), ("l", "../outside"), ("sub/l", ".."), ("l", "/")):
            with self.subTest(name=name, target=target):
                path = self.link(name, target)
                self.assertIn("is a link to a folder", self.refused(USAGE, Fault("usage.argument").line(path)))
                self.good("--exclude", name)
                self.output.unlink()
                path.unlink()

    def test_circles_and_dangling_links_are_refused(self) -> None:
        self.link("x", "y")
        for name, target in (("y", "x"), ("x", "x"), ("x", "sub/../x"), ("x", "nothing")):
            with self.subTest(name=name, target=target):
                (self.root / "x").unlink(missing_ok=True)
                path = self.link("x", target)
                if name == "y":
                    self.link("y", "x")
                done = run("pack", self.root, "-o", self.output)
                self.assertIn(done.returncode, (USAGE, IO), done.stderr)
                self.assertIn(f"{path}: ", done.stderr)
                self.assertFalse(self.output.exists())
                (self.root / "y").unlink(missing_ok=True)

    def test_links_in_the_folder_are_followed(self) -> None:
        self.put({"sub/x.txt": b"1", "unet/model.onnx": wire.plain(linked("u", "u.data")),
                  "shared/u.data": wire.content(wire.FLOAT, 300, "u")})  # fmt: skip
        self.link("a.txt", "sub/x.txt")
        self.link("sub/deep/b.txt", "../../a.txt")
        self.link("unet/u.data", "../shared/u.data")
        names = self.good("--exclude", "shared")
        self.assertEqual(names, ["a.txt", "sub/deep/b.txt", "sub/x.txt", "unet/model.onnx"])
        self.assertEqual(entries_of(self.output)["u"], wire.content(wire.FLOAT, 300, "u"))

    def test_model_that_is_a_dangling_link(self) -> None:
        path = self.link("other.onnx", "nothing")
        self.refused(IO, Fault("io.not_found").line(path))


class Files(FolderCase):
    def test_pointers_of_git_lfs_are_refused_everywhere(self) -> None:
        self.put({"unet/model.onnx": wire.plain(linked("u", "u.data"))})
        for name in ("model.onnx", "unet/model.onnx", "unet/u.data", "tokenizer.json", "sub/spiece.model"):
            with self.subTest(name=name):
                self.put({"unet/u.data": wire.content(wire.FLOAT, 300, "u")})
                kept = (self.root / name).read_bytes() if (self.root / name).exists() else None
                path = self.put({name: POINTER}) / name
                line = self.refused(FORMAT if name.endswith((".onnx", ".data")) else USAGE, f"onnxar: error: {path}: ")
                self.assertIn("`git lfs pull`", line)
                path.unlink()
                if kept is not None:
                    self.put({name: kept})

    def test_pointer_of_git_lfs_of_one_model(self) -> None:
        model = self.write("one.onnx", wire.plain(linked("u", "u.data")))
        self.write("u.data", POINTER + bytes(1200))
        line = self.fails(FORMAT, f"onnxar: error: {self.folder}/u.data: ", "pack", model, "-o", self.output)
        self.assertIn("`git lfs pull`", line)

    def test_files_that_are_no_models_are_named(self) -> None:
        for data in (b"\xff", b"\x00" * 40, b"\x0a\xff\xff\xff\xff\x7f", bytes(range(1, 90)), b"\x08", b"\x3a\x80"):
            with self.subTest(data=data):
                path = self.put({"sub/x.onnx": data}) / "sub/x.onnx"
                line = self.refused(FORMAT, "onnxar: error[wire.")
                self.assertIn(f"{path}: ", line)
                self.assertIn("--exclude sub/x.onnx leaves it out, and --rename sub/x.onnx=sub/x.onnx.bin", line)
                self.assertEqual(self.good("--exclude", "sub/x.onnx"), [])
                self.assertEqual(self.good("--rename", "sub/x.onnx=sub/x.onnx.bin"), ["sub/x.onnx.bin"])
                self.output.unlink()

    def test_special_files_are_refused(self) -> None:
        self.on_posix("it has none")
        os.mkfifo(self.root / "pipe")
        self.assertIn("--exclude pipe", self.refused(IO, Fault("io.not_a_file").line(self.root / "pipe")))
        (self.root / "pipe").unlink()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(self.root / "s.sock"))
            done = run("pack", self.root, "-o", self.output)
            self.assertEqual(done.returncode, IO, done.stderr)
            self.assertIn(f"{self.root}/s.sock: ", done.stderr)
        self.good("--exclude", "s.sock")

    def test_what_cannot_be_read_is_named(self) -> None:
        self.put({"sub/a.txt": b"1"})
        tool = self.as_ordinary_user()
        for path in self.folder.rglob("*"):
            path.chmod(0o755)
        os.chmod(self.folder, 0o777)
        for name in ("sub/a.txt", "sub", "model.onnx"):
            with self.subTest(name=name):
                (self.root / name).chmod(0)
                done = run("pack", self.root, "-o", self.output, tool=tool)
                (self.root / name).chmod(0o755)
                self.assertEqual(done.returncode, IO, done.stderr)
                self.assertIn("error[io.permission]", done.stderr)
                self.assertIn(f"{self.root / name}: ", done.stderr)
                self.assertFalse(self.output.exists())

    def test_empty_folders_and_files_are_no_trouble(self) -> None:
        (self.root / "empty/er").mkdir(parents=True)
        self.put({"none.txt": b"", "__init__.py": b""})
        self.assertEqual(self.good(), ["__init__.py", "none.txt"])

    def test_folder_may_be_deep(self) -> None:
        self.put({"/".join(["d"] * 400) + "/x.txt": b"1"})
        self.assertEqual(len(self.good()), 1)

    def test_hidden_files_are_counted(self) -> None:
        self.put({".git/HEAD": b"1", ".cache/a": b"1", "sub/.DS_Store": b"1", ".onnx": b"1"})
        done = self.succeeds("pack", self.root, "-o", self.output)
        self.assertIn('left out: 4 with a name that begins with a dot, such as ".cache"', done.stderr)
        self.assertEqual(keys_of(self.output), ["w"])


class Layouts(FolderCase):
    """Repositories, pipelines: graphs in folders with data beside them."""

    def each(self) -> Iterator[tuple[dict[str, bytes], str]]:
        data = wire.content(wire.FLOAT, 300, "a")
        graph = wire.plain(linked("a", "model.onnx_data"))
        yield {"onnx/model.onnx": graph, "onnx/model.onnx_data": data, "onnx/model_q4.onnx": self.plain}, "onnx/model.onnx"
        yield {"unet/model.onnx": graph, "unet/model.onnx_data": data, "vae/model.onnx": self.plain}, "unet/model.onnx"
        yield {"b/c/d.onnx": self.plain, "root.onnx": graph, "model.onnx_data": data}, "root.onnx"

    def test_layouts_become_archives(self) -> None:
        (self.root / "model.onnx").unlink()
        for files, first in self.each():
            with self.subTest(first=first):
                self.put(files | {"config.json": b"{}"})
                names = self.good()
                graphs = [name for name in files if name.endswith(".onnx") and name != first]
                self.assertEqual(names, ["config.json", *sorted(graphs)])
                listed = self.succeeds("show", self.output, "--json").stdout.decode()
                self.assertIn(first.removesuffix(".onnx"), listed)
                for name in files:
                    (self.root / name).unlink()

    def test_data_file_of_several_models_is_stored_once(self) -> None:
        graph = wire.plain(linked("a", "a.data"))
        self.put({"a.onnx": graph, "b.onnx": graph, "a.data": wire.content(wire.FLOAT, 300, "a")})
        done = self.succeeds("pack", self.root, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "a", "a.onnx", "b.onnx"])
        self.assertNotIn("saved", done.stderr)  # the folder had it once, too

    def test_equal_weights_are_counted(self) -> None:
        self.put({"copy.onnx": self.plain})
        done = self.succeeds("pack", self.root, "-o", self.output)
        self.assertIn("equal weights saved 1.2 kB", done.stderr)
        self.assertEqual(done.returncode, DONE)


if __name__ == "__main__":
    command_line.main()

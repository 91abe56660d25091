"""Archives and zips that attack the folders into which `unpack` and `link` write, and folders that are traps for them."""

from __future__ import annotations

import io
import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights
from support.command_line import DONE, FORMAT, FOUND, IO, USAGE, Done, ToolCase, run

PLAIN, OTHER = wire.plain(wire.tensor("w")), wire.plain(wire.tensor("other"))
ORT = {"executor_info": {"ort": {"model_file": "model.onnx"}}}
REPOSITORY = {"config.json": b"{}", "onnx/model.onnx": PLAIN, "onnx/q4.onnx": OTHER}
PIPELINE = {"config.json": b"{}", "unet/model.onnx": PLAIN, "vae/model.onnx": OTHER}
PACKAGE = {"cpu/model.onnx": PLAIN, "gpu/model.onnx": OTHER}
SECRET = b"TOPSECRET"
SLOW = 10  # seconds: no case may come near to this

NAMES = {
    "zip.name.part": ["../evil", "a/../../evil", "./x.txt", "a//b", "a/./b", "..", ".", "x/..", "x/.", "x/../y", "a/../w"],
    "zip.name.absolute": ["/abs.txt", "//abs.txt", "/"],
    "zip.name.directory": ["a/"],
    "zip.name.character": ["C:/x", "C:\\x", "..\\evil", "a\\..\\..\\e", "a:b", "x\n.txt", "\x1b[31m", "\x07", "é.txt", "e\u0301.txt", "*", "??", "a|b"],
    "zip.name.device": ["con.txt", "nul/x", "aux.txt", "a/com1.json"],
    "zip.name.part_end": ["trail.", "trail ", "...", "a /x"],
    "zip.name.prefix": ["w/x", "W/x", f"{MODEL}/x", "__model_proto/x"],
    "zip.name.folded": ["W", "__model_proto"],
    "zip.name.duplicate": ["w"],
    "zip.name.too_long": ["x" * 1025],
    "zip.name.part_too_long": ["x" * 300 + ".txt"],
}  # fmt: skip
KINDS = {"a symbolic link": 0o120777 << 16, "a pipe": 0o010644 << 16, "a device": 0o020644 << 16, "a folder": 0x10}


class HostileCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.on_posix("its file systems refuse such names themselves")
        self.home, self.count = self.folder, 0
        self.archives: dict[str, bytes] = {}
        self.fresh()

    def fresh(self) -> None:
        """A new folder, with things that no command may reach."""
        self.count += 1
        self.folder = self.home / str(self.count)
        self.write("secret", SECRET)
        self.write("outside/s.txt", SECRET)

    def goes(self, *arguments: object) -> Done:
        """Runs a command, which writes to `out` and `a.*` alone, and nothing if it fails."""
        before = command_line.snapshot(self.folder)
        done = run(*arguments, cwd=self.folder, timeout=SLOW)
        after = command_line.snapshot(self.folder)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        self.assertIn(done.returncode, (DONE, FOUND, USAGE, IO, FORMAT), done.stderr)
        self.assertTrue(done.stderr.replace("\n", "").isprintable() and len(done.stderr) < 5000, done.stderr)
        if done.returncode != DONE:
            self.assertEqual(changed, set(), done.stderr)
        self.assertEqual({name for name in changed if name.split("/")[0] != "out" and not name.startswith("a.")}, set(), done.stderr)
        return done

    def refused(self, words: str, *arguments: object) -> None:
        done = self.goes(*arguments)
        self.assertNotEqual(done.returncode, DONE, arguments)
        self.assertIn(words, done.stderr)

    def packed(self, tree: Mapping[str, bytes]) -> Path:
        """An archive of these files in the folder, packed once."""
        key = repr(sorted(tree.items()))
        path = self.folder / "a.onnxar"
        if key not in self.archives:
            for name, data in tree.items():
                self.write(f"tree/{name}", data)
            self.succeeds("pack", self.folder / "tree", "-o", path, "--no-sync")
            self.archives[key] = path.read_bytes()
            shutil.rmtree(self.folder / "tree")
        path.write_bytes(self.archives[key])
        return path


def zipped(name: str, attributes: int = 0) -> bytes:
    """A zip with one further entry, as Python writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = (0 if attributes < 1 << 16 else 3), attributes
        target.writestr(info, b"../secret")
        for each in (*weights("w"), model_of(linked("w"))):
            target.writestr(each.name, each.data)
    return file.getvalue()


class Names(HostileCase):
    def test_names_are_refused_by_each_verb(self) -> None:
        for code, names in NAMES.items():
            for name in names:
                with self.subTest(name=name):
                    path = self.write("a.onnxar", bytes(Archive([Entry(name, b"x"), *weights("w"), model_of(linked("w"))]).file))
                    for verb in ("unpack", "link"):
                        self.refused(f"error[{code}]", verb, path, "-o", "out/")
            for verb in ("ls", "show"):
                self.refused(f"error[{code}]", verb, path)
            self.assertEqual(self.goes("check", path).returncode, FOUND)

    def test_names_of_foreign_zips_are_refused(self) -> None:
        for code, names in NAMES.items():
            for name in names[:5]:
                with self.subTest(name=name):
                    path = self.write("a.zip", zipped(name))
                    for verb in ("pack", "repack"):
                        self.refused(f"error[{code}]", verb, path, "-o", "out")

    def test_entries_that_are_not_files_are_refused(self) -> None:
        for kind, attributes in KINDS.items():
            with self.subTest(kind):
                path = self.write("a.zip", zipped("x.txt", attributes))
                for verb in ("pack", "repack", "unpack", "link", "ls", "show"):
                    self.refused("error[zip.entry.attributes]", verb, path, *(["-o", "out/" if verb in ("unpack", "link") else "out"] if verb not in ("ls", "show") else []))


class Outputs(HostileCase):
    """Folders that are traps: `out` is prepared by each case, with the first folder of the archive in it."""

    def traps(self, part: str) -> Mapping[str, Callable[[], object]]:
        out = self.folder / "out"
        inner = out / part

        def link(path: Path, target: str) -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)

        return {
            "a file": lambda: self.write("out", b"mine"),
            "a dangling link": lambda: link(out, "nowhere"),
            "a circle": lambda: link(out, "out"),
            "a link to a file": lambda: link(out, "secret"),
            "a file for a folder": lambda: self.write(f"out/{part}", b"mine"),
            "a folder for a file": lambda: (out / "config.json").mkdir(parents=True),
            "a folder that leads out": lambda: link(inner, "../outside"),
            "a folder that leads far out": lambda: link(inner, str(self.folder / "outside")),
            "a model that leads out": lambda: link(inner / "model.onnx", "../../secret"),
            "a model that is a folder": lambda: (inner / "model.onnx").mkdir(parents=True),
        }

    def test_traps_are_not_entered(self) -> None:
        verbs = [("unpack",), ("unpack", "-f"), ("unpack", "--external-data", "d.bin"), ("link", "--copy"), ("link", "--move"), ("link",), ("link", "-f")]
        for tree, part in ((REPOSITORY, "onnx"), (PIPELINE, "unet")):
            for verb, *options in verbs if tree is REPOSITORY else verbs[-2:]:
                for trap in self.traps(part):
                    with self.subTest(part=part, verb=verb, options=options, trap=trap):
                        self.fresh()
                        path = self.packed(tree)
                        self.traps(part)[trap]()
                        done = self.goes(verb, path, "-o", "out/", "--no-sync", *options)
                        replaces_link = trap == "a model that leads out" and (verb, options) == ("link", ["-f"])
                        only_empty_folders = trap.endswith(("for a file", "is a folder")) and verb == "unpack"
                        self.assertEqual(done.returncode == DONE, replaces_link or only_empty_folders, done.stderr)

    def test_trap_beside_the_archive_is_not_entered(self) -> None:
        for make in (lambda path: path.symlink_to("secret"), Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")):
            self.fresh()
            path = self.packed(PIPELINE)
            make(self.folder / "a.unet--model.onnx")
            self.refused("a.unet--model.onnx", "link", path, "-o", "out/")

    def test_output_that_has_the_input(self) -> None:
        path = self.packed(REPOSITORY)
        for verb in ("unpack", "link"):
            self.refused("a.onnxar", verb, path, "-o", "a.onnxar/")
        self.refused("error[output.not_empty]", "unpack", path, "-o", "./")
        for verb in ("unpack", "link"):
            self.refused("missing", verb, path, "-o", "missing/out/")


class Manifests(HostileCase):
    """`link -o FOLDER/` makes the folders of variants, and `replace --variant` rewrites the manifest."""

    def package(self, *variants: str, **more: object) -> Path:
        listed = {f"v{n}": {"variant_directory": name, **ORT} for n, name in enumerate(variants)}
        text = {"schema_version": "1.0", "components": {"m": {"variants": {**listed, "cpu": ORT, "gpu": ORT}}}, **more}
        return self.packed({**PACKAGE, "manifest.json": json.dumps(text).encode()})

    def test_folders_of_variants_stay_in_the_folder(self) -> None:
        for name in ("../evil", "/evil", "a/../../evil", "..\\evil", "a\\..\\..\\evil", "C:evil", "C:/evil", "a:b", "..", "\0", "a\0b"):
            for options in ((), ("--copy",), ("--move",)):
                with self.subTest(name=name, options=options):
                    self.fresh()
                    done = self.goes("link", self.package(name), "-o", "out/", "--no-sync", *options)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    made = {path.name for path in (self.folder / "out").iterdir() if path.is_dir()}
                    self.assertEqual(made, {"cpu", "gpu"})

    def test_folders_of_variants_keep_the_rules_of_names(self) -> None:
        for name in ("\x1b[31m", "a\nb", "é", "e\u0301", "*", "con", "nul/x", "trail.", " ", "...", "x" * 256, "d/" * 600 + "d"):
            for options in ((), ("--copy",), ("-n",)):
                with self.subTest(name=name, options=options):
                    self.fresh()
                    self.refused("error[zip.name.", "link", self.package(name), "-o", "out/", *options)

    def test_many_components_cost_little(self) -> None:
        components = {f"c{n}": {"variants": {"cpu": ORT}} for n in range(40_000)}
        done = self.goes("link", self.package(components=components), "-o", "out/", "--no-sync")
        self.assertEqual(done.returncode, DONE, done.stderr)
        written = json.loads((self.folder / "out/manifest.json").read_text())
        folders = {json.dumps(each["variants"]["cpu"]["executor_info"]["ort"].get("session_options")) for each in written["components"].values()}
        self.assertEqual((written["layout"], len(written["components"]), len(folders)), ("installed", 40_000, 1))

    def test_wrong_types_are_refused_with_variants(self) -> None:
        values: list[object] = [None, True, 0, -1, 1.5, [], ["x"], [[[]]]]
        for key in ("schema_version", "components"):
            for value in [*values, "2.0" if key == "schema_version" else "x"]:
                with self.subTest(key=key, value=value):
                    self.fresh()
                    path = self.package(**{key: value})
                    if value == 1.5:
                        continue  # schema 1.5 is one of 1
                    self.refused("variants cannot be written", "replace", path, "--variant", "cpu/model=cpu")
                    self.assertEqual(self.goes("link", path, "-o", "out/", "--no-sync").returncode, DONE)
        for value in [*values, "x"]:
            self.fresh()
            self.refused("variants cannot be written", "replace", self.package(components={"m": {"variants": value}}), "--variant", "cpu/model=cpu")

    def test_variants_of_graphs_that_are_not_there(self) -> None:
        path = self.package()
        for value in ("none=cpu", "cpu=", "=cpu", "cpu", "cpu/model=\x1b[31m", "cpu/model=cpu:tpu", "../cpu/model=cpu", "manifest.json=cpu", "cpu/model=a:b:c"):
            with self.subTest(value=value):
                self.refused("onnxar: error[usage.argument]", "replace", path, "--variant", value)


if __name__ == "__main__":
    command_line.main()

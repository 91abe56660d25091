"""link -o FOLDER/: a folder of links to one archive. python/tests/link_folders_test.py opens such folders with ONNX Runtime, onnx and GenAI."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import IO, USAGE, Fault, ToolCase, run, snapshot

UNET, VAE = wire.plain(wire.tensor("u"), wire.tensor("shared")), wire.plain(wire.tensor("v"), wire.tensor("shared"))
PIPELINE = {"model_index.json": b"{}", "unet/model.onnx": UNET, "vae/model.onnx": VAE}
REPOSITORY = {"config.json": b"{}", "onnx/model.onnx": UNET, "onnx/model_q4.onnx": VAE}
ORT = {"executor_info": {"ort": {"model_file": "model.onnx"}}}
MANIFEST = {"schema_version": "1.0", "components": {"c": {"variants": {"unet": ORT, "vae": ORT}}}}


class FolderCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.store, self.out = self.folder / "store", self.folder / "out"
        self.archive = self.store / "a.onnxar"

    def pack(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            self.write(f"tree/{path}", data)
        self.store.mkdir(exist_ok=True)
        self.succeeds("pack", self.folder / "tree", "-o", self.archive, "-f", "--no-sync")
        shutil.rmtree(self.folder / "tree")

    def link(self, *options: object) -> str:
        return self.succeeds("link", self.archive, "-o", f"{self.out}/", "--no-sync", *options).stderr

    def names(self, folder: Path) -> set[str]:
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}

    def refused(self, code: int, fault: str, path: Path, *options: object) -> str:
        """Runs `link`, which changes nothing."""
        with self.nothing_changes():
            return self.fails(code, Fault(fault).line(path), "link", self.archive, "-o", f"{self.out}/", *options)


class Reports(FolderCase):
    def test_says_what_is_written_outside_of_the_folder(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(PIPELINE)
        told = self.link()
        self.assertIn(f"wrote 2 link files beside the archive, such as {self.store.resolve()}/a.unet--model.onnx\n", told)
        self.assertIn("onnx and onnx_ir refuse them; --copy puts a copy of the archive beside the links", told)
        self.assertEqual(self.names(self.store), {"a.onnxar", "a.unet--model.onnx", "a.vae--model.onnx"})

    def test_counts_copies(self) -> None:
        self.pack(PIPELINE)
        told = self.link("--copy")
        self.assertIn("wrote 2 copies of the archive", told)
        self.assertIn("wrote 1 side file", told)
        self.assertEqual(self.names(self.out), {*PIPELINE, "unet/a.onnxar", "vae/a.onnxar"})
        self.assertEqual(self.names(self.store), {"a.onnxar"})

    def test_dry_run_writes_nothing(self) -> None:
        self.pack(PIPELINE)
        for options in ((), ("--copy",), ("--move",)):
            with self.nothing_changes():
                self.assertIn("would link 2 tensors", self.link("-n", *options))

    def test_checks_each_layout(self) -> None:
        self.pack({**PIPELINE, "manifest.json": json.dumps(MANIFEST).encode()})
        for options in ((), ("--copy",), ("--move",)):
            shutil.rmtree(self.out, ignore_errors=True)
            self.link(*options)
            for graph in ("unet/model.onnx", "vae/model.onnx"):
                self.succeeds("check", "--data", self.out / graph)


class Files(FolderCase):
    def test_files_of_others_are_kept(self) -> None:
        self.pack(REPOSITORY)
        self.write("out/onnx/mine.txt", b"mine")
        self.link("--copy")
        self.assertEqual(self.names(self.out), {*REPOSITORY, "onnx/a.onnxar", "onnx/mine.txt"})

    def test_existing_file_is_replaced_only_with_force(self) -> None:
        self.pack(REPOSITORY)
        for name in ("config.json", "onnx/model_q4.onnx", "onnx/a.onnxar"):
            path = self.write(f"out/{name}", b"mine")
            self.refused(USAGE, "output.exists", path.resolve(), "--copy")
            path.unlink()
        self.write("out/config.json", b"mine")
        self.link("--copy", "-f")
        self.assertEqual((self.out / "config.json").read_bytes(), b"{}")

    def test_same_links_serve_two_folders(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(PIPELINE)
        self.link()
        before = snapshot(self.store)
        self.out = self.folder / "second"
        self.link()
        self.assertEqual(snapshot(self.store), before)
        self.link("-f")

    def test_foreign_link_file_beside_the_archive_is_kept(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(PIPELINE)
        mine = self.write("store/a.vae--model.onnx", b"mine")
        self.refused(USAGE, "output.exists", mine.resolve())

    def test_names_beside_the_archive_differ(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack({"a--b/c.onnx": UNET, "a/b--c.onnx": VAE})
        self.link()
        self.assertEqual(self.names(self.store), {"a.onnxar", "a.a--b--c.onnx", "a.a--b--c-2.onnx"})
        for graph in ("a--b/c.onnx", "a/b--c.onnx"):
            self.succeeds("check", "--data", self.out / graph)

    def test_link_in_the_place_of_a_folder_is_not_followed(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(REPOSITORY)
        (self.folder / "elsewhere").mkdir()
        self.out.mkdir()
        (self.out / "onnx").symlink_to(self.folder / "elsewhere")
        for options in ((), ("--copy",), ("--move",), ("--copy", "-f")):
            self.refused(USAGE, "usage.argument", self.out.resolve() / "onnx", *options)

    def test_link_in_the_place_of_a_file_is_not_followed(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(REPOSITORY)
        target = self.write("target", b"mine")
        self.out.mkdir()
        (self.out / "config.json").symlink_to(target)
        self.refused(USAGE, "output.exists", self.out.resolve() / "config.json", "--copy")
        done = run("link", self.archive, "-o", f"{self.out}/", "--copy", "-f")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(target.read_bytes(), b"mine")
        self.assertEqual(self.names(self.out), {"config.json"})

    def test_side_file_named_as_the_archive_is_refused(self) -> None:
        self.pack({**REPOSITORY, "onnx/a.onnxar": b"text"})
        self.assertIn("both a file of the archive and the archive itself", self.refused(USAGE, "usage.argument", self.out.resolve() / "onnx/a.onnxar", "--copy"))
        shutil.copytree(self.store, self.out / "onnx")
        self.archive = self.out / "onnx/a.onnxar"
        self.refused(USAGE, "usage.argument", self.archive.resolve(), "-f")


class Moves(FolderCase):
    def test_symbolic_link_is_not_moved(self) -> None:
        self.on_posix("its links need a privilege")
        self.pack(REPOSITORY)
        real, self.archive = self.archive, self.folder / "l.onnxar"
        self.archive.symlink_to(real)
        self.assertIn(str(real.resolve()), self.refused(USAGE, "usage.argument", self.archive, "--move"))

    def test_options_need_a_folder(self) -> None:
        self.pack(REPOSITORY)
        for option in ("--copy", "--move"):
            self.fails(USAGE, "onnxar: error[usage.argument]", "link", self.archive, option)
        done = run("link", self.archive, "-o", f"{self.out}/", "--copy", "--move")
        self.assertEqual(done.returncode, USAGE)

    def test_missing_parent_is_refused(self) -> None:
        self.pack(REPOSITORY)
        self.out = self.folder / "missing/out"
        self.refused(IO, "io.not_found", self.folder / "missing")


class Manifests(FolderCase):
    """Manifests that hostile archives have."""

    def test_paths_outside_the_package_are_ignored(self) -> None:
        for path in ("../outside", "/outside", "a/../../outside", "c:/outside"):
            variants = {"v": {"variant_directory": path, **ORT}, "unet": ORT}
            self.pack({**PIPELINE, "manifest.json": json.dumps({"schema_version": "1.0", "components": {"c": {"variants": variants}}}).encode()})
            shutil.rmtree(self.out, ignore_errors=True)
            before = {path.name for path in self.folder.iterdir()}
            self.link()
            self.assertEqual({path.name for path in self.folder.iterdir()}, before | {"out"})
            written = json.loads((self.out / "manifest.json").read_text())["components"]["c"]["variants"]
            self.assertNotIn("session_options", written["v"]["executor_info"]["ort"])
            self.assertIn("session_options", written["unet"]["executor_info"]["ort"])

    def test_manifest_of_something_else_is_a_side_file(self) -> None:
        for text in (b"", b"[]", b"{}", b"\xff", b'{"name": "app", "components": {}}', b'{"schema_version": "1.0"}', b"[" * 100_000):
            self.pack({**PIPELINE, "manifest.json": text})
            shutil.rmtree(self.out, ignore_errors=True)
            self.link("--copy")
            self.assertEqual((self.out / "manifest.json").read_bytes(), text)
            self.assertTrue((self.out / "unet/a.onnxar").exists())

    def test_many_variants_cost_little(self) -> None:
        variants = {f"v{n}": {"variant_directory": "unet", **ORT} for n in range(20_000)}
        self.pack({**PIPELINE, "manifest.json": json.dumps({"schema_version": "1.0", "components": {"c": {"variants": variants}}}).encode()})
        self.link()
        written = json.loads((self.out / "manifest.json").read_text())["components"]["c"]["variants"]
        self.assertEqual(len(written), 20_000)
        options = {json.dumps(each["executor_info"]["ort"]["session_options"]) for each in written.values()}
        self.assertEqual(options, {'{"session.model_external_initializers_file_folder_path": "../../store"}'})

    def test_folders_of_variants_are_limited(self) -> None:
        variants = {f"v{n}": {"variant_directory": f"d{n}/e", **ORT} for n in range(3000)}
        self.pack({**PIPELINE, "manifest.json": json.dumps({"schema_version": "1.0", "components": {"c": {"variants": variants}}}).encode()})
        done = run("link", self.archive, "-o", f"{self.out}/")
        self.assertIn("zip.limit.folders", done.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    command_line.main()

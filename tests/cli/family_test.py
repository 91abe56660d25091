"""Several models go into one archive, equal tensors once, and come back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from support import command_line
from support import wire_writer as wire
from support.command_line import FORMAT, IO, USAGE, Fault, ToolCase, entries_of, keys_of, run


class FamilyCase(ToolCase):
    """Two models that share `shared`."""

    def setUp(self) -> None:
        super().setUp()
        self.encoder = self.model(wire.tensor("shared"), wire.tensor("e"), name="encoder.onnx")
        self.decoder = self.model(wire.tensor("d"), wire.tensor("table", seed="shared"), name="decoder.onnx")

    def back(self, archive: Path, *options: object) -> dict[str, bytes]:
        folder = self.folder / "back"
        shutil.rmtree(folder, ignore_errors=True)
        self.succeeds("unpack", archive, "-o", f"{folder}/", *options)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Packing(FamilyCase):
    def test_models_come_back_byte_for_byte(self) -> None:
        file = self.write("tokenizer", b"{}")
        done = self.succeeds("pack", self.encoder, self.decoder, "--add", f"t.json={file}", "-o", self.output)
        self.assertIn("packed 4 tensors into 3 entries (3.6 kB), 1 side file, 1 graph", done.stderr)
        self.assertEqual(keys_of(self.output), ["shared", "e", "d", "t.json", "decoder.onnx"])
        self.succeeds("check", "--data", "--strict", self.output)
        wanted = {path.name: path.read_bytes() for path in (self.encoder, self.decoder)}
        self.assertEqual(self.back(self.output), {**wanted, "t.json": b"{}"})

    def test_external_data_comes_back_as_one_file(self) -> None:
        for path in (self.encoder, self.decoder):
            self.succeeds("pack", path, "-o", self.output, "-f")
            self.succeeds("unpack", self.output, "-o", path, "-f", "--external-data", f"{path.name}.data")
        self.succeeds("pack", self.encoder, self.decoder, "-o", self.output, "-f")
        self.assertEqual(keys_of(self.output), ["shared", "e", "d", "decoder.onnx"])
        files = self.back(self.output, "--external-data", "all.data")
        self.assertEqual(sorted(files), ["all.data", "decoder.onnx", "encoder.onnx"])
        self.assertEqual(len(files["all.data"]), 2 * 1216 + 1200)

    def test_graph_option_names_the_graph(self) -> None:
        self.succeeds("pack", self.encoder, "--graph", f"decode={self.decoder}", "-o", self.output)
        self.assertEqual(keys_of(self.output)[-1], "decode.onnx")
        self.assertEqual(sorted(self.back(self.output)), ["decode.onnx", "encoder.onnx"])

    def test_graphs_need_no_model(self) -> None:
        self.succeeds("pack", "--graph", f"enc={self.encoder}", "--graph", f"dec={self.decoder}", "-o", self.output)
        self.assertEqual(keys_of(self.output)[-1], "dec.onnx")
        self.assertEqual(sorted(self.back(self.output)), ["dec.onnx", "enc.onnx"])
        self.succeeds("pack", "--graph", f"enc={self.encoder}", "-o", self.output, "-f")
        self.assertEqual(sorted(self.back(self.output)), ["enc.onnx"])
        self.fails(USAGE, "onnxar: error[usage.argument] `pack` needs a MODEL, or graphs", "pack", "-o", self.output, "-f")

    def test_packing_again_writes_the_same_archive(self) -> None:
        again = self.folder / "again"
        for path in (self.output, again):
            self.succeeds("pack", self.encoder, self.decoder, "-o", path)
        self.assertEqual(again.read_bytes(), self.output.read_bytes())
        self.succeeds("pack", self.output, "-o", again, "-f")
        self.assertEqual(again.read_bytes(), self.output.read_bytes())

    def test_checksums_are_of_the_shared_entry(self) -> None:
        self.succeeds("pack", self.encoder, self.decoder, "-o", self.output, "--checksum", "sha1")
        self.succeeds("check", "--data", "--strict", self.output)


class ModelOfAFolder(FamilyCase):
    """`unpack -o FOLDER/` of an archive whose model has no name gives it the archive's, unless a graph has that."""

    def unpacked_with(self, *graphs: str) -> dict[str, bytes]:
        self.succeeds("pack", self.encoder, "-o", self.output, "-f")
        for name in graphs:
            self.succeeds("replace", self.output, "--add", f"{name}={self.decoder}")
        return self.back(self.output)

    def test_model_has_the_name_of_the_archive(self) -> None:
        self.assertEqual(sorted(self.unpacked_with("other.onnx")), sorted([f"{self.output.stem}.onnx", "other.onnx"]))

    def test_model_has_another_name_than_a_graph(self) -> None:
        name = f"{self.output.stem}.onnx"
        self.assertEqual(sorted(self.unpacked_with(name)), sorted(["model.onnx", name]))
        name = name.upper()
        files = self.unpacked_with(name, "Model.onnx")
        self.assertEqual(sorted(files), sorted(["Model.onnx", "model_2.onnx", name]))
        self.assertEqual(files["model_2.onnx"], self.encoder.read_bytes())


class Folder(FamilyCase):
    """`pack FOLDER`."""

    def exported(self, files: Mapping[str, bytes]) -> Path:
        for name, data in files.items():
            self.write(f"export/{name}", data)
        return self.folder / "export"

    @staticmethod
    def linked(name: str, file: str) -> bytes:
        return wire.fields_of(name, wire.FLOAT, [300], wire.DataFile(file).link(length=1200))

    def test_export_comes_back(self) -> None:
        files = {
            "decoder.onnx": self.decoder.read_bytes(),
            "encoder.onnx": self.encoder.read_bytes(),
            "config.json": b"{}",
            "genai_config.json": b"[]",
            "onnx/quantized.onnx": self.decoder.read_bytes(),
            "empty.txt": b"",
        }
        done = self.succeeds("pack", self.exported(files), "-o", self.output)
        self.assertIn("the input was read as a folder of 3 models and their files; \"decoder.onnx\" is the first model", done.stderr)
        side_files = ["config.json", "empty.txt", "genai_config.json"]
        self.assertEqual(keys_of(self.output), ["d", "table", "e", *side_files, "encoder.onnx", "onnx/quantized.onnx"])
        self.succeeds("check", "--data", "--strict", self.output)
        self.assertEqual(self.back(self.output), files)

    # Data files that a model uses become weights.
    def test_unused_data_files_become_side_files(self) -> None:
        data = {name: wire.content(wire.FLOAT, 300, name) for name in ("a", "b")}
        files = {
            "first.onnx": wire.plain(self.linked("a", "a.data"), self.linked("b", "./sub//b.data")),
            "second.onnx": wire.plain(self.linked("other_a", "second.data")),
            "a.data": data["a"],
            "sub/b.data": data["b"],
            "second.data": data["a"],
            "unused.data": b"1",
        }
        self.succeeds("pack", self.exported(files), "-o", self.output)
        self.assertEqual(keys_of(self.output), ["a", "b", "unused.data", "second.onnx"])
        self.assertEqual({name: entries_of(self.output)[name] for name in data}, data)

    def test_file_named_like_a_key_must_be_renamed(self) -> None:
        folder = self.exported({"m.onnx": self.encoder.read_bytes(), "Makefile": b"all:"})
        line = self.fails(USAGE, Fault("usage.argument", "Makefile").line(self.output), "pack", folder, "-o", self.output)
        self.assertIn("--rename OLD=NEW gives another name: Makefile=Makefile.txt", line)
        self.succeeds("pack", folder, "-o", self.output, "--rename", "Makefile=Makefile.txt")
        self.assertEqual(self.back(self.output)["Makefile.txt"], b"all:")

    def test_licence_keeps_its_name(self) -> None:
        texts = {name: name.encode() for name in ("LICENSE", "LICENCE", "NOTICE", "COPYING", "README", "AUTHORS")}
        model = {"m.onnx": wire.plain(wire.tensor("LICENSE"))}
        self.succeeds("pack", self.exported(texts | model), "-o", self.output)
        self.assertEqual(keys_of(self.output), ["t_LICENSE", *sorted(texts)])
        self.succeeds("check", "--data", "--strict", self.output)
        back = self.back(self.output)
        self.assertEqual({name: back[name] for name in texts}, texts)

    def test_only_links_into_a_cache_are_followed(self) -> None:
        self.on_posix("its links need a privilege")
        folder = self.folder / "snapshot"
        folder.mkdir()
        self.write("blobs/1", self.encoder.read_bytes())
        self.write("blobs/2", b"{}")
        for name, target in (("m.onnx", "../blobs/1"), ("config.json", "../blobs/2"), ("same.json", "config.json")):
            (folder / name).symlink_to(target)
        self.succeeds("pack", folder, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["shared", "e", "config.json", "same.json"])
        self.assertEqual(entries_of(self.output)["same.json"], b"{}")
        self.output.unlink()
        secret = self.write("secret", b"key")
        for target in (secret, Path("../secret"), self.folder / "blobs"):
            (folder / "z.txt").unlink(missing_ok=True)
            (folder / "z.txt").symlink_to(target)
            done = run("pack", folder, "-o", self.output)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("z.txt", done.stderr)
            self.assertFalse(self.output.exists())

    def test_folder_without_models_is_refused(self) -> None:
        folder = self.exported({"onnx/m.ONNX": self.encoder.read_bytes(), "config.json": b"{}"})
        line = self.fails(IO, Fault("io.not_a_file").line(folder), "pack", folder, "-o", self.output)
        self.assertIn("a folder with .onnx files in it", line)

    def test_fault_names_the_model_that_has_it(self) -> None:
        folder = self.exported({"a.onnx": self.encoder.read_bytes(), "b.onnx": b"\xff"})
        self.fails(FORMAT, f"onnxar: error[wire.truncated] {folder}/b.onnx: ", "pack", folder, "-o", self.output)

    def test_named_pipe_is_refused(self) -> None:
        self.on_posix("it has none")
        folder = self.exported({"a.onnx": self.encoder.read_bytes()})
        os.mkfifo(folder / "pipe.txt")
        self.fails(IO, Fault("io.not_a_file").line(folder / "pipe.txt"), "pack", folder, "-o", self.output)


class Refused(FamilyCase):
    def test_fault_names_the_model_that_has_it(self) -> None:
        bad = self.write("bad.onnx", bytes(100))
        for models in ((bad, self.encoder), (self.encoder, bad)):
            self.fails(FORMAT, f"onnxar: error[wire.tag] {bad}: ", "pack", *models, "-o", self.output)

    def test_two_models_of_one_name(self) -> None:
        other = self.write("b/encoder.onnx", self.decoder.read_bytes())
        line = self.fails(USAGE, Fault("usage.argument").line(other), "pack", self.encoder, other, "-o", self.output)
        self.assertIn("--graph NAME=FILE gives it another name", line)
        self.succeeds("pack", self.encoder, "--graph", f"b={other}", "-o", self.output)

    def test_standard_input_among_others(self) -> None:
        done = run("pack", self.encoder, "-", "-o", self.output)
        self.assertEqual(done.returncode, USAGE, done.stderr)

    def test_name_without_a_file(self) -> None:
        for text in ("decoder", "=x", "decoder="):
            done = run("pack", self.encoder, "--graph", text, "-o", self.output)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("--graph wants NAME=FILE", done.stderr)


class Size(FamilyCase):
    def test_archive_size_is_distinct_tensors_and_graphs(self) -> None:
        """Bound: each entry takes its data, its headers and at most its alignment."""
        layers = [wire.tensor(f"l{i}", count=20_000, seed=i % 10) for i in range(30)]
        parts = [self.model(*layers[i:], name=f"part{i}.onnx") for i in (0, 5, 10)]
        self.succeeds("pack", *parts, "-o", self.output)
        entries = entries_of(self.output)
        self.assertEqual(len(entries), 10 + 3)
        data = sum(map(len, entries.values()))
        self.assertLess(self.output.stat().st_size, data + len(entries) * (64 + 30 + 46 + 2 * 20) + 22)
        self.assertLess(data, 10 * 80_000 + 3 * 30 * 120)


if __name__ == "__main__":
    command_line.main()

"""link: a small .onnx whose external data is the archive."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import onnx
import onnx.external_data_helper
from onnx import numpy_helper

from support import command_line, zoo
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, sound, weights
from support.command_line import ALL_SITES, DONE, FORMAT, FOUND, IO, MIB, USAGE
from support.command_line import Fault, RunError, ToolCase, at_once, keys_of, label, onnxar, run
from support.sites import at_every_site

LEAST_MODELS, LEAST_LINKS = 130, 1500
MARKER = "onnxar.link."
STALE = Fault("onnx.link.stale")


def without_marker(model: walk.Message) -> walk.Message:
    kept = [entry for entry in model.metadata_props if not entry.key.startswith(MARKER)]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    return model


def judge(path: Path) -> tuple[int, str]:
    """The number of linked tensors of the model, and the faults."""
    with tempfile.TemporaryDirectory() as folder:
        archive, link = Path(folder) / "m.onnxar", Path(folder) / "m.onnx"
        try:
            onnxar("pack", path, "-o", archive, "--no-sync", *ALL_SITES)
            onnxar("link", archive, "-o", link, "--no-sync")
        except RunError as error:
            return 0, f"{label(path)}: {error}"
        checked = run("check", "--data", "-q", link)
        if checked.returncode != (DONE if zoo.passes_check(path) else FOUND):
            return 0, f"{label(path)}: {checked.stdout}"
        links = [walk.link(site.tensor) for site in walk.external_sites(walk.parse(link.read_bytes()))]
        if not all([*each] == walk.KEYS for each in links):
            return 0, f"{label(path)}: a link with other keys"
        if not all(each["location"] == archive.name and int(each["offset"]) % 64 == 0 for each in links):
            return 0, f"{label(path)}: a link to another place"
        if any(int(each["length"]) < 128 for each in links):
            return 0, f"{label(path)}: a link to too little"
        faults = walk.differences(walk.load(path), without_marker(walk.load(link)))
        return len(links), f"{label(path)}: {faults[0]}" if faults else ""


class Zoo(ToolCase):
    def test_every_site_is_linked(self) -> None:
        models = zoo.write_zoo(self.folder)
        results = at_once(judge, models)
        self.assertEqual([fault for _, fault in results if fault], [])
        self.assertGreaterEqual(len(models), LEAST_MODELS)
        self.assertGreaterEqual(sum(links for links, _ in results), LEAST_LINKS)


class LinkCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.write("model.onnxar", sound().file)
        self.link = self.folder / "model.onnx"

    def make_link(self) -> Path:
        self.succeeds("link", self.path, "-o", self.link, "--no-sync")
        return self.link


class Linked(LinkCase):
    def tensors(self) -> dict[str, bytes]:
        model = onnx.load(str(self.link))
        return {each.name: numpy_helper.to_array(each).tobytes() for each in model.graph.initializer}

    def test_onnx_loads_it(self) -> None:
        """Debian's onnx, which knows nothing of archives."""
        self.make_link()
        expected = {entry.name: entry.data for entry in weights("a", "b")}
        self.assertEqual(self.tensors(), expected)
        other = self.model(linked("b"), wire.tensor("new"), name="other.onnx")
        self.succeeds("replace", self.path, other, "--no-sync")
        self.assertEqual(self.tensors(), expected)

    def test_check_names_missing_archive_once(self) -> None:
        self.make_link()
        self.path.rename(self.folder / "moved.onnxar")
        told = run("check", self.link).stdout.decode()
        self.assertEqual(told.count("error["), 1, told)
        self.assertIn('the archive "model.onnxar" is not in ', told)
        self.assertIn('; 2 tensors have their data in "model.onnxar"', told)

    def test_onnx_checks_it(self) -> None:
        tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [300], bytes(1200), raw=True)
        value = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [300])
        node = onnx.helper.make_node("Relu", ["w"], ["y"])
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [value], [tensor]))
        self.succeeds("pack", self.write("w.onnx", model.SerializeToString()), "-o", self.path, "-f")
        self.make_link()
        onnx.checker.check_model(str(self.link))
        onnx.checker.check_model(onnx.load(str(self.link)))

    def test_says_what_it_did(self) -> None:
        done = self.succeeds("link", self.path, "-o", self.link)
        self.assertEqual(done.stdout, b"")
        size = self.link.stat().st_size
        self.assertEqual(done.stderr, f"linked 2 tensors to {self.path}, model {size} bytes: {self.link}\n")
        self.assertEqual(self.succeeds("link", self.path, "-o", self.link, "-f", "-q").stderr, "")

    def test_help_says_what_breaks_it(self) -> None:
        told = self.succeeds("link", "--help").stdout.decode()
        for word in ("replace", "repack", "undo", "check"):
            self.assertIn(word, told)

    def test_relative_paths(self) -> None:
        self.succeeds("link", "model.onnxar", "-o", "model.onnx", cwd=self.folder)
        self.succeeds("check", "model.onnx", cwd=self.folder)

    def test_takes_little_memory(self) -> None:
        count = 20_000
        model = self.model(*(wire.tensor(f"w{n}", wire.UINT8, 16, seed=0) for n in range(count)), name="many.onnx")
        self.succeeds("pack", model, "-o", self.path, "-f", "--no-sync", "--threshold", "0")
        skeleton = len(self.succeeds("cat", self.path, "--model").stdout)
        tool = self.in_memory(64 * MIB + count * 1024 + 2 * skeleton)
        self.succeeds("link", self.path, "-o", self.link, tool=tool)


class Notes(ToolCase):
    """What some readers of the link refuse."""

    def note(self, *parts: wire.Part, options: tuple[str, ...] = ()) -> str:
        path = self.folder / "noted.onnxar"
        self.succeeds("pack", self.write("noted.onnx", wire.model(*parts)), "-o", path, "-f", "-q", *options)
        told = self.succeeds("link", path, "-o", self.output, "-f").stderr
        return "".join(line for line in told.splitlines(keepends=True) if not line.startswith("linked "))

    def test_none_for_initializers_of_the_graph(self) -> None:
        self.assertEqual(self.note(wire.Part(wire.initializers(wire.tensor("w")))), "")

    def test_data_in_subgraphs_and_constants(self) -> None:
        sites = at_every_site(wire.tensor)
        told = self.note(*sites)
        self.assertRegex(told, r"^onnxar: note: \d+ linked tensors of subgraphs, functions, attributes or sparse tensors: ")
        self.assertIn("`pack --no-subgraphs --no-attributes`", told)
        self.assertEqual(self.note(*sites, options=("--no-subgraphs", "--no-attributes")), "")

    def test_all_sites_may_be_why(self) -> None:
        sparse = wire.Part(wire.block(15, wire.sparse(wire.tensor("s"))))
        told = self.note(sparse, options=("--all-sites", "--no-subgraphs", "--no-attributes"))
        self.assertIn("without --all-sites", told)
        self.assertEqual(self.note(sparse), "")

    def test_archive_of_several_names(self) -> None:
        self.on_posix("under Wine the C++ library counts one name of each file")
        path = self.write("model.onnxar", sound().file)
        os.link(path, self.folder / "again")
        told = self.succeeds("link", path, "-o", self.output).stderr
        self.assertTrue(told.startswith("onnxar: note: the archive's file has 2 names (hard links): "), told)
        (self.folder / "hub").mkdir()
        self.assertNotIn("note", self.succeeds("link", path, "--hub", self.folder / "hub").stderr)


class Hub(LinkCase):
    """A folder with the names that hubs of models expect."""

    def setUp(self) -> None:
        super().setUp()
        self.hub = self.folder / "hub"
        self.hub.mkdir()
        self.copy, self.link = self.hub / "model.onnx_data", self.hub / "model.onnx"

    def tensors(self, model: Path) -> dict[str, bytes]:
        return {each.name: numpy_helper.to_array(each).tobytes() for each in onnx.load(str(model)).graph.initializer}

    def test_copy_and_link(self) -> None:
        told = self.succeeds("link", self.path, "--hub", self.hub).stderr
        self.assertEqual(told, f"linked 2 tensors to {self.path}, model {self.link.stat().st_size} bytes: {self.link}\n")
        self.assertEqual({each.name for each in self.hub.iterdir()}, {"model.onnx", "model.onnx_data"})
        self.assertEqual(self.copy.read_bytes(), sound().file)
        self.assertEqual(self.tensors(self.link), {entry.name: entry.data for entry in weights("a", "b")})
        self.path.unlink()
        self.succeeds("check", "--data", "--strict", self.link)

    def test_is_the_link_of_a_copy_by_hand(self) -> None:
        self.succeeds("link", self.path, "--hub", self.hub, "--no-sync")
        by_hand = self.folder / "by_hand"
        by_hand.mkdir()
        (by_hand / "model.onnx_data").write_bytes(sound().file)
        self.succeeds("link", by_hand / "model.onnx_data", "-o", by_hand / "model.onnx", "--no-sync")
        self.assertEqual(self.link.read_bytes(), (by_hand / "model.onnx").read_bytes())

    def test_loads_from_a_cache_of_symbolic_links(self) -> None:
        """As Hugging Face's client keeps what it downloads: names in a folder of each version, contents elsewhere."""
        self.on_posix("Wine 8 shows no symbolic links")
        self.succeeds("link", self.path, "--hub", self.hub, "--no-sync")
        (self.folder / "blobs").mkdir()
        snapshot = self.folder / "snapshots/1a2b"
        snapshot.mkdir(parents=True)
        for file in (self.link, self.copy):
            blob = file.rename(self.folder / "blobs" / file.name.encode().hex())
            (snapshot / file.name).symlink_to(f"../../blobs/{blob.name}")
        self.succeeds("check", "--data", snapshot / "model.onnx")
        self.succeeds("pack", snapshot / "model.onnx", "-o", self.output)
        self.assertEqual(self.output.read_bytes(), sound().file)

    def test_existing_archive_is_not_copied_again(self) -> None:
        self.path.rename(self.copy)
        before = self.copy.stat()
        self.succeeds("link", self.copy, "--hub", self.hub)
        after = self.copy.stat()
        self.assertEqual((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        self.succeeds("check", self.link)

    def test_dry_run(self) -> None:
        with self.nothing_changes():
            told = self.succeeds("link", self.path, "--hub", self.hub, "-n").stderr
        self.assertTrue(told.startswith("would link 2 tensors"), told)

    def test_damaged_entry_is_not_copied(self) -> None:
        whole = self.path.read_bytes()
        for entry in weights("a", "b"):
            damaged = bytearray(whole)
            damaged[whole.index(entry.data) + len(entry.data) - 1] ^= 1
            self.path.write_bytes(damaged)
            for there in (b"", b"before"):
                if there:
                    self.write("hub/model.onnx_data", there)
                with self.nothing_changes():
                    told = self.fails(FORMAT, "onnxar: error[zip.data.crc]", "link", self.path, "--hub", self.hub, "-f")
                self.assertIn(f'"{entry.name}"', told)
            self.copy.unlink()

    def test_output_that_exists(self) -> None:
        for name in ("model.onnx", "model.onnx_data"):
            there = self.write(f"hub/{name}", b"precious")
            with self.nothing_changes():
                self.fails(USAGE, "onnxar: error[output.exists]", "link", self.path, "--hub", self.hub)
            self.succeeds("link", self.path, "--hub", self.hub, "-f")
            self.succeeds("check", self.link)
            self.copy.unlink()
            self.link.unlink()
            self.assertFalse(there.exists())

    def test_symbolic_links_of_the_names_are_not_followed(self) -> None:
        self.on_posix("Wine 8 shows no symbolic links")
        precious = self.write("precious", b"precious")
        self.copy.symlink_to(precious)
        self.link.symlink_to(precious)
        with self.nothing_changes():
            self.fails(IO, "onnxar: error[io.not_a_file]", "link", self.path, "--hub", self.hub, "-f")

    def test_entry_of_the_new_name(self) -> None:
        path = self.archive_of(Entry("model.onnx_data", b"\x22" * 64), *weights("w"), model_of(linked("w")), name="own.onnxar")
        with self.nothing_changes():
            self.fails(USAGE, "onnxar: error[usage.own_name]", "link", path, "--hub", self.hub)

    def test_usage(self) -> None:
        with self.nothing_changes():
            self.assertEqual(run("link", self.path, "--hub", self.hub, "-o", self.link).returncode, USAGE)
            self.fails(IO, "onnxar: error[io.not_found]", "link", self.path, "--hub", self.folder / "none")


class Refused(LinkCase):
    def refused(self, code: str, exit_code: int, *arguments: object) -> str:
        return self.fails(exit_code, f"onnxar: error[{code}]", "link", *arguments)

    def test_usage(self) -> None:
        for arguments in ((), (self.path, "-o"), (self.path, self.path, "-o", self.link)):
            with self.nothing_changes():
                self.assertEqual(run("link", *arguments).returncode, USAGE)

    def test_another_folder(self) -> None:
        (self.folder / "other").mkdir()
        told = self.refused("usage.argument", USAGE, self.path, "-o", self.folder / "other/model.onnx")
        self.assertIn(f"write it to {self.path.resolve().parent / 'model.onnx'}", told)
        self.refused("io.not_found", IO, self.path, "-o", self.folder / "none/model.onnx")


class OwnName(ToolCase):
    """An entry with the name of the archive's own file: a link to the file could be taken for one to the entry."""

    def setUp(self) -> None:
        super().setUp()
        entries = [*weights("w"), Entry("Model.onnxar", b"\x22" * 65536), model_of(linked("w"))]
        self.path = self.archive_of(*entries, name="model.onnxar")
        self.model_of_it = self.write("skeleton.onnx", onnxar("cat", self.path, "--model"))
        self.other = self.folder / "other.onnxar"

    def test_archive_must_be_renamed_before_link_or_edit(self) -> None:
        line = Fault("usage.own_name", "Model.onnxar").line(self.path).partition(" at 0x")[0].rstrip(": ")
        for command in (("link", self.path, "-o", self.output), ("replace", self.path, self.model_of_it)):
            with self.nothing_changes():
                self.assertIn("--rename", self.fails(USAGE, line, *command))
        self.path.rename(self.other)
        self.succeeds("link", self.other, "-o", self.output)
        self.succeeds("check", "--data", self.output)
        self.succeeds("replace", self.other, self.model_of_it)

    def test_edit_refuses_the_name_of_a_symbolic_link(self) -> None:
        self.path.rename(self.other)
        self.path.symlink_to(self.other)
        self.fails(USAGE, "onnxar: error[usage.own_name] ", "replace", self.path, self.model_of_it)
        self.succeeds("link", self.path, "-o", self.output)  # it names the file

    def test_link_leads_to_its_file_and_not_to_an_entry(self) -> None:
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        entries = [*weights("w"), model_of(linked("w"))]
        linked_to = self.archive_of(*entries, name="elsewhere/linked.onnxar")
        link = elsewhere / "link.onnx"
        self.succeeds("link", linked_to, "-o", link)
        trap = self.archive_of(Entry("linked.onnxar", b"\x22" * 65536), *entries, name="trap.onnxar")
        told = self.fails(FORMAT, "onnxar: error[onnx.external_data.missing] ", "replace", trap, link)
        self.assertIn("linked.onnxar", told)
        self.succeeds("replace", trap, link, "--append-external")
        self.assertEqual(self.unpacked(trap), self.unpacked(linked_to))

    def test_new_entry_does_not_get_the_files_name(self) -> None:
        path = self.archive_of(*weights("w"), model_of(linked("w")), name="v")
        self.succeeds("replace", path, self.model(wire.tensor("v")))
        self.assertEqual(keys_of(path), ["w", "v_2"])
        self.succeeds("link", path, "-o", self.output)


class Stale(LinkCase):
    """The archive is not the one that the link was made for."""

    def is_stale(self) -> None:
        line = STALE.line(self.link)
        for verb in ("pack", "unpack"):
            told = self.fails(FORMAT, line, verb, self.link, "-o", self.output)
            self.assertIn("make the link again", told)
        self.fails(FORMAT, line, "replace", self.path, self.link)
        self.finds(STALE, self.link)

    def test_after_repack(self) -> None:
        self.make_link()
        self.succeeds("repack", self.path, "-o", self.path, "-f", "--align", "4096")
        self.is_stale()

    def test_one_finding_for_all_tensors(self) -> None:
        self.make_link()
        self.path.write_bytes(b"PK")
        done = run("check", "-q", self.link)
        self.assertRegex(done.stdout.decode(), r"\Aerror\[onnx\.link\.stale\] .*\n\Z")


if __name__ == "__main__":
    command_line.main()

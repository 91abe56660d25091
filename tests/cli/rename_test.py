"""Names that are not allowed in archives: `pack` renames entries of tensors, `--rename` all others."""

from __future__ import annotations

from pathlib import Path

from support import command_line
from support import onnx_walk as walk
from support import wire_writer as wire
from support.archives import MODEL, Archive, Entry, linked, model_of, weights
from support.command_line import FORMAT, USAGE, ToolCase, entries_of, keys_of

CHARACTER = "onnxar: error[zip.name.character] "
RENAME = ("--rename", "notes;1=notes.txt")


class RenameCase(ToolCase):
    def made(self, *entries: Entry) -> Path:
        """An archive that only breaks rules of names."""
        return self.write("in.onnxar", Archive(entries).file)

    def side(self, name: str = "notes;1") -> Path:
        return self.made(*weights("w"), Entry(name, b"text"), model_of(linked("w")))

    def fault(self, code: int, line: str, *call: object) -> str:
        told = self.fails(code, line, *call)
        self.assertFalse(self.output.exists())
        return told


class Reading(RenameCase):
    def test_forbidden_name_error_recommends_pack(self) -> None:
        for name in ("weights;1", "größe", "a:b", "a\u202eb"):
            with self.subTest(name=name):
                told = self.fault(FORMAT, CHARACTER, "ls", self.side(name))
                self.assertIn("`onnxar pack`", told)
                self.assertIn("--rename", told)


class Packing(RenameCase):
    def test_entries_of_tensors_get_names_that_are_allowed(self) -> None:
        names = ("weights;1", "onnx::Conv_1", "größe", "con", "a.")
        source = self.made(*weights(*names), model_of(*map(linked, names)))
        self.succeeds("pack", source, "-o", self.output)
        self.succeeds("check", "--strict", "--data", self.output)
        self.assertEqual(keys_of(self.output), ["weights_1", "onnx__Conv_1", "gr____e", "t_con", "a_"])
        tensors = walk.sites(walk.parse(entries_of(self.output)[MODEL]))
        self.assertEqual([site.tensor.name for site in tensors], list(names))

    def test_a_side_file_needs_another_name(self) -> None:
        for options in ((), ("-n",)):
            told = self.fault(FORMAT, CHARACTER, "pack", self.side(), "-o", self.output, *options)
            self.assertIn("--rename OLD=NEW", told)

    def test_a_side_file_gets_another_name(self) -> None:
        self.succeeds("pack", self.side(), "-o", self.output, *RENAME)
        self.succeeds("check", "--strict", "--data", self.output)
        self.assertEqual(keys_of(self.output), ["w", "notes.txt"])
        self.assertEqual(entries_of(self.output)["notes.txt"], b"text")

    def test_side_files_may_swap_names(self) -> None:
        source = self.made(Entry("a.1", b"one"), Entry("b.1", b"two"), model_of(wire.tensor("w")))
        self.succeeds("pack", source, "-o", self.output, "--rename", "a.1=b.1", "--rename", "b.1=a.1")
        self.assertEqual({name: entries_of(self.output)[name] for name in ("a.1", "b.1")}, {"a.1": b"two", "b.1": b"one"})

    def test_added_file_can_be_renamed_unless_names_clash(self) -> None:
        file = self.write("file", b"added")
        added = ("--add", f"new.txt={file}")
        self.succeeds("pack", self.side("a.1"), "-o", self.output, *added, "--rename", "new.txt=b.1")
        self.assertEqual(entries_of(self.output)["b.1"], b"added")
        self.output.unlink()
        line = "onnxar: error[zip.name.duplicate] "
        self.fault(FORMAT, line, "pack", self.side(), "-o", self.output, *added, "--rename", "notes;1=new.txt")


class Repacking(RenameCase):
    def test_tensor_entry_cannot_be_renamed_by_repack(self) -> None:
        source = self.made(*weights("weights;1"), model_of(linked("weights;1")))
        for options in ((), ("--rename", "weights;1=w.bin")):
            told = self.fault(
                FORMAT if not options else USAGE,
                CHARACTER if not options else "onnxar: error[usage.argument] ",
                "repack", source, "-o", self.output, *options,
            )  # fmt: skip
            self.assertIn("`onnxar pack`", told)

    def test_another_entry_needs_a_new_name(self) -> None:
        told = self.fault(FORMAT, CHARACTER, "repack", self.side(), "-o", self.output)
        self.assertIn("--rename OLD=NEW", told)

    def test_repack_renames_an_entry_and_nothing_else(self) -> None:
        self.succeeds("repack", self.side(), "-o", self.output, *RENAME)
        expected = Archive([*weights("w"), Entry("notes.txt", b"text"), model_of(linked("w"))])
        self.assertEqual(self.output.read_bytes(), bytes(expected.file))


class BothVerbs(RenameCase):
    def test_old_name_must_exist(self) -> None:
        for verb in ("pack", "repack"):
            for old in ("none", MODEL, "folder/", "NOTES;1"):
                with self.subTest(verb=verb, old=old):
                    call = (verb, self.side(), "-o", self.output, *RENAME, "--rename", f"{old}=x.txt")
                    told = self.fault(USAGE, "onnxar: error[usage.argument] ", *call)
                    self.assertIn(old, told)

    def test_new_name_must_not_clash(self) -> None:
        for verb in ("pack", "repack"):
            for new, fault in (
                ("a.txt", "zip.name.duplicate"),
                ("f.d", "zip.name.prefix"),
            ):
                with self.subTest(verb=verb, new=new):
                    others = (Entry("a.txt", b"a"), Entry("f.d/x", b"x"))
                    source = self.made(*others, Entry("notes;1", b"text"), model_of(wire.tensor("w")))
                    call = (verb, source, "-o", self.output, "--rename", f"notes;1={new}")
                    self.fault(FORMAT, f"onnxar: error[{fault}] ", *call)

    def test_invalid_pair_of_names_is_refused(self) -> None:
        for verb in ("pack", "repack"):
            for text in ("notes;1", "=b.txt", "notes;1="):
                with self.subTest(verb=verb, text=text):
                    call = (verb, self.side(), "-o", self.output, "--rename", text)
                    self.fault(USAGE, "onnxar: error[usage.argument] --rename wants OLD=NEW", *call)


if __name__ == "__main__":
    command_line.main()

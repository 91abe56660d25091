"""The module for upstream is a loader, by the vectors, and a canonical writer, by the command line.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests:spec/rfc onnx_archive_test.py
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, helper, numpy_helper
from onnx_archive import Archive, ArchiveError, Container, Writer, load, save
from support import wire_writer as wire
from support import zoo
from support.archives import MODEL, Entry, linked, model_of, weights
from support.archives import Archive as Made
from support.command_line import MIB, FolderCase, ToolCase, onnxar

SOURCE = Path(__file__).resolve().parents[2]
VECTORS = SOURCE / "spec" / "vectors"
SECTIONS = [
    "Summary", "Motivation", "Guide-level explanation", "Reference-level explanation", "Drawbacks", "Rationale and alternatives",
    "Prior art", "Unresolved questions", "Future possibilities",
]  # fmt: skip
FIELDS = ["Feature Name", "Start Date", "RFC PR", "Status", "Authors"]
# What a loader says in place of a checker's code: it tells fewer cases apart, or it looks at two
# rules that are both broken in another order.
SAID_OTHERWISE = {
    ("zip.end.comment", "zip.end.missing"),
    ("zip.end.not_last", "zip.end.missing"),
    ("zip.entry.bounds", "zip.entry.overlap"),
    ("zip.entry.order", "zip.name.duplicate"),
    ("zip.extra.unknown", "zip.extra.duplicate"),
    ("zip.extra.unknown", "zip.extra.malformed"),
    ("onnx.external_data.marker", "onnx.external_data.missing"),
    ("onnx.tensor.dims", "onnx.model.invalid"),
}
NEEDS_TOOL = unittest.skipIf("ONNXAR" not in os.environ, "no tool")


def vectors() -> Iterator[dict[str, Any]]:
    for vector in json.loads((VECTORS / "manifest.json").read_text()):
        if (VECTORS / vector["file"]).exists():
            yield vector


def loaded(path: Path) -> list[tuple[object, ...]]:
    """All that a loader hands out; raises what it refuses."""
    archive = Archive(path)
    entries = [(name, archive.offset(name), len(data)) for name, data in archive.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # protobuf warns of groups
        load(path)
    return entries


def parsed(data: bytes) -> onnx.ModelProto | None:
    """None if protobuf's parser refuses it, which judges models for loaders."""
    model = onnx.ModelProto()
    try:
        return model if model.ParseFromString(data) == len(data) else None
    except (DecodeError, UnicodeDecodeError):
        return None


def is_for_loaders(vector: dict[str, Any]) -> bool:
    """Whether a loader must not refuse the file."""
    if vector["stage"] is not None or "entries" not in vector:
        return vector["stage"] is None
    last, data = vector["entries"][-1], (VECTORS / vector["file"]).read_bytes()
    return parsed(data[last["offset"] : last["offset"] + last["size"]]) is not None


class Vectors(unittest.TestCase):
    def test_each_valid_archive_is_loaded_with_its_entries(self) -> None:
        seen = 0
        for vector in vectors():
            if not is_for_loaders(vector):
                continue
            with self.subTest(vector["file"]):
                entries = loaded(VECTORS / vector["file"])
                seen += 1
                self.assertEqual(vector.get("count", len(entries)), len(entries))
                said = [(each["name"], each["offset"], each["size"]) for each in vector.get("entries", [])]
                self.assertEqual(said or entries, entries)
        self.assertGreaterEqual(seen, 100)

    def test_what_a_loader_must_refuse_is_refused(self) -> None:
        seen = 0
        codes = {vector["rule"]: vector["code"] for vector in vectors() if vector["stage"]}
        for vector in vectors():
            if vector.get("loader"):
                seen += 1
                with self.subTest(vector["file"], about=vector["about"]):
                    with self.assertRaises(ArchiveError) as raised:
                        loaded(VECTORS / vector["file"])
                    said = raised.exception.code
                    stated = {vector["code"], *(codes[rule] for rule in vector.get("also", []))}
                    if stated.isdisjoint(code for code, other in SAID_OTHERWISE if other == said):
                        self.assertIn(said, stated)
        self.assertGreaterEqual(seen, 300)

    def test_nothing_but_a_refusal_comes_of_a_broken_archive(self) -> None:
        for vector in vectors():
            with self.subTest(vector["file"]):
                try:
                    loaded(VECTORS / vector["file"])
                except ArchiveError as error:
                    self.assertFalse(is_for_loaders(vector), error)


class Documents(FolderCase):
    def test_the_example_in_the_readme_runs(self) -> None:
        text = (SOURCE / "spec/rfc/README.md").read_text()
        (code,) = re.findall("```python\n(.*?)```", text, re.S)
        path = self.folder / "model.onnxar"
        code = code.replace('"model.onnxar"', repr(str(path)))
        model = model_with()
        names: dict[str, Any] = {"model": model}
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102 our own text
        self.assertEqual(names["model"], model)
        self.assertEqual(names["values"].tobytes(), bytes(Archive(path)["w"]))

    def test_the_proposal_has_the_sections_of_the_template(self) -> None:
        text = (SOURCE / "spec/rfc/proposal.md").read_text()
        self.assertEqual(re.findall("^## (.*)$", text, re.M), SECTIONS)
        self.assertEqual(re.findall("^- ([A-Z].*?): ", text, re.M)[:5], FIELDS)


def model_with(*tensors: bytes) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(wire.plain(*(tensors or [wire.tensor("w")])))


class Loader(FolderCase):
    (entry,) = weights("w", count=300)

    def made(self, *tensors: bytes) -> Made:
        return Made([self.entry, model_of(*(tensors or [linked("w", count=300)]))])

    def opened(self, *tensors: bytes) -> Archive:
        return Archive(self.write("made.onnxar", self.made(*tensors).file))

    def test_an_array_lies_in_the_mapped_file(self) -> None:
        archive = self.opened()
        (tensor,) = archive.model().graph.initializer
        array = archive.array(tensor)
        self.assertEqual((array.shape, array.dtype), ((300,), np.dtype("<f4")))
        self.assertEqual(array.tobytes(), self.entry.data)
        self.assertFalse(array.flags.owndata or array.flags.writeable)
        whole = np.frombuffer(archive["w"], "u1")
        self.assertTrue(np.shares_memory(array, whole))
        self.assertEqual(array.ctypes.data % 64, 0)

    def test_an_array_outlives_the_archive(self) -> None:
        archive = self.opened()
        array = archive.array(archive.model().graph.initializer[0])
        del archive
        self.assertEqual(array.tobytes(), self.entry.data)

    def test_opening_does_not_look_at_local_headers_but_use_does(self) -> None:
        made = self.made()
        made.put(made.headers[0] + 30, b"v")
        archive = Archive(self.write("renamed.onnxar", made.file))
        with self.assertRaisesRegex(ArchiveError, "zip.local.name"):
            archive["w"]

    def test_another_graph_uses_the_same_weights(self) -> None:
        graph = Entry("other.onnx", model_of(linked("w", count=2, offset=4)).data)
        made = Made([self.entry, graph, model_of(linked("w", count=300))])
        archive = Archive(self.write("graphs.onnxar", made.file))
        (tensor,) = archive.model("other.onnx").graph.initializer
        self.assertEqual(bytes(archive.data(tensor)), self.entry.data[4:12])

    def test_a_linked_tensor_gets_its_part_of_an_entry(self) -> None:
        (tensor,) = load(self.write("part.onnxar", self.made(linked("w", count=3, offset=8)).file)).graph.initializer
        self.assertEqual(tensor.raw_data, self.entry.data[8:20])
        self.assertEqual(tensor.data_location, TensorProto.DEFAULT)
        self.assertFalse(tensor.external_data)

    def test_data_of_an_unknown_type_is_bytes_and_not_an_array(self) -> None:
        later = wire.DataType("LATER", 99, 8, 0, "B")
        archive = self.opened(wire.fields_of("w", later, [2], wire.DataFile("w").link(length=10)))
        (found,) = archive.model().graph.initializer
        self.assertEqual(bytes(archive.data(found)), self.entry.data[:10])
        with self.assertRaisesRegex(ArchiveError, "no_type"):
            archive.array(found)

    def test_numbers_of_a_link_that_are_not_utf_8_are_refused(self) -> None:
        for key in ("offset", "length", "location"):
            pair = wire.block(13, wire.block(1, key) + wire.block(2, b"\xff"))
            fields = wire.scalar(2, 1) + wire.scalar(14, 1) + pair
            if key != "location":
                fields += wire.block(13, wire.block(1, "location") + wire.block(2, "w"))
            path = self.write("odd.onnxar", self.made(fields).file)
            with self.subTest(key), self.assertRaisesRegex(ArchiveError, "onnx.external_data"):
                load(path)

    def test_links_are_kept_on_request(self) -> None:
        model = load(self.write("sound.onnxar", self.made().file), load_external_data=False)
        self.assertEqual(model.graph.initializer[0].external_data[0].value, "w")

    def test_a_refusal_says_what_and_by_which_rule(self) -> None:
        path = self.write("zip.onnxar", b"PK\5\6" + bytes(18))
        with self.assertRaisesRegex(ArchiveError, r"there are no entries \[zip.directory.empty\]"):
            Archive(path)
        for size in (0, 1, 21):
            with self.assertRaisesRegex(ArchiveError, "too short"):
                Archive(self.write("short", bytes(size)))

    def test_our_package_does_not_import_it(self) -> None:
        for path in (SOURCE / "python").rglob("*.py"):
            self.assertNotIn("onnx_archive", path.read_text(), path)


@NEEDS_TOOL
class CanonicalWriter(ToolCase):
    def same_container(self, path: Path, alignment: int = 64) -> None:
        """The entries of an archive, written anew, give the archive."""
        archive, again = Container(path), self.folder / "again.onnxar"
        with Writer(again, alignment) as writer:
            for name, data in archive.items():
                writer.finish(bytes(data)) if name == MODEL else writer.add(name, data)
        self.assertEqual(again.read_bytes(), path.read_bytes())

    def test_the_same_entries_give_the_same_container_as_the_tool_writes(self) -> None:
        large = wire.tensor("large", wire.UINT8, MIB)
        model = self.model(wire.tensor("w"), large, wire.tensor("odd", wire.UINT8, 1031))
        side = self.write("a.txt", b"tokens")
        pack = ("pack", model, "-o", self.output, "-fq", "--no-sync", "--add", f"a/b.txt={side}")
        for alignment in (64, 256, 4096, 32768):
            with self.subTest(alignment):
                onnxar(*pack, "--align", alignment)
                self.same_container(self.output, alignment)

    def test_the_same_container_for_each_model_of_the_zoo(self) -> None:
        for path in zoo.write_zoo(self.folder / "zoo"):
            with self.subTest(path.stem):
                onnxar("pack", path, "-o", self.output, "-fq", "--no-sync")
                self.same_container(self.output)

    def test_the_same_zip64_end_records_for_more_entries_than_16_bits_count(self) -> None:
        tensors = [wire.tensor(f"t{i}", wire.UINT8, 1) for i in range(65534)]
        for count in (65533, 65534):  # and the model: 65534, which need none, and 65535, which do
            with self.subTest(count):
                model = self.model(*tensors[:count])
                onnxar("pack", model, "-o", self.output, "-fq", "--no-sync", "--threshold", "1")
                self.assertEqual(len(Container(self.output)), count + 1)
                self.same_container(self.output)

    def test_a_model_is_saved_as_the_tool_packs_it(self) -> None:
        same, saved = 0, self.folder / "saved.onnxar"
        for path in zoo.write_zoo(self.folder / "zoo"):
            model = parsed(path.read_bytes())
            if model is None or path.parent.name != "zoo":  # those in folders have external data
                continue
            # As protobuf serialises it: of another order of fields the tool keeps all.
            as_saved = self.write("model.onnx", model.SerializeToString())
            for threshold in (1024, 1):
                with self.subTest(path.stem, threshold=threshold):
                    pack = ("pack", as_saved, "-o", self.output, "-fq", "--no-sync")
                    onnxar(*pack, "--threshold", threshold)
                    save(model, saved, threshold=threshold)
                    self.assertEqual(saved.read_bytes(), self.output.read_bytes())
                    self.assertEqual(model.SerializeToString(), as_saved.read_bytes())
                    same += 1
        self.assertGreaterEqual(same, 200)

    def test_signalling_nans_keep_their_bits(self) -> None:
        count, saved = 300, self.folder / "saved.onnxar"
        single = b"\1\0\x80\x7f\1\0\xa0\xff\0\0\x80\x3f" * (count // 3)
        double = b"\1\0\0\0\0\0\xf0\x7f\1\0\0\0\0\0\xf4\xff" * (count // 2)
        tensors = [
            wire.scalar(1, dims) + wire.scalar(2, number) + wire.block(field, data) + wire.block(8, name)
            for number, field, data, dims, name in (
                (1, wire.FLOAT_DATA, single, count, b"single"),
                (11, wire.DOUBLE_DATA, double, count, b"double"),
                (14, wire.FLOAT_DATA, single, count // 2, b"complex"),
                (15, wire.DOUBLE_DATA, double, count // 2, b"complex_double"),
                (1, wire.FLOAT_DATA, single[:24], 6, b"small"),
            )
        ]
        for threshold in (1024, 1):
            with self.subTest(threshold):
                path = self.model(*tensors)
                model = onnx.ModelProto.FromString(path.read_bytes())
                onnxar("pack", path, "-o", self.output, "-fq", "--no-sync", "--threshold", threshold)
                save(model, saved, threshold=threshold)
                self.assertEqual(saved.read_bytes(), self.output.read_bytes())
                self.assertEqual(bytes(Container(saved)["single"]), single)
                self.assertEqual(bytes(Container(saved)["complex_double"]), double)

    def test_the_vectors_of_a_canonical_writer_are_made_from_their_entries(self) -> None:
        for name in ("smallest", "typical"):
            self.same_container(VECTORS / "valid" / f"{name}.onnxar")

    def test_a_file_as_source_gives_the_same_bytes_as_its_content(self) -> None:
        data = bytes(range(256)) * 5000
        for source in (data, memoryview(data), io.BytesIO(data), np.frombuffer(data, "<i4").data):
            with Writer(self.output) as writer:
                writer.add("data.bin", source)
                writer.finish(b"\x3a\0")
            self.assertEqual(bytes(Container(self.output)["data.bin"]), data)
            onnxar("check", "--data", "--strict", "-q", self.output)


class Writing(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.output = self.folder / "out.onnxar"

    def test_a_model_comes_back_as_it_was(self) -> None:
        values = np.arange(600, dtype=np.float32).reshape(20, 30)
        inner, outer = (numpy_helper.from_array(values, name) for name in ("inner", "outer"))
        node = helper.make_node("Constant", [], ["c"], value=inner)
        model = helper.make_model(helper.make_graph([node], "graph", [], [], [outer]))
        save(model, self.output, side_files={"notes.txt": b"text"})
        self.assertEqual(list(Archive(self.output)), ["inner", "outer", "notes.txt", MODEL])
        self.assertEqual(load(self.output), model)

    def test_messages_without_fields_are_kept(self) -> None:
        save(onnx.ModelProto.FromString(b"\x3a\0"), self.output)
        self.assertEqual(bytes(Container(self.output)[MODEL]), b"\x3a\0")

    def test_strings_that_are_not_utf_8_are_kept(self) -> None:
        odd = b"\xff\xfe"
        node = wire.block(1, odd) + wire.block(5, wire.block(1, odd) + wire.block(5, wire.tensor("v")))
        tensor = wire.tensor("w") + wire.block(8, odd) + wire.block(12, odd)
        graph = wire.block(1, node) + wire.block(2, odd) + wire.block(5, tensor)
        pair = wire.block(1, odd) + wire.block(2, odd)
        data = wire.scalar(1, 8) + wire.block(7, graph) + wire.block(14, pair)
        model = onnx.ModelProto.FromString(data)
        save(model, self.output)
        self.assertIn("__", Archive(self.output))
        self.assertEqual(load(self.output).SerializeToString(), model.SerializeToString())

    def test_truth_values_other_than_0_and_1_stay(self) -> None:
        model = onnx.ModelProto.FromString(wire.plain())
        for name, last in (("moves", 1), ("stays", 2)):
            tensor = model.graph.initializer.add(name=name, data_type=TensorProto.BOOL, dims=[2000])
            tensor.int32_data.extend([0] * 1999 + [last])
        save(model, self.output)
        self.assertEqual(list(Archive(self.output)), ["moves", MODEL])

    def test_an_archive_saved_from_an_archive_is_the_same(self) -> None:
        save(model_with(wire.tensor("v"), wire.tensor("w")), self.output)
        archive, again = Archive(self.output), self.folder / "again.onnxar"
        save(archive.model(), again, sources=archive)
        self.assertEqual(again.read_bytes(), self.output.read_bytes())

    def test_external_data_that_is_shared_becomes_one_entry(self) -> None:
        save(model_with(linked("w"), linked("w"), linked("w", 299)), self.output, sources={"w": memoryview(bytes(1200))})
        self.assertEqual(list(Archive(self.output)), ["w", "w_2", MODEL])

    def test_external_data_that_stays_is_taken_into_the_model(self) -> None:
        save(model_with(linked("w", 5)), self.output, sources={"w": memoryview(bytes(range(20)))})
        self.assertEqual(list(Archive(self.output)), [MODEL])
        self.assertEqual(load(self.output).graph.initializer[0].raw_data, bytes(range(20)))

    def test_external_data_that_is_not_given_is_refused(self) -> None:
        with self.nothing_changes(), self.assertRaisesRegex(ArchiveError, "external_data.missing"):
            save(model_with(linked("w")), self.output)

    def test_fields_of_a_later_schema_are_kept(self) -> None:
        later = wire.scalar(901, 1 << 63) + wire.block(902, b"text")
        later += wire.varint(903 << 3 | 1) + bytes(range(8)) + wire.varint(904 << 3 | 5) + b"abcd"
        model = onnx.ModelProto.FromString(wire.plain(wire.tensor("w") + later) + later)
        save(model, self.output)
        self.assertEqual(load(self.output).SerializeToString(), model.SerializeToString())

    def test_what_a_link_says_of_its_archive_is_left_out(self) -> None:
        model = model_with()
        for key in ("before", "onnxar.link.archive", "onnxar.link.size", "after"):
            model.metadata_props.add(key=key, value="1")
        save(model, self.output)
        self.assertEqual([pair.key for pair in load(self.output).metadata_props], ["before", "after"])

    def test_an_exception_leaves_nothing(self) -> None:
        with self.nothing_changes():
            with self.assertRaises(RuntimeError), Writer(self.output) as writer:
                writer.add("a.bin", b"data")
                raise RuntimeError

    def test_a_file_that_changes_its_size_is_refused(self) -> None:
        class Cut(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                return b""

        with self.nothing_changes(), self.assertRaisesRegex(OSError, "changed its size"):
            with Writer(self.output) as writer:
                writer.add("a.bin", Cut(b"data"))

    def test_names_that_no_reader_takes_are_refused(self) -> None:
        refused = ["", "a\\b", "a:b", "q?", "é", "a\n", "/a", "a/", "a//b", "a/../b", "a.", "a "]
        refused += ["con ", "nul.txt", "Com1", "conin$", "__MODEL_PROTO", "__Model_proto", "__X"]
        refused += ["x" * 256, "/".join(["x"] * 513)]
        with Writer(self.output) as writer:
            for name in refused:
                with self.subTest(name), self.assertRaises(ArchiveError):
                    writer.add(name, b"")
            writer.add("folder/a", b"")
            for name in ("folder", "FOLDER/A", "folder/a/b", "Folder/a"):
                with self.subTest(name), self.assertRaisesRegex(ArchiveError, "duplicate"):
                    writer.add(name, b"")
            for name in ("folder/b", "fold", "x" * 255, ".a b", "console", "__x", "com10"):
                writer.add(name, b"")
            writer.finish(b"\x3a\0")
        self.assertEqual(len(Container(self.output)), 9)

    def test_a_model_of_2_gib_is_refused(self) -> None:
        class Large(bytes):
            def __len__(self) -> int:
                return 1 << 31

        with self.nothing_changes(), self.assertRaisesRegex(ArchiveError, "model.too_large"):
            with Writer(self.output) as writer:
                writer.finish(Large())

    def test_an_alignment_that_no_record_holds_is_refused(self) -> None:
        for alignment in (0, 32, 96, 65536):
            with self.assertRaises(ValueError), self.nothing_changes():
                Writer(self.output, alignment)

    def test_the_container_needs_the_standard_library_alone(self) -> None:
        script = (
            "import sys, types\n"
            "package = types.ModuleType('onnx_archive')\n"
            f"package.__path__ = [{str(SOURCE / 'spec/rfc/onnx_archive')!r}]\n"
            "sys.modules['onnx_archive'] = package\n"
            "import onnx_archive.container\n"
            "print([name for name in sys.modules if name in ('numpy', 'onnx', 'google')])\n"
        )
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
        self.assertEqual(done.stdout.strip(), b"[]")


if __name__ == "__main__":
    unittest.main()

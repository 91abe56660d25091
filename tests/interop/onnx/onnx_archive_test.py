"""The module for upstream is a loader, by the vectors, and a canonical writer, by the command line.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests:spec/rfc onnx_archive_test.py
"""

from __future__ import annotations

import io
import json
import os
import re
import unittest
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import TensorProto, helper, numpy_helper
from onnx_archive import MODEL, Archive, ArchiveError, save
from support import wire_writer as wire
from support import zoo
from support.archives import Entry, linked, model_of, weights
from support.archives import Archive as Made
from support.command_line import MIB, FolderCase, ToolCase, least, onnxar, sampled

SOURCE = Path(__file__).resolve().parents[3]
VECTORS = SOURCE / "spec" / "vectors"
SECTIONS = [
    "Summary", "Motivation", "Guide-level explanation", "Reference-level explanation", "Drawbacks", "Rationale and alternatives",
    "Prior art", "Unresolved questions", "Future possibilities",
]  # fmt: skip
FIELDS = ["Feature Name", "Start Date", "RFC PR", "Status", "Authors"]
# What a loader says in place of a checker's code: it tells fewer cases apart, or it looks at two
# rules that are both broken in another order.
SAID_OTHERWISE = {
    ("zip.directory.empty", "zip.directory.count"),
    ("zip.end.comment", "zip.end.missing"),
    ("zip.end.not_last", "zip.end.missing"),
    ("zip.entry.bounds", "zip.entry.overlap"),
    ("zip.entry.order", "zip.entry.overlap"),
    ("zip.name.duplicate", "zip.entry.overlap"),
    ("zip.local.header", "zip.entry.overlap"),
    ("zip.extra.unknown", "zip.extra.duplicate"),
    ("zip.extra.unknown", "zip.extra.malformed"),
    ("onnx.external_data.marker", "onnx.external_data.missing"),
    ("onnx.tensor.dims", "onnx.model.invalid"),
}
REFUSALS = (ArchiveError, DecodeError)  # the second is of protobuf, which judges the model
NEEDS_TOOL = unittest.skipIf("ONNXAR" not in os.environ, "no tool")


MANIFEST = json.loads((VECTORS / "manifest.json").read_text())


def vectors() -> list[dict[str, Any]]:
    return sampled(vector for vector in MANIFEST if (VECTORS / vector["file"]).exists())


def loaded(path: Path) -> list[tuple[object, ...]]:
    """All that a loader hands out; raises what it refuses."""
    archive = Archive(path)
    entries = [(name, archive.offset(name), len(archive[name])) for name in archive.entries]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # protobuf warns of groups
        load(path)
    return entries


def load(path: Path) -> onnx.ModelProto:
    archive = Archive(path)
    model = archive.model()
    archive.load_tensors(model)
    return model


def rule_of(error: Exception) -> str:
    said = re.search(r" \(rule ([A-Z]+[0-9]+) of the archive format\)$", str(error))
    return said[1] if said else type(error).__name__


def parsed(data: bytes) -> onnx.ModelProto | None:
    """None if protobuf's parser refuses it, which judges models for loaders."""
    model = onnx.ModelProto()
    try:
        return model if model.ParseFromString(data) == len(data) else None
    except (DecodeError, UnicodeDecodeError):
        return None


def must_be(verdict: str, vector: dict[str, Any]) -> bool:
    """True if a loader must have this verdict on the file: "accepted" or "refused"."""
    return vector.get("loader", False) and verdict == ("accepted" if vector["stage"] is None else "refused")


class Vectors(unittest.TestCase):
    def test_each_valid_archive_is_loaded_with_its_entries(self) -> None:
        seen = 0
        for vector in vectors():
            if not must_be("accepted", vector):
                continue
            with self.subTest(vector["file"]):
                entries = loaded(VECTORS / vector["file"])
                seen += 1
                self.assertEqual(vector.get("count", len(entries)), len(entries))
                said = [(each["name"], each["offset"], each["size"]) for each in vector.get("entries", [])]
                self.assertEqual(said or entries, entries)
        self.assertGreaterEqual(seen, least(100))

    def test_what_a_loader_must_refuse_is_refused(self) -> None:
        seen = 0
        codes = {vector["rule"]: vector["code"] for vector in MANIFEST if vector["stage"]}
        for vector in vectors():
            if must_be("refused", vector):
                seen += 1
                with self.subTest(vector["file"], about=vector["about"]):
                    with self.assertRaises(REFUSALS) as raised:
                        loaded(VECTORS / vector["file"])
                    said = codes.get(rule_of(raised.exception), "onnx.model.invalid")
                    stated = {vector["code"], *(codes[rule] for rule in vector.get("also", []))}
                    if stated.isdisjoint(code for code, other in SAID_OTHERWISE if other == said):
                        self.assertIn(said, stated)
        self.assertGreaterEqual(seen, least(300))

    def test_broken_archives_only_raise_refusals(self) -> None:
        for vector in vectors():
            with self.subTest(vector["file"]):
                try:
                    loaded(VECTORS / vector["file"])
                except REFUSALS as error:
                    self.assertFalse(must_be("accepted", vector), error)


class Documents(FolderCase):
    def test_the_example_in_the_readme_runs(self) -> None:
        text = (SOURCE / "spec/rfc/README.md").read_text()
        (code,) = re.findall("```python\n(.*?)```", text, re.S)
        path = self.folder / "model.onnxar"
        code = code.replace('"model.onnxar"', repr(str(path)))
        model = model_with()
        names: dict[str, Any] = {"model": model}
        exec(compile(code, "README.md", "exec"), names)
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

    def test_an_unaligned_array_is_a_copy(self) -> None:
        for offset, is_view in ((3, False), (2, False), (4, True)):
            archive = self.opened(linked("w", count=299, offset=offset))
            array = archive.array(archive.model().graph.initializer[0])
            self.assertEqual(array.tobytes(), self.entry.data[offset : offset + 4 * 299])
            self.assertTrue(array.flags.aligned)
            self.assertEqual(np.shares_memory(array, np.frombuffer(archive["w"], "u1")), is_view)

    def test_an_array_outlives_the_archive(self) -> None:
        archive = self.opened()
        array = archive.array(archive.model().graph.initializer[0])
        del archive
        self.assertEqual(array.tobytes(), self.entry.data)

    def test_local_headers_are_checked_at_first_use(self) -> None:
        made = self.made()
        made.put(made.headers[0] + 30, b"v")
        archive = Archive(self.write("renamed.onnxar", made.file))
        with self.assertRaisesRegex(ArchiveError, "rule L2"):
            archive["w"]

    def test_another_graph_uses_the_same_weights(self) -> None:
        for name in ("other.onnx", "unet/model.onnx"):
            graph = Entry(name, model_of(linked("w", count=2, offset=4)).data)
            made = Made([self.entry, graph, model_of(linked("w", count=300))])
            archive = Archive(self.write("graphs.onnxar", made.file))
            (tensor,) = archive.model(name).graph.initializer
            self.assertEqual(bytes(archive.data(tensor)), self.entry.data[4:12])

    def test_a_linked_tensor_gets_its_part_of_an_entry(self) -> None:
        (tensor,) = load(self.write("part.onnxar", self.made(linked("w", count=3, offset=8)).file)).graph.initializer
        self.assertEqual(tensor.raw_data, self.entry.data[8:20])
        self.assertEqual(tensor.data_location, TensorProto.DEFAULT)
        self.assertFalse(tensor.external_data)

    def test_data_of_an_unknown_type_has_no_array(self) -> None:
        later = wire.DataType("LATER", 99, 8, 0, "B")
        archive = self.opened(wire.fields_of("w", later, [2], wire.DataFile("w").link(length=10)))
        (found,) = archive.model().graph.initializer
        self.assertEqual(bytes(archive.data(found)), self.entry.data[:10])
        with self.assertRaisesRegex(ArchiveError, "rule M19"):
            archive.array(found)

    def test_link_values_that_are_not_utf_8_are_refused(self) -> None:
        for key in ("offset", "length", "location"):
            pair = wire.block(13, wire.block(1, key) + wire.block(2, b"\xff"))
            fields = wire.scalar(2, 1) + wire.scalar(14, 1) + pair
            if key != "location":
                fields += wire.block(13, wire.block(1, "location") + wire.block(2, "w"))
            path = self.write("odd.onnxar", self.made(fields).file)
            with self.subTest(key), self.assertRaisesRegex(ArchiveError, "rule M(9|11|12)"):
                load(path)

    def test_links_are_kept_on_request(self) -> None:
        model = self.opened().model()
        self.assertEqual(model.graph.initializer[0].external_data[0].value, "w")

    def test_a_refusal_says_what_and_by_which_rule(self) -> None:
        path = self.write("zip.onnxar", b"PK\5\6" + bytes(18))
        with self.assertRaisesRegex(ArchiveError, r"number of entries \(rule E10 of"):
            Archive(path)
        for size in (0, 1, 21):
            with self.assertRaisesRegex(ArchiveError, "too short|empty"):
                Archive(self.write("short", bytes(size)))

    def test_our_package_does_not_import_it(self) -> None:
        for path in (SOURCE / "python").rglob("*.py"):
            self.assertNotIn("onnx_archive", path.read_text(), path)


def is_saved_otherwise(message: Message) -> bool:
    """The module refuses fields of a later schema. The tool keeps a data_location of DEFAULT before that of the link (W10)."""
    if len(UnknownFieldSet(message)) > 0:
        return True
    if isinstance(message, TensorProto):
        return message.HasField("data_location") and message.data_location == TensorProto.DEFAULT
    inner = [value for field, value in message.ListFields() if field.message_type is not None]
    return any(is_saved_otherwise(each) for value in inner for each in ([value] if isinstance(value, Message) else value))


@NEEDS_TOOL
class CanonicalWriter(ToolCase):
    def same_archive(self, model: onnx.ModelProto, threshold: int = 1024) -> None:
        """The tool packs the model as `save` saves it, as protobuf serialises it: of another order of fields the tool keeps all."""
        source, saved = self.write("model.onnx", model.SerializeToString()), self.folder / "saved.onnxar"
        onnxar("pack", source, "-o", self.output, "-fq", "--no-sync", "--threshold", threshold)
        save(model, saved, size_threshold=threshold)
        self.assertEqual(saved.read_bytes(), self.output.read_bytes())
        self.assertEqual(model.SerializeToString(), source.read_bytes())

    def test_a_model_is_saved_as_the_tool_packs_it(self) -> None:
        same = 0
        for path in sampled(zoo.write_zoo(self.folder / "zoo")):
            model = parsed(path.read_bytes())
            if model is None or path.parent.name != "zoo" or is_saved_otherwise(model):  # those in folders have external data
                continue
            for threshold in (1024, 1):
                with self.subTest(path.stem, threshold=threshold):
                    self.same_archive(model, threshold)
                    same += 1
        self.assertGreaterEqual(same, least(80))  # with today's onnx, which knows more types, 254

    def test_keys_avoid_names_of_texts(self) -> None:
        texts = ["LICENSE", "LICENCE", "NOTICE", "COPYING", "README", "AUTHORS", "License", "README_", "t_NOTICE"]
        self.same_archive(model_with(*map(wire.tensor, texts)))
        saved = list(Archive(self.output).entries)
        self.assertEqual(saved[:3] + saved[6:], ["t_LICENSE", "t_LICENCE", "t_NOTICE", "License", "README_", "t_NOTICE_2", MODEL])

    def test_each_linked_tensor_is_aligned(self) -> None:
        sizes = (1024, 1025, 1087, 4097, 1 << 20, 1, (1 << 20) + 7)
        tensors = [TensorProto(name=f"{size}", data_type=TensorProto.INT8, dims=[size], raw_data=bytes(size)) for size in sizes]
        model = helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))
        save(model, path := self.folder / "aligned.onnxar", size_threshold=0)
        archive = Archive(path)
        for size, tensor in zip(sizes, archive.model().graph.initializer, strict=True):
            link = {pair.key: pair.value for pair in tensor.external_data}
            self.assertEqual(link["offset"], "0")
            self.assertEqual(archive.offset(link["location"]) % (4096 if size >= MIB else 64), 0)

    def test_a_large_entry_begins_at_a_page(self) -> None:
        large, odd = wire.tensor("large", wire.UINT8, MIB), wire.tensor("odd", wire.UINT8, 1031)
        self.same_archive(model_with(wire.tensor("w"), large, odd))
        self.assertEqual(Archive(self.output).offset("large") % 4096, 0)

    def test_zip64_end_records_are_those_of_the_tool(self) -> None:
        tensors = [wire.tensor(f"t{i}", wire.UINT8, 1) for i in range(65534)]
        for count in sampled((65534, 65533)):  # and the model: 65535, which need them, and 65534, which do not
            with self.subTest(count):
                self.same_archive(model_with(*tensors[:count]), 1)
                self.assertEqual(len(Archive(self.output).entries), count + 1)


class Writing(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.output = self.folder / "out.onnxar"

    def test_model_round_trips(self) -> None:
        values = np.arange(600, dtype=np.float32).reshape(20, 30)
        inner, outer = (numpy_helper.from_array(values, name) for name in ("inner", "outer"))
        node = helper.make_node("Constant", [], ["c"], value=inner)
        model = helper.make_model(helper.make_graph([node], "graph", [], [], [outer]))
        save(model, self.output)
        self.assertEqual(list(Archive(self.output).entries), ["inner", "outer", MODEL])
        self.assertEqual(load(self.output), model)

    def test_messages_without_fields_are_kept(self) -> None:
        save(onnx.ModelProto.FromString(b"\x3a\0"), self.output)
        self.assertEqual(bytes(Archive(self.output)[MODEL]), b"\x3a\0")

    def test_an_archive_saved_from_an_archive_is_the_same(self) -> None:
        save(model_with(wire.tensor("v"), wire.tensor("w")), self.output)
        archive, again = Archive(self.output), self.folder / "again.onnxar"
        save(archive.model(), again, data=archive.data)
        self.assertEqual(again.read_bytes(), self.output.read_bytes())

    def test_small_external_data_is_moved_into_the_model(self) -> None:
        save(model_with(linked("w", 5)), self.output, data=lambda _: bytes(range(20)))
        self.assertEqual(list(Archive(self.output).entries), [MODEL])
        self.assertEqual(load(self.output).graph.initializer[0].raw_data, bytes(range(20)))

    def test_missing_external_data_is_refused(self) -> None:
        with self.nothing_changes(), self.assertRaisesRegex(ArchiveError, "load the external data of"):
            save(model_with(linked("w")), self.output)

    def test_open_file_receives_the_bytes_at_its_position(self) -> None:
        model = model_with(wire.tensor("w"))
        save(model, self.output)
        file = io.BytesIO(b"before")
        file.seek(0, os.SEEK_END)
        save(model, file)
        self.assertEqual(file.getvalue(), b"before" + self.output.read_bytes())
        self.assertEqual(bytes(Archive(file.getvalue()[6:])["w"]), bytes(Archive(self.output)["w"]))

    # It is of a later schema, and would be lost.
    def test_unknown_field_beside_a_tensor_is_refused(self) -> None:
        later = wire.block(902, b"text")
        model = onnx.ModelProto.FromString(wire.plain(wire.tensor("w") + later))
        with self.nothing_changes(), self.assertRaisesRegex(ArchiveError, "newer onnx"):
            save(model, self.output)


if __name__ == "__main__":
    unittest.main()

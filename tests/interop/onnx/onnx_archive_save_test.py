"""The module for upstream keeps what users of onnx rely on: files that are replaced, shared and doubled tensors, values of all types.

Usage: PYTHONPATH=tests:spec/rfc onnx_archive_save_test.py
"""

from __future__ import annotations

import io
import os
import stat
import threading
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx_archive import MODEL, Archive, ArchiveError, save
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.archives import Archive as Made
from support.command_line import FolderCase

FLOAT6 = [wire.DataType("FLOAT6E2M3", 27, 6, wire.INT32_DATA, "B"), wire.DataType("FLOAT6E3M2", 28, 6, wire.INT32_DATA, "B")]
QUIET, SIGNALLING = b"\0\0\xc0\x7f", b"\1\0\x80\x7f"
POSIX = unittest.skipIf(os.name == "nt", "Windows has neither modes nor named pipes of this kind")


def model_with(*tensors: bytes) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(wire.plain(*(tensors or [wire.tensor("w")])))


def part_of_w(name: str, count: int, offset: int = 0) -> bytes:
    return wire.fields_of(name, wire.FLOAT, [count], wire.DataFile("w").link(offset=offset, length=4 * count))


def load(path: Path) -> onnx.ModelProto:
    with Archive(path) as archive:
        model = archive.model()
        archive.load_tensors(model)
    return model


def links_of(path: Path) -> list[str | None]:
    """The entry that each initializer names; None for one whose data is in the model."""
    with Archive(path) as archive:
        tensors = archive.model().graph.initializer
    return [next((p.value for p in each.external_data), None) if each.data_location else None for each in tensors]


def values_of(kind: wire.DataType, count: int) -> Iterator[int]:
    """Elements of a type below a byte, from the bytes that hold them."""
    data = int.from_bytes(wire.content(kind, count, kind.name), "little")
    return (data >> (i * kind.bits) & ((1 << kind.bits) - 1) for i in range(count))


class Case(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.output = self.folder / "out.onnxar"

    def made(self, *entries: Entry, name: str = "made.onnxar") -> Path:
        return self.write(name, Made(entries).file)

    def saved_in_both_ways(self, path: Path) -> Iterator[Path]:
        """What `save` makes of a model with all its data, and of one that links its data."""
        save(load(path), self.output)
        yield self.output
        with Archive(path) as archive:
            save(archive.model(), self.output, data=archive.data)
        yield self.output


class ReplacedFiles(Case):
    def test_further_graphs_and_side_files_are_not_lost(self) -> None:
        for more in (Entry("other.onnx", model_of(linked("w")).data), Entry("tokenizer.json", b"{}")):
            path = self.made(*weights("w"), more, model_of(linked("w")))
            with self.subTest(more.name), self.nothing_changes():
                with self.assertRaisesRegex(ArchiveError, f"{more.name}.*remove this one first"):
                    save(load(path), path)

    def test_an_archive_of_one_model_is_replaced(self) -> None:
        path = self.made(*weights("v", "w"), model_of(linked("v"), linked("w")))
        before = load(path)
        del before.graph.initializer[0]
        save(before, path)
        self.assertEqual((load(path), list(Archive(path).entries)), (before, ["w", MODEL]))

    def test_other_file_is_replaced(self) -> None:
        for data in (b"", b"text", bytes(Made([*weights("w"), model_of(linked("w"))]).file[:-1])):
            save(model_with(), self.write("out.onnxar", data))
            self.assertEqual(load(self.output), model_with())

    @POSIX
    def test_symbolic_link_and_mode_stay(self) -> None:
        target, link = self.write("target.onnxar", b""), self.folder / "link.onnxar"
        target.chmod(0o640)
        link.symlink_to("target.onnxar")
        save(model_with(), link)
        self.assertTrue(link.is_symlink())
        self.assertEqual((load(target), stat.S_IMODE(target.stat().st_mode)), (model_with(), 0o640))
        (self.folder / "new.onnxar").symlink_to("later.onnxar")
        save(model_with(), self.folder / "new.onnxar")
        self.assertEqual(load(self.folder / "later.onnxar"), model_with())

    @unittest.skipIf(os.name == "nt" or os.geteuid() != 0, "root alone can give files away")
    def test_owner_stays(self) -> None:
        os.chown(self.write("out.onnxar", b""), 1234, 5678)
        save(model_with(), self.output)
        self.assertEqual((self.output.stat().st_uid, self.output.stat().st_gid), (1234, 5678))

    @POSIX
    def test_new_file_has_the_mode_of_new_files(self) -> None:
        save(model_with(), self.output)
        self.assertEqual(self.output.stat().st_mode, self.write("other", b"").stat().st_mode)

    @POSIX
    def test_pipe_gets_the_archive(self) -> None:
        pipe, received = self.folder / "pipe.onnxar", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
        reader.start()
        save(model_with(), pipe)
        reader.join(60)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        save(model_with(), self.output)
        self.assertEqual(received, [self.output.read_bytes()])

    def test_negative_threshold_is_refused(self) -> None:
        with self.nothing_changes(), self.assertRaisesRegex(ValueError, "size_threshold is -1"):
            save(model_with(), self.output, -1)


class Part(io.RawIOBase):
    """An unbuffered file that takes a part of what it is given."""

    def __init__(self, part: Any) -> None:
        self.part, self.data = part, bytearray()

    def write(self, data: Any) -> int | None:
        taken = self.part(len(data))
        self.data += bytes(data[: taken or 0])
        return taken


class ShortWrites(Case):
    def test_the_rest_of_a_short_write_follows(self) -> None:
        save(model_with(), self.output)
        file = Part(lambda size: (size + 1) // 2)
        save(model_with(), file)
        self.assertEqual(bytes(file.data), self.output.read_bytes())

    def test_a_file_that_takes_no_more_is_an_error(self) -> None:
        for taken in (0, None, -1, 1 << 40):
            with self.subTest(taken), self.assertRaisesRegex(OSError, "the file took"):
                save(model_with(), Part(lambda size, taken=taken: taken if size > 100 else size))

    def test_a_class_that_says_nothing_has_taken_all(self) -> None:
        class Silent:
            def __init__(self) -> None:
                self.data = b""

            def write(self, data: Any) -> None:
                self.data += bytes(data)

        file = Silent()
        save(model_with(), file)
        save(model_with(), self.output)
        self.assertEqual(file.data, self.output.read_bytes())


class SharedAndDoubled(Case):
    def test_tied_weights_stay_tied(self) -> None:
        parts = [part_of_w(name, 256, 512) for name in ("b", "d")]
        small = [part_of_w(name, 2, 0) for name in ("e", "f")]
        path = self.made(Entry("w", bytes(range(256)) * 8), model_of(part_of_w("a", 512), parts[0], part_of_w("c", 512), parts[1], *small))
        for saved in self.saved_in_both_ways(path):
            self.assertEqual(links_of(saved), ["a", "b", "a", "b", None, None])
            self.assertEqual([each.size for each in Archive(saved).entries.values()][:-1], [2048, 1024])

    def test_tied_weights_that_differ_now_are_two(self) -> None:
        path = self.made(*weights("w"), model_of(part_of_w("a", 300), part_of_w("b", 300)))
        model = load(path)
        model.graph.initializer[1].raw_data = bytes(1200)
        save(model, self.output)
        self.assertEqual(links_of(self.output), ["a", "b"])
        self.assertEqual(load(self.output).graph.initializer[1].raw_data, bytes(1200))

    def test_equal_weights_that_were_two_stay_two(self) -> None:
        same = wire.content(wire.FLOAT, 300, "v")
        path = self.made(Entry("v", same), Entry("w", same), model_of(linked("v"), linked("w")))
        for saved in self.saved_in_both_ways(path):
            self.assertEqual(links_of(saved), ["v", "w"])
        model = load(path)
        self.assertFalse([each for each in model.graph.initializer if each.external_data])
        onnx.convert_model_to_external_data(model, location="one.bin", size_threshold=0)
        save(model, self.output)
        self.assertEqual(links_of(self.output), ["v", "w"])

    def test_doubled_initializers_stay_inside_or_outside(self) -> None:
        small = wire.fields_of("x", wire.FLOAT, [2], wire.DataFile("x").link(offset=0, length=8))
        inside = wire.tensor("x", seed="inside")
        path = self.made(Entry("x", bytes(8)), *weights("w"), model_of(small, inside, linked("w"), inside))
        for saved in self.saved_in_both_ways(path):
            self.assertEqual(links_of(saved), ["x", None, "w", None])

    def test_doubled_names_of_constants_stay_too(self) -> None:
        def constant(output: str) -> bytes:
            value = wire.attribute(wire.T, wire.tensor("value", seed=output))
            return wire.block(wire.GRAPH_NODE, wire.block(2, output) + wire.block(4, "Constant") + wire.block(5, value))

        initializer = wire.initializers(wire.tensor("out"), wire.tensor("alone"))
        body = constant("out") + constant("single") + initializer
        other = wire.block(wire.GRAPH_NODE, wire.block(2, "out") + wire.block(4, "Relu"))
        for more, expected in ((b"", ["value", "alone"]), (other, ["value", "value_2", "out", "alone"])):
            model = wire.model(wire.Part(body + more))
            save(onnx.ModelProto.FromString(model), self.output)
            self.assertEqual(list(Archive(self.output).entries), [*expected, MODEL])


class TypedData(Case):
    def entry_of(self, tensor: bytes) -> bytes | None:
        save(model_with(tensor), self.output, size_threshold=1)
        archive = Archive(self.output)
        if list(archive.entries) == [MODEL]:
            self.assertEqual(archive.model(), model_with(tensor))
            return None
        (made,) = archive.model().graph.initializer
        fields = {each.name for each, _ in made.ListFields()}
        self.assertEqual(fields, {"dims", "data_type", "name", "external_data", "data_location"})
        return bytes(archive["t"])

    def test_each_type_becomes_raw_bytes(self) -> None:
        for kind in wire.TYPES.values():
            for count in (301, 8192 // kind.bits):  # INT32 and INT64 of less than 1024 bytes stay
                data = wire.content(kind, count, kind.name)
                stays = kind.name in ("INT32", "INT64") and len(data) < 1024
                with self.subTest(kind.name, count=count):
                    entry = self.entry_of(wire.fields_of("t", kind, [count], wire.packed(kind, data)))
                    self.assertEqual(entry, None if stays else data)

    def test_elements_of_6_bits_are_packed(self) -> None:
        for kind in FLOAT6:
            for count in (1, 2, 3, 4, 301):
                values = b"".join(map(wire.varint, values_of(kind, count)))
                tensor = wire.fields_of("t", kind, [count], wire.block(wire.INT32_DATA, values))
                with self.subTest(kind.name, count=count):
                    self.assertEqual(self.entry_of(tensor), wire.content(kind, count, kind.name))

    def test_all_bits_of_a_nan_stay(self) -> None:
        data = QUIET + SIGNALLING + b"\0\0\x80\x3f"
        self.assertEqual(self.entry_of(wire.fields_of("t", wire.FLOAT, [3], wire.block(wire.FLOAT_DATA, data))), data)

    def test_what_does_not_convert_exactly_stays(self) -> None:
        def of(kind: str, dims: list[int], *values: int) -> bytes:
            each = b"".join(wire.varint(value & ((1 << 64) - 1)) for value in values)
            return wire.fields_of("t", wire.TYPES[kind], dims, wire.block(wire.INT32_DATA, each))

        for tensor in (
            of("UINT8", [2], 1, 256),
            of("UINT8", [1], -1),
            of("INT8", [1], 128),
            of("BOOL", [1], 2),
            of("FLOAT16", [1], 65536),
            of("INT4", [2], -129),
            of("UINT8", [3], 1, 2),  # too few
            of("UINT8", [1], 1, 2),  # too many
            of("FLOAT", [1], 1),  # the wrong field
            of("UINT8", [1], 1) + wire.block(wire.INT64_DATA, b"\1"),  # two fields
            of("UINT8", [1], 1) + wire.block(wire.RAW_DATA, b"\1"),  # and raw data
            wire.fields_of("t", FLOAT6[0], [1], wire.block(wire.INT32_DATA, wire.varint(64))),
            wire.strings("t"),
        ):
            with self.subTest(tensor):
                self.assertIsNone(self.entry_of(tensor))


class Values(Case):
    def test_arrays_are_those_of_to_array(self) -> None:
        known, seen = set(TensorProto.DataType.values()), 0
        for kind in [*wire.TYPES.values(), *FLOAT6]:
            if kind.value not in known or (kind.value > 15 and not hasattr(onnx.helper, "tensor_dtype_to_np_dtype")):
                continue  # of a later onnx
            tensor = wire.fields_of("t", kind, [7, 3], wire.raw(kind, wire.content(kind, 21, kind.name)))
            save(model_with(tensor), self.output, size_threshold=1)
            with Archive(self.output) as archive, self.subTest(kind.name):
                array = archive.array(archive.model().graph.initializer[0])
                expected = numpy_helper.to_array(TensorProto.FromString(tensor))
                self.assertEqual((array.dtype, array.shape, array.tobytes()), (expected.dtype, (7, 3), expected.tobytes()))
                if "t" in archive.entries:  # small integers stay in the model
                    self.assertEqual(np.shares_memory(array, np.frombuffer(archive["t"], "u1")), kind.bits >= 8)
                seen += 1
        self.assertGreaterEqual(seen, 14)

    def test_data_of_each_type_has_its_length(self) -> None:
        for kind in [*wire.TYPES.values(), *FLOAT6]:
            size = (4000 * kind.bits + 7) // 8
            for wrong in (size - 1, size + 1):
                link = wire.DataFile("t").link(offset=0, length=wrong)
                made = Made([Entry("t", bytes(size + 1)), model_of(wire.fields_of("t", kind, [4000], link))])
                with self.subTest(kind.name), self.assertRaisesRegex(ArchiveError, "rule M18"):
                    load(self.write("made.onnxar", made.file))
                model = model_with(wire.fields_of("t", kind, [4000], wire.DataFile("t").link(offset=0, length=size)))
                with self.subTest(kind.name), self.assertRaisesRegex(ArchiveError, "rule M18"):
                    save(model, self.output, data=lambda _, size=wrong: bytes(size))

    def test_closing_leaves_arrays_and_ends_use(self) -> None:
        save(model_with(), self.output)
        with Archive(self.output) as archive:
            array = archive.array(archive.model().graph.initializer[0])
        self.assertEqual(array.tobytes(), wire.content(wire.FLOAT, 300, "w"))
        with self.assertRaises(ValueError):
            archive["w"]
        archive.close()

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "no list of open files")
    def test_an_archive_leaves_no_file_open(self) -> None:
        save(model_with(), self.output)
        before = os.listdir("/proc/self/fd")
        with Archive(self.output) as archive:
            archive.load_tensors(archive.model())
        Archive(self.output).model()  # without a close
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_entries_are_records_with_names(self) -> None:
        save(model_with(), self.output)
        entries = Archive(self.output).entries
        self.assertEqual((entries["w"].offset, entries["w"].size, entries["w"].limit), (0, 1200, entries[MODEL].offset))

    def test_fields_beside_the_data_stay(self) -> None:
        tensor = wire.tensor("w") + wire.block(12, "doc")
        if hasattr(TensorProto, "metadata_props"):
            tensor += wire.block(16, wire.block(1, "key") + wire.block(2, "value"))
        save(model_with(tensor), self.output)
        self.assertEqual(load(self.output), model_with(tensor))
        self.assertIn("w", Archive(self.output).entries)


if __name__ == "__main__":
    unittest.main()

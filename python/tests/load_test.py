"""Loading refuses the same models as `check`: the library has the only set of rules."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import unittest

import building
import onnx
from building import EXTERNAL, archive, block, head, linked, model, number, pair
from support import FolderTest

import onnxar
import onnxar.numpy

W = bytes(range(256)) * 32
LINK = pair("location", "w") + pair("length", "4096") + EXTERNAL

# Faults that protobuf would accept, and the codes of the refusals. Tests of `ModelReader` and the vectors have more.
REFUSED = {
    "an offset in digits of another script": (head("w", 1024) + pair("offset", "٤٠٩٦") + LINK, "onnx.external_data.bad_offset"),
    "an offset that begins with 0": (head("w", 1024) + pair("offset", "04096") + LINK, "onnx.external_data.bad_offset"),
    "an offset of 5000 digits": (head("w", 1024) + pair("offset", "9" * 5000) + LINK, "onnx.external_data.bad_offset"),
    "a location given twice": (head("w", 1024) + pair("location", "x") + LINK, "onnx.external_data.duplicate_key"),
    "raw data beside a link": (head("w", 1024) + block(9, bytes(4)) + LINK, "onnx.external.data_beside"),
    "another length than the shape's": (head("w", 1023) + LINK, "onnx.tensor.length"),
    "an entry that is not there": (linked("w", 1024, location="none", length=4096), "onnx.external_data.missing"),
    "a location in a process": (linked("w", 1024, location="*/_ORT_MEM_ADDR_/*", length=4096), "onnx.external_data.marker"),
}


class Refusals(FolderTest):
    def assert_refused(self, data: bytes, code: str) -> None:
        path = self.folder / "m.onnxar"
        path.write_bytes(data)
        self.assertIn(code, [found.code for found in onnxar.check(path) if found.severity == "error"])
        self.refused(code, onnxar.load, path)
        self.refused(code, onnxar.load, data)

    def test_nothing_loads_what_check_calls_an_error(self):
        for what, (tensor, code) in REFUSED.items():
            with self.subTest(what):
                self.assert_refused(archive(model(tensor), w=W), code)
                opened = onnxar.open(self.folder / "m.onnxar")
                self.refused(code, lambda opened=opened: opened.tensor("w"))

    def test_model_loads_exactly_if_check_finds_no_error(self):
        typed = head("t", 3, dtype=6) + block(5, bytes([1, 2, 3]))
        tensors = [linked("w", 1024, location="w", length=4096, offset=4096), head("r", 4) + block(9, bytes(16)), typed]
        whole, path, chance = model(*tensors), self.folder / "m.onnxar", random.Random(5)
        loaded = refused = 0
        for _ in range(600):
            changed = bytearray(whole)
            for _ in range(chance.randint(1, 2)):
                changed[chance.randrange(len(changed))] = chance.choice((0, 1, 2, 9, 0x30, 0x39, 0x2D, 0xFF, chance.randrange(256)))
            path.write_bytes(archive(bytes(changed), w=W))
            errors = [found.code for found in onnxar.check(path) if found.severity == "error"]
            try:
                found = onnxar.load(path)
            except onnxar.Error as error:
                refused += 1
                self.assertIn(error.code, [*errors, "onnx.model.invalid"], bytes(changed).hex())  # the last is protobuf's
                continue
            loaded += 1
            self.assertEqual(errors, [], bytes(changed).hex())
            onnxar.unpack(path, self.folder / "m.onnx", overwrite=True, sync=False)
            self.assertEqual(found, onnx.ModelProto.FromString((self.folder / "m.onnx").read_bytes()), bytes(changed).hex())
        self.assertGreater(min(loaded, refused), 100)

    def test_refusal_names_tensor_and_file_offset(self):
        tensor, code = REFUSED["an offset that begins with 0"]
        data = archive(model(tensor), w=W)
        (self.folder / "m.onnxar").write_bytes(data)
        error = self.refused(code, onnxar.load, self.folder / "m.onnxar")
        self.assertEqual((error.entry, error.path), (building.MODEL, str(self.folder / "m.onnxar")))
        self.assertEqual(error.offset, data.index(tensor))
        self.assertIn('tensor "w" (graph.initializer[0])', error.message)

    def test_model_protobuf_cannot_parse_raises_our_error(self):
        broken = number(1, 10) + block(7, building.graph() + block(11, b"\xff\xff\xff")) + block(8, number(2, 21))
        self.refused("onnx.model.invalid", onnxar.load, archive(broken))

    # Only Protobuf without its extension module refuses this text.
    def test_refusal_of_python_protobuf_is_our_error(self):
        (self.folder / "m.onnxar").write_bytes(archive(model(more=block(2, b"\xc3"))))  # the producer's name
        program = textwrap.dedent("""
            import onnxar
            for action in (onnxar.load, onnxar.load_ir, lambda path: onnxar.edit(path).__enter__().model):
                try:
                    action("m.onnxar")
                except onnxar.Error as error:
                    print(error.code)
        """)
        done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})  # fmt: skip
        self.assertEqual((done.stdout, done.stderr), ("onnx.model.invalid\n" * 3, ""))

    def test_load_and_open_raise_the_same_error(self):
        (self.folder / "m.onnx").write_bytes(model())
        with self.assertRaises(onnxar.Error) as opened:
            onnxar.open(self.folder / "m.onnx")
        with self.assertRaises(onnxar.Error) as loaded:
            onnxar.load(self.folder / "m.onnx")
        self.assertEqual(str(loaded.exception), str(opened.exception))
        self.refused("io.not_found", onnxar.load, self.folder / "none")


class Results(FolderTest):
    def test_slices_are_loaded_from_offsets_without_links(self):
        tensors = [linked("a", 1024, location="w", length=4096), linked("b", 1024, location="w", length=4096, offset=4096)]
        loaded = onnxar.load(archive(model(*tensors), w=W))
        self.assertEqual([tensor.raw_data for tensor in loaded.graph.initializer], [W[:4096], W[4096:]])
        for tensor in loaded.graph.initializer:
            self.assertFalse(tensor.HasField("data_location"))
            self.assertEqual(len(tensor.external_data), 0)

    def test_a_model_is_the_one_that_unpack_writes(self):
        attribute = block(1, "value") + block(5, linked("c", 4, location="w", length=16)) + number(20, 4)
        node = block(4, "Constant") + block(2, "c") + block(5, attribute)
        inner = building.graph(linked("d", 8, location="w", length=32, offset=64))
        branch = block(4, "If") + block(5, block(1, "then_branch") + block(6, inner) + number(20, 5))
        sparse = block(1, linked("s", 2, location="w", length=8)) + block(2, head("i", 2, dtype=7) + block(9, bytes(16)))
        body = block(2, "g") + block(1, node) + block(1, branch) + block(15, sparse) + block(5, head("x", 2048) + block(9, W))
        path = self.folder / "m.onnxar"
        path.write_bytes(archive(number(1, 10) + block(7, body) + block(8, number(2, 21)), w=W))
        onnxar.unpack(path, self.folder / "m.onnx")
        self.assertEqual(onnxar.load(path), onnx.load(self.folder / "m.onnx"))

    def test_shared_data_is_limited_to_max_expansion(self):
        def sharing(count: int) -> bytes:
            return archive(model(*(linked(f"t{i}", 1 << 18, location="w", length=1 << 20) for i in range(count))), w=bytes(1 << 20))

        self.assertEqual(len(onnxar.load(sharing(8)).graph.initializer), 8)
        error = self.refused("onnx.model.expansion", onnxar.load, sharing(9))
        self.assertIn("max_expansion", error.message)
        self.assertEqual(len(onnxar.load(sharing(9), max_expansion=9).graph.initializer), 9)
        with self.assertRaises(onnxar.Error):
            onnxar.load(sharing(1), max_expansion=0)
        self.refused("usage.argument", onnxar.load, sharing(1), max_expansion=-1)

    # Each function refuses impossible values of it.
    def test_every_copying_function_takes_max_expansion(self):
        path = self.folder / "m.onnxar"
        path.write_bytes(archive(model(linked("w", 1024, location="w", length=4096)), w=W))
        actions = {
            "load": lambda **more: onnxar.load(path, **more),
            "save": lambda **more: onnxar.save(path, self.folder / "s.onnxar", **more),
            "save a message": lambda **more: onnxar.save(onnxar.load(path), self.folder / "t.onnxar", **more),
            "pack": lambda **more: onnxar.pack(path, self.folder / "p.onnxar", **more),
            "unpack": lambda **more: onnxar.unpack(path, self.folder / "u.onnx", **more),
            "repack": lambda **more: onnxar.repack(path, self.folder / "r.onnxar", **more),
            "extract": lambda **more: onnxar.extract(path, "w", self.folder / "w.npy", **more),
            "replace": lambda **more: onnxar.replace(path, onnxar.open(path).model(), **more),
            "dump": lambda **more: onnxar.dump(path, with_data=True, **more),
            "diff": lambda **more: onnxar.diff(path, path, **more),
            "freeze": lambda **more: onnxar.freeze(path, self.folder / "f.onnxar", **more),
        }
        for name, action in actions.items():
            with self.subTest(name):
                for value in (-1, 1 << 64):
                    error = self.refused("usage.argument", action, max_expansion=value)
                    self.assertTrue(error.message.startswith(f"max_expansion is {value}"))
                action(max_expansion=100)

    def test_consolidate_copies_shared_data_once(self):
        data = archive(model(*(linked(f"t{i}", 1 << 18, location="w", length=1 << 20) for i in range(100))), w=bytes(1 << 20))
        with onnxar.open(data) as opened:
            self.assertEqual(opened.consolidate().nbytes, 1 << 20)
            self.assertEqual(len({opened[name].ctypes.data for name in opened}), 1)

    def test_consolidate_limits_overlaps_to_max_expansion(self):
        overlapping = [linked(f"t{i}", (1 << 18) - i, location="w", length=(1 << 20) - 4 * i) for i in range(12)]
        with onnxar.open(archive(model(*overlapping), w=bytes(1 << 20))) as opened:
            self.refused("onnx.model.expansion", opened.consolidate)
            self.assertGreater(opened.consolidate(max_expansion=12).nbytes, 11 << 20)


if __name__ == "__main__":
    unittest.main()

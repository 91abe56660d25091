"""Archive.consolidate: all large tensors in one buffer."""

from __future__ import annotations

import functools
import gc
import unittest
import unittest.mock

import numpy as np
from support import ArchiveTest, weights

import onnxar
from onnxar import _dtypes


class Consolidation(ArchiveTest):
    def test_consolidate_moves_only_large_tensors(self):
        with onnxar.open(self.path) as archive:
            before = archive["w"]
            buffer = archive.consolidate(threshold=1024, alignment=4096)
            self.assertEqual(buffer.ctypes.data % 4096, 0)
            for name in ("w", "scale"):
                self.assertTrue(np.shares_memory(archive[name], buffer), name)
                self.assertEqual(archive[name].ctypes.data % 4096, 0)
                self.assertFalse(archive[name].flags.writeable)
            self.assertFalse(np.shares_memory(archive["b"], buffer))
            self.assertFalse(np.shares_memory(before, buffer))
            np.testing.assert_array_equal(archive["w"], before, strict=True)

    def test_the_buffer_lives_as_long_as_an_array(self):
        archive = onnxar.open(self.path)
        archive.consolidate()
        array = archive["w"]
        archive.close()
        gc.collect()
        self.assertFalse(self.mapped())
        np.testing.assert_array_equal(array, weights(64, 64))

    def test_archive_may_be_closed_while_a_key_is_compared(self):
        class Key(str):
            __hash__ = str.__hash__

            def __eq__(self, other):
                archive.close()
                gc.collect()
                return str(self) == other

        archive = onnxar.open(self.path)
        archive.consolidate()
        maker, stored = archive._maker, archive._selection.tensors["w"]
        np.testing.assert_array_equal(maker.make(Key("w"), stored), weights(64, 64))
        with self.assertRaises(onnxar.Error):
            archive["w"]

    def test_closing_meanwhile_keeps_no_buffer(self):
        archive = onnxar.open(self.path)
        archive.consolidate(progress=lambda *_: archive.close())
        self.assertEqual(archive._maker.replaced, {})

    def test_damaged_data_is_refused_and_nothing_changes(self):
        data = bytearray(self.path.read_bytes())
        with onnxar.open(self.path) as archive:
            (entry,) = (entry for entry in archive.entries() if entry.name == "w")
        data[entry.offset] ^= 1
        archive = onnxar.open(data)
        error = self.refused("zip.data.crc", archive.consolidate)
        self.assertEqual(error.entry, "w")
        self.assertEqual(archive._maker.replaced, {})

    def test_consolidate_refuses_bytes_that_change(self):
        data = bytearray(self.path.read_bytes())
        archive = onnxar.open(data)
        (entry,) = (entry for entry in archive.entries() if entry.name == "w")

        as_array = _dtypes.as_array

        def as_array_of_other_bytes(*arguments):
            data[entry.offset] ^= 1
            return as_array(*arguments)

        with unittest.mock.patch.object(_dtypes, "as_array", as_array_of_other_bytes), self.assertRaises(onnxar.Error) as raised:
            archive.consolidate(threshold=4096)
        self.assertEqual((raised.exception.code, raised.exception.entry), ("zip.data.crc", "w"))
        self.assertEqual(archive._maker.replaced, {})

    def test_impossible_numbers_are_named(self):
        with onnxar.open(self.path) as archive:
            for value in (-1, 1 << 64):
                for name, action in (("max_expansion", archive.consolidate), ("threshold", archive.consolidate),
                                     ("offset", functools.partial(archive.resolve, "w")),
                                     ("length", functools.partial(archive.resolve, "w"))):  # fmt: skip
                    error = self.refused("usage.argument", action, **{name: value})
                    self.assertTrue(error.message.startswith(f"{name} is {value}"))

    def test_an_alignment_is_a_power_of_two(self):
        for alignment in (0, -64, 48, 1 << 31, 1 << 70):
            with self.assertRaises(onnxar.Error):
                onnxar.open(self.path).consolidate(alignment=alignment)


if __name__ == "__main__":
    unittest.main()

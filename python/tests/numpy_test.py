"""Arrays by name: every type, every byte order, and refusals."""

from __future__ import annotations

import datetime
import inspect
import sys
import unittest

import ml_dtypes
import numpy as np
import onnx
import safetensors.numpy
from building import archive, block, head, model
from onnx import numpy_helper
from support import FolderTest, weights

import onnxar
import onnxar.numpy
from onnxar import _dtypes

NUMBERS = sorted(_dtypes._OF_NUMPY | _dtypes._OF_ML_DTYPES)


def every_pattern(dtype: np.dtype, bits: int) -> np.ndarray:
    """Values of every byte, or of every pattern of a type with fewer bits."""
    if bits < 8:
        first = -(1 << bits - 1) if dtype.name.startswith("int") else 0
        return np.arange(first, first + (1 << bits)).astype(np.float32).astype(dtype)
    if dtype == np.bool_:
        return np.array([True, False, True])
    return np.arange(256, dtype=np.uint8).repeat(2)[: 512 // dtype.itemsize * dtype.itemsize].view(dtype)


class NumpyTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "a.onnxar"

    def back(self, *arrays: np.ndarray, **named: np.ndarray) -> dict[str, np.ndarray]:
        onnxar.numpy.save_file({**{f"t{i}": array for i, array in enumerate(arrays)}, **named}, self.path, overwrite=True)
        self.assertEqual([found for found in onnxar.check(self.path, data=True) if found.severity == "error"], [])
        return onnxar.numpy.load_file(self.path)

    def not_saved(self, tensors: dict, **arguments: object) -> onnxar.Error:
        error = self.refused("usage.argument", onnxar.numpy.save_file, tensors, self.path, **arguments)
        self.assertEqual(self.names(), set())
        return error


class Types(NumpyTest):
    def test_every_onnx_type_round_trips_bit_for_bit(self):
        for number in NUMBERS:
            dtype = _dtypes.numpy_dtype(number)
            with self.subTest(dtype=dtype):
                array = every_pattern(dtype, onnxar._core.dtype_bits(number))
                (back,) = self.back(array).values()
                self.assertEqual(back.dtype, dtype)
                self.assertEqual(back.tobytes(), array.tobytes())
                (tensor,) = onnxar.load(self.path).graph.initializer
                self.assertEqual(tensor.data_type, number)
                self.assertEqual(numpy_helper.to_array(tensor).tobytes(), array.tobytes())

    def test_all_onnx_types_are_supported(self):
        without = {"UNDEFINED", "STRING"}
        known = {number for name, number in onnx.TensorProto.DataType.items() if name not in without}
        self.assertEqual(known, set(NUMBERS))

    def test_elements_below_a_byte_are_packed_at_any_count(self):
        for dtype, bits in ((ml_dtypes.int4, 4), (ml_dtypes.uint4, 4), (ml_dtypes.int2, 2), (ml_dtypes.uint2, 2)):
            for count in range(1, 10):
                array = (np.arange(count) % (1 << bits) - (1 << bits >> 1) * (dtype(-1) < dtype(0))).astype(dtype)
                (back,) = self.back(array).values()
                np.testing.assert_array_equal(back, array, strict=True)
                self.assertEqual(onnxar.open(self.path).entries()[0].size, -(-count * bits // 8))

    def test_six_bits_come_back_at_any_count(self):
        for dtype in (ml_dtypes.float6_e2m3fn, ml_dtypes.float6_e3m2fn):
            for count in range(1, 10):
                array = np.arange(64 - count, 64, dtype=np.uint8).view(dtype)
                (back,) = self.back(array).values()
                np.testing.assert_array_equal(back.view(np.uint8), array.view(np.uint8))
                self.assertEqual(onnxar.open(self.path).entries()[0].size, -(-count * 6 // 8))

    # Both are read-only.
    def test_bfloat16_is_a_view_and_int4_a_copy(self):
        back = self.back(b=weights(8).astype(ml_dtypes.bfloat16), i=np.ones(8, ml_dtypes.int4))
        self.assertFalse(back["b"].flags.owndata)
        for array in back.values():
            self.assertFalse(array.flags.writeable)


class Orders(NumpyTest):
    def test_big_endian_and_scattered_arrays_round_trip(self):
        base = weights(6, 8, 4)
        arrays = [
            base.astype(">f4"), base[::-1, ::2, ::-3], base.transpose(2, 0, 1), np.asfortranarray(base),
            np.broadcast_to(base[0, 0], (5, 4)), base.astype(">c8"), np.arange(9, dtype=">i8")[::2], base[1:, 1:, 1:],
        ]  # fmt: skip
        for array, back in zip(arrays, self.back(*arrays).values(), strict=True):
            np.testing.assert_array_equal(back, array)
            self.assertEqual(back.dtype, array.dtype.newbyteorder("<"))
            self.assertTrue(back.flags.c_contiguous)

    def test_scalars_and_empty_arrays_round_trip(self):
        arrays = [np.float32(3.5), np.array(7), np.empty((0, 3)), np.empty((2, 0), ml_dtypes.int4), np.ones((1, 1, 1))]
        for array, back in zip(arrays, self.back(*arrays).values(), strict=True):
            np.testing.assert_array_equal(back, array, strict=True)

    def test_impossible_shape_error_names_tensor(self):
        for dims in ((0, 1 << 62, 1 << 62), (1,) * 70, (0,) * 70):
            data = bytes(4 if all(dims) else 0)
            file = archive(model(head("ok", 1) + block(9, bytes(4)), head("t", *dims) + block(9, data)))
            opened = onnxar.open(file)
            calls = {"tensor": lambda: opened["t"], "values": lambda: list(opened.values()), "load": lambda: opened.load("t"),
                     "slice": lambda: opened.get_slice("t")[:1], "load_file": lambda: onnxar.numpy.load(file),
                     "edit": lambda: onnxar.edit(self.path).__enter__()["t"]}  # fmt: skip
            self.path.write_bytes(file)
            for what, call in calls.items():
                with self.subTest(what, dims=dims):
                    self.assertEqual(self.refused("onnx.tensor.dims", call).entry, "t")
            self.assertEqual(opened["ok"].shape, (1,))

    def test_nonempty_arrays_are_entries_of_a_valid_model(self):
        tensors = {"a": weights(2), "A": np.arange(2), "nothing": np.empty(0), "a/b ü": np.ones(1, bool)}
        back = self.back(**tensors)
        self.assertEqual(list(back), list(tensors))
        entries = onnxar.open(self.path).entries()
        self.assertEqual([entry.name for entry in entries], ["a", "A_2", "a_b___", "__MODEL_PROTO"])
        onnx.checker.check_model(onnxar.load(self.path))

    def test_large_arrays_are_written_in_pieces(self):
        array = np.arange((onnxar.numpy.PIECE // 4) * 2 + 5, dtype=np.uint32)
        (back,) = self.back(array).values()
        self.assertTrue(np.array_equal(back, array))


class Refusals(NumpyTest):
    def test_an_array_of_objects_is_named(self):
        error = self.not_saved({"good": weights(2), "bad": np.array([1, None])})
        self.assertEqual(error.entry, "bad")
        self.assertIn("Python objects", str(error))

    def test_types_that_are_no_numbers_of_onnx_are_named(self):
        record = np.zeros(2, [("float32", "f4")])
        for array in (np.array(["text"]), np.array([b"bytes"]), np.array([datetime.datetime(2020, 1, 1)], "M8[s]"),
                      np.zeros(2, "V4"), np.zeros(2, np.longdouble), record):  # fmt: skip
            with self.subTest(dtype=array.dtype):
                error = self.not_saved({"bad": array})
                self.assertEqual(error.entry, "bad")
                self.assertIn(str(array.dtype), str(error))

    def test_value_that_is_not_an_array_is_named(self):
        for value in ([1.0], 3, None, "text"):
            self.assertEqual(self.not_saved({"bad": value}).entry, "bad")

    def test_names_and_metadata_are_text(self):
        self.not_saved({1: weights(2)})
        self.not_saved({"half\ud800": weights(2)})
        self.not_saved({"a": weights(2)}, metadata={"a": 1})
        for half in ("\ud800", "\udcff"):
            self.not_saved({"a": weights(2)}, metadata={"a": half})
            self.not_saved({"a": weights(2)}, metadata={half: "a"})

    def test_a_backend_that_is_not_known_is_refused(self):
        with self.assertRaises(onnxar.Error):
            onnxar.numpy.load_file(self.path, backend="carrier pigeon")


class Safetensors(NumpyTest):
    def test_signatures_extend_those_of_safetensors(self):
        for name in ("save_file", "load_file"):
            ours, theirs = (inspect.signature(getattr(module, name)).parameters.values()
                            for module in (onnxar.numpy, safetensors.numpy))  # fmt: skip
            theirs = [(p.name, p.kind, p.default) for p in theirs]
            ours = [(p.name, p.kind, p.default) for p in ours]
            self.assertEqual(ours[: len(theirs)], theirs)
            self.assertEqual({kind for _, kind, _ in ours[len(theirs) :]} - {inspect.Parameter.KEYWORD_ONLY}, set())

    def test_metadata_is_kept_and_read(self):
        onnxar.numpy.save_file({"a": weights(2)}, self.path, {"format": "np", "": "empty", "ü": "ß" * 300})
        self.assertEqual(onnxar.open(self.path).metadata(), {"format": "np", "": "empty", "ü": "ß" * 300})
        self.assertEqual(onnxar.load(self.path).metadata_props[2].key, "ü")

    def test_empty_dict_round_trips(self):
        self.assertEqual(self.back(), {})

    def test_a_backend_that_reads_outlives_the_file(self):
        self.back(weights(2000))
        back = onnxar.numpy.load_file(self.path, backend="pread")
        self.path.write_bytes(b"")
        np.testing.assert_array_equal(back["t0"], weights(2000))

    def test_onnx_is_not_needed(self):
        import subprocess

        code = ("import sys, numpy, onnxar.numpy as n; n.save_file({'a': numpy.ones(3)}, sys.argv[1]);"
                "assert n.load_file(sys.argv[1])['a'].sum() == 3; assert not {'onnx', 'google', 'ml_dtypes'} & set(sys.modules)")  # fmt: skip
        subprocess.run([sys.executable, "-c", code, str(self.path)], check=True)


if __name__ == "__main__":
    unittest.main()

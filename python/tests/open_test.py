"""Reading an archive: arrays in place, their lifetime, and refusals."""

from __future__ import annotations

import fcntl
import gc
import os
import pathlib
import pickle
import re
import threading
import time
import unittest
import unittest.mock

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support import ArchiveTest, arrays_of, weights

import onnxar
import onnxar.numpy


class OpenTest(ArchiveTest):
    def save_tensors(self, *tensors: onnx.TensorProto, threshold: int = 1024) -> None:
        graph = helper.make_graph([], "g", [], [], initializer=tensors)
        onnxar.save(helper.make_model(graph), self.path, threshold, overwrite=True)


class Tensors(OpenTest):
    def test_every_tensor_is_the_array_that_onnx_has(self):
        with onnxar.open(self.path) as archive:
            for name, array in arrays_of(self.model).items():
                np.testing.assert_array_equal(archive[name], array, strict=True)
            np.testing.assert_array_equal(archive["scale"], weights(1, 512, seed=9), strict=True)
            self.assertEqual(list(archive), list(archive.keys()))
            self.assertEqual(set(archive), {"w", "b", "shape", "scale"})
            self.assertEqual(len(archive), 4)

    def test_arrays_are_read_only_views_of_the_mapping(self):
        with onnxar.open(self.path) as archive:
            array = archive.tensor("w")
            self.assertFalse(array.flags.owndata)
            self.assertFalse(array.flags.writeable)
            self.assertEqual(array.ctypes.data % 64, 0)
            with self.assertRaises(ValueError):
                array.setflags(write=True)

    def test_mapping_lives_as_long_as_its_last_view(self):
        archive = onnxar.open(self.path)
        array = archive["w"]
        part = array[3:5]
        archive.close()
        del archive, array
        gc.collect()
        self.assertTrue(self.mapped())
        np.testing.assert_array_equal(part, weights(64, 64)[3:5])
        del part
        gc.collect()
        self.assertFalse(self.mapped())

    def test_tensors_of_one_name_are_found_by_site(self):
        one, two = (numpy_helper.from_array(weights(512, seed=seed), "same") for seed in (1, 2))
        self.save_tensors(one, two)
        with onnxar.open(self.path) as archive:
            self.assertEqual(set(archive), {"graph.initializer[0]", "graph.initializer[1]"})
            np.testing.assert_array_equal(archive["graph.initializer[1]"], weights(512, seed=2))
            error = self.refused("usage.ambiguous_tensor", archive.tensor, "same")
            self.assertNotIn("same", archive)
            self.assertEqual(error.entry, "same")
            self.assertIn("graph.initializer[1]", str(error))

    def test_tensor_is_found_by_name_entry_and_site(self):
        self.save_tensors(numpy_helper.from_array(weights(512), "layer.0/weight"))
        with onnxar.open(self.path) as archive:
            (key,) = [entry.name for entry in archive.entries() if entry.sites]
            self.assertEqual(key, "layer_0_weight")
            for name in ("layer.0/weight", key, "graph.initializer[0]"):
                np.testing.assert_array_equal(archive.tensor(name), weights(512))

    def test_strings_have_no_array_and_are_no_key(self):
        text = helper.make_tensor("text", TensorProto.STRING, [1], [b"words"])
        self.save_tensors(text, numpy_helper.from_array(weights(4), "w"))
        with onnxar.open(self.path) as archive:
            self.assertEqual(list(archive), ["w"])
            self.assertEqual(archive.info("text").dtype, "STRING")
            self.refused("onnx.tensor.strings", archive.tensor, "text")

            self.assertNotIn("text", archive)
            self.assertIn("w", archive)

    def test_name_equal_to_a_site_hides_no_tensor(self):
        names = ["x", "x", "graph.initializer[0]", "graph.initializer[4]", "graph.initializer[2]"]
        self.save_tensors(*(numpy_helper.from_array(np.full(512, place, np.float32), name) for place, name in enumerate(names)))
        keys = ["graph.initializer[0]~", "graph.initializer[1]", *names[2:]]
        with onnxar.open(self.path) as archive:
            self.assertEqual({key: int(array[0]) for key, array in archive.items()}, dict(zip(keys, range(5))))
        self.assertEqual(len(onnxar.numpy.load_file(self.path)), 5)

    def test_get_of_missing_name_searches_no_near_names(self):
        with unittest.mock.patch("difflib.get_close_matches", side_effect=AssertionError), onnxar.open(self.path) as archive:
            self.assertEqual((archive.get("weight"), archive.get("w ", 5)), (None, 5))

    def test_what_is_not_text_names_no_tensor(self):
        with onnxar.open(self.path) as archive:
            for name in (5, None, b"w", ("w",)):
                self.assertNotIn(name, archive)
                self.assertIsNone(archive.get(name))
                with self.assertRaises(onnxar.NotFoundError) as raised:
                    archive.info(name)
                self.assertIn("no tensor of this name", str(raised.exception))

    def test_data_inside_the_model_is_read(self):
        typed = helper.make_tensor("typed", TensorProto.BFLOAT16, [3], [1.0, 2.0, -3.0])
        self.save_tensors(typed, numpy_helper.from_array(np.array(5.0), "scalar"), threshold=1 << 20)
        with onnxar.open(self.path) as archive:
            expected = np.array([1, 2, -3], ml_dtypes.bfloat16)
            np.testing.assert_array_equal(archive["typed"], expected, strict=True)
            np.testing.assert_array_equal(archive["scalar"], np.array(5.0), strict=True)
            self.assertFalse(archive["scalar"].flags.writeable)

    def test_slice_has_shape_and_type_before_reading(self):
        with onnxar.open(self.path) as archive:
            part = archive.get_slice("w")
            self.assertEqual((part.get_shape(), part.get_dtype(), part.shape), ([64, 64], "FLOAT", (64, 64)))
            np.testing.assert_array_equal(part[2:4, ::2], weights(64, 64)[2:4, ::2])
            self.assertFalse(part[0].flags.owndata)

    def test_broken_link_is_refused_when_tensor_is_read(self):
        self.save_tensors(*(numpy_helper.from_array(weights(512), name) for name in ("a", "b")))
        data = self.path.read_bytes()
        link = b"location\x12\x01b"
        self.assertEqual(data.count(link), 1)
        archive = onnxar.open(data.replace(link, b"location\x12\x01c"))
        np.testing.assert_array_equal(archive["a"], weights(512))
        error = self.refused("onnx.external_data.missing", lambda: archive["b"])
        self.assertIn('tensor "b" (graph.initializer[1])', error.message)


class Life(OpenTest):
    def test_closed_archive_raises_and_its_arrays_stay(self):
        archive = onnxar.open(self.path)
        array, part = archive["w"], archive.get_slice("b")
        archive.close()
        archive.close()
        self.assertTrue(archive.closed)
        np.testing.assert_array_equal(array, weights(64, 64))
        uses = (archive.model, archive.entries, archive.keys().__len__, archive.check, archive.__enter__,
                lambda: archive["w"], lambda: list(archive), lambda: "w" in archive, lambda: part[0])  # fmt: skip
        for use in uses:
            error = self.refused("usage.argument", use)
            self.assertEqual(error.path, str(self.path))
            self.assertIn("closed", str(error))

    def test_values_and_items_follow_keys_until_closed(self):
        with onnxar.open(self.path) as archive:
            keys, values = list(archive), archive.values()
            for key, (named, array), value in zip(keys, archive.items(), values, strict=True):
                self.assertEqual(named, key)
                np.testing.assert_array_equal(array, archive[key], strict=True)
                np.testing.assert_array_equal(value, array, strict=True)
            begun = iter(values)
            next(begun)
        for ended in (begun, values, archive.items()):
            with self.assertRaises(onnxar.Error):
                next(iter(ended))

    def test_the_block_closes_also_after_an_error(self):
        with self.assertRaises(ZeroDivisionError), onnxar.open(self.path) as archive:
            1 / 0  # noqa: B018
        self.assertTrue(archive.closed)

    def test_bytes_can_be_opened_and_are_kept_alive(self):
        archive = onnxar.open(bytearray(self.path.read_bytes()))
        array = archive["w"]
        del archive
        gc.collect()
        np.testing.assert_array_equal(array, weights(64, 64))
        self.refused("usage.argument", onnxar.open(self.path.read_bytes()).check)

    def test_misaligned_bytes_become_aligned_copies(self):
        data = self.path.read_bytes()
        room = np.empty(len(data) + 64, np.uint8)
        begin = -room.ctypes.data % 64 + 1
        room[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
        with onnxar.open(memoryview(room)[begin : begin + len(data)]) as archive:
            for key, expected in arrays_of(self.model).items():
                self.assertTrue(archive[key].flags.aligned and not archive[key].flags.writeable, key)
                np.testing.assert_array_equal(archive[key], expected, strict=True)

    def test_copy_outlives_a_truncated_and_removed_file(self):
        archive = onnxar.open(self.path, no_copy=False)
        self.assertFalse(self.mapped())
        self.path.write_bytes(b"")
        self.path.unlink()
        np.testing.assert_array_equal(archive["w"], weights(64, 64))
        self.assertEqual(archive["w"].ctypes.data % 64, 0)

    def test_copy_of_open_archive_or_buffer_is_a_copy(self):
        whole = self.path.read_bytes()
        for name in ("path", "archive", "buffer", "load_file"):
            self.path.write_bytes(whole)
            buffer = bytearray(whole)
            source = {"path": self.path, "buffer": buffer}.get(name) or onnxar.open(self.path)
            if name == "load_file":
                array = onnxar.numpy.load_file(source, backend="pread")["w"]
            else:
                array = onnxar.open(source, no_copy=False)["w"]
            buffer[:] = bytes(len(whole))
            with open(self.path, "r+b") as file:  # in place, as no program should
                file.write(bytes(len(whole)))
            np.testing.assert_array_equal(array, weights(64, 64), name)
            self.assertEqual(array.ctypes.data % 64, 0)

    def test_pages_are_read_ahead_where_asked_for(self):
        def resident() -> int:
            """kB of the mapping that are in memory of this process."""
            maps = pathlib.Path("/proc/self/smaps").read_text().split(str(self.path), 1)[1]
            return int(re.search(r"Rss: +(\d+)", maps)[1])

        onnxar.numpy.save_file({"w": weights(1024, 4096)}, self.path, overwrite=True)
        with onnxar.open(self.path):
            before = resident()
        for prefetch in ("will_need", "populate"):
            with onnxar.open(self.path, prefetch=prefetch) as archive:
                np.testing.assert_array_equal(archive["w"][0], weights(1024, 4096)[0])
        with onnxar.open(self.path, prefetch="populate"):
            self.assertGreater(resident(), before + 8192)
        for wrong in ({"prefetch": "all"}, {"threads": -1}):
            with self.assertRaises(onnxar.Error):
                onnxar.open(self.path, **wrong)


class Container(OpenTest):
    def test_entries_follow_the_file_with_the_model_last(self):
        with onnxar.open(self.path) as archive:
            entries = archive.entries()
            self.assertEqual([entry.name for entry in entries], ["scale", "w", "__MODEL_PROTO"])
            self.assertEqual(entries[1].sites, ("graph.initializer[0]",))
            data = self.path.read_bytes()[entries[1].offset :][: entries[1].size]
            self.assertEqual(data, weights(64, 64).tobytes())
            self.assertEqual(bytes(archive.entry("w")), data)
            self.assertEqual(archive.info("scale").site, "graph.node[3].attr.value")

    def test_model_links_to_entries_that_resolve_finds(self):
        with onnxar.open(self.path) as archive:
            model = onnx.ModelProto.FromString(archive.model())
            link = [(pair.key, pair.value) for pair in model.graph.initializer[0].external_data]
            self.assertEqual(link, [("location", "w"), ("offset", "0"), ("length", "16384")])
            self.assertEqual(bytes(archive.resolve("w", 4, 4)), weights(64, 64).tobytes()[4:8])
            self.refused("onnx.external_data.out_of_range", archive.resolve, "w", 16384, 1)

    def test_check_finds_damage_where_it_is(self):
        self.assertEqual(onnxar.open(self.path).check(data=True, strict=True), [])
        archive = onnxar.open(self.path)
        entry = archive.entries()[1]
        with self.path.open("r+b") as file:
            file.seek(entry.offset)
            file.write(b"x")
        for opened, code in ((archive, "io.changed"), (onnxar.open(self.path), "zip.data.crc")):
            self.assertEqual(opened.check(), [])
            (finding,) = opened.check(data=True)
            self.assertEqual((finding.severity, finding.code, finding.entry), ("error", "zip.data.crc", "w"))
            self.refused(code, opened.verify, "w")

    def test_side_files_are_entries(self):
        (self.folder / "words").write_text("a b c")
        onnxar.save(self.model, self.path, side_files={"tokenizer.json": self.folder / "words"}, overwrite=True)
        self.assertEqual(onnxar.open(self.path).side_files(), ["tokenizer.json"])
        self.assertEqual(bytes(onnxar.open(self.path).entry("tokenizer.json")), b"a b c")

    def test_metadata_is_the_models(self):
        self.model.metadata_props.add(key="author", value="Ünïcode")
        onnxar.save(self.model, self.path, overwrite=True)
        self.assertEqual(onnxar.open(self.path).metadata(), {"author": "Ünïcode"})


class Errors(OpenTest):
    def test_error_locates_the_fault_and_can_be_pickled(self):
        data = bytearray(self.path.read_bytes())
        data[2] ^= 0xFF  # the first local header's signature
        self.path.write_bytes(data)
        error = self.refused("zip.local.header", lambda: onnxar.open(self.path)["scale"])
        self.assertEqual((error.entry, error.offset, error.path), ("scale", 0, str(self.path)))
        for part in (str(self.path), "'scale'", "0x0", "zip.local.header"):
            self.assertIn(part, str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), vars(again), str(again)), (type(error), vars(error), str(error)))

    def test_error_without_a_location_has_no_offset(self):
        error = self.refused("io.not_found", onnxar.open, self.folder / "none")
        self.assertEqual((error.entry, error.offset), ("", None))

    def test_every_way_of_opening_refuses_other_files(self):
        for content, code in ((b"", "zip.end.missing"), (b"text", "zip.end.missing"), (self.model.SerializeToString(), None)):
            path = self.folder / "other"
            path.write_bytes(content)
            for no_copy in (True, False):
                with self.assertRaises(onnxar.Error) as raised:
                    onnxar.open(path, no_copy=no_copy)
                self.assertEqual(raised.exception.path, str(path))
                self.assertEqual(raised.exception.code, code or raised.exception.code)

    def test_path_object_may_return_bytes(self):
        class Path(os.PathLike):
            def __fspath__(path):
                return os.fsencode(self.path)

        self.assertIn(repr(str(self.path)), repr(onnxar.open(Path())))
        onnxar.edit(Path()).archive.close()

    def test_unprintable_names_are_escaped(self):
        error = onnxar.Error("zip.data.crc", "bad\x1b[2J", "n\udcff\n", 1, "p")
        self.assertTrue(str(error).isprintable())


class Threads(OpenTest):
    def test_other_threads_run_while_edit_waits_for_lock(self):
        with self.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            failures = []

            def edit() -> None:
                try:
                    onnxar.replace(self.path, self.model)
                except onnxar.Error as error:
                    failures.append(error.code)

            thread = threading.Thread(target=edit)
            begin = time.monotonic()
            thread.start()
            time.sleep(0.05)
            self.assertLess(time.monotonic() - begin, 0.5, "the lock of the interpreter was held")
            thread.join()
        self.assertEqual(failures, ["archive.busy"])

    def test_many_threads_read_one_archive(self):
        archive, wrong = onnxar.open(self.path), []

        def read() -> None:
            for _ in range(200):
                if not np.array_equal(archive["w"], weights(64, 64)):
                    wrong.append(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()

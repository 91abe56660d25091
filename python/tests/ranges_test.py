"""Archives that are not local files: addresses and files of fsspec."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import gc
import pathlib
import threading
import time
import unittest
import unittest.mock

import fsspec
import numpy as np
from building import archive, linked, model
from remote_files import ADDRESS, COUNT, SIZE, Misbehaving, RangesTest
from support import arrays_of, weights

import onnxar
from onnxar import _core, _paths, _ranges


class Graphs(unittest.TestCase):
    def test_threads_read_a_graph_together(self):
        weight = bytes(range(256)) * 64
        entries = {"w": weight, "b": weight[::-1], "g.onnx": model(linked("w", len(weight) // 4, location="w", length=len(weight)))}
        data = archive(model(linked("b", len(weight) // 4, location="b", length=len(weight))), **entries)

        def read(targets):
            time.sleep(0.05)  # the other thread asks meanwhile
            for offset, target in targets:
                target[:] = data[offset : offset + len(target)]

        graph = _core.RangedArchive.open_ranges(read, len(data), "memory").graph("g")
        found = {}
        threads = [threading.Thread(target=lambda name=name: found.update({name: bytes(graph.bytes(name))}), daemon=True) for name in ("w", "b")]
        for each in threads:
            each.start()
        for each in threads:
            each.join(30)
        self.assertEqual(found, {"w": weight, "b": weight[::-1]})


class Reading(RangesTest):
    def test_arrays_are_those_of_the_file(self):
        with onnxar.open(ADDRESS) as archive:
            self.assertIsNone(archive.path)
            self.expect_all(archive)

    def test_a_tensor_is_read_when_it_is_used_and_once(self):
        with onnxar.open(ADDRESS) as archive:
            self.assertEqual(len(archive), COUNT)
            self.assertEqual(archive.info("layer1.15").shape, (SIZE,))
            self.assertEqual(len(self.fetched), 1)
            for _ in range(2):
                np.testing.assert_array_equal(archive["layer1.15"], weights(SIZE, seed=15))
            self.assertEqual(len(self.fetched), 2)
            self.assertLess(sum(stop - start for start, stop in self.fetched[1]), 5 * SIZE)

    def test_tensors_of_a_pattern_are_read_together(self):
        with onnxar.open(ADDRESS) as archive:
            arrays = archive.load("layer1.*")
            self.assertEqual(list(arrays), [f"layer1.{i}" for i in range(10, 20)])
            self.assertEqual(len(self.fetched), 2)
            np.testing.assert_array_equal(arrays["layer1.12"], weights(SIZE, seed=12))
            self.assertEqual(len(self.fetched), 2)
        with onnxar.open(self.path) as archive:
            self.assertEqual(len(archive.load()), COUNT)

    def test_a_pattern_that_matches_nothing_is_refused(self):
        with onnxar.open(ADDRESS) as archive:
            self.assertIsInstance(self.refused("usage.no_such_tensor", archive.load, "layer9.*"), KeyError)

    def test_loading_compares_checksums_if_asked_to(self):
        damaged = bytearray(self.data)
        with onnxar.open(self.path) as archive:
            (entry,) = [each for each in archive.entries() if each.sites == ("graph.initializer[12]",)]
        damaged[entry.offset + 100] ^= 1
        self.memory.pipe("/bucket/m.onnxar", bytes(damaged))
        with onnxar.open(ADDRESS) as archive:
            archive.load("layer1.*")
            self.assertEqual(self.refused("zip.data.crc", archive.load, "layer1.*", verify=True).path, ADDRESS)
            archive.load("layer2.*", verify=True)

    def test_coroutines_wait_for_other_threads(self):
        async def loaded():
            with await onnxar.open_async(ADDRESS) as archive:
                one, two = await asyncio.gather(archive.load_async("layer0.*"), archive.load_async("layer2.*", verify=True))
                return {**one, **two}

        arrays = asyncio.run(loaded())
        self.assertEqual(len(arrays), 20)
        np.testing.assert_array_equal(arrays["layer2.23"], weights(SIZE, seed=23))

    def test_threads_read_at_the_same_time(self):
        expected = arrays_of(self.model)
        with onnxar.open(ADDRESS) as archive, concurrent.futures.ThreadPoolExecutor(8) as pool:
            for name, array in zip(list(expected) * 4, pool.map(archive.tensor, list(expected) * 4), strict=True):
                np.testing.assert_array_equal(array, expected[name])

    def test_an_array_outlives_the_archive(self):
        archive = onnxar.open(ADDRESS)
        array = archive["layer0.3"]
        archive.close()
        del archive
        gc.collect()
        np.testing.assert_array_equal(array, weights(SIZE, seed=3))

    def test_everything_is_read_at_once_if_asked_to(self):
        for options in ({"prefetch": "populate"}, {"no_copy": False}):
            with self.subTest(options=options), onnxar.open(ADDRESS, **options) as archive:
                count = len(self.fetched)
                self.expect_all(archive)
                self.assertEqual(len(self.fetched), count)

    def test_models_are_loaded_and_entries_listed(self):
        self.assertEqual(onnxar.load(ADDRESS), self.model)
        with onnxar.open(self.path) as archive, onnxar.open(ADDRESS) as remote:
            self.assertEqual(onnxar.cat(ADDRESS), archive.model())
            self.assertEqual([each.name for each in onnxar.ls(ADDRESS)], [each.name for each in archive.entries()])
            self.assertEqual(onnxar.load(remote), self.model)
            self.assertEqual(bytes(remote.entry("layer0_0")), bytes(archive.entry("layer0_0")))

    def test_lazy_tensors_of_onnx_ir_are_read_when_used(self):
        model = onnxar.load_ir(ADDRESS)
        self.assertEqual(len(self.fetched), 1)
        np.testing.assert_array_equal(model.graph.initializers["layer1.15"].const_value.numpy(), weights(SIZE, seed=15))
        self.assertEqual(len(self.fetched), 2)

    def test_objects_of_fsspec_are_files(self):
        with self.memory.open("/bucket/m.onnxar", "rb") as file, onnxar.open(file) as archive:
            self.expect_all(archive)
        with onnxar.open(fsspec.open(ADDRESS)) as archive:
            self.expect_all(archive)
        self.refused("usage.argument", onnxar.open, fsspec.open(ADDRESS, compression="gzip"))

    def test_local_files_are_mapped(self):
        for source in (f"file://{self.path}", fsspec.open(str(self.path))):
            with onnxar.open(source) as archive:
                self.assertEqual(archive.path, str(self.path))
                self.expect_all(archive)
        self.assertEqual(self.fetched, [])

    def test_large_ranges_are_cut_and_batched(self):
        pieces = _ranges.pieces_of([(0, 20 << 20), ((20 << 20) + 100, 81 << 20)], (80 << 20) + 50)
        self.assertEqual(pieces[0], (0, 8 << 20))
        self.assertEqual(pieces[-1], (80 << 20, (80 << 20) + 50))
        self.assertEqual([start for start, _ in pieces[1:]], [stop for _, stop in pieces[:-1]])
        batches = list(_ranges.batches_of(pieces))
        self.assertEqual(sum(batches, []), pieces)
        self.assertEqual(len(batches), 2)

    def test_each_of_many_ranges_is_looked_at_once(self):
        looked = []

        class Piece(tuple):
            def __iter__(self):
                looked.append(self)
                return super().__iter__()

        pieces = [Piece((at, at + 1)) for at in range(1000)]
        self.assertEqual(list(_ranges.batches_of(pieces)), [pieces])
        self.assertEqual(len(looked), len(pieces))


class Refusals(RangesTest):
    def test_a_file_that_is_replaced_is_not_read_on(self):
        archive = onnxar.open(ADDRESS)
        self.memory.pipe("/bucket/m.onnxar", self.data)
        error = self.refused("io.changed", archive.tensor, "layer1.15")
        self.assertIsInstance(error, OSError)
        self.assertEqual(error.path, ADDRESS)

    def test_versionless_file_is_read_when_opened(self):
        fsspec.filesystem("versionless").pipe("/m.onnxar", self.data)
        with onnxar.open("versionless://m.onnxar") as archive:
            fsspec.filesystem("versionless").rm("/m.onnxar")
            self.expect_all(archive)
        self.assertEqual(self.fetched, [])

    def test_missing_remote_file_raises_file_not_found(self):
        for address in ("memory://bucket/none", "memory://none/none"):
            error = self.refused("io.not_found", onnxar.open, address)
            self.assertIsInstance(error, FileNotFoundError)
            self.assertEqual(error.path, address)

    def test_bad_remote_archive_raises_the_error_of_a_file(self):
        self.memory.pipe("/bucket/m.onnxar", b"no archive" * 100_000)
        self.refused("zip.end.missing", onnxar.open, ADDRESS)
        self.memory.pipe("/bucket/m.onnxar", b"")
        self.path.write_bytes(b"")
        with self.assertRaises(onnxar.Error) as raised:
            onnxar.open(self.path)
        self.refused(raised.exception.code, onnxar.open, ADDRESS)

    def test_answers_of_another_length_are_refused(self):
        system = fsspec.filesystem("misbehaving")
        system.pipe("/m.onnxar", self.data)
        self.addCleanup(setattr, Misbehaving, "answer", None)
        for code, answer in (("remote.answer", lambda data: data[:-1]), ("remote.no_ranges", lambda _: self.data)):
            with self.subTest(code=code):
                Misbehaving.answer = staticmethod(answer)
                self.refused(code, onnxar.open, "misbehaving://m.onnxar")

    def test_file_system_errors_are_ours_without_secrets(self):
        def failing(_):
            raise RuntimeError("cannot connect to https://user:hidden@host/x?signature=hidden now")

        system = fsspec.filesystem("misbehaving")
        system.pipe("/m.onnxar", self.data)
        archive = onnxar.open("misbehaving://m.onnxar")
        self.addCleanup(setattr, Misbehaving, "answer", None)
        Misbehaving.answer = staticmethod(failing)
        error = self.refused("remote.unreachable", archive.tensor, "layer1.15")
        self.assertIn("https://host/x now", str(error))
        self.assertNotIn("hidden", str(error))
        Misbehaving.answer = None
        np.testing.assert_array_equal(archive["layer1.15"], weights(SIZE, seed=15))

    def test_address_that_fsspec_does_not_know_is_refused(self):
        self.assertIn("nosuch", str(self.refused("remote.unreachable", onnxar.open, "nosuch://x/y")))

    def test_address_shortened_by_pathlib_is_reported(self):
        for call in (onnxar.open, onnxar.check, onnxar.show):
            for address in ("https://host/m.onnxar", "s3://bucket/m.onnxar"):
                with self.subTest(call=call, address=address):
                    self.assertIn("pathlib", str(self.refused("usage.argument", call, pathlib.Path(address))))

    def test_the_address_is_shown_without_secrets(self):
        self.assertEqual(_paths.shown("https://user:pass@host/a?X-Signature=1"), "https://host/a")
        self.assertEqual(_paths.shown("https://user:PASS@WORD@host/a"), "https://host/a")

    def test_refused_address_is_shown_without_secrets(self):
        secret = "://user:hidden@host/m?key=hidden"
        for call, source in ((onnxar.open, pathlib.Path(f"https{secret}")), (onnxar.get, f"gs{secret}"), (onnxar.get, f"gs{secret}".encode()),
                             (onnxar.put, f"gs{secret}".encode())):  # fmt: skip
            with self.subTest(call=call, source=source):
                given = (source,) if call is onnxar.open else (self.path, source) if call is onnxar.put else (source, self.folder / "x")
                said = str(self.refused("usage.argument", call, *given))
                self.assertIn("//host/m", said)
                self.assertNotIn("hidden", said)


class Functions(RangesTest):
    """Functions for the command's verbs, called with addresses."""

    def test_output_equals_that_of_the_local_file(self):
        for source, to in ((ADDRESS, self.folder / "far"), (self.path, self.folder / "near")):
            to.mkdir()
            onnxar.unpack(source, to / "m.onnx")
            onnxar.pack(source, to / "m.onnxar", alignment=4096)
            onnxar.pack({"": source, "again": source}, to / "two.onnxar")
            onnxar.extract(source, "layer1.15", to / "one.npy")
            onnxar.extract(source, "layer2.*", f"{to}/")
        self.assertEqual(len(list((self.folder / "near").iterdir())), 14)
        for path in (self.folder / "near").iterdir():
            with self.subTest(name=path.name):
                self.assertEqual((self.folder / "far" / path.name).read_bytes(), path.read_bytes())

    def test_one_tensor_is_extracted_without_the_others(self):
        onnxar.extract(ADDRESS, "layer1.15", self.folder / "one.npy")
        self.assertLess(sum(stop - start for ranges in self.fetched[1:] for start, stop in ranges), 5 * SIZE)

    def test_a_file_of_fsspec_is_read_as_its_address(self):
        with self.memory.open("/bucket/m.onnxar", "rb") as file:
            self.assertEqual(onnxar.check(file, data=True), [])
            onnxar.extract(file, "layer1.15", self.folder / "one.npy")

    def test_check_and_dump_read_versionless_files(self):
        fsspec.filesystem("versionless").pipe("/m.onnxar", self.data)
        self.assertEqual(onnxar.check("versionless://m.onnxar", data=True), [])
        self.assertEqual(onnxar.dump("versionless://m.onnxar"), onnxar.dump(self.path))

    def test_check_finds_what_it_finds_in_the_file(self):
        damaged = bytearray(self.data)
        with onnxar.open(self.path) as archive:
            damaged[archive.entries()[12].offset + 100] ^= 1
        self.memory.pipe("/bucket/m.onnxar", bytes(damaged))
        self.path.write_bytes(damaged)
        self.assertEqual(onnxar.check(ADDRESS), [])
        (fault,) = onnxar.check(ADDRESS, data=True)
        self.assertEqual(fault.code, "zip.data.crc")
        self.assertEqual([fault], onnxar.check(self.path, data=True))

    def test_show_and_dump_leave_weights_where_they_are(self):
        shown, local = onnxar.show(ADDRESS), onnxar.show(self.path)
        for field in dataclasses.fields(shown):
            if field.name != "files":
                self.assertEqual(getattr(shown, field.name), getattr(local, field.name), field.name)
        self.assertEqual([(file.path, file.blocks) for file in shown.files], [(ADDRESS, file.blocks) for file in local.files])
        self.assertEqual(onnxar.dump(ADDRESS), onnxar.dump(self.path))
        self.assertLess(sum(stop - start for ranges in self.fetched for start, stop in ranges), len(self.data) / 2)

    def test_dump_with_data_and_diff_read_all(self):
        self.assertEqual(onnxar.dump(ADDRESS, with_data=True), onnxar.dump(self.path, with_data=True))
        self.assertTrue(onnxar.diff(ADDRESS, self.path).same)

    def test_errors_of_the_command_name_the_address(self):
        self.memory.pipe("/bucket/m.onnxar", b"no archive" * 100_000)
        for call in (onnxar.show, onnxar.dump, lambda address: onnxar.extract(address, "layer1.15", self.folder / "one.npy")):
            with self.subTest(call=call):
                self.assertEqual(self.refused("zip.end.missing", call, ADDRESS).path, ADDRESS)
        self.assertEqual([finding.code for finding in onnxar.check(ADDRESS)], ["zip.end.missing"])

    def test_what_changes_a_file_refuses_an_address(self):
        local, calls = str(self.folder / "x"), {
            "edit": lambda: onnxar.edit(ADDRESS),
            "replace": lambda: onnxar.replace(ADDRESS, self.model),
            "undo": lambda: onnxar.undo(ADDRESS),
            "recover": lambda: onnxar.recover(ADDRESS),
            "repack": lambda: onnxar.repack(ADDRESS, local),
            "link": lambda: onnxar.link(ADDRESS),
            "verify_link": lambda: onnxar.verify_link(ADDRESS),
        }  # fmt: skip
        for what, call in calls.items():
            with self.subTest(what=what):
                error = self.refused("usage.argument", call)
                self.assertEqual(error.path, ADDRESS)
                for part in (f"{what} must be a local file", "onnxar get", "onnxar.put"):
                    self.assertIn(part, str(error))
        self.assertEqual(self.memory.cat("/bucket/m.onnxar"), self.data)

    def test_an_output_is_a_local_file(self):
        for call in (onnxar.pack, onnxar.unpack, onnxar.repack):
            with self.subTest(call=call):
                error = self.refused("usage.argument", call, self.path, "memory://bucket/new")
                self.assertEqual(error.path, "memory://bucket/new")
                self.assertIn("onnxar.put", str(error))
        self.refused("usage.argument", onnxar.extract, self.path, "layer1.15", "memory://bucket/new")
        self.refused("usage.argument", onnxar.save, self.model, "memory://bucket/new")
        self.refused("usage.argument", onnxar.freeze, self.path, "memory://bucket/new")
        self.assertFalse(self.memory.exists("/bucket/new"))


if __name__ == "__main__":
    unittest.main()

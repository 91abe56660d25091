"""Archives that are not local files: addresses and files of fsspec, HTTP, stores of obstore, and uploads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import gc
import importlib.util
import mmap
import pathlib
import subprocess
import sys
import unittest.mock

import fsspec
import numpy as np
import obstore.store
import onnx
from fsspec.implementations.memory import MemoryFileSystem
from onnx import helper, numpy_helper
from support import FolderTest, arrays_of, matmul_model, weights

import onnxar
from onnxar import _http, _ranges

SPEC = importlib.util.spec_from_file_location("web_server", pathlib.Path(__file__).parents[2] / "tests/support/web_server.py")
web_server = importlib.util.module_from_spec(SPEC)
sys.modules["web_server"] = web_server
SPEC.loader.exec_module(web_server)

ADDRESS = "memory://bucket/m.onnxar"
COUNT = 30
SIZE = 20_000  # elements of each: the weights do not fit in what is read when the archive is opened


def many_weights() -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(weights(SIZE, seed=i), f"layer{i // 10}.{i}") for i in range(COUNT)]
    return helper.make_model(helper.make_graph([], "g", [], [], initializer=tensors))


class Other(MemoryFileSystem):
    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace(f"{cls.protocol}://", "memory://"))


class Versionless(Other):
    """Does not tell when a file was made."""

    protocol = "versionless"
    store: dict = {}
    pseudo_dirs = [""]

    def info(self, path, **options):
        return {key: value for key, value in super().info(path, **options).items() if key != "created"}


class Misbehaving(Other):
    protocol = "misbehaving"
    store: dict = {}
    pseudo_dirs = [""]
    answer = None

    def cat_file(self, path, start=None, end=None, **options):
        data = super().cat_file(path, start, end, **options)
        return data if self.answer is None else self.answer(data)


for each in (Versionless, Misbehaving):
    fsspec.register_implementation(each.protocol, each, clobber=True)


class RangesTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = many_weights()
        self.path = self.folder / "m.onnxar"
        onnxar.save(self.model, self.path)
        self.data = self.path.read_bytes()
        self.memory = fsspec.filesystem("memory")
        self.memory.pipe("/bucket/m.onnxar", self.data)
        self.addCleanup(self.memory.rm, "/", recursive=True)
        self.fetched: list[list[tuple[int, int]]] = []
        fetch = _ranges.FsspecFile.fetch

        def noted(file, ranges):
            self.fetched.append(ranges)
            return fetch(file, ranges)

        patch = unittest.mock.patch.object(_ranges.FsspecFile, "fetch", noted)
        patch.start()
        self.addCleanup(patch.stop)

    def refused(self, code: str, call, *arguments, **options) -> onnxar.Error:
        with self.assertRaises(onnxar.Error) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code, code, raised.exception)
        return raised.exception

    def expect_all(self, archive: onnxar.Archive) -> None:
        expected = arrays_of(self.model)
        self.assertEqual(list(archive), list(expected))
        for name, array in archive.items():
            np.testing.assert_array_equal(array, expected[name], strict=True)


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
            self.assertIsInstance(self.refused("usage.no_such_entry", archive.load, "layer9.*"), KeyError)

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

    def test_lazy_tensors_of_onnx_ir_are_read_when_they_are_used(self):
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


class Refusals(RangesTest):
    def test_a_file_that_is_replaced_is_not_read_on(self):
        archive = onnxar.open(ADDRESS)
        self.memory.pipe("/bucket/m.onnxar", self.data)
        error = self.refused("io.changed", archive.tensor, "layer1.15")
        self.assertIsInstance(error, OSError)
        self.assertEqual(error.path, ADDRESS)

    def test_a_file_whose_versions_cannot_be_told_apart_is_read_in_one_piece(self):
        fsspec.filesystem("versionless").pipe("/m.onnxar", self.data)
        with onnxar.open("versionless://m.onnxar") as archive:
            fsspec.filesystem("versionless").rm("/m.onnxar")
            self.expect_all(archive)
        self.assertEqual(self.fetched, [])

    def test_a_file_that_is_not_there_is_reported_as_elsewhere(self):
        for address in ("memory://bucket/none", "memory://none/none"):
            error = self.refused("io.not_found", onnxar.open, address)
            self.assertIsInstance(error, FileNotFoundError)
            self.assertEqual(error.path, address)

    def test_what_is_no_archive_is_refused_as_a_file_would_be(self):
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

    def test_exceptions_of_file_systems_are_ours_and_have_no_secrets(self):
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

    def test_an_address_that_fsspec_does_not_know_is_refused(self):
        self.assertIn("nosuch", str(self.refused("remote.unreachable", onnxar.open, "nosuch://x/y")))

    def test_an_address_that_pathlib_shortened_is_told(self):
        for call in (onnxar.open, onnxar.check, onnxar.show):
            for address in ("https://host/m.onnxar", "s3://bucket/m.onnxar"):
                with self.subTest(call=call, address=address):
                    self.assertIn("pathlib", str(self.refused("usage.argument", call, pathlib.Path(address))))

    def test_the_address_is_shown_without_secrets(self):
        self.assertEqual(_ranges.shown("https://user:pass@host/a?X-Signature=1"), "https://host/a")


class Functions(RangesTest):
    """What the verbs of the command do with addresses, by functions."""

    def test_what_is_written_is_what_the_local_file_gives(self):
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

    def test_versions_that_cannot_be_told_apart_are_read_in_one_piece(self):
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
                for part in (f"{what} has to be a local file", "onnxar get", "onnxar.put"):
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


class Http(RangesTest):
    def setUp(self) -> None:
        super().setUp()
        server = web_server.serving()
        self.server = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        patch = unittest.mock.patch.object(_http, "PAUSE", 0.001)
        patch.start()
        self.addCleanup(patch.stop)

    def serve(self, **how: object) -> str:
        return self.server.serve("/m.onnxar", self.data, **how)

    def test_an_archive_is_read_by_ranges(self):
        with onnxar.open(self.serve()) as archive:
            self.expect_all(archive)
        self.assertTrue(all(each.range and each.method == "GET" for each in self.server.requests))

    def test_three_requests_list_ten_thousand_tensors_and_two_more_read_one(self):
        program = pathlib.Path(__file__).parents[2] / "tests/support/sparse_archive.py"
        path = self.folder / "large.onnxar"
        subprocess.run([sys.executable, "-E", "-B", program, path, "10", "1"], check=True)  # -E: not with our module `support`
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            address = self.server.serve("/large.onnxar", data, etag='"large"')
            with onnxar.open(address) as archive:
                self.assertEqual(len(archive), 10 * 1024)
                self.assertLessEqual(len(self.server.requests), 3)
                before = len(self.server.requests)
                self.assertFalse(archive["w5000"].any())
                self.assertLessEqual(len(self.server.requests) - before, 2)
            self.server.files.clear()

    def test_an_empty_file_is_no_archive(self):
        self.path.write_bytes(b"")
        with self.assertRaises(onnxar.Error) as raised:
            onnxar.open(self.path)
        for how in ({"ranges": False}, {"fail": 1, "status": 416, "more": {"Content-Range": "bytes */0"}}):
            self.refused(raised.exception.code, onnxar.open, self.server.serve("/none", b"", **how))

    def test_another_version_is_refused(self):
        for changed in ({"etag": '"other"'}, {"etag": "", "modified": "Mon, 23 Nov 2026 10:00:01 GMT"}):
            with self.subTest(changed=changed):
                archive = onnxar.open(self.serve(etag=changed["etag"] and None))
                self.serve(**changed)
                self.refused("io.changed", archive.tensor, "layer1.15")

    def test_a_server_that_tells_no_versions_apart_is_read_in_one_piece(self):
        with onnxar.open(self.serve(etag="", modified=None)) as archive:
            self.expect_all(archive)
        self.assertEqual([each.range is None for each in self.server.requests], [False, True])

    def test_a_server_without_ranges_is_refused(self):
        self.refused("remote.no_ranges", onnxar.open, self.serve(ranges=False))

    def test_failures_that_pass_are_retried(self):
        for how in ({"fail": 2}, {"fail": 2, "status": 429, "retry_after": 0}, {"cut": 2}):
            with self.subTest(how=how), onnxar.open(self.serve(**how)) as archive:
                self.expect_all(archive)
        self.assertIn("503", str(self.refused("remote.unreachable", onnxar.open, self.serve(fail=100))))

    def test_a_server_that_stalls_is_given_up(self):
        self.refused("remote.timeout", onnxar.open, self.serve(delay=1), timeout=0.05)

    def test_what_a_server_refuses_is_told(self):
        for status, code in ((404, "io.not_found"), (403, "io.permission"), (401, "io.permission"), (418, "remote.refused")):
            with self.subTest(status=status):
                self.refused(code, onnxar.open, self.serve(fail=1, status=status))

    def test_other_bytes_than_were_asked_for_are_refused(self):
        size = len(self.data)
        for text in ("bytes 0-9/10", f"bytes 5-4/{size}", f"bytes 0-{size}/{size}", f"bytes -1-5/{size}", f"bytes 0-{10**30}/{10**31}",
                     f"bytes 0-{size - 1}/*", "pages 1-2/3", f"bytes {size - 10}-{size - 1}/{size}"):  # fmt: skip
            with self.subTest(text=text):
                self.refused("remote.answer", onnxar.open, self.serve(content_range=text))
        self.refused("remote.answer", onnxar.open, self.serve(shift=-1))
        archive = onnxar.open(self.serve())
        self.serve(shift=1)
        self.refused("remote.answer", archive.tensor, "layer1.15")

    def test_bodies_are_as_long_as_announced(self):
        self.refused("remote.answer", onnxar.open, self.serve(endless=True))
        self.refused("remote.no_ranges", onnxar.open, self.serve(endless=True, ranges=False))

    def test_what_arrives_encoded_is_refused_unread(self):
        self.assertIn("gzip", str(self.refused("remote.answer", onnxar.open, self.serve(encoding="gzip", endless=True))))

    def test_redirects_lead_to_http_and_end(self):
        self.server.serve("/loop", b"", redirect="/loop")
        self.refused("remote.answer", onnxar.open, self.server.address("/loop"))
        self.refused("remote.answer", onnxar.open, self.server.serve("/local", b"", redirect=f"file://{self.path}"))
        with onnxar.open(self.server.serve("/hub", b"", redirect=self.serve())) as archive:
            self.expect_all(archive)

    def test_passwords_stay_at_their_host(self):
        target = self.serve().replace("127.0.0.1", "localhost")
        address = self.server.serve("/hub", b"", redirect=target, secret="Bearer mine")
        options = {"storage_options": {"headers": {"Authorization": "Bearer mine"}}}
        onnxar.open(address, **options)
        sent = {each.path: each.headers.get("Authorization") for each in self.server.requests}
        self.assertEqual(sent, {"/hub": "Bearer mine", "/m.onnxar": None})


class Obstore(RangesTest):
    def setUp(self) -> None:
        super().setUp()
        self.store = obstore.store.MemoryStore()
        self.store.put("a/m.onnxar", self.data)

    def test_an_object_of_a_store_is_an_archive(self):
        with onnxar.open("a/m.onnxar", store=self.store) as archive:
            self.expect_all(archive)

    def test_an_object_that_is_replaced_is_not_read_on(self):
        archive = onnxar.open("a/m.onnxar", store=self.store)
        self.store.put("a/m.onnxar", self.data)
        self.refused("io.changed", archive.tensor, "layer1.15")

    def test_an_object_that_is_not_there_is_reported_as_elsewhere(self):
        self.assertIsInstance(self.refused("io.not_found", onnxar.open, "a/none", store=self.store), FileNotFoundError)
        self.refused("usage.argument", onnxar.open, b"", store=self.store)


class Uploads(RangesTest):
    def test_an_archive_is_at_the_address_afterwards(self):
        onnxar.put(self.path, "memory://other/m.onnxar")
        self.assertEqual(self.memory.cat("/other/m.onnxar"), self.data)

    def test_what_is_there_stays_unless_it_may_be_replaced(self):
        self.memory.pipe("/bucket/m.onnxar", b"kept")
        self.assertIsInstance(self.refused("output.exists", onnxar.put, self.path, ADDRESS), FileExistsError)
        self.assertEqual(self.memory.cat("/bucket/m.onnxar"), b"kept")
        onnxar.put(self.path, ADDRESS, overwrite=True)
        self.assertEqual(self.memory.cat("/bucket/m.onnxar"), self.data)

    def test_a_damaged_archive_is_not_uploaded(self):
        damaged = bytearray(self.data)
        damaged[len(damaged) // 2] ^= 1
        self.path.write_bytes(damaged)
        self.refused("zip.data.crc", onnxar.put, self.path, "memory://other/m.onnxar")
        self.assertFalse(self.memory.exists("/other/m.onnxar"))
        self.path.write_bytes(b"no archive")
        self.refused("zip.end.missing", onnxar.put, self.path, "memory://other/m.onnxar")

    def test_an_upload_that_fails_leaves_nothing_behind(self):
        target = self.folder / "made" / "target"
        with unittest.mock.patch.object(_ranges, "_expect_same", side_effect=RuntimeError("cut")):
            self.refused("remote.unreachable", onnxar.put, self.path, f"file://{target}/m.onnxar")
        self.assertEqual(list(target.iterdir()), [])
        onnxar.put(self.path, f"file://{target}/m.onnxar")
        self.assertEqual([each.name for each in target.iterdir()], ["m.onnxar"])
        self.assertEqual((target / "m.onnxar").read_bytes(), self.data)

    def test_an_upload_that_another_one_replaces_is_told(self):
        onnxar.save(matmul_model(), self.folder / "other.onnxar")
        other = (self.folder / "other.onnxar").read_bytes()
        put_file = MemoryFileSystem.put_file

        def replaced(system, *arguments, **options):
            put_file(system, *arguments, **options)
            system.pipe("/race/m.onnxar", other)

        with unittest.mock.patch.object(MemoryFileSystem, "put_file", replaced):
            self.refused("io.changed", onnxar.put, self.path, "memory://race/m.onnxar")

    def test_a_path_is_no_address(self):
        self.refused("usage.argument", onnxar.put, self.path, str(self.folder / "x"))


if __name__ == "__main__":
    unittest.main()

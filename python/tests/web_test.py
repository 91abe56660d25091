"""Archives on servers of HTTP and in stores of obstore, and uploads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import inspect
import math
import mmap
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import numpy as np
import obstore.store
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from remote_files import ADDRESS, COUNT, SIZE, RangesTest
from support import matmul_model, weights
from web_support import WebTest

import onnxar
from onnxar import _core, _paths, _transfers


class Http(WebTest, RangesTest):
    def setUp(self) -> None:
        super().setUp()
        patch = unittest.mock.patch.object(_core, "remote_file", functools.partial(_core.remote_file, pause=0.001))
        patch.start()
        self.addCleanup(patch.stop)

    def serve(self, **how: object) -> str:
        return self.server.serve("/m.onnxar", self.data, **how)

    def test_archive_is_read_in_ranges(self):
        with onnxar.open(self.serve()) as archive:
            self.expect_all(archive)
        self.assertTrue(all(each.range and each.method == "GET" for each in self.server.requests))

    def test_addresses_of_http_need_no_fsspec(self):
        with unittest.mock.patch.dict(sys.modules, {"fsspec": None}):
            with onnxar.open(self.serve()) as archive:
                self.expect_all(archive)
            self.assertEqual(onnxar.check(self.serve()), [])
            error = self.refused("usage.argument", onnxar.open, self.serve(), storage_options={"headers": {}})
        self.assertIn("pip install fsspec", str(error))

    def test_fsspec_reads_what_libcurl_cannot(self):
        with unittest.mock.patch.object(_core, "remote_file", lambda *_: None), onnxar.open(self.serve()) as archive:
            self.expect_all(archive)

    def test_threads_read_one_file(self):
        file = _core.remote_file(self.serve(), 30)
        parts = [(at, at + 1000) for at in range(0, len(self.data) - 1000, len(self.data) // 64)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda part: file.fetch([part])[0], parts))
        self.assertEqual(found, [self.data[begin:end] for begin, end in parts])

    def test_interrupt_ends_a_call_that_waits(self):
        address = self.serve(stop=1000)
        program = f"import onnxar\ntry: onnxar.open({address!r})\nexcept KeyboardInterrupt: print('interrupted')"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            while not self.server.requests:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=20)[0], "interrupted\n")

    def test_scheme_may_be_in_capitals(self):
        address = self.serve()
        for given in (address.replace("http", "HTTP"), address.replace("http", "Http")):
            with onnxar.open(given) as archive:
                self.expect_all(archive)
            self.assertEqual(onnxar.check(given), [])
        self.assertEqual(_paths.plain("simplecache::S3://Bucket/Key::x"), "simplecache::s3://Bucket/Key::x")
        self.assertIn("pathlib shortens", self.refused("usage.argument", onnxar.open, pathlib.Path(address.replace("http", "HTTP"))).message)

    # The archive has ten thousand tensors.
    def test_opening_takes_three_requests_and_reading_two(self):
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

    def test_empty_file_is_not_an_archive(self):
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

    def test_versionless_server_is_read_in_one_request(self):
        with onnxar.open(self.serve(etag="", modified=None)) as archive:
            self.expect_all(archive)
        self.assertEqual([each.range is None for each in self.server.requests], [False, True, True])  # fsspec asks for size and whole

    def test_a_server_without_ranges_is_refused(self):
        self.refused("remote.no_ranges", onnxar.open, self.serve(ranges=False))

    def test_failures_that_pass_are_retried(self):
        for how in ({"fail": 2}, {"fail": 2, "status": 429, "retry_after": 0}, {"cut": 2}):
            with self.subTest(how=how), onnxar.open(self.serve(**how)) as archive:
                self.expect_all(archive)
        self.assertIn("503", str(self.refused("remote.unreachable", onnxar.open, self.serve(fail=100))))

    def test_server_that_sends_too_little_times_out(self):
        """The server never answers, stops in the body, or sends a byte at a time."""
        for how in ({"stop": 0}, {"stop": 1000}, {"drip": (1, 0.02)}):
            with self.subTest(how=how):
                self.server.requests.clear()
                error = self.refused("remote.timeout", onnxar.open, self.serve(**how), timeout=0.3)
                self.assertIn("timeout=0 waits forever", str(error))
                self.assertLessEqual(len(self.server.requests), 2)
        with self.assertRaises(onnxar.Error) as raised:
            asyncio.run(onnxar.open_async(self.serve(stop=0), timeout=0.3))
        self.assertEqual(raised.exception.code, "remote.timeout")
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            self.refused("remote.timeout", onnxar.open, f"http://127.0.0.1:{deaf.getsockname()[1]}/m", timeout=0.3)

    def test_open_archive_works_again_after_recovery(self):
        archive = onnxar.open(self.serve(honest=1, stop=1000), timeout=1)
        self.refused("remote.timeout", archive.tensor, "layer1.15")
        self.serve()
        np.testing.assert_array_equal(archive["layer1.15"], weights(SIZE, seed=15))

    def test_a_request_that_is_too_slow_once_is_sent_again(self):
        with onnxar.open(self.serve(slow=1, stop=1000), timeout=1.5) as archive:
            self.expect_all(archive)

    def test_slow_but_steady_server_may_exceed_the_limit(self):
        with onnxar.open(self.serve(slow=1, drip=(4096, 0.04)), timeout=1.5) as archive:  # 2.6 s
            self.assertEqual(len(archive), COUNT)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_limit_of_0_waits_without_end(self):
        with onnxar.open(self.serve(delay=0.5), timeout=0) as archive:
            self.assertEqual(len(archive), COUNT)

    def test_a_limit_is_a_number_of_seconds(self):
        for limit in (-1, math.nan, math.inf):
            self.refused("usage.argument", onnxar.open, self.serve(), timeout=limit)
        self.assertEqual(self.server.requests, [])
        self.assertEqual(inspect.signature(onnxar.open).parameters["timeout"].default, 30)
        with onnxar.open(self.serve(), timeout=1e300) as archive:
            self.assertEqual(len(archive), COUNT)

    def test_impossible_addresses_are_refused(self):
        for address, code in ((self.serve() + "\0x", "remote.address"), (self.serve() + "\udc80", "usage.argument")):
            self.refused(code, onnxar.open, address)
        self.assertEqual(self.server.requests, [])

    def test_status_of_the_server_is_reported(self):
        for status, code in ((404, "io.not_found"), (403, "io.permission"), (401, "io.permission"), (418, "remote.refused")):
            with self.subTest(status=status):
                self.refused(code, onnxar.open, self.serve(fail=1, status=status))
                self.refused(code, onnxar.open, self.serve(fail=9, status=status), storage_options={"headers": {}})
        self.refused("remote.unreachable", onnxar.open, self.serve(fail=9, status=503), storage_options={"headers": {}})

    def test_unreachable_server_of_fsspec_is_reported(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{unused.getsockname()[1]}/m.onnxar"
            self.refused("remote.unreachable", onnxar.open, address, storage_options={"headers": {}})

    def test_server_that_hangs_up_on_fsspec_is_reported(self):
        def hang_up(server: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while True:
                    with server.accept()[0] as client:
                        client.recv(65536)

        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=hang_up, args=(server,), daemon=True).start()
            address = f"http://127.0.0.1:{server.getsockname()[1]}/m.onnxar"
            self.refused("remote.unreachable", onnxar.open, address, storage_options={"headers": {}})
            server.shutdown(socket.SHUT_RDWR)

    def test_token_of_environment_is_for_the_library_alone(self):
        address = self.serve()
        with unittest.mock.patch.dict(os.environ, {"ONNXAR_TOKEN": "hidden"}):
            onnxar.open(address)
            self.assertEqual({each.headers.get("Authorization") for each in self.server.requests}, {"Bearer hidden"})
            self.server.requests.clear()
            onnxar.open(address, storage_options={"headers": {}})
            self.assertEqual({each.headers.get("Authorization") for each in self.server.requests}, {None})

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

    def test_missing_object_raises_file_not_found(self):
        self.assertIsInstance(self.refused("io.not_found", onnxar.open, "a/none", store=self.store), FileNotFoundError)
        self.refused("usage.argument", onnxar.open, b"", store=self.store)


class Uploads(RangesTest):
    def test_name_may_have_255_bytes(self):
        for name in ("\u00e4" * 120 + "m" * 8 + ".onnxar", "m" * 248 + ".onnxar"):
            address = f"file://{self.folder}/target/{name}"
            onnxar.put(self.path, address)
            self.assertEqual((self.folder / "target" / name).read_bytes(), self.data)
            self.assertEqual(onnxar.check(address), [])

    def test_an_archive_is_at_the_address_afterwards(self):
        onnxar.put(self.path, "memory://other/m.onnxar")
        self.assertEqual(self.memory.cat("/other/m.onnxar"), self.data)

    def test_existing_file_is_replaced_only_if_asked(self):
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
        with unittest.mock.patch.object(_transfers, "_expect_same", side_effect=RuntimeError("cut")):
            self.refused("remote.unreachable", onnxar.put, self.path, f"file://{target}/m.onnxar")
        self.assertEqual(list(target.iterdir()), [])
        onnxar.put(self.path, f"file://{target}/m.onnxar")
        self.assertEqual([each.name for each in target.iterdir()], ["m.onnxar"])
        self.assertEqual((target / "m.onnxar").read_bytes(), self.data)

    def test_concurrent_uploads_to_one_address_do_not_mix(self):
        onnxar.save(matmul_model(), self.folder / "other.onnxar")
        address = f"file://{self.folder}/target/m.onnxar"
        put_file, files = LocalFileSystem.put_file, []

        def put_by_two(system, source, target, *arguments, **options):
            put_file(system, source, target, *arguments, **options)
            files.append(target)
            if len(files) == 1:
                onnxar.put(self.folder / "other.onnxar", address)

        with unittest.mock.patch.object(LocalFileSystem, "put_file", put_by_two):
            onnxar.put(self.path, address)
        self.assertEqual(len(set(files)), 2)
        self.assertEqual([each.name for each in (self.folder / "target").iterdir()], ["m.onnxar"])
        self.assertEqual((self.folder / "target" / "m.onnxar").read_bytes(), self.data)

    def test_upload_replaced_by_another_is_reported(self):
        onnxar.save(matmul_model(), self.folder / "other.onnxar")
        other = (self.folder / "other.onnxar").read_bytes()
        put_file = MemoryFileSystem.put_file

        def replaced(system, *arguments, **options):
            put_file(system, *arguments, **options)
            system.pipe("/race/m.onnxar", other)

        with unittest.mock.patch.object(MemoryFileSystem, "put_file", replaced):
            self.refused("io.changed", onnxar.put, self.path, "memory://race/m.onnxar")

    def test_path_is_not_an_address(self):
        self.refused("usage.argument", onnxar.put, self.path, str(self.folder / "x"))


if __name__ == "__main__":
    unittest.main()

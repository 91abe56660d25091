"""Archives and sessions in other processes and at the exit of this one, and archives in a part of a file."""

from __future__ import annotations

import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import unittest

import fsspec
import numpy as np
import onnxruntime as ort
from families_test import FamilyTest
from support import ArchiveTest, weights

import onnxar
import onnxar.onnxruntime

CPU = ["CPUExecutionProvider"]
AT_EXIT = """
import atexit, sys, onnxar
path = sys.argv[1]
def last():
    with onnxar.open(path) as archive:
        archive.consolidate()
    print(len(onnxar.load(path).graph.initializer))
atexit.register(last)
"""


def first_of(source: onnxar.Archive, name: str) -> float:
    return float(source[name].flat[0])


def run_of(session: onnxar.onnxruntime.InferenceSession) -> np.ndarray:
    return session.run(["y"], {"x": weights(3, 64, seed=11)})[0]


class Pickled(ArchiveTest):
    def again(self, thing):
        return pickle.loads(pickle.dumps(thing))

    def test_archive_goes_to_another_process_by_path(self):
        with onnxar.open(self.path) as archive:
            context = multiprocessing.get_context("spawn")
            with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
                self.assertEqual(pool.submit(first_of, archive, "w").result(), first_of(archive, "w"))
            self.assertLess(len(pickle.dumps(archive)), 2000)

    def test_options_are_kept(self):
        with onnxar.open(self.path, no_copy=False, threads=1) as archive, self.again(archive) as other:
            self.path.unlink()
            np.testing.assert_array_equal(other["w"], archive["w"])
            self.assertEqual(other.path, str(self.path))

    def test_another_version_is_refused(self):
        with onnxar.open(self.path) as archive:
            data = pickle.dumps(archive)
        with onnxar.edit(self.path) as e:
            e["b"] = e["b"] + 1
        self.refused("io.changed", pickle.loads, data)

    def test_archive_in_memory_is_refused(self):
        with onnxar.open(self.path.read_bytes()) as archive:
            self.assertIn("in memory", self.refused("usage.argument", pickle.dumps, archive).message)

    def test_session_goes_to_another_process(self):
        options = onnxar.onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.disable_prepacking", "1")
        for how in ({}, {"cache": self.folder / "cache"}):
            with self.subTest(how):
                session = onnxar.onnxruntime.InferenceSession(self.path, options, CPU, **how)
                other = self.again(session)
                np.testing.assert_array_equal(run_of(other), run_of(session))
                found = other.get_session_options()
                self.assertEqual((found.intra_op_num_threads, found.get_session_config_entry("session.disable_prepacking")), (1, "1"))

    def test_session_of_another_version_is_refused(self):
        for how in ({}, {"cache": self.folder / "cache"}):
            data = pickle.dumps(onnxar.onnxruntime.InferenceSession(self.path, None, CPU, **how))
            before = self.path.read_bytes()
            with onnxar.edit(self.path) as e:  # links to the old model stay valid
                e["b"] = e["b"] + 1
            self.assertEqual(self.refused("io.changed", pickle.loads, data).path, str(self.path))
            self.path.write_bytes(before)
            onnxar.repack(self.path, self.path, overwrite=True, alignment=4096)
            self.refused("io.changed", pickle.loads, data)
            self.path.write_bytes(before)

    def test_session_of_a_relative_path_stays_the_same(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        session = onnxar.onnxruntime.InferenceSession("m.onnxar", None, CPU)
        os.chdir("/")
        np.testing.assert_array_equal(run_of(self.again(session)), run_of(session))

    def test_session_in_memory_is_not_pickled(self):
        session = onnxar.onnxruntime.InferenceSession(self.path.read_bytes(), None, CPU)
        self.refused("usage.argument", pickle.dumps, session)
        session = onnxar.onnxruntime.InferenceSession(self.path, ort.SessionOptions(), CPU)
        self.assertIn("onnxar.onnxruntime.SessionOptions()", self.refused("usage.argument", pickle.dumps, session).message)

    def test_options_are_copied(self):
        options = onnxar.onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry("session.disable_prepacking", "1")
        for other in (copy.copy(options), copy.deepcopy(options), self.again(options)):
            self.assertEqual((other.log_severity_level, other._calls), (3, options._calls))


class PickledGraphs(FamilyTest):
    def test_graph_stays_the_one_that_was_chosen(self):
        with onnxar.open(self.archive) as archive, archive.graph("decoder") as decoder:
            with pickle.loads(pickle.dumps(decoder)) as other:
                np.testing.assert_array_equal(other["factor"], decoder["factor"])
                self.assertIn("'decoder.onnx'", repr(other))


class Links(ArchiveTest):
    def test_session_takes_a_link(self):
        link = onnxar.link(self.path)
        session = onnxar.onnxruntime.InferenceSession(link, None, CPU)
        np.testing.assert_array_equal(run_of(session), run_of(onnxar.onnxruntime.InferenceSession(self.path, None, CPU)))
        session.set_providers(CPU)
        np.testing.assert_array_equal(run_of(pickle.loads(pickle.dumps(session))), run_of(session))

    def test_session_takes_a_link_into_a_larger_file(self):
        whole = self.folder / "whole.bin"
        whole.write_bytes(b"\xaa" * 128 + self.path.read_bytes() + b"behind")
        link = onnxar.link(whole, offset=128, length=self.path.stat().st_size)
        session = onnxar.onnxruntime.InferenceSession(link, None, CPU)
        np.testing.assert_array_equal(run_of(session), run_of(onnxar.onnxruntime.InferenceSession(self.path, None, CPU)))

    def test_stale_link_is_refused(self):
        link = onnxar.link(self.path)
        for options in ({"graph": "x"}, {"cache": True}):
            self.refused("usage.argument", onnxar.onnxruntime.InferenceSession, link, None, CPU, **options)
        onnxar.repack(self.path, self.path, overwrite=True, alignment=4096)
        self.refused("onnx.link.stale", onnxar.onnxruntime.InferenceSession, link, None, CPU)

    def test_folder_is_a_text_that_joins_as_a_path(self):
        link = onnxar.link(self.path)
        self.assertIsInstance(link.folder, str)
        self.assertEqual(link.folder / "m.onnxar", self.path)
        options = ort.SessionOptions()
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", link.folder)
        np.testing.assert_array_equal(
            run_of(ort.InferenceSession(link.model, options, CPU)), run_of(onnxar.onnxruntime.InferenceSession(link, None, CPU))
        )


class Parts(ArchiveTest):
    def setUp(self) -> None:
        super().setUp()
        self.data = self.path.read_bytes()
        self.whole = self.folder / "whole.bin"
        self.whole.write_bytes(b"\xaa" * 128 + self.data + b"behind")

    def test_archive_in_a_part_of_a_file_or_buffer(self):
        for source in (self.whole, self.whole.read_bytes(), memoryview(self.whole.read_bytes())):
            for no_copy in (True, False):
                with onnxar.open(source, offset=128, length=len(self.data), no_copy=no_copy) as archive:
                    self.assertEqual(archive["w"].tobytes(), weights(64, 64).tobytes())
                    self.assertIsNone(archive.path)
                    self.assertEqual(onnxar.load(archive), self.model)
        with onnxar.open(self.whole, offset=128, length=len(self.data)) as archive, pickle.loads(pickle.dumps(archive)) as other:
            self.assertEqual(first_of(other, "w"), first_of(archive, "w"))

    def test_length_is_to_the_end_without_one(self):
        self.whole.write_bytes(b"\xaa" * 64 + self.data)
        for source in (self.whole, self.whole.read_bytes()):
            with onnxar.open(source, offset=64) as archive:
                self.assertEqual(len(archive), 4)

    def test_part_that_is_not_there_is_refused(self):
        size = self.whole.stat().st_size
        for source in (self.whole, self.whole.read_bytes()):
            for offset, length in ((128, size), (size + 64, None), (-64, None), (128, -1), (1 << 63, 5)):
                self.refused("usage.argument", onnxar.open, source, offset=offset, length=length)
        error = self.refused("usage.argument", onnxar.open, self.whole, offset=65)
        self.assertEqual(error.path, str(self.whole))
        self.refused("io.not_found", onnxar.open, self.folder / "none", offset=64)
        fsspec.filesystem("memory").pipe("/part.onnxar", self.data)
        self.refused("usage.argument", onnxar.open, "memory://part.onnxar", offset=64)


class Ending(ArchiveTest):
    def test_exit_handler_loads_a_model(self):
        done = subprocess.run([sys.executable, "-c", AT_EXIT, os.fspath(self.path)], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("3\n", ""))


if __name__ == "__main__":
    unittest.main()

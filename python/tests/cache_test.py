"""Sessions with a cache: equal results, one entry for each setting, and a session without it wherever it cannot be used."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
import unittest.mock
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from support import ArchiveTest, matmul_model, weights

import onnxar
import onnxar.onnxruntime
from onnxar import _cache, _core
from onnxar.onnxruntime import InferenceSession, SessionOptions

CPU = ["CPUExecutionProvider"]
SIZE = 512  # rows of a weight of 1 MiB, which ONNX Runtime prepacks
OURS = b"onnxar stored model 2\n"  # what files of the cache begin with
LONGEST_TICK = 2.1  # seconds: before it is over, nothing is remembered of a file

WORKER = """
import sys, warnings, zlib
import numpy as np
import onnxar.onnxruntime
path, cache, size = sys.argv[1:4]
warnings.simplefilter("error")
print("ready", flush=True)
sys.stdin.readline()
session = onnxar.onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"], cache=cache)
(y, *_) = session.run(None, {"x": np.ones((1, int(size)), np.float32)})
print(zlib.crc32(y.tobytes()), session.is_cached, flush=True)
"""


class CacheTest(ArchiveTest):
    @staticmethod
    def made() -> onnx.ModelProto:
        return matmul_model(SIZE)

    def setUp(self) -> None:
        super().setUp()
        self.cache = self.folder / "cache"
        self.x = weights(3, SIZE, seed=1)
        self.expected = self.run_of(InferenceSession(self.path, providers=CPU))

    def run_of(self, session: ort.InferenceSession) -> list[bytes]:
        return [np.asarray(each).tobytes() for each in session.run(None, {"x": self.x})]

    def entries(self) -> list[pathlib.Path]:
        return sorted(self.cache.glob("*.onnxar"))

    def name_of(self, options: SessionOptions | None = None, path: Any = None, graph: str = "", providers: Any = CPU) -> str:
        """Returns the name of the entry that a session with these settings has, or would have."""
        settings = _cache.settings_of(options or SessionOptions(), providers, None)
        stored = _cache.Cache(self.cache).open(str(path or self.path), graph, settings)
        return pathlib.Path(stored.link()[1], self.archive_in(stored)).name if stored.is_stored else stored.prepare().parent.name[: -len(".part")]

    def archive_in(self, stored: _core.StoredModel) -> str:
        (name,) = {pair.value for each in onnx.ModelProto.FromString(stored.link()[0]).graph.initializer
                   for pair in each.external_data if pair.key == "location"}  # fmt: skip
        return name

    def suffixes(self) -> set[str]:
        """Returns what follows the 64 digits of the names in the cache."""
        return {each.name[64:] for each in self.cache.iterdir()}

    def start(self, *, entries: int, options: SessionOptions | None = None, path: Any = None, **named: Any) -> InferenceSession:
        """Makes a session from the cache, which then has this many entries, and compares what it computes."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session = InferenceSession(path or self.path, options, **{"providers": CPU, "cache": self.cache} | named)
        self.assertTrue(session.is_cached)
        self.assertEqual(self.run_of(session), self.expected)
        self.assertEqual(len(self.entries()), entries)
        self.assertEqual([each.name for each in self.cache.iterdir() if each.suffix == ".part"], [])
        return session

    def starts_without(self, why: str, source: Any = None, **named: Any) -> None:
        """Expects a session that does not use the cache, and one warning that says why."""
        with self.assertWarnsRegex(RuntimeWarning, why) as warned:
            session = InferenceSession(self.path if source is None else source, **{"providers": CPU, "cache": self.cache} | named)
        self.assertEqual(len(warned.warnings), 1)
        self.assertEqual(warned.filename, __file__)
        self.assertFalse(session.is_cached)
        self.assertEqual(self.run_of(session), self.expected)


class Entries(CacheTest):
    def test_first_start_stores_and_later_starts_map(self):
        self.start(entries=1)
        (entry,) = self.entries()
        before = entry.stat()
        session = self.start(entries=1)
        self.assertEqual((entry.stat().st_ino, entry.stat().st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        maps = pathlib.Path("/proc/self/maps").read_text()
        self.assertIn(str(entry), maps)
        self.assertNotIn(str(self.path), maps)
        del session

    # It holds the model as ONNX Runtime optimised and wrote it.
    def test_entry_is_an_archive_of_the_stored_model(self):
        self.start(entries=1)
        (entry,) = self.entries()
        self.assertEqual({each.severity for each in onnxar.check(entry, data=True)}, {"warning"})
        with zipfile.ZipFile(entry) as zipped:
            self.assertEqual(zipped.namelist(), ["about", "data", "__MODEL_PROTO"])
            zipped.extractall(self.folder / "unzipped")
        model = onnx.load(self.folder / "unzipped/__MODEL_PROTO", load_external_data=False)
        (w,) = (each for each in model.graph.initializer if each.name == "w")
        self.assertIn("prepacked_0", {pair.key for pair in w.external_data})
        self.assertEqual([pair.key for pair in model.metadata_props], [])
        options = SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        (self.folder / "unzipped/__MODEL_PROTO").rename(self.folder / "unzipped/m.onnx")
        self.assertEqual(self.run_of(ort.InferenceSession(self.folder / "unzipped/m.onnx", options, CPU)), self.expected)

    def test_settings_of_the_stored_model_change_the_key(self):
        def options(change: Callable[[SessionOptions], Any]) -> SessionOptions:
            change(made := SessionOptions())
            return made

        def key(options: SessionOptions | None = None, path: Any = self.path, graph: str = "", providers: Any = CPU) -> str:
            return self.name_of(options, path, graph, providers)

        plain = key()
        onnxar.pack({"": self.path, "second": self.path}, self.folder / "two.onnxar")
        other = onnx.ModelProto.FromString(self.model.SerializeToString())
        other.graph.initializer[0].raw_data = weights(SIZE, SIZE, seed=99).tobytes()
        onnxar.save(other, self.folder / "other.onnxar")
        keys = {
            "plain": plain,
            "weights": key(path=self.folder / "other.onnxar"),
            "graphs": key(path=self.folder / "two.onnxar"),
            "graph": key(path=self.folder / "two.onnxar", graph="second"),
            "level": key(options(lambda made: setattr(made, "graph_optimization_level", ort.GraphOptimizationLevel.ORT_ENABLE_BASIC))),
            "deterministic": key(options(lambda made: setattr(made, "use_deterministic_compute", True))),
            "entry": key(options(lambda made: made.add_session_config_entry("session.disable_prepacking", "1"))),
            "value": key(options(lambda made: made.add_session_config_entry("session.disable_prepacking", "0"))),
            "dimension": key(options(lambda made: made.add_free_dimension_override_by_name("n", 3))),
            "named": key(options(lambda made: made.add_free_dimension_override_by_denotation("n", 3))),
            "provider": key(providers=[("CPUExecutionProvider", {"use_arena": "0"})]),
        }
        changes = {"variable": unittest.mock.patch.dict(os.environ, MLAS_X="1"),
                   "version": unittest.mock.patch.object(ort, "__version__", "1.99.0"),
                   "build": unittest.mock.patch.object(ort, "get_build_info", lambda: "another")}  # fmt: skip
        for name, change in changes.items():
            with change:
                keys[name] = key()
        self.assertEqual(len(set(keys.values())), len(keys), keys)
        self.assertEqual(key(), plain)

    def test_settings_without_effect_share_an_entry(self):
        self.start(entries=1)
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.start(entries=1, options=options)
        self.assertEqual(options.graph_optimization_level, ort.GraphOptimizationLevel.ORT_ENABLE_ALL, "the caller's options were changed")
        self.start(entries=1, options=options)  # again, after sessions had them
        plain = InferenceSession(self.path, options, CPU)
        self.start(entries=1, options=options)
        del plain
        self.start(entries=1, providers=None)
        self.start(entries=1, providers=[("CPUExecutionProvider", {})])
        copied = self.folder / "another" / "name.onnxar"
        copied.parent.mkdir()
        shutil.copyfile(self.path, copied)
        self.start(entries=1, path=copied)

    def test_an_edited_archive_has_a_new_entry(self):
        self.start(entries=1)
        edited = onnx.ModelProto.FromString(self.model.SerializeToString())
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(self.path, edited)
        self.expected = self.run_of(InferenceSession(self.path, providers=CPU))
        self.start(entries=2)

    def test_changed_entries_are_detected_and_rewritten(self):
        self.start(entries=1)
        (entry,) = self.entries()
        whole = entry.read_bytes()
        for place in (0, 4096 + SIZE * SIZE * 4 + 1000, len(whole) // 2, len(whole) - 3000, len(whole) - 200, len(whole) - 5):
            entry.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            self.start(entries=1)
            self.assertTrue(entry.read_bytes() == whole, place)
        entry.write_bytes(whole[: len(whole) // 2])
        self.start(entries=1)
        self.assertTrue(entry.read_bytes() == whole)

    def test_comparison_is_remembered_until_entry_changes(self):
        self.start(entries=1)
        (entry,) = self.entries()
        self.start(entries=1)
        self.assertEqual(self.suffixes(), {".onnxar", ".onnxar.lock"})
        time.sleep(LONGEST_TICK)
        self.start(entries=1)
        self.assertEqual(self.suffixes(), {".onnxar", ".onnxar.lock", ".onnxar.seen", ".digest"})
        before, whole = entry.stat(), entry.read_bytes()
        with open(entry, "r+b") as file:  # in place, and with its old time
            file.seek(len(whole) // 2)
            file.write(bytes([whole[len(whole) // 2] ^ 4]))
        os.utime(entry, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.start(entries=1)
        self.assertTrue(entry.read_bytes() == whole)

    def test_entry_with_the_name_of_another_is_not_used(self):
        self.start(entries=1)
        (entry,) = self.entries()
        edited = onnx.ModelProto.FromString(self.model.SerializeToString())
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(self.path, edited)
        self.expected = self.run_of(InferenceSession(self.path, providers=CPU))
        entry.rename(self.cache / self.name_of())
        self.start(entries=1)

    def test_graphs_have_entries_of_their_own(self):
        onnxar.pack({"": self.path, "second": self.path}, two := self.folder / "two.onnxar")
        for graph, entries in (("", 1), ("second", 2), ("second", 2)):
            self.start(entries=entries, path=two, graph=graph)
        self.refused("usage.no_such_entry", InferenceSession, two, providers=CPU, cache=self.cache, graph="third")

    def test_changed_providers_lead_back_to_the_archive(self):
        session = self.start(entries=1)
        session.set_providers(CPU)
        self.assertFalse(session.is_cached)
        self.assertEqual(self.run_of(session), self.expected)


class Processes(CacheTest):
    @contextlib.contextmanager
    def workers(self, count: int) -> Iterator[list[subprocess.Popen[str]]]:
        made = [subprocess.Popen([sys.executable, "-B", "-c", WORKER, self.path, self.cache, str(SIZE)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True) for _ in range(count)]  # fmt: skip
        try:
            for each in made:
                self.assertEqual(each.stdout.readline(), "ready\n")
            yield made
        finally:
            for each in made:
                each.communicate()

    def test_processes_that_start_at_once_make_one_entry(self):
        with self.workers(4) as workers:
            for each in workers:
                each.stdin.write("\n")
                each.stdin.flush()
            answers = [each.stdout.readline().split() for each in workers]
        self.assertEqual(len({crc for crc, _ in answers}), 1, answers)
        self.assertIn("True", {cached for _, cached in answers})
        (entry,) = self.entries()
        self.start(entries=1)
        self.assertLessEqual(self.suffixes(), {".onnxar", ".onnxar.lock", ".onnxar.seen", ".digest"})
        self.assertEqual(entry.stat().st_nlink, 1)

    def test_sessions_start_while_another_process_stores(self):
        name = self.name_of()
        with open(self.cache / f"{name}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                session = InferenceSession(self.path, providers=CPU, cache=self.cache)
            self.assertFalse(session.is_cached)
            self.assertEqual(self.run_of(session), self.expected)
        part = self.cache / f"{name}.part"  # what a killed process leaves
        part.mkdir()
        (part / "about").write_bytes(OURS)
        (part / "data").write_bytes(b"half")
        self.start(entries=1)


class Without(CacheTest):
    def test_folders_that_cannot_be_written(self):
        file = self.folder / "file"
        file.write_bytes(b"")
        self.starts_without("is not a folder", cache=file / "cache")
        self.starts_without("is not a folder", cache=file)
        self.assertEqual(file.read_bytes(), b"")

    def test_a_full_disk(self):
        script = """
import resource, sys, warnings, zlib
import numpy as np
import onnxar.onnxruntime
path, cache, size = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # less than the weight
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    session = onnxar.onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"], cache=cache)
print(len(said), session.is_cached, len(session.run(None, {"x": np.ones((1, int(size)), np.float32)})), said[0].message)
"""
        done = subprocess.run([sys.executable, "-B", "-c", script, self.path, self.cache, str(SIZE)], capture_output=True, text=True)
        self.assertEqual(done.stdout.split()[:3], ["1", "False", "2"], done.stdout + done.stderr)
        self.assertLessEqual(self.suffixes(), {".onnxar.lock", ".digest"})
        self.start(entries=1)

    def test_sources_and_settings_that_cannot_be_stored(self):
        self.starts_without("in memory", source=self.path.read_bytes())
        self.starts_without("disabled_optimizers", disabled_optimizers=["ConstantFolding"])
        options = SessionOptions()
        options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(weights(SIZE, SIZE)))
        self.starts_without("a call of add_initializer", sess_options=options)
        options = SessionOptions()
        options.optimized_model_filepath = str(self.folder / "mine.onnx")
        self.starts_without("optimized_model_filepath", sess_options=options)
        with (unittest.mock.patch.dict(os.environ, ORT_LOAD_CONFIG_FROM_MODEL="1"),
              self.assertRaisesRegex(_cache.Unfit, "lets models set options")):  # fmt: skip
            _cache.settings_of(SessionOptions(), CPU, None)
        with unittest.mock.patch.object(ort, "__version__", "1.21.3"):
            self.starts_without("older than 1.22")
        self.assertFalse(self.cache.exists())

    def test_a_file_object_is_read_once(self):
        with open(self.path, "rb") as file:
            self.starts_without("in memory", source=file)

    def test_a_user_without_a_home(self):
        with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=""), unittest.mock.patch("pathlib.Path.home", side_effect=RuntimeError("no home")):
            self.starts_without("no home", cache=True)

    def test_other_providers(self):
        for providers, options in ((["CUDAExecutionProvider", *CPU], None), ([("X", {"a": 1})], None), (["X", *CPU], [{}, {}])):
            with self.assertRaisesRegex(_cache.Unfit, "CUDA|X"):
                _cache.settings_of(SessionOptions(), providers, options)

    # ONNX Runtime's own SessionOptions do not expose what was set.
    def test_options_without_recorded_settings_are_refused(self):
        self.refused("usage.argument", InferenceSession, self.path, ort.SessionOptions(), CPU, cache=self.cache)

    def test_bad_archive_raises_the_same_error_as_uncached(self):
        self.refused("io.not_found", InferenceSession, self.folder / "none", providers=CPU, cache=self.cache)
        (self.folder / "m.onnx").write_bytes(self.model.SerializeToString())
        self.refused("zip.end.missing", InferenceSession, self.folder / "m.onnx", providers=CPU, cache=self.cache)


class Commands(CacheTest):
    def command(self, *words: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "xdg")}
        return subprocess.run([sys.executable, "-B", "-m", "onnxar", "cache", *map(str, words)], capture_output=True, text=True, env=environment)

    def test_fill_list_and_clear(self):
        self.cache = self.folder / "xdg/onnxar/sessions"
        done = self.command("fill", self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(str(self.cache), done.stdout)
        self.start(entries=1)
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        listed = self.command("list").stdout
        self.assertIn(str(self.path), listed)
        self.assertIn(f"{self.entries()[0].stat().st_size / 1e6:.1f} MB", listed)
        self.assertIn("removed 1 ", self.command("clear").stdout)
        self.assertEqual(list(self.cache.iterdir()), [])
        self.assertIn("removed 0 ", self.command("clear").stdout)

    def test_clear_removes_only_what_the_cache_made(self):
        self.start(entries=1)
        (self.cache / "mine.onnxar").write_bytes(b"")
        self.assertIn("removed 1 ", self.command("--folder", self.cache, "clear").stdout)
        self.assertEqual([each.name for each in self.cache.iterdir()], ["mine.onnxar"])

    def test_failures(self):
        for words, code, said in ((["fill", self.folder / "none"], 1, "io.not_found"), ([], 2, "ACTION"), (["fill"], 2, "ARCHIVE"),
                                  (["--folder", self.path, "fill", self.path], 1, "is not a folder")):  # fmt: skip
            done = self.command(*words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_the_default_folder_follows_the_system(self):
        with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME="/x"):
            self.assertEqual(_cache.default_folder(), pathlib.Path("/x/onnxar/sessions"))
        for unusable in ("", "relative"):
            with unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=unusable, HOME="/home/me"):
                self.assertEqual(_cache.default_folder(), pathlib.Path("/home/me/.cache/onnxar/sessions"))


if __name__ == "__main__":
    unittest.main()

"""The cache of sessions against other users, other processes, damage and failures: every session computes from its own
archive, and a temporary failure does not keep a model out of the cache."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pathlib
import shutil
import signal
import threading
import time
import unittest
import unittest.mock
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import onnxruntime as ort
from cache_test import CPU, LONGEST_TICK, OURS, SIZE, CacheTest
from onnxruntime.capi import onnxruntime_pybind11_state as errors
from support import weights

import onnxar
import onnxar.onnxruntime
from onnxar import _cache, _cache_command, _core
from onnxar import onnxruntime as sessions
from onnxar.onnxruntime import InferenceSession

POLYNOMIAL = 0xEDB88320


def forged(data: bytes, crc: int) -> bytes:
    """Returns the data with other last four bytes, so that it has this CRC-32."""
    table = []
    for index in range(256):
        value = index
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    state, wanted, steps = zlib.crc32(data[:-4]) ^ 0xFFFFFFFF, crc ^ 0xFFFFFFFF, []
    for _ in range(4):
        step = next(index for index, each in enumerate(table) if each >> 24 == wanted >> 24)
        steps.append(step)
        wanted = (wanted ^ table[step]) << 8 & 0xFFFFFFFF
    end = bytearray()
    for step in reversed(steps):
        end.append((state ^ step) & 0xFF)
        state = state >> 8 ^ table[step]
    return data[:-4] + bytes(end)


class SafetyTest(CacheTest):
    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        with open(self.cache / f"{key}.onnxar.lock", "ab") as lock:
            lock.write(OURS)
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Poison(SafetyTest):
    def test_archive_with_colliding_crc_gets_its_own_entry(self):
        weight = weights(SIZE, SIZE).tobytes()
        evil = forged(weights(SIZE, SIZE, seed=5).tobytes(), zlib.crc32(weight))
        whole = self.path.read_bytes()
        self.assertEqual(whole.count(weight), 1)
        twin = self.folder / "twin.onnxar"
        twin.write_bytes(whole.replace(weight, evil))
        with zipfile.ZipFile(twin) as zipped:
            self.assertIsNone(zipped.testzip())
        self.assertNotEqual(self.name_of(), self.name_of(path=twin))
        right, self.expected = (self.expected, self.run_of(InferenceSession(twin, providers=CPU)))
        self.assertNotEqual(right, self.expected)
        self.start(entries=1, path=twin)
        self.expected = right
        self.start(entries=2)

    def test_a_damaged_archive_is_refused(self):
        whole = self.path.read_bytes()
        weight = weights(SIZE, SIZE).tobytes()
        self.path.write_bytes(whole.replace(weight, weight[:-1] + bytes([weight[-1] ^ 1])))
        self.refused("zip.data.crc", InferenceSession, self.path, providers=CPU, cache=self.cache)
        self.assertEqual(self.entries(), [])

    def test_digest_is_remembered_until_archive_changes(self):
        time.sleep(LONGEST_TICK)
        self.start(entries=1)
        (memo,) = self.cache.glob("*.digest")
        right = memo.read_bytes()
        forged = right[:-64] + b"0" * 64
        for link in (self.path, self.folder / "link"):
            if link != self.path:
                link.symlink_to(self.path)
            memo.write_bytes(forged)
            self.assertNotEqual(self.name_of(path=link), self.entries()[0].name, "it is believed")
        before = self.path.stat()
        with open(self.path, "r+b") as file:  # in place, and with its old time
            first = file.read(1)
            file.seek(0)
            file.write(first)
        os.utime(self.path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(self.name_of(), self.entries()[0].name)
        for damaged in (b"", b"\xff", b"x y", OURS, right[:-1]):
            memo.write_bytes(damaged)
            self.start(entries=1)

    def test_digest_of_recent_archive_is_not_remembered(self):
        for _ in range(2):
            os.utime(self.path)
            self.start(entries=1)
            self.assertEqual(list(self.cache.glob("*.digest")), [])

    def test_archive_replaced_while_stored_makes_no_entry(self):
        other, kept = self.other(), self.folder / "kept"
        write, right = ort.InferenceSession.__init__, self.expected
        for is_rolled_back in (False, True):
            os.link(self.path, kept)

            def replacing(session: object, *arguments: Any, is_rolled_back: bool = is_rolled_back, **named: Any) -> None:
                if type(session) is ort.InferenceSession:  # the one that stores the model
                    os.replace(shutil.copyfile(other, self.folder / "copy"), self.path)
                write(session, *arguments, **named)
                if type(session) is ort.InferenceSession and is_rolled_back:
                    os.link(kept, self.folder / "again")
                    os.replace(self.folder / "again", self.path)

            self.expected = right if is_rolled_back else self.run_of(InferenceSession(other, providers=CPU))
            with unittest.mock.patch.object(ort.InferenceSession, "__init__", replacing):
                self.starts_without("io.changed")
            self.assertEqual(self.entries(), [])
            os.replace(kept, self.path)

    def other(self) -> pathlib.Path:
        onnxar.save(self.made(), other := self.folder / "other.onnxar")
        edited = self.made()
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(other, edited)
        return other


class Changes(SafetyTest):
    """Files that change while a session is made."""

    def test_plain_session_of_file_put_back_is_refused(self):
        begin, aside = ort.InferenceSession.__init__, self.folder / "aside"

        def replacing(*arguments: Any, **named: Any) -> None:
            os.rename(self.path, aside)
            shutil.copyfile(aside, self.path)
            begin(*arguments, **named)
            os.rename(aside, self.path)

        with unittest.mock.patch.object(ort.InferenceSession, "__init__", replacing):
            self.refused("io.changed", InferenceSession, self.path, providers=CPU)

    def test_changed_providers_use_the_same_archive(self):
        other, elsewhere = self.other_model(), self.folder / "elsewhere"
        elsewhere.mkdir()
        shutil.copyfile(other, elsewhere / self.path.name)
        self.addCleanup(os.chdir, os.getcwd())
        for cache in (False, self.cache, self.cache):
            os.chdir(self.folder)
            session = InferenceSession(self.path.name, providers=CPU, cache=cache)
            os.chdir(elsewhere)
            session.set_providers(CPU)
            self.assertEqual(self.run_of(session), self.expected)
            session = InferenceSession(self.path, providers=CPU, cache=cache)
            os.rename(self.path, self.folder / "aside")
            shutil.copyfile(other, self.path)
            self.refused("io.changed" if cache else "onnx.link.stale", session.set_providers, CPU)
            self.assertEqual(self.run_of(session), self.expected, "the session stays as it was")
            os.replace(self.folder / "aside", self.path)

    def other_model(self) -> pathlib.Path:
        edited = self.made()
        edited.graph.node[1].op_type = "Sub"
        onnxar.save(edited, other := self.folder / "other.onnxar")
        return other

    def test_entry_replaced_during_start_is_not_used(self):
        self.start(entries=1)
        (entry,) = self.entries()
        begin = ort.InferenceSession.__init__

        def replacing(*arguments: Any, **named: Any) -> None:
            begin(*arguments, **named)
            os.replace(shutil.copyfile(entry, self.folder / "copy"), entry)
            entry.chmod(0o600)

        with unittest.mock.patch.object(ort.InferenceSession, "__init__", replacing), self.assertWarnsRegex(RuntimeWarning, "io.changed"):
            self.assertFalse(InferenceSession(self.path, providers=CPU, cache=self.cache).is_cached)
        self.start(entries=1)

    def test_session_starts_if_its_entry_is_removed(self):
        begin = InferenceSession._begin_stored

        def clearing(*arguments: Any) -> None:
            _cache.Cache(self.cache).clear()
            begin(*arguments)

        for _ in range(2):  # without an entry, and with one
            with unittest.mock.patch.object(InferenceSession, "_begin_stored", clearing):
                self.starts_without("")
            self.assertEqual(list(self.cache.iterdir()), [])
        self.start(entries=1)


class Failures(SafetyTest):
    def failing(self, failure: Exception) -> contextlib.AbstractContextManager[object]:
        return unittest.mock.patch.object(InferenceSession, "_begin_stored", side_effect=failure)

    def test_failures_of_a_moment_do_not_refuse_the_model(self):
        for failure in (OSError("no files left"), MemoryError("no memory left"), onnxar.Error("onnx.link.stale", "stale"),
                        errors.Fail("cannot write"), errors.RuntimeException("cannot allocate"), ValueError("no value")):  # fmt: skip
            with self.failing(failure):
                self.starts_without("no files left|no memory left|stale|cannot write|cannot allocate|no value")
            self.assertNotIn(".onnxar.refused", self.suffixes())
            self.start(entries=1)
            _cache.Cache(self.cache).clear()

    def test_an_entry_that_worked_is_not_refused_later(self):
        self.start(entries=1)
        with self.failing(errors.InvalidGraph("today")):
            self.starts_without("today")
        self.assertNotIn(".onnxar.refused", self.suffixes())
        self.start(entries=1)

    def test_new_entry_that_fails_is_refused_and_listed(self):
        with self.failing(errors.InvalidGraph("not this\none")):
            self.starts_without("not this\none")
        self.assertLessEqual({".onnxar.refused"}, self.suffixes())
        self.assertEqual(self.entries(), [])
        with unittest.mock.patch.object(ort.InferenceSession, "__init__", side_effect=AssertionError) as begin, self.assertRaises(AssertionError):
            self.starts_without("not this\none")
        self.assertEqual(begin.call_count, 1, "only the session without the cache was tried")
        ((_, size, said),) = _cache.Cache(self.cache).entries()
        self.assertEqual((size, said), (0, f"{self.path} (ONNX Runtime {ort.__version__}): cannot be stored: not this\none"))
        self.assertEqual(_cache.Cache(self.cache).clear(), (0, 0))
        self.start(entries=1)

    # Other failures may pass, such as a full disk. Each occurs while ONNX Runtime stores the model.
    def test_only_failures_of_the_model_are_remembered(self):
        for failure, is_lasting in ((errors.Fail("Failed to write"), False), (errors.InvalidProtobuf("Failed to write"), False),
                                    (errors.NotImplemented("never"), True)):  # fmt: skip
            begin = ort.InferenceSession.__init__

            def failing(session: object, *arguments: object, failure: Exception = failure, begin: Any = begin, **named: object) -> None:
                if type(session) is ort.InferenceSession:  # the one that stores the model
                    raise failure
                begin(session, *arguments, **named)

            with unittest.mock.patch.object(ort.InferenceSession, "__init__", failing):
                self.starts_without(str(failure))
            self.assertEqual(".onnxar.refused" in self.suffixes(), is_lasting)
            failure.__traceback__ = None  # whose frames have the lock

    def test_full_disk_does_not_refuse_the_model(self):
        write = sessions._write_optimised

        def cut(stored: _core.StoredModel, *arguments: Any) -> None:
            with unittest.mock.patch.object(ort, "InferenceSession") as session:
                session.side_effect = lambda _, options, *rest, **named: pathlib.Path(options.optimized_model_filepath).write_bytes(b"\x08\x08\x3a\x7f")
                write(stored, *arguments)

        with unittest.mock.patch.object(sessions, "_write_optimised", cut):
            self.starts_without("")
        self.assertNotIn(".onnxar.refused", self.suffixes())
        self.start(entries=1)

    def test_damaged_refusals_do_not_raise(self):
        refusal = self.name_of() + ".refused"
        for damaged in (b"", b"\xff\xfe", b"m\n\xff", OURS):
            (self.cache / refusal).write_bytes(damaged)
            self.assertEqual(_cache.Cache(self.cache).entries(), [])
            self.start(entries=1)
            self.entries()[0].unlink()
        (self.cache / refusal).unlink()
        (self.cache / refusal).mkdir()
        self.start(entries=1)

    def test_folders_whose_names_are_not_utf8(self):
        odd = pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b"/c\xff"))
        odd.mkdir(mode=0o700)
        path = shutil.copyfile(self.path, odd / "m.onnxar")
        self.assertEqual(self.run_of(InferenceSession(path, providers=CPU)), self.expected)
        self.start(entries=1, path=path)
        self.cache = odd / "cache"
        for _ in range(2):
            self.start(entries=1)


class Exclusion(SafetyTest):
    def test_clear_leaves_what_another_process_is_making(self):
        self.start(entries=1)
        busy = "b" * 64
        part = self.cache / f"{busy}.onnxar.part"
        part.mkdir()
        (part / "about").write_bytes(OURS)
        (part / "data").write_bytes(bytes(3_000_000))
        with self.locked(busy):
            inode = (self.cache / f"{busy}.onnxar.lock").stat().st_ino
            self.assertEqual(_cache.Cache(self.cache).clear(), (1, 1))
            self.assertEqual({each.name for each in self.cache.iterdir()}, {f"{busy}.onnxar.lock", part.name})
            self.assertEqual((self.cache / f"{busy}.onnxar.lock").stat().st_ino, inode)
            self.assertTrue((part / "data").exists())
        self.assertEqual(_cache.Cache(self.cache).clear(), (0, 0))
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_next_entry_removes_abandoned_parts(self):
        self.cache.mkdir(mode=0o700)
        other, busy = "a" * 64, "b" * 64
        for each in (other, busy):
            (self.cache / f"{each}.onnxar.part").mkdir()
            (self.cache / f"{each}.onnxar.part" / "about").write_bytes(OURS)
            (self.cache / f"{each}.onnxar.part" / "data").write_bytes(bytes(1000))
        self.assertEqual(_cache.Cache(self.cache).unfinished(), 2000)
        with self.locked(busy):
            InferenceSession(self.path, providers=CPU, cache=self.cache)
            self.assertEqual([each.name for each in self.cache.glob("*.part")], [f"{busy}.onnxar.part"])
        self.assertEqual(len(self.entries()), 1)

    def test_forked_child_does_not_keep_the_lock(self):
        forked, done = threading.Event(), threading.Event()
        begin = ort.InferenceSession.__init__

        def waiting(session: object, *arguments: Any, **named: Any) -> None:
            if type(session) is ort.InferenceSession:  # the one that stores the model
                forked.set()
                done.wait()
            begin(session, *arguments, **named)

        with unittest.mock.patch.object(ort.InferenceSession, "__init__", waiting):
            thread = threading.Thread(target=lambda: InferenceSession(self.path, providers=CPU, cache=self.cache))
            thread.start()
            forked.wait()
            child = os.fork()
            if child == 0:
                signal.pause()
            done.set()
            thread.join()
        try:
            self.assertEqual(_cache.Cache(self.cache).clear(), (1, 0))
            self.start(entries=1)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


class Commands(CacheTest):
    def test_names_are_printed_without_control_characters(self):
        odd = self.folder / "m\x1b[31m\n.onnxar"
        shutil.copyfile(self.path, odd)
        folder = self.folder / "c\n\x07"
        for words in (["fill", str(odd)], ["list"], ["clear"]):
            code, out, err = self.command("--folder", str(folder), *words)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual([each for each in out if each != "\n" and not each.isprintable()], [])
            self.assertIn("c\\n\\x07", out)
        self.assertEqual(out, f"removed 1 from {self.folder}/c\\n\\x07\n")

    def test_list_shows_unfinished_and_busy_entries(self):
        self.cache.mkdir(mode=0o700)
        part = self.cache / f"{'a' * 64}.onnxar.part"
        part.mkdir()
        (part / "about").write_bytes(OURS)
        (part / "data").write_bytes(bytes(2_500_000))
        self.assertIn("       2.5 MB  not finished", self.command("--folder", str(self.cache), "list")[1])
        with open(self.cache / f"{'a' * 64}.onnxar.lock", "wb") as lock:
            lock.write(OURS)
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("removed 0 from", said := self.command("--folder", str(self.cache), "clear")[1])
            self.assertIn("1 not removed", said)

    def test_failures_of_the_system_are_reported(self):
        with unittest.mock.patch.object(pathlib.Path, "home", side_effect=RuntimeError("no home")), unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=""):
            code, out, err = self.command("list")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no home", err)

    def test_an_empty_folder_name_is_refused(self):
        self.refused("usage.argument", InferenceSession, self.path, providers=CPU, cache="")
        self.refused("usage.argument", _cache_command.main, ["--folder", "", "list"])

    def command(self, *words: str) -> tuple[int, str, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = _cache_command.main(list(words))
        return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    unittest.main()

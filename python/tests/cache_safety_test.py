"""The cache of sessions against other users, other processes, damage and failures: no session computes from anything else than its archive,
and no failure of a moment keeps a model out of the cache."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pathlib
import shutil
import unittest
import unittest.mock
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import onnxruntime as ort
from building import model
from cache_test import CPU, SIZE, CacheTest
from onnxruntime.capi import onnxruntime_pybind11_state as errors
from support import weights

import onnxar
import onnxar.onnxruntime
from onnxar import _cache, _cache_command, _cache_files, _cache_key, _core
from onnxar.onnxruntime import InferenceSession, SessionOptions

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
    def key(self, path: pathlib.Path | None = None) -> str:
        return _cache_key.key_of(str(path or self.path), "", SessionOptions(), CPU, None)

    def suffixes(self) -> set[str]:
        return {each.suffix for each in self.cache.iterdir()}

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        with open(self.cache / f"{key}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Poison(SafetyTest):
    def test_a_twin_with_the_same_checksums_has_an_entry_of_its_own(self):
        weight = weights(SIZE, SIZE).tobytes()
        evil = forged(weights(SIZE, SIZE, seed=5).tobytes(), zlib.crc32(weight))
        whole = self.path.read_bytes()
        self.assertEqual(whole.count(weight), 1)
        twin = self.folder / "twin.onnxar"
        twin.write_bytes(whole.replace(weight, evil))
        with zipfile.ZipFile(twin) as zipped:
            self.assertIsNone(zipped.testzip())
        self.assertNotEqual(self.key(), self.key(twin))
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

    def test_the_digest_is_taken_once_for_each_state_of_the_archive(self):
        def taken() -> int:
            with unittest.mock.patch.object(_cache, "digest_of", wraps=_cache.digest_of) as digest:
                self.start(entries=1)
            return digest.call_count

        self.start(entries=1)
        self.assertEqual((taken(), taken()), (0, 0))
        with unittest.mock.patch.object(_cache_files, "boot", lambda: "another"):
            self.assertEqual((taken(), taken()), (1, 0))
        with unittest.mock.patch.object(_cache_files, "boot", lambda: ""):
            self.assertEqual((taken(), taken()), (1, 1))
        before = self.path.stat()
        with open(self.path, "r+b") as file:  # in place, and with its old time
            first = file.read(1)
            file.seek(0)
            file.write(first)
        os.utime(self.path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual((taken(), taken()), (1, 0))
        link = self.folder / "link"
        link.symlink_to(self.path)
        self.path = link
        self.assertEqual(taken(), 0)
        for damaged in (b"", b"\xff", b"x y"):
            (memo,) = self.cache.glob("*.digest")
            memo.write_bytes(damaged)
            self.assertEqual((taken(), taken()), (1, 0))

    def test_the_digest_of_an_archive_that_changes_is_not_remembered(self):
        digest_of = _cache.digest_of

        def touching(path: str) -> str:
            value = digest_of(path)
            os.utime(self.path)
            return value

        cache = _cache.Cache(self.cache)
        with unittest.mock.patch.object(_cache, "digest_of", touching):
            cache.digest_of(self.path)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_an_archive_that_is_replaced_while_it_is_stored_makes_no_entry(self):
        onnxar.save(self.made(), other := self.folder / "other.onnxar")
        edited = self.made()
        edited.graph.node[1].op_type = "Sub"
        onnxar.replace(other, edited)
        make_link = _core.make_link

        def replacing(*arguments: object) -> object:
            os.replace(shutil.copyfile(other, self.folder / "copy"), self.path)
            return make_link(*arguments)

        self.expected = self.run_of(InferenceSession(other, providers=CPU))
        with unittest.mock.patch.object(_core, "make_link", replacing):
            self.starts_without("replaced in the meantime")
        self.assertEqual(self.entries(), [])


class Changes(SafetyTest):
    """Entries that change between the comparison and the session."""

    def test_an_entry_that_changes_while_it_is_compared_is_not_recorded_or_used(self):
        self.start(entries=1)
        (entry,) = self.entries()
        entry.with_suffix(".seen").unlink()

        def replacing(*_: object) -> None:
            os.replace(shutil.copyfile(entry, self.folder / "copy"), entry)

        with unittest.mock.patch.object(_cache.Cache, "_compare", replacing):
            self.starts_without("changed or removed the entry")
        self.assertEqual(self.suffixes(), {".onnxar", ".lock", ".digest"})
        self.start(entries=1)

    def test_a_good_entry_that_replaced_a_bad_one_stays(self):
        self.start(entries=1)
        (entry,) = self.entries()
        good = shutil.copyfile(entry, self.folder / "good")
        entry.write_bytes(b"bad")
        open_archive = _core.Archive.open

        def replacing(path: object) -> object:
            try:
                return open_archive(path)
            finally:
                if path == entry and good.exists():
                    os.replace(good, entry)

        with unittest.mock.patch.object(_cache, "_core", unittest.mock.Mock(wraps=_core)) as core:
            core.Archive.open = replacing
            self.assertIsNone(_cache.Cache(self.cache).find(self.key()))
        self.assertTrue(entry.exists())
        before = entry.stat().st_ino
        self.start(entries=1)
        self.assertEqual(entry.stat().st_ino, before)

    def test_an_entry_that_is_removed_before_the_session_is_made_again(self):
        begin = InferenceSession._begin_stored

        def clearing(*arguments: object) -> None:
            _cache.Cache(self.cache).clear()
            begin(*arguments)

        for _ in range(2):  # without an entry, and with one
            with unittest.mock.patch.object(InferenceSession, "_begin_stored", clearing):
                self.starts_without("changed or removed the entry")
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
            self.assertNotIn(".refused", self.suffixes())
            self.start(entries=1)
            _cache.Cache(self.cache).clear()

    def test_an_entry_that_worked_is_not_refused_later(self):
        self.start(entries=1)
        with self.failing(errors.InvalidGraph("today")):
            self.starts_without("today")
        self.assertNotIn(".refused", self.suffixes())
        self.start(entries=1)

    def test_a_new_entry_that_does_not_work_is_refused_and_listed(self):
        with self.failing(errors.InvalidGraph("not this\none")):
            self.starts_without("not this\none")
        self.assertEqual(self.suffixes(), {".lock", ".refused", ".digest"})
        with unittest.mock.patch.object(_cache.Cache, "fill") as fill:
            self.starts_without("not this\none")
        fill.assert_not_called()
        ((_, size, said),) = _cache.Cache(self.cache).entries()
        self.assertEqual((size, said), (0, f"{self.path} (ONNX Runtime {ort.__version__}): cannot be stored: not this\none"))
        self.assertEqual(_cache.Cache(self.cache).clear(), (0, 0))
        self.start(entries=1)

    def test_models_that_cannot_be_stored_are_tried_once(self):
        broken = unittest.mock.patch.object(_core, "pack_stored", side_effect=onnxar.Error("onnx.model.invalid", "of another year"))
        with broken:
            self.starts_without("of another year")
        with broken as pack:
            self.starts_without("of another year")
        pack.assert_not_called()
        self.assertEqual(self.suffixes(), {".lock", ".refused", ".digest"})

    def test_only_failures_because_of_the_model_are_remembered_when_it_is_stored(self):
        for failure, is_lasting in ((errors.Fail("Failed to write"), False), (errors.NotImplemented("never"), True)):
            begin = ort.InferenceSession.__init__

            def failing(session: object, *arguments: object, failure: Exception = failure, begin: Any = begin, **named: object) -> None:
                if type(session) is ort.InferenceSession:  # the one that stores the model
                    raise failure
                begin(session, *arguments, **named)

            with unittest.mock.patch.object(ort.InferenceSession, "__init__", failing):
                self.starts_without(str(failure))
            self.assertEqual(".refused" in self.suffixes(), is_lasting)

    def test_a_new_entry_that_is_not_valid_is_refused(self):
        pack = _cache._pack

        def damaged(part: pathlib.Path, about: dict[str, str], original: bytes) -> None:
            pack(part, about, original)
            with open(part / "entry", "r+b") as file:
                file.seek(8192 + 10_000)
                file.write(b"damage")

        with unittest.mock.patch.object(_cache, "_pack", damaged):
            self.starts_without("not valid.*zip.data.crc")
        self.starts_without("not valid.*zip.data.crc")
        self.assertEqual(self.suffixes(), {".lock", ".refused", ".digest"})

    def test_damaged_refusals_do_not_raise(self):
        self.cache.mkdir(mode=0o700)
        refusal = self.cache / f"{self.key()}.refused"
        for damaged, said in ((b"", "refused before"), (b"\xff\xfe", "refused before"), (b"m\n\xff", "\ufffd")):
            refusal.write_bytes(damaged)
            self.starts_without(said)
            self.assertEqual(len(_cache.Cache(self.cache).entries()), 1)
        refusal.unlink()
        refusal.mkdir()
        self.starts_without("Is a directory")

    def test_damaged_descriptions_are_made_anew(self):
        key = self.key()
        self.cache.mkdir(mode=0o700)
        of_numbers = json.dumps({"key": key, "model": 1, "onnxruntime": 1}).encode()
        for about in (b"[]", b"{", b"[" * 200_000, b"{}", b'{"key": 1}', b"\xff", b"null", of_numbers, None):
            writer = _core.ArchiveWriter.create(self.cache / f"{key}.onnxar", 4096, True, False)
            if about is not None:
                writer.add("about", len(about), lambda file, about=about: file.write(about))
            writer.finish(model())
            self.assertEqual(_cache.Cache(self.cache).entries(), [])
            self.start(entries=1)
            _cache.Cache(self.cache).clear()


class Exclusion(SafetyTest):
    def test_clear_leaves_what_another_process_is_making(self):
        self.start(entries=1)
        busy = "b" * 64
        part = self.cache / f"{busy}.abc.part"
        part.mkdir()
        (part / "data").write_bytes(bytes(3_000_000))
        with self.locked(busy):
            inode = (self.cache / f"{busy}.lock").stat().st_ino
            self.assertEqual(_cache.Cache(self.cache).clear(), (1, 1))
            self.assertEqual({each.name for each in self.cache.iterdir()}, {f"{busy}.lock", part.name})
            self.assertEqual((self.cache / f"{busy}.lock").stat().st_ino, inode)
            self.assertTrue((part / "data").exists())
        self.assertEqual(_cache.Cache(self.cache).clear(), (0, 0))
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_parts_are_unique_and_abandoned_ones_are_removed_with_the_next_entry(self):
        self.cache.mkdir(mode=0o700)
        key, other, busy = self.key(), "a" * 64, "b" * 64
        for each in (key, other, busy):
            (self.cache / f"{each}.x.part").mkdir()
            (self.cache / f"{each}.x.part" / "data").write_bytes(bytes(1000))
        self.assertEqual(_cache.Cache(self.cache).unfinished(), 3000)
        with self.locked(busy):
            InferenceSession(self.path, providers=CPU, cache=self.cache)
        self.assertEqual([each.name for each in self.cache.glob("*.part")], [f"{busy}.x.part"])
        self.assertEqual(len(self.entries()), 1)


class Processor(unittest.TestCase):
    def test_without_features_the_names_of_the_system_are_taken(self):
        system = unittest.mock.patch.object(_cache_key.platform, "uname", lambda: ("of", "this", "machine"))
        for text, expected in (("isa\t: rv64imafdc\n", True), ("model\t: power\n", True), ("flags\t\t: avx2\nmodel\t: 1\n", False)):
            with self.subTest(text), system, unittest.mock.patch("builtins.open", unittest.mock.mock_open(read_data=text)):
                self.assertEqual("machine" in _cache_key.processor(), expected)
        with system, unittest.mock.patch("builtins.open", side_effect=FileNotFoundError):
            self.assertIn("machine", _cache_key.processor())


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

    def test_unfinished_and_busy_entries_are_told(self):
        part = self.cache / f"{'a' * 64}.x.part"
        part.mkdir(parents=True)
        (part / "data").write_bytes(bytes(2_500_000))
        self.assertIn("       2.5 MB  not finished", self.command("--folder", str(self.cache), "list")[1])
        with open(self.cache / f"{'a' * 64}.lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("removed 0 from", said := self.command("--folder", str(self.cache), "clear")[1])
            self.assertIn("1 not removed", said)

    def test_failures_of_the_system_are_told(self):
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

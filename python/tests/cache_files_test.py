"""Who may write to the cache of sessions."""

from __future__ import annotations

import os
import stat
import time
import unittest
import unittest.mock

from cache_test import LONGEST_TICK, CacheTest

import onnxar
from onnxar import _cache
from onnxar.onnxruntime import InferenceSession


@unittest.skipUnless(hasattr(os, "geteuid"), "permissions of POSIX")
class Permissions(CacheTest):
    def test_new_folders_are_private_to_their_user(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        self.cache = self.folder / "a/b/c"
        self.start(entries=1)
        for each in (self.folder / "a", self.folder / "a/b", self.cache):
            self.assertEqual(stat.S_IMODE(each.stat().st_mode), 0o700, each)

    def test_new_files_are_private_to_their_user(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        time.sleep(LONGEST_TICK)
        self.start(entries=1)
        time.sleep(LONGEST_TICK)
        self.start(entries=1)
        self.assertEqual(self.suffixes(), {".onnxar", ".onnxar.lock", ".onnxar.seen", ".digest"})
        for each in self.cache.iterdir():
            self.assertEqual(stat.S_IMODE(each.stat().st_mode), 0o600, each)

    def test_entries_others_can_write_to_are_not_used(self):
        self.start(entries=1)
        (entry,) = self.entries()
        entry.chmod(0o666)
        self.starts_without("others can write to it")
        entry.chmod(0o600)
        self.start(entries=1)

    def test_folders_that_others_can_write_to_are_not_used(self):
        parent = self.folder / "parent"
        self.cache = parent / "cache"
        self.cache.mkdir(parents=True)
        for of_parent, mode in ((0o755, 0o777), (0o755, 0o775), (0o755, 0o1777), (0o777, 0o700), (0o775, 0o700)):
            parent.chmod(of_parent)
            self.cache.chmod(mode)
            self.starts_without("others can write to .*chmod go-w")
            self.assertEqual(list(self.cache.iterdir()), [])
            with unittest.mock.patch.object(_cache, "default_folder", lambda: self.cache):
                self.starts_without("others can write", cache=True)
        link = self.folder / "link"
        link.symlink_to(self.cache)
        self.starts_without("others can write", cache=link)
        self.cache.chmod(0o755)
        for of_parent in (0o755, 0o1777):
            parent.chmod(of_parent)
            self.start(entries=1)

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "only root can give files away")
    def test_files_owned_by_other_users_are_not_used(self):
        self.start(entries=1)
        (entry,) = self.entries()
        parent = self.folder / "parent"
        parent.mkdir()
        for path, cache in ((entry, self.cache), (self.cache, self.cache), (parent, parent / "cache")):
            os.chown(path, 1, -1)
            self.starts_without("belongs to another user", cache=cache)
            os.chown(path, 0, -1)
        self.assertTrue(entry.exists())
        self.start(entries=1)

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "only root can give files away")
    def test_digests_of_other_users_are_not_believed(self):
        other = self.made()
        other.graph.node[1].op_type = "Sub"
        onnxar.save(other, self.folder / "other.onnxar")
        time.sleep(LONGEST_TICK)
        self.start(entries=1)
        (memo,) = self.cache.glob("*.digest")
        right = memo.read_bytes()
        memo.write_bytes(right[:-64] + onnxar.digest(self.folder / "other.onnxar").hex.encode())
        os.chown(memo, 1, -1)
        InferenceSession(self.folder / "other.onnxar", providers=["CPUExecutionProvider"], cache=self.cache)
        self.start(entries=2)


if __name__ == "__main__":
    unittest.main()

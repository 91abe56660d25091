"""Who may write to the cache of sessions, and who holds its locks."""

from __future__ import annotations

import contextlib
import os
import stat
import unittest
import unittest.mock

from cache_test import CacheTest

from onnxar import _cache, _cache_files


class Locks(CacheTest):
    def test_a_lock_that_its_holder_removed_is_not_held(self):
        path, lock = self.folder / "lock", _cache_files._lock

        def late(file: object) -> None:
            path.unlink()
            lock(file)

        with unittest.mock.patch.object(_cache_files, "_lock", late), _cache_files.alone(path) as is_alone:
            self.assertFalse(is_alone)
        with _cache_files.alone(path) as first, _cache_files.alone(path) as second:
            self.assertEqual((first, second), (True, False))


@unittest.skipUnless(hasattr(os, "geteuid"), "permissions of POSIX")
class Permissions(CacheTest):
    def test_missing_folders_are_for_their_user_alone(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        self.cache = self.folder / "a/b/c"
        self.start(entries=1)
        for each in (self.folder / "a", self.folder / "a/b", self.cache):
            self.assertEqual(stat.S_IMODE(each.stat().st_mode), 0o700, each)

    def test_folders_that_others_can_write_to_are_not_used(self):
        parent = self.folder / "parent"
        self.cache = parent / "cache"
        self.cache.mkdir(parents=True)
        for of_parent, mode in ((0o755, 0o777), (0o755, 0o775), (0o755, 0o1777), (0o777, 0o700), (0o775, 0o700)):
            parent.chmod(of_parent)
            self.cache.chmod(mode)
            self.starts_without("other users can write to .*chmod go-w")
            self.assertEqual(list(self.cache.iterdir()), [])
            with unittest.mock.patch.object(_cache, "default_folder", lambda: self.cache):
                self.starts_without("other users can write", cache=True)
        link = self.folder / "link"
        link.symlink_to(self.cache)
        self.starts_without("other users can write", cache=link)
        self.cache.chmod(0o755)
        for of_parent in (0o755, 0o1777):
            parent.chmod(of_parent)
            self.start(entries=1)

    def test_only_the_user_and_root_are_trusted(self):
        fields = list(self.path.stat()[:10])
        for uid, is_fine in ((os.geteuid(), True), (0, True), (os.geteuid() + 1, False)):
            fields[stat.ST_UID] = uid
            with contextlib.nullcontext() if is_fine else self.assertRaisesRegex(_cache_files.Unfit, f"another user .id {uid}"):
                _cache_files.expect_owner(self.path, os.stat_result(fields))

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "only root can give files away")
    def test_folders_and_entries_of_other_users_are_not_used(self):
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


if __name__ == "__main__":
    unittest.main()

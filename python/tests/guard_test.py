"""`onnxar.open(..., verify=...)`: no function returns a byte of an entry before it compared the entry with its
digest."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import pathlib
import unittest
import unittest.mock
import warnings

import fsspec
import numpy as np
from building import MODEL, linked, model
from guarded import FILE, GRAPH, GuardedTest, Known
from support import RangedFile, weights

import onnxar
import onnxar.numpy
import onnxar.onnxruntime
from onnxar import _core, _guard

CPU = ["CPUExecutionProvider"]


def of_ir(archive: onnxar.Archive) -> bytes:
    return onnxar.load_ir(archive).graph.initializers["w"].const_value.numpy().tobytes()


def consolidated(archive: onnxar.Archive) -> bytes:
    archive.consolidate()
    return archive["w"].tobytes()


# Ways to the bytes of the weight `w`, by the names of the public functions that they try.
WAYS = {
    "Archive.__getitem__": lambda a, out: a["w"],
    "Archive.get": lambda a, out: a.get("w"),
    "Archive.values": lambda a, out: list(a.values()),
    "Archive.items": lambda a, out: dict(a.items())["w"],
    "Archive.tensor": lambda a, out: a.tensor("w"),
    "Archive.get_slice": lambda a, out: a.get_slice("w")[:],
    "Archive.load": lambda a, out: a.load("w")["w"],
    "Archive.load_async": lambda a, out: asyncio.run(a.load_async("w"))["w"],
    "Archive.consolidate": lambda a, out: consolidated(a),
    "Archive.entry": lambda a, out: a.entry("w"),
    "Archive.resolve": lambda a, out: a.resolve("w", 0, 64),
    "Archive.verify": lambda a, out: a.verify("w"),
    "digest": lambda a, out: onnxar.digest(a),
    "cat": lambda a, out: onnxar.cat(a, "w"),
    "diff": lambda a, out: onnxar.diff(a, a),
    "dump": lambda a, out: onnxar.dump(a, with_data=True),
    "freeze": lambda a, out: onnxar.freeze(a, out),
    "load": lambda a, out: onnxar.load(a),
    "load_ir": lambda a, out: of_ir(a),
    "open": lambda a, out: onnxar.open(a)["w"],
    "open_async": lambda a, out: asyncio.run(onnxar.open_async(a))["w"],
    "pack": lambda a, out: onnxar.pack(a, out),
    "save": lambda a, out: onnxar.save(a, out),
    "show": lambda a, out: onnxar.show(a),
    "unpack": lambda a, out: onnxar.unpack(a, out),
    "numpy.load_file": lambda a, out: onnxar.numpy.load_file(a),
    "onnxruntime.InferenceSession": lambda a, out: onnxar.onnxruntime.InferenceSession(a, providers=CPU),
}
# Functions that open the path again, and so refuse a verified archive.
BY_PATH = {
    "edit": lambda a, out: onnxar.edit(a),
    "extract": lambda a, out: onnxar.extract(a, "w", out),
    "link": lambda a, out: onnxar.link(a),
    "recover": lambda a, out: onnxar.recover(a),
    "repack": lambda a, out: onnxar.repack(a, out),
    "replace": lambda a, out: onnxar.replace(a, remove=[FILE]),
    "undo": lambda a, out: onnxar.undo(a),
    "check": lambda a, out: onnxar.check(a),
}
# Ways to information that is only in the message of the graph.
OF_GRAPH = {
    "Archive.graph": lambda a, out: a.graph("b"),
    "Archive.entries": lambda a, out: a.entries(),
    "Archive.side_files": lambda a, out: a.side_files(),
    "Archive.entries_of_graphs": lambda a, out: a.entries_of_graphs(),
    "ls": lambda a, out: onnxar.ls(a),
}
# Functions about the directory and the model, which opening verifies; and Mapping's methods, which call the ones above.
OTHERS = {
    "Archive.model", "Archive.metadata", "Archive.info", "Archive.graphs", "Archive.path", "Archive.closed", "Archive.close",
    "Archive.keys", "Archive.check", "get", "put", "register", "verify_link",
}  # fmt: skip


class Ways(GuardedTest):
    def tried(self, path: pathlib.Path, way, name: str) -> object:
        with onnxar.open(path, verify=self.known) as archive:
            return way(archive, self.folder / f"{name}.out")

    def test_every_way_works_on_the_right_archive(self):
        for name, way in {**WAYS, **OF_GRAPH}.items():
            with self.subTest(name):
                self.tried(self.path, way, name)
        with onnxar.open(self.path, verify=self.known) as archive:
            np.testing.assert_array_equal(archive["w"], weights(512, 512))
            np.testing.assert_array_equal(archive.graph("b")["own"], weights(300, seed=3))
            self.assertEqual(bytes(archive.entry(FILE)), b"{}")

    def test_no_way_returns_a_wrong_weight(self):
        path = self.written(self.changed("w"))
        for name, way in WAYS.items():
            with self.subTest(name):
                error = self.wrong("w", self.tried, path, way, name)
                self.assertEqual(error.path, str(path))
                self.assertFalse((self.folder / f"{name}.out").exists())
        self.wrong("w", self.tried, path, lambda a, _: onnxar.onnxruntime.InferenceSession(a, graph="b", providers=CPU), "graph")

    def test_no_way_returns_an_uncovered_signature(self):
        evil = b"bytes of an attacker" * 100
        path = self.written({_guard.SIGNATURE: evil, **self.entries})
        more = {
            "entry of open": lambda a, out: onnxar.open(a).entry(_guard.SIGNATURE),
            "entry of open_async": lambda a, out: asyncio.run(onnxar.open_async(a)).entry(_guard.SIGNATURE),
            "entry": lambda a, out: a.entry(_guard.SIGNATURE), "resolve": lambda a, out: a.resolve(_guard.SIGNATURE),
            "cat": lambda a, out: onnxar.cat(a, _guard.SIGNATURE), "verify": lambda a, out: a.verify(_guard.SIGNATURE),
            "pack": lambda a, out: onnxar.pack(a, out), "save": lambda a, out: onnxar.save(a, out),
            "save to memory": lambda a, out: onnxar.save(a),
            "unpack to a folder": lambda a, out: onnxar.unpack(a, f"{out}/"),
            "load_adapter": lambda a, out: onnxar.onnxruntime.load_adapter(a, _guard.SIGNATURE),
        }  # fmt: skip
        for name, way in more.items():
            with self.subTest(name):
                self.wrong(_guard.SIGNATURE, self.tried, path, way, name)
        for name, way in {**WAYS, **OF_GRAPH}.items():
            with self.subTest(name):
                try:
                    given = self.tried(path, way, f"{name} 2")
                except onnxar.Error as error:
                    self.assertEqual(error.entry, _guard.SIGNATURE)
                    self.assertIn(name, ("freeze", "pack", "save"))
                else:
                    self.assertNotIn(evil, repr(given).encode())
        written = [file for file in self.folder.rglob("*") if file.is_file() and file != path]
        self.assertIn("unpack 2.out", {file.name for file in written})
        for file in written:
            self.assertFalse(evil in file.read_bytes(), file)

    def test_covered_signature_is_copied_like_other_files(self):
        entries = {_guard.SIGNATURE: b"signed", **self.entries}
        with onnxar.open(self.written(entries), verify=Known(entries)) as archive:
            onnxar.pack(archive, self.folder / "copy.onnxar")
        self.assertEqual(onnxar.cat(self.folder / "copy.onnxar", _guard.SIGNATURE), b"signed")

    def test_reopened_verified_archive_stays_verified(self):
        path = self.written(self.changed("w"))
        with onnxar.open(path, verify=self.known) as archive, onnxar.open(archive) as again:
            self.assertFalse(again["b"].flags.writeable)
            for call in (lambda: again["w"], lambda: onnxar.open(again)["w"], lambda: onnxar.save(again)):
                self.wrong("w", call)
            self.refused("usage.argument", onnxar.open, archive.graph("b"))
            self.wrong("w", onnxar.open, archive, verify=self.known)

    def test_no_way_returns_a_wrong_graph(self):
        path = self.written(self.changed(GRAPH))
        for name, way in OF_GRAPH.items():
            with self.subTest(name):
                self.wrong(GRAPH, self.tried, path, way, name)
        self.wrong(GRAPH, self.tried, path, lambda a, _: a.entry(GRAPH), "entry")

    def test_view_of_graph_refuses_a_wrong_weight(self):
        for entry in ("own", "b"):
            path = self.written(self.changed(entry))
            for name, way in (("array", lambda g: g[entry]), ("tensor", lambda g: g.tensor(entry)), ("load", lambda g: g.load(entry)),
                              ("values", lambda g: list(g.values())), ("consolidate", lambda g: g.consolidate())):  # fmt: skip
                with self.subTest(name, entry=entry), onnxar.open(path, verify=self.known) as archive:
                    self.wrong(entry, way, archive.graph("b"))

    def test_no_way_returns_a_wrong_side_file(self):
        path = self.written(self.changed(FILE))
        for way in (lambda a, _: a.entry(FILE), lambda a, _: onnxar.cat(a, FILE),
                    lambda a, _: onnxar.onnxruntime.load_adapter(a, FILE), lambda a, out: onnxar.unpack(a, out)):  # fmt: skip
            self.wrong(FILE, self.tried, path, way, "file")

    def test_opening_refuses_a_wrong_model(self):
        self.wrong(MODEL, onnxar.open, self.written(self.changed(MODEL)), verify=self.known)

    # These functions would open the path again, without verifying.
    def test_functions_by_path_refuse_a_verified_archive(self):
        for name, way in BY_PATH.items():
            with self.subTest(name):
                self.refused("usage.argument", self.tried, self.path, way, name)

    def test_every_public_function_is_in_a_list_above(self):
        classes = {name for name in onnxar.__all__ if isinstance(getattr(onnxar, name), type)}
        methods = {f"Archive.{name}" for name in dir(onnxar.Archive) if not name.startswith("_")}
        listed = {name for name in {*WAYS, *BY_PATH, *OF_GRAPH, *OTHERS} if not name.startswith(("numpy.", "onnxruntime."))}
        self.assertEqual({*methods, "Archive.__getitem__", *onnxar.__all__} - classes, listed)

    def test_each_method_of_the_handle_verifies_by_itself(self):
        path = self.written(self.changed("w"))
        for name, call in {
            "data": lambda handle, w: handle.data(w), "arrays": lambda handle, w: handle.arrays(print, [], print, print).make("w", w),
            "bytes": lambda handle, w: handle.bytes("w"), "resolve": lambda handle, w: handle.resolve("w"),
            "verify": lambda handle, w: handle.verify("w"), "file": lambda handle, w: handle.file(),
            "verify_entries": lambda handle, w: handle.verify_entries(["w"]), "digest": lambda handle, w: handle.digest(0, None),
            "verify_all": lambda handle, w: handle.verify_all(0, None),
        }.items():  # fmt: skip
            with self.subTest(name), onnxar.open(path, verify=self.known) as archive:
                (stored,) = [tensor for tensor in archive._handle.tensors()[0] if tensor.name == "w"]
                self.wrong("w", call, archive._handle, stored)

    def test_array_has_no_other_bytes_to_release(self):
        data = bytearray(self.path.read_bytes())
        with onnxar.open(data, verify=self.known) as archive:
            self.assertEqual(memoryview(archive["w"].base).nbytes, archive["w"].nbytes)
        data.append(0)  # BufferError if they are still used

    def test_what_is_not_guarded_is_refused(self):
        with onnxar.open(self.path, verify=self.known) as archive:
            public = {name for name in dir(_core.Archive) if not name.startswith("_")} - {"open", "open_part", "open_buffer"}
            self.assertEqual(public - vars(_guard.Guarded).keys(), set())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nanobind warns, too
                for call in (lambda: _core.Archive.bytes(archive._handle, "w"), lambda: _core.runtime_model(archive._handle),
                             lambda: _core.Archive.arrays(archive._handle, print, [], print, print)):  # fmt: skip
                    self.assertRaises(TypeError, call)


class Names(GuardedTest):
    def test_an_added_entry_is_refused(self):
        self.wrong("added", onnxar.open, self.written({"added": b"x" * 64, **self.entries}), verify=self.known)

    def test_a_removed_entry_is_refused(self):
        del self.entries[FILE]
        self.wrong(FILE, onnxar.open, self.written(self.entries), verify=self.known)

    def test_a_renamed_entry_is_refused(self):
        self.entries["T.json"] = self.entries.pop(FILE)
        self.wrong("T.json", onnxar.open, self.written(self.entries), verify=self.known)

    def test_swapped_names_are_refused_when_one_is_used(self):
        self.entries["own"], self.entries["b"] = self.entries["b"], self.entries["own"]
        with onnxar.open(self.written(self.entries), verify=self.known) as archive:
            self.wrong("own", archive.entry, "own")
            self.wrong("b", archive.entry, "b")
            archive["w"]

    def test_a_name_that_is_not_there_is_not_a_mismatch(self):
        with onnxar.open(self.path, verify=self.known) as archive:
            for call in (archive.entry, archive.verify, archive.resolve, archive.graph):
                self.assertIsInstance(self.refused("usage.no_such_entry", call, "none"), KeyError)
            self.assertIsInstance(self.refused("usage.no_such_tensor", archive.tensor, "none"), KeyError)

    def test_signature_needs_no_cover_and_is_not_returned(self):
        with onnxar.open(self.written({_guard.SIGNATURE: b"anything", **self.entries}), verify=self.known) as archive:
            self.assertEqual(archive["w"].shape, (512, 512))
            self.wrong(_guard.SIGNATURE, archive.entry, _guard.SIGNATURE)

    def test_weight_named_like_a_signature_is_covered(self):
        name = _guard.SIGNATURE
        proto = model(linked("w", 512, location=name, length=2048))
        self.written({name: bytes(2048), MODEL: proto})
        self.wrong(name, onnxar.open, self.path, verify=Known({MODEL: proto}))
        known = Known({name: bytes(2048), MODEL: proto})
        with onnxar.open(self.path, verify=known) as archive:
            self.assertFalse(archive["w"].any())
        self.written({name: bytes([1] * 2048), MODEL: proto})
        with onnxar.open(self.path, verify=known) as archive:
            self.wrong(name, archive.tensor, "w")

    def test_verify_takes_no_bool(self):
        for value in (True, False, "key.pub"):
            self.refused("usage.argument", onnxar.open, self.path, verify=value)


class FirstUse(GuardedTest):
    def counted(self) -> collections.Counter[str]:
        """Counts the digests of entries that are computed."""
        count: collections.Counter[str] = collections.Counter()
        computed = _guard.sha256

        def counting(archive: _core.Archive, name: str) -> bytes:
            count[name] += 1
            return computed(archive, name)

        patched = unittest.mock.patch.object(_guard, "sha256", counting)
        patched.start()
        self.addCleanup(patched.stop)
        return count

    # Opening verifies only the model.
    def test_entries_are_verified_once_at_first_use(self):
        count = self.counted()
        with onnxar.open(self.path, verify=self.known) as archive:
            self.assertEqual((len(archive), archive.info("w").shape), (4, (512, 512)))
            self.assertEqual(count, {MODEL: 1})
            for _ in range(3):
                archive["w"]
                archive.entry("w")
            self.assertEqual(count, {MODEL: 1, "w": 1})
            archive.graph("b")["own"]
            self.assertEqual(count, {MODEL: 1, "w": 1, GRAPH: 1, "own": 1})

    def test_a_tensor_in_the_model_needs_no_entry(self):
        path = self.written({name: b"?" if name not in (MODEL, GRAPH) else data for name, data in self.entries.items()})
        with onnxar.open(path, verify=self.known) as archive:
            self.assertEqual(archive["shape"].tolist(), [-1, 512])

    def test_threads_verify_an_entry_once(self):
        count = self.counted()
        with onnxar.open(self.path, verify=self.known) as archive, concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(archive.tensor, ["w", "b", "scale"] * 20))
        self.assertEqual(count, {MODEL: 1, "w": 1, "b": 1, next(iter(self.entries.keys() - {"w", "b", "own", MODEL, GRAPH, FILE})): 1})

    def test_entries_that_were_compared_need_no_threads(self):
        with onnxar.open(self.path, verify=self.known) as archive:
            archive.load()
            archive.entries()
            with unittest.mock.patch.object(_guard, "Pool", side_effect=AssertionError):
                archive.load()
                archive.entries()
                self.assertRaises(AssertionError, archive._handle.verify_entries, [FILE])

    def test_there_are_no_more_threads_than_entries(self):
        pool = _guard.Pool
        with onnxar.open(self.path, verify=self.known) as archive:
            with unittest.mock.patch.object(_guard, "Pool", wraps=pool) as made:
                archive._handle.verify_entries(["w", "b"], 100)
        made.assert_called_once_with(2)

    def test_a_wrong_entry_stays_wrong_for_every_thread(self):
        with onnxar.open(self.written(self.changed("w")), verify=self.known) as archive, concurrent.futures.ThreadPoolExecutor(8) as pool:
            errors = [pool.submit(archive.tensor, "w").exception() for _ in range(20)]
        self.assertEqual({error.code for error in errors}, {"signature.mismatch"})

    def test_bytes_in_memory_are_the_verified_ones(self):
        with onnxar.open(self.path, verify=self.known, no_copy=False) as archive:
            array = archive["w"]
            self.path.write_bytes(bytes(self.path.stat().st_size))  # in place, as no program should
            np.testing.assert_array_equal(array, weights(512, 512))
            np.testing.assert_array_equal(archive["b"], weights(512, seed=8))

    def test_copy_of_verified_archive_is_verified(self):
        with onnxar.open(self.path, verify=self.known) as archive, onnxar.open(archive, no_copy=False) as copied:
            array = copied["w"]
            self.path.write_bytes(bytes(self.path.stat().st_size))  # in place, as no program should
            np.testing.assert_array_equal(array, weights(512, 512))
            np.testing.assert_array_equal(copied["b"], weights(512, seed=8))
        with onnxar.open(self.written(self.changed("w")), verify=self.known) as archive, onnxar.open(archive, no_copy=False) as copied:
            self.refused("signature.mismatch", copied.tensor, "w")

    def test_session_has_verified_bytes_of_replaced_file(self):
        with onnxar.open(self.path, verify=self.known) as archive:
            other = self.written(self.changed("w"), self.folder / "other")
            other.replace(self.path)
            session = onnxar.onnxruntime.InferenceSession(archive, providers=CPU)
            x = weights(1, 512, seed=5)
            y, _ = session.run(None, {"x": x})
            np.testing.assert_allclose(y, x @ weights(512, 512) + weights(512, seed=8), rtol=1e-3, atol=1e-3)

    def test_archive_in_memory_is_verified(self):
        data = self.written(self.changed("w")).read_bytes()
        self.wrong("w", onnxar.open(data, verify=self.known).tensor, "w")


class Ranges(GuardedTest):
    def served(self, entries: dict[str, bytes]) -> str:
        fsspec.filesystem("memory").pipe("/guarded/m.onnxar", self.written(entries).read_bytes())
        self.addCleanup(fsspec.filesystem("memory").store.clear)
        return "memory://guarded/m.onnxar"

    def test_remote_archive_verifies_what_it_fetches(self):
        address = self.served(self.changed("w"))
        for call in (lambda a: a["w"], lambda a: a.resolve("w", 8, 8), lambda a: a.load("w"), lambda a: list(a.values()),
                     lambda a: a.entry("w"), lambda a: onnxar.open(a)["w"], onnxar.digest, onnxar.load):  # fmt: skip
            with onnxar.open(address, verify=self.known) as archive:
                np.testing.assert_array_equal(archive["b"], weights(512, seed=8))
                self.assertIn("guarded/m.onnxar", self.wrong("w", call, archive).path)
                np.testing.assert_array_equal(archive.graph("b")["own"], weights(300, seed=3))

    # The server may send other bytes later, so they are compared again.
    def test_verify_all_keeps_no_bytes(self):
        served = RangedFile(self.path.read_bytes())
        archive = _guard.guarded(served.open(), self.known, "m")
        self.assertEqual(archive.verify_all(0, None), len(self.entries))
        self.assertGreater(served.fetched, len(self.entries["w"]))
        served.data, served.fetched = self.written(self.changed("w")).read_bytes(), 0
        self.wrong("w", archive.bytes, "w")
        self.assertGreaterEqual(served.fetched, len(self.entries["w"]))

    def test_model_and_names_are_compared_at_once(self):
        self.wrong(MODEL, onnxar.open, self.served(self.changed(MODEL)), verify=self.known)
        self.wrong("added", onnxar.open, self.served({"added": b"x", **self.entries}), verify=self.known)


if __name__ == "__main__":
    unittest.main()

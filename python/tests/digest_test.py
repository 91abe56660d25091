"""The digest of an archive, compared with hashlib and zipfile."""

from __future__ import annotations

import hashlib
import io
import pickle
import unittest
import zipfile

import onnx
import onnxruntime as ort
from remote_files import ADDRESS, COUNT, RangesTest
from support import ArchiveTest

import onnxar


def sums(path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in sorted(archive.namelist())}


@unittest.skipUnless(hasattr(ort, "ModelPackage"), "this ONNX Runtime has no model packages")
class AsAssetOfOnnxRuntime(ArchiveTest):
    """The digest is the asset URI of the folder that unzipping writes."""

    files = {"with space/a b.txt": b"a", ".hidden": b"b", "a/.b/c": b"", "a.txt": b"d", "a-b": b"e", "Z/b": b"f", "LICENSE": b"g", "z'$(x).json": b"{}"}

    def setUp(self) -> None:
        super().setUp()
        source = self.folder / "source.onnx"
        onnx.save(self.model, source)
        onnxar.pack({"unet/model": source, "vae/model": source, "model": source}, self.path, side_files=self.files, overwrite=True)
        self.unzipped = self.folder / "unzipped"

    def asset(self) -> str:
        with zipfile.ZipFile(self.path) as archive:
            archive.extractall(self.unzipped)
        return ort.ModelPackage.compute_directory_hash(str(self.unzipped))

    def digest(self) -> str:
        return f"sha256:{onnxar.digest(self.path).hex}"

    def test_is_the_asset_of_the_unzipped_folder(self):
        (self.unzipped / "empty/inner").mkdir(parents=True)
        self.assertEqual(self.asset(), self.digest())
        self.assertLessEqual({"vae/model.onnx", "model.onnx", "a/.b/c"}, set(onnxar.digest(self.path).entries))
        (self.unzipped / ".hidden").write_bytes(b"B")
        self.assertNotEqual(ort.ModelPackage.compute_directory_hash(str(self.unzipped)), self.digest())

    def test_edited_archive_has_asset_of_last_state(self):
        before = self.digest()
        onnxar.replace(self.path, side_files={"a.txt": b"other"}, remove=["Z/b"])
        self.assertNotEqual(self.digest(), before)
        self.assertEqual(self.asset(), self.digest())

    def test_signature_counts_in_asset(self):
        before = self.asset()
        onnxar.replace(self.path, side_files={"onnxar.sig": b"signature"})
        self.assertEqual(self.digest(), before)
        self.assertNotEqual(self.asset(), before)
        (self.unzipped / "onnxar.sig").unlink()
        self.assertEqual(ort.ModelPackage.compute_directory_hash(str(self.unzipped)), before)

    def test_asset_refuses_symbolic_links(self):
        self.asset()
        (self.unzipped / "link").symlink_to("a.txt")
        with self.assertRaisesRegex(Exception, "symlink"):
            ort.ModelPackage.compute_directory_hash(str(self.unzipped))

    def test_is_not_the_asset_of_the_unpacked_folder(self):
        onnxar.unpack(self.path, f"{self.unzipped}/")
        self.assertNotEqual(ort.ModelPackage.compute_directory_hash(str(self.unzipped)), self.digest())


class OfFiles(ArchiveTest):
    def test_is_the_sha256_of_the_lines_of_all_entries(self):
        found = onnxar.digest(self.path)
        self.assertEqual(list(found.entries.items()), list(sums(self.path).items()))
        lines = "".join(f"{value}  {name}\n" for name, value in sums(self.path).items())
        self.assertEqual((found.manifest, found.hex), (lines, hashlib.sha256(lines.encode()).hexdigest()))

    def test_every_kind_of_source_has_the_same_digest(self):
        found = onnxar.digest(self.path)
        data = self.path.read_bytes()
        for source in (str(self.path), data, memoryview(data), io.BytesIO(data)):
            self.assertEqual(onnxar.digest(source, threads=2), found)
        with onnxar.open(self.path) as archive:
            self.assertEqual(onnxar.digest(archive), found)
            self.assertFalse(archive.closed)
        self.assertEqual(len({found, onnxar.digest(data), pickle.loads(pickle.dumps(found))}), 1)

    def test_edit_changes_digest_and_undo_restores_it(self):
        before = onnxar.digest(self.path)
        onnxar.replace(self.path, side_files={"a.txt": b"a"})
        self.assertEqual(set(onnxar.digest(self.path).entries) - set(before.entries), {"a.txt"})
        self.assertNotEqual(onnxar.digest(self.path), before)
        onnxar.undo(self.path)
        self.assertEqual(onnxar.digest(self.path), before)

    def test_digest_leaves_out_the_signature(self):
        before = onnxar.digest(self.path)
        onnxar.replace(self.path, side_files={"onnxar.sig": b"signature"})
        self.assertEqual(onnxar.digest(self.path), before)

    def test_damaged_data_has_no_digest(self):
        with onnxar.open(self.path) as archive:
            entry = archive.entries()[0]
        data = bytearray(self.path.read_bytes())
        data[entry.offset] ^= 1
        self.assertEqual(self.refused("zip.data.crc", onnxar.digest, data).entry, entry.name)

    def test_reports_progress_which_may_cancel(self):
        calls = []
        onnxar.digest(self.path, progress=lambda done, total: calls.append((done, total)))
        with onnxar.open(self.path) as archive:
            total = sum(entry.size for entry in archive.entries())
        self.assertEqual(calls[-1], (total, total))

        def cancel(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            onnxar.digest(self.path, progress=cancel)

    def test_wrong_calls_are_refused(self):
        self.refused("usage.argument", onnxar.digest, self.path, threads=-1)
        self.refused("usage.argument", onnxar.digest, self.path, progress=3)
        self.refused("usage.argument", onnxar.digest, 3)
        self.refused("io.not_found", onnxar.digest, self.folder / "none")
        with onnxar.open(self.path) as archive:
            pass
        self.refused("usage.argument", onnxar.digest, archive)


class OfAddresses(RangesTest):
    def test_remote_digest_reads_each_byte_once(self):
        found = onnxar.digest(ADDRESS)
        self.assertEqual(len(found.entries), COUNT + 1)
        self.assertEqual(found, onnxar.digest(self.path))
        self.assertLess(sum(stop - start for ranges in self.fetched for start, stop in ranges), 1.5 * len(self.data))


if __name__ == "__main__":
    unittest.main()

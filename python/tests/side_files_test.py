"""Rewriting an archive loses no data: side files are kept, and files are replaced only on request."""

from __future__ import annotations

import errno
import inspect
import pickle
import unittest
import unittest.mock
import warnings

import onnx
from support import FolderTest, matmul_model, weights

import onnxar
import onnxar.numpy
from onnxar import _dtypes


class SideFilesTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "m.onnxar"
        for name, text in (("words", "a b c"), ("licence", "MIT")):
            (self.folder / name).write_text(text)
        self.files = {"tokenizer.json": self.folder / "words", "docs/LICENSE.txt": self.folder / "licence"}
        onnxar.save(matmul_model(), self.path, side_files=self.files)

    def side_files(self, path=None) -> dict[str, bytes]:
        with onnxar.open(path or self.path) as archive:
            return {name: bytes(archive.entry(name)) for name in archive.side_files()}


BOTH = {"tokenizer.json": b"a b c", "docs/LICENSE.txt": b"MIT"}


class Kept(SideFilesTest):
    def test_load_and_save_keep_side_files(self):
        report = onnxar.save(onnxar.load(self.path), self.path, overwrite=True)
        self.assertEqual(report.side_files, 2)
        self.assertEqual(self.side_files(), BOTH)
        self.assertEqual(onnxar.load(self.path), matmul_model())
        self.assertEqual([found for found in onnxar.check(self.path, data=True) if found.severity == "error"], [])

    def test_saving_a_model_file_keeps_side_files(self):
        onnx.save(matmul_model(), self.folder / "m.onnx")
        onnxar.save(self.folder / "m.onnx", self.path, overwrite=True)
        self.assertEqual(self.side_files(), BOTH)
        onnxar.save(self.path, self.path, overwrite=True)
        self.assertEqual(self.side_files(), BOTH)

    def test_side_files_are_dropped_on_request(self):
        onnxar.save(matmul_model(), self.path, overwrite=True, keep_side_files=False)
        self.assertEqual(self.side_files(), {})

    def test_keep_side_files_may_name_another_archive(self):
        other = self.folder / "other.onnxar"
        onnxar.save(onnxar.load(self.path), other)
        self.assertEqual(self.side_files(other), {})
        onnxar.save(onnxar.load(self.path), other, overwrite=True, keep_side_files=self.path)
        self.assertEqual(self.side_files(other), BOTH)

    def test_new_side_file_replaces_the_one_of_its_name(self):
        (self.folder / "new").write_text("d e f")
        onnxar.save(matmul_model(), self.path, overwrite=True, side_files={"tokenizer.json": self.folder / "new"})
        self.assertEqual(self.side_files(), {**BOTH, "tokenizer.json": b"d e f"})

    def test_key_differs_from_names_of_side_files(self):
        model = matmul_model()
        model.graph.initializer[0].name = model.graph.node[0].input[1] = "docs"
        onnxar.save(model, self.path, overwrite=True)
        self.assertEqual(self.side_files(), BOTH)
        onnxar.numpy.save_file({"docs": weights(4)}, self.path, overwrite=True)
        self.assertEqual(self.side_files(), BOTH)
        self.assertIn("docs_2", [entry.name for entry in onnxar.open(self.path).entries()])

    def test_other_file_is_replaced_without_side_files(self):
        for old in (b"", b"text", onnx.ModelProto().SerializeToString()):
            self.path.write_bytes(old)
            onnxar.save(matmul_model(), self.path, overwrite=True)
            self.assertEqual(self.side_files(), {})
            self.path.write_bytes(old)
            onnxar.numpy.save_file({}, self.path, overwrite=True)
            self.assertEqual(self.side_files(), {})

    # Its side files would be lost: keep_side_files=False allows it.
    def test_unreadable_archive_is_not_replaced_by_default(self):
        torn = self.path.read_bytes() + b"PK\3\4 the first bytes of an edit"
        self.path.write_bytes(torn)
        writers = (lambda **more: onnxar.save(matmul_model(), self.path, overwrite=True, **more),
                   lambda **more: onnxar.numpy.save_file({}, self.path, overwrite=True, **more))  # fmt: skip
        for write in writers:
            self.refused("archive.torn", write)
            self.assertEqual(self.path.read_bytes(), torn)
            write(keep_side_files=False)
            self.path.write_bytes(torn)

    def test_damaged_side_file_is_refused(self):
        data = bytearray(self.path.read_bytes())
        data[data.index(b"a b c")] ^= 1
        self.path.write_bytes(data)
        for write in (lambda: onnxar.save(matmul_model(), self.path, overwrite=True),
                      lambda: onnxar.numpy.save_file({}, self.path, overwrite=True)):  # fmt: skip
            error = self.refused("zip.data.crc", write)
            self.assertEqual(error.entry, "tokenizer.json")
            self.assertEqual(self.path.read_bytes(), data)

    def test_save_file_keeps_side_files(self):
        arrays = {name: array.copy() for name, array in onnxar.numpy.load_file(self.path).items()}
        onnxar.numpy.save_file(arrays, self.path, overwrite=True)
        self.assertEqual(self.side_files(), BOTH)
        onnxar.numpy.save_file(arrays, self.path, overwrite=True, keep_side_files=False)
        self.assertEqual(self.side_files(), {})

    def test_missing_side_file_archive_raises_onnxar_error(self):
        for missing, code in ((self.folder / "none", "io.not_found"), (self.folder, "io.not_a_file")):
            for write in (lambda **more: onnxar.save(matmul_model(), self.folder / "new", **more),
                          lambda **more: onnxar.numpy.save_file({}, self.folder / "new", **more)):  # fmt: skip
                self.refused(code, write, keep_side_files=missing)

    def test_side_file_that_changes_before_copy_is_refused(self):
        data, target = self.path.read_bytes(), self.folder / "new"
        place, raw_bytes = data.index(b"a b c"), _dtypes.raw_bytes

        def raw_bytes_while_another_program_writes(*arguments):
            with open(self.path, "r+b") as file:
                file.seek(place)
                file.write(b"X")
            return raw_bytes(*arguments)

        patched = unittest.mock.patch.object(_dtypes, "raw_bytes", raw_bytes_while_another_program_writes)
        with patched, self.assertRaises(onnxar.Error) as raised:
            onnxar.numpy.save_file({"w": weights(64)}, target, keep_side_files=self.path)
        self.assertEqual((raised.exception.code, raised.exception.path), ("io.changed", str(self.path)))
        self.assertEqual(self.names(), {"m.onnxar", "words", "licence"})

    def test_onnx_warns_of_side_files_that_it_would_lose(self):
        onnxar.register()
        with self.assertWarnsRegex(UserWarning, "tokenizer.json.*onnxar.save"):
            onnx.load(self.path)
        onnxar.save(matmul_model(), self.path, overwrite=True, keep_side_files=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            onnx.load(self.path)


class Unasked(SideFilesTest):
    def writers(self):
        """The functions that write to an existing path."""
        onnx.save(matmul_model(), self.folder / "m.onnx")
        return {
            "save": lambda: onnxar.save(matmul_model(), self.path),
            "save a file": lambda: onnxar.save(self.folder / "m.onnx", self.path),
            "save_file": lambda: onnxar.numpy.save_file({"a": weights(2)}, self.path),
            "pack": lambda: onnxar.pack(self.folder / "m.onnx", self.path),
            "unpack": lambda: onnxar.unpack(self.folder / "m.onnx", self.path),
            "repack": lambda: onnxar.repack(self.path, self.path),
            "freeze": lambda: onnxar.freeze(self.folder / "m.onnx", self.path),
            "extract": lambda: onnxar.extract(self.folder / "m.onnx", "w", self.path),
            "link": lambda: onnxar.link(self.path, self.folder / "m.onnx"),
        }

    def test_no_writer_replaces_a_file_by_default(self):
        writers = self.writers()
        before = {path: path.read_bytes() for path in (self.path, self.folder / "m.onnx")}
        for name, write in writers.items():
            with self.subTest(name), self.assertRaises(FileExistsError) as raised:
                write()
            error = raised.exception
            self.assertIsInstance(error, onnxar.OutputExistsError)
            self.assertIsInstance(error, onnxar.Error)
            self.assertEqual((error.code, error.errno), ("output.exists", errno.EEXIST))
            self.assertIn("overwrite=True", str(error))
            self.assertNotIn("--force", str(error))
            self.assertEqual(error.filename, error.path)
            self.assertEqual({path: path.read_bytes() for path in before}, before)

    def test_no_function_overwrites_by_default(self):
        functions = [getattr(onnxar, name) for name in onnxar.__all__] + [onnxar.numpy.save_file]
        found = {}
        for function in filter(inspect.isfunction, functions):
            parameter = inspect.signature(function).parameters.get("overwrite")
            if parameter:
                found[function.__name__] = parameter.default
        self.assertEqual(found, dict.fromkeys(("extract", "freeze", "get", "link", "pack", "put", "recover", "repack", "save", "save_file", "unpack"), False))

    def test_the_error_can_be_pickled(self):
        with self.assertRaises(onnxar.OutputExistsError) as raised:
            onnxar.save(matmul_model(), self.path)
        copy = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((str(copy), copy.code, copy.path, copy.errno), (str(raised.exception), "output.exists", str(self.path), errno.EEXIST))
        self.assertIs(type(copy), onnxar.OutputExistsError)


if __name__ == "__main__":
    unittest.main()

"""Functions accept bytes, file objects and open archives instead of a path, and write to file objects."""

from __future__ import annotations

import io
import mmap
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np
import onnx
import onnx_ir
from support import ArchiveTest, arrays_of, matmul_model, weights

import onnxar
import onnxar.numpy


class SourcesTest(ArchiveTest):
    def setUp(self) -> None:
        super().setUp()
        self.data = self.path.read_bytes()

    def sources(self):
        """Yields every source of the archive, with a name for messages."""
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            yield from {"Path": self.path, "str": str(self.path), "bytes": self.data, "bytearray": bytearray(self.data),
                        "memoryview": memoryview(self.data), "BytesIO": io.BytesIO(self.data)}.items()  # fmt: skip
            yield "mmap", mapped
            file.seek(0)
            yield "file", file
        for name, given in (("archive of a path", self.path), ("archive of bytes", self.data)):
            with onnxar.open(given) as archive:
                yield name, archive

    def in_place_of_the_file(self) -> onnxar.Archive:
        """Returns an open archive whose file was replaced by another one."""
        archive = onnxar.open(self.path)
        onnxar.save(matmul_model(32), self.path, overwrite=True)
        return archive

    def expect_refusals(self, call) -> None:
        for source in (5, 1.5, [5], {5: self.path}, io.StringIO("text"), "a\0b", "\ud800"):
            with self.assertRaises(ValueError) as raised:
                call(source)
            self.assertNotIn("::", str(raised.exception))
            self.assertNotIn("incompatible function arguments", str(raised.exception))


class Reading(SourcesTest):
    def test_load_takes_every_source(self):
        for name, source in self.sources():
            with self.subTest(name):
                self.assertEqual(onnxar.load(source), self.model)

    def test_load_ir_takes_every_source_and_reads_lazily(self):
        for name, source in self.sources():
            with self.subTest(name):
                model = onnxar.load_ir(source)
                if isinstance(source, onnxar.Archive):
                    source.close()
                for key, array in arrays_of(self.model).items():
                    np.testing.assert_array_equal(model.graph.initializers[key].const_value.numpy(), array, strict=True)

    def test_show_and_diff_take_every_source(self):
        for name, source in self.sources():
            with self.subTest(name):
                self.assertEqual(onnxar.show(source).tensors.tensors, 4)
        with onnxar.open(self.path) as archive:
            self.assertTrue(onnxar.diff(archive, self.data).same)

    def test_ls_and_cat_take_every_source(self):
        for name, source in self.sources():
            with self.subTest(name):
                self.assertEqual(onnxar.ls(source)[-1].name, "__MODEL_PROTO")
        with onnxar.open(self.path) as archive:
            self.assertEqual(onnxar.cat(archive), archive.model())
            self.assertFalse(archive.closed)

    def test_open_archive_is_read_after_replacement(self):
        with self.in_place_of_the_file() as archive:
            self.assertEqual(onnxar.load(archive), self.model)
            self.assertEqual(onnxar.show(archive).parameters, 64 * 64 + 64 + 512 + 2)
            with self.assertRaises(ValueError) as raised:
                onnxar.link(archive)
            self.assertIn("replaced", str(raised.exception))

    def test_wrong_sources_are_refused_in_words_of_python(self):
        for call in (onnxar.open, onnxar.load, onnxar.load_ir, onnxar.show, onnxar.ls, onnxar.check, onnxar.link, onnxar.undo,
                     onnxar.edit, onnxar.recover, lambda source: onnxar.pack(source, "x"), lambda source: onnxar.pack(self.path, source),
                     lambda source: onnxar.unpack(source, "x"), lambda source: onnxar.repack(source, "x"),
                     lambda source: onnxar.replace(source, self.model), lambda source: onnxar.extract(source, "w", "x"),
                     lambda source: onnxar.save(self.model, source)):  # fmt: skip
            self.expect_refusals(call)


class Writing(SourcesTest):
    def test_save_without_a_path_returns_the_bytes(self):
        self.assertEqual(onnxar.save(self.model), self.data)
        self.assertEqual(onnxar.load(onnxar.save(self.model)), self.model)

    def test_save_writes_to_a_file_object(self):
        file = io.BytesIO(b"")
        file.write(b"before")
        report = onnxar.save(self.model, file)
        self.assertEqual(file.getvalue(), b"before" + self.data)
        self.assertEqual(report.file_bytes, len(self.data))

    def test_raw_file_receives_all_bytes_or_raises(self):
        class Raw(io.RawIOBase):
            def __init__(self, most: int | None) -> None:
                self.most, self.written = most, b""

            def write(self, data):
                self.written += bytes(data[: self.most or 0])
                return self.most and min(self.most, len(data))

        file = Raw(1000)
        onnxar.save(self.model, file)
        self.assertEqual(file.written, self.data)
        with self.assertRaises(BlockingIOError):
            onnxar.save(self.model, Raw(None))

    def test_save_pack_and_unpack_take_every_source(self):
        for name, source in self.sources():
            with self.subTest(name):
                onnxar.pack(source, self.folder / "packed.onnxar", overwrite=True)
                self.assertEqual((self.folder / "packed.onnxar").read_bytes(), self.data)
        for source in (self.data, onnxar.open(self.path), self.path):
            onnxar.unpack(source, self.folder / "m.onnx", overwrite=True)
            self.assertEqual(onnx.load(self.folder / "m.onnx"), self.model)
            self.assertEqual(onnxar.save(source), self.data)

    def test_side_files_can_be_bytes(self):
        onnxar.pack(self.model, self.folder / "s.onnxar", side_files={"a.json": b"{}", "b.json": self.path})
        onnxar.replace(self.folder / "s.onnxar", side_files={"c.json": bytearray(b"c")})
        with onnxar.open(self.folder / "s.onnxar") as archive:
            self.assertEqual(bytes(archive.entry("a.json")), b"{}")
            self.assertEqual(bytes(archive.entry("b.json")), self.data)
            self.assertEqual(bytes(archive.entry("c.json")), b"c")
            self.assertEqual({finding.severity for finding in archive.check(data=True)}, {"note"})
        with self.assertRaises(ValueError):
            onnxar.pack(self.path, self.folder / "t.onnxar", side_files={"a.json": 5})

    def test_arrays_are_saved_to_and_loaded_from_bytes(self):
        arrays = {"w": weights(30, 40), "none": weights(0, 2)}
        data = onnxar.numpy.save(arrays, {"epoch": "3"})
        onnxar.numpy.save_file(arrays, self.folder / "w.onnxar", {"epoch": "3"})
        self.assertEqual(data, (self.folder / "w.onnxar").read_bytes())
        loaded = onnxar.numpy.load(data)
        self.assertEqual(loaded.keys(), arrays.keys())
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array, strict=True)


class LazyModels(SourcesTest):
    def test_lazy_tensors_are_views_of_the_archive(self):
        archive = onnxar.open(self.path)
        mapped = onnxar.load_ir(archive).graph.initializers["w"].const_value.numpy()
        self.assertEqual(mapped.ctypes.data, archive["w"].ctypes.data)

    def test_lazy_model_is_saved_over_its_own_archive(self):
        model = onnxar.load_ir(self.path)
        self.assertIsInstance(model.graph.initializers["w"].const_value, onnx_ir.LazyTensor)
        model.producer_name = "me"
        onnxar.save(model, self.path, overwrite=True)
        with onnxar.open(self.path) as archive:
            np.testing.assert_array_equal(archive["w"], weights(64, 64))
            np.testing.assert_array_equal(archive["scale"], weights(1, 512, seed=9))
        self.assertEqual(onnxar.load(self.path).producer_name, "me")
        self.assertEqual(onnxar.check(self.path, data=True), [])

    def test_attribute_of_many_tensors_is_rebuilt_once(self):
        from building import archive, block, linked, number

        tensors = [linked(f"t{i}", 2, location="w", length=8, offset=8 * i) for i in range(300)]
        attribute = block(1, "many") + number(20, onnx.AttributeProto.TENSORS) + b"".join(block(10, each) for each in tensors)
        data = np.arange(600, dtype=np.float32)
        node = block(2, "y") + block(4, "Many") + block(5, attribute)
        proto = number(1, 10) + block(7, block(2, "g") + block(1, node)) + block(8, number(2, 21))
        made = []
        begin = onnx_ir.Attr.__init__

        def counted(self, *arguments, **named):
            made.append(arguments)
            begin(self, *arguments, **named)

        with unittest.mock.patch.object(onnx_ir.Attr, "__init__", counted):
            loaded = onnxar.load_ir(archive(proto, w=data.tobytes()))
        self.assertLess(len(made), 5)
        values = [tensor.numpy() for node in loaded.graph for tensor in node.attributes["many"].value]
        np.testing.assert_array_equal(np.concatenate(values), data)

    def test_damaged_link_is_refused_at_first_use(self):
        from building import archive, linked, model

        proto = model(linked("short", 512, location="a", length=2044), linked("good", 512, location="a", length=2048))
        loaded = onnxar.load_ir(archive(proto, a=bytes(2048)))
        self.assertEqual(loaded.graph.initializers["good"].const_value.numpy().shape, (512,))
        with self.assertRaises(ValueError) as raised:
            loaded.graph.initializers["short"].const_value.numpy()
        self.assertEqual((raised.exception.code, raised.exception.entry), ("onnx.tensor.length", "short"))


class Module(SourcesTest):
    def test_python_m_onnxar_is_the_command(self):
        run = [sys.executable, "-m", "onnxar"]
        done = subprocess.run([*run, "check", "--quiet", self.path], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = subprocess.run([*run, "check", self.folder / "none"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("onnxar", done.stderr)
        done = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True)
        self.assertIn(onnxar.__version__, done.stdout)


class Views(SourcesTest):
    """Buffers whose bytes are not in one piece, or not of bytes."""

    def views(self, data: bytes):
        whole = np.frombuffer(data + b"\0" * (-len(data) % 8), np.uint8)
        spread = np.zeros(2 * len(data), np.uint8)
        spread[::2] = whole[: len(data)]
        yield "strides", memoryview(spread)[::2]
        yield "backwards", memoryview(whole[: len(data)][::-1].copy())[::-1]
        if len(data) % 8 == 0:
            yield "columns", memoryview(np.asfortranarray(whole.reshape(-1, 8)))
            yield "numbers", memoryview(whole.view(">f4").reshape(-1, 2))

    def test_view_with_strides_is_an_archive(self):
        onnxar.save(self.model, self.path, overwrite=True, side_files={"pad.bin": bytes(-len(self.data) % 8)})
        for name, view in self.views(self.path.read_bytes()):
            for no_copy in (True, False):
                with self.subTest(name, no_copy=no_copy), onnxar.open(view, no_copy=no_copy) as archive:
                    self.assertEqual(archive["w"].tobytes(), weights(64, 64).tobytes())
            self.assertEqual(onnxar.load(view), self.model)

    def test_view_with_strides_is_a_side_file(self):
        data = bytes(range(256)) * 5
        for name, view in self.views(data):
            with self.subTest(name):
                onnxar.save(self.model, self.path, overwrite=True, side_files={"a.bin": view})
                self.assertEqual(onnxar.cat(self.path, "a.bin"), data)
                onnxar.replace(self.path, side_files={"b.bin": view})
                with onnxar.edit(self.path) as e:
                    e.files["c.bin"] = view
                self.assertEqual([onnxar.cat(self.path, each) for each in ("b.bin", "c.bin")], [data, data])


if __name__ == "__main__":
    unittest.main()

"""Tests operations on whole files: the verbs of the command line."""

from __future__ import annotations

import dataclasses
import pathlib
import unittest
import zipfile

import numpy as np
import onnx
import onnx_ir
from support import FolderTest, matmul_model, weights

import onnxar


class Operations(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = matmul_model()
        self.onnx = self.folder / "m.onnx"
        self.archive = self.folder / "m.onnxar"
        onnx.save(self.model, self.onnx)
        self.report = onnxar.pack(self.onnx, self.archive)

    def test_pack_reports_and_unpack_restores_the_bytes(self):
        self.assertEqual((self.report.tensors_outside, self.report.payload_bytes), (2, 64 * 64 * 4 + 512 * 4))
        self.assertEqual(self.report.file_bytes, self.archive.stat().st_size)
        report = onnxar.unpack(self.archive, self.folder / "back.onnx")
        self.assertEqual(report.tensors_outside, 0)
        self.assertEqual((self.folder / "back.onnx").read_bytes(), self.onnx.read_bytes())

    def test_onnx_and_onnx_ir_read_unpacked_external_data(self):
        onnxar.unpack(self.archive, self.folder / "e.onnx", external_data="e.data")
        (tensor, *_) = onnx.load(self.folder / "e.onnx").graph.initializer
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), weights(64, 64))
        value = onnx_ir.load(self.folder / "e.onnx").graph.initializers["w"].const_value
        np.testing.assert_array_equal(value.numpy(), weights(64, 64))
        onnxar.unpack(self.archive, self.folder / "t.onnx", per_tensor=True)
        self.assertTrue((self.folder / "scale").exists())
        self.refused("usage.argument", onnxar.unpack, self.archive, self.onnx, external_data="d", per_tensor=True)

    def test_a_dry_run_reports_and_writes_nothing(self):
        report = onnxar.pack(self.onnx, self.folder / "dry.onnxar", dry_run=True)
        self.assertEqual(report, dataclasses.replace(self.report, model_path=self.folder / "dry.onnxar"))
        self.assertEqual(self.names(), {"m.onnx", "m.onnxar"})

    def test_dry_run_refuses_what_the_run_refuses(self):
        junk = self.folder / "junk"
        junk.write_bytes(b"junk")
        for name, code in {"con.txt": "zip.name.device", "__model_proto/x": "zip.name.prefix", "g.onnx": "wire.truncated"}.items():
            for dry_run in (True, False):
                options = {"side_files": {name: junk}, "dry_run": dry_run}
                self.refused(code, onnxar.replace, self.archive, **options)
                self.refused(code, onnxar.pack, self.onnx, self.folder / "new.onnxar", **options)
        self.assertEqual(self.names(), {"m.onnx", "m.onnxar", "junk"})

    def test_location_with_two_meanings_is_refused(self):
        onnxar.unpack(self.archive, self.folder / "t.onnx", per_tensor=True)
        onnxar.replace(self.archive, self.folder / "t.onnx", append_external=True)  # the bytes are equal
        (self.folder / "w").write_bytes(bytes(64 * 64 * 4))
        proto = onnx.load(self.folder / "t.onnx", load_external_data=False)
        for model, data_dir in ((self.folder / "t.onnx", None), (proto, self.folder)):
            for append in (True, False):
                self.refused("usage.argument", onnxar.replace, self.archive, model, append_external=append, data_dir=data_dir)
        onnxar.replace(self.archive, proto)  # without a folder, the location is an entry
        with onnxar.open(self.archive) as archive:
            np.testing.assert_array_equal(archive["w"], weights(64, 64))

    def test_remarks_are_findings(self):
        tensor = self.model.graph.initializer[0]
        tensor.raw_data += b"more"
        onnx.save(self.model, self.onnx)
        (remark,) = onnxar.pack(self.onnx, self.archive, overwrite=True).remarks
        self.assertEqual((remark.severity, remark.code), ("warning", "onnx.tensor.long_raw"))
        with onnxar.open(self.archive) as archive:
            np.testing.assert_array_equal(archive["w"], weights(64, 64))

    def test_pack_and_repack_rename_unreferenced_entries(self):
        note = self.folder / "note"
        note.write_bytes(b"text")
        onnxar.pack(self.onnx, self.archive, side_files={"a.txt": note}, rename={"a.txt": "b.txt"}, overwrite=True)
        self.assertIn("b.txt", zipfile.ZipFile(self.archive).namelist())
        again = self.folder / "again.onnxar"
        onnxar.repack(self.archive, again, rename={"b.txt": "c.txt"})
        self.assertIn("c.txt", zipfile.ZipFile(again).namelist())
        self.refused("usage.argument", onnxar.repack, again, self.archive, rename={"b.txt": "d.txt"})

    def test_repack_makes_an_archive_of_a_zip(self):
        with zipfile.ZipFile(self.folder / "z.zip", "w", zipfile.ZIP_DEFLATED) as zip_:
            for entry in ("w", "scale", "__MODEL_PROTO"):
                zip_.writestr(entry, bytes(onnxar.open(self.archive).entry(entry)))
        with self.assertRaisesRegex(onnxar.Error, "repack"):
            onnxar.open(self.folder / "z.zip")
        report = onnxar.repack(self.folder / "z.zip", self.folder / "r.onnxar", alignment=4096)
        self.assertEqual(report.entries, 3)
        self.assertEqual({entry.offset % 4096 for entry in onnxar.open(self.folder / "r.onnxar").entries()}, {0})

    def test_replace_swaps_the_model_and_undo_restores_it(self):
        before = self.archive.read_bytes()
        self.model.producer_name = "edited"
        for model in (self.model, self.model.SerializeToString(), self.onnx):
            onnx.save(self.model, self.onnx)
            report = onnxar.replace(self.archive, model)
            self.assertEqual((report.entries_added, report.tensors_outside), (0, 2))
            self.assertEqual(onnxar.load(self.archive), self.model)
            self.assertEqual(self.archive.read_bytes()[: len(before)], before)
            edited = self.archive.read_bytes()
            for sync in (False, True):
                planned = onnxar.undo(self.archive, dry_run=True, sync=sync)
                self.assertEqual(self.archive.read_bytes(), edited)
            state = onnxar.undo(self.archive)
            self.assertEqual(state, planned)
            self.assertEqual((state.size, state.file_size), (len(before), report.file_bytes))
            self.assertEqual(self.archive.read_bytes(), before)
        self.refused("usage.nothing_to_undo", onnxar.undo, self.archive)

    def test_replace_refuses_what_is_not_a_model(self):
        before = self.archive.read_bytes()
        with self.assertRaisesRegex(onnxar.Error, "nothing to replace: pass a model, side_files, remove or variants"):
            onnxar.replace(self.archive)
        for wrong in (5, [], bytearray(b""), self.model.graph):
            error = self.refused("usage.argument", onnxar.replace, self.archive, wrong)
            self.assertIn(type(wrong).__name__, str(error))
        self.assertEqual(self.archive.read_bytes(), before)

    def test_other_impossible_numbers_are_named(self):
        output = self.folder / "out"
        for value in (-1, 1 << 64):
            for name, action in (
                ("alignment", lambda **named: onnxar.repack(self.archive, output, **named)),
                ("alignment", lambda **named: onnxar.pack(self.onnx, output, **named)),
                ("offset", lambda **named: onnxar.link(self.archive, **named)),
                ("length", lambda **named: onnxar.link(self.archive, **named)),
                ("threads", lambda **named: onnxar.open(self.archive, **named)),
            ):
                error = self.refused("usage.argument", action, **{name: value})
                self.assertTrue(error.message.startswith(f"{name} is {value}"))

    def test_messages_name_arguments_instead_of_options(self):
        actions = (
            (lambda: onnxar.load(self.archive, max_expansion=0), "max_expansion allows more"),
            (lambda: onnxar.repack(self.archive, self.folder / "out", max_expansion=0), "raise the limit: max_expansion=1"),
            (lambda: onnxar.unpack(self.archive, self.onnx), "overwrite=True"),
        )
        for action, advice in actions:
            with self.assertRaises(onnxar.Error) as raised:
                action()
            self.assertIn(advice, raised.exception.message)
            self.assertNotIn("--", raised.exception.message)
            self.assertNotIn("::", raised.exception.message)

    def test_hints_are_worded_in_terms_of_this_package(self):
        made = onnxar._errors.make_error("zip.data.crc", "it differs", "w", None, "", "repack.rename", '"w"')
        self.assertEqual(made.message, 'it differs; rename the file, or the entry with onnxar.repack and rename={"w": NEW}')

    def test_a_hint_of_a_later_version_says_nothing(self):
        made = onnxar._errors.make_error("zip.data.crc", "it differs", "w", None, "", "none.such", "")
        self.assertEqual(made.message, "it differs")

    def test_ls_and_cat_equal_methods_of_the_archive(self):
        with onnxar.open(self.archive) as archive:
            self.assertEqual(onnxar.ls(self.archive), archive.entries())
            self.assertEqual(onnxar.cat(self.archive), archive.model())
            self.assertEqual(onnxar.cat(self.archive, "w"), bytes(archive.entry("w")))
        self.refused("usage.no_such_entry", onnxar.cat, self.archive, "none")

    def test_recover_cuts_off_a_torn_edit(self):
        before = self.archive.read_bytes()
        self.archive.write_bytes(before + b"PK\3\4 the first bytes of an edit")
        self.refused("archive.torn", onnxar.open, self.archive)
        torn = self.archive.read_bytes()
        for sync in (False, True):
            self.assertEqual(onnxar.recover(self.archive, dry_run=True, sync=sync).size, len(before))
            self.assertEqual(self.archive.read_bytes(), torn)
        onnxar.recover(self.archive)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_recover_loses_complete_edits_only_if_asked(self):
        before = self.archive.read_bytes()
        self.model.producer_name = "edited"
        onnxar.replace(self.archive, self.model)
        damaged = bytearray(self.archive.read_bytes())
        damaged[damaged.index(b"edited", len(before))] ^= 1
        self.archive.write_bytes(damaged)
        error = self.refused("archive.unrecoverable", onnxar.recover, self.archive)
        self.assertIn("overwrite=True", str(error))
        self.assertEqual(self.archive.read_bytes(), damaged)
        self.assertEqual(onnxar.recover(self.archive, overwrite=True).size, len(before))
        self.assertEqual(self.archive.read_bytes(), before)

    def test_open_archive_does_not_see_an_edit(self):
        with onnxar.open(self.archive) as archive:
            self.model.producer_name = "edited"
            onnxar.replace(self.archive, self.model)
            self.assertEqual(onnx.ModelProto.FromString(archive.model()).producer_name, "")
            np.testing.assert_array_equal(archive["w"], weights(64, 64))

    def test_check_reads_onnx_files_raising_only_io_errors(self):
        self.assertEqual(onnxar.check(self.onnx), [])
        self.refused("io.not_found", onnxar.check, self.folder / "none")
        (self.folder / "bad").write_bytes(self.archive.read_bytes()[:-1])
        self.assertEqual([finding.severity for finding in onnxar.check(self.folder / "bad")], ["error"])

    def test_pack_adds_checksums_and_side_files(self):
        (self.folder / "f").write_text("MIT")
        onnxar.pack(self.onnx, self.archive, overwrite=True, checksum="sha1", side_files={"LICENSE.txt": self.folder / "f"})
        link = {pair.key: pair.value for pair in onnx.ModelProto.FromString(onnxar.open(self.archive).model())
                .graph.initializer[0].external_data}  # fmt: skip
        self.assertEqual(len(link["checksum"]), 40)
        report = onnxar.unpack(self.archive, self.folder / "alone.onnx")
        self.assertEqual((report.side_files, report.side_files_left_out), (0, 1))
        self.assertFalse((self.folder / "LICENSE.txt").exists())
        (self.folder / "out").mkdir()
        for output in (self.folder / "out", f"{self.folder}/new/"):
            report = onnxar.unpack(self.archive, output)
            self.assertEqual((report.side_files, report.side_files_left_out), (1, 0))
            self.assertEqual(report.model_path, pathlib.Path(output) / "m.onnx")
            self.assertEqual((pathlib.Path(output) / "LICENSE.txt").read_text(), "MIT")
        self.refused("output.not_empty", onnxar.unpack, self.archive, self.folder / "out")


class Strings(FolderTest):
    def test_pattern_skips_strings_with_a_warning(self):
        words = onnx.TensorProto(name="words", data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"zero"])
        model = matmul_model()
        model.graph.initializer.append(words)
        path = self.folder / "m.onnxar"
        onnxar.save(model, path)
        with self.assertWarnsRegex(UserWarning, "words") as warned:
            rows = onnxar.extract(path, "*", f"{self.folder}/tensors/")
        self.assertEqual(warned.filename, __file__)
        self.assertEqual(sorted(row.tensor.name for row in rows), ["b", "scale", "shape", "w"])
        self.assertEqual(len(list((self.folder / "tensors").iterdir())), 4)
        self.refused("onnx.tensor.strings", onnxar.extract, path, "words", self.folder / "words.npy")


if __name__ == "__main__":
    unittest.main()

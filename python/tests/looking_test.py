"""Functions that run the wheel's command: show, dump, diff, freeze; and extract, which does not."""

from __future__ import annotations

import os
import pathlib
import pickle
import resource
import shutil
import subprocess
import sys
import unittest

import building
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support import ArchiveTest, arrays_of, weights

import onnxar
from onnxar import Finding, _command, inspection
from onnxar._types import from_json


class LookingTest(ArchiveTest):
    def error_of(self, action, *arguments, **named) -> onnxar.Error:
        before = self.names()
        with self.assertRaises(onnxar.Error) as raised:
            action(*arguments, **named)
        self.assertEqual(self.names(), before)
        return raised.exception


class InMemory(LookingTest):
    """A model in memory is written to a temporary folder, which is deleted before the caller reads results and
    errors."""

    def outside(self) -> onnx.ModelProto:
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        return model

    def test_files_have_no_path(self):
        self.assertEqual([file.path for file in onnxar.show(self.path.read_bytes()).files], [""])
        self.assertEqual([file.path for file in onnxar.show(self.outside()).files], ["", "w.bin"])
        self.assertEqual([file.path for file in onnxar.show(self.path).files], [str(self.path)])

    def test_errors_name_no_temporary_file(self):
        wrong = onnx.ModelProto()
        wrong.CopyFrom(self.model)
        wrong.graph.initializer[0].raw_data = b"x" * 7000
        output = self.folder / "out.onnxar"
        for model, code in ((wrong, "onnx.tensor.length"), (self.outside(), "onnx.external_data.missing"), (b"\xff" * 99, None)):
            calls = [lambda: onnxar.save(model), lambda: onnxar.diff(model, model), lambda: onnxar.freeze(model, output),
                     lambda: onnxar.dump(model, with_data=True)]  # fmt: skip
            for call in calls if code is not None else calls[1:]:
                error = self.error_of(call)
                self.assertEqual(code or error.code, error.code)
                self.assertNotIn("onnxar_", str(error).replace(str(self.folder), ""))
                if code == "onnx.external_data.missing":
                    self.assertIn("has no folder", error.message)


class Inspecting(LookingTest):
    def test_an_archive(self):
        found = onnxar.show(self.path)
        self.assertIsInstance(found, onnxar.Inspection)
        self.assertEqual((found.form, found.ir_version, found.parameters), ("archive", 10, 64 * 64 + 64 + 512 + 2))
        self.assertEqual(found.opsets, [inspection.OpsetSummary("", 20)])
        self.assertEqual(found.graph.inputs, [inspection.ValueSummary("x", "FLOAT", (None, 64))])
        self.assertEqual((found.graph.nodes, found.graph.depth), (4, 3))
        self.assertEqual(found.by_type["FLOAT"], inspection.TensorTotals(3, 4096 + 64 + 512, 4 * (4096 + 64 + 512)))
        self.assertEqual(found.largest[0], inspection.LargeTensor("w", "FLOAT", (64, 64), "graph.initializer[0]", 16384))
        self.assertEqual(found.storage.file_bytes, self.path.stat().st_size)
        (file,) = found.files
        self.assertEqual((file.path, sum(block.size for block in file.blocks)), (str(self.path), file.size))
        self.assertEqual({block.dtype for block in file.blocks if block.kind == "data"}, {"FLOAT", "INT64"})
        self.assertEqual((found.nodes, found.remarks, found.metadata), (None, [], {}))

    def test_graphs_in_folders_have_their_numbers(self):
        other = onnx.ModelProto.FromString(self.model.SerializeToString())
        other.graph.initializer[1].raw_data = other.graph.initializer[1].raw_data[::-1]
        other.graph.initializer[0].raw_data = weights(64, 64, seed=1).tobytes()
        for name, made in {"unet": self.model, "vae": other}.items():
            onnx.save(made, self.folder / f"{name}.onnx")
        onnxar.pack({f"{name}/model": self.folder / f"{name}.onnx" for name in ("unet", "vae")}, self.path, overwrite=True)
        found = onnxar.show(self.path)
        self.assertEqual([each.name for each in found.graphs], ["unet/model", "vae/model"])
        for each in found.graphs:
            self.assertEqual((each.weight_bytes, each.shared_bytes, each.parameters), (16384 + 2048, 2048, 64 * 64 + 64 + 512 + 2))
        self.assertIn("unet/model: 4,674 parameters, weights 18.4 kB, shared 2.0 kB", repr(found))

    def test_a_model_in_memory_is_the_model_in_a_file(self):
        self.model.metadata_props.add(key="k", value="v")
        self.model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        onnx.save(self.model, self.folder / "m.onnx")
        found = [onnxar.show(each) for each in (self.folder / "m.onnx", self.model, self.model.SerializeToString())]
        self.assertEqual([each.form for each in found], ["onnx"] * 3)
        self.assertEqual(found[0].metadata, {"k": "v"})
        self.assertEqual(found[0].graph.inputs[0].shape, ("batch", 64))
        for each in found[1:]:
            self.assertEqual((each.graph, each.tensors, each.metadata), (found[0].graph, found[0].tensors, {"k": "v"}))
        self.assertEqual(onnxar.show(self.path.read_bytes()).form, "archive")

    def test_nodes(self):
        nodes = onnxar.show(self.model, nodes=True).nodes
        self.assertEqual([node.op for node in nodes], ["MatMul", "Add", "Reshape", "Constant"])
        self.assertEqual((nodes[0].site, nodes[0].inputs, nodes[0].outputs), ("graph.node[0]", ["x", "w"], ["product"]))
        (constant,) = onnxar.show(self.model, op="Constant").nodes
        self.assertEqual(constant.attributes.keys(), {"value"})

    def test_unusual_parts_are_remarked(self):
        self.model.graph.initializer[0].raw_data += b"more"
        (remark,) = onnxar.show(self.model).remarks
        self.assertEqual((remark.severity, remark.code), ("warning", "onnx.tensor.long_raw"))
        self.model.graph.node[0].input[1] = "lost"
        self.assertEqual(onnxar.show(self.model).graph.dangling, [inspection.DanglingInput("graph.node[0]", "lost")])

    def test_remarks_advise_in_words_of_this_package(self):
        advice = {"id": "dump.or_freeze", "value": "", "text": "`onnxar freeze` does it"}
        row = {"severity": "warning", "code": "onnx.tensor.no_data", "entry": None, "offset": None, "hint": advice}
        found = from_json(Finding, {**row, "message": "it has no data; `onnxar freeze` does it"})
        self.assertEqual(found.message, "it has no data; onnxar.freeze with weights fills them in")
        self.assertEqual(from_json(Finding, {**row, "message": "it is odd", "hint": None}).message, "it is odd")

    def test_data_in_another_folder(self):
        onnx.save(self.model, self.folder / "m.onnx", save_as_external_data=True, location="m.data")
        linked = onnx.load(self.folder / "m.onnx", load_external_data=False)
        self.assertTrue(onnxar.show(linked).files[-1].missing)
        found = onnxar.show(linked, data_dir=self.folder)
        self.assertEqual((found.files[-1].missing, found.storage.external_bytes), (False, 64 * 64 * 4))


class Dumping(LookingTest):
    def test_dump_prints_the_model_and_its_data_if_asked(self):
        text = onnxar.dump(self.path, with_data=True)
        (self.folder / "m.textproto").write_text(text)
        self.assertTrue(onnxar.diff(self.path, self.folder / "m.textproto").same)
        self.assertLess(len(onnxar.dump(self.path)), len(text))
        self.assertEqual(self.error_of(onnxar.dump, self.folder / "none").code, "io.not_found")


class Differing(LookingTest):
    def test_model_equals_its_archive_in_every_place(self):
        onnx.save(self.model, self.folder / "m.onnx")
        for other in (self.path, self.folder / "m.onnx", self.model, self.path.read_bytes()):
            self.assertEqual(onnxar.diff(self.model, other), onnxar.Difference(True, [], [], [], 4))

    def test_another_side_file(self):
        for name, text in (("a", "one"), ("b", "once more")):
            (self.folder / "file").write_text(text)
            onnxar.save(self.model, self.folder / name, side_files={"vocab.txt": self.folder / "file"})
        found = onnxar.diff(self.folder / "a", self.folder / "b")
        self.assertEqual(found, onnxar.Difference(False, [], [], [onnxar.FileChange("changed", "vocab.txt", 3, 9, 2)], 4))

    def test_diff_takes_data_dir_and_max_expansion(self):
        step, folder = 4, self.folder / "data"
        folder.mkdir()
        for name, byte in (("a.bin", b"a"), ("b.bin", b"b")):
            (folder / name).write_bytes(byte * 4096)
        before, after = (
            building.model(*(building.linked(f"t{i}", 900, location=f"{name}.bin", offset=step * i, length=3600) for i in range(40))) for name in "ab"
        )
        self.assertEqual(self.error_of(onnxar.diff, before, after).code, "onnx.external_data.missing")
        error = self.error_of(onnxar.diff, before, after, data_dir=folder)
        self.assertEqual(error.code, "onnx.model.expansion")
        self.assertIn("a higher max_expansion allows more", error.message)
        self.assertEqual(len(onnxar.diff(before, after, data_dir=folder, max_expansion=100).tensors), 40)

    def test_another_graph(self):
        other = onnx.ModelProto.FromString(self.model.SerializeToString())
        other.graph.node[1].op_type = "Sub"
        other.producer_name = "edited"
        found = onnxar.diff(self.path, other)
        self.assertEqual((found.same, found.tensors), (False, []))
        self.assertIn(onnxar.GraphChange("changed", "producer_name", "", '""', '"edited"'), found.graph)
        self.assertIn(("changed", "graph.node[1].op_type"), {(each.change, each.site) for each in found.graph})

    def test_other_numbers(self):
        array = weights(64, 64).copy()
        array[1, 2] += 0.5
        self.model.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
        self.model.graph.initializer[1].CopyFrom(numpy_helper.from_array(weights(32), "b"))
        numbers, form = sorted(onnxar.diff(self.path, self.model).tensors, key=lambda each: each.name, reverse=True)
        self.assertEqual((numbers.name, numbers.before), ("w", onnxar.TensorForm("FLOAT", (64, 64), 16384)))
        self.assertEqual((numbers.data.differing, numbers.data.first, numbers.data.not_finite), (1, 66, 0))
        self.assertAlmostEqual(numbers.data.max_absolute, 0.5, 5)
        self.assertEqual((form.name, form.before.shape, form.after.shape, form.data), ("b", (64,), (32,), None))


class Freezing(LookingTest):
    def test_what_nothing_needs_is_left_out(self):
        self.model.graph.initializer.append(numpy_helper.from_array(weights(999), "unused"))
        output = self.folder / "f.onnxar"
        report = onnxar.freeze(self.model, output, alignment=128, threshold=256)
        self.assertEqual((report.nodes, report.initializers, report.filled, report.surplus), (0, 1, 0, []))
        self.assertEqual((report.saved.tensors_outside, report.saved.file_bytes), (3, output.stat().st_size))
        self.assertEqual((report.saved.model_path, report.saved.graphs, report.saved.side_files_left_out), (output, 0, 0))
        self.assertEqual({entry.alignment for entry in onnxar.open(output).entries()}, {128})
        self.assertEqual(arrays_of(onnxar.load(output)).keys(), {"w", "b", "shape"})

    def test_outputs_are_complete_or_not_written(self):
        self.assertEqual(self.error_of(onnxar.freeze, self.model, self.path).code, "output.exists")
        report = onnxar.freeze(self.model, self.folder / "f.onnxar", dry_run=True)
        self.assertEqual((report.saved.tensors_outside, self.names()), (2, {"m.onnxar"}))
        onnxar.freeze(self.path, self.path, overwrite=True, attributes=False)
        self.assertEqual([entry.name for entry in onnxar.open(self.path).entries()], ["w", "__MODEL_PROTO"])


class Extracting(LookingTest):
    def test_tensor_is_extracted_from_every_form_of_model(self):
        onnx.save(self.model, self.folder / "m.onnx")
        for number, model in enumerate((self.path, self.folder / "m.onnx")):
            output = self.folder / f"{number}.npy"
            (row,) = onnxar.extract(model, "w", output)
            self.assertEqual(row.tensor, onnxar.TensorInfo("w", "FLOAT", (64, 64), "graph.initializer[0]"))
            self.assertEqual((row.path, row.file_bytes, row.descr, row.as_integers), (output, output.stat().st_size, "<f4", False))
            np.testing.assert_array_equal(np.load(output), weights(64, 64), strict=True)

    def test_a_pattern_and_raw_bytes(self):
        rows = onnxar.extract(self.path, "*", f"{self.folder}/all/", raw=True)
        self.assertEqual({row.path.name for row in rows}, {path.name for path in (self.folder / "all").iterdir()})
        self.assertEqual((self.folder / "all" / "w.bin").read_bytes(), weights(64, 64).tobytes())

    def test_missing_names_are_refused(self):
        error = self.error_of(onnxar.extract, self.path, "W", self.folder / "w.npy")
        self.assertEqual(error.code, "usage.no_such_tensor")
        self.assertEqual(self.error_of(onnxar.extract, self.path, "w", self.path).code, "usage.argument")


class Errors(LookingTest):
    """The command's errors equal those of a call in the process."""

    def test_missing_file_with_any_name_is_named(self):
        for name in ("none", "a: b", "line\nbreak \x1b[31m", "back\\slash \\x41", "größe", "turned\u202e", "-o", "no\udcffutf8"):
            path = self.folder / name
            in_process = self.error_of(onnxar.open, path)
            for action, *more in ((onnxar.show,), (onnxar.diff, self.model), (onnxar.freeze, self.folder / "out")):
                error = self.error_of(action, path, *more)
                self.assertEqual((error.code, error.path), ("io.not_found", str(path)))
                self.assertEqual(str(error), str(in_process))

    def test_damage_is_placed(self):
        data = bytearray(self.path.read_bytes())
        data[4 : 6] = b"\x63\0"  # the version that the first local header calls for
        self.path.write_bytes(data)
        expected = self.error_of(onnxar.unpack, self.path, self.folder / "out")
        error = self.error_of(onnxar.freeze, self.path, self.folder / "out")
        self.assertEqual(error.args, expected.args)
        self.assertEqual((error.entry, error.offset is None), ("scale", False))
        self.assertEqual(pickle.loads(pickle.dumps(error)).args, error.args)
        in_memory = self.error_of(onnxar.freeze, bytes(data), self.folder / "out")
        self.assertEqual(in_memory.args, (*expected.args[:-1], ""))

    def test_a_weight_that_is_missing(self):
        name = 'open "é": \n'
        self.model.graph.node[0].input[1] = name
        self.model.graph.initializer.add(name=name, data_type=TensorProto.FLOAT, dims=[64, 64])
        error = self.error_of(onnxar.freeze, self.model, self.folder / "out")
        self.assertEqual((error.code, error.entry, error.path), ("onnx.tensor.no_data", "graph.initializer[3]", ""))
        self.assertIn(r'the initializer "open "\u00e9": \x0a"', error.message)

    def test_the_first_of_two_files_and_the_second(self):
        for paths in ((self.folder / "none", self.path), (self.path, self.folder / "none")):
            self.assertEqual(self.error_of(onnxar.diff, *paths).path, str(self.folder / "none"))

    def test_arguments(self):
        for wrong in (None, 3, {}, onnx.TensorProto()):
            error = self.error_of(onnxar.show, wrong)
            self.assertEqual(error.code, "usage.argument")
            self.assertIn(type(wrong).__name__, str(error))
        for named in ({"alignment": 48}, {"alignment": -1}, {"threshold": -1}, {"weights": self.path}):
            self.assertEqual(self.error_of(onnxar.freeze, self.model, self.folder / "out", **named).code, "usage.argument")
        error = self.refused("usage.argument", _command.run, "show", "--no-such-option", str(self.path))
        self.assertIn("--no-such-option", error.message)


class Process(LookingTest):
    def test_no_protobuf_comes_into_the_process(self):
        onnx.save(self.model, self.folder / "m.onnx")
        code = (
            "import sys, onnxar, pathlib; archive, model = sys.argv[1:]\n"
            "onnxar.show(model); onnxar.freeze(model, archive + '.frozen'); assert onnxar.diff(model, archive).same\n"
            "maps = pathlib.Path('/proc/self/maps').read_text().splitlines()\n"
            "print(*sorted({line.split()[5] for line in maps if line.count('/')}), *sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code, self.path, self.folder / "m.onnx"], check=True,
                              capture_output=True, text=True)  # fmt: skip
        self.assertIn("/_core.", done.stdout)
        for mark in ("libproto", "google", "bin/onnxar"):
            self.assertNotIn(mark, done.stdout)

    def test_another_command_of_this_name_does_not_count(self):
        other = self.folder / "bin" / "onnxar"
        other.parent.mkdir()
        other.write_text("#!/bin/sh\nexit 3\n")
        other.chmod(0o755)
        path = f"{other.parent}{os.pathsep}{os.environ['PATH']}"
        code = "import sys, onnxar; print(onnxar.show(sys.argv[1]).form, onnxar._command.executable())"
        done = subprocess.run([sys.executable, "-c", code, self.path], check=True, capture_output=True, text=True,
                              env={**os.environ, "PATH": path})  # fmt: skip
        self.assertEqual(done.stdout.split(), ["archive", str(pathlib.Path(sys.executable).parent / "onnxar")])

    def test_system_package_finds_command_in_its_prefix(self):
        modules, command = self.folder / "usr/lib/python3/dist-packages", self.folder / "usr/bin/onnxar"
        shutil.copytree(pathlib.Path(onnxar.__file__).parent, modules / "onnxar")
        (modules / "onnxar-1.dist-info").mkdir()
        (modules / "onnxar-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: onnxar\nVersion: 1\n")
        command.parent.mkdir()
        command.touch(0o755)
        done = subprocess.run([sys.executable, "-c", "import onnxar; print(onnxar._command.executable())"], check=True, capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": str(modules)})  # fmt: skip
        self.assertEqual(done.stdout.strip(), str(command))

    def test_full_temporary_folder_is_named(self):
        tensor = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[4 << 20], raw_data=bytes(4 << 20))
        model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        for source in (model, model.SerializeToString()):
            with self.assertRaises(onnxar.FileError) as raised:
                onnxar.diff(source, source)
            self.assertIn("TMPDIR", raised.exception.message)

    def test_an_interrupt_ends_the_command(self):
        for name in ("a", "b"):
            self.write_zeros(name, 64 << 30)
        self.interrupt_after(0.1)
        with self.assertRaises(KeyboardInterrupt):
            onnxar.diff(self.folder / "a.onnx", self.folder / "b.onnx")
        with self.assertRaises(ChildProcessError):  # there is none any more
            os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()

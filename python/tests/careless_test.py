"""Wrong calls: each raises an exception, none crashes. Each runs in a separate interpreter."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap
import unittest

from building import archive, head, linked, model
from support import FolderTest

# The beginning of every program: a writer, and a function that returns the exception of an action.
BEGIN = """
import copy, faulthandler, gc, pickle, sys, threading
sys.path.append({tests!r})
import onnxar
from onnxar import _core
faulthandler.dump_traceback_later(120, exit=True)  # ends a deadlock, so that the tests do not wait for it
MODEL = bytes.fromhex({model!r})

def writer(name="w.onnxar"):
    return _core.ArchiveWriter.create(name, 64, True, False)

def error_of(action, *arguments):
    try:
        action(*arguments)
    except onnxar.Error as error:
        return error.code
    except BaseException as error:
        return type(error).__name__
    return None
"""

# A weight of 17 MiB. The thread that writes it is blocked after the first 16 MiB.
HELD = """
            import building
            big, said, inside, go_on = bytes(17 << 20), [], threading.Event(), threading.Event()

            def progress(done, total):
                if threading.current_thread() is not threading.main_thread():
                    inside.set()
                    go_on.wait()

            def save(write_to):
                made, options = _core.ModelWriter(), _core.SaveOptions()
                options.progress, options.sync = progress, False
                link = _core.link_fields(made.add(len(big), write_to), len(big))
                model = building.model(building.head("w", len(big), dtype=building.UINT8) + link)
                made.save(model, "m.onnxar", options, _core.LoadOptions())
"""


class CarelessTest(FolderTest):
    def run_program(self, program: str) -> str:
        begin = BEGIN.format(model=model().hex(), tests=str(pathlib.Path(__file__).parent))
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", begin + textwrap.dedent(program)],
            cwd=self.folder, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_objects_that_were_never_made_whole_raise(self):
        said = self.run_program("""
            for name, kind in vars(_core).items():
                if not isinstance(kind, type):
                    continue
                try:
                    made = kind.__new__(kind)
                except TypeError:
                    continue
                print(name)
                for use in (memoryview, bytes, len, iter, copy.copy, copy.deepcopy, pickle.dumps, repr):
                    error_of(use, made)
                for member in (member for member in dir(kind) if not member.startswith("_")):
                    try:
                        attribute = getattr(made, member)
                    except Exception:
                        continue
                    for arguments in ((), (1,), ("w",), (b"",), (made,), ("w", 1), (1, print), ("w", 1, print)):
                        error_of(attribute, *arguments)
                del made
                gc.collect()
            print(error_of(memoryview, _core.Buffer.__new__(_core.Buffer)))
        """)
        self.assertIn("Buffer", said.split())
        self.assertEqual(said.split()[-1], "BufferError")

    def test_writer_cannot_be_initialised_twice(self):
        self.run_program("""
            made = _core.ModelWriter()
            made.add(8, print)
            print(error_of(made.__init__))
            for kind in (_core.KeyMaker, _core.SaveOptions, _core.LoadOptions):
                error_of(kind().__init__)
        """)

    def test_a_tensor_of_another_archive_is_refused(self):
        for name, before in (("a", 2), ("b", 200000), ("c", 2)):
            tensors = [head("g" * before, 0), linked("w", 1024, location="w", length=4096)]
            (self.folder / name).write_bytes(archive(model(*tensors), w=bytes([before % 256]) * 4096))
        said = self.run_program("""
            a, b, c = (onnxar.open(name) for name in "abc")
            for tensor in (b._selection.tensors["w"], c._selection.tensors["w"]):
                print(error_of(a._handle.data, tensor))
            tensor = c._selection.tensors["w"]
            del c
            gc.collect()
            print(error_of(a._handle.data, tensor), len(a._handle.data(a._selection.tensors["w"])))
        """)
        self.assertEqual(said.split(), ["usage.argument"] * 3 + ["4096"])

    def test_file_is_closed_when_its_write_to_returns(self):
        said = self.run_program("""
            kept, w = [], writer()
            w.add("a", 4, lambda file: (kept.append(file), file.write(b"1234")))
            print(error_of(kept[0].write, b"5678"))
            w.finish(MODEL)
            del w
            gc.collect()
            print(error_of(kept[0].write, b"5678"))
            with onnxar.open("w.onnxar") as made:
                print(bytes(made.entry("a")))
        """)
        self.assertEqual(said.split(), ["usage.argument", "usage.argument", "b'1234'"])

    # write_to has returned by then; the writer waits for its thread.
    def test_weight_is_refused_if_a_thread_still_writes(self):
        said = self.run_program(HELD + """
            def write_to(file):
                threading.Thread(target=lambda: (file.write(big), said.append("written"))).start()
                inside.wait()
                threading.Timer(0.2, go_on.set).start()

            said.append(error_of(save, write_to))
            print(*said)
        """)
        self.assertEqual(said.split(), ["written", "usage.argument"])
        self.assertEqual(self.names(), set())

    def test_overlapping_writes_refuse_the_weight(self):
        said = self.run_program(HELD + """
            def write_to(file):
                thread = threading.Thread(target=file.write, args=(big,))
                thread.start()
                inside.wait()
                said.append(error_of(file.write, b""))
                go_on.set()
                thread.join()

            said.append(error_of(save, write_to))
            print(*said)
        """)
        self.assertEqual(said.split(), ["usage.argument", "usage.argument"])
        self.assertEqual(self.names(), set())

    def test_threads_that_write_one_weight_do_no_harm(self):
        said = self.run_program("""
            piece, errors = bytes(20000), []

            def write_to(file):
                def write():
                    for _ in range(200):
                        errors.append(error_of(file.write, piece))
                threads = [threading.Thread(target=write) for _ in range(8)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()

            w = writer()
            code = error_of(w.add, "w", 1600 * len(piece), write_to)
            print(set(errors) <= {None, "usage.argument"}, code == ("usage.argument" if "usage.argument" in errors else None))
        """)
        self.assertEqual(said.split(), ["True", "True"])

    def test_busy_writer_refuses_nested_calls_and_threads(self):
        said = self.run_program("""
            w, seen = writer(), []

            def write_to(file):
                seen.append(error_of(w.finish, MODEL))
                seen.append(error_of(w.add, "b", 1, lambda other: other.write(b"b")))
                thread = threading.Thread(target=lambda: seen.append(error_of(w.finish, MODEL)))
                thread.start()
                thread.join()
                file.write(b"a")

            w.add("a", 1, write_to)
            print(*seen)
            w.finish(MODEL)
            with onnxar.open("w.onnxar") as made:
                print(len(made.entries()))
        """)
        self.assertEqual(said.split(), ["usage.argument"] * 3 + ["2"])

    def test_a_model_writer_is_not_used_while_it_saves(self):
        said = self.run_program("""
            made, seen = _core.ModelWriter(), []

            def write_to(file):
                seen.append(error_of(made.add, 1, print))
                seen.append(error_of(made.save, MODEL, "n", _core.SaveOptions(), _core.LoadOptions()))
                file.write(bytes(4096))

            link = _core.link_fields(made.add(4096, write_to), 4096)
            # TensorProto w of 1024 FLOATs, in a graph, in a model
            tensor = b"\\x08\\x80\\x08\\x10\\x01\\x42\\x01w" + link
            graph = b"\\x2a" + bytes([len(tensor)]) + tensor
            model = b"\\x08\\x0a\\x3a" + bytes([len(graph)]) + graph
            made.save(model, "m.onnxar", _core.SaveOptions(), _core.LoadOptions())
            print(*seen, len(onnxar.open("m.onnxar").entries()))
        """)
        self.assertEqual(said.split(), ["usage.argument", "usage.argument", "2"])

    def test_error_that_write_to_swallows_fails_the_entry(self):
        said = self.run_program("""
            def swallow(*pieces):
                def write_to(file):
                    for piece in pieces:
                        error_of(file.write, piece)
                return write_to

            print(error_of(writer().add, "w", 4, swallow(b"12345", b"1234")))
            print(error_of(writer().add, "w", 4, swallow(b"12")))
            print(error_of(writer().add, "w", 4, swallow("text", b"1234")))
            print(error_of(writer().add, "w", 4, lambda file: 1 / 0))
            print(error_of(writer().add, "w", 4, lambda: 1))
        """)
        self.assertEqual(said.split(), ["io.source_size", "io.source_size", "None", "ZeroDivisionError", "TypeError"])

    def test_progress_callback_cannot_bypass_the_checks(self):
        said = self.run_program("""
            import onnx_ir, numpy
            kept = []
            class Lazy(onnx_ir.LazyTensor): pass
            def make():
                return onnx_ir.Tensor(numpy.zeros(1 << 16, numpy.float32))
            tensor = onnx_ir.LazyTensor(make, dtype=onnx_ir.DataType.FLOAT, shape=onnx_ir.Shape((1 << 16,)), name="w")
            value = onnx_ir.Value(name="w", const_value=tensor, shape=tensor.shape, type=onnx_ir.TensorType(tensor.dtype))
            model = onnx_ir.Model(onnx_ir.Graph([], [], nodes=[], initializers=[value], opset_imports={"": 20}), ir_version=10)
            from onnxar import _ir
            write = _ir._write
            def remembering(tensor, file):
                kept.append(file)
                write(tensor, file)
            _ir._write = remembering
            seen = []
            onnxar.save(model, "m.onnxar", progress=lambda done, total: seen.append(error_of(kept[0].write, b"x")) if kept else None)
            print(set(seen))
            print(error_of(lambda: onnxar.save(model, "n.onnxar", progress=lambda done, total: sys.exit(3))))
            print(error_of(lambda: onnxar.save(model, "n.onnxar", progress=lambda: None)))
        """)
        self.assertEqual(said.splitlines()[1:], ["SystemExit", "TypeError"])
        self.assertIn("usage.argument", said)
        self.assertEqual(self.names(), {"m.onnxar"})

    def test_sizes_that_no_file_has_are_refused(self):
        said = self.run_program("""
            for size in (-1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64):
                print(error_of(writer().add, "w", size, lambda file: file.write(b"1")) is not None)
                print(error_of(_core.ModelWriter().add, size, print) in ("usage.argument", "TypeError"))
            for index in (-1, 1, 1 << 63, 1 << 64):
                reader = _core.ModelReader.open_buffer(open("m.onnxar", "rb").read(), _core.LoadOptions())
                print(error_of(reader.read, index) in ("IndexError", "TypeError"))
            with onnxar.open("m.onnxar") as made:
                for offset, length in ((-1, 1), (1 << 63, 1), ((1 << 64) - 1, (1 << 64) - 1), (1, (1 << 64) - 1), (0, 1 << 64)):
                    print(error_of(made.resolve, "w", offset, length) is not None)
        """ if self.made() else "")
        self.assertEqual(set(said.split()), {"True"})

    def made(self) -> bool:
        data = archive(model(linked("w", 1024, location="w", length=4096)), w=bytes(4096))
        return bool((self.folder / "m.onnxar").write_bytes(data))

    def test_objects_cannot_be_copied_or_pickled(self):
        self.made()
        said = self.run_program("""
            opened = onnxar.open("m.onnxar")
            things = [opened._handle, opened._handle.model(), opened._selection.tensors["w"], writer(), _core.ModelWriter(), _core.KeyMaker(),
                      _core.ModelReader.open("m.onnxar", _core.LoadOptions())]
            for thing in things:
                for action in (pickle.dumps, copy.copy, copy.deepcopy):
                    print(error_of(action, thing))
        """)
        self.assertEqual(set(said.split()), {"TypeError"})

    def test_threads_survive_an_archive_that_is_closed(self):
        self.made()
        said = self.run_program("""
            codes = set()
            for _ in range(200):
                opened = onnxar.open("m.onnxar")
                def use():
                    for _ in range(5):
                        codes.add(error_of(lambda: opened["w"].sum()))
                        codes.add(error_of(opened.entries))
                        codes.add(error_of(opened.consolidate))
                threads = [threading.Thread(target=use) for _ in range(3)]
                for thread in threads: thread.start()
                opened.close()
                for thread in threads: thread.join()
            print(codes <= {None, "usage.argument"})
        """)
        self.assertEqual(said.split(), ["True"])

    def test_a_module_that_is_loaded_again_is_refused(self):
        said = self.run_program("""
            for name in [name for name in sys.modules if name.startswith("onnxar")]:
                del sys.modules[name]
            try:
                import onnxar
            except ImportError as error:
                print(error_of(onnxar.open, "missing"), error)
        """)
        self.assertIn("io.not_found onnxar._core can be loaded once", said)

    @unittest.skipIf(sys.version_info >= (3, 13), "the module of interpreters has another name")
    def test_another_interpreter_does_no_harm_to_the_first(self):
        said = self.run_program("""
            import _xxsubinterpreters
            try:
                _xxsubinterpreters.run_string(_xxsubinterpreters.create(), "import onnxar")
            except _xxsubinterpreters.RunFailedError:
                print(error_of(onnxar.open, "missing"))
        """)
        self.assertEqual(said.split(), ["io.not_found"])

    # It is freed when the interpreter ends.
    def test_cycle_of_model_writer_and_weight_is_freed(self):
        self.run_program("""
            made = _core.ModelWriter()
            def write_to(file, made=made):
                pass
            made.add(8, write_to)
            del made, write_to
            gc.collect()
        """)


if __name__ == "__main__":
    unittest.main()

"""Progress, threads, and names of arguments, in every function that writes or reads much."""

from __future__ import annotations

import functools
import inspect
import io
import itertools
import unittest

import numpy as np
import onnx
from support import FolderTest
from tqdm import tqdm

import onnxar
import onnxar.numpy

BIG = 1 << 18  # elements of 4 bytes


def stop(done: int, total: int) -> None:
    raise ZeroDivisionError


class ProgressTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path, self.out = self.folder / "m.onnxar", self.folder / "out"
        self.values = itertools.count(7)  # equal data would not be written again
        onnxar.numpy.save_file({"w": np.ones(BIG, np.float32), "b": np.zeros(BIG, np.float32)}, self.path)

    def calls(self):
        """Returns every function that reports progress, by name."""
        path, out, model = self.path, self.out, onnxar.load(self.path)

        def edit(**options):
            with onnxar.edit(path, **options) as e:
                e["w"] = e["w"] + 1

        return {
            "pack": functools.partial(onnxar.pack, path, out, overwrite=True),
            "unpack": functools.partial(onnxar.unpack, path, out, overwrite=True),
            "repack": functools.partial(onnxar.repack, path, out, overwrite=True),
            "save": functools.partial(onnxar.save, model, out, overwrite=True),
            "save to memory": functools.partial(onnxar.save, model),
            "load": functools.partial(onnxar.load, path),
            "check": functools.partial(onnxar.check, path, data=True),
            "extract": functools.partial(onnxar.extract, path, "w", out, overwrite=True),
            "consolidate": functools.partial(onnxar.open(path).consolidate),
            "edit": edit,
            "freeze": functools.partial(onnxar.freeze, path, out, overwrite=True),
            "diff": functools.partial(onnxar.diff, path, path),
            "replace": lambda **options: onnxar.replace(path, _with(model, "w", next(self.values)), **options),
        }


class Progress(ProgressTest):
    def test_function_receives_growing_numbers_up_to_total(self):
        for name, call in self.calls().items():
            with self.subTest(name):
                reports = []
                call(progress=lambda done, total, reports=reports: reports.append((done, total)))
                self.assertGreater(len(reports), 0)
                self.assertEqual(reports, sorted(reports))
                self.assertEqual(len({total for _, total in reports}), 1)
                self.assertEqual(*reports[-1])

    def test_a_class_like_tqdm_gets_a_bar_that_is_closed(self):
        made = []

        class Bar(tqdm):
            def __init__(self, **options):
                super().__init__(file=io.StringIO(), **options)
                made.append(self)

        for name, call in self.calls().items():
            for kind in (Bar, functools.partial(Bar, leave=False)):
                with self.subTest(name):
                    made.clear()
                    call(progress=kind)
                    (bar,) = made
                    self.assertEqual(bar.n, bar.total)
                    self.assertEqual((bar.unit, bar.disable), ("B", True))  # closed

    def test_a_bar_of_the_caller_is_filled_and_stays_open(self):
        with tqdm(file=io.StringIO()) as bar:
            onnxar.pack(self.path, self.out, progress=bar)
            self.assertEqual((bar.n, bar.disable), (bar.total, False))
            self.assertGreaterEqual(bar.total, BIG * 8)

    def test_true_shows_a_bar_of_tqdm(self):
        onnxar.pack(self.path, self.out, progress=True)
        onnxar.pack(self.path, self.out, progress=False, overwrite=True)
        for wrong in (5, "bar"):
            with self.assertRaises(ValueError):
                onnxar.pack(self.path, self.out, progress=wrong, overwrite=True)

    def test_exception_in_progress_leaves_no_output(self):
        calls = self.calls()
        del calls["freeze"]  # see below
        before, names = self.path.read_bytes(), self.names()
        for name, call in calls.items():
            with self.subTest(name), self.assertRaises(ZeroDivisionError):
                call(progress=stop)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(self.names(), names)

    # The command may have published the file by then.
    def test_exception_in_progress_ends_the_freeze_command(self):
        # On a busy machine the command may have ended before its report is read. If it is killed while it
        # renames, a hidden file remains.
        names = self.names()
        with self.assertRaises(ZeroDivisionError):
            self.calls()["freeze"](progress=stop)
        if self.out.exists():
            self.assertEqual([found for found in onnxar.check(self.out, data=True) if found.severity == "error"], [])
        self.assertEqual({name for name in self.names() if not name.startswith(".")} - {self.out.name}, names)

    def test_the_size_of_a_text_is_known_at_its_end(self):
        reports = []
        text = onnxar.dump(self.path, with_data=True, progress=lambda *report: reports.append(report))
        self.assertEqual(reports, sorted(reports))
        self.assertEqual({total for _, total in reports[:-1]}, {0})
        self.assertEqual(reports[-1], (len(text), len(text)))

    def test_errors_are_those_without_progress(self):
        self.out.write_bytes(b"")
        for progress in (None, print):
            error = self.refused("output.exists", onnxar.freeze, self.path, self.out, progress=progress)
            self.assertEqual(error.path, str(self.out))


class Threads(ProgressTest):
    def test_result_is_equal_for_every_number_of_threads(self):
        for name, call in self.calls().items():
            if name == "diff":  # works in one thread
                continue
            with self.subTest(name):
                for threads in (1, 2, 5):
                    call(threads=threads)
                with self.assertRaises(ValueError) as raised:
                    call(threads=-1)
                self.assertIn("threads is -1", str(raised.exception))
        self.assertEqual(onnxar.load(self.path, threads=1), onnxar.load(self.path, threads=3))


class Arguments(unittest.TestCase):
    def test_functions_with_external_data_take_data_dir(self):
        for call in (onnxar.pack, onnxar.unpack, onnxar.save, onnxar.check, onnxar.extract, onnxar.replace, onnxar.show, onnxar.dump,
                     onnxar.diff, onnxar.freeze):  # fmt: skip
            self.assertIn("data_dir", inspect.signature(call).parameters, call.__name__)

    def test_every_public_function_says_what_it_does(self):
        for name in onnxar.__all__:
            self.assertTrue(inspect.getdoc(getattr(onnxar, name)), name)


def _with(model: onnx.ModelProto, name: str, value: float) -> onnx.ModelProto:
    """Returns a copy in which a tensor has other data."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for tensor in changed.graph.initializer:
        if tensor.name == name:
            tensor.raw_data = np.full(BIG, value, np.float32).tobytes()
    return changed


if __name__ == "__main__":
    unittest.main()

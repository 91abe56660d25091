"""Errors are also instances of Python's exceptions, and their hints use the words of Python."""

from __future__ import annotations

import errno
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest
import unittest.mock

from building import archive, linked, model
from support import ArchiveTest, FolderTest

import onnxar
from onnxar import _core, _errors, _sign_command

ROOT = pathlib.Path(__file__).parents[2]


# package -> what needs it, and a call
PACKAGES = {
    "onnx": {"onnxar.load": "onnxar.load(path)", "onnxar.register": "onnxar.register()", "the model of onnxar.edit": "onnxar.edit(path).model"},
    "onnx_ir": {"onnxar.load_ir": "onnxar.load_ir(path)"},
    "ml_dtypes": {"an array of type BFLOAT16": "importlib.import_module('onnxar._dtypes').numpy_dtype(16)"},
    "torch": {"onnxar.torch": "importlib.import_module('onnxar.torch')"},
    "onnxruntime": {"onnxar.onnxruntime": "importlib.import_module('onnxar.onnxruntime')"},
}
WITHOUT = """import importlib, sys, onnxar
path, package, call = sys.argv[1:]
sys.modules[package] = None  # as if it were not installed
try:
    eval(call)
except ModuleNotFoundError as error:
    print(error)
"""


class Errors(ArchiveTest):
    def test_missing_package_is_named_with_its_user(self):
        for package, calls in PACKAGES.items():
            for what, call in calls.items():
                with self.subTest(call):
                    done = subprocess.run([sys.executable, "-c", WITHOUT, self.path, package, call], capture_output=True, text=True, check=True)
                    wanted = f"needs the package {package}, which is not installed: pip install {package}\n"
                    self.assertTrue(done.stdout.startswith(what) and done.stdout.endswith(wanted), done.stdout)

    def test_a_missing_file_is_a_file_not_found_error(self):
        none = self.folder / "none.onnxar"
        for call in (onnxar.open, onnxar.load, onnxar.load_ir, onnxar.show, onnxar.ls, onnxar.check, onnxar.edit, onnxar.link,
                     onnxar.undo, lambda path: onnxar.pack(path, self.folder / "x"), lambda path: onnxar.replace(path, b"x")):  # fmt: skip
            with self.assertRaises(FileNotFoundError) as raised:
                call(none)
            error = raised.exception
            self.assertIsInstance(error, onnxar.Error)
            self.assertEqual((error.errno, error.filename, error.code), (errno.ENOENT, str(none), "io.not_found"))

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable_file_raises_permission_error(self):
        self.path.chmod(0)
        with self.assertRaises(PermissionError) as raised:
            onnxar.open(self.path)
        self.assertEqual(raised.exception.errno, errno.EACCES)

    def test_the_class_follows_from_the_code(self):
        expected = {
            "io.not_found": FileNotFoundError, "io.permission": PermissionError, "io.failed": OSError, "io.disk_full": OSError,
            "io.changed": OSError, "output.exists": FileExistsError, "usage.argument": ValueError, "usage.own_name": ValueError,
            "usage.no_such_entry": KeyError, "usage.no_such_tensor": KeyError, "zip.data.crc": ValueError,
            "onnx.model.invalid": ValueError, "wire.truncated": ValueError, "archive.torn": ValueError, "numpy.header": ValueError,
        }  # fmt: skip
        for code, kind in expected.items():
            error = _errors.make_error(code, "said", "entry", 5, "path")
            self.assertIsInstance(error, kind, code)
            self.assertIsInstance(error, onnxar.Error)
            self.assertEqual((error.code, error.entry, error.offset, error.path), (code, "entry", 5, "path"))
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))
        for code in ("archive.busy", "usage.nothing_to_undo", "usage.writer_failed"):
            self.assertIs(type(_errors.make_error(code, "", "", None, "")), onnxar.Error)
        self.assertEqual(_errors.make_error("io.disk_full", "", "", None, "").errno, errno.ENOSPC)

    def test_every_code_has_a_class_of_its_kind(self):
        text = (ROOT / "include/onnxar/error_codes.inc").read_text()
        codes = re.findall(r'ONNXAR_CODE\(\w+,\s+"([^"]+)",\s+(\w+)\)', text)
        self.assertGreater(len(codes), 100)
        for code, kind in codes:
            made = _errors.class_of(code)
            if kind == "format":
                self.assertIs(made, onnxar.FormatError, code)
            elif kind == "io" and code != "archive.busy":
                self.assertTrue(issubclass(made, OSError), code)

    def test_tracebacks_have_the_public_names(self):
        public = [each for each in map(vars(onnxar).get, onnxar.__all__) if isinstance(each, type) and issubclass(each, BaseException)]
        self.assertGreater(len(public), 5)
        for each in public:
            self.assertEqual(f"{each.__module__}.{each.__qualname__}", f"onnxar.{each.__name__}")
            error = pickle.loads(pickle.dumps(each("io.not_found", "gone", path="/m")))
            self.assertEqual((type(error), error.path), (each, "/m"))

    def test_python_m_onnxar_ends_as_the_command_does(self):
        text = (ROOT / "include/onnxar/error_codes.inc").read_text()
        for code, kind in re.findall(r'ONNXAR_CODE\(\w+,\s+"([^"]+)",\s+(usage|io|format)\)', text):
            wanted = 1 if code.startswith("signature.") else {"usage": 2, "io": 3, "format": 4}[kind]
            self.assertEqual(_sign_command.exit_code(code), wanted, code)

    def test_damage_and_wrong_arguments_are_value_errors(self):
        damaged = archive(model(linked("w", 512, location="w", length=2048)), w=bytes(2048)).replace(b"PK\x05\x06", b"PK\x05\x05")
        for call in (lambda: onnxar.open(damaged), lambda: onnxar.open(self.path, prefetch="all"),
                     lambda: onnxar.pack(self.path, self.folder / "x", alignment=3)):  # fmt: skip
            with self.assertRaises(ValueError) as raised:
                call()
            self.assertIsInstance(raised.exception, onnxar.Error)

    def test_hints_have_no_words_of_cpp_or_the_shell(self):
        hints = re.findall(r'^ONNXAR_HINT\(\w+, "([^"]+)"', (ROOT / "include/onnxar/error_hints.inc").read_text(), re.MULTILINE)
        self.assertGreater(len(hints), 40)
        for hint in hints:
            words = _core.hint_words(hint, "VALUE")
            self.assertNotRegex(words, r"::|Options|--|`onnxar|[{}]{2}")
            self.assertNotEqual(words, "")

    def test_messages_have_no_words_of_cpp(self):
        """The library's messages reach users of Python as they are; terms of C++ belong in hints."""
        said = []
        for source in (ROOT / "src").rglob("*.cc"):
            if source.parent.name not in ("c", "model"):
                literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'^#include.*$|//.*$', "", source.read_text(), flags=re.MULTILINE))
                said += [(source.name, text) for text in literals if re.search(r"\w::\w|std::|nullptr|\w(Options|Resolver)\b", text)]
        self.assertEqual(said, [])


class Mapping(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        data = bytes(2048)
        text = b"\x08\x01\x10\x08B\x04text2\x01a"  # dims 1, STRING, name, one string
        proto = model(*(linked(name, 512, location=key, length=2048) for name, key in
                        (("layer.0/weight", "layer_0_weight"), ("same", "a"), ("same", "b"))), text)  # fmt: skip
        self.archive = onnxar.open(archive(proto, layer_0_weight=data, a=data, b=data))
        self.keys = ["layer.0/weight", "graph.initializer[1]", "graph.initializer[2]"]

    def test_in_get_and_subscript_agree_with_iteration(self):
        self.assertEqual(list(self.archive), self.keys)
        nothing = object()
        for name in (*self.keys, "same", "text", "none", "layer_0_weight", "graph.initializer[0]", "", 5, None, b"same"):
            there = name in self.keys
            self.assertEqual(name in self.archive, there, name)
            self.assertEqual(name in self.archive.keys(), there, name)
            self.assertEqual(self.archive.get(name, nothing) is not nothing, there, name)
            if not there:
                with self.assertRaises(KeyError):
                    self.archive[name]
        self.assertEqual({"layer_0_weight", "same"} & self.archive.keys(), set())

    def test_key_error_explains_the_name(self):
        for name, said in (("same", "their keys are graph.initializer[1], graph.initializer[2]"), ("text", "onnxar.load returns"),
                           ("layer_0_weight", "'layer.0/weight', which tensor() finds"), ("layer.0/weigth", "did you mean 'layer.0/weight'")):  # fmt: skip
            with self.assertRaises(onnxar.NotFoundError) as raised:
                self.archive[name]
            self.assertIn(said, str(raised.exception))


if __name__ == "__main__":
    unittest.main()

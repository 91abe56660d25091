"""The installed package: the command, the types, and the module in a process with others."""

from __future__ import annotations

import ast
import functools
import graphlib
import http.server
import importlib.metadata
import importlib.resources
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy
import onnxar
import onnxar.numpy
from onnxar import _core

COMMAND = pathlib.Path(sys.executable).parent / "onnxar"


def run(*command: object) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def needed_by(file: object) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file)))


OF_A_RELEASE = unittest.skipIf("libz.so.1" in needed_by(_core.__file__), "this wheel uses the system's libraries; `./dev wheels` makes others")


class Installed(unittest.TestCase):
    def test_the_package_is_the_installed_one(self):
        self.assertIn("site-packages", onnxar.__file__)

    def test_command_package_and_metadata_have_one_version(self):
        self.assertEqual(importlib.metadata.version("onnxar"), onnxar.__version__)
        self.assertIn(onnxar.__version__, run(COMMAND, "--version"))

    def test_command_opens_addresses_with_system_libcurl(self):
        with tempfile.TemporaryDirectory() as folder:
            onnxar.numpy.save_file({"w": numpy.zeros(4)}, f"{folder}/m.onnxar")
            handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                command = [COMMAND, "ls", "--json", f"http://127.0.0.1:{server.server_port}/m.onnxar"]
                done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "no_proxy": "127.0.0.1"})
                server.shutdown()
        if not needed_by(COMMAND):  # a static program, for musl
            self.assertIn("remote.no_libcurl", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([entry["name"] for entry in json.loads(done.stdout)["entries"]][0], "w")

    def test_wheel_holds_only_the_package_and_the_command(self):
        tops = {file.parts[0] for file in importlib.metadata.files("onnxar")}
        self.assertEqual({top for top in tops if not top.endswith(".dist-info")}, {"onnxar", ".."})
        self.assertEqual([file.name for file in importlib.metadata.files("onnxar") if file.parts[0] == ".."], ["onnxar", "onnxar-py"])

    def test_numpy_is_all_it_requires(self):
        required = [each for each in importlib.metadata.requires("onnxar") if "extra ==" not in each]
        self.assertEqual([re.match(r"\w+", each)[0] for each in required], ["numpy"])


@unittest.skipIf(os.name == "nt", "Windows has no such permission")
class Unzipped(unittest.TestCase):
    """A wheel that `zipfile` unpacked, which makes no file executable."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        shutil.copytree(pathlib.Path(onnxar.__file__).parent, self.folder / "onnxar")
        scripts, info = self.folder / "onnxar-1.0.0.data/scripts", self.folder / "onnxar-1.0.0.dist-info"
        scripts.mkdir(parents=True)
        info.mkdir()
        self.command = scripts / "onnxar"
        shutil.copyfile(COMMAND, self.command)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: onnxar\nVersion: 1.0.0\n")
        (info / "RECORD").write_text("onnxar/__init__.py,,\nonnxar-1.0.0.data/scripts/onnxar,,\n")
        onnxar.numpy.save_file({"w": numpy.zeros(4)}, self.folder / "m.onnxar")

    def printed(self, *words: str) -> str:
        done = subprocess.run([sys.executable, "-B", *words], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": str(self.folder)})  # fmt: skip
        return done.stdout + done.stderr

    def test_command_that_cannot_be_executed_is_named(self):
        self.command.chmod(0o644)
        for words in (("-c", "import onnxar; onnxar.show('m.onnxar')"), ("-m", "onnxar", "--version")):
            with self.subTest(words):
                said = self.printed(*words)
                self.assertIn("cannot be executed", said)
                self.assertIn(f"chmod +x {self.command}", said)

    def test_command_beside_the_package_is_run(self):
        self.command.chmod(0o755)
        program = "import onnxar, onnxar._command as c; print(onnxar.show('m.onnxar').parameters, c.executable())"
        self.assertIn(f"4 {self.command}", self.printed("-c", program))


class Typed(unittest.TestCase):
    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue(importlib.resources.files("onnxar").joinpath("py.typed").is_file())

    def test_the_stub_has_what_the_module_has(self):
        stub = ast.parse(importlib.resources.files("onnxar").joinpath("_core.pyi").read_text())
        stubbed = {}
        for node in stub.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                stubbed[node.name] = node
        real = {name for name, value in vars(_core).items() if not name.startswith("_") and not isinstance(value, str)}
        self.assertEqual(set(stubbed), real)
        for name, node in stubbed.items():
            if isinstance(node, ast.ClassDef) and name not in ("Format", "Prefetch"):
                members = {getattr(part, "name", None) or part.target.id for part in node.body
                           if isinstance(part, ast.FunctionDef | ast.AnnAssign)}  # fmt: skip
                own = {key for key in vars(getattr(_core, name)) if not key.startswith("_")}
                self.assertEqual({member for member in members if not member.startswith("_")}, own, name)

    def test_docs_name_only_arguments_that_exist(self):
        public = [getattr(onnxar, name) for name in onnxar.__all__]
        functions = [each for value in public for each in (value, *vars(value).values()) if inspect.isfunction(each)]
        self.assertGreater(len(functions), 80)
        for function in functions:
            _, _, section = (inspect.getdoc(function) or "").partition("\nArgs:\n")
            documented = set(re.findall(r"^    \**(\w+): ", section.partition("\n\n")[0], re.MULTILINE))
            self.assertLessEqual(documented, set(inspect.signature(function).parameters), function.__qualname__)

    def test_every_public_function_has_types_and_docs(self):
        for name in onnxar.__all__:
            value = getattr(onnxar, name)
            self.assertTrue(inspect.getdoc(value), name)
            if inspect.isfunction(value):
                signature = inspect.signature(value)
                self.assertIsNot(signature.return_annotation, inspect.Signature.empty, name)
                for parameter in signature.parameters.values():
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty, f"{name} {parameter}")


def imported_by(source: str) -> set[str]:
    """Returns the modules of the package that a module imports, also in functions and for types."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "onnxar":
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onnxar."):
            found.add(node.module.removeprefix("onnxar."))
    return found


class Modules(unittest.TestCase):
    def test_imports_have_no_cycle(self):
        modules = {file.name.removesuffix(".py"): imported_by(file.read_text())
                   for file in importlib.resources.files("onnxar").iterdir() if file.name.endswith(".py")}  # fmt: skip
        self.assertLess({"_errors", "_core"}, modules["_archive"])
        graphlib.TopologicalSorter(modules).prepare()  # raises CycleError


class Neighbours(unittest.TestCase):
    def test_any_protobuf_loads_before_or_after_onnxar(self):
        use = ("m = onnx.helper.make_model(onnx.helper.make_graph([], 'g', [], [onnx.helper.make_tensor_value_info('x', 1, [2])],"
               " [onnx.helper.make_tensor('x', 1, [2], [1, 2])]));"
               "again = onnx.ModelProto(); again.ParseFromString(m.SerializeToString());"
               "assert onnxar.load(onnxar.save(m)) == again;"
               "assert google.protobuf.text_format.Parse(google.protobuf.text_format.MessageToString(m), onnx.ModelProto()) == m")  # fmt: skip
        for order in (("onnxar", "google.protobuf.text_format", "onnx"), ("onnx", "google.protobuf.text_format", "onnxar")):
            with self.subTest(order=order):
                run(sys.executable, "-c", "\n".join([*(f"import {name}" for name in order), use]))

    def test_it_is_imported_without_what_it_does_not_need(self):
        loaded = run(sys.executable, "-c", "import sys, onnxar; print(*sys.modules)").split()
        self.assertEqual({"onnx", "onnx_ir", "onnxruntime", "ml_dtypes", "google"} & set(loaded), set())

    def test_nothing_but_the_entry_point_is_seen_outside(self):
        lines = run("nm", "-D", "--defined-only", _core.__file__).split("\n")
        self.assertEqual({line.split()[-1] for line in lines if line}, {"PyInit__core"})

    @OF_A_RELEASE
    def test_no_library_is_needed_that_a_system_may_lack(self):
        system = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
                  "libpthread.so.0", "libdl.so.2",  # parts of libc since glibc 2.34
                  "libc.musl-x86_64.so.1"}  # fmt: skip
        for file in (_core.__file__, COMMAND):
            self.assertLessEqual(needed_by(file), system)

    def test_module_contains_no_protobuf(self):
        self.assertNotIn(b"google/protobuf", pathlib.Path(_core.__file__).read_bytes())
        self.assertNotIn(b"protobuf::", pathlib.Path(_core.__file__).read_bytes())


if __name__ == "__main__":
    unittest.main()

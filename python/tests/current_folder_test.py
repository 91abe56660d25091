"""Modules in the current folder, such as one beside a downloaded archive, are not run by the package's commands."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import unittest

from support import FolderTest

SCRIPT = pathlib.Path(sys.executable).parent / "onnxar-py"
PACKAGES = ["numpy", "onnx", "onnx_ir", "model_signing", "ml_dtypes", "fsspec", "tqdm", "onnxruntime"]


def loaded_by(code: str) -> set[str]:
    """Returns the names of modules that Python has loaded after this code."""
    words = [sys.executable, "-I", "-c", f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"]
    return set(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())


class CurrentFolder(FolderTest):
    def plant(self, *others: str, without: set[str] = frozenset()) -> None:
        """Writes a module of each name, which says that it was run and makes `verify` succeed."""
        for name in {*sys.stdlib_module_names, *PACKAGES, *others} - without:
            (self.folder / f"{name}.py").write_text(f"print('verified by', {name!r}, flush=True)\nimport os\nos._exit(0)\n")

    def expect_nothing_run(self, *command: object, **variables: str) -> None:
        environment = {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, **variables}
        done = subprocess.run([*map(str, command), "verify", "m.onnxar"], capture_output=True, text=True, env=environment, cwd=self.folder)
        self.assertEqual(done.stdout, "")
        self.assertIn("onnxar-py verify: error: one of the arguments", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_script_runs_no_planted_module(self):
        self.plant("onnxar", "sitecustomize", "usercustomize")
        self.expect_nothing_run(SCRIPT)

    def test_safe_path_runs_no_planted_module(self):
        if sys.version_info < (3, 11):
            self.skipTest("this Python has no -P")
        self.plant("onnxar", "sitecustomize", "usercustomize")
        self.expect_nothing_run(sys.executable, "-P", "-m", "onnxar")
        self.expect_nothing_run(sys.executable, "-m", "onnxar", PYTHONSAFEPATH="1")

    def test_module_runs_only_imports_of_runpy(self):
        self.plant("sitecustomize", "usercustomize", without=loaded_by("import runpy, importlib.util, warnings, contextlib"))
        for words in (["-m", "onnxar"], ["-monnxar"], ["-B", "-m", "onnxar.__main__"], ["-Bm", "onnxar"]):
            self.expect_nothing_run(sys.executable, *words)

    def test_empty_part_of_pythonpath_is_left_out(self):
        self.plant(without=loaded_by("import runpy, importlib.util, warnings, contextlib, re"))  # installers' scripts begin with re
        for empty in (":", ".", f":{self.folder / 'none'}", str(self.folder)):
            self.expect_nothing_run(SCRIPT, PYTHONPATH=empty)
            self.expect_nothing_run(sys.executable, "-m", "onnxar", PYTHONPATH=empty)

    def test_other_programs_keep_the_current_folder(self):
        (self.folder / "tool").mkdir()
        (self.folder / "tool/__init__.py").write_text("import onnxar\nimport helper\n")
        (self.folder / "tool/__main__.py").write_text("import helper\nprint(helper.value)\n")
        (self.folder / "helper.py").write_text("value = 'found'\n")
        for words in (["-m", "tool"], ["-m", "tool", "-m", "onnxar"]):
            done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.stdout, "found\n", done.stderr)

    def test_program_without_arguments_imports_the_package(self):
        for change in ("del sys.argv", "sys.argv = []", "sys.argv = ['-m']", "sys.argv = ['-m'] * 9"):
            subprocess.run([sys.executable, "-c", f"import sys; {change}; import onnxar"], check=True, cwd=self.folder)

    def test_runs_from_the_folder_of_the_package(self):
        import onnxar

        done = subprocess.run([sys.executable, "-m", "onnxar", "--version"], capture_output=True, text=True,
                              cwd=pathlib.Path(onnxar.__file__).parents[1])  # fmt: skip
        self.assertIn(onnxar.__version__, done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()

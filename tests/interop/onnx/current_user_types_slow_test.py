"""The types of the package are right for a user's program, which touches every public name.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests current_user_types_slow_test.py
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python"
SCRIPT = Path(__file__).with_name("user_script.py")


def public_names() -> set[str]:
    """`__all__`, without an import of the package, whose extension module may not be built for this Python."""
    for node in ast.parse((PACKAGE / "onnxar/__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


class UserTypes(unittest.TestCase):
    def ends_well(self, *arguments: str, cwd: str | None = None) -> None:
        environment = {**os.environ, "MYPYPATH": str(PACKAGE)}
        done = subprocess.run([sys.executable, "-B", "-m", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_script_touches_every_public_name(self) -> None:
        used = {node.attr for node in ast.walk(ast.parse(SCRIPT.read_text()))
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "onnxar"}  # fmt: skip
        self.assertGreater(len(public_names()), 40)
        self.assertLessEqual(public_names(), used)

    def test_strict_mypy_has_nothing_to_say(self) -> None:
        self.ends_well("mypy", "--strict", "--cache-dir", os.devnull, "--python-version", "3.10", "--follow-imports=silent", str(SCRIPT))

    def pyright(self, text: str) -> str:
        """What it says of a program, which is "0 errors" at best."""
        with tempfile.TemporaryDirectory() as folder:
            options = {"include": ["user.py"], "extraPaths": [str(PACKAGE)], "typeCheckingMode": "strict", "pythonVersion": "3.10"}
            Path(folder, "pyrightconfig.json").write_text(json.dumps(options))
            Path(folder, "user.py").write_text(text)
            command = [sys.executable, "-B", "-m", "pyright", "--project", folder, "--pythonpath", sys.executable]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout

    def test_strict_pyright_has_nothing_to_say(self) -> None:
        self.assertIn("\n0 errors", "\n" + self.pyright(SCRIPT.read_text()))

    def test_pyright_finds_a_fault(self) -> None:
        self.assertIn("reportAttributeAccessIssue", self.pyright("import onnxar\n\nprint(onnxar.unpac)\n"))


if __name__ == "__main__":
    unittest.main()

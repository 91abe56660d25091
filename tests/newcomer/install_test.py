"""What install.py takes from the README, and that it counts. The play itself is `./dev newcomer install`.

Usage: PYTHONPATH=tests install_test.py
"""

from __future__ import annotations

import contextlib
import io
import unittest

from newcomer import install


class Install(unittest.TestCase):
    def test_example_is_first_python_block_and_compiles(self) -> None:
        text = install.example()
        self.assertTrue(text.startswith("import onnxar"))
        compile(text, "README.md", "exec")

    def test_example_uses_a_tensor_of_its_model(self) -> None:
        self.assertIn('"encoder.weight"', install.example())
        self.assertIn('"encoder.weight"', install.MAKE_MODEL)

    def test_one_step_is_played_and_two_are_a_failure(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(install.steps("it", ["pip install x"]), "pip install x")
            with self.assertRaises(SystemExit) as ended:
                install.steps("it", ["apt-get install y", "pip install x"])
        self.assertIn("it: 1 step: pip install x", said.getvalue())
        self.assertIn("takes 2 steps", str(ended.exception))


if __name__ == "__main__":
    unittest.main()

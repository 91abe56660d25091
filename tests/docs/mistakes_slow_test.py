"""The table of mistakes in docs/errors.md: each mistake is made, and the answer has the sentence of the table.

Usage: ONNXAR=onnxar ONNXAR_BUILD=build/release ONNXAR_PACKAGE_PYTHON=python PYTHONPATH=tests mistakes_slow_test.py
"""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from docs.blocks import ROOT, code
from docs.running import Story

PAGE = ROOT / "docs/errors.md"


def rows() -> list[tuple[str, str]]:
    """What is typed, and what the answer contains."""
    section = PAGE.read_text().split("## Likely mistakes\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [(typed.strip("`"), said) for _, typed, said in lines if typed != "you type"]


class Mistakes(unittest.TestCase):
    def answer(self, words: str, folder: Path, story: Story) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-c", words]
        if words.startswith("onnxar."):
            command = ["python3", "-c", f"import onnx, onnxar\n{words}"]
        return subprocess.run(command, cwd=folder, env=story.environment, text=True, capture_output=True, check=False)

    def test_the_answer_says_what_to_do(self) -> None:
        self.assertGreaterEqual(len(rows()), 10)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            story = Story.in_folder(folder)
            for block in code(PAGE):
                story.run(block)
            for words, sentence in rows():
                with self.subTest(words):
                    done = self.answer(words, folder, story)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(sentence, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

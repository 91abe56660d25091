"""What play.py takes out of a rendered page. The play itself is `./dev newcomer`.

Usage: PYTHONPATH=tests play_test.py
"""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from docs.blocks import ROOT, code
from newcomer import play

PAGE = """<p>text</p><div class="highlight-sh notranslate"><div class="highlight"><pre><span></span>echo<span> </span>1
cmp<span> </span>a<span> </span>&lt;b
</pre></div>
</div><div class="other"><div>not a block</div></div>
<div class="highlight-python notranslate"><div class="highlight"><pre>print(2)
</pre></div></div>"""


def parsed(text: str) -> list[tuple[str, str]]:
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(text)
        file.flush()
        return play.blocks(Path(file.name))


class Play(unittest.TestCase):
    def test_the_blocks_of_a_page_are_what_a_reader_sees(self) -> None:
        self.assertEqual(parsed(PAGE), [("sh", "echo 1\ncmp a <b\n"), ("python", "print(2)\n")])

    def test_a_python_block_runs_after_those_before_it(self) -> None:
        script = play.script([("python", "a = 1\n"), ("sh", "true\n"), ("python", "print(a)\n")])
        self.assertIn("'END_OF_BLOCK'\na = 1\nprint(a)\nEND_OF_BLOCK\npython3 newcomer.py\n", script)

    def test_a_block_that_cannot_be_played_ends_the_play(self) -> None:
        with self.assertRaises(SystemExit):
            play.script([("java", "class A {}\n")])

    def test_script_of_the_quick_start_parses_in_bash(self) -> None:
        blocks = [(block.language, block.text) for block in code(ROOT / "docs/quickstart.md")]
        self.assertEqual({language for language, _ in blocks}, {"sh", "python", *play.FILES})
        subprocess.run(["bash", "-n"], input=play.script(blocks), text=True, check=True)


if __name__ == "__main__":
    unittest.main()

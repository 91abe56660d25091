"""The code blocks of the documents, and what is done with each of them.

A block is run as its language says. One that cannot run has a marker in the line above it, with the reason:

    <!-- not run: it installs packages; ./dev newcomer runs it -->
    <!-- run by ./dev serve -->
    <!-- run by tests/docs/recipes.py -->

All that a block needs is shown: by the quick start, or on its page before it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"<!-- (not run: .{10,}|run by \S.*) -->\n\Z")
GENERATED = "<!-- Generated from here on"  # by docs/tools/pages.py, from sources whose examples other tests run
SHOWN = {"text", "console", "json"}  # what a program prints, or a file holds
RUN = {"sh", "python", "cpp", "c"}


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str
    reason: str  # why it is not run here; empty if it is

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_program(self) -> bool:
        return "int main(" in self.text


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text().partition(GENERATED)[0]
    found = []
    for fence in FENCE.finditer(text):
        marker = MARKER.search(text, 0, fence.start())
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(page, line, fence[1], fence[2], marker[1] if marker else ""))
    return found


def code(page: Path) -> list[Block]:
    """The blocks of a page that are code, with the MyST directives and the transcripts left out."""
    return [block for block in blocks_of(page) if block.language not in SHOWN and not block.language.startswith("{")]

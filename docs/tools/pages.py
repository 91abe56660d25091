"""Writes what the reference pages take from sources, below the line MARK of each page, and the picture of a terminal. A test
compares both with the tree.

Usage: pages.py ONNXAR, with the command line, in a build that has protobuf
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import api_pages
import command_page
import error_page
import python_page
import terminal

DOCS = Path(__file__).resolve().parents[1]
MARK = "<!-- Generated from here on: change the sources and run ./dev docs -->\n"


def generated(tool: str) -> Iterator[tuple[Path, str]]:
    """Yields each file with the text that follows from the sources now."""
    made = {
        "api/c.md": api_pages.c(),
        "api/cpp.md": api_pages.cpp(),
        "api/python.md": python_page.page(),
        "command-line.md": command_page.page(tool),
        "errors.md": error_page.page(),
    }
    for name, text in made.items():
        kept, mark, _ = (DOCS / name).read_text().partition(MARK)
        if not mark:
            sys.exit(f"pages.py: docs/{name} lacks the line {MARK}")
        body = re.sub(r"\n{3,}", "\n\n", text).strip()
        yield DOCS / name, f"{kept}{mark}\n{body}\n"
    yield DOCS / "terminal.svg", terminal.picture(tool)


if __name__ == "__main__":
    for path, text in generated(sys.argv[1]):
        path.write_text(text)

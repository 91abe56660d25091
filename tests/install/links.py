"""Expects that links of installed documents lead to installed files.

Usage: links.py FOLDER
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)[^)]*\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    pages = sorted(Path(sys.argv[1]).rglob("*.md"))
    links = [(page, target) for page in pages for target in LINK.findall(CODE.sub("", page.read_text()))]
    dead = [f"{page}: {target}" for page, target in links if not (page.parent / target).exists()]
    if dead or len(links) < 300:
        sys.exit("\n".join([f"of {len(links)} links {len(dead)} lead nowhere", *dead]))


if __name__ == "__main__":
    main()

"""Gathers what Sphinx reads in one folder: every document at its place in the tree, and the pages that programs make.

Links in the documents are those of the repository: to a page, to a folder with a README, or to a file. A link that leads
nowhere ends this program.

Usage: assemble.py ONNXAR OUT, with the command line, for the folder OUT/source and Doxygen's XML in OUT/doxygen
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import api_pages
import command_page
import error_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("*.md", "docs/**/*.md", "spec/**/*.md", "bench/*.md", "python/*.md", "js/*.md", "src/*.md", "upstream/*/*.md")
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    return [path.relative_to(ROOT) for pattern in PAGES for path in sorted(ROOT.glob(pattern))]


class Tree:
    def __init__(self, out: Path) -> None:
        self.source = out / "source"
        self.pages = pages()
        self.faults: list[str] = []
        shutil.rmtree(self.source, ignore_errors=True)

    def write(self, page: Path, text: str) -> None:
        target = self.source / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, page: Path, found: re.Match[str]) -> str:
        """The link as Sphinx can follow it; its text alone for a folder without a README."""
        label, target = found[1], found[2]
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not name:
            return found[0]
        path = Path(os.path.normpath(page.parent / name))
        if (ROOT / path).is_dir():
            return f"{label}({os.path.join(name, 'README.md')})" if path / "README.md" in self.pages else label[1:-1]
        if not (ROOT / path).is_file():
            self.faults.append(f"{page}: the link to {target} leads nowhere")
        elif path not in self.pages:
            (self.source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.source / path)
        return f"{label}({name}{'#' + anchor if anchor else ''})"

    def add(self, page: Path) -> None:
        text, parts, end = (ROOT / page).read_text(), [], 0
        for block in CODE.finditer(text):
            parts += [LINK.sub(lambda found: self.link(page, found), text[end : block.start()]), block[0]]
            end = block.end()
        parts.append(LINK.sub(lambda found: self.link(page, found), text[end:]))
        title = "" if text.startswith("# ") else f"# {page.stem.capitalize()}\n\n"  # a page of a template without one
        self.write(page, title + "".join(parts))

    def change(self, page: str, old: str, new: str) -> None:
        path = self.source / page
        path.write_text(path.read_text().replace(old, new, 1))

    def list_others(self) -> None:
        """Pages of docs/ that the index does not name follow its last entry of guides."""
        index = (ROOT / "docs/index.md").read_text()
        names = [page.relative_to("docs").with_suffix("").as_posix() for page in self.pages if page.parts[0] == "docs"]
        others = [name for name in names if name != "index" and not re.search(rf"^{re.escape(name)}$", index, re.MULTILINE)]
        self.change("docs/index.md", "\nabi\n", "\n" + "\n".join(["abi", *others]) + "\n")


def doxygen(out: Path) -> None:
    folder = out / "doxygen"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "Doxyfile").write_text(api_pages.configuration(folder))
    subprocess.run(["doxygen", "Doxyfile"], cwd=folder, check=True)


def main() -> None:
    tool, out = sys.argv[1], Path(sys.argv[2]).absolute()
    tree = Tree(out)
    for page in tree.pages:
        tree.add(page)
    tree.list_others()
    tree.write(Path("docs/generated/errors.md"), error_page.page())
    tree.write(Path("docs/generated/command-line.md"), command_page.page(tool))
    tree.change("docs/api/cpp.md", "GENERATED", api_pages.cpp())
    tree.change("docs/api/c.md", "GENERATED", api_pages.c())
    if tree.faults:
        sys.exit("\n".join(tree.faults))
    doxygen(out)


if __name__ == "__main__":
    main()

"""Gathers what Sphinx reads in one folder: every document at its place in the tree.

Links in the documents are those of the repository: to a page, to a folder with a README, or to a file. A link that leads
nowhere ends this program.

Usage: assemble.py OUT, for the folder OUT/source
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("*.md", "packaging/*.md", "docs/**/*.md", "spec/**/*.md", "bench/*.md", "python/*.md", "js/*.md", "reader/*/*.md", "src/*.md",
         "tests/*.md", "upstream/*/*.md")  # fmt: skip
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
LISTED = re.compile(r"^## (.*)\n\n((?:- .*\n)+)", re.MULTILINE)
# On the first page of the site; js/tools/viewer.mjs makes it. GitHub would leave it out.
VIEWER = """```{raw} html
<iframe class="viewer" src="../viewer/index.html" title="Look into an ONNX model"></iframe>
<p><a href="../viewer/index.html">The viewer in a page of its own</a></p>
```
"""
DEMO = Path("js/demo/index.html")  # its place in the site has the viewer, which needs no server
BADGES = re.compile(r"^\[!\[.*\n", re.MULTILINE)  # their pictures come from the network, which the site does not need
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
        if path == DEMO:
            return f'<a href="{os.path.relpath("viewer/index.html", page.parent)}">{label[1:-1]}</a>'
        if (ROOT / path).is_dir():
            return f"{label}({os.path.join(name, 'README.md')})" if path / "README.md" in self.pages else label[1:-1]
        if not (ROOT / path).is_file():
            self.faults.append(f"{page}: the link to {target} leads nowhere")
        elif path not in self.pages:
            (self.source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.source / path)
        return f"{label}({name}{'#' + anchor if anchor else ''})"

    def add(self, page: Path) -> None:
        text, parts, end = BADGES.sub("", (ROOT / page).read_text()), [], 0
        for block in CODE.finditer(text):
            parts += [LINK.sub(lambda found: self.link(page, found), text[end : block.start()]), block[0]]
            end = block.end()
        parts.append(LINK.sub(lambda found: self.link(page, found), text[end:]))
        title = "" if text.startswith("# ") else f"# {page.stem.capitalize()}\n\n"  # a page of a template without one
        self.write(page, title + "".join(parts))

    def write_index(self) -> None:
        """Writes the first page. The viewer follows its first paragraph; the lists of links become Sphinx's tables of contents, and pages of docs/ that
        none names follow the last one."""
        index = (ROOT / "docs/index.md").read_text()
        names = set(re.findall(r"^- \[.*\]\((.*)\.md\)$", index, re.MULTILINE))
        others = [page.relative_to("docs").with_suffix("").as_posix() for page in self.pages if page.parts[0] == "docs"]
        index += "".join(f"- [{name}]({name}.md)\n" for name in others if name not in {*names, "index"})
        self.write(Path("docs/index.md"), LISTED.sub(table_of_contents, index.replace("\n\n## ", f"\n\n{VIEWER}\n## ", 1)))


def table_of_contents(found: re.Match[str]) -> str:
    entries = re.sub(r"^- \[(.*)\]\((.*)\.md\)$", r"\1 <\2>", found[2], flags=re.MULTILINE)
    return f"```{{toctree}}\n:caption: {found[1]}\n:maxdepth: 1\n\n{entries}```\n"


def main() -> None:
    tree = Tree(Path(sys.argv[1]).absolute())
    for page in tree.pages:
        tree.add(page)
    tree.write_index()
    if tree.faults:
        sys.exit("\n".join(tree.faults))


if __name__ == "__main__":
    main()

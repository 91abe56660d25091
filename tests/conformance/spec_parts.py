"""Parses the parts of the specification for tests: rules by id, steps, severities, links."""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / "spec"
CORE = "onnx-archive.md"
PARTS = {
    name: (SPEC / name).read_text()
    for name in (
        CORE,
        "loading.md",
        "writing.md",
        "checking.md",
        "graphs.md",
        "editing.md",
        "links.md",
        "digest.md",
        "background.md",
    )
}

RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\*(?: `([a-z0-9_]+(?:\.[a-z0-9_]+)+)`)?", re.MULTILINE)
ID = re.compile(r"\b([EDNPLTMRGWXKS]\d{1,2})\b")
CODE = re.compile(r'^ONNXAR_CODE\(\w+, "([a-z0-9_.]+)", (\w+)\)', re.MULTILINE)


class Rule(NamedTuple):
    id: str
    code: str  # or ""
    part: str


RULES = [Rule(*found, part) for part, text in PARTS.items() for found in RULE.findall(text)]


def codes(kind: str) -> set[str]:
    """The library's codes of this kind."""
    catalogue = (ROOT / "include/onnxar/error_codes.inc").read_text()
    return {code for code, of_kind in CODE.findall(catalogue) if of_kind == kind}


def section(part: str, heading: str) -> str:
    """The text under a heading, including its subsections."""
    marks, text = re.search(rf"^(#+) {re.escape(heading)}\n(.*)", PARTS[part], re.M | re.S).groups()
    return re.split(rf"^#{{1,{len(marks)}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without their heads."""
    lines = [line for line in text.splitlines() if line.lstrip().startswith("|")]
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    rulers = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-")]
    heads = {*rulers, *(i - 1 for i in rulers)}
    return [row for i, row in enumerate(cells) if i not in heads]


def retired() -> dict[str, str]:
    """Code by id."""
    found = re.findall(
        r"^\| ([A-Z]\d+) \| `([a-z.]+)` \|", section("background.md", "Versions"), re.M
    )
    return dict(found)


def severities() -> dict[str, tuple[str, str]]:
    """The severity of a breach, and its severity for a strict reader, by id."""
    table = rows(section("checking.md", "Severities"))
    return {rule: (row[0], row[1]) for row in table for rule in row[2].split()}


def ids_up_to(**last: int) -> set[str]:
    return {f"{letter}{n}" for letter, count in last.items() for n in range(1, count + 1)}


def anchors(text: str) -> set[str]:
    """The anchors that common Markdown viewers make from headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", each.lower()).replace(" ", "-") for each in headings}


def dangling_links() -> list[str]:
    """The links in all texts of the specification to files and headings that do not exist."""
    found = []
    for path in sorted(SPEC.rglob("*.md")):
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name) if name else path
            is_bad = not file.exists()
            if anchor and not is_bad and file.suffix == ".md":
                is_bad = anchor not in anchors(file.read_text())
            found += [f"{path.relative_to(ROOT)}: {target}"] if is_bad else []
    return found


def programs() -> list[str]:
    """The Python code in README.md."""
    return re.findall(r"^```python\n(.*?)^```", (SPEC / "README.md").read_text(), re.M | re.S)


def example() -> bytes:
    """The bytes that the dump in writing.md shows."""
    dump = re.search(r"^```hexdump\n(.*?)^```", PARTS["writing.md"], re.M | re.S)[1]
    found = re.findall(r"^([0-9a-f]{4})((?:  ?[0-9a-f]{2}){1,16})(?:  |$)", dump, re.MULTILINE)
    data = b""
    for offset, row in found:
        assert int(offset, 16) == len(data)
        data += bytes.fromhex(row)
    return data

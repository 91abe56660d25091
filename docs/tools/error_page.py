"""Makes the page "Error codes": the catalogue (include/onnxar/error_codes.inc) with the explanations of docs/errors.toml,
and the rules of the specification that have a code.

Usage: error_page.py, which prints the page
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "include/onnxar/error_codes.inc"
EXPLANATIONS = ROOT / "docs/errors.toml"
RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\* `([a-z._]+)`", re.MULTILINE)


class Code(NamedTuple):
    id: str
    kind: str
    section: str


class Explanation(NamedTuple):
    meaning: str
    cause: str
    remedy: str


def catalogue(text: str) -> list[Code]:
    """The codes in their order, each with the section comment above it."""
    codes, section = [], ""
    for line in text.splitlines():
        if found := re.fullmatch(r'ONNXAR_CODE\(\w+, "([a-z_.0-9]+)", (\w+)\)', line):
            codes.append(Code(found[1], found[2], section))
        elif line.startswith("// "):
            section = line[3:]
    return codes


def explanations(text: str) -> dict[str, dict[str, Explanation]]:
    """For each section, the explanation of each code, with the group's cause and remedy filled in."""
    sections = {}
    for group in tomllib.loads(text)["group"]:
        wanted = ["", group["cause"], group["remedy"]]
        sections[group["section"]] = {
            code: Explanation(*(given or default for given, default in zip([*texts, "", ""], wanted, strict=False)))
            for code, texts in group["codes"].items()
        }
    return sections


def rules(root: Path = ROOT) -> dict[str, list[str]]:
    """Links to the rules of the specification, by code."""
    found: dict[str, list[str]] = {}
    for page in sorted((root / "spec").glob("*.md")):
        for rule, code in RULE.findall(page.read_text()):
            found.setdefault(code, []).append(f"[{rule}](../spec/{page.name})")
    return found


def fault(codes: list[Code], sections: dict[str, dict[str, Explanation]]) -> str:
    """What is wrong between catalogue and explanations, in one sentence; empty if they match."""
    ours = {code.id: code.section for code in codes}
    theirs = {code: section for section, group in sections.items() for code in group}
    for code in ours.keys() | theirs.keys():
        if ours.get(code) != theirs.get(code):
            return f"{code} is in section {ours.get(code)!r} of the catalogue, and in {theirs.get(code)!r} of errors.toml"
    return ""


def item(code: Code, why: Explanation, links: list[str]) -> str:
    about = ", ".join([code.kind, *links])
    return (f"### `{code.id}`\n\n{why.meaning} ({about})\n\n"
            f"- **Cause:** {why.cause}\n- **Remedy:** {why.remedy}\n")  # fmt: skip


def page() -> str:
    codes, sections, links = catalogue(CATALOGUE.read_text()), explanations(EXPLANATIONS.read_text()), rules()
    if wrong := fault(codes, sections):
        sys.exit(f"error_page.py: {wrong}")
    text = []
    for section, group in sections.items():
        text.append(f"## {section}\n")
        text += [item(code, group[code.id], links.get(code.id, [])) for code in codes if code.section == section]
    return "\n".join(text)


if __name__ == "__main__":
    print(page())

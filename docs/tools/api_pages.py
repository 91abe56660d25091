"""Makes the reference of the C++ and the C headers as Markdown: what a header says at its top, then its declarations with
their comments. Private members, details and the bodies of templates are left out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include/onnxar"
C_HEADER = "onnxar_c.h"
SECTION = re.compile(r"/[/*] --- (.*?) -+(?: \*/)?$")
PREPROCESSED = re.compile(r"#(?!include .*\.inc|define ONNXAR_\w+ +[^\s\[\\\\])|extern \"C\"|namespace (?!detail)|\} *// namespace|.*NOLINT")
REMARK = re.compile(r"\s*(?://[^\n]*|/\*(?:(?!\*/).)*\*/)$")
TYPE = re.compile(r"(?:template .*\n)?\s*(?:typedef )?(?:class|struct|enum|union|concept)\b")



def top(header: Path) -> str:
    """The comment at the head of a header, as Markdown; a line that is indented there begins a block of code."""
    lines: list[str] = []
    for line in header.read_text().splitlines():
        if not line.startswith(("//", "/*", " *")):
            break
        text = re.sub(r"^(// ?|/\* ?| \*/? ?)", "", line)
        text = re.sub(r"^(?=.{9} \S)([A-Z][A-Za-z ]*?) {2,}(\S.*)$", r"- **\1**: \2", text)  # a word, and what it means
        lines.append(re.sub(r"^ {10,}(?=\S)", "  ", text) if lines and lines[-1].startswith(("- ", "  ")) else text)
    return re.sub(r"((?:^ {2,}\S.*\n|\n(?= {2,}\S))+)", fenced, "\n".join(lines) + "\n", flags=re.MULTILINE)


def fenced(found: re.Match[str]) -> str:
    """Lines of code, which follow an empty line, as a block; continued lines of a list as they are."""
    code = found[1].strip("\n")
    if found.string[found.start() - 1 : found.start() + 1] != "\n\n":
        return found[1]
    return "\n```cpp\n" + "\n".join(line[2:] for line in code.splitlines()) + "\n```\n"


class Declarations:
    """Collects a header line by line: comments wait for the statement that they belong to."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.parts: list[str] = []
        self.block: list[str] = []
        self.waiting: list[str] = []  # a comment, and the lines of a statement that is not complete
        self.skip = ""  # the line that ends what is left out

    def heading(self, text: str) -> None:
        self.end_block()
        self.parts.append(f"### {text}\n")

    def end_block(self) -> None:
        code = re.sub(r"\n+(?=\n(?:\n|\};))", "", "\n".join(self.block)).strip("\n")
        self.parts += [f"```{self.language}\n{code}\n```\n"] if code else []
        self.block = []

    def line(self, line: str) -> None:
        if self.skip:
            self.skip = "" if line.startswith(self.skip) else self.skip
        elif line == "#ifdef __cplusplus":
            self.skip = "#endif"
        elif found := SECTION.match(line):
            self.heading(found[1])
        elif PREPROCESSED.match(line):
            self.skip = "#" if line.endswith("\\") else ""
        elif line == "namespace detail {":
            self.skip = "}  // namespace detail"
        elif line.strip() == "private:":
            self.block.append("};")
            self.skip = "};"
        else:
            self.waiting.append(line)
            code = REMARK.sub("", line)
            comment = line.lstrip().startswith(("//", "/*", "*"))
            if not line or (not comment and code.endswith((";", "{", "}", ",", ":")) and self.is_balanced()):
                self.statement()

    def is_balanced(self) -> bool:
        code = "".join(REMARK.sub("", line) for line in self.waiting if not line.lstrip().startswith(("/", "*")))
        return code.count("(") == code.count(")")

    def statement(self) -> None:
        lines, self.waiting = self.waiting, []
        code = "\n".join(line for line in lines if not line.lstrip().startswith(("/", "*")))
        if code.endswith("= delete;") or re.fullmatch(r"class \w+;", code):
            return
        if found := re.search(r"^class (\w+)[^\n;]*\{$", code, re.MULTILINE):
            self.heading(found[1])
        if code.endswith("{") and "(" in code and not TYPE.match(code):
            lines[-1] = lines[-1].removesuffix(" {") + ";"
            self.skip = code[: len(code) - len(code.lstrip())] + "}"
        self.block += lines


def declarations(text: str, language: str) -> str:
    """What follows the comment at the head, in blocks of code, with a heading for each section and each class."""
    text = re.sub(r"^namespace detail \{\n(?:[^{}]*;\n)*\}\n", "", text, flags=re.MULTILINE)  # names a type that is private
    found = Declarations(language)
    for line in text[text.index("\n#") + 1 :].splitlines():
        found.line(line)
    found.end_block()
    return "\n".join(found.parts)


def section(header: Path, language: str) -> str:
    name = header.relative_to(INCLUDE).as_posix()
    return f"## {name}\n\n{top(header)}\n{declarations(header.read_text(), language)}"


def cpp() -> str:
    headers = [path for path in sorted(INCLUDE.rglob("*.h")) if path.name != C_HEADER]
    return "\n".join(section(header, "cpp") for header in headers)


def c() -> str:
    return section(INCLUDE / C_HEADER, "c")

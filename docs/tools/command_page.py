"""Makes the page "Command line" of the manual page, which the tool prints from the tree that parses its arguments and
prints `--help`. Understands the macros that tools/onnxar/shell/manual_page.cc writes, and refuses others.

Usage: command_page.py ONNXAR, which prints the page
"""

from __future__ import annotations

import re
import subprocess
import sys

ESCAPES = {"\\-": "-", "\\(aq": "'", "\\(ga": "`", "\\(dq": '"', "\\(ha": "^", "\\(ti": "~", "\\e": "\\", "\\&": ""}
ESCAPE = re.compile("|".join(map(re.escape, ESCAPES)))
BOLD, ITALIC, PLAIN = "\\fB", "\\fI", "\\fR"
MARKUP = re.compile(r"([*_<>\[\]|])")
IGNORED = (".nh", ".ad", ".RS", ".RE", '.\\"', ".TH")
LEFT_OUT = {"NAME", "SYNOPSIS"}


def plain(text: str) -> str:
    for style in (BOLD, ITALIC, PLAIN):
        text = text.replace(style, "")
    return ESCAPE.sub(lambda found: ESCAPES[found[0]], text)


def prose(text: str) -> str:
    """Markdown of a sentence: what the page quotes as code stays code, the rest has no markup."""
    parts = plain(text).split("`")
    return "`".join(part if i % 2 else MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts))


class Page:
    """Collects Markdown, one macro after another."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.state = ""  # how the next line of text is meant
        self.section = ""

    def macro(self, name: str, rest: str) -> None:
        if name == ".SH":
            self.section = plain(rest)
            self.heading(f"## {self.section.capitalize()}")
        elif name == ".SS":
            self.heading(f"### {plain(rest)}")
            self.state = "usage"
        elif name in {".TP", ".PP", ".br", ".EX", ".EE"}:
            self.lines += {".EX": ["", "```console"], ".EE": ["```", ""], ".PP": [""]}.get(name, [])
            self.state = {".TP": "term", ".EX": "code", ".br": "break"}.get(name, "")
        elif not name.startswith(IGNORED):
            sys.exit(f"command_page.py: the macro {name} of the manual page is not known")

    def heading(self, text: str) -> None:
        if self.section not in LEFT_OUT:
            self.lines += ["", text, ""]

    def text(self, line: str) -> None:
        if self.section in LEFT_OUT:
            return
        if self.state == "usage":
            self.lines += ["```text", plain(line), "```"]
        elif self.state == "code":
            self.lines.append(f"$ {plain(line)}")
            return
        elif self.state == "term":
            self.lines += ["", f"- `{plain(line)}`<br>"]
        elif self.state == "item":
            self.lines.append(f"  {prose(line)}")
        else:
            self.lines[-1:] = [self.lines[-1] + ("  " if self.state == "break" else ""), prose(line)]
        self.state = "item" if self.state in {"term", "item"} else ""


def markdown(manual: str) -> str:
    page = Page()
    for line in manual.splitlines():
        name, _, rest = line.partition(" ")
        page.macro(name, rest) if line.startswith(".") else page.text(line)
    return "\n".join(page.lines)


def page(tool: str) -> str:
    return markdown(subprocess.run([tool, "man"], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    print(page(sys.argv[1]))

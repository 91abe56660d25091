"""Makes the reference of the C++ and the C headers: what a header says at its top, then what Doxygen and Breathe make of
the rest. Also the filter through which Doxygen reads the headers: plain comments of C become Doxygen's.

Usage: api_pages.py HEADER, which prints the header for Doxygen
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include/onnxar"
C_HEADER = "onnxar_c.h"
CONFIGURATION = """\
INPUT = {include}
FILE_PATTERNS = *.h
RECURSIVE = YES
INPUT_FILTER = "{python} {script}"
INCLUDE_PATH = {include}/..
STRIP_FROM_PATH = {include}
PREDEFINED = ONNXAR_API= __cplusplus=202002L
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
EXTRACT_ALL = YES
TYPEDEF_HIDES_STRUCT = YES
HIDE_FRIEND_COMPOUNDS = YES
EXCLUDE_SYMBOLS = detail detail::* schema schema::*
AUTOLINK_SUPPORT = NO
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
OUTPUT_DIRECTORY = {out}
QUIET = YES
WARN_AS_ERROR = YES
WARN_IF_UNDOCUMENTED = NO
"""


def configuration(out: Path) -> str:
    return CONFIGURATION.format(include=INCLUDE, python=sys.executable, script=Path(__file__).resolve(), out=out)


def for_doxygen(text: str) -> str:
    """Namespaces are left out, since Breathe lists what is directly in a file: the pages say in which one the names are."""
    text = re.sub(r"^namespace [\w ]*onnxar(::ort)? \{\n|^\} *// namespace [\w ]*onnxar(::ort)?\n", "\n", text, flags=re.MULTILINE)
    return commented(text) if "#define ONNXAR_C_ABI 1" in text else text


def commented(text: str) -> str:
    """C's comments above a declaration and after a member become Doxygen's; those of a section and of the head do not."""
    head, mark, rest = text.partition("#define ONNXAR_C_ABI 1")
    rest, end, tail = rest.partition("/* NOLINTEND")
    rest = re.sub(r"^/\* (?!---|NOLINT|Checks of)", "/** ", rest, flags=re.MULTILINE)
    rest = re.sub(r"(?<=[;,}\w]) +/\* (?=[^\n]*\*/$)", " /**< ", rest, flags=re.MULTILINE)
    return head + mark + rest + end + tail


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


def section(header: Path) -> str:
    name = header.relative_to(INCLUDE).as_posix()
    return f"## {name}\n\n{top(header)}\n```{{doxygenfile}} {header.name}\n:project: onnxar\n:sections: define enum typedef var func innerclass public-attrib public-func public-static-func public-type briefdescription detaileddescription\n```\n"


def cpp() -> str:
    headers = [path for path in sorted(INCLUDE.rglob("*.h")) if path.name != C_HEADER]
    return "\n".join(section(header) for header in headers)


def c() -> str:
    return section(INCLUDE / C_HEADER)


if __name__ == "__main__":
    print(for_doxygen(Path(sys.argv[1]).read_text()), end="")

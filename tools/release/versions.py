"""Reads the version of the library, and checks that all files that state it agree. CMake and the Python package read it
from version.h.

Usage: python versions.py prints the version; python versions.py TAG also compares the tag with it
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Other places with the version: a file, and a pattern whose groups are parts of the version.
STATED = (
    ("CHANGELOG.md", r"(?m)^## \[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d$"),
    ("include/onnxar/version.h", r'/// "(\d+)\.(\d+)\.(\d+)"'),
    ("include/onnxar/onnxar_c.h", r'the version at run time, as "(\d+)\.(\d+)\.(\d+)"'),
    ("docs/install.md", r"SOURCE_DIR}/onnxar-(\d+)\.(\d+)\.(\d+)\.tar"),
    ("docs/abi.md", r"`libonnxar_core\.so\.(\d+)\.(\d+)`"),
    ("docs/abi.md", r"`libonnxar_model\.so\.(\d+)\.(\d+)`"),
    ("tests/install/CMakeLists.txt", r"find_package\(onnxar (\d+)\.(\d+) "),
    ("tests/install/c/CMakeLists.txt", r"find_package\(onnxar (\d+)\.(\d+) "),
    ("reader/java/pom.xml", r"<artifactId>onnxar</artifactId>\s*<version>(\d+)\.(\d+)\.(\d+)<"),
    ("reader/rust/Cargo.toml", r'(?m)^version = "(\d+)\.(\d+)\.(\d+)"'),
    ("js/package.json", r'"version": "(\d+)\.(\d+)\.(\d+)"'),
    ("js/package-lock.json", r'"version": "(\d+)\.(\d+)\.(\d+)"'),
)
# The version of the format is separate. The specification states it, and every other place agrees.
PARTS = ("onnx-archive", "background", "checking", "editing", "graphs", "links", "loading", "other-zips")
FORMAT = (*((f"spec/{part}.md", r"(?m)^Version (\d+)\.(\d+),") for part in PARTS),
          ("README.md", r"the \[format\]\(spec/README\.md\), version (\d+)\.(\d+),"))  # fmt: skip


def first(file: str, pattern: str, root: Path) -> tuple[str, ...]:
    """Returns the groups of the first match; empty if there is none."""
    found = re.search(pattern, (root / file).read_text(encoding="utf-8"))
    return found.groups() if found else ()


def library_version(root: Path = ROOT) -> str:
    pattern = r"(?s)_MAJOR (\d+).*?_MINOR (\d+).*?_PATCH (\d+)"
    return ".".join(first("include/onnxar/version.h", pattern, root))


def faults(root: Path = ROOT) -> list[str]:
    """Returns the places that disagree, as lines of text."""
    parts = tuple(library_version(root).split("."))
    found = []
    for file, pattern in STATED:
        stated = first(file, pattern, root)
        if not stated or stated != parts[: len(stated)]:
            found.append(f"{file}: {'.'.join(stated) or 'no version'} where version.h says {'.'.join(parts)} ({pattern})")
    formats = {file: ".".join(first(file, pattern, root)) for file, pattern in FORMAT}
    if len(set(formats.values())) != 1:
        found.append(f"the version of the format differs: {formats}")
    return found


def notes(root: Path = ROOT) -> str:
    """Returns the part of CHANGELOG.md about this version, without its heading."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    begin = re.search(rf"(?m)^## \[{re.escape(library_version(root))}\].*\n", text)
    if not begin:
        sys.exit(f"versions.py: CHANGELOG.md has no part about {library_version(root)}")
    rest = text[begin.end() :]
    end = re.search(r"(?m)^## \[", rest)
    return rest[: end.start()].strip() + "\n" if end else rest.strip() + "\n"


def main() -> None:
    wrong = faults()
    if len(sys.argv) > 1 and sys.argv[1] != f"v{library_version()}":
        wrong.append(f"the tag is {sys.argv[1]}, expected v{library_version()}")
    if wrong:
        sys.exit("versions.py: " + "\n".join(wrong))
    print(library_version())


if __name__ == "__main__":
    main()

"""Sphinx's configuration. `./dev docs` gathers the documents in build/docs/source first (tools/assemble.py)."""

import re
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "include/onnxar/version.h"

project = "onnxar"
copyright = "the authors of onnxar. Apache-2.0"  # noqa: A001 Sphinx's name
version = release = ".".join(re.findall(r"define ONNXAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", HEADER.read_text()))
root_doc = "docs/index"

extensions = ["myst_parser"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"onnxar {release}"

suppress_warnings = [
    "myst.header",  # descriptions of upstream/ have the headings of their projects' templates
    "misc.highlighting_failure",  # the dump in spec/writing.md has remarks beside the bytes
]
linkcheck_ignore = [r".*/pull/0000$"]  # the number that a proposal to ONNX gets when it is made

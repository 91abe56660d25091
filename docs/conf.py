"""Sphinx's configuration. `./dev docs` gathers the documents in build/docs/source first (tools/assemble.py)."""

import re
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "include/onnxar/version.h"

project = "onnxar"
copyright = "the authors of onnxar. Apache-2.0"
version = release = ".".join(re.findall(r"define ONNXAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", HEADER.read_text()))
root_doc = "docs/index"

extensions = ["myst_parser"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"onnxar {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # a page that was opened from a folder cannot fetch the summaries
templates_path = ["templates"]
# Furo's own, and the list of versions.
html_sidebars = {"**": [f"sidebar/{name}.html" for name in ("brand", "search", "versions", "scroll-start", "navigation", "scroll-end")]}

suppress_warnings = [
    "myst.header",  # descriptions of upstream/ have the headings of their projects' templates
    "misc.highlighting_failure",  # the dump in spec/writing.md has remarks beside the bytes
]
linkcheck_ignore = [r".*/pull/0000$"]  # the number that a proposal to ONNX gets when it is made

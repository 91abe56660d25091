"""Sphinx's configuration. `./dev docs` gathers the documents in build/docs/source first (tools/assemble.py)."""

import onnxar

project = "onnxar"
copyright = "the authors of onnxar. Apache-2.0"  # noqa: A001 Sphinx's name
version = release = onnxar.__version__
root_doc = "docs/index"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_mock_imports = ["onnx", "onnx_ir", "onnxruntime", "ml_dtypes", "torch"]
default_role = "code"  # docstrings quote code with single backticks

html_theme = "furo"
html_title = f"onnxar {release}"

suppress_warnings = [
    "myst.header",  # descriptions of upstream/ have the headings of their projects' templates
    "misc.highlighting_failure",  # the dump in spec/writing.md has remarks beside the bytes
]
linkcheck_ignore = [r".*/pull/0000$"]  # the number that a proposal to ONNX gets when it is made

"""Sphinx's configuration. `./dev docs` gathers the documents in build/docs/source first (tools/assemble.py)."""

from pathlib import Path

import onnxar

project = "onnxar"
copyright = "the authors of onnxar. Apache-2.0"  # noqa: A001 Sphinx's name
version = release = onnxar.__version__
root_doc = "docs/index"
exclude_patterns = ["docs/generated/**"]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
breathe_projects = {"onnxar": str(Path(__file__).resolve().parents[1] / "build/docs/doxygen/xml")}
breathe_default_project = "onnxar"
breathe_domain_by_file_pattern = {"*_c.h": "c"}
c_id_attributes = cpp_id_attributes = ["ONNXAR_API"]

autodoc_typehints = "signature"
autodoc_mock_imports = ["onnx", "onnx_ir", "onnxruntime", "ml_dtypes", "torch"]
default_role = "code"  # docstrings quote code with single backticks

html_theme = "furo"
html_title = f"onnxar {release}"

suppress_warnings = [
    "misc.highlighting_failure",  # the dump in spec/writing.md has remarks beside the bytes
]
linkcheck_ignore = [r".*/pull/0000$"]  # the number that a proposal to ONNX gets when it is made

"""The documents without running their blocks: links lead somewhere, and the pages that programs make are complete.

Usage: ONNXAR=onnxar PYTHONPATH=tests pages_test.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree as ET
from pathlib import Path

from support.command_line import FolderCase

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs/tools"), str(ROOT / "tools/release")]

import api_pages
import assemble
import command_page
import error_page
import pages
import public
import python_page
import site_versions

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SVG = "{http://www.w3.org/2000/svg}"


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    heads = re.findall(r"^#+ (.*)$", CODE.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links() -> list[tuple[Path, str]]:
    return [
        (page, found[1])
        for page in (ROOT / each for each in assemble.pages())
        for found in re.finditer(r"\[[^\]]*\]\(([^)\s]+)\)", CODE.sub("", page.read_text()))
        if not re.match(r"[a-z]+:", found[1])
    ]


class Links(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading(self) -> None:
        self.assertGreater(len(links()), 100)
        for page, target in links():
            name, _, anchor = target.partition("#")
            path = page.parent / name if name else page
            with self.subTest(page=str(page.relative_to(ROOT)), target=target):
                self.assertTrue(path.exists())
                if anchor:
                    self.assertIn(anchor, anchors(path))

    def test_readme_has_at_most_70_lines(self) -> None:
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 70)


    def test_index_lists_every_page(self) -> None:
        listed = set(re.findall(r"^- \[.*\]\((.*)\)$", (ROOT / "docs/index.md").read_text(), re.MULTILINE))
        for page in assemble.pages():
            name = os.path.relpath(page, "docs")
            if name != "index.md":
                self.assertIn(name, listed)


class Site(FolderCase):
    def test_first_page_has_the_viewer_above_the_lists(self) -> None:
        tree = assemble.Tree(self.folder)
        tree.write_index()
        text = (tree.source / "docs/index.md").read_text()
        self.assertEqual(text.count("<iframe"), 1)
        self.assertLess(text.index("ready to be mapped"), text.index("<iframe"))
        self.assertLess(text.index("<iframe"), text.index("{toctree}"))

    def test_links_to_the_demo_lead_to_the_viewer(self) -> None:
        tree = assemble.Tree(self.folder)
        for page in tree.pages:
            tree.add(page)
        self.assertIn('<a href="../viewer/index.html">', (tree.source / "js/README.md").read_text())
        self.assertEqual(list(tree.source.rglob("*.html")), [])  # what they need would not be beside them

    def test_no_page_shows_badges_from_the_network(self) -> None:
        self.write("tree/README.md", f"# a\n{public.BADGES}\n\n![a picture](a.png)\n".encode())
        self.write("tree/a.png", b"")
        with unittest.mock.patch.object(assemble, "ROOT", self.folder / "tree"):
            tree = assemble.Tree(self.folder)
            tree.add(Path("README.md"))
        self.assertEqual((tree.source / "README.md").read_text(), "# a\n\n![a picture](a.png)\n")

    def test_site_begins_with_its_newest_version(self) -> None:
        for name in ("1.9.0", "1.10.0", "1.2.10", "shots"):
            self.write(f"{name}/docs/index.html", b"")
        self.write("2.0.0/viewer/index.html", b"")
        site_versions.write(self.folder)
        self.assertIn("url=1.10.0/docs/index.html", (self.folder / "index.html").read_text())
        links = re.findall(r'href="(.*)/docs/index.html"', (self.folder / "versions.html").read_text())
        self.assertEqual(links, ["1.10.0", "1.9.0", "1.2.10"])


class Errors(unittest.TestCase):
    def test_every_code_is_explained_in_its_section(self) -> None:
        codes = error_page.catalogue(error_page.CATALOGUE.read_text())
        self.assertEqual(len(codes), error_page.CATALOGUE.read_text().count("\nONNXAR_CODE("))
        self.assertEqual(error_page.fault(codes, error_page.explanations(error_page.EXPLANATIONS.read_text())), "")

    def test_page_explains_each_code(self) -> None:
        page = error_page.page()
        for code in error_page.catalogue(error_page.CATALOGUE.read_text()):
            wanted = rf"(?m)^### `{re.escape(code.id)}`\n\n\S.* \({code.kind}\b.*\)\n\n- \*\*Cause:\*\* \S.*\n- \*\*Remedy:\*\* \S.*$"
            self.assertRegex(page, wanted)

    def test_missing_or_misplaced_code_is_a_fault(self) -> None:
        codes = error_page.catalogue(error_page.CATALOGUE.read_text())
        sections = error_page.explanations(error_page.EXPLANATIONS.read_text())
        self.assertIn("zip.data.crc", error_page.fault([code for code in codes if code.id != "zip.data.crc"], sections))
        del sections["ONNX"]["onnx.graph.cycle"]
        self.assertIn("onnx.graph.cycle", error_page.fault(codes, sections))


class CommandLine(unittest.TestCase):
    def test_page_has_every_verb_and_option_of_the_help(self) -> None:
        tool = os.environ["ONNXAR"]
        page = command_page.page(tool)
        verbs = re.findall(r"^### (\w+)$", page, re.MULTILINE)
        self.assertGreater(len(verbs), 15)
        for verb in verbs:
            text = subprocess.run([tool, verb, "--help"], capture_output=True, text=True, check=True).stdout
            part = page.split(f"\n### {verb}\n")[1].split("\n### ")[0]
            for option in re.findall(r"^\s+(?:-\w,)?(--[\w-]+)", text, re.MULTILINE):
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(part, rf"(?m)^- `[^`]*{option}\b")


class Generated(unittest.TestCase):
    def test_pages_of_the_tree_are_those_of_the_sources(self) -> None:
        verbs = subprocess.run([os.environ["ONNXAR"], "--help"], capture_output=True, text=True, check=True).stdout
        if not re.search(r"^  freeze", verbs, re.MULTILINE) or not re.search(r"^  get", verbs, re.MULTILINE):
            self.skipTest("this build of the command lacks verbs")
        for path, wanted in pages.generated(os.environ["ONNXAR"]):
            with self.subTest(path.name):
                self.assertEqual(path.read_text(), wanted, f"{path.name} is not what its sources say now: run ./dev docs, or docs/tools/pages.py")


class Reference(unittest.TestCase):
    def test_every_function_of_c_is_on_its_page(self) -> None:
        names = re.findall(r"^\S.*\b(onnxar_\w+)\(", (api_pages.INCLUDE / api_pages.C_HEADER).read_text(), re.MULTILINE)
        self.assertGreater(len(names), 50)
        for name in names:
            self.assertRegex(api_pages.c(), rf"\b{name}\(")

    def test_every_header_is_in_the_reference(self) -> None:
        text = api_pages.cpp() + api_pages.c()
        for header in api_pages.INCLUDE.rglob("*.h"):
            self.assertIn(f"\n## {header.relative_to(api_pages.INCLUDE)}\n", f"\n{text}")

    def test_every_public_function_of_archive_is_listed(self) -> None:
        text = api_pages.section(api_pages.INCLUDE / "archive.h", "cpp")
        for name in ("open", "entries", "find", "locate", "bytes", "prefetch", "copy", "verify", "resolve", "owner", "is_archive"):
            self.assertRegex(text, rf"[ &]{name}\(")
        for hidden in ("private:", "= delete", "parts_", "namespace", "EntryIterator("):
            self.assertNotIn(hidden, text)

    def test_bodies_and_comments_follow_their_declarations(self) -> None:
        code = ["/// A.", "class A {", " public:", "  /// F.", "  int f(int a,", "        int b) {", "    return a;", "  }"]
        hidden = ["  void g() = delete;", "", " private:", "  int x;", "};", ""]
        text = api_pages.declarations("\n".join(["/* top */", "#pragma once", "class B;", *code, *hidden]), "cpp")
        self.assertEqual(text, "### A\n\n```cpp\n/// A.\nclass A {\n public:\n  /// F.\n  int f(int a,\n        int b);\n};\n```\n")


class PythonReference(unittest.TestCase):
    def test_every_public_name_is_on_the_page(self) -> None:
        page = python_page.page()
        names = [name for name, _ in python_page.exported()]
        self.assertGreater(len(names), 50)
        for name in names:
            self.assertIn(f"\n### {name}", page)
        for module in python_page.MODULES:
            self.assertIn(f"\n## onnxar.{module}\n", page)

    def test_only_stars_outside_code_are_escaped(self) -> None:
        self.assertEqual(python_page.plain("`io.*`; zip.*; io.*"), "`io.*`; zip.\\*; io.\\*")


class Pictures(unittest.TestCase):
    def test_pictures_have_titles_and_dark_colours(self) -> None:
        for name in ("format", "terminal"):
            with self.subTest(name):
                self.check_picture(ROOT / f"docs/{name}.svg")

    def check_picture(self, path: Path) -> None:
        root = ET.parse(path).getroot()
        named = {each.get("id") for each in root if each.tag in {f"{SVG}title", f"{SVG}desc"}}
        self.assertEqual((root.get("role"), set(root.get("aria-labelledby", "").split())), ("img", named))
        style = root.findtext(f"{SVG}style", "")
        light, dark = style.split("@media (prefers-color-scheme: dark)")
        rule = re.compile(r"\.([\w-]+) \{[^}]*#")
        self.assertEqual(set(rule.findall(light)), set(rule.findall(dark)))


if __name__ == "__main__":
    unittest.main()

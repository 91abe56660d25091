"""The patches of upstream/ are well formed and carry what is elsewhere in this project, and limits of their texts hold.

Usage: PYTHONPATH=tests upstream_test.py  (`./dev upstream` applies and tries them)
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
UPSTREAM = SOURCE / "upstream"
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
MOST_WORDS, MOST_LINES = 1750, 400


def hunks(patch: Path) -> list[tuple[re.Match[str], list[str]]]:
    """Each hunk's header, and as many lines as it says that it has."""
    lines, found = patch.read_text().split("\n"), []
    for i, line in enumerate(lines):
        if header := HUNK.match(line):
            old, new = int(header[2] or 1), int(header[4] or 1)
            body: list[str] = []
            for each in lines[i + 1 :]:
                if old <= 0 and new <= 0:
                    break
                body.append(each)
                old -= each[:1] in (" ", "-")
                new -= each[:1] in (" ", "+")
            found.append((header, body))
    return found


def added_file(patch: Path, name: str) -> str:
    (_, _, text) = patch.read_text().partition(f"\n+++ b/{name}\n")
    header, *lines = text.split("\n")
    count = int(HUNK.match(header)[4])  # type: ignore[index]
    return "".join(line[1:] + "\n" for line in lines[:count])


def changes(patch: Path, name: str) -> list[str]:
    """The lines that a patch takes from a file and adds to it."""
    (found,) = (part for part in re.split(r"(?m)^diff --git ", patch.read_text())[1:] if part.split(" ", 1)[0].endswith(f"/{name}"))
    return [line for line in found.split("\n") if re.match(r"[-+](?!\+\+|--)", line)]


class Patches(unittest.TestCase):
    def test_each_project_has_patches_and_a_description(self) -> None:
        self.assertEqual({each.name for each in UPSTREAM.iterdir()}, {"onnx", "onnx_checker", "onnx_ir", "netron", "huggingface_js", "onnxruntime"})
        for folder in UPSTREAM.iterdir():
            names = {each.name for each in folder.iterdir()} - {"screenshot.png", "results.md", "1.21"}
            self.assertIn("description.md", names)
            self.assertTrue(all(re.fullmatch(r"000[1-9]-.*\.patch", name) for name in names - {"description.md"}), names)
            self.assertGreater(len(names), 1)

    def test_hunks_have_the_lines_that_headers_announce(self) -> None:
        seen = 0
        for patch in UPSTREAM.rglob("*.patch"):
            for header, body in hunks(patch):
                with self.subTest(f"{patch.name} {header[0]}"):
                    self.assertFalse([line for line in body if line[:1] not in (" ", "-", "+", "\\")])
                    self.assertEqual(sum(line[:1] in (" ", "-") for line in body), int(header[2] or 1))
                    self.assertEqual(sum(line[:1] in (" ", "+") for line in body), int(header[4] or 1))
                    seen += 1
        self.assertGreaterEqual(seen, 30)

    def test_patches_are_not_signed_off(self) -> None:
        for patch in UPSTREAM.rglob("*.patch"):
            self.assertNotIn("Signed-off-by", patch.read_text(), patch)

    def test_patches_for_onnx_hold_module_and_reader(self) -> None:
        (python,) = (UPSTREAM / "onnx").glob("*.patch")
        reader, _ = sorted((UPSTREAM / "onnx_checker").glob("*.patch"))
        for name in ("archive.py", "archive_tensors.py"):
            module = (SOURCE / "spec" / "rfc" / f"onnx_{name}").read_text()
            self.assertEqual(added_file(python, f"onnx/{name}"), module.replace("\nfrom onnx_archive", "\nfrom onnx.archive"))
            self.assertLessEqual(module.count("\n"), MOST_LINES)
        self.assert_has_reader(reader, "onnx/common")

    def test_the_patch_for_onnx_runtime_carries_the_reader(self) -> None:
        (reader,) = (UPSTREAM / "onnxruntime").glob("0001-*.patch")
        self.assert_has_reader(reader, "onnxruntime/core/graph")

    def test_the_patch_for_huggingface_js_carries_metadata(self) -> None:
        (vendored,) = (UPSTREAM / "huggingface_js").glob("0001-*.patch")
        folder = "packages/hub/src/vendor/onnxar"
        names = set(re.findall(rf"(?m)^\+\+\+ b/{folder}/(.*)$", vendored.read_text()))
        self.assertLessEqual({"metadata.ts", "outline.ts", "LICENSE"}, names)
        for name in names - {"error.ts"}:  # only has the type that the others import
            source = SOURCE / (name if name == "LICENSE" else f"js/src/{name}")
            self.assertEqual(added_file(vendored, f"{folder}/{name}"), source.read_text(), name)

    def assert_has_reader(self, patch: Path, folder: str) -> None:
        for name in ("onnxar_reader.h", "onnxar_reader.c"):
            self.assertEqual(added_file(patch, f"{folder}/{name}"), (SOURCE / "reader" / name).read_text())

    def test_both_onnx_runtime_series_make_the_same_change(self) -> None:
        main, release = (UPSTREAM / "onnxruntime" / place / "0002-Load-ONNX-archives.patch" for place in ("", "1.21"))
        for name in ("model.cc", "model.h", "inference_session.cc", "onnxruntime_session_options_config_keys.h"):
            with self.subTest(name):
                self.assertTrue(changes(main, name))
                self.assertEqual(changes(main, name), changes(release, name))

    def test_the_releases_are_those_that_the_texts_name(self) -> None:
        releases = re.search(r"^RELEASES = (.*)$", (SOURCE / "tests/interop/readers/patches/run.py").read_text(), re.MULTILINE)
        page = (SOURCE / "docs" / "upstream.md").read_text()
        for folder, version in re.findall(r'"(\w+)": "@?[\w/-]+(?:==|@)([0-9.]+)"', releases[1]):  # type: ignore[index]
            self.assertIn(f"upstream/{folder}/description.md) {version}|", page)
            self.assertIn(f" {version} (the ", (UPSTREAM / folder / "description.md").read_text())

    def test_the_proposal_is_short(self) -> None:
        self.assertLessEqual(len((SOURCE / "spec" / "rfc" / "proposal.md").read_text().split()), MOST_WORDS)


if __name__ == "__main__":
    unittest.main()

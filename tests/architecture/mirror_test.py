"""tests/ mirrors src/: each NAME.cc, and each header that alone defines functions, has a test NAME_test.* or NAME_ASPECT_test.*, or a row here."""

import re
import unittest
from pathlib import PurePosixPath

from includes_test import ROOT, sources

# source: (the test that proves it, what the test calls). The call is one that the source defines, or one of a file that includes its header.
PROVED_BY = {
    "src/base/block_hash.cc": ("tests/base/sha1_test.cc", "Sha1"),
    "src/c/options.cc": ("tests/c/verbs.c", "onnxar_options"),
    "src/convert/archive_source.cc": ("tests/convert/open_test.cc", "open_source"),
    "src/convert/entry_payloads.cc": ("tests/convert/open_test.cc", "FileSource"),
    "src/inspect/file_map.cc": ("tests/inspect/inspect_test.cc", "FileMap"),
    "src/runtime/copied_archive.cc": ("tests/runtime/link_states_test.cc", "link_for_hub"),
    "src/runtime/linking.cc": ("tests/runtime/link_test.cc", "make_link"),
    "src/zip/format.h": ("tests/zip/foreign_headers_test.cc", "zip_entry_version"),
}

# Tests that are named after no source: the reason.
WIDER = {
    "model/typed_data_oracle": "compares src/onnx/typed_data.cc with protobuf, which only the rooms from model on have",
    "model/wire_oracle": "compares all of src/onnx with protobuf",
}

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
FUNCTION = re.compile(r"\)(?: const)?(?: noexcept)?(?: override)? \{")


def key(path):
    """Returns (room, name) of a file: src/os/posix/file.cc and src/os/file.h are both ("os", "file")."""
    return PurePosixPath(path).parts[1], PurePosixPath(path).stem


def subject(room, test, keys):
    """Returns the key with the longest name that the name of a test begins with; None if there is none."""
    words = test.split("_")
    return next(((room, name) for n in range(len(words), 0, -1) if (room, name := "_".join(words[:n])) in keys), None)


def subjects(files, tests):
    keys = {key(path) for path in files}
    return {subject(room, name, keys) for room, name in tests}


def mentions(text, call):
    return re.search(rf"\b{re.escape(call)}\b", text) is not None


def untested(files, tests, rows):
    """Returns the files with code that have neither a test of their name nor a row: sources, and headers that alone define functions."""
    named, defined = subjects(files, tests), {key(path) for path in files if path.endswith(".cc")}
    has_code = {path for path, text in files.items() if path.endswith(".cc") or (key(path) not in defined and FUNCTION.search(text))}
    return sorted(path for path in has_code if key(path) not in named and path not in rows)


def leads(path, call, files):
    """True if the file, its header or a file that includes this header mentions the call."""
    header = path.rpartition(".")[0].removeprefix("src/") + ".h"
    return any(mentions(text, call) for other, text in files.items() if other in (path, f"src/{header}") or header in INCLUDE.findall(text))


def wrong_rows(files, tests, rows, text_of):
    """Returns a sentence for each row that is wrong or not needed. `text_of` returns the text of a test; None if there is no such file."""
    named, found = subjects(files, tests), []
    for path, (test, call) in rows.items():
        text = text_of(test)
        if path not in files:
            found.append(f"{path} does not exist")
        elif key(path) in named:
            found.append(f"{path} has a test of its name and needs no row")
        elif text is None:
            found.append(f"{test} does not exist")
        elif not mentions(text, call):
            found.append(f"{test} does not mention {call}")
        elif not leads(path, call, files):
            found.append(f"{call} does not lead to {path}")
    return found


def without_subject(files, tests, public, wider):
    """Returns the tests that are named after no file of their room, no public header and no row of `wider`, and the rows that are not needed."""
    keys = {key(path) for path in files}
    return sorted({f"{room}/{name}" for room, name in tests if subject(room, name, keys) is None and name not in public} ^ wider.keys())


def read_test(path):
    return (ROOT / path).read_text() if (ROOT / path).is_file() else None


class Mirror(unittest.TestCase):
    def setUp(self):
        self.files = {path: text for path, text in sources("src").items() if path.count("/") > 1}
        rooms = {key(path)[0] for path in self.files}
        self.units = {(path.parent.name, path.stem.removesuffix("_test")) for path in ROOT.glob("tests/*/*_test.cc") if path.parent.name in rooms}
        # Servers and the C interface have tests in Python; tests/c/NAME.c is the part of the C program that calls src/c/NAME.cc.
        more = (*ROOT.glob("tests/*/*_test.py"), *ROOT.glob("tests/c/*.c"))
        self.tests = self.units | {(path.parent.name, path.stem.removesuffix("_test")) for path in more}

    def test_every_source_has_a_test(self):
        self.assertGreater(len(self.files), 300)
        self.assertEqual(untested(self.files, self.tests, PROVED_BY), [])

    def test_rows_are_right_and_needed(self):
        self.assertEqual(wrong_rows(self.files, self.tests, PROVED_BY, read_test), [])

    def test_every_test_has_a_subject(self):
        public = {PurePosixPath(path).stem for path in sources("include")}
        self.assertEqual(without_subject(self.files, self.units, public, WIDER), [])


FILES = {
    "src/a/pair.cc": '#include "a/pair.h"\nint half() {\n',
    "src/a/pair.h": "int half();\n",
    "src/a/pair_of.cc": "",
    "src/a/user.cc": '#include "a/pair.h"\nint use() {\n',
    "src/a/inline.h": "inline int one() {\n",
    "src/a/plain.h": "struct Plain {\n",
}


class Faults(unittest.TestCase):
    def test_sources_and_inline_headers_need_a_test(self):
        self.assertEqual(untested(FILES, {("a", "user"), ("b", "pair")}, {"src/a/pair_of.cc": ()}), ["src/a/inline.h", "src/a/pair.cc"])

    def test_test_belongs_to_the_longest_name(self):
        tests = {("a", "pair_of_fields"), ("a", "user_posix"), ("a", "inline")}
        self.assertEqual(untested(FILES, tests, {}), ["src/a/pair.cc"])
        self.assertEqual(untested(FILES, tests | {("a", "pair_faults")}, {}), [])

    def test_wrong_rows_are_found(self):
        def wrong(path, test, call, tests=frozenset()):
            return wrong_rows(FILES, tests, {path: (test, call)}, {"tests/a/t": "use(half())"}.get)

        self.assertEqual(wrong("src/a/pair.cc", "tests/a/t", "half"), [])
        self.assertEqual(wrong("src/a/pair.cc", "tests/a/t", "use"), [], "a call of a file that includes the header")
        self.assertEqual(wrong("src/a/none.cc", "tests/a/t", "half"), ["src/a/none.cc does not exist"])
        self.assertEqual(wrong("src/a/pair.cc", "tests/a/none", "half"), ["tests/a/none does not exist"])
        self.assertEqual(wrong("src/a/pair.cc", "tests/a/t", "hal"), ["tests/a/t does not mention hal"])
        self.assertEqual(wrong("src/a/user.cc", "tests/a/t", "half"), ["half does not lead to src/a/user.cc"])
        self.assertEqual(wrong("src/a/pair.cc", "tests/a/t", "half", {("a", "pair")}), ["src/a/pair.cc has a test of its name and needs no row"])

    def test_tests_without_a_subject_are_found(self):
        tests = {("a", "plain_large"), ("a", "public"), ("a", "pairs"), ("a", "wide")}
        self.assertEqual(without_subject(FILES, tests, {"public"}, {"a/wide": "", "a/gone": ""}), ["a/gone", "a/pairs"])


if __name__ == "__main__":
    unittest.main()

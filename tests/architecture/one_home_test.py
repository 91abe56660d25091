"""Facts and texts that are written once, and error codes that are used according to their kind."""

import ast
import collections
import pathlib
import re
import unittest

from includes_test import ROOT, sources

CODE = re.compile(r'^ONNXAR_CODE\((\w+), "[a-z0-9_.]+", (\w+)\)', re.MULTILINE)
# The ways to throw a code: Error itself, and functions that take the code as an argument.
THROWN = re.compile(r"\b(?:Error|refuse\w*|fail\w*)\s*\(\s*Code::(\w+)")


class Codes(unittest.TestCase):
    def setUp(self):
        catalogue = (ROOT / "include/onnxar/error_codes.inc").read_text()
        self.kinds = dict(CODE.findall(catalogue))

    def test_no_remark_is_thrown(self):
        # A remark has no exit code, and the C interface would report it as a fault of the library.
        for path, text in sources("src", "tools", "python/src").items():
            for code in THROWN.findall(text):
                with self.subTest(path=path, code=code):
                    self.assertNotEqual(self.kinds[code], "remark")

    def test_what_is_thrown_is_seen(self):
        seen = {code for text in sources("src").values() for code in THROWN.findall(text)}
        self.assertGreater(len(seen), 50)
        self.assertIn("onnx_tensor_data_beside", seen)  # thrown by a function for this code alone


VERBS = "pack|unpack|ls|check|repack|replace|undo|recover|link|cat|show|dump|extract|freeze|diff|completion|man"
HINTS = "include/onnxar/error_hints.inc"
# What the words of a hint for C++, C, the command and Python may not name: it is another interface's.
OF_OTHERS = (r"--|`onnxar|=True", r"::|[A-Z]\w+Options|RenamedEntry|onnxar/\w+\.h|--|`onnxar (?!_)",
             r"::|[A-Z]\w+Options|onnxar\.|onnxar_|=True", r"::|[A-Z]\w+Options|--|`onnxar|onnxar_")  # fmt: skip


class Hints(unittest.TestCase):
    def test_each_interface_is_named_to_its_users_only(self):
        used = "".join(sources("src").values())
        rows = re.split(r"(?m)^ONNXAR_HINT\(", (ROOT / HINTS).read_text())[1:]
        self.assertGreater(len(rows), 30)
        for row in rows:
            name, words = row.partition(",")[0], re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", row))[1:]
            with self.subTest(hint=name):
                self.assertRegex(used, rf"\bHint::{name}\b")
                for word, wrong in zip(words, OF_OTHERS, strict=True):
                    self.assertNotRegex(word, wrong)


# A fact -> its spelling in the code, the folders to search, and the only file that may contain it.
HOMES = {
    "the default domain": (r'"ai\.onnx"', "src/onnx/operators.h"),
    "an empty domain is the default one": (r"\bdomain(?:\(\))?(?:\.empty\(\)| [!=]= \"\")", "src/onnx/operators.h"),
    "the fields with a tensor's data": (r"clear_double_data\(|double_data\(\)\.empty", "include/onnxar/resolve.h"),
    "the longest model": (r"1U?L{0,2} << 31|(?<!\w)2147483647(?!\w)", "include/onnxar/archive.h"),
    "whether a model is too long": (r"[<>]=? *model_size_maximum|model_size_maximum *[<>]", "src/archive/model_proof.h"),
    "why a model is too long": (r'"[^"\n]*protobuf (?:reads|writes) less than', "src/archive/model_proof.cc"),
    "the alignment of data": (r"alignment(?:_minimum)? = 64\b|% 64\b", "include/onnxar/bytes.h"),
    "the size from which data leaves the model": (r"threshold = \d{2,}", "include/onnxar/bytes.h"),
    "how much larger an output may be": (r"expansion = \d+", "include/onnxar/bytes.h"),
    "the depth of messages": (r"(?:depth|most|most_nested_messages) = 100\b", "src/onnx/wire.h"),
    "alignments that are possible": (r"it must be a power of two from", "src/zip/layout.cc"),
    "large entries begin on a page": (r"page_alignment =|page_aligned_from =", "src/zip/format.h"),
    "lengths of 16 bits in a zip": (r"(?<![\w.])(?:65535|65557)(?![\w.])", "src/zip/format.h"),
    "ids of extra fields": (r"= 0x(?:d935|a11e|7075|756e|6c78)\b", "src/zip/format.h"),
    "signatures of zip records": (r"0x0[1-8]0[1-8]4b50", "src/zip/format.h"),
    "characters of identifiers": (r"is_capital\(c\) \|\||c >= 'a' && c <= 'z'", "src/base/text.h"),
    "the lower case of a letter": (r"- 'A' \+|\| ?0x20U?(?!\w)", "src/base/text.h"),
    "the folder of a file": (r"has_parent_path", "src/base/paths.h"),
    "what only compilers offer": (r"\b__(?:builtin_\w+|int128)\b", "src/base/memory.h"),
    "a range that leaves its whole": (r'" leaves? "', "src/base/byte_range.cc"),
    "a length that is not the tensor's": (r'"[^"\n]*dimensions call for "', "src/onnx/tensor_values.cc"),
    "a name that breaks a rule": (r"throw Error\(fault->code, std::string\(fault->message\), place\)", "src/zip/names.cc"),
    "a reserved name": (r"two underscores and a capital are reserved", "src/archive/keys.cc"),
    "the polynomial of CRC-32": (r"(?i)0xedb88320", "src/base/crc32_fold.cc"),
    "the versions that are read": (r'version_plain, " to "|10 to 45', "src/zip/shared_checks.cc"),
    "the size of a zip": (r"position \+ directory\.size\(\)", "src/zip/layout.cc"),
    "a tensor's description": (r"site\.tensor\.dims, site\.path\(\)", "src/archive/tensor_text.cc"),
    "inflating and the CRC-32": (r"data_source\([^()]*\)->read\(\[&\]", "src/zip/foreign_directory.cc"),
    "a CRC-32 that is wrong": (r"it was damaged; fetch", "src/zip/shared_checks.cc"),
    "a stored entry with two sizes": (r"its two sizes differ", "src/zip/shared_checks.cc"),
    "a key that clashes with a folder": (r"substr\(0, (?:\w+\.)*find\('/'\)\)", "src/archive/key_maker.cc"),
    "a budget of bytes": (r"checked_multiply\(input", "src/base/byte_budget.h"),
    "tables of keys from files, under a random hash": (r"std::unordered_(?:multi)?(?:map|set)<", "src/base/keyed_hash.h"),
    "blocks that files share": (r"(?i)block\w* = 4096\b", "src/base/output_file.h"),
    "the suffix of graphs and models": (r'(?:graph_suffix =|[?:+]) "\.onnx"', "src/archive/keys.h"),
    "the digits of hexadecimal numbers": (r'"0123456789abcdef', "src/base/text.h"),
    "the length of a SHA-256 in digits": (r"(?:digits|digest_size|key_size|hex_size) = 64\b", "src/base/sha256.h"),
    "the byte order mark": (r"\\xef\\xbb\\xbf", "src/base/text.h"),
    "the length before a safetensors header": (r"length_size = 8\b", "src/archive/file_kind.h"),
    "the least speed of a server": (r"least_speed = |sent less than \d", "src/remote/stall_clock.h"),
}
# Facts that only the libraries must not spell.
OF_LIBRARIES = {
    "options and verbs of the command": (rf'"[^"\n]*(?:--(?!large_model)[a-z]{{2}}|\bonnxar (?:{VERBS})\b)', HINTS),
}


def spelt_in(spelling, files):
    """Returns the files whose code, without comments, matches."""
    pattern = re.compile(spelling)
    return [path for path, text in files.items() if pattern.search(re.sub(r"//.*|/\*.*?\*/", "", text))]


# Sentences that may stand in two places, each with the reason.
WRITTEN_TWICE = {
    "the end record counts ": "two rules, about the entries of this disk and about those of the file",
    " is over the limit of ": "two refusals, with different subjects",
    ", which ONNX does not have": "two file formats, which name types in different ways",
    "${count} bytes came, not ${wanted}": "two rules; a function for both would make the bundle of js larger",
}
SHORTEST_SENTENCE = 20  # shorter ones are parts of many messages
# The files of each program, whose parts can share a sentence.
PROGRAMS = [
    ["include/**/*.h", "src/**/*.h", "src/**/*.cc", "tools/onnxar/**/*.h", "tools/onnxar/**/*.cc"],
    ["python/onnxar/*.py"],
    ["js/src/*.ts"],
    ["reader/*.[ch]"],
    ["reader/java/src/main/**/*.java"],
    ["reader/rust/src/*.rs"],
]
SKIPPED = r"//[^\n]*|/\*.*?\*/|^#include[^\n]*|'\\?.'"
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
LITERALS = re.compile(rf"{SKIPPED}|(?:{QUOTED.pattern}\s*)+", re.DOTALL | re.MULTILINE)  # adjacent ones are one
LITERALS_OF_JS = re.compile(rf"{SKIPPED}|(['`])((?:(?!\1)[^\\]|\\.)*)\1", re.DOTALL | re.MULTILINE)


def sentences_in(path, code):
    """Returns the string literals of a file that have spaces and are long, without documentation."""
    if path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(code)))
        documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in documentation]
    elif path.suffix == ".ts":
        texts = [match[2] or "" for match in LITERALS_OF_JS.finditer(code)]
    else:
        texts = ["".join(QUOTED.findall(match[0])) for match in LITERALS.finditer(code) if match[0].startswith('"')]
    return [text for text in texts if isinstance(text, str) and len(text) >= SHORTEST_SENTENCE and " " in text.strip()]


def written_twice(files):
    """Returns the sentences that several literals have, with the files."""
    homes = collections.defaultdict(list)
    for path, code in files.items():
        for sentence in sentences_in(path, code):
            homes[sentence].append(path.name)
    return {sentence: names for sentence, names in homes.items() if len(names) > 1}


class Sentences(unittest.TestCase):
    def test_each_is_written_once(self):
        found = {}
        for patterns in PROGRAMS:
            files = {path: path.read_text() for pattern in patterns for path in ROOT.glob(pattern)}
            self.assertGreater(sum(len(sentences_in(*file)) for file in files.items()), 3, patterns)
            found |= written_twice(files)
        unused = WRITTEN_TWICE.keys() - found.keys()
        self.assertEqual({sentence: names for sentence, names in found.items() if sentence not in WRITTEN_TWICE}, {})
        self.assertFalse(unused)

    def test_copies_are_found(self):
        copies = {
            ".cc": ('f("the entry is " "damaged here")', '// "\ng(\'"\', "the entry is damaged here");'),
            ".py": ('x = f"the entry is damaged here{y}"', 'def f():\n    "doc"\n    g("the entry is " "damaged here")'),
            ".ts": ("f(`the entry is damaged here`)", "g('the entry is damaged here')"),
        }
        for suffix, codes in copies.items():
            files = {pathlib.Path(f"{number}{suffix}"): code for number, code in enumerate(codes)}
            with self.subTest(suffix=suffix):
                self.assertEqual(list(written_twice(files)), ["the entry is damaged here"])


class ContextsOfErrors(unittest.TestCase):
    def test_few_functions_add_to_an_error(self):
        # `base::annotated` adds the place, and `Evidence` explains. `with_path` and `with_place` return what they throw.
        declared = re.compile(r"\b(?:Error|auto) (?:\w+::)?(annotated?|with_\w+|errors_with_\w+)\(")
        found = {name for text in sources("include", "src").values() for name in declared.findall(text)}
        self.assertEqual(found, {"annotate", "annotated", "with_path", "with_place"})

    def test_paths_are_added_by_annotated(self):
        by_hand = re.compile(r"catch \(const Error& (\w+)\) \{\s*throw \1\.with_path\(")
        self.assertEqual([path for path, text in sources("src", "tools").items() if by_hand.search(text)], [])


class OneHome(unittest.TestCase):
    def test_each_fact_is_spelt_in_one_place(self):
        files = sources("include", "src", "tools/onnxar")
        self.assertLessEqual({"include/onnxar/archive.h", "src/zip/format.h", "tools/onnxar/main.cc"}, files.keys())
        self.assert_homes(HOMES, files)

    def test_libraries_do_not_name_the_command(self):
        self.assert_homes(OF_LIBRARIES, sources("include", "src"))

    def test_copies_of_facts_are_found(self):
        spelling, home = HOMES["the longest model"]
        copy = "tools/onnxar/verbs/copy.cc"
        files = {home: "constexpr auto most = 2147483647;\n", copy: "auto size = 1ULL << 31;\n", "src/a.cc": "// 2147483647\n"}
        self.assertEqual(spelt_in(spelling, files), [home, copy])

    def assert_homes(self, facts, files):
        for fact, (spelling, home) in facts.items():
            with self.subTest(fact=fact):
                self.assertEqual(spelt_in(spelling, files), [home])


if __name__ == "__main__":
    unittest.main()

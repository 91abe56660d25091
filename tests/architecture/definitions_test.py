"""Checks where functions are defined: what x.h declares, x.cc of the same room defines. A reader then finds a definition
without a search, and no call goes up, against the arrows between the rooms, without an #include that shows it."""

import collections
import pathlib
import re
import unittest

from includes_test import FOR_THE_COMMAND, PUBLIC, sources

# Comments and literals, which may contain anything.
OPAQUE = re.compile(r"//[^\n]*|/\*.*?\*/|" r'"(?:\\.|[^"\\\n])*"', re.DOTALL)
NAMESPACE = re.compile(r"^namespace (?:ONNXAR_API )?(?:([\w:]+) )?\{|^(\})  // namespace", re.MULTILINE)
# A namespace without functions. clang-format does not comment on the end of a short one.
SHORT = re.compile(r"^namespace [\w:]+ \{[^{}]*\}$", re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (?:ONNXAR_API )?([\w:]+)[^;{}()]*\{", re.MULTILINE)
# The beginning of a function at namespace scope: clang-format puts it in the first column.
FUNCTION = re.compile(
    r"^(?!(?:using|typedef|static|return|namespace|template|extern|friend)\b)(?=[A-Za-z_\[])(?:[^;{}=#()]*?[ *&\n])??"
    r"((?:\w+(?:<[^<>()]*>)?::)*~?(?:operator *(?:\(\)|[^\s\w(]+|[\w:]+)|\w+))\(",
    re.MULTILINE,
)

ENTRY_POINTS = {"main", "NB_MODULE"}

# Headers that list what all files of a room define: the C interface, and what only the command uses.
OF_ROOMS = {"include/onnxar/onnxar_c.h", *(f"src/{header}" for header in FOR_THE_COMMAND)}
# Public headers with further subjects than the one in their name, and the files of these.
FURTHER = {
    "archive_writer.h": {"edit", "entry_writer", "key_maker", "recover"},
    "convert.h": {"check"},
    "listing.h": {"digest"},
    "model/model.h": {"walk"},
    "stored_model.h": {"stored_folder"},
    "tensor.h": {"data_type"},
    "tensors.h": {"tensor_index"},
}


def namespaces(text):
    """Returns pairs (position, namespace that begins or goes on there); None stands for an unnamed namespace."""
    open_ones, found = [], [(0, "")]
    for match in NAMESPACE.finditer(text):
        if match[2]:
            open_ones.pop()
        else:
            open_ones.append(match[1])
        found.append((match.end(), None if None in open_ones else "::".join(open_ones)))
    return found


def ends_with_body(text, bracket):
    """Whether the function whose parameters begin at `bracket` is defined there, not only declared."""
    depth = 0
    for position in range(bracket, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0 and text[position] in "{;":
            return text[position] == "{" or "= default" in text[bracket:position]
    return False


def blanked(match):
    return re.sub(r"[^\n]", " ", match[0])


def names(text):
    """Yields (namespace, name, whether it is defined here) of every class and function at namespace scope, except those
    in an unnamed namespace."""
    text = SHORT.sub(blanked, text)
    spaces = namespaces(text)
    text = OPAQUE.sub(blanked, text).replace("decltype(auto)", "auto          ")
    found = [(match.start(1), match[1], False) for match in CLASS.finditer(text)]
    for match in FUNCTION.finditer(text):
        found.append((match.start(1), match[1], ends_with_body(text, match.end() - 1)))
    for position, name, is_defined in found:
        space = [space for begin, space in spaces if begin <= position][-1]
        if space is not None:
            yield space, name, is_defined


def owners(space, name):
    """What declares the function: itself, or the outermost class that it is a member of. That may be the second word of
    the name, after a namespace."""
    words = re.sub(r"<[^<>]*>", "", name).split("::")
    return {f"{space}::{words[0]}", f"{space}::{'::'.join(words[:2])}"}


def room_of(path):
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "include":
        return PUBLIC["/".join(parts[2:])]
    return parts[1] if parts[0] == "src" else parts[0]


def is_home(header, path, name):
    """True if the file may define what the header declares. It has the header's name; or the header lists what a whole room
    defines; or the file has a further subject of the header; or the name of the file is that of the function, such as
    `add_pack` in pack.cc."""
    if room_of(header) != room_of(path):
        return False
    stem = pathlib.PurePosixPath(path).stem
    subjects = {pathlib.PurePosixPath(header).stem, *FURTHER.get(header.removeprefix("include/onnxar/"), ())}
    return header in OF_ROOMS or stem in subjects or name.split("_")[-1] == stem.split("_")[-1]


def homes(files):
    """Maps what headers declare to these headers."""
    found = collections.defaultdict(set)
    for path, text in files.items():
        for space, name, _ in names(text) if path.endswith(".h") else []:
            found[f"{space}::{name}"].add(path)
    return found


def definitions(files):
    """Yields (path, name, headers that declare it) of every definition in a source."""
    known = homes(files)
    for path, text in sorted(files.items()):
        for space, name, is_defined in names(text) if path.endswith(".cc") else []:
            if is_defined and name not in ENTRY_POINTS:
                yield path, name, set().union(*(known.get(owner, set()) for owner in owners(space, name)))


def faults(files):
    """Returns the definitions that are in a wrong file, as triples (path, name, headers). `files` maps a path, relative
    to the root, to the text."""
    return [
        (path, name, headers)
        for path, name, headers in definitions(files)
        if not any(is_home(header, path, name) for header in headers)
    ]


def scattered(files):
    """Returns the classes whose members several files define, with these files. The folders of systems count as one."""
    places = collections.defaultdict(set)
    for path, name, headers in definitions(files):
        if "::" in name and headers:
            places[min(headers), name.partition("::")[0]].add(re.sub(r"/(?:posix|windows)/", "/", path))
    return {owner: found for (_, owner), found in places.items() if len(found) > 1 and owner[0].isupper()}


class Definitions(unittest.TestCase):
    def setUp(self):
        self.files = sources("src", "include", "tools", "python/src")

    def test_definitions_are_in_the_file_of_their_header(self):
        found = [
            f"{path}: {name}: declared in {' or '.join(sorted(headers)) or 'no header'}"
            for path, name, headers in faults(self.files)
        ]
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_members_of_a_class_are_in_one_file(self):
        self.assertEqual(scattered(self.files), {})

    def test_further_subjects_are_used(self):
        files = {header: {path for path, _, headers in definitions(self.files) if f"include/onnxar/{header}" in headers} for header in FURTHER}
        for header, subjects in FURTHER.items():
            self.assertLessEqual(subjects, {pathlib.PurePosixPath(path).stem for path in files[header]}, header)

    def test_definitions_are_seen(self):
        seen = {name for _, name, _ in definitions(self.files)}
        self.assertGreater(len(seen), 800)
        self.assertLessEqual({"ArchiveWriter::finish", "OutputFile::~OutputFile", "onnxar_open_path"}, seen)

    def test_fuzzers_have_every_function_of_the_system(self):
        """Only the preset `fuzz` links tests/fuzz/memory_os, which takes the place of the folders of src/os."""

        def defined(folder):
            texts = sources(folder).values()
            return {(space, name) for text in texts for space, name, is_defined in names(text) if is_defined}

        system = defined("src/os/posix")
        headers = [text for path, text in self.files.items() if re.fullmatch(r"src/os/\w+\.h", path)]
        declared = {(space, name) for text in headers for space, name, _ in names(text)}
        self.assertGreater(len(declared & system), 30)
        self.assertEqual(declared & system - defined("tests/fuzz/memory_os"), set())


class DefinitionsChecker(unittest.TestCase):
    """Tests of the checker itself."""

    HEADERS = {
        "src/zip/x.h": "namespace onnxar::zip {\n\n"
        "class X final : public Y {\n public:\n  void f();\n};\n\n"
        "int g(int a = f(1), const std::function<void()>& b = {});\n\n"
        "template <typename T>\nT h(T);\n\n"
        "}  // namespace onnxar::zip\n",
        "include/onnxar/bytes.h": "namespace ONNXAR_API onnxar {\n\n"
        "namespace short_one {\nclass Z;\n}\n\n"
        "namespace detail {\n[[noreturn]] void p();\n}  // namespace detail\n\n"
        "void q();\n\n"
        "}  // namespace ONNXAR_API onnxar\n",
        "include/onnxar/archive_writer.h": "namespace ONNXAR_API onnxar {\n\nclass W {\n};\n\n}  // namespace ONNXAR_API onnxar\n",
    }

    def complaints(self, path, body, namespace="onnxar::zip"):
        text = f"namespace {namespace} {{\n\n{body}\n\n}}  // namespace {namespace}\n"
        return [name for _, name, _ in faults({**self.HEADERS, path: text})]

    def test_accepts_definitions_at_home(self):
        for body in [
            "X::X(int a) : a_(a), b_{f()} {}",
            "X::~X() = default;",
            "X& X::operator=(X&& other) noexcept {}",
            "void X::f() {\n  q();\n}",
            "struct X::Parts::Part {\n  int a;\n};",
            "int g(int a,\n      const std::function<void()>& b) {\n}",
            "template <typename T>\nT h(T) {\n}",
            "namespace {\nint local() {}\n}  // namespace",
            "static int local() {}",
            "std::string text = f();",
            "// int other() {}",
        ]:
            with self.subTest(body=body):
                self.assertEqual(self.complaints("src/zip/x.cc", body), [])
        self.assertEqual(self.complaints("src/zip/posix/x.cc", "void X::f() {}"), [])
        self.assertEqual(self.complaints("src/zip/g.cc", "int g(int a) {\n}"), [])
        self.assertEqual(self.complaints("src/base/bytes.cc", "void q() {}\nvoid detail::p() {}", "onnxar"), [])
        self.assertEqual(self.complaints("src/base/q.cc", "void q() {}", "onnxar"), [])
        self.assertEqual(self.complaints("src/archive/edit.cc", "void W::f() {}", "onnxar"), [])

    def test_refuses_definitions_in_other_files(self):
        for body, name in [
            ("X::X(int a) : a_(a) {}", "X::X"),
            ("X::~X() = default;", "X::~X"),
            ("X& X::operator=(X&& other) noexcept {}", "X::operator="),
            ("void X::f() {}", "X::f"),
            ("int g(int a,\n      const std::function<void()>& b) {\n}", "g"),
            ("template <typename T>\nT h(T) {\n}", "h"),
            ("decltype(auto) X::k() {}", "X::k"),
            ("namespace {\nint local() {}\n}  // namespace\n\nvoid X::f() {}", "X::f"),
        ]:
            for path in ("src/archive/x.cc", "src/zip/y.cc"):
                with self.subTest(body=body, path=path):
                    self.assertEqual(self.complaints(path, body), [name])
        two = "void q() {}\nvoid detail::p() {}"
        for path in ("src/zip/bytes.cc", "src/base/y.cc", "src/base/edit.cc"):
            self.assertEqual(self.complaints(path, two, "onnxar"), ["q", "detail::p"])
        self.assertEqual(self.complaints("src/archive/file.cc", "void W::f() {}", "onnxar"), ["W::f"])

    def test_refuses_a_function_that_no_header_declares(self):
        self.assertEqual(self.complaints("src/zip/x.cc", "int stray() {}"), ["stray"])

    def test_refuses_classes_in_several_files(self):
        text = "namespace onnxar::zip {\n\nvoid X::f() {}\n\n}  // namespace onnxar::zip\n"
        files = {**self.HEADERS, "src/zip/x.cc": text}
        self.assertEqual(scattered(files), {})
        self.assertEqual(scattered({**files, "src/zip/y.cc": text}), {"X": {"src/zip/x.cc", "src/zip/y.cc"}})

    def test_ignores_declarations(self):
        self.assertEqual(self.complaints("src/archive/x.cc", "int g(int a);\nvoid q();"), [])


if __name__ == "__main__":
    unittest.main()

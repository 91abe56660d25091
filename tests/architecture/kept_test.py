"""A class that keeps a reference or a view takes it as base::Kept, so that the compiler refuses a temporary (src/base/kept.h)."""

import re
import unittest

from definitions_test import OPAQUE, blanked
from includes_test import sources

# A member that refers to what the object does not own: `const Archive& archive_;`, `Bytes bytes_;`. A local reference has a value.
MEMBER = re.compile(r"^( +)((?:const )?[\w:]+(?:<[^;=]*>)?&|Bytes|std::string_view|std::span<[^;=]*>) \w+(?: = \{\}|\{\})?;", re.MULTILINE)
CLASS = re.compile(r"^( *)(?:class|struct) (?:\w+::)*(\w+)[^;{}()]*\{ *\n(.*?)^\1\};", re.MULTILINE | re.DOTALL)
KEPT = re.compile(r"(?:\w+::)*(?:Kept|reference_wrapper)<")
POINTER = re.compile(r"\b\w+_\(&(\w+)\)")


def constructors(name, body, indent):
    """Yields the parameters of each constructor that does not copy or move, as [type, name], and its list of initializers."""
    for match in re.finditer(rf"^{indent}  (?:explicit |constexpr )*{name}\(", body, re.MULTILINE):
        depth, angles, begin, end, parameters = 1, 0, match.end(), match.end(), []
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            angles += {"<": 1, ">": -1}.get(body[end], 0)
            if depth == 0 or (body[end] == "," and depth == 1 and angles == 0):
                parameters.append(" ".join(body[begin:end].partition(" = ")[0].split()))
                begin = end + 1
            end += 1
        if not re.fullmatch(rf"(?:const )?{name} ?&&?(?: \w+)?", ", ".join(parameters)):
            yield [parameter.rpartition(" ")[::2] for parameter in parameters], re.split(r"[;{]\s", body[end:], maxsplit=1)[0]


def faults(text):
    """Returns a sentence for each constructor that takes what its class keeps in a way that allows a temporary."""
    found = []
    for indent, name, body in CLASS.findall(OPAQUE.sub(blanked, text)):
        kept = {match[2] for match in MEMBER.finditer(body) if match[1] == indent + "  "}
        for parameters, initializers in constructors(name, body, indent):
            found += [f"{name} takes `{of}` as {type_}" for type_, of in parameters if type_ in kept]
            found += [f"{name} keeps the address of `{of}`" for of in POINTER.findall(initializers)]
            if any(type_.endswith("&") for type_ in kept) and not any(KEPT.match(type_) for type_, _ in parameters):
                found.append(f"{name} has no parameter of type base::Kept")
        found += faults(body)  # classes in it
    return found


class Kept(unittest.TestCase):
    def test_no_constructor_keeps_a_temporary(self):
        files = sources("src", "tools", "python/src")
        self.assertGreater(sum(text.count("Kept<") for text in files.values()), 100)
        found = [f"{path}: {fault}" for path, text in sorted(files.items()) for fault in faults(text)]
        self.assertEqual(found, [])

    def test_constructors_that_take_temporaries_are_found(self):
        members = {
            "const Archive& archive_;": "const Archive& archive",
            "Budget& budget_;": "int n, Budget& budget = whole()",
            "const std::map<int, int>& map_;": "int n,\n    const std::map<int, int>& map",
            "Bytes bytes_;": "Bytes bytes",
            "std::string_view text_ = {};": "std::string_view text",
            "std::span<const int> list_;": "std::span<const int> list, int n",
        }
        for member, parameters in members.items():
            for head in ("class A {", "struct A final : public B {", "class C::A {"):
                text = f"{head}\n public:\n  explicit A({parameters});\n\n private:\n  {member}\n}};\n"
                self.assertEqual(len(faults(text)), 1 + ("&" in member), text)
                inside = "class B {\n" + re.sub("^(?=.)", "  ", text, flags=re.MULTILINE) + "};\n"
                self.assertEqual(faults(inside), faults(text), inside)
        self.assertEqual(len(faults("class A {\n  A(const B& b)\n      : b_(&b) {}\n  const B* b_;\n};\n")), 1)

    def test_accepts_other_constructors(self):
        for parameters in ("base::Kept<const Archive> archive", "Kept<std::map<int, Archive>> map, const ArchiveEntry& entry"):
            self.assertEqual(faults(f"class A {{\n  A({parameters}) : a_(1) {{}}\n  const Archive& archive_;\n}};\n"), [], parameters)
        for text in ("class A {\n  A(Bytes b);\n  int n_;\n};\n", "struct A {\n  const B& b;\n};\n", "A a(const B& b) {\n  use(&b);\n}\n"):
            self.assertEqual(faults(text), [], text)


if __name__ == "__main__":
    unittest.main()

"""Compares the parts of the specification, the catalogue of codes and the vectors with each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for spec_parts

import spec_parts
from spec_parts import CORE, PARTS, ROOT, RULES, SPEC, codes, rows, section, severities

VECTORS = SPEC / "vectors"
MANIFEST = json.loads((VECTORS / "manifest.json").read_text())
sys.path[:0] = [str(SPEC / "reference"), str(VECTORS)]

# All ids that were ever assigned.
EVER = spec_parts.ids_up_to(E=12, D=16, N=17, P=8, L=15, T=2, M=22, R=14, G=6, W=13, X=9, K=8, S=4)

# Faults without a rule, because an archive cannot have them, and what each is a fault of.
NO_RULE = {
    "onnx.model.too_large": "of what writers are asked to put into one message",
    "onnx.model.expansion": "of what tensors that share bytes would grow to",
    "archive.unrecoverable": "of edits: where there is no state to go back to",
    "onnx.external_data.outside": "of data files beside a model",
    "onnx.external_data.bad_location": "of data files beside a model",
    "onnx.graph.cycle": "of graphs, whose sense no archive depends on",
    "onnx.graph.dangling": "of graphs, whose sense no archive depends on",
    "onnx.weights.type": "of weights that `freeze` fills in",
    "onnx.weights.shape": "of weights that `freeze` fills in",
    "numpy.array.malformed": "of weights that `freeze` fills in",
    "numpy.array.unsupported": "of weights that `freeze` fills in",
    "safetensors.malformed": "of weights that `freeze` fills in",
    "safetensors.type": "of weights that `freeze` fills in",
    "signature.invalid": "of signatures, which the format does not know",
    "signature.mismatch": "of signatures, which the format does not know",
    "onnx.text.syntax": "of models as text, which no archive holds",
    "onnx.tensor.strings": "of calls that want raw bytes of strings, which have none",
    "onnx.tensor.not_converted": "of writers: what W9 leaves; and of calls that want raw bytes",
    "zip.data.inflate": "of zips that are no archives",
    "zip.end.ambiguous": "of zips that are no archives",
    "zip.entry.unlisted": "of zips that are no archives",
    "zip.limit.expansion": "of zips that are no archives",
    "zip.limit.folders": "of unpacking into a folder",
}
# Remarks without a rule, because an archive cannot cause them, and what each is about.
NO_RULE_REMARKS = {
    "archive.plain_model": "of a file that is not an archive, and named like one",
    "onnx.text.loss": "of models as text, which no archive holds",
    "zip.foreign": "of zips that are no archives",
}
# Rules with a code but without a vector, because they apply to files that are not archives.
NOT_OF_ARCHIVES = {"K5", "K6", "X9"}
# Limits that the user of a loader sets, so the pages need not name them.
TEXTS = {**PARTS, "README.md": (SPEC / "README.md").read_text()}


def coded() -> dict[str, str]:
    """The code of each rule that has one."""
    return {rule.id: rule.code for rule in RULES if rule.code}


def errors() -> dict[str, str]:
    """The code of each rule that readers and checkers enforce on archives."""
    said = severities()
    return {
        rule: code
        for rule, code in coded().items()
        if said[rule][0] == "error" and rule not in NOT_OF_ARCHIVES
    }


class Rules(unittest.TestCase):
    def test_each_assigned_id_is_in_one_part(self):
        found = [rule.id for rule in RULES] + list(spec_parts.retired())
        self.assertEqual(sorted(found), sorted(EVER))

    def test_texts_name_only_existing_ids(self):
        for name, text in TEXTS.items():
            named = set(spec_parts.ID.findall(text))
            self.assertEqual(named - EVER, set(), name)

    def test_each_code_of_a_rule_is_in_the_catalogue(self):
        for rule, code in coded().items():
            with self.subTest(rule=rule):
                self.assertIn(code, codes("format") | codes("remark"))

    def test_each_code_has_a_rule_or_a_listed_reason(self):
        ruled = set(coded().values())
        self.assertEqual(codes("format") - ruled, NO_RULE.keys())
        self.assertEqual(codes("remark") - ruled, NO_RULE_REMARKS.keys())

    def test_no_retired_code_is_used(self):
        used = codes("format") | codes("remark") | set(coded().values())
        self.assertEqual(used & set(spec_parts.retired().values()), set())

    # Retired codes count as well.
    def test_each_code_in_a_text_is_in_the_catalogue(self):
        known = set().union(*map(codes, ("format", "remark", "io", "usage")))
        known |= set(spec_parts.retired().values())
        for name, text in TEXTS.items():
            named = set(re.findall(r"`((?:zip|wire|onnx|archive)\.[a-z0-9_]+[a-z0-9_.]*)`", text))
            self.assertEqual(named - known, set(), name)


class Texts(unittest.TestCase):
    def test_the_core_is_short(self):
        self.assertLessEqual(len(PARTS[CORE].split()), 1800)

    def test_all_links_lead_somewhere(self):
        self.assertEqual(spec_parts.dangling_links(), [])

    def test_no_line_of_a_sentence_looks_like_a_list_item(self):
        for name, text in TEXTS.items():
            self.assertEqual(re.findall(r"^ +\d+[.)] .*|^ *[-+*] \d.*", text, re.MULTILINE), [], name)

    def test_each_part_is_in_the_list_of_parts(self):
        table = section_of_readme("The parts of the format")
        for part in PARTS:
            self.assertIn(f"({part})", table)

    def test_nothing_in_the_project_speaks_of_chapters(self):
        """The parts have headings without numbers, because numbers would change."""
        found = []
        for folder in ("include", "src", "spec", "tests", "tools", "python", "bench", "examples"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in {".md", ".py", ".h", ".cc", ".c", ".inc", ".txt"}:
                    text = path.read_text(errors="replace")
                    found += [str(path)] if re.search(r"\b[Cc]hapters? \d", text) else []
        self.assertEqual(found, [])

    def test_the_fields_are_those_of_the_schema(self):
        schema = (ROOT / "proto/onnxar/onnx.proto").read_text()
        messages = dict(re.findall(r"^message (\w+) \{\n(.*?)^\}", schema, re.M | re.S))
        for message, fields in rows(section(CORE, "Tensors"))[:9]:
            of_schema = dict(re.findall(r"^  \w+ [\w.]+ (\w+) = (\d+)", messages[message], re.M))
            repeated = set(re.findall(r"^  repeated [\w.]+ (\w+) = ", messages[message], re.M))
            found = re.findall(r"(\w+)(\*?) (\d+)", fields)
            self.assertTrue(found, message)
            for name, star, number in found:
                with self.subTest(message=message, field=name):
                    self.assertEqual(number, of_schema[name])
                    self.assertEqual(star == "*", name in repeated)

    def test_data_types_equal_schema_and_second_reader(self):
        import tensors as reference

        schema = (ROOT / "proto/onnxar/onnx.proto").read_text()
        enumeration = re.search(r"enum DataType \{(.*?)\}", schema, re.S)[1]
        of_schema = {name: int(n) for name, n in re.findall(r"(\w+) = (\d+)", enumeration)}
        found = {"UNDEFINED": 0}
        for bits, types in rows(section(CORE, "Data types")):
            for name, number in re.findall(r"([A-Z]\w+) (\d+)", types):
                found[name] = int(number)
                if bits:
                    self.assertEqual(reference.BITS[int(number)], int(bits))
        self.assertEqual(found, of_schema)
        fields = rows(section("checking.md", "Further rules"))
        numbers = dict(re.findall(r"(\w+_data)\*? (\d+)", section(CORE, "Tensors")))
        typed = {name: field for types, field in fields for name in re.findall(r"[A-Z]\w{3,}", types)}
        self.assertEqual(typed.keys(), of_schema.keys() - {"UNDEFINED"})
        for name, field in typed.items():
            self.assertEqual(reference.FIELD[of_schema[name]], int(numbers[field]), name)

    def test_the_example_is_the_smallest_vector(self):
        smallest = (VECTORS / "valid/smallest.onnxar").read_bytes()
        self.assertEqual(spec_parts.example(), smallest)


    def test_minimum_limits_are_those_of_second_reader(self):
        import directory
        import tensors as reference

        found = re.search(
            r"MUST accept 2\^(\d+) entries, a directory of (\d+) MiB, "
            r"a model of 2\^(\d+) - 1 bytes, messages (\d+) deep \(M6\) and (\d+) dimensions",
            " ".join(PARTS[CORE].split()),
        )
        entries, mebibytes, size, depth, dims = map(int, found.groups())
        limits = directory.Limits(1 << entries, mebibytes << 20, (1 << size) - 1)
        self.assertEqual(limits, directory.Limits())
        self.assertEqual((depth, dims), (reference.DEEPEST, reference.MOST_DIMS))


class Checking(unittest.TestCase):
    """The tables of checking.md."""

    def steps(self) -> list[list[str]]:
        return rows(section("checking.md", "The order of the checks"))

    def test_steps_are_numbered_one_after_the_other(self):
        numbers = [int(row[0]) for row in self.steps()]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_each_rule_that_is_refused_has_a_step(self):
        table = self.steps() + rows(section("checking.md", "The bytes of a model"))
        named = {rule for row in table for rule in spec_parts.ID.findall(" ".join(row))}
        self.assertEqual(errors().keys() - named, set())

    def test_each_step_names_its_entry_and_offset(self):
        for row in self.steps():
            if not row[1].endswith("P5a"):
                with self.subTest(step=row[0]):
                    self.assertEqual((len(row), all(row)), (5, True))

    def test_each_rule_with_a_code_has_a_severity(self):
        self.assertEqual(severities().keys(), coded().keys())

    def test_severities_are_those_of_the_library(self):
        for rule, (severity, strict) in severities().items():
            with self.subTest(rule=rule):
                code = coded()[rule]
                if severity == "error":
                    self.assertEqual((code in codes("format"), strict), (True, "error"))
                else:
                    # A fault that is also refused elsewhere has that kind.
                    shared = {"onnx.tensor.no_data", "onnx.external_data.checksum", "onnx.graph.duplicate"}
                    self.assertTrue(code in codes("remark") | shared)

    def test_severities_are_those_of_the_second_reader(self):
        source = "".join(path.read_text() for path in (SPEC / "reference").glob("*.py"))
        for severity in ("WARNING", "NOTE"):
            for rule in re.findall(rf'finding\({severity}, "(R\d+)"', source):
                self.assertEqual(severities()[rule][0], severity.lower(), rule)


class Loading(unittest.TestCase):
    def test_page_for_loaders_names_the_rules_of_loaders(self):
        import vector

        items = re.findall(r"^\d+\. .*(?:\n   .*)*", PARTS["loading.md"], re.MULTILINE)
        in_text = {rule for item in items for rule in spec_parts.ID.findall(item)}
        intro = section("loading.md", "2. The directory").split("\n6. ")[0]
        in_text |= set(spec_parts.ID.findall(intro))
        self.assertEqual(in_text, vector.LOADER_RULES | vector.LOADER_RULES_OF_LINKS)

    def test_its_items_are_numbered_one_after_the_other(self):
        numbers = re.findall(r"^(\d+)\. ", PARTS["loading.md"], re.MULTILINE)
        self.assertEqual(list(map(int, numbers)), list(range(1, len(numbers) + 1)))

    def test_vectors_that_bind_loaders_break_their_rules(self):
        import vector

        bound = vector.LOADER_RULES | vector.LOADER_RULES_OF_LINKS
        marked = [row for row in MANIFEST if row["stage"] and row.get("loader")]
        self.assertEqual(bound - {row["rule"] for row in marked}, set())
        for row in marked:
            self.assertFalse(bound.isdisjoint([row["rule"], *row.get("also", [])]), row["file"])

    def test_least_loader_has_the_marked_verdicts(self):
        for row in MANIFEST:
            if not row.get("large"):
                with self.subTest(file=row["file"], about=row["about"]):
                    is_refused = refused_by_least_loader((VECTORS / row["file"]).read_bytes())
                    self.assertIn(is_refused, verdicts(row))


def verdicts(row: dict) -> tuple[bool | None, ...]:
    """What the least loader may say of a file; None: the parser refuses its model."""
    if row["stage"] is None:
        return (None,) if row["file"].startswith("unparsed/") else (False,)
    return (None, row.get("loader", False))  # the parser may be the one that refuses


def refused_by_least_loader(file: bytes) -> bool | None:
    """True if a rule of the page refuses a file; None if the parser refuses its model."""
    import least_loader

    try:
        return None if least_loader.load(file) is None else False
    except least_loader.Refused:
        return True


def section_of_readme(heading: str) -> str:
    return TEXTS["README.md"].split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


class Programs(unittest.TestCase):
    """The writer and the loader of README.md."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "made.onnxar"
        self.made: dict[str, object] = {}
        for program in spec_parts.programs():
            exec(program, self.made)

    def test_programs_are_short(self):
        lines = [
            sum(1 for line in each.splitlines() if line.strip()) for each in spec_parts.programs()
        ]
        self.assertEqual(len(lines), 2)
        self.assertLessEqual(lines[0], 15)
        self.assertLessEqual(lines[1], 20)

    def test_program_writes_like_a_canonical_writer(self):
        import onnxar_reader

        for name in ("smallest", "typical"):
            expected = (VECTORS / f"valid/{name}.onnxar").read_bytes()
            archive = onnxar_reader.open_archive(expected)
            entries = {each.name: bytes(archive.data(each)) for each in archive.entries}
            self.made["write_archive"](self.path, entries)
            self.assertEqual(self.path.read_bytes(), expected, name)

    def test_the_writer_aligns_large_entries_to_pages(self):
        import onnxar_reader

        entries = {"a": bytes(1 << 20), "b": bytes(5), "__MODEL_PROTO": b"\x3a\0"}
        self.made["write_archive"](self.path, entries)
        archive = onnxar_reader.open_archive(self.path.read_bytes())
        self.assertEqual([archive.place(each).data % 4096 for each in archive.entries][0], 0)
        findings = onnxar_reader.check(archive, data=True)
        self.assertEqual({each.rule for each in findings}, {"R4"})  # nothing names the weights

    def test_the_loader_finds_what_the_second_reader_finds(self):
        import model as reference
        import onnxar_reader

        for name in ("typical", "link_offset", "link_no_length"):
            path = VECTORS / f"valid/{name}.onnxar"
            archive = onnxar_reader.open_archive(path.read_bytes())
            links = reference.read_model(archive).links
            model, tensor_data = self.made["load"](path)
            with self.subTest(name):
                found = [bytes(tensor_data(each)) for each in model.graph.initializer]
                expected = [
                    bytes(archive.data(link.entry)[link.offset : link.end]) for link in links
                ]
                # Without `length` it gives all that is left of the entry.
                cut = [data[: len(each)] for data, each in zip(found, expected, strict=True)]
                self.assertEqual(cut, expected)


class Vectors(unittest.TestCase):
    def test_vectors_are_what_the_generator_makes(self):
        command = [sys.executable, "-B", str(VECTORS / "generate.py"), "--check"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_each_refused_rule_has_a_vector(self):
        shown = {row["rule"] for row in MANIFEST if row["stage"]}
        # For graphs the text names M rules, and the test does not make a file of 2 GiB.
        self.assertEqual(errors().keys() - shown - {"G2"}, set())

    def test_vectors_name_the_code_of_their_rule(self):
        for row in MANIFEST:
            if row["stage"]:
                with self.subTest(file=row["file"]):
                    self.assertEqual(row["code"], errors().get(row["rule"]))

    def test_further_faults_are_of_rules_that_are_refused(self):
        for row in MANIFEST:
            if "also" in row:
                with self.subTest(file=row["file"]):
                    self.assertEqual(set(row["also"]) - errors().keys(), set())

    def test_there_are_enough_vectors(self):
        valid = [row for row in MANIFEST if row["stage"] is None]
        self.assertGreaterEqual(len(valid), 120)
        self.assertGreaterEqual(len(MANIFEST) - len(valid), 600)

    def test_each_remark_of_an_archive_has_a_vector(self):
        shown = {code for row in MANIFEST for code in row.get("warnings", [])}
        self.assertEqual(codes("remark") - shown, NO_RULE_REMARKS.keys())

    def test_readme_describes_each_field_of_the_manifest(self):
        text = (VECTORS / "README.md").read_text()
        described = set(re.findall(r"`(\w+)`", re.split(r"^## ", text, flags=re.M)[1]))
        used = {field for row in MANIFEST for field in row}
        self.assertEqual(used - described, set())


if __name__ == "__main__":
    unittest.main()

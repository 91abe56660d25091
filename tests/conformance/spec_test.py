"""Holds the specification, the catalogue of codes and the vectors together."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = (ROOT / "spec/onnx-archive.md").read_text()
VECTORS = ROOT / "spec/vectors"
MANIFEST = json.loads((VECTORS / "manifest.json").read_text())

# Faults that no rule names because no archive can have them.
NO_RULE = {
    "onnx.model.too_large": "of what writers are asked to put into one message",
    "onnx.model.expansion": "of what tensors that share bytes would grow to",
    "archive.torn": "of edits: where a local header stands behind what E1 or E2 want last",
    "archive.unrecoverable": "of edits: where there is no state to go back to",
    "onnx.external_data.checksum": "of what readers may ignore",
    "onnx.external_data.outside": "of data files beside a model",
    "onnx.external_data.bad_location": "of data files beside a model",
    "onnx.link.stale": "of links, which are no archives",
    "onnx.link.bad_marker": "of links, which are no archives",
    "onnx.graph.cycle": "of graphs, whose sense no archive depends on",
    "onnx.graph.dangling": "of graphs, whose sense no archive depends on",
    "onnx.graph.duplicate": "of graphs, whose sense no archive depends on",
    "onnx.weights.type": "of weights that `freeze` fills in",
    "onnx.weights.shape": "of weights that `freeze` fills in",
    "numpy.array.malformed": "of weights that `freeze` fills in",
    "numpy.array.unsupported": "of weights that `freeze` fills in",
    "onnx.text.syntax": "of models as text, which no archive holds",
    "onnx.tensor.no_data": "a warning, and of who asks for the data of a tensor that has none",
    "onnx.tensor.strings": "of calls that want raw bytes of strings, which have none",
    "onnx.tensor.not_converted": "of writers: what W9 leaves as it is; and of calls that want its raw bytes",
    "zip.data.inflate": "of zips that are no archives",
    "zip.end.ambiguous": "of zips that are no archives",
    "zip.entry.unlisted": "of zips that are no archives",
    "zip.limit.expansion": "of zips that are no archives",
    "zip.limit.folders": "of unpacking into a folder",
}
# Remarks that chapters 5 to 8 do not know because no archive gives reason for them.
NO_RULE_REMARKS = {
    "archive.plain_model": "of a file that is not an archive, and named like one",
    "onnx.text.loss": "of models as text, which no archive holds",
    "zip.foreign": "of zips that are no archives",
}

RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\*(?: `([a-z0-9_.]+)`)?", re.MULTILINE)
CODE = re.compile(r'^ONNXAR_CODE\(\w+, "([a-z0-9_.]+)", (\w+)\)', re.MULTILINE)


def chapters(first, last):
    """The text of these chapters."""
    parts = re.split(r"^## (\d+)\. ", SPEC, flags=re.MULTILINE)
    texts = dict(zip(map(int, parts[1::2]), parts[2::2]))
    return "".join(texts[number] for number in range(first, last + 1))


def codes(kind):
    catalogue = (ROOT / "include/onnxar/error_codes.inc").read_text()
    return {code for code, of_kind in CODE.findall(catalogue) if of_kind == kind}


def reader_rules():
    """Code by rule: what readers refuse."""
    return {rule: code for rule, code in RULE.findall(chapters(2, 7)) if code}


class Spec(unittest.TestCase):
    def test_no_id_is_given_twice(self):
        ids = [rule for rule, _ in RULE.findall(SPEC)]
        self.assertGreater(len(ids), 100)
        self.assertEqual(sorted(ids), sorted(set(ids)))

    def test_every_rule_that_readers_enforce_has_a_code(self):
        for rule, code in RULE.findall(chapters(2, 7)):
            with self.subTest(rule=rule):
                self.assertIn(code, codes("format"))

    def test_every_code_has_a_rule_or_a_reason_to_have_none(self):
        ruled = set(reader_rules().values())
        self.assertEqual(codes("format") - ruled, NO_RULE.keys())

    def test_every_remark_is_in_the_text(self):
        named = set(re.findall(r"`([a-z0-9_.]+)`", chapters(5, 8)))
        self.assertEqual(codes("remark") - named, NO_RULE_REMARKS.keys())

    def test_the_example_is_the_smallest_vector(self):
        dump = re.search(r"```hexdump\n(.*?)```", chapters(13, 13), re.DOTALL)[1]
        rows = re.findall(r"^([0-9a-f]{4})((?:  ?[0-9a-f]{2}){1,16})(?:  |$)", dump, re.MULTILINE)
        data = b""
        for offset, row in rows:
            self.assertEqual(int(offset, 16), len(data))
            data += bytes.fromhex(row)
        self.assertEqual(data, (VECTORS / "valid/smallest.onnxar").read_bytes())


class Vectors(unittest.TestCase):
    def test_they_are_what_the_generator_makes(self):
        command = [sys.executable, "-B", str(VECTORS / "generate.py"), "--check"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_every_rule_that_readers_enforce_has_one(self):
        shown = {row["rule"] for row in MANIFEST if row["stage"]}
        self.assertEqual(reader_rules().keys() - shown, set())

    def test_they_name_the_code_of_their_rule(self):
        rules = reader_rules()
        for row in MANIFEST:
            if row["stage"]:
                with self.subTest(file=row["file"]):
                    self.assertEqual(row["code"], rules.get(row["rule"]))

    def test_they_are_enough(self):
        valid = [row for row in MANIFEST if row["stage"] is None]
        self.assertGreaterEqual(len(valid), 20)
        self.assertGreaterEqual(len(MANIFEST) - len(valid), 150)

    def test_every_remark_that_an_archive_can_cause_is_shown(self):
        shown = {code for row in MANIFEST for code in row.get("warnings", [])}
        self.assertEqual(codes("remark") - shown, NO_RULE_REMARKS.keys())


if __name__ == "__main__":
    unittest.main()

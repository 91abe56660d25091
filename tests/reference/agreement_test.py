"""The reference reader and the tool find the same in models that are nearly right.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests:spec/reference agreement_test.py
"""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from onnxar_reader import Finding, check, open_archive
from random_models import Maker
from support.command_line import at_once, run

FILES = 4000
# What has to be found at least once, for the test to say something: all that such models can have.
CODES = frozenset(
    """
    onnx.external.data_beside onnx.external.small onnx.external.string onnx.external.unaligned
    onnx.external_data.bad_length onnx.external_data.bad_offset onnx.external_data.checksum
    onnx.external_data.duplicate_key onnx.external_data.marker onnx.external_data.missing onnx.external_data.no_location
    onnx.external_data.out_of_range onnx.external_data.unknown_key onnx.model.invalid
    onnx.tensor.data_beside onnx.tensor.dims onnx.tensor.length onnx.tensor.long_raw onnx.tensor.long_typed
    onnx.tensor.no_data onnx.tensor.no_type onnx.tensor.wrong_field
    wire.repeated_message wire.tag wire.truncated wire.type wire.varint
    archive.entry.overlapping_links archive.entry.shared archive.entry.unused
    archive.key.not_identifier archive.tail.superseded onnx.graph.duplicate
    """.split()
)


class Said(NamedTuple):
    severity: str
    code: str
    entry: str | None
    offset: int | None


def told(findings: list[Said]) -> list[Said]:
    """Remarks count where nothing is wrong; the order does not."""
    errors = {each for each in findings if each.severity == "error"}
    return sorted(errors or findings)


def said_by_reference(finding: Finding) -> Said:
    return Said(finding.severity, finding.code, finding.entry, finding.offset)


def said_by_tool(finding: dict[str, Any]) -> Said:
    return Said(*(finding[name] for name in Said._fields))


@unittest.skipIf("ONNXAR" not in os.environ, "no tool")
class Agreement(unittest.TestCase):
    def test_of_random_models(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            answers = at_once(self.ask, range(FILES))
        seen = Counter(each.code for ours, _ in answers for each in ours)
        self.assertEqual(CODES - seen.keys(), set())
        for seed, (ours, theirs) in enumerate(answers):
            with self.subTest(seed=seed):
                self.assertEqual(ours, theirs)

    def ask(self, seed: int) -> tuple[list[Said], list[Said]]:
        """What the reference reader says of a file, and what the tool says."""
        file = Maker(seed).archive()
        path = self.folder / f"{seed}.onnxar"
        path.write_bytes(file)
        findings = json.loads(run("check", "--data", "--json", path).stdout)["findings"]
        ours = check(open_archive(file), data=True)
        return told(list(map(said_by_reference, ours))), told(list(map(said_by_tool, findings)))


if __name__ == "__main__":
    unittest.main()

"""The JSON that `ls` and `check` print."""

from __future__ import annotations

import json
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.archives import linked, model_of, weights
from support.command_line import CONTROLS, ToolCase, run

# The schemas: keys in this order, values of these types.
LISTING = {
    "path": str,
    "file_size": int,
    "alignment": int,
    "unused_bytes": int,
    "padding_bytes": int,
    "model": dict,
    "graphs": list,
    "entries": list,
}
MODEL_ENTRY = {"offset": int, "size": int, "crc32": int}
ENTRY = {
    "name": str,
    "offset": int,
    "size": int,
    "crc32": int,
    "alignment": int,
    "kind": str,
    "tensors": list,
    "graphs": list,
}
TENSOR = {"name": str, "dtype": str, "shape": list, "site": str, "output": str}
REPORT = {"ok": bool, "findings": list}
FINDING = {"severity": str, "code": str, "entry": str, "offset": int, "message": str, "hint": dict}
NULLABLE = {"entry", "hint", "output"}  # a finding outside an entry, as in a .onnx, or without advice; no Constant node


class Json(ToolCase):
    """The schemas of `ls --json` and `check --json`."""

    def assert_shape(self, document: dict[str, Any], shape: dict[str, type]) -> None:
        self.assertEqual(list(document), list(shape))
        for key, kind in shape.items():
            if document[key] is not None or key not in NULLABLE:
                self.assertIs(type(document[key]), kind, key)

    def test_listing(self) -> None:
        kinds = (wire.tensor(name, kind, 5000) for name, kind in wire.TYPES.items())
        path = self.packed(
            *kinds, wire.fields_of("cube", wire.FLOAT, [10, 5, 20], self.floats(1000))
        )
        listing = self.listing(path)
        self.assert_shape(listing, LISTING)
        self.assert_shape(listing["model"], MODEL_ENTRY)
        for entry in listing["entries"]:
            self.assert_shape(entry, ENTRY)
            for tensor in entry["tensors"]:
                self.assert_shape(tensor, TENSOR)
        dtypes = [entry["tensors"][0]["dtype"] for entry in listing["entries"]]
        self.assertEqual(dtypes, [*wire.TYPES, "FLOAT"])
        cube = listing["entries"][-1]["tensors"][0]
        site = f"graph.initializer[{len(wire.TYPES)}]"
        expected = {"name": "cube", "dtype": "FLOAT", "shape": [10, 5, 20], "site": site, "output": None}
        self.assertEqual(cube, expected)

    def floats(self, count: int) -> bytes:
        return wire.raw(wire.FLOAT, wire.content(wire.FLOAT, count, count))

    def test_names_are_whole_in_json(self) -> None:
        path = self.packed(wire.tensor(CONTROLS), wire.tensor("nul\0inside"), wire.tensor(""))
        names = [each["tensors"][0]["name"] for each in self.listing(path)["entries"]]
        self.assertEqual(names, [CONTROLS, "nul\0inside", ""])

    def test_clean_report(self) -> None:
        done = self.succeeds("check", "--json", self.archive("w"))
        self.assertEqual(json.loads(done.stdout), {"ok": True, "findings": []})

    def test_report(self) -> None:
        entries = (*weights("w", "left"), model_of(linked("w", offset=1), linked("v")))
        path = self.archive_of(*entries)
        report = json.loads(run("check", "--json", path).stdout)
        self.assert_shape(report, REPORT)
        self.assertFalse(report["ok"])
        for finding in report["findings"]:
            self.assert_shape(finding, FINDING)
        found = [(each["severity"], each["code"]) for each in report["findings"]]
        expected = [
            ("error", "onnx.external_data.out_of_range"),
            ("error", "onnx.external_data.missing"),
            ("warning", "archive.entry.unused"),
        ]
        self.assertEqual(found, expected)

    def test_report_of_a_plain_model(self) -> None:
        done = run("check", "--json", self.model(linked("w", location="missing.bin")))
        [finding] = json.loads(done.stdout)["findings"]
        self.assert_shape(finding, FINDING)
        self.assertIsNone(finding["entry"])


if __name__ == "__main__":
    command_line.main()

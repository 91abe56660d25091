"""The reference reader against the vectors, against changed archives, and against the tool.

Usage: ONNXAR=path/to/onnxar PYTHONPATH=tests:spec/reference reference_test.py
"""

from __future__ import annotations

import json
import mmap
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any, NamedTuple

import digest
import made
import onnxar_reader
from onnxar_reader import Archive, Finding, Limits, Refused, check, open_archive
from rules import RULES
from support.command_line import FolderCase, at_once, run

SPEC = Path(__file__).resolve().parents[2] / "spec"
VECTORS = SPEC / "vectors"


class Verdict(NamedTuple):
    """Of a file: the stage that refuses it, and what is said; all None where none does."""

    stage: str | None = None
    rule: str | None = None
    code: str | None = None
    entry: str | None = None
    offset: int | None = None


def verdict(stage: str, finding: Finding) -> Verdict:
    return Verdict(stage, finding.rule, finding.code, finding.entry, finding.offset)


def is_error(finding: Finding) -> bool:
    return finding.severity == "error"


def judge(file: bytes | mmap.mmap, limits: Limits = Limits()) -> Verdict:
    """Stage by stage."""
    stage = "open"
    try:
        archive = open_archive(file, limits)
        stage = "use"
        for entry in archive.entries:
            archive.data(entry)
    except Refused as refused:
        return verdict(stage, refused.finding)
    errors = list(filter(is_error, check(archive, data=True)))
    if not errors:
        return Verdict()
    return verdict("data" if errors[0].rule in ("T1", "M22") else "check", errors[0])


# --- the text ------------------------------------------------------------------------------------


class Text(unittest.TestCase):
    """What can be compared with the text itself."""

    text = "".join(path.read_text() for path in sorted(SPEC.glob("*.md")))

    def test_rules_and_codes(self) -> None:
        in_text = dict(re.findall(r"^- \*\*([DEGLMNPRT]\d+)\*\* `([a-z0-9_.]+)`", self.text, re.M))
        table = {rule: each.code for rule, each in RULES.items() if rule in in_text}
        self.assertEqual(table, in_text)
        self.assertEqual(RULES.keys() - in_text.keys(), set())

    def test_the_example(self) -> None:
        dump = re.search(r"^```hexdump\n(.*?)^```", self.text, re.M | re.S).group(1)
        example = bytes.fromhex("".join(line[6:53] for line in dump.splitlines()))
        self.assertEqual(example, bytes(made.smallest().file))
        self.assertEqual(check(open_archive(example), data=True, strict=True), [])


# --- the vectors ---------------------------------------------------------------------------------


def manifest() -> list[dict[str, Any]]:
    path = VECTORS / "manifest.json"
    return json.loads(path.read_text()) if path.exists() else []


def limits_of(vector: dict[str, Any]) -> Limits:
    names = {"max_entries": "entries", "max_directory_size": "directory", "max_model_size": "model"}
    return Limits(**{names[name]: value for name, value in vector.get("options", {}).items()})


def expected_of(vector: dict[str, Any]) -> Verdict:
    """In the manifest an entry is "" where none is named, and in hexadecimal if it is no UTF-8."""
    entry = bytes.fromhex(vector.get("entry_hex", "")).decode(errors="replace")
    entry = vector.get("entry") or entry or None
    stage, rule, code, offset = map(vector.get, ("stage", "rule", "code", "offset"))
    return Verdict(stage, rule, code, entry, offset)


def listing(archive: Archive) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "offset": archive.place(entry).data,
            "size": entry.size,
            "crc32": entry.crc32,
        }
        for entry in archive.entries
    ]


def opened(path: Path) -> bytes | mmap.mmap:
    with open(path, "rb") as file:
        is_empty = path.stat().st_size == 0
        return b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class Vectors(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(home.cleanup)
        cls.vectors = manifest()
        if not cls.vectors:
            raise unittest.SkipTest("no vectors")
        cls.large = Path(home.name)
        command = [sys.executable, "-B", VECTORS / "generate.py", "--large", cls.large]
        subprocess.run(command, check=True, capture_output=True)
        cls.accepted = [
            (vector, open_archive(cls.bytes_of(vector), limits_of(vector)))
            for vector in cls.vectors
            if vector["stage"] is None
        ]

    @classmethod
    def bytes_of(cls, vector: dict[str, Any]) -> bytes | mmap.mmap:
        return opened((cls.large if vector.get("large") else VECTORS) / vector["file"])

    def test_each_has_the_expected_verdict(self) -> None:
        for vector in self.vectors:
            with self.subTest(vector["file"], about=vector["about"]):
                found = judge(self.bytes_of(vector), limits_of(vector))
                self.assertEqual(found, expected_of(vector))

    def test_remarks(self) -> None:
        """Warnings and, in the same list, notes."""
        for vector, archive in self.accepted:
            with self.subTest(vector["file"], about=vector["about"]):
                codes = {each.code for each in check(archive)}
                self.assertEqual(sorted(codes), vector["warnings"])

    def test_strict(self) -> None:
        """Refuses what a check warns of, and tails, but no note."""
        for vector, archive in self.accepted:
            with self.subTest(vector["file"], about=vector["about"]):
                errors = {each.code for each in check(archive, strict=True) if is_error(each)}
                notes = set(vector.get("notes", [])) - {"archive.tail.superseded"}
                self.assertEqual(errors, set(vector["warnings"]) - notes)

    def test_digests(self) -> None:
        for vector, archive in self.accepted:
            with self.subTest(vector["file"], about=vector["about"]):
                self.assertEqual(digest.digest(archive), vector["digest"])

    def test_damaged_data_has_no_digest(self) -> None:
        damaged = [each for each in self.vectors if each.get("rule") == "T1"]
        self.assertTrue(damaged)
        for vector in damaged:
            with self.subTest(vector["file"]), self.assertRaises(Refused) as refused:
                digest.digest(open_archive(self.bytes_of(vector)))
            self.assertEqual(refused.exception.finding.rule, "T1")

    def test_entries(self) -> None:
        for vector, archive in self.accepted:
            with self.subTest(vector["file"], about=vector["about"]):
                found = listing(archive)
                self.assertEqual(len(found), vector.get("count", len(found)))
                self.assertEqual(found, vector.get("entries", found))


# --- superseded states ----------------------------------------------------------------------------


class States(unittest.TestCase):
    def test_states_and_padding_are_read_once(self) -> None:
        for edits in (5, 10, 20):
            archive = made.Made(*made.model_and_weights())
            for i in range(edits):
                archive.edit(*made.weights(f"w{i}"), made.model_of(made.linked(f"w{i}")))
            opened = open_archive(bytes(archive.file))
            with unittest.mock.patch.object(onnxar_reader, "Archive", wraps=Archive) as states:
                self.assertEqual(list(filter(is_error, check(opened))), [])
            self.assertEqual(states.call_count, edits)
            # The states, whose models the archive does not list, share what is known of padding.
            self.assertEqual(len(opened.zeros), 3 + 2 * edits)


# --- changed archives ----------------------------------------------------------------------------


class Changed(unittest.TestCase):
    def test_archives_made_here_are_valid(self) -> None:
        for name, make in made.MADE.items():
            self.assertEqual(judge(bytes(make().file)), Verdict(), name)

    def test_every_prefix_is_refused(self) -> None:
        for make in (made.plain, made.zip64, made.smallest):
            file = bytes(make().file)
            for size in range(len(file)):
                self.assertEqual(judge(file[:size]).stage, "open", size)

    # All other prefixes of an edited archive are refused.
    def test_only_the_state_before_the_edit_is_accepted(self) -> None:
        archive = made.edited()
        file = bytes(archive.file)
        accepted = [size for size in range(len(file)) if judge(file[:size]) == Verdict()]
        self.assertEqual(accepted, [archive.headers[1]])

    def test_appended_bytes_are_refused(self) -> None:
        for make in made.MADE.values():
            file = bytes(make().file)
            for size in range(1, 65):
                for more in (bytes(size), file[-size:]):
                    self.assertEqual(judge(file + more).stage, "open", size)


def flipped(file: bytes, bit: int) -> bytes:
    changed = bytearray(file)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


class Flips(unittest.TestCase):
    """One bit of all that is not data of entries."""

    SAMPLE = 300

    def test_is_refused_or_free(self) -> None:
        for name, make in made.MADE.items():
            archive = make()
            file = bytes(archive.file)
            free = made.free_bits(file)
            for bit in made.header_bits(archive):
                with self.subTest(archive=name, byte=hex(bit // 8), bit=bit % 8):
                    found = judge(flipped(file, bit))
                    self.assertEqual(found == Verdict(), bit in free, found)

    @unittest.skipIf("ONNXAR" not in os.environ, "no tool")
    def test_the_tool_says_the_same(self) -> None:
        flips = [
            (name, bit) for name, make in made.MADE.items() for bit in made.header_bits(make())
        ]
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            sample = random.Random(20261101).sample(flips, self.SAMPLE)
            differences = list(filter(None, at_once(self.difference, sample)))
        self.assertEqual(differences, [])

    def difference(self, flip: tuple[str, int]) -> str:
        name, bit = flip
        file = flipped(bytes(made.MADE[name]().file), bit)
        path = self.folder / f"{name}-{bit}.onnxar"
        path.write_bytes(file)
        said, expected = tool_verdict(path), judge(file)[2:]
        # Where a local header stands behind a whole state, the text has a better word for E1 and E2.
        if said[0] == "archive.torn" and expected[0] in ("zip.end.missing", "zip.end.not_last"):
            return ""
        return "" if said == expected else f"{path.name}: reference {expected}, tool {said}"


def tool_verdict(path: Path) -> tuple[str | None, str | None, int | None]:
    """Code, entry and offset of the first error that `onnxar check` finds."""
    found = json.loads(run("check", "--json", path).stdout)["findings"]
    errors = [each for each in found if each["severity"] == "error"]
    if not errors:
        return None, None, None
    return errors[0]["code"], errors[0]["entry"], errors[0]["offset"]


# --- the command line ----------------------------------------------------------------------------


class CommandLine(FolderCase):
    def run_reader(self, *arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-B", onnxar_reader.__file__, *map(str, arguments)]
        return subprocess.run(command, check=False, capture_output=True)

    def test_list(self) -> None:
        path = self.archive("a", "b")
        lines = self.run_reader("list", path).stdout.decode().splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["a", "b", "__MODEL_PROTO"])
        rows = json.loads(self.run_reader("list", "--json", path).stdout)
        self.assertEqual(rows, listing(open_archive(path.read_bytes())))

    def test_names_are_escaped(self) -> None:
        path = self.archive("a\u202eb")
        done = self.run_reader("list", path)
        self.assertEqual((done.returncode != 0, done.stdout), (True, b""))
        self.assertIn(rb"a\u202eb", done.stderr)

    def test_check(self) -> None:
        path = self.edited_archive()
        done = self.run_reader("check", path)
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 1), done.stderr)
        done = self.run_reader("check", "--strict", "--data", "--json", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)[0]["code"], "archive.tail.superseded")

    def test_extract(self) -> None:
        path = self.archive("a")
        archive = open_archive(path.read_bytes())
        data = bytes(archive.data(archive.entries[0]))
        self.assertEqual(self.run_reader("extract", path, "a").stdout, data)
        self.assertEqual(self.run_reader("extract", path, "a", "-o", self.output).returncode, 0)
        self.assertEqual(self.output.read_bytes(), data)

    def test_extract_compares_the_crc(self) -> None:
        archive = made.plain()
        archive.put(archive.data[0], b"changed")
        done = self.run_reader("extract", self.write("spoilt.onnxar", archive.file), "a")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"zip.data.crc", done.stderr)

    def test_exit_codes(self) -> None:
        self.assertEqual(self.run_reader("unpack").returncode, 2)
        self.assertEqual(self.run_reader("list", self.folder / "missing").returncode, 3)
        self.assertEqual(self.run_reader("list", self.folder).returncode, 3)
        self.assertEqual(self.run_reader("extract", self.archive("a"), "b").returncode, 3)
        self.assertEqual(self.run_reader("check", self.write("empty", b"")).returncode, 1)


if __name__ == "__main__":
    unittest.main()

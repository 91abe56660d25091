"""A thousand mutants are read alike by all readers, and the harness finds files that are not.

Usage: ONNXAR_ACCEPTS=path/to/onnxar_accepts PYTHONPATH=tests fuzz_slow_test.py
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from pathlib import Path

import fuzz
import mutants
from foreign import DESCRIPTOR, DESCRIPTOR64, Part, Zip, zips
from harness import IN_C, hold
from mutations import Mutation
from peers import Read, Refused, read_of
from pieces import dissect, join, pick, put_right
from support.archives import MODEL
from workers import COMMANDS, Ours, Peers, Readings, Worker, ask_ours, command_of

FILES, FEWEST_ACCEPTED, FEWEST_STRICT, FEWEST_SAME = 1000, 250, 50, 100
REFUSED = Ours("zip.end.missing", [], [])
CONTENT = (("a", b"12345678"), ("b", b"abcdefgh"), (MODEL, b"\x3a\x00"))


def plain() -> bytes:
    return Zip(tuple(Part(name, data) for name, data in CONTENT)).build()


def told(entries: Iterable[tuple[str, bytes]] = CONTENT, strict: bool = False) -> Readings:
    """Readings as if one of our readers had accepted a file with these entries."""
    accepted = Ours("ok", [read_of(name.encode(), len(data), data) for name, data in entries], [])
    return Readings(accepted, accepted) if strict else Readings(REFUSED, accepted)


# --- split files ---------------------------------------------------------------------------------


def other_name_in_local_header() -> bytes:
    pieces = dissect(plain())
    pick(pieces, "local")[1].rename(b"c")
    return join(pieces)


def same_name_twice() -> bytes:
    """Readers that look names up find one of the two entries only."""
    pieces = dissect(plain())
    for what in ("local", "central"):
        pick(pieces, what)[1].rename(b"a")
    return join(pieces)


def other_directory_in_the_comment() -> bytes:
    """The end record that a search from the front finds lists other entries than the last one."""
    inner = Zip((Part("x", b"other bytes"),)).build()
    pieces = dissect(plain())
    pick(pieces, "end")[0].set_comment(inner)
    return join(put_right(pieces))


def folder_on_an_amiga() -> bytes:
    return Zip((Part("a", b"12345678", made_by=1 << 8 | 20, external=0o4000 << 16),)).build()


class Pieces(unittest.TestCase):
    def test_bytes_after_a_descriptor_are_separate(self) -> None:
        for form, what in ((DESCRIPTOR, "descriptor"), (DESCRIPTOR64, "descriptor64")):
            for gap in (b"", b"8 bytes.", b"more than eight"):
                part = Part("w", b"abcd" * 40, True, form)
                pieces = dissect(Zip((part, part), between=gap).build())
                between = ["local", "data", what] + ["rest"] * bool(gap)
                self.assertEqual([piece.what for piece in pieces], [*between * 2, "central", "central", "end"])


class AThousandMutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.peers = Peers()
        cls.addClassCleanup(cls.peers.stop)
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.report = hold(list(mutants.mutants("fixed", 0, FILES)), cls.peers, cls.folder)
        print(*cls.report.lines(), sep="\n", file=sys.stderr)

    def test_all_readers_agree_on_files_that_we_accept(self) -> None:
        faults = [f"{f.number} {f.mutation[:2]}: {f.peer}: {f.what[:300]}" for f in self.report.faults]
        self.assertEqual(faults, [])

    def test_we_and_every_reader_accept_enough_files(self) -> None:
        self.assertEqual(self.report.files, FILES)
        self.assertGreaterEqual(self.report.accepted, FEWEST_ACCEPTED)
        self.assertGreaterEqual(self.report.strict, FEWEST_STRICT)
        for peer in self.peers.workers:
            self.assertGreaterEqual(self.report.counts[peer, "same"], FEWEST_SAME, peer)
        self.assertGreaterEqual(self.report.counts[IN_C, "same"], FEWEST_STRICT)
        self.assertGreaterEqual(self.report.counts[IN_C, "refused alike"], FEWEST_ACCEPTED)

    def test_every_seed_is_accepted_unchanged(self) -> None:
        readings = ask_ours(zips().values())
        self.assertEqual({r.lenient.code for r in readings}, {"ok"}, dict(zip(zips(), readings)))

    def test_row_depends_only_on_its_seed(self) -> None:
        row = list(mutants.mutants("fixed", 0, 30))
        self.assertEqual(list(mutants.mutants("fixed", 20, 10)), row[20:])
        self.assertNotEqual(list(mutants.mutants("other", 20, 10)), row[20:])


class SplitFiles(unittest.TestCase):
    """Files that two readers read differently. Our reader refuses them; the tests say that it accepted them."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def found(self, file: bytes, ours: Readings, *peers: str) -> set[str]:
        """The readers whose difference the harness reports."""
        if missing := [name for name in peers if not command_of(name)]:
            self.skipTest(f"{missing} are not installed")
        asked = Peers(peers)
        self.addCleanup(asked.stop)
        report = hold([Mutation("planted", "none", file)], asked, self.folder, [ours])
        return {fault.peer for fault in report.faults}

    def test_the_same_file_without_a_split_is_not_reported(self) -> None:
        peers = [name for name in COMMANDS if command_of(name)]
        self.assertEqual(self.found(plain(), told(), *peers), set())

    def test_name_that_differs_between_headers_is_found(self) -> None:
        file = other_name_in_local_header()
        self.assertEqual(ask_ours([file])[0].lenient.code, "zip.local.name")
        self.assertEqual(self.found(file, told(), "bsdtar piped"), {"bsdtar piped"})

    def test_two_entries_of_one_name_are_found(self) -> None:
        file = same_name_twice()
        self.assertEqual(ask_ours([file])[0].lenient.code, "zip.name.duplicate")
        told_both = told((("a", CONTENT[0][1]), ("a", CONTENT[1][1]), CONTENT[2]))
        self.assertEqual(self.found(file, told_both, "python", "bsdtar"), set())
        told_last = told((("a", CONTENT[1][1]), CONTENT[2]))
        self.assertEqual(self.found(file, told_last, "python", "bsdtar"), {"python", "bsdtar"})

    def test_a_folder_for_one_reader_is_found(self) -> None:
        file = folder_on_an_amiga()
        self.assertEqual(ask_ours([file])[0].lenient.code, "zip.entry.attributes")
        self.assertEqual(self.found(file, told(CONTENT[:1]), "7z", "python"), {"7z"})

    def test_a_second_directory_is_found(self) -> None:
        file = other_directory_in_the_comment()
        self.assertEqual(ask_ours([file])[0].lenient.code, "zip.end.directory_bounds")
        self.assertEqual(self.found(file, told(), "python", "bsdtar piped"), {"python"})

    def test_bytes_that_differ_are_found(self) -> None:
        other = [(name, data.upper()) for name, data in CONTENT]
        self.assertEqual(self.found(plain(), told(other), "python", "libzip"), {"python", "libzip"})

    def test_our_own_two_readers_are_compared(self) -> None:
        strict = told(strict=True).strict
        differs = Readings(strict, Ours("ok", strict.entries[:2], []))
        self.assertEqual(self.found(plain(), differs), {"our lenient reader"})

    def test_our_reader_in_c_is_compared(self) -> None:
        for reader in (REFUSED, Ours("ok", told().lenient.entries[:2], [])):
            self.assertEqual(self.found(plain(), told(strict=True)._replace(reader=reader)), {"our reader in C"})
        other_code = REFUSED._replace(code="zip.end.comment")
        self.assertEqual(self.found(plain(), told()._replace(reader=other_code)), {"our reader in C"})
        self.assertEqual(self.found(plain(), told()._replace(reader=REFUSED)), set())

    # A foreign zip that others refuse is no fault.
    def test_archive_that_others_refuse_is_found(self) -> None:
        file = bytes(100)
        self.assertEqual(self.found(file, told(strict=True), "python"), {"python"})
        self.assertEqual(self.found(file, told(), "python"), set())


class TheCommand(unittest.TestCase):
    def run_with(self, row: list[Mutation], ours: list[Readings]) -> tuple[fuzz.Report, list[str]]:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            report = fuzz.run(
                len(row), "s", 5, folder, lambda seed, first, count: row, lambda files: ours
            )
        self.assertIn(f"{len(row)} files, {len(row)} accepted", printed.getvalue())
        return report, sorted(path.name for path in folder.iterdir())

    def test_files_that_are_read_differently_are_saved(self) -> None:
        good, bad = Mutation("good", "none", plain()), Mutation("bad", "none", plain())
        report, saved = self.run_with([good, bad], [told(), told(CONTENT[:2])])
        self.assertEqual({fault.number for fault in report.faults}, {6})
        self.assertEqual(saved, ["differences.txt", "s-6.zip"])


class Workers(unittest.TestCase):
    @contextlib.contextmanager
    def worker(self, program: str) -> Iterator[Worker]:
        worker = Worker([sys.executable, "-c", program])
        try:
            yield worker
        finally:
            worker.stop()

    def test_reader_that_crashes_is_started_again(self) -> None:
        answers = 'import sys\nif "bad" in sys.stdin.readline(): sys.exit(1)\nprint(\'{"entries": [["61", 1, "d"]]}\')'
        with self.worker(answers) as worker:
            self.assertIsInstance(worker.ask(Path("bad")), Refused)
            self.assertEqual(worker.ask(Path("good")), [Read(b"a", 1, "d")])


if __name__ == "__main__":
    if "ONNXAR_ACCEPTS" not in os.environ:
        sys.exit(__doc__)
    unittest.main()

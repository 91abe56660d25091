"""The command line as people and scripts rely on it: exit codes, streams, JSON, options, files.

Usage: ONNXAR=path/to/onnxar contract_test.py
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import unittest
import zipfile
import zlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from bad_input_test import DONE, FORMAT, FOUND, IO, MIB, USAGE, Fault, ToolCase, run, snapshot

import onnx_walk as walk
import zoo
from archives import MODEL, Archive, Entry, linked, model_of, weights

KIB = 1 << 10
CONTROLS = "line\nbreak \x1b[31mred\x07 \x7f \x85 back\\slash größe"
ESCAPED = r"line\x0abreak \x1b[31mred\x07 \x7f \xc2\x85 back\\slash größe"


def entries_of(path: Path) -> dict[str, bytes]:
    """By Python's zipfile; the model is one of them."""
    with zipfile.ZipFile(path) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def keys_of(path: Path) -> list[str]:
    return [name for name in entries_of(path) if name != MODEL]


class ContractCase(ToolCase):
    def packed(self, *tensors: bytes, options: Iterable[object] = ()) -> Path:
        """An archive, packed anew on every call."""
        path = self.folder / "packed.onnxar"
        self.succeeds("pack", self.model(*tensors), "-o", path, "-f", *options)
        return path

    def listing(self, path: Path) -> dict[str, Any]:
        return json.loads(self.succeeds("ls", "--json", path).stdout)

    def unpacked(self, path: Path) -> bytes:
        back = self.folder / "back.onnx"
        self.succeeds("unpack", path, "-o", back, "-f")
        return back.read_bytes()


# --- calls ----------------------------------------------------------------------------------------


class Help(ContractCase):
    def verbs(self) -> list[str]:
        listed = self.succeeds("--help").stdout.decode().partition("Subcommands:\n")[2]
        return re.findall(r"^  (\w+)", listed, re.MULTILINE)

    def test_names_the_verbs_and_the_exit_codes(self) -> None:
        self.assertLessEqual({"pack", "unpack", "ls", "check", "cat"}, set(self.verbs()))
        told = self.succeeds("--help").stdout.decode()
        for code in range(5):
            self.assertRegex(told, rf"\b{code} \w")

    def test_of_every_verb_has_an_example(self) -> None:
        for verb in self.verbs():
            for flag in ("-h", "--help"):
                with self.subTest(verb=verb, flag=flag):
                    done = self.succeeds(verb, flag)
                    self.assertEqual(done.stderr, "")
                    self.assertRegex(done.stdout.decode(), rf"Example: onnxar {verb}\b")

    def test_version(self) -> None:
        done = self.succeeds("--version")
        self.assertRegex(done.stdout.decode(), r"\Aonnxar \d+\.\d+\.\d+\S*\n\Z")
        self.assertEqual(done.stderr, "")


class Usage(ContractCase):
    """Calls that cannot be meant: exit code 2, a message on stderr, nothing written."""

    def wrong(self, *arguments: object) -> str:
        before = snapshot(self.folder)
        done = run(*arguments, cwd=self.folder)
        after = snapshot(self.folder)
        self.output.unlink(missing_ok=True)  # one call that was taken must not hide the next
        with self.subTest(arguments=arguments):
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), done.stderr)
            self.assertNotEqual(done.stderr, "")
            self.assertEqual(after, before)
        return done.stderr

    def test_verbs(self) -> None:
        for call in ((), ("nonsense",), ("PACK",), ("--nonsense",)):
            self.wrong(*call)

    def test_missing_and_surplus_arguments(self) -> None:
        model, archive = self.model(), self.archive("w")
        self.wrong("pack")
        self.wrong("pack", model)
        self.wrong("pack", "-o", "out")
        self.wrong("pack", model, "-o")
        self.wrong("pack", model, model, "-o", "out")
        self.wrong("unpack", archive)
        self.wrong("unpack", archive, "-o", "out", "--external-data")
        for verb in ("ls", "check", "cat"):
            self.wrong(verb)
        self.wrong("ls", archive, archive)
        self.wrong("cat", archive)
        self.wrong("cat", archive, "w", "--model")

    def test_unknown_and_contradicting_options(self) -> None:
        model, archive = self.model(), self.archive("w")
        self.wrong("pack", model, "-o", "out", "--nonsense")
        self.wrong("pack", model, "-o", "out", "-q", "-v")
        self.wrong("ls", archive, "--force")

    def test_sizes_that_are_none(self) -> None:
        model = self.model()
        wrapping = (str(2**64), "-1", str(64 - 2**64))
        for size in (*wrapping, "", "x", "1.5", "1.5KiB", "64X", "64 64"):
            self.wrong("pack", model, "-o", "out", f"--align={size}")
            self.wrong("pack", model, "-o", "out", f"--threshold={size}")
        self.wrong("pack", model, "-o", "out", f"--threshold={2**60}GiB")

    def test_alignments_of_archives(self) -> None:
        model = self.model()
        for alignment in (0, 1, 32, 63, 65, 96, 65536, "1MiB", "64KiB", 2**63):
            told = self.wrong("pack", model, "-o", "out", "--align", alignment)
            self.assertIn("error[usage.argument]", told)

    def test_alignments_of_data_files(self) -> None:
        command = ("unpack", self.model(), "-o", "out", "--external-data", "w.bin", "--align")
        for alignment in (0, 63, 65, 96, 65537, 131072, 2**63):
            self.assertIn("error[usage.argument]", self.wrong(*command, alignment))

    def test_names_of_data_files(self) -> None:
        command = ("unpack", self.model(), "-o", "out", "--external-data")
        (self.folder / "sub").mkdir()
        names = ("", ".", "..", "../w.bin", "sub/w.bin", "./w.bin", "sub/", "#w", "out")
        for name in (*names, self.folder / "w.bin"):
            self.wrong(*command, name)

    def test_entry_that_is_not_there(self) -> None:
        archive = self.archive("w")
        for name in ("v", "W", "", "w/", "../w"):
            line = Fault("usage.no_such_entry", name).line(archive)
            self.fails(USAGE, line if name else "onnxar: error[", "cat", archive, name)


class ExitCodes(ContractCase):
    def test_each_of_them(self) -> None:
        archive, broken = self.archive("w"), self.write("broken", b"PK\3\4" + bytes(30))
        self.succeeds("check", archive)
        for code, call in (
            (DONE, ("ls", archive)),
            (FOUND, ("check", broken)),
            (USAGE, ("pack", archive, "-o", archive)),
            (USAGE, ("cat", archive, "v")),
            (IO, ("check", self.folder / "missing")),
            (IO, ("pack", archive, "-o", self.folder / "missing" / "out")),
            (FORMAT, ("pack", broken, "-o", self.output)),
            (FORMAT, ("ls", broken)),
        ):
            with self.subTest(call=call):
                self.assertEqual(run(*call).returncode, code)

    def test_warnings_are_errors_when_strict(self) -> None:
        archive = Archive([*weights("w", count=8), model_of(linked("w", 8))])
        path = self.write("small.onnxar", archive.file)
        self.succeeds("check", path)
        self.assertEqual(run("check", "--strict", path).returncode, FOUND)

    def test_superseded_tails_are_errors_when_strict(self) -> None:
        archive = Archive([*weights("w"), model_of(linked("w"))])
        archive.edit(model_of(linked("w"), zoo.tensor("new", count=3)))
        path = self.write("edited.onnxar", archive.file)
        self.succeeds("check", "--data", path)
        self.assertEqual(run("check", "--strict", path).returncode, FOUND)
        self.assertGreater(self.listing(path)["unused_bytes"], 0)


# --- streams --------------------------------------------------------------------------------------


class Streams(ContractCase):
    """stdout is data, stderr is messages."""

    def test_writers_print_no_data(self) -> None:
        source = self.model()
        for verb in ("pack", "unpack"):
            done = self.succeeds(verb, source, "-o", self.folder / verb)
            self.assertEqual(done.stdout, b"")
            self.assertIn(str(self.folder / verb), done.stderr)

    def test_quiet_is_silent(self) -> None:
        source = self.archive("w")
        for command in (*self.each_way_to_write(source), ("check", source)):
            target = () if command[0] == "check" else ("-o", self.output, "-f")
            done = self.succeeds(*command, *target, "-q")
            self.assertEqual((done.stdout, done.stderr), (b"", ""))

    def test_quiet_still_says_errors(self) -> None:
        self.fails(FORMAT, "onnxar: error[", "pack", self.write("no", b"no"), "-o", "x", "-q")

    def test_printers_say_nothing_beside_their_data(self) -> None:
        path = self.archive("w")
        for command in (("ls",), ("ls", "--json"), ("check", "-q", "--json"), ("cat", "--model")):
            done = self.succeeds(*command, path)
            self.assertEqual(done.stderr, "")
            self.assertNotEqual(done.stdout, b"")

    def test_check_prints_findings_to_stdout_and_its_summary_to_stderr(self) -> None:
        archive = Archive([*weights("w", count=8), model_of(linked("w", 8))])
        done = self.succeeds("check", self.write("small.onnxar", archive.file))
        self.assertRegex(done.stdout.decode(), r"\Awarning\[onnx\.external\.small\] .*\n\Z")
        self.assertIn("1 warnings", done.stderr)

    def test_finding_line(self) -> None:
        archive = Archive([*weights("a", "b"), model_of(linked("a"))])
        archive.set_both(0, size=1400, compressed=1400)
        done = run("check", "-q", self.write("overlap.onnxar", archive.file))
        line = rb'\Aerror\[zip\.entry\.overlap\] entry "a" at 0x0: .*\n\Z'
        self.assertRegex(done.stdout, line)

    def test_cat_prints_an_entry_byte_for_byte(self) -> None:
        tensors = (zoo.tensor("w"), zoo.tensor("large", zoo.UINT8, 3 * MIB + 1))
        path = self.packed(*tensors)
        for name, data in entries_of(path).items():
            done = self.succeeds("cat", path, name)
            self.assertEqual((done.stdout == data, done.stderr), (True, ""))
        self.assertEqual(self.succeeds("cat", path, "--model").stdout, entries_of(path)[MODEL])

    def test_no_colour_and_no_progress_off_a_terminal(self) -> None:
        path = self.packed(zoo.tensor("large", zoo.UINT8, 3 * MIB))
        for command in (("ls", path), ("check", path), ("unpack", path, "-o", self.output)):
            done = self.succeeds(*command)
            self.assertNotRegex(done.stdout.decode() + done.stderr, r"[\x1b\r]")

    def test_names_are_escaped_for_people(self) -> None:
        path = self.packed(zoo.tensor(CONTROLS))
        table = self.succeeds("ls", path).stdout.decode()
        self.assertIn(ESCAPED, table)
        self.assertEqual(len(table.splitlines()), 4)

    def test_names_are_escaped_in_findings(self) -> None:
        path = self.model(linked(CONTROLS, 300, location="missing.bin"))
        found = run("check", path).stdout.decode()
        self.assertEqual(len(found.splitlines()), 1)
        self.assertIn(ESCAPED, found)
        told = run("pack", path, "-o", self.output).stderr
        self.assertEqual(len(told.splitlines()), 1)
        self.assertIn(ESCAPED, told)

    def test_locations_are_escaped_in_findings(self) -> None:
        found = run("check", self.model(linked("w", location=CONTROLS))).stdout.decode()
        self.assertIn(ESCAPED, found)
        self.assertEqual(len(found.splitlines()), 1)

    def test_paths_are_escaped_in_messages(self) -> None:
        name = "a\x1b[31m\n"
        told = run("ls", self.folder / name).stderr
        self.assertIn(r"a\x1b[31m\x0a", told)
        self.assertNotIn("\x1b", told)
        told = run("pack", self.model(), "-o", self.folder / name).stderr
        self.assertIn(r"a\x1b[31m\x0a", told)
        self.assertNotIn("\x1b", told)


# --- JSON -----------------------------------------------------------------------------------------


class Json(ContractCase):
    """The schemas of `ls --json` and `check --json`: keys in this order, values of these types."""

    LISTING = {
        "path": str,
        "file_size": int,
        "alignment": int,
        "unused_bytes": int,
        "padding_bytes": int,
        "model": dict,
        "entries": list,
    }
    MODEL = {"offset": int, "size": int, "crc32": int}
    ENTRY = {
        "name": str,
        "offset": int,
        "size": int,
        "crc32": int,
        "alignment": int,
        "tensors": list,
    }
    TENSOR = {"name": str, "dtype": str, "shape": list, "site": str}
    REPORT = {"ok": bool, "findings": list}
    FINDING = {"severity": str, "code": str, "entry": str, "offset": int, "message": str}
    NULLABLE = {"entry"}  # a finding without a place in an entry, as in a .onnx

    def assert_shape(self, document: dict[str, Any], shape: dict[str, type]) -> None:
        self.assertEqual(list(document), list(shape))
        for key, kind in shape.items():
            if document[key] is not None or key not in self.NULLABLE:
                self.assertIs(type(document[key]), kind, key)

    def test_listing(self) -> None:
        kinds = (zoo.tensor(name, kind, 5000) for name, kind in zoo.TYPES.items())
        path = self.packed(*kinds, zoo.fields_of("cube", zoo.FLOAT, [10, 5, 20], self.floats(1000)))
        listing = self.listing(path)
        self.assert_shape(listing, self.LISTING)
        self.assert_shape(listing["model"], self.MODEL)
        for entry in listing["entries"]:
            self.assert_shape(entry, self.ENTRY)
            for tensor in entry["tensors"]:
                self.assert_shape(tensor, self.TENSOR)
        dtypes = [entry["tensors"][0]["dtype"] for entry in listing["entries"]]
        self.assertEqual(dtypes, [*zoo.TYPES, "FLOAT"])
        cube = listing["entries"][-1]["tensors"][0]
        site = f"graph.initializer[{len(zoo.TYPES)}]"
        expected = {"name": "cube", "dtype": "FLOAT", "shape": [10, 5, 20], "site": site}
        self.assertEqual(cube, expected)

    def floats(self, count: int) -> bytes:
        return zoo.raw(zoo.FLOAT, zoo.content(zoo.FLOAT, count, count))

    def test_offsets_lead_to_the_bytes_of_the_tensors(self) -> None:
        sizes = {"small": 1500, "page": MIB, "odd": 2 * MIB + 77, "last": 1024}
        path = self.packed(*(zoo.tensor(name, zoo.UINT8, size) for name, size in sizes.items()))
        file, listing = path.read_bytes(), self.listing(path)
        for entry in listing["entries"]:
            data = zoo.content(zoo.UINT8, sizes[entry["name"]], entry["name"])
            start = entry["offset"]
            self.assertTrue(file[start : start + entry["size"]] == data, entry["name"])
            self.assertEqual(entry["crc32"], zlib.crc32(data))
            self.assertEqual(start % entry["alignment"], 0)
            self.assertEqual(entry["alignment"], 64 if len(data) < MIB else 4096)
        model = listing["model"]
        data = file[model["offset"] : model["offset"] + model["size"]]
        self.assertEqual(data, entries_of(path)[MODEL])
        self.assertEqual(model["crc32"], zlib.crc32(data))

    def test_totals_add_up_to_the_file(self) -> None:
        path = self.packed(zoo.tensor("a"), zoo.tensor("b", zoo.UINT8, MIB))
        listing = self.listing(path)
        rows = [*listing["entries"], {**listing["model"], "name": MODEL}]
        headers = sum(30 + 46 + 2 * len(row["name"]) for row in rows)
        data = sum(row["size"] for row in rows)
        total = headers + data + 22 + listing["padding_bytes"] + listing["unused_bytes"]
        self.assertEqual(total, listing["file_size"])
        self.assertEqual(listing["file_size"], path.stat().st_size)
        self.assertEqual(listing["unused_bytes"], 0)
        self.assertEqual((listing["alignment"], listing["path"]), (64, str(path)))

    def test_listing_shows_who_shares_an_entry_and_what_no_tensor_names(self) -> None:
        tied = zoo.fields_of("tied", zoo.FLOAT, [30, 10], zoo.DataFile("w").link(length=1200))
        model = model_of(linked("w"), tied)
        entries = (*weights("w"), Entry("notes/readme.txt", b"hello"), model)
        listing = self.listing(self.write("shared.onnxar", Archive(entries).file))
        w, notes = listing["entries"]
        self.assertEqual([each["name"] for each in w["tensors"]], ["w", "tied"])
        self.assertEqual((notes["name"], notes["tensors"]), ("notes/readme.txt", []))

    def test_names_are_whole_in_json(self) -> None:
        path = self.packed(zoo.tensor(CONTROLS), zoo.tensor("nul\0inside"), zoo.tensor(""))
        names = [each["tensors"][0]["name"] for each in self.listing(path)["entries"]]
        self.assertEqual(names, [CONTROLS, "nul\0inside", ""])

    def test_name_that_is_no_utf8(self) -> None:
        path = self.packed(zoo.head(zoo.FLOAT, [300]) + zoo.block(8, b"\xff") + self.floats(300))
        [entry] = self.listing(path)["entries"]
        self.assertEqual(entry["tensors"][0]["name"], "\ufffd")

    def test_clean_report(self) -> None:
        done = self.succeeds("check", "--json", self.archive("w"))
        self.assertEqual(json.loads(done.stdout), {"ok": True, "findings": []})

    def test_report(self) -> None:
        entries = (*weights("w"), model_of(linked("w", offset=1), linked("v")))
        path = self.write("links.onnxar", Archive(entries).file)
        report = json.loads(run("check", "--json", path).stdout)
        self.assert_shape(report, self.REPORT)
        self.assertFalse(report["ok"])
        for finding in report["findings"]:
            self.assert_shape(finding, self.FINDING)
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
        self.assert_shape(finding, self.FINDING)
        self.assertIsNone(finding["entry"])

    def test_report_of_what_is_missing(self) -> None:
        done = run("check", "--json", self.folder / "missing")
        self.assertEqual((done.returncode, done.stdout), (IO, b""))


# --- outputs --------------------------------------------------------------------------------------


class DryRun(ContractCase):
    def test_writes_nothing(self) -> None:
        for command in self.each_way_to_write(self.archive("w")):
            for flag in ("-n", "--dry-run"):
                with self.subTest(command=command, flag=flag), self.nothing_changes():
                    done = self.succeeds(*command, "-o", self.output, flag)
                    self.assertIn("would", done.stderr)
                    self.assertEqual(done.stdout, b"")

    def test_replaces_nothing(self) -> None:
        self.write("out", b"precious")
        for command in self.each_way_to_write(self.archive("w")):
            with self.nothing_changes():
                self.succeeds(*command, "-o", self.output, "-n", "-f")

    def test_finds_what_would_fail(self) -> None:
        self.write("out", b"precious")
        for command in self.each_way_to_write(self.archive("w")):
            line = "onnxar: error[output.exists]"
            self.fails(USAGE, line, *command, "-o", self.output, "-n")


class Modes(ContractCase):
    def mode(self, path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    def test_force_keeps_the_mode(self) -> None:
        for mode in (0o600, 0o644, 0o755, 0o444):
            for command in self.each_way_to_write(self.archive("w")):
                with self.subTest(command=command, mode=oct(mode)):
                    for name in ("out", "weights.bin"):
                        self.write(name, b"old").chmod(mode)
                    self.succeeds(*command, "-o", self.output, "-f")
                    self.assertEqual(self.mode(self.output), mode)
                    self.assertEqual(self.mode(self.folder / "weights.bin"), mode)
                    self.assertNotEqual(self.output.read_bytes(), b"old")
                    self.output.unlink()
                    (self.folder / "weights.bin").unlink()

    def test_new_files_follow_the_umask(self) -> None:
        for umask in (0o022, 0o027, 0o077, 0):
            for force in ((), ("-f",)):
                for command in self.each_way_to_write(self.archive("w")):
                    with self.subTest(command=command, umask=oct(umask), force=force):
                        self.judge_umask(umask, *command, "-o", self.output, *force)

    def judge_umask(self, umask: int, *command: object) -> None:
        self.succeeds(*command, preexec_fn=partial(os.umask, umask))
        made = [path for path in self.folder.iterdir() if path.name in ("out", "weights.bin")]
        for path in made:
            self.assertEqual(self.mode(path), 0o666 & ~umask, path)
            path.unlink()

    def test_force_follows_a_link(self) -> None:
        (self.folder / "sub").mkdir()
        for command in self.each_way_to_write(self.archive("w")):
            with self.subTest(command=command):
                real = self.write("sub/real", b"old")
                self.output.unlink(missing_ok=True)
                self.output.symlink_to("sub/real")
                self.succeeds(*command, "-o", self.output, "-f")
                self.assertEqual(os.readlink(self.output), "sub/real")
                self.succeeds("check", real)

    def test_link_to_nothing_yet(self) -> None:
        self.output.symlink_to("real")
        self.succeeds("pack", self.archive("w"), "-o", self.output)
        self.assertTrue(self.output.is_symlink())
        self.succeeds("check", self.folder / "real")

    def test_force_breaks_hard_links(self) -> None:
        """The other name keeps the old content: what maps it must not see it change."""
        self.write("out", b"old")
        os.link(self.output, self.folder / "other")
        self.succeeds("pack", self.archive("w"), "-o", self.output, "-f")
        self.assertEqual((self.folder / "other").read_bytes(), b"old")

    def test_nothing_else_is_left_in_the_folder(self) -> None:
        source = self.archive("w")
        for command in self.each_way_to_write(source):
            for force in ((), ("-f",)):
                self.succeeds(*command, "-o", self.output, *force)
            names = {*snapshot(self.folder)} - {"weights.bin"}
            self.assertEqual(names, {"model.onnxar", "out"})
            self.output.unlink()


class SameFile(ContractCase):
    """Input and output are one file."""

    def test_pack_wants_force(self) -> None:
        path = self.archive("w")
        self.fails(USAGE, Fault("output.exists").line(path), "pack", path, "-o", path)

    def test_pack_archive_onto_itself(self) -> None:
        path = self.packed(zoo.tensor("a b"), zoo.tensor("large", zoo.UINT8, 3 * MIB))
        before = path.read_bytes()
        self.succeeds("pack", path, "-o", path, "-f")
        self.assertTrue(path.read_bytes() == before)

    def test_pack_model_onto_itself(self) -> None:
        path = self.model(zoo.tensor("w"))
        before = path.read_bytes()
        self.succeeds("pack", path, "-o", path, "-f")
        self.succeeds("check", "--data", path)
        self.assertEqual(self.unpacked(path), before)

    def test_unpack_onto_itself(self) -> None:
        source = self.model(zoo.tensor("w"))
        path = self.packed(zoo.tensor("w"))
        self.succeeds("unpack", path, "-o", path, "-f")
        self.assertEqual(path.read_bytes(), source.read_bytes())

    def test_external_data_onto_itself(self) -> None:
        source = self.model(zoo.tensor("w"), zoo.tensor("v"))
        expected = source.read_bytes()
        command = ("unpack", source, "-o", source, "-f", "--external-data", "weights.bin")
        for options in ((), ("--align", 4096)):
            self.succeeds(*command, *options)
            self.assertEqual(self.unpacked(source), expected)


class Repeatable(ContractCase):
    def test_same_input_same_bytes(self) -> None:
        tensors = [zoo.tensor(name) for name in ("b", "a", "A", "with space")]
        source = self.model(*tensors)
        outputs = set()
        for moment in (0, 1_000_000_000, 2_000_000_000):
            os.utime(source, (moment, moment))
            self.succeeds("pack", source, "-o", self.output, "-f")
            outputs.add(self.output.read_bytes())
        self.assertEqual(len(outputs), 1)

    def test_whatever_the_place_the_time_zone_and_the_mode(self) -> None:
        one, other = self.model(name="one.onnx"), self.model(name="sub/other.onnx")
        other.chmod(0o600)
        self.succeeds("pack", one, "-o", self.output)
        far = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8"}
        self.succeeds("pack", other, "-o", self.folder / "sub" / "x", "--no-sync", env=far)
        self.assertEqual(self.output.read_bytes(), (self.folder / "sub" / "x").read_bytes())

    def test_external_data(self) -> None:
        command = ("unpack", self.archive("a", "b"), "-o", self.output, "-f", "--external-data")
        made = set()
        for _ in range(2):
            self.succeeds(*command, "weights.bin")
            made.add((self.output.read_bytes(), (self.folder / "weights.bin").read_bytes()))
        self.assertEqual(len(made), 1)


# --- options of pack ------------------------------------------------------------------------------


class Alignment(ContractCase):
    def test_every_alignment_of_archives(self) -> None:
        tensors = [zoo.tensor(f"w{n}", zoo.UINT8, 1024 + 37 * n) for n in range(5)]
        tensors.append(zoo.tensor("large", zoo.UINT8, MIB))
        for exponent in range(6, 16):
            alignment = 1 << exponent
            path = self.packed(*tensors, options=("--align", alignment))
            listing = self.listing(path)
            self.succeeds("check", "--strict", "--data", path)
            self.assertEqual(listing["alignment"], alignment)
            self.assertEqual(listing["model"]["offset"] % alignment, 0)
            for entry in listing["entries"]:
                wanted = max(alignment, 4096 if entry["size"] >= MIB else 64)
                self.assertEqual(entry["alignment"], wanted)
                self.assertEqual(entry["offset"] % wanted, 0)

    def test_spelt_with_a_unit(self) -> None:
        made = [
            self.packed(zoo.tensor("w"), options=("--align", spelt)).read_bytes()
            for spelt in ("4096", "4KiB", "4kib", "4 KiB", "4096b")
        ]
        self.assertEqual(len(set(made)), 1)

    def test_of_data_files(self) -> None:
        source = self.archive("a", "b", "c")
        for alignment in (64, 4096, 65536):
            command = ("unpack", source, "-o", self.output, "-f", "--align", alignment)
            self.succeeds(*command, "--external-data", "weights.bin")
            model = walk.parse(self.output.read_bytes())
            links = [walk.link(site.tensor) for site in walk.sites(model)]
            offsets = [int(link.get("offset", 0)) for link in links]
            self.assertEqual(offsets, [0, max(alignment, 1216), 2 * max(alignment, 1216)])


class Threshold(ContractCase):
    SIZES = (999, 1000, 1023, 1024, 1025, 1_000_000, MIB)

    def moved(self, threshold: object) -> set[int]:
        tensors = (zoo.tensor(f"n{size}", zoo.UINT8, size) for size in self.SIZES)
        path = self.packed(*tensors, options=("--threshold", threshold))
        return {len(data) for name, data in entries_of(path).items() if name != MODEL}

    def test_units(self) -> None:
        for spelt, least in (
            ("0", 0),
            ("1", 1),
            ("1000", 1000),
            ("1KB", 1000),
            ("1kB", 1000),
            ("1KiB", 1024),
            ("1025", 1025),
            ("1MB", 1_000_000),
            ("1MiB", MIB),
            ("1GiB", 1 << 30),
        ):
            with self.subTest(threshold=spelt):
                self.assertEqual(self.moved(spelt), {each for each in self.SIZES if each >= least})

    def test_default(self) -> None:
        path = self.packed(*(zoo.tensor(f"n{size}", zoo.UINT8, size) for size in self.SIZES))
        moved = {len(data) for name, data in entries_of(path).items() if name != MODEL}
        self.assertEqual(moved, {size for size in self.SIZES if size >= 1024})

    def test_of_external_data(self) -> None:
        source = self.model(*(zoo.tensor(f"n{size}", zoo.UINT8, size) for size in self.SIZES))
        options = ("--external-data", "weights.bin", "--threshold", "1MB")
        self.succeeds("unpack", source, "-o", self.output, *options)
        model = walk.parse(self.output.read_bytes())
        outside = [int(walk.link(each.tensor)["length"]) for each in external(model)]
        self.assertEqual(outside, [1_000_000, MIB])


def external(model: walk.Message) -> list[walk.Site]:
    return [site for site in walk.sites(model) if walk.is_external(site.tensor)]


class Sites(ContractCase):
    """Which sites of tensors a set of options moves out of the model."""

    def moved(self, *options: str) -> set[str]:
        source = self.write("sites.onnx", zoo.model(*zoo.at_every_site(zoo.tensor)))
        self.succeeds("pack", source, "-o", self.output, "-f", *options)
        return {site.path for site in external(walk.parse(entries_of(self.output)[MODEL]))}

    def sites(self) -> list[walk.Site]:
        model = walk.parse(zoo.model(*zoo.at_every_site(zoo.tensor)))
        kinds = ("initializer", "attribute", "sparse_values")
        floats = (site for site in walk.sites(model) if site.tensor.data_type == zoo.FLOAT.value)
        return [site for site in floats if site.kind in kinds]

    def test_default(self) -> None:
        expected = {site.path for site in self.sites() if site.in_plain_scope}
        self.assertEqual(self.moved(), expected)

    def test_all_sites(self) -> None:
        self.assertEqual(self.moved("--all-sites"), {site.path for site in self.sites()})

    def test_no_attributes(self) -> None:
        plain = (site for site in self.sites() if site.in_plain_scope)
        expected = {site.path for site in plain if site.kind == "initializer"}
        self.assertEqual(self.moved("--no-attributes"), expected)

    def test_without_attributes_of_all_sites(self) -> None:
        moved = self.moved("--all-sites", "--no-attributes")
        self.assertLessEqual(self.moved("--no-attributes"), moved)
        plain = {site.path for site in self.sites() if site.kind == "attribute"}
        in_scope = {site.path for site in self.sites() if site.in_plain_scope}
        self.assertEqual(moved & plain & in_scope, set())


class Inputs(ContractCase):
    def test_are_told_apart_by_content(self) -> None:
        model, archive = self.model().read_bytes(), self.archive("w").read_bytes()
        for name in ("model.onnxar", "model.zip", "model.txt", "no_extension"):
            with self.subTest(name):
                path = self.write(name, model)
                self.succeeds("check", path)
                self.succeeds("pack", path, "-o", self.output, "-f")
        for name in ("model.onnx", "model.txt", "model.pb", "no_extension"):
            with self.subTest(name):
                path = self.write(name, archive)
                self.assertEqual([each["name"] for each in self.listing(path)["entries"]], ["w"])
                self.succeeds("check", "--data", path)
                self.succeeds("unpack", path, "-o", self.output, "-f")

    def test_data_dir(self) -> None:
        data = zoo.content(zoo.FLOAT, 300, "w")
        source = self.model(linked("w", location="sub/w.bin"), name="models/model.onnx")
        self.write("data/sub/w.bin", data)
        elsewhere = ("--data-dir", self.folder / "data")
        self.assertEqual(run("pack", source, "-o", self.output).returncode, FORMAT)
        self.assertEqual(run("check", source).returncode, FOUND)
        self.succeeds("check", source, *elsewhere)
        self.succeeds("pack", source, "-o", self.output, *elsewhere)
        self.assertEqual(entries_of(self.output)["w"], data)
        self.succeeds("unpack", source, "-o", self.folder / "inline.onnx", *elsewhere)
        inline = walk.parse((self.folder / "inline.onnx").read_bytes())
        self.assertEqual(inline.graph.initializer[0].raw_data, data)

    def test_paths_relative_to_the_working_folder(self) -> None:
        self.model(linked("w", location="w.bin"), name="models/model.onnx")
        self.write("models/w.bin", bytes(1200))
        self.succeeds("pack", "models/model.onnx", "-o", "out", cwd=self.folder)
        self.succeeds("pack", "model.onnx", "-o", "../out2", cwd=self.folder / "models")
        self.assertEqual(self.output.read_bytes(), (self.folder / "out2").read_bytes())

    def test_model_behind_a_link(self) -> None:
        source = self.model(zoo.tensor("w"))
        link = self.folder / "link.onnx"
        link.symlink_to(source.name)
        self.succeeds("pack", link, "-o", self.output)
        self.assertEqual(self.unpacked(self.output), source.read_bytes())
        self.assertTrue(link.is_symlink())

    def test_model_and_data_behind_links(self) -> None:
        """As download caches lay them out: one folder of contents, another of names."""
        data = zoo.content(zoo.FLOAT, 300, "w")
        source = self.model(linked("w", location="model.onnx_data"), name="blobs/0123")
        self.write("blobs/4567", data)
        names = self.folder / "snapshots"
        names.mkdir()
        (names / "model.onnx").symlink_to(f"../blobs/{source.name}")
        (names / "model.onnx_data").symlink_to("../blobs/4567")
        self.succeeds("check", names / "model.onnx")
        self.succeeds("pack", names / "model.onnx", "-o", self.output)
        self.assertEqual(entries_of(self.output)["w"], data)

    def test_names_with_spaces_and_dashes(self) -> None:
        self.model(name="--my model.onnx")
        self.succeeds("pack", "./--my model.onnx", "-o", "-out.onnxar", cwd=self.folder)
        self.succeeds("check", "--", "-out.onnxar", cwd=self.folder)


class PackArchive(ContractCase):
    def test_leaves_unused_entries_out(self) -> None:
        entries = (*weights("left", "w"), Entry("LICENSE.txt", b"free"), model_of(linked("w")))
        path = self.write("source.onnxar", Archive(entries).file)
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["w", "LICENSE.txt"])
        self.assertEqual(entries_of(self.output)["LICENSE.txt"], b"free")
        self.succeeds("check", "--data", self.output)

    def test_gives_keys_anew(self) -> None:
        tensors = (linked("first weight", location="b"), linked("second", location="a"))
        path = self.write("source.onnxar", Archive([*weights("a", "b"), model_of(*tensors)]).file)
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), ["first_weight", "second"])
        self.assertEqual(entries_of(self.output)["second"], weights("a")[0].data)
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))

    def test_drops_what_an_edit_superseded(self) -> None:
        archive = Archive([*weights("w"), model_of(linked("w"))])
        archive.edit(model_of(linked("w"), zoo.tensor("new", count=3)))
        path = self.write("edited.onnxar", archive.file)
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.listing(self.output)["unused_bytes"], 0)
        self.assertEqual(self.unpacked(self.output), self.unpacked(path))

    def test_of_an_archive_is_idempotent(self) -> None:
        path = self.packed(zoo.tensor("a"), zoo.tensor("A"), zoo.tensor("with space"))
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(self.output.read_bytes(), path.read_bytes())

    def test_moves_what_the_options_say(self) -> None:
        path = self.packed(zoo.tensor("small", count=100), options=("--threshold", "0"))
        self.assertEqual(keys_of(path), ["small"])
        self.succeeds("pack", path, "-o", self.output)
        self.assertEqual(keys_of(self.output), [])


class ExternalData(ContractCase):
    """`unpack --external-data NAME`; the names that it refuses are in Usage."""

    def test_data_lies_beside_the_model(self) -> None:
        (self.folder / "sub").mkdir()
        target = self.folder / "sub" / "model.onnx"
        command = ("unpack", self.archive("a", "b"), "-o", target)
        self.succeeds(*command, "--external-data", "weights.bin")
        self.assertEqual(set(snapshot(target.parent)), {"model.onnx", "weights.bin"})
        model = walk.parse(target.read_bytes())
        locations = [walk.link(each.tensor)["location"] for each in external(model)]
        self.assertEqual(locations, ["weights.bin", "weights.bin"])
        walk.load_external(model, target.parent)
        for tensor in model.graph.initializer:
            self.assertEqual(tensor.raw_data, zoo.content(zoo.FLOAT, 300, tensor.name))

    def test_existing_data_file_is_replaced_with_force_alone(self) -> None:
        data = self.write("weights.bin", b"old")
        command = ("unpack", self.archive("w"), "-o", self.output, "--external-data", data.name)
        self.fails(USAGE, Fault("output.exists").line(data), *command)
        self.succeeds(*command, "-f")
        self.assertEqual(data.read_bytes(), zoo.content(zoo.FLOAT, 300, "w"))

    def test_data_file_that_the_output_links_to(self) -> None:
        """Under another name it is the output: writing both would lose one of them."""
        source = self.archive("w")
        self.output.symlink_to("real")
        command = ("unpack", source, "-o", self.output, "--external-data", "real")
        for existing in (False, True):
            if existing:
                self.write("real", b"old")
            with self.subTest(existing=existing), self.nothing_changes():
                self.assertEqual(run(*command, "-f").returncode, USAGE)

    def test_data_file_that_links_to_the_output(self) -> None:
        source = self.archive("w")
        self.write("out", b"old")
        (self.folder / "weights.bin").symlink_to("out")
        command = ("unpack", source, "-o", self.output, "--external-data", "weights.bin")
        with self.nothing_changes():
            self.assertEqual(run(*command, "-f").returncode, USAGE)

    def test_model_without_large_tensors(self) -> None:
        command = ("unpack", self.model(zoo.tensor("w", count=3)), "-o", self.output)
        self.succeeds(*command, "--external-data", "weights.bin")
        self.assertEqual(external(walk.parse(self.output.read_bytes())), [])


if __name__ == "__main__":
    if "ONNXAR" not in os.environ:
        sys.exit(__doc__)
    unittest.main()

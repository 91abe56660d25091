"""The command line as people and scripts rely on it: exit codes, help, streams."""

from __future__ import annotations

import re

from support import command_line
from support import wire_writer as wire
from support.archives import MODEL, Archive, linked, model_of, weights
from support.command_line import DONE, FORMAT, FOUND, IO, MIB, USAGE, Fault, ToolCase, entries_of, run, snapshot


class Help(ToolCase):
    def verbs(self) -> list[str]:
        listed = self.succeeds("--help").stdout.decode().partition("Verbs:\n")[2].partition("\n\n")[0]
        return re.findall(r"^  (\w+)", listed, re.MULTILINE)

    def test_names_the_verbs_and_the_exit_codes(self) -> None:
        verbs = {"pack", "unpack", "ls", "check", "cat", "replace", "link", "recover", "undo", "show", "dump", "extract"}
        self.assertLessEqual(verbs, set(self.verbs()))
        told = self.succeeds("--help").stdout.decode()
        for code in range(5):
            self.assertRegex(told, rf"\n +{code} \S")

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


class Usage(ToolCase):
    """Calls that make no sense: exit code 2, a message on stderr, nothing written."""

    def wrong(self, *arguments: object) -> str:
        before = snapshot(self.folder)
        done = run(*arguments, cwd=self.folder)
        after = snapshot(self.folder)
        self.output.unlink(missing_ok=True)  # one accepted call must not hide the next
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

    def test_invalid_sizes(self) -> None:
        model = self.model()
        wrapping = (str(2**64), "-1", str(64 - 2**64))
        for size in (*wrapping, "", "x", "1.5", "1.5KiB", "64X", "64 64", "4 KiB"):
            self.wrong("pack", model, "-o", "out", f"--align={size}")
            self.wrong("pack", model, "-o", "out", f"--threshold={size}")
        self.wrong("pack", model, "-o", "out", f"--threshold={2**60}GiB")

    def test_standard_output_as_a_file(self) -> None:
        """Only `dump` and `cat` write to it, and no file named `-` appears."""
        model, archive = self.model(), self.archive("w")
        calls = [("pack", model), ("unpack", archive), ("unpack", "--text", archive), ("repack", archive)]
        calls += [("freeze", model), ("link", archive), ("extract", archive, "w")]
        for call in calls:
            self.assertIn("`onnxar dump --with-data`", self.wrong(*call, "-o", "-"))
        self.assertIn("`onnxar dump --with-data`", self.wrong("show", model, "--html", "-"))
        self.succeeds("unpack", archive, "-o", "./-", cwd=self.folder)
        self.assertTrue((self.folder / "-").exists())

    def test_missing_entry(self) -> None:
        archive = self.archive("w")
        for name in ("v", "W", "", "w/", "../w"):
            line = Fault("usage.no_such_entry", name).line(archive)
            self.fails(USAGE, line if name else "onnxar: error[", "cat", archive, name)


class ExitCodes(ToolCase):
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
        path = self.archive_of(*weights("w", count=8), model_of(linked("w", 8)))
        self.succeeds("check", path)
        self.assertEqual(run("check", "--strict", path).returncode, FOUND)


class Streams(ToolCase):
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
        self.fails(FORMAT, "onnxar: error: ", "pack", self.write("no", b"no"), "-o", "x", "-q")

    def test_printers_say_nothing_beside_their_data(self) -> None:
        path = self.archive("w")
        for command in (("ls",), ("ls", "--json"), ("check", "-q", "--json"), ("cat", "--model")):
            done = self.succeeds(*command, path)
            self.assertEqual(done.stderr, "")
            self.assertNotEqual(done.stdout, b"")

    # The summary goes to stderr.
    def test_check_prints_findings_to_stdout(self) -> None:
        path = self.archive_of(*weights("w", count=8), model_of(linked("w", 8)))
        done = self.succeeds("check", path)
        self.assertRegex(done.stdout.decode(), r"\Awarning\[onnx\.external\.small\] .*\n\Z")
        self.assertIn("1 warning,", done.stderr)

    def test_finding_line(self) -> None:
        archive = Archive([*weights("a", "b"), model_of(linked("a"))])
        archive.set_both(0, size=1400, compressed=1400)
        done = run("check", "-q", self.write("overlap.onnxar", archive.file))
        line = rb'\Aerror\[zip\.entry\.overlap\] entry "a" at 0x0: .*\n\Z'
        self.assertRegex(done.stdout, line)

    def test_cat_prints_an_entry_byte_for_byte(self) -> None:
        tensors = (wire.tensor("w"), wire.tensor("large", wire.UINT8, 3 * MIB + 1))
        path = self.packed(*tensors)
        for name, data in entries_of(path).items():
            done = self.succeeds("cat", path, name)
            self.assertEqual((done.stdout == data, done.stderr), (True, ""))
        self.assertEqual(self.succeeds("cat", path, "--model").stdout, entries_of(path)[MODEL])

    def test_no_colour_and_no_progress_off_a_terminal(self) -> None:
        path = self.packed(wire.tensor("large", wire.UINT8, 3 * MIB))
        for command in (("ls", path), ("check", path), ("unpack", path, "-o", self.output)):
            done = self.succeeds(*command)
            self.assertNotRegex(done.stdout.decode() + done.stderr, r"[\x1b\r]")

    def test_paths_are_escaped_in_messages(self) -> None:
        name = "a\x1b[31m\n"
        told = run("ls", self.folder / name).stderr
        self.assertIn(r"a\x1b[31m\x0a", told)
        self.assertNotIn("\x1b", told)
        told = run("pack", self.model(), "-o", self.folder / name).stderr
        self.assertIn(r"a\x1b[31m\x0a", told)
        self.assertNotIn("\x1b", told)


if __name__ == "__main__":
    command_line.main()

"""The manual page, as groff renders it, compared with `--help`."""

from __future__ import annotations

import re
import subprocess

from support import command_line
from support.command_line import ToolCase

WIDE = "-rLL=2000n"  # no line is broken


COLUMN = 28  # where the help has its descriptions


def items(told: str) -> dict[str, str]:
    """The lists of a help text: name -> description, which may begin or go on in the next line."""
    found: dict[str, str] = {}
    name = ""
    for line in told.splitlines():
        if re.match(r"( {2}| {6})\S", line):
            is_long = line[COLUMN - 2 : COLUMN].strip() != ""
            name = line.strip() if is_long else line[:COLUMN].strip()
            found[name] = "" if is_long else line[COLUMN:]
        elif line.startswith(" " * COLUMN):
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


class Manual(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        self.page = self.succeeds("man").stdout
        command = ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", WIDE]
        done = subprocess.run(command, input=self.page, capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")  # the warnings of -ww
        self.text = re.sub(r"[ \n]+", " ", done.stdout.decode())

    def help(self, *verb: str) -> str:
        return self.succeeds(*verb, "--help").stdout.decode()

    def verbs(self) -> dict[str, str]:
        """The description of each."""
        return items(self.help().partition("Verbs:\n")[2].partition("\n\n")[0])

    def section(self, begin: str) -> str:
        """The text from this heading on up to the next line of headings."""
        names = [*(f" {verb} onnxar {verb} [OPTIONS]" for verb in self.verbs()), " EXIT STATUS ", " EXAMPLES ", " VERBS "]
        self.assertEqual(self.text.count(begin), 1, begin)
        rest = self.text.split(begin)[1]
        return rest[: min([rest.find(name) for name in names if name in rest] or [len(rest)])]

    def test_has_every_verb(self) -> None:
        verbs = self.verbs()
        self.assertLessEqual({"pack", "diff", "completion"}, set(verbs))
        for verb, said in verbs.items():
            self.assertIn(said, self.section(f" {verb} onnxar {verb} [OPTIONS]"))

    def test_has_every_option_with_all_that_the_help_says(self) -> None:
        for verb in self.verbs():
            section = self.section(f" {verb} onnxar {verb} [OPTIONS]")
            rows = items(self.help(verb))
            self.assertIn("-h, --help", rows)
            for name, said in rows.items():
                with self.subTest(verb=verb, option=name):
                    self.assertIn(f" {name.removesuffix('...')} ", section)
                    said = re.sub(r"( \((default: .*?|required|may be repeated)\))+$", "", said)
                    self.assertIn(f" {said}. ", section + " ")

    def test_has_values_that_hold_without_an_option(self) -> None:
        self.assertIn("--threshold BYTES Move tensors of at least this many bytes out of the model. Default: 1024. ", self.text)

    def test_has_exit_codes(self) -> None:
        codes = re.findall(r"^ +(\d) (.*)$", self.help().partition("Exit:")[2], re.MULTILINE)
        self.assertEqual([code for code, _ in codes], ["0", "1", "2", "3", "4"])
        section = self.section(" EXIT STATUS ")
        for code, meaning in codes:
            self.assertIn(f"{code} {meaning}. ", section + " ")

    def test_has_every_example(self) -> None:
        section = self.section(" EXAMPLES ")
        for verb in self.verbs():
            example = re.search(r"^Example: (.*)$", self.help(verb), re.MULTILINE)
            self.assertIn(f" {example[1]} ", section + " ")

    def test_is_for_man(self) -> None:
        self.assertRegex(self.text, r"^ ?ONNXAR\(1\)")
        self.assertIn(" NAME onnxar - ONNX archives: one file with a model and its weights, ready to be mapped. ", self.text)
        self.assertTrue(all(byte == 10 or 32 <= byte < 127 for byte in self.page))
        self.assertEqual([line for line in self.page.splitlines() if line.startswith((b"'", b".onnx"))], [])


if __name__ == "__main__":
    command_line.main()

"""Finding verbs and options: `help`, no arguments, and words that are nearly right."""

from __future__ import annotations

from support import command_line
from support.command_line import USAGE, ToolCase, run


class Help(ToolCase):
    def test_help_of_a_verb_is_what_its_option_prints(self) -> None:
        for verb in ("pack", "ls", "completion", "help"):
            self.assertEqual(self.succeeds("help", verb).stdout, self.succeeds(verb, "--help").stdout)

    def test_help_without_a_verb_lists_the_verbs(self) -> None:
        self.assertEqual(self.succeeds("help").stdout, self.succeeds("--help").stdout)

    def test_no_arguments_print_the_help_as_an_error(self) -> None:
        done = run()
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertEqual(done.stderr, self.succeeds("--help").stdout.decode())

    def test_help_of_an_unknown_verb_names_the_nearest(self) -> None:
        done = run("help", "chekc")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("unknown verb `chekc`; did you mean `check`?", done.stderr)


class NearlyRight(ToolCase):
    def told(self, *arguments: object) -> str:
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_verbs(self) -> None:
        for word, verb in {"pakc": "pack", "unpak": "unpack", "chek": "check", "replcae": "replace", "lss": "ls", "list": "ls", "extraction": "extract", "PACK": "pack", "comp": "completion"}.items():
            self.assertIn(f"unknown verb `{word}`; did you mean `{verb}`?", self.told(word, "x"))

    def test_verbs_of_the_python_package_are_named(self) -> None:
        for words in (["cache", "list"], ["help", "cache"], ["sign", "x"], ["verify", "x"]):
            verb = words[1] if words[0] == "help" else words[0]
            self.assertIn(f"only the Python package has the verb `{verb}`; run `onnxar-py {verb}`", self.told(*words))

    def test_unrelated_word_gets_no_suggestion(self) -> None:
        for word in ("transmogrify", "model.onnx", "q", "x" * 1000, "inspect", "compress", "validate", "zip"):
            self.assertNotIn("did you mean", self.told(word))

    def test_options(self) -> None:
        for verb, option, meant in (
            ("pack", "--treshold", "--threshold"),
            ("pack", "--alingn=64", "--align"),
            ("check", "--dat", "--data"),
            ("cat", "--modle", "--model"),
            ("ls", "--jsno", "--json"),
            ("pack", "--alignment=64", "--align"),
            ("pack", "--alingment", "--align"),
            ("pack", "--out", "--output"),
            ("pack", "--Dry_Run", "--dry-run"),
        ):
            line = self.told(verb, "x", option)
            self.assertIn(f"`{verb}` has no option `{option.split('=')[0]}`; did you mean `{meant}`?", line)
            self.assertIn(f"`onnxar {verb} --help`", line)

    def test_an_option_that_is_near_nothing(self) -> None:
        line = self.told("ls", "x", "--frobnicate")
        self.assertIn("`ls` has no option `--frobnicate`; `onnxar ls --help` lists them", line)

    def test_option_of_the_command_precedes_the_verb(self) -> None:
        line = self.told("ls", "x", "--json-errors")
        self.assertIn("`--json-errors` goes before the verb: `onnxar --json-errors ls ...`", line)

    def test_standard_input_needs_pack_or_unpack(self) -> None:
        for words in ("ls -", "show -", "check -", "cat - --model", "link - -o x", "replace - m.onnx", "replace a.onnxar -", "diff - b"):
            self.assertIn("only `pack` and `unpack` read the standard input: write it to a file first", self.told(*words.split()))

    def test_control_characters_in_options_are_escaped(self) -> None:
        self.assertIn("--a\\x1b[2J", self.told("ls", "x", "--a\x1b[2J"))

    def test_empty_value_is_not_taken_for_a_missing_one(self) -> None:
        for command in (("freeze", "-o", "x", "--weights"), ("show", "--html"), ("link", "--hub"), ("unpack", "--output")):
            self.assertIn(f"{command[-1]} was given an empty value", self.told(*command, "", "model.onnxar"))

    def test_option_is_not_taken_as_value_of_another(self) -> None:
        for command in (("replace", "a", "b", "--model", "-n"), ("unpack", "a", "--external-data", "--dry-run")):
            line = self.told(*command)
            option, value = command[-2:]
            self.assertIn(f"{option} was given the option {value} as its value; `{option}={value}`", line)
        self.assertIn("a: ", run("unpack", "a", "-o", "b", "--external-data=-n").stderr)

    def test_an_option_before_the_verb(self) -> None:
        self.assertIn("`onnxar` has no option `-x`; `onnxar --help` lists them", self.told("-x"))

    def test_a_surplus_argument_is_named_and_escaped(self) -> None:
        self.assertIn("surplus", self.told("ls", "x", "*", "surplus"))
        self.assertIn("b\\x1b[2J", self.told("ls", "x", "*", "b\x1b[2J"))

    def test_wrong_arguments_name_the_verb_and_its_help(self) -> None:
        for arguments, what in {
            ("ls",): "`ls` needs ARCHIVE: an archive",
            ("pack",): "`pack` needs a MODEL, or graphs with --graph NAME=FILE",
            ("extract", "x", "t"): "`extract` needs --output: the file to write",
            ("ls", "x", "--sort", "colour"): "`ls`: --sort: colour not in {size,name,offset}",
        }.items():
            self.assertIn(f"{what}; `onnxar {arguments[0]} --help` explains it", self.told(*arguments))


if __name__ == "__main__":
    command_line.main()

"""Completion in the shells themselves: `completion bash|zsh|fish`."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess

from support import command_line
from support.command_line import USAGE, ToolCase, run

PROMPT = "ready> "
KILL_LINE = "\x15"


class ShellCase(ToolCase):
    shell = ""

    def setUp(self) -> None:
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f"no {self.shell} here")
        self.script = self.write("script", self.succeeds("completion", self.shell).stdout)
        for name in ("model.onnx", "my model.onnxar", "home/deep.onnx"):
            self.write(f"work/{name}", b"")
        self.work = self.folder / "work"

    def verbs(self) -> list[str]:
        """As the help lists them."""
        listed = self.succeeds("--help").stdout.decode().partition("Verbs:\n")[2].partition("\n\n")[0]
        return re.findall(r"^  (\w+)", listed, re.MULTILINE)

    def options(self, *verb: str) -> set[str]:
        """As the help lists them."""
        told = self.succeeds(*verb, "--help").stdout.decode()
        named = re.findall(r"^ {2,6}(-.*?)(?:  .*)?$", told, re.MULTILINE)
        return {name.split()[0] for names in named for name in names.split(", ")}

    def in_shell(self, *arguments: str) -> str:
        """The output of the shell."""
        return command_line.output_of(self.shell, *arguments).decode()

    def typed(self, lines: list[str], command: list[str], **environment: str) -> list[list[str]]:
        """What arguments `onnxar` gets from each of these lines, keys at a terminal. The shell's start file makes it a
        function that writes them to the file `typed`."""
        terminal, side = pty.openpty()
        given = {**os.environ, "TERM": "dumb", **environment}
        process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, cwd=self.work, env=given, start_new_session=True
        )
        os.close(side)
        said = b""
        try:
            for line in [*lines, "exit"]:
                begin = len(said)
                while PROMPT.encode() not in said[begin:]:
                    self.assertTrue(select.select([terminal], [], [], 60)[0], said.decode(errors="replace"))
                    said += os.read(terminal, 1 << 16)
                os.write(terminal, line.encode() + b"\n")
            while said_more := os.read(terminal, 1 << 16):
                said += said_more
        except OSError:  # the other side is closed
            pass
        self.assertEqual(process.wait(10), 0, said.decode(errors="replace"))
        os.close(terminal)
        self.assertTrue((self.work / "typed").exists(), said.decode(errors="replace"))
        return [call.split("\n") for call in (self.work / "typed").read_text().split("\n;\n")[:-1]]

    def becomes(self, expected: dict[str, str], *given: object) -> None:
        """Compares the words that keys become with these; `given` is for `press`."""
        found = self.press(list(expected), *given)
        self.assertEqual(dict(zip(expected, map(" ".join, found), strict=True)), expected)


KEYS = {  # the same in each shell
    "onnxar che\tmo\t": "check model.onnx",
    "onnxar ls my\t": "ls my model.onnxar",
    "onnxar pack --checksum=s\t": "pack --checksum=sha1",
    "onnxar completion z\t": "completion zsh",
    "onnxar pack --align mo\t": "pack --align mo",
}
START = f"PS1='{PROMPT}'; onnxar() {{ printf '%s\\n' \"$@\" ';' >> typed; }}\n"


class Bash(ShellCase):
    shell = "bash"

    def offered(self, *words: str) -> list[str]:
        """By the function, for the last of the words after `onnxar`."""
        ask = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _onnxar 2> /dev/null; '
            'for each in "${COMPREPLY[@]}"; do printf "%s\\n" "$each"; done'  # compopt wants readline
        )
        return self.in_shell("--norc", "-c", ask, "bash", str(self.script), "onnxar", *words).splitlines()

    def press(self, lines: list[str]) -> list[list[str]]:
        start = self.write("start", (START + f"source {self.script}\n").encode())
        return self.typed(lines, ["bash", "--noprofile", "--rcfile", str(start), "-i"], HISTFILE="")

    def test_verbs(self) -> None:
        self.assertEqual(self.offered(""), self.verbs())
        self.assertEqual(self.offered("re"), ["repack", "replace", "recover"])
        self.assertEqual(self.offered("-"), ["-h", "--help", "--version"])

    def test_every_option_of_every_verb(self) -> None:
        for verb in self.verbs():
            with self.subTest(verb=verb):
                self.assertEqual(set(self.offered(verb, "model.onnx", "-")), self.options(verb))

    def test_words_to_choose_from(self) -> None:
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.offered("completion", "z"), ["zsh"])
        self.assertEqual(self.offered("pack", "--checksum", ""), ["sha1"])
        self.assertEqual(self.offered("pack", "--checksum", "="), ["sha1"])
        self.assertEqual(self.offered("pack", "--checksum", "=", "sh"), ["sha1"])

    def test_values_are_no_options(self) -> None:
        self.assertEqual(self.offered("pack", "--align", ""), [])
        self.assertEqual(self.offered("pack", "-o", ""), [])

    def test_keys(self) -> None:
        self.write("work/hotel", b"")
        self.becomes(
            {
                **KEYS,
                "onnxar pack --thres\t1 -o mo\t": "pack --threshold 1 -o model.onnx",
                "onnxar check --data-dir ho\t": "check --data-dir home/",  # one more file begins like this
            }
        )


class Zsh(ShellCase):
    shell = "zsh"
    BEGIN = "autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' insert-tab false; setopt no_beep no_auto_list\n"
    # Records everything that is offered, with the verb.
    NOTE = r"""
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)* ]]; then
    builtin compadd -O hits "$@"
    (( ! $#hits )) || print -rl -- $BUFFER[(w)2]\ $^hits >> offered
  fi
  builtin compadd "$@"
}
"""

    def press(self, lines: list[str], start: str = "") -> list[list[str]]:
        self.write(".zshrc", (self.BEGIN + START + start + f"source {self.script}\n").encode())
        return self.typed(lines, ["zsh", "-d", "-i"], ZDOTDIR=str(self.folder), HISTFILE="")

    def test_syntax(self) -> None:
        self.assertEqual(self.in_shell("-n", str(self.script)), "")

    def test_keys(self) -> None:
        self.write("work/hotel", b"")
        self.becomes(
            {
                **KEYS,
                "onnxar pack --thres\t1 -o mo\t": "pack --threshold=1 -o model.onnx",
                "onnxar check --data-dir ho\t": "check --data-dir home",  # of files there is another
                "onnxar cat model.onnx mo\t": "cat model.onnx mo",  # the name of an entry
            }
        )

    def test_every_option_of_every_verb(self) -> None:
        verbs = self.verbs()
        self.press(["".join(f"onnxar {verb} -\t{KILL_LINE}" for verb in verbs) + "onnxar"], self.NOTE)
        offered = {tuple(line.split(" ", 1)) for line in (self.work / "offered").read_text().splitlines()}
        for verb in verbs:
            with self.subTest(verb=verb):
                found = {word for of_verb, word in offered if of_verb == verb}
                self.assertEqual({word.rstrip("=") for word in found}, self.options(verb))

    def test_as_a_file_that_the_shell_finds_by_name(self) -> None:
        shutil.copy(self.script, self.write("functions/_onnxar", b""))
        self.write(".zshrc", (f"fpath=({self.folder}/functions $fpath)\n" + self.BEGIN + START).encode())
        found = self.typed(["onnxar che\tmo\t"], ["zsh", "-d", "-i"], ZDOTDIR=str(self.folder))
        self.assertEqual(found, [["check", "model.onnx"]])


class Fish(ShellCase):
    shell = "fish"

    def offered(self, line: str) -> dict[str, str]:
        """With the description of each."""
        ask = f"cd {self.work}; source {self.script}; complete -C {line!r}"
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}
        done = subprocess.run(
            ["fish", "--no-config", "-c", ask], check=True, capture_output=True, text=True, env={**os.environ, **home}
        )
        self.assertEqual(done.stderr, "")
        return dict(row.partition("\t")[::2] for row in done.stdout.splitlines())

    def test_verbs(self) -> None:
        self.assertEqual(set(self.offered("onnxar ")), set(self.verbs()))
        self.assertEqual(self.offered("onnxar pa"), {"pack": "Put models and their weights into one archive"})

    def test_every_option_of_every_verb(self) -> None:
        for verb in self.verbs():
            with self.subTest(verb=verb):
                found = set(self.offered(f"onnxar {verb} -")) | set(self.offered(f"onnxar {verb} --"))
                self.assertEqual({word.rstrip("=") for word in found}, self.options(verb))

    def test_words_to_choose_from(self) -> None:
        self.assertEqual(set(self.offered("onnxar completion ")), {"bash", "zsh", "fish"})
        self.assertEqual(set(self.offered("onnxar pack --checksum ")), {"sha1"})
        self.assertEqual(set(self.offered("onnxar pack --checksum=s")), {"--checksum=sha1"})

    def test_files_and_folders(self) -> None:
        files = {"model.onnx", "my model.onnxar", "home/"}
        self.assertEqual({word.replace("\\ ", " ") for word in self.offered("onnxar ls ")}, files)
        self.assertEqual({word.replace("\\ ", " ") for word in self.offered("onnxar pack model.onnx -o ")}, files)
        self.assertEqual(set(self.offered("onnxar check --data-dir ")), {"home/"})
        self.assertEqual(self.offered("onnxar pack --align "), {})

    def test_later_word_is_not_completed_as_a_verb(self) -> None:
        self.assertNotIn("--checksum", self.offered("onnxar check pack --c"))


class Usage(ToolCase):
    def test_other_shells(self) -> None:
        for shell in ("tcsh", "BASH", ""):
            done = run("completion", shell)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertIn("SHELL: tcsh not in {bash,zsh,fish}", run("completion", "tcsh").stderr)


if __name__ == "__main__":
    command_line.main()

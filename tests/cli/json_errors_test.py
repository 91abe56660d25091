"""--json-errors: an error as one line of JSON on stderr, for programs that run the tool."""

from __future__ import annotations

import json

from support import command_line
from support.archives import linked
from support.command_line import FORMAT, IO, USAGE, ToolCase, run

FIELDS = ["code", "path", "entry", "offset", "message", "hint"]


class JsonErrors(ToolCase):
    def told(self, exit_code: int, *arguments: object) -> dict:
        done = run("--json-errors", *arguments)
        self.assertEqual((done.returncode, done.stdout), (exit_code, b""), done.stderr)
        [line] = done.stderr.splitlines()
        error = json.loads(line)["error"]
        self.assertEqual(list(error), FIELDS)
        return error

    def test_what_does_not_apply_is_null(self) -> None:
        path = self.folder / "missing"
        error = self.told(IO, "ls", path)
        self.assertEqual((error["code"], error["path"]), ("io.not_found", str(path)))
        self.assertEqual((error["entry"], error["offset"], error["hint"]), (None, None, None))

    def test_the_place_is_in_fields_and_not_in_the_message(self) -> None:
        archive = self.archive("w")
        error = self.told(USAGE, "cat", archive, "none")
        self.assertEqual((error["code"], error["entry"], error["path"]), ("usage.no_such_entry", "none", str(archive)))
        self.assertNotIn(str(archive), error["message"])

    def test_hint_has_id_value_and_words_of_the_command(self) -> None:
        archive = self.archive("w")
        error = self.told(USAGE, "pack", archive, "-o", archive)
        self.assertEqual(error["hint"]["id"], "output.overwrite")
        self.assertIn("--force", error["hint"]["text"])
        self.assertNotIn("--force", error["message"])

    def test_damage_has_an_offset(self) -> None:
        error = self.told(FORMAT, "pack", self.model(linked("w", location="gone.bin")), "-o", self.output)
        self.assertEqual((error["code"], error["hint"]["id"]), ("onnx.external_data.missing", "data.folder"))
        self.assertIsInstance(error["offset"], int)

    def test_wrong_calls_are_reported_as_json(self) -> None:
        for call in (("ls",), ("ls", "a", "--none"), ("none",), ()):
            self.assertEqual(self.told(USAGE, *call)["code"], "usage.argument")

    def test_names_of_any_bytes_are_printed_in_ascii(self) -> None:
        done = run("--json-errors", "cat", self.archive("w"), "gr\u00f6\u202e\x1b")
        self.assertTrue(done.stderr.isascii())
        self.assertNotIn("\x1b", done.stderr)

    def test_without_the_option_errors_are_text(self) -> None:
        self.fails(IO, "onnxar: error[io.not_found] ", "ls", "--json", self.folder / "missing")


if __name__ == "__main__":
    command_line.main()

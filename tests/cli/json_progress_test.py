"""--json-progress: lines of JSON on stderr that say how far the tool is, for programs that run it."""

from __future__ import annotations

import json

from support import command_line
from support.command_line import DONE, MIB, USAGE, ToolCase, run


class JsonProgress(ToolCase):
    def told(self, *arguments: object) -> list[tuple[int, int]]:
        """The reports, which also `-q` does not silence."""
        done = run("--json-progress", *arguments, "-q")
        self.assertEqual(done.returncode, DONE, done.stderr)
        rows = [json.loads(line)["progress"] for line in done.stderr.splitlines()]
        return [(row["done"], row["total"]) for row in rows]

    def test_reports_grow_up_to_the_total(self) -> None:
        model, packed = self.sparse(64 * MIB), self.folder / "packed.onnxar"
        for arguments in (
            ("pack", model, "-o", packed, "--no-sync"),
            ("check", "--data", packed),
            ("digest", packed),
            ("freeze", packed, "-o", self.folder / "frozen.onnxar", "--no-sync"),
            ("diff", model, packed),
            ("unpack", packed, "-o", self.folder / "again.onnx", "--no-sync"),
        ):
            reports = self.told(*arguments)
            self.assertGreater(len(reports), 0, arguments)
            self.assertEqual(reports, sorted(reports))
            self.assertEqual({total for _, total in reports}, {reports[-1][0]})

    def test_an_unknown_total_is_0(self) -> None:
        packed = self.archive("w")
        done = run("--json-progress", "dump", "--with-data", packed)
        reports = [json.loads(line)["progress"] for line in done.stderr.splitlines()]
        self.assertEqual({report["total"] for report in reports}, {0})
        self.assertEqual(reports[-1]["done"], len(done.stdout))

    def test_an_error_follows_as_its_own_line(self) -> None:
        done = run("--json-errors", "--json-progress", "pack", self.folder / "none", "-o", self.output)
        self.assertEqual(json.loads(done.stderr.splitlines()[-1])["error"]["code"], "io.not_found")

    def test_progress_needs_the_option_before_the_verb(self) -> None:
        packed = self.archive("w")
        self.assertNotIn("progress", run("check", "--data", packed).stderr)
        self.assertEqual(run("check", "--data", packed, "--json-progress").returncode, USAGE)


if __name__ == "__main__":
    command_line.main()

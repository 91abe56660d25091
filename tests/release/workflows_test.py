"""The workflows run commands that exist, with pinned actions and no more rights than they need."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


class Workflows(unittest.TestCase):
    def test_every_action_is_pinned_to_a_commit(self) -> None:
        used = [line.strip() for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
        self.assertGreater(len(used), 5)
        for line in used:
            self.assertRegex(line, r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_an_action_has_one_version_in_all_workflows(self) -> None:
        found = {match for path in WORKFLOWS for match in re.findall(r"uses: (\S+)@(\S+)", path.read_text())}
        self.assertEqual(len(found), len({action for action, _ in found}))

    def test_only_publishing_jobs_may_write(self) -> None:
        writing = set()
        for path in WORKFLOWS:
            top = re.findall(r"(?m)^permissions:(?: \{\}$|\n  contents: read$)", path.read_text())
            self.assertEqual(len(top), 1, path)
            for job in re.split(r"(?m)^  (?=\w+:$)", path.read_text().partition("\njobs:\n")[2]):
                for right in re.findall(r"([\w-]+): write\b", job):
                    writing.add((path.stem, job.partition(":")[0], right))
        self.assertEqual(writing, {("release", "pypi", "id-token"), ("release", "npm", "id-token"), ("release", "github", "contents")})

    def test_no_secret_is_stored(self) -> None:
        for path in WORKFLOWS:
            self.assertNotIn("${{ secrets.", path.read_text())

    def test_commands_of_dev_and_files_exist(self) -> None:
        text = "".join(path.read_text() for path in WORKFLOWS)
        commands = set(re.findall(r"\./dev (\w+)", text)) | set(re.findall(r"command: \[([\w, ]+)\]", text)[0].split(", "))
        self.assertEqual(commands, {"test", "verify", "release"})
        for file in [f"tools/dev/{command}.sh" for command in commands] + re.findall(r"python/tests/\w+\.py", text):
            self.assertTrue((ROOT / file).is_file(), file)


if __name__ == "__main__":
    unittest.main()

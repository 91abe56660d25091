"""Compares src/README.md with the sources: every room has a line, and every stop of a journey exists."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "src/README.md").read_text()
STOP = re.compile(r"`([a-z_]+/[a-z0-9_]+\.(?:cc|h))`: `([\w:]+)`")
MORE = re.compile(r"; `([A-Z]\w+::\w+|[a-z_]+)` ")  # a further function of the same file


def defines(path: pathlib.Path, function: str) -> bool:
    """Whether the file names `function` where it defines or declares it: `Class::member(`, `name(` or `class Name`; or
    `member(` where it defines the class."""
    text = path.read_text()
    owner, _, member = function.rpartition("::")
    if owner and re.search(rf"^(?:class|struct) {owner}\b[^;]*{{", text, re.MULTILINE):
        return bool(re.search(rf"\b{member}\(", text))
    return bool(re.search(rf"(?:\b{re.escape(function)}\(|^(?:class|struct) {re.escape(function)}\b)", text, re.MULTILINE))


MOST_STOPS = 8


class Readme(unittest.TestCase):
    def test_every_room_has_a_line_and_every_line_a_room(self) -> None:
        rooms = {folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir()}
        self.assertEqual(set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)), rooms)

    def test_every_stop_of_a_journey_exists(self) -> None:
        stops = STOP.findall(README)
        self.assertGreater(len(stops), 20)
        for file, function in stops:
            with self.subTest(file=file, function=function):
                self.assertTrue((ROOT / "src" / file).is_file())
                self.assertTrue(defines(ROOT / "src" / file, function))

    def test_further_functions_of_a_stop_are_in_its_file(self) -> None:
        for line in README.splitlines():
            stop = STOP.search(line)
            for function in MORE.findall(line) if stop else []:
                with self.subTest(line=line):
                    self.assertTrue(defines(ROOT / "src" / stop.group(1), function))

    def test_journeys_have_few_stops(self) -> None:
        for journey in README.split("\n### ")[1:]:
            stops = [line for line in journey.splitlines() if STOP.match(line.partition(". ")[2])]
            self.assertIn(len(stops), range(6, MOST_STOPS + 1), journey.splitlines()[0])

    def test_the_picture_has_every_room(self) -> None:
        picture = README.split("```")[1]
        for room in (ROOT / "src").iterdir():
            if room.is_dir():
                self.assertRegex(picture, rf"\b{room.name}\b")

    def test_it_is_short(self) -> None:
        self.assertLessEqual(len(README.splitlines()), 120)


if __name__ == "__main__":
    unittest.main()

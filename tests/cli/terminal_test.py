"""The command line on a terminal: colour, width, progress, and bytes that a terminal must not get."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

from onnx import helper

from support import command_line
from support import wire_writer as wire
from support.archives import Entry, linked, model_of, weights
from support.command_line import DONE, FOUND, MIB, ON_WINDOWS, USAGE, ToolCase, run
from support.terminal import SECONDS, Terminal, terminal

ESCAPE = "\x1b["
LONG = "encoder." + "layers." * 20 + "weight"
PROGRESS = re.compile(r"\r(\w+)  (?:(\d+)%  )?[0-9.]+ \w+(?: of [0-9.]+ \w+)?  [0-9.]+ \w+/s")


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r", "").splitlines()


class ScreenCase(ToolCase):
    def on_screen(self, *arguments: object, columns: int = 80, **environment: str) -> tuple[int, str]:
        """The exit code, and all that a terminal gets."""
        self.on_posix("Wine draws its screen by sequences of its own")
        with terminal(columns) as screen:
            return screen.run(*arguments, **environment)


class Colour(ScreenCase):
    def broken(self) -> Path:
        return self.archive_of(*weights("w", "left"), model_of(linked("w"), linked("v")))

    def test_severities_have_colours_on_a_terminal(self) -> None:
        code, text = self.on_screen("check", self.broken())
        self.assertEqual(code, FOUND)
        self.assertIn("\x1b[31;1merror[onnx.external_data.missing]\x1b[0m ", text)
        self.assertIn("\x1b[33;1mwarning[archive.entry.unused]\x1b[0m ", text)

    def test_an_error_has_a_colour(self) -> None:
        self.assertIn("onnxar: \x1b[31;1merror[io.not_found]\x1b[0m ", self.on_screen("ls", self.folder / "missing")[1])

    def test_no_color_and_dumb_terminals_have_no_colour(self) -> None:
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            code, text = self.on_screen("check", self.broken(), **environment)
            self.assertEqual(code, FOUND)
            self.assertNotIn(ESCAPE, text, environment)

    def test_an_empty_no_color_is_not_set(self) -> None:
        with terminal() as screen:
            self.assertIn(ESCAPE, screen.run("check", self.broken(), NO_COLOR="")[1])

    def test_json_has_no_colour(self) -> None:
        self.assertNotIn(ESCAPE, self.on_screen("check", "--json", "-q", self.broken())[1])


class Width(ScreenCase):
    def test_a_listing_fits_the_terminal(self) -> None:
        path = self.packed(wire.tensor(LONG), wire.tensor("w"))
        for columns in (70, 80, 120):
            code, text = self.on_screen("ls", path, columns=columns)
            lines = plain(text)
            self.assertEqual(code, DONE)
            self.assertLessEqual(max(map(len, lines)), columns)
            self.assertIn("...", lines[1])
            self.assertIn("weight", lines[1].split()[1], "the end of a name tells it from others")

    def test_a_listing_in_a_pipe_has_whole_names(self) -> None:
        path = self.packed(wire.tensor(LONG))
        self.assertIn(LONG, self.succeeds("ls", path).stdout.decode())

    def test_a_summary_fits_the_terminal(self) -> None:
        path = self.model(*(wire.tensor(f"t{i}", kind) for i, kind in enumerate(wire.TYPES.values())))
        code, text = self.on_screen("show", path, columns=50)
        self.assertEqual(code, DONE)
        lines = plain(text)
        words = [line for line in lines if str(path) not in line and len(line.split()[-1]) < 30]
        self.assertLessEqual(max(map(len, words)), 50)
        self.assertTrue(any(line.startswith(" " * 15) for line in lines), "a long line goes on in the next one")

    def test_nodes_fit_the_terminal(self) -> None:
        names = [f"input_{i}" for i in range(20)]
        body = helper.make_graph([helper.make_node("Sum", names, ["z"])], "body", [], [])
        nodes = [helper.make_node("Sum", names, ["y"]), helper.make_node("Loop", ["n", "c"], ["l"], body=body)]
        path = self.write("m.onnx", helper.make_model(helper.make_graph(nodes, "g", [], [])).SerializeToString())
        code, text = self.on_screen("show", "--nodes", path, columns=60)
        self.assertEqual(code, DONE)
        lines = plain(text)
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertEqual(len({len(line) - len(line.lstrip()) for line in lines}), 4, "of two levels, first lines and others")
        whole = self.succeeds("show", "--nodes", path).stdout.decode()
        self.assertEqual(len(whole.splitlines()), 3)
        self.assertEqual(" ".join(text.split()), " ".join(whole.split()))


class Binary(ScreenCase):
    def archive_with(self, name: str, data: bytes) -> Path:
        return self.archive_of(*weights("w"), Entry(name, data), model_of(linked("w")))

    def test_a_terminal_gets_no_binary(self) -> None:
        path = self.archive("w")
        for which in ("w", "--model"):
            code, text = self.on_screen("cat", path, which)
            self.assertEqual(code, USAGE)
            self.assertIn("the entry is not text, and the standard output is a terminal", plain(text)[0])
            self.assertIn("`> FILE`", text)

    def test_a_terminal_gets_no_control_characters(self) -> None:
        for data in (b"a\x1b[2Jb", b"\xc2\x9b2J", b"\xff", b"a\x00", "\u202eabc".encode()):
            path = self.archive_with("notes/a.txt", data)
            with terminal() as screen:
                self.assertEqual(screen.run("cat", path, "notes/a.txt")[0], USAGE, data)
            self.assertEqual(self.succeeds("cat", path, "notes/a.txt").stdout, data)

    def test_a_terminal_gets_text(self) -> None:
        text = '{"a": "größe \\\\ 模型",\n\t"b": 1}\n' * 500
        path = self.archive_with("tokenizer.json", text.encode())
        with terminal() as screen:
            code, seen = screen.run("cat", path, "tokenizer.json", streams=("stdout",))
        self.assertEqual(code, DONE)
        if not ON_WINDOWS:  # Wine draws its screen by sequences of its own
            self.assertEqual(seen.replace("\r\n", "\n"), text)


class Progress(ToolCase):
    """A reader that waits makes the work take longer than a second, however fast the machine is."""

    def slow_cat(self, screen: Terminal, *options: str) -> str:
        tensor = wire.fields_of("w", wire.UINT8, [70 * MIB], wire.DataFile("w").link(length=70 * MIB))
        path = self.archive_of(Entry("w", bytes(70 * MIB)), model_of(tensor))
        process = screen.start("cat", path, "w", *options, streams=("stderr",))
        assert process.stdout is not None
        left = 70 * MIB - len(process.stdout.read(MIB))
        time.sleep(1.2)
        while left:
            left -= len(process.stdout.read(min(left, MIB)))
        text = screen.read_all(process)
        process.stdout.close()
        self.assertEqual(process.returncode, DONE)
        return text

    def test_long_work_shows_progress_and_clears_the_line(self) -> None:
        self.on_posix("Wine draws its screen by sequences of its own")
        with terminal() as screen:
            text = self.slow_cat(screen)
        found = PROGRESS.search(text)
        self.assertIsNotNone(found, text)
        assert found is not None
        self.assertEqual(found[1], "writing")
        self.assertLessEqual(int(found[2]), 100)
        self.assertIn(" of 73.4 MB", text)
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-40:]))

    def test_a_narrow_terminal_gets_a_shorter_line(self) -> None:
        self.on_posix("Wine draws its screen by sequences of its own")
        with terminal(30) as screen:
            text = self.slow_cat(screen)
        for line in text.split("\r"):
            self.assertLess(len(line.replace("\x1b[K", "")), 30)

    def test_quiet_shows_no_progress(self) -> None:
        with terminal() as screen:
            self.assertEqual(self.slow_cat(screen, "-q"), "")

    def stopped_in_the_middle(self, screen: Terminal, *arguments: object) -> str:
        """Stops the tool for more than a second when it has begun to write."""
        process = screen.start(*arguments, streams=("stderr",))
        folder = Path(f"/proc/{process.pid}/fd")
        end = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            if any(self.is_large_output(link) for link in folder.glob("*")):
                break
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.2)
        process.send_signal(signal.SIGCONT)
        text = screen.read_all(process)
        assert process.stdout is not None
        process.stdout.close()
        self.assertEqual(process.returncode, DONE, text)
        return text

    @staticmethod
    def is_large_output(link: Path) -> bool:
        try:
            info = Path(f"/proc/{link.parts[2]}/fdinfo/{link.name}").read_text()
        except OSError:
            return False
        fields = dict(line.split(":\t", 1) for line in info.splitlines() if ":\t" in line)
        is_writing = int(fields["flags"], 8) & 3 != 0
        return is_writing and _written(link) > 0

    def test_packing_shows_progress_only_on_a_terminal(self) -> None:
        self.on_posix("Wine draws its screen by sequences of its own")
        model = self.sparse(128 * MIB)
        with terminal() as screen:
            text = self.stopped_in_the_middle(screen, "pack", model, "-o", self.output, "--no-sync")
        found = PROGRESS.search(text)
        self.assertIsNotNone(found, text)
        assert found is not None
        self.assertEqual(found[1], "packing")
        self.assertIn("packed 1 tensor", text)
        self.assertNotIn("\r", run("pack", model, "-o", self.output, "-f", "--no-sync").stderr)


def _written(link: Path) -> int:
    """The size of a regular file that a descriptor has open; 0 for other things."""
    try:
        status = link.stat()
    except OSError:
        return 0
    return status.st_size if not link.is_dir() and link.is_file() else 0


if __name__ == "__main__":
    command_line.main()

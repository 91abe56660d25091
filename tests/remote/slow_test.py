"""Servers that are slow, fall silent or never answer: a request ends in the time that --timeout gives it, and not before."""

import socket
import time
import unittest

from support.archives import Archive, Entry, linked, model_of, weights
from support.command_line import DONE, IO, USAGE, ToolCase, main, run
from support.slow_server import slow_server
from support.terminal import Terminal

LIMIT = 0.4  # seconds
WITHIN = 4.0  # two tries, a pause, and a machine that is busy


class SlowCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        names = [f"w{i}" for i in range(40)]
        self.data = bytes(Archive([*weights(*names, count=20_000), model_of(*(linked(name, 20_000) for name in names))]).file)
        manager = slow_server(self.data)
        self.server = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)

    def times_out(self, *arguments: object, limit: float = LIMIT) -> str:
        begin = time.monotonic()
        done = run(*arguments, "--timeout", limit)
        self.assertEqual((done.returncode, done.stdout), (IO, b""), done.stderr)
        self.assertIn("error[remote.timeout]", done.stderr)
        self.assertIn("--timeout 0", done.stderr)
        self.assertLess(time.monotonic() - begin, WITHIN)
        self.assertGreater(time.monotonic() - begin, 2 * limit)
        return done.stderr


class Silence(SlowCase):
    def test_a_server_that_never_answers(self) -> None:
        self.server.delay = 60
        self.assertIn("did not answer", self.times_out("ls", self.server.address))
        self.assertEqual(len(self.server.requests), 2, "it is asked once more")

    def test_a_server_that_does_not_even_accept(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            self.times_out("ls", f"http://127.0.0.1:{deaf.getsockname()[1]}/m.onnxar")
            self.times_out("ls", f"https://127.0.0.1:{deaf.getsockname()[1]}/m.onnxar")

    def test_a_server_that_stops_in_the_middle(self) -> None:
        self.server.most = 1000
        self.assertIn("1 KiB/s for 400 ms", self.times_out("ls", self.server.address))
        self.server.honest, self.server.most = 1, 10
        self.times_out("cat", self.server.address, "w3")

    def test_a_byte_at_a_time(self) -> None:
        self.server.piece, self.server.pause = 1, 0.1
        self.times_out("ls", self.server.address)
        self.server.piece, self.server.pause, self.server.head_pause = 1 << 20, 0, 0.1
        self.times_out("ls", self.server.address)

    def test_every_verb_that_takes_an_address(self) -> None:
        self.server.delay = 60
        for verb in (("show",), ("check",), ("dump",), ("diff", self.server.address), ("cat", "w3"), ("extract", "w3", "-o", self.output),
                     ("unpack", "-o", self.output), ("pack", "-o", self.output), ("get", "-o", self.output), ("freeze", "-o", self.output)):  # fmt: skip
            with self.subTest(verb[0]):
                self.times_out(verb[0], self.server.address, *verb[1:], limit=0.1)
        self.assertEqual([each.name for each in self.folder.iterdir()], [])

    def test_what_came_of_a_download_is_kept(self) -> None:
        entry = Entry("w", bytes(20 << 20))
        self.server.data = bytes(Archive([entry, model_of()]).file)
        self.server.honest, self.server.most = 2, 1000
        self.times_out("get", self.server.address, "-o", self.output, "-c", 1)
        self.server.slow = 0
        told = self.succeeds("get", self.server.address, "-o", self.output).stderr
        self.assertIn("were here already", told)
        self.assertEqual(self.output.read_bytes(), self.server.data)


class Recovery(SlowCase):
    def test_a_read_that_is_too_slow_once_is_read_again(self) -> None:
        for most in (0, 1000, 70_000):
            with self.subTest(most=most):
                self.server.slow, self.server.most = 1, most
                self.succeeds("ls", self.server.address, "--timeout", LIMIT)

    def test_a_server_that_falls_silent_again_and_again_but_brings_data_is_followed(self) -> None:
        self.server.data = bytes(Archive([Entry("w", bytes(600_000)), model_of()]).file)
        self.server.honest, self.server.most = 1, 100_000
        self.assertEqual(self.succeeds("cat", self.server.address, "w", "--timeout", 0.2).stdout, bytes(600_000))


class Patience(SlowCase):
    def setUp(self) -> None:
        super().setUp()
        self.server.data = bytes(Archive([*weights("w", count=1000), model_of(linked("w", 1000))]).file)

    def test_a_slow_but_steady_server_may_take_long(self) -> None:
        self.server.piece, self.server.pause = 200, 0.08  # 2.5 kB/s
        begin = time.monotonic()
        self.succeeds("ls", self.server.address, "--timeout", LIMIT)
        self.assertGreater(time.monotonic() - begin, 3 * LIMIT)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_longer_limit_waits_longer_and_none_without_end(self) -> None:
        self.server.delay = 1.0
        for limit in (10, 0, "0.0", 1000000):
            with self.subTest(limit=limit):
                self.succeeds("ls", self.server.address, "--timeout", limit)
        self.assertEqual(len(self.server.requests), 4)

    def test_the_least_limit_is_not_none(self) -> None:
        self.server.delay = 60
        done = run("ls", self.server.address, "--timeout", "0.0001")
        self.assertEqual(done.returncode, IO, done.stderr)

    def test_what_is_no_number_of_seconds_is_refused(self) -> None:
        for text in ("-1", "nan", "inf", "1e3", "0x10", "", " 1", "1s", "1000001", "1.2.3", ".", "--help"):
            with self.subTest(text=text):
                done = run("ls", f"--timeout={text}", self.server.address)
                self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(self.server.requests, [])

    def test_files_have_no_limit(self) -> None:
        path = self.write("m.onnxar", self.server.data)
        self.succeeds("ls", path, "--timeout", "0.0001")


class Line(SlowCase):
    def told(self, *arguments: object) -> str:
        self.server.delay = 2.0
        screen = Terminal(80)
        self.addCleanup(screen.close)
        status, text = screen.run(*arguments, streams=("stderr",))
        self.assertEqual(status, DONE, text)
        return text

    def test_the_line_names_the_host_that_is_waited_for(self) -> None:
        text = self.told("ls", self.server.address)
        host = self.server.address.split("/")[2]
        self.assertIn(f"waiting for {host}  1 s", text)
        self.assertTrue(text.endswith("\r\x1b[K"), "it is removed")

    def test_quiet_verbs_show_none(self) -> None:
        self.assertEqual(self.told("cat", "-q", self.server.address, "w3"), "")

    def test_a_stream_that_is_not_a_terminal_gets_none(self) -> None:
        self.server.delay = 1.5
        self.assertEqual(run("ls", self.server.address).stderr, "")


if __name__ == "__main__":
    main(__doc__)

"""Servers that are slow, fall silent or never answer: a request ends in the time that --timeout gives it, and not before."""

import socket

from support.archives import Archive, Entry, model_of
from support.command_line import DONE, IO, USAGE, main, run
from support.remote_case import RemoteCase
from support.terminal import Terminal

SHORT = 0.4  # seconds; of servers that bring nothing, however often they are asked
LONGER = 1.5  # where a second request must succeed


class TimeoutCase(RemoteCase):
    def times_out(self, *arguments: object, limit: float = SHORT) -> str:
        told = self.refused("remote.timeout", IO, *arguments, "--timeout", limit)
        self.assertIn("--timeout 0", told)
        return told


class GivenUp(TimeoutCase):
    def test_a_server_that_never_answers(self) -> None:
        self.assertIn("did not answer", self.times_out("ls", self.serve(stop=0)))
        self.assertLessEqual(len(self.server.requests), 2, "it is asked twice at most")

    def test_a_server_that_does_not_even_accept(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            for scheme in ("http", "https"):
                self.times_out("ls", f"{scheme}://127.0.0.1:{deaf.getsockname()[1]}/m.onnxar")

    def test_a_server_that_stops_in_the_body(self) -> None:
        self.assertIn("1 KiB/s for 400 ms", self.times_out("ls", self.serve(stop=1000)))

    def test_a_byte_at_a_time(self) -> None:
        self.times_out("ls", self.serve(drip=(1, 0.02)))

    def test_server_that_stops_after_opening_times_out(self) -> None:
        self.times_out("cat", self.serve(honest=1, stop=1000), "w3", limit=1)

    def test_every_verb_that_takes_an_address(self) -> None:
        address = self.serve(stop=0)
        self.local.unlink()
        for verb in (("show",), ("check",), ("dump",), ("diff", address), ("cat", "w3"), ("extract", "w3", "-o", self.output),
                     ("unpack", "-o", self.output), ("pack", "-o", self.output), ("get", "-o", self.output), ("freeze", "-o", self.output)):  # fmt: skip
            with self.subTest(verb[0]):
                self.times_out(verb[0], address, *verb[1:], limit=0.1)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_received_part_of_a_download_is_kept(self) -> None:
        self.data = bytes(Archive([Entry("w", bytes(20 << 20)), model_of()]).file)
        self.times_out("get", self.serve(honest=2, stop=1000), "-o", self.output, "-c", 1, limit=1)
        told = self.succeeds("get", self.serve(), "-o", self.output).stderr
        self.assertIn("from an earlier download", told)
        self.assertEqual(self.output.read_bytes(), self.data)


class Followed(TimeoutCase):
    def test_a_request_that_is_too_slow_once_is_sent_again(self) -> None:
        for stop in (0, 1000, 70_000):
            with self.subTest(stop=stop):
                self.server.requests.clear()
                self.succeeds("ls", self.serve(slow=1, stop=stop), "--timeout", LONGER)
                self.assertEqual(len(self.server.requests), 2)

    def test_server_that_is_often_silent_is_asked_again(self) -> None:
        self.data = bytes(Archive([Entry("w", bytes(700_000)), model_of()]).file)
        address = self.serve(honest=1, stop=150_000)
        self.assertEqual(self.succeeds("cat", address, "w", "--timeout", 0.7).stdout, bytes(700_000))

    def test_slow_but_steady_server_may_exceed_the_limit(self) -> None:
        self.succeeds("ls", self.serve(drip=(4096, 0.04)), "--timeout", LONGER)  # 2.6 s
        self.assertEqual(len(self.server.requests), 1)


class Option(TimeoutCase):
    def test_longer_limit_waits_longer_and_0_has_no_end(self) -> None:
        for limit in (10, 0, "0.0", 1000000):
            with self.subTest(limit=limit):
                self.succeeds("ls", self.serve(delay=0.5), "--timeout", limit)
        self.assertEqual(len(self.server.requests), 4)

    def test_smallest_limit_still_limits(self) -> None:
        self.times_out("ls", self.serve(stop=0), limit="0.0001")

    def test_invalid_timeouts_are_refused(self) -> None:
        address = self.serve()
        for text in ("-1", "nan", "inf", "1e3", "0x10", "", " 1", "1s", "1000001", "1.2.3", ".", "--help"):
            with self.subTest(text=text):
                self.refused("usage.argument", USAGE, "ls", f"--timeout={text}", address)
        self.assertEqual(self.server.requests, [])

    def test_files_have_no_limit(self) -> None:
        self.succeeds("ls", self.local, "--timeout", "0.0001")


class Line(TimeoutCase):
    def shown(self, *arguments: object) -> str:
        screen = Terminal(80)
        self.addCleanup(screen.close)
        status, text = screen.run(*arguments, streams=("stderr",))
        self.assertEqual(status, DONE, text)
        return text

    def test_the_line_names_the_host_that_is_waited_for(self) -> None:
        address = self.serve(delay=1.5)
        text = self.shown("ls", address)
        self.assertIn(f"waiting for {address.split('/')[2]}  ", text)
        self.assertTrue(text.endswith("\r\x1b[K"), "it is removed")

    def test_quiet_verbs_show_no_line(self) -> None:
        self.assertEqual(self.shown("cat", "-q", self.serve(delay=1.5), "--model"), "")

    def test_only_terminals_get_the_line(self) -> None:
        self.assertEqual(run("cat", self.serve(delay=1.5), "--model").stderr, "")


if __name__ == "__main__":
    main(__doc__)

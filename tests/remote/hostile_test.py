"""Servers that mean harm, and addresses that do: work and memory stay bounded, and nothing is sent where it does not belong."""

import os
import zlib

from support.command_line import IO, USAGE, main, run
from support.remote_case import RemoteCase

END = 256 << 10  # bytes that are asked for first
GZIP = zlib.compressobj(9, zlib.DEFLATED, 31)


class Bodies(RemoteCase):
    def test_a_body_without_end_is_broken_off(self) -> None:
        self.refused("remote.answer", IO, "ls", self.serve(endless=True))
        self.refused("remote.answer", IO, "cat", self.serve(endless=True, honest=1), "w3")
        self.refused("remote.no_ranges", IO, "ls", self.serve(endless=True, ranges=False))

    def test_a_page_of_an_error_without_end_is_broken_off(self) -> None:
        head = b"HTTP/1.1 404 None\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.refused("remote.answer", IO, "ls", self.serve(raw=(head, b"4\r\nmore\r\n" * 1000)))

    def test_a_head_without_end_is_broken_off(self) -> None:
        part = b"HTTP/1.1 206 Part\r\n"
        heads = (part, b"X-More: and more\r\n" * 100), (part + b"X: ", b"on one line " * 100), (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        for raw in heads:
            with self.subTest(raw=raw[1][:8]):
                self.refused("remote.answer", IO, "ls", self.serve(raw=raw))

    def test_failures_with_long_pages_are_no_progress(self) -> None:
        self.refused("remote.unreachable", IO, "ls", self.serve(fail=100, retry_after=0, page=bytes(100_000)))
        self.assertEqual(len(self.server.requests), 6)

    def test_ends_that_always_break_off_are_no_progress(self) -> None:
        self.refused("remote.unreachable", IO, "ls", self.serve(fail=1, retry_after=0, cut=100))
        self.assertEqual(len(self.server.requests), 6)

    def test_what_expands_is_not_taken(self) -> None:
        squeezed = GZIP.compress(bytes(64 << 20)) + GZIP.flush()
        self.assertIn("gzip", self.refused("remote.answer", IO, "ls", self.serve(encoding="gzip")))
        field = f"bytes {len(self.data) - END}-{len(self.data) - 1}/{len(self.data)}"
        head = f'HTTP/1.1 206 Part\r\nETag: "a"\r\nContent-Range: {field}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n%x\r\n' % len(squeezed)
        done = run("ls", self.serve(raw=(head.encode() + squeezed + b"\r\n0\r\n\r\n", b"\r\n")))
        self.assertEqual(done.returncode, IO)
        self.assertIn("error[remote.", done.stderr)


class Secrets(RemoteCase):
    def test_messages_hide_names_and_passwords(self) -> None:
        for address in ("ftp://user:PASS@WORD@host/a.onnxar", "gs://user:PASSWORD@bucket/a", "http://user:PASS@WORD@127.0.0.1:1/a"):
            for verb in ("ls", "check", "show", "cat"):
                with self.subTest(address=address, verb=verb):
                    done = run(verb, address, *["--model"] * (verb == "cat"))
                    self.assertNotIn("PASS", done.stderr)
                    self.assertNotIn("WORD", done.stderr)
                    self.assertEqual(done.returncode, USAGE if "http" in address else IO)

    def test_messages_hide_password_of_proxy(self) -> None:
        for proxy in ("http://user:PASS WORD@127.0.0.1:1", "ftp://user:PASSWORD@127.0.0.1:1", "http://user:PASSWORD@127.0.0.1:99999"):
            with self.subTest(proxy=proxy):
                said = self.refused("remote.unreachable", IO, "ls", "http://127.0.0.2:1/a", "--timeout", "1", env={**os.environ, "http_proxy": proxy})
                self.assertNotIn("PASS", said)


class Heads(RemoteCase):
    def test_other_ranges_than_were_asked_for_are_refused(self) -> None:
        size = len(self.data)
        texts = ["bytes 0-9/10", f"bytes 5-4/{size}", f"bytes 0-{size}/{size}", "bytes -1-5/9", f"bytes 0-{10**30}/{10**31}",
                 f"bytes 0-{size - 1}/*", "pages 1-2/3", f"bytes {size - 10}-{size - 1}/{size}"]  # fmt: skip
        for text in texts:
            with self.subTest(text=text):
                self.refused("remote.answer", IO, "ls", self.serve(content_range=text))
        for text in ("bytes 0-9/10", f"bytes 0-4095/{size}", f"bytes 0-{size - 1}/{size}"):
            with self.subTest(text=text, later=True):
                done = run("cat", self.serve(content_range=text, honest=1), "w3")
                self.assertEqual((done.returncode, done.stdout), (IO, b""))

    def test_a_size_that_no_memory_has_is_refused(self) -> None:
        for bits in (62, 63):
            end = 1 << bits
            said = f"bytes {end - END}-{end - 1}/{end}"
            with self.subTest(bits=bits):
                done = run("ls", self.serve(content_range=said))
                self.assertEqual((done.returncode, done.stdout), (IO, b""), done.stderr)

    def test_length_that_is_not_a_number_is_refused(self) -> None:
        for length in ("-1", "9" * 30, "1x"):
            with self.subTest(length=length):
                done = run("ls", self.serve(length=length, ranges=False))
                self.assertEqual((done.returncode, done.stdout), (IO, b""))

    def test_redirects_lead_only_to_http(self) -> None:
        targets = (f"file://{self.local}", "ftp://127.0.0.1/m", "gopher://127.0.0.1/", "http://", "http://[", "http://a b/", "data:,x",
                   "scp://127.0.0.1/m", "http://127.0.0.1:99999/")  # fmt: skip
        for target in targets:
            with self.subTest(target=target):
                self.refused("remote.answer", IO, "ls", self.server.serve("/hub", b"", redirect=target))

    def test_a_name_in_a_redirect_is_not_used(self) -> None:
        target = self.serve().replace("http://", "http://name:word@")
        self.succeeds("ls", self.server.serve("/hub", b"", redirect=target))
        self.assertEqual([each.headers.get("Authorization") for each in self.server.requests], [None, None])

    def test_version_with_control_characters_is_not_sent(self) -> None:
        self.succeeds("cat", self.serve(etag='"a\rX-Evil: 1"'), "w3")
        self.assertEqual([each.headers.get("If-Range") for each in self.server.requests], [None, None])


class Addresses(RemoteCase):
    def test_line_breaks_make_no_fields(self) -> None:
        address = self.serve()
        for text in ("\r\nX-Evil: 1", "\nX-Evil: 1", " HTTP/1.1\r\nX-Evil: 1\r\n\r\n", "?a=\r\nX-Evil: 1", "#\r\nX-Evil: 1"):
            with self.subTest(text=text):
                self.assertNotEqual(run("ls", address + text).returncode, 0)
        keys = {**os.environ, "AWS_ENDPOINT_URL": self.server.address(""), "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        run("ls", "s3://bucket/a\r\nX-Evil: 1", env=keys)
        self.refused("usage.argument", USAGE, "ls", "s3://bucket/a", env={**keys, "AWS_SESSION_TOKEN": "a\r\nX-Evil: 1"})
        self.assertEqual([each for each in self.server.requests if "X-Evil" in each.headers], [])

    def test_invalid_addresses_are_refused(self) -> None:
        for text in ("http://", "https://", "http:///m", "http://[/m", "http://a:99999/m", "s3://", "s3://bucket", "s3://bucket/", "s3://a/../b:c@d"):
            with self.subTest(text=text):
                self.assertIn(run("ls", text).returncode, (USAGE, IO))
        self.assertIn("https", self.refused("io.not_found", IO, "ls", "ftp://host/m"))


if __name__ == "__main__":
    main()

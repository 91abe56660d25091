"""`get --reuse` downloads what the archives on this machine do not have, and the result is the server's file."""

import json
import os
import shutil
import zlib
from collections.abc import Callable

from support import wire_writer as wire
from support.archives import Archive, Entry, linked, model_of, weights
from support.command_line import DONE, FORMAT, FOUND, IO, USAGE, main, run
from support.remote_case import RemoteCase

COUNT = 20_000  # floats of an entry
END = 256 << 10  # bytes that the first request reads
NAMES = [f"w{i}" for i in range(40)]
# The generator polynomial of CRC-32, as bits in the order in which they are summed: XOR with it keeps the sum.
SAME_SUM = sum(1 << 32 - bit for bit in range(33) if 0x104C11DB7 >> bit & 1).to_bytes(5, "little")


def archive_of(entries: list[Entry]) -> bytes:
    return bytes(Archive([*entries, model_of(*(linked(each.name, len(each.data) // 4) for each in entries))]).file)


def colliding(data: bytes, at: int = 1000) -> bytes:
    """Returns other data of the same size and CRC-32."""
    other = bytearray(data)
    for index, byte in enumerate(SAME_SUM):
        other[at + index] ^= byte
    assert zlib.crc32(other) == zlib.crc32(data) and other != data
    return bytes(other)


class Updating(RemoteCase):
    """The server has a new version, in which one tensor differs and one is new."""

    def setUp(self) -> None:
        super().setUp()
        self.entries = weights(*NAMES, count=COUNT)
        self.old = self.write("old.onnxar", archive_of(self.entries))
        changed = [*self.entries[:3], Entry("w3", wire.content(wire.FLOAT, COUNT, "other")), *self.entries[4:]]
        self.data = archive_of([*changed[:20], Entry("new", wire.content(wire.FLOAT, 300, "new")), *changed[20:]])

    def update(self, *words: object, address: str | None = None) -> str:
        said = self.succeeds("get", address or self.serve(), "-o", self.output, *words).stderr
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertEqual(self.left(), [])
        return said


class Reusing(Updating):
    def test_only_what_is_new_is_downloaded(self) -> None:
        said = self.update("--reuse", self.old)
        self.assertLess(self.body_bytes(), 4 * COUNT + 40 * 300 + 2000)
        self.assertLessEqual(len(self.server.requests), 3)
        self.assertRegex(said, r"42 entries, 3\.\d MB, 3\.\d MB reused, 3\d\d\.\d kB downloaded$")

    def test_replaced_archive_is_reused(self) -> None:
        self.output.write_bytes(self.old.read_bytes())
        self.assertIn("reused", self.update("-f"))
        self.assertLess(self.body_bytes(), 4 * COUNT + 40 * 300 + 2000)

    def test_replaced_file_of_another_kind_is_ignored(self) -> None:
        self.output.write_bytes(b"no archive")
        self.assertNotIn("reused", self.update("-f"))

    def test_same_version_costs_two_requests(self) -> None:
        self.output.write_bytes(self.data)
        self.update("-f")
        self.assertLessEqual(len(self.server.requests), 2)

    def test_entries_of_several_archives_are_reused(self) -> None:
        half = self.write("half.onnxar", archive_of(self.entries[:20]))
        rest = self.write("rest.onnxar", archive_of(self.entries[20:]))
        self.update("--reuse", half, "--reuse", rest)
        self.assertLess(self.body_bytes(), 4 * COUNT + 40 * 300 + 2000)

    def test_entries_are_found_under_other_names(self) -> None:
        renamed = [Entry(f"a_{each.name}", each.data) for each in reversed(self.entries)]
        self.update("--reuse", self.write("renamed.onnxar", archive_of(renamed)))
        self.assertLess(self.body_bytes(), 4 * COUNT + 40 * 300 + 2000)

    def test_edited_archive_on_the_server_is_complete(self) -> None:
        # Superseded tails lie between the entries.
        self.write("edited.onnxar", self.old.read_bytes())
        model = self.model(wire.tensor("more", count=5000), name="other.onnx")
        self.succeeds("replace", self.folder / "edited.onnxar", model)
        self.data = (self.folder / "edited.onnxar").read_bytes()
        self.assertIn("reused", self.update("--reuse", self.old))

    def test_servers_without_several_ranges(self) -> None:
        for several in ("first", "whole"):
            with self.subTest(several=several):
                self.output.unlink(missing_ok=True)
                self.update("--reuse", self.old, address=self.serve(several=several))

    def test_server_without_ranges_sends_the_whole(self) -> None:
        self.assertNotIn("reused", self.update("--reuse", self.old, address=self.serve(ranges=False)))

    def test_dry_run_counts_both(self) -> None:
        with self.nothing_changes():
            said = self.succeeds("get", self.serve(), "-o", self.output, "-n", "--reuse", self.old).stderr
        self.assertRegex(said, r"would be 42 entries, .* reused, \d.* to download$")
        self.assertEqual(len(self.server.requests), 1)

    def test_killed_update_resumes(self) -> None:
        big = Entry("big", wire.content(wire.FLOAT, 9_000_000, "big"))
        self.data = archive_of([*self.entries, big])
        self.kill_download(3, "--reuse", self.old)
        self.assertRegex(self.update("--reuse", self.old), "from an earlier download, 3.* reused")


    def test_copies_are_written_early_unless_no_sync(self) -> None:
        self.natively()
        if shutil.which("strace") is None:
            self.skipTest("strace shows the calls, and is not there")
        big = Entry("big", wire.content(wire.FLOAT, 500_000, "big"))
        self.data, log = archive_of([*self.entries, big]), self.folder / "log"
        old = self.write("big.onnxar", archive_of([big]))
        strace = ["strace", "-f", "-o", str(log), "-e", "trace=sync_file_range,fsync", os.environ["ONNXAR"]]
        for words, expected in (([], r"sync_file_range.*fsync"), (["--no-sync"], "^((?!sync).)*$")):
            self.succeeds("get", self.serve(), "-o", self.output, "-f", "--reuse", old, *words, tool=strace, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            self.assertRegex(log.read_text().replace("\n", " "), expected)
            self.output.unlink()


class Planning(Updating):
    def test_diff_lists_what_an_update_downloads(self) -> None:
        new = self.write("new.onnxar", self.data)
        for words in ([self.old, new], [self.old, self.serve()], [self.serve(), new]):
            with self.subTest(words=words):
                done = run("diff", "--bytes", *words)
                lines = done.stdout.decode().splitlines()
                if words[0] == self.old:
                    self.assertEqual((done.returncode, len(lines)), (FOUND, 3), done.stderr)
                    self.assertEqual(lines[:2], [f"download w3: {4 * COUNT} bytes", "download new: 1200 bytes"])
                    self.assertRegex(done.stderr, r"an update downloads \d+.\d kB of 3.\d MB, and reuses 39 of 42 entries")
                self.assertNotIn("download w4", done.stdout.decode())

    def test_diff_agrees_with_get(self) -> None:
        plan = json.loads(run("diff", "--bytes", "--json", self.old, self.write("new.onnxar", self.data)).stdout)
        self.assertEqual([each["name"] for each in plan["entries"] if not each["reused"]], ["w3", "new", "__MODEL_PROTO"])
        self.update("--reuse", self.old)
        self.assertLessEqual(self.body_bytes(), plan["download_bytes"])
        self.assertEqual(plan["file_bytes"], len(self.data))


class Doubting(Updating):
    def test_damaged_entry_is_downloaded(self) -> None:
        damaged = bytearray(self.old.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        self.update("--reuse", self.write("damaged.onnxar", damaged))
        self.assertGreater(self.body_bytes(), 8 * COUNT)

    def test_entry_with_damaged_header_is_downloaded(self) -> None:
        damaged = bytearray(self.old.read_bytes())
        damaged[0] ^= 1
        self.update("--reuse", self.write("damaged.onnxar", damaged))

    def test_what_is_no_archive_is_refused(self) -> None:
        address = self.serve()
        self.refused("zip.end.missing", FORMAT, "get", address, "-o", self.output, "--reuse", self.write("none", b"none" * 99))
        self.refused("io.not_found", IO, "get", address, "-o", self.output, "--reuse", self.folder / "missing")
        self.assertEqual(self.server.requests, [])

    def test_digest_is_compared(self) -> None:
        digest = self.digest_of(self.data)
        self.update("--reuse", self.old, "--digest", digest)
        self.output.unlink()
        other = "0" * 64
        said = self.refused("remote.answer", IO, "get", self.serve(), "-o", self.output, "--digest", other)
        self.assertIn(f"the archive on the server has the digest {digest} instead of {other}", said)
        self.assertFalse(self.output.exists())
        self.refused("usage.argument", USAGE, "get", self.serve(), "-o", self.output, "--digest", "12")

    def digest_of(self, data: bytes) -> str:
        return run("digest", self.write("of.onnxar", data)).stdout.decode().split()[0]

    def test_digest_finds_other_bytes_of_same_sum(self) -> None:
        forged = [Entry("w0", colliding(self.entries[0].data)), *self.entries[1:]]
        forged_old = self.write("forged.onnxar", archive_of(forged))
        self.update("--reuse", forged_old, "--digest", self.digest_of(self.data))
        self.assertGreater(self.body_bytes(), 39 * 4 * COUNT - END)

    def test_wrong_digest_downloads_copies_once(self) -> None:
        self.refused("remote.answer", IO, "get", self.serve(), "-o", self.output, "--reuse", self.old, "--digest", "0" * 64)
        self.assertLess(self.body_bytes(), len(self.data) + 4 * COUNT + 40 * 300)
        self.assertFalse(self.output.exists())


def damaged_text(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda body: body.replace(old, new)


# What servers do wrong: each must end in the right file, or in an error and no file.
PAGES = ({"status": status, "fail": 99, "retry_after": 0} for status in (400, 401, 403, 404, 405, 407, 410, 412, 418, 501, 503, 505))
LATER = ({"status": status, "fail": 1} for status in (500, 503, 429))
RANGES = ({"content_range": text, "honest": 1} for text in (
    "bytes 0-9/10", "bytes 5-4/9", "bytes -1-5/9", "pages 1-2/3", "bytes 0-99/*", "bytes */100", "", " ", "bytes", f"bytes 0-{10**30}/{10**31}",
    "bytes 18446744073709551615-18446744073709551615/18446744073709551616", "bytes 0-0/1"))  # fmt: skip
LENGTHS = ({"length": length, "honest": 1} for length in ("-1", "9" * 30, "1x", "0", "10", "99999999"))
PARTS = ({"parts": change} for change in (
    lambda body: b"", lambda body: body[:100], lambda body: body[: len(body) // 2], lambda body: body[:-9], lambda body: body + bytes(1000),
    lambda body: b"--limit--", lambda body: b"\r\n--limit\r\n" * 1000, lambda body: body * 2, lambda body: bytes(reversed(body)),
    damaged_text(b"--limit", b"--other"), damaged_text(b"Content-Range", b"Content-Other"), damaged_text(b"bytes ", b"lines "),
    damaged_text(b"\r\n\r\n", b"\r\n"), damaged_text(b"/", b"/1"), damaged_text(b"Content-Range: bytes ", b"Content-Range: bytes 9"),
    lambda body: body.replace(b"\r\n--limit\r\n", b"\r\n--limit--\r\n", 2), lambda body: bytes(len(body)),
    lambda body: bytes(byte ^ 1 for byte in body)))  # fmt: skip
TOLD = ({"told": told} for told in (
    lambda first, last: (first + 1, last + 1), lambda first, last: (first - 1, last - 1), lambda first, last: (first, last - 1),
    lambda first, last: (0, last - first), lambda first, last: (last, first), lambda first, last: (first, 2**63), lambda first, last: (2**64 - 1, 2**64 - 1)))  # fmt: skip
OTHERS = (
    {"cut": 1}, {"cut": 3}, {"shift": 1, "honest": 1}, {"shift": -64}, {"encoding": "gzip"}, {"encoding": "br"}, {"endless": True, "honest": 1},
    {"several": "first"}, {"several": "whole"}, {"ranges": False}, {"etag": "", "modified": None}, {"etag": 'W/"weak"'}, {"etag": '"a\rb"'},
    {"redirect": "/m.onnxar"}, {"redirect": "file:///etc/passwd"}, {"more": {"Content-Range": "bytes 0-0/1"}}, {"more": {"ETag": '"2"'}},
    {"raw": (b"", b"\0" * 9999)}, {"raw": (b"HTTP/1.1 206 Part\r\n", b"X: y\r\n" * 99), "honest": 1}, {"more": {"Transfer-Encoding": "gzip"}})  # fmt: skip
HOSTILE = [*PAGES, *LATER, *RANGES, *LENGTHS, *PARTS, *TOLD, *OTHERS]


class Hostile(Updating):
    def expect_whole_or_nothing(self, *words: object, **how: object) -> int:
        done = run("get", self.serve(**how), "-o", self.output, "--reuse", self.old, "--timeout", "2", *words)
        if done.returncode == DONE:
            self.assertEqual(self.output.read_bytes(), self.data)
            self.output.unlink()
        else:
            self.assertRegex(done.stderr, r"error\[(remote|io|zip|archive)\.")
            self.assertFalse(self.output.exists())
        for left in self.folder.glob(".out*"):
            left.unlink()
        return done.returncode

    def test_hostile_answers_give_whole_file_or_error(self) -> None:
        self.assertGreaterEqual(len(HOSTILE), 60)
        results = set()
        for how in HOSTILE:
            with self.subTest(how=how):
                results.add(self.expect_whole_or_nothing(**how))
        self.assertGreaterEqual(results, {DONE, IO})

    def test_file_replaced_between_requests(self) -> None:
        for answers in (1, 2):
            with self.subTest(answers=answers):
                self.expect_whole_or_nothing("-c", 1, swap=(answers, self.data[:-1] + b"\1"), several="first")

    def test_unrequested_parts_change_nothing(self) -> None:
        # The server sends zeros for the range of an entry that was copied and verified.
        part = f"\r\n--limit\r\nContent-Range: bytes 200-999/{len(self.data)}\r\n\r\n".encode() + bytes(800)
        self.update("--reuse", self.old, address=self.serve(parts=lambda body: part + body))


if __name__ == "__main__":
    main()

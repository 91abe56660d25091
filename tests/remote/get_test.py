"""`get` downloads an archive whole or not at all, and goes on where it was interrupted."""

import functools
import os
import signal
import time

from support.archives import Archive, linked, model_of, weights
from support.command_line import FORMAT, IO, USAGE, main, start
from support.remote_case import RemoteCase

PART = 8 << 20  # what is noted as complete at a time


@functools.cache
def large_archive() -> bytes:
    count = 10_000_000  # 40 MB
    return bytes(Archive([*weights("w", count=count), model_of(linked("w", count))]).file)


class Getting(RemoteCase):
    def setUp(self) -> None:
        super().setUp()
        self.data = large_archive()

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith(".out"))

    def test_the_archive_is_that_of_the_server(self) -> None:
        self.succeeds("get", self.serve(), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertEqual(self.left(), [])

    def test_a_killed_download_goes_on(self) -> None:
        address = self.serve(delay=0.3)
        process = start("get", address, "-o", self.output, "-c", 1)
        listing = self.folder / ".out.part.list"
        while not listing.exists() or listing.read_bytes().count(b"\n") < 3:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertFalse(self.output.exists())
        self.server.requests.clear()
        done = self.succeeds("get", self.serve(), "-o", self.output)
        self.assertIn("were here already", done.stderr)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertLess(len(self.server.requests), 1 + len(self.data) // PART)
        self.assertEqual(self.left(), [])

    def test_pieces_of_another_version_are_not_used(self) -> None:
        self.serve(fail=0)
        head = f"onnxar part 1 {len(self.data)} {PART} \"other\"\n0\n1\n"
        self.write(".out.part", b"x" * len(self.data))
        self.write(".out.part.list", head.encode())
        self.succeeds("get", self.serve(), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_server_without_ranges_sends_the_whole(self) -> None:
        self.succeeds("get", self.serve(ranges=False), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.succeeds("get", self.serve(ranges=False, cut=1), "-o", self.output, "-f")
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_damaged_archive_gets_no_name(self) -> None:
        damaged = bytearray(self.data)
        damaged[len(damaged) // 2] ^= 1
        self.data = bytes(damaged)
        self.refused("zip.data.crc", FORMAT, "get", self.serve(), "-o", self.output)
        self.assertFalse(self.output.exists())
        self.assertEqual(self.left(), [])

    def test_what_is_no_archive_is_not_downloaded(self) -> None:
        self.data = b"no archive" * 1_000_000
        self.refused("zip.end.missing", FORMAT, "get", self.serve(), "-o", self.output)
        self.assertEqual(len(self.server.requests), 2)
        self.assertEqual(self.left(), [])

    def test_a_version_that_changes_meanwhile_is_refused(self) -> None:
        other = self.data[:-1] + b"\1"
        self.refused("io.changed", IO, "get", self.serve(swap=(3, other)), "-o", self.output, "-c", 1)
        self.assertFalse(self.output.exists())

    def test_an_output_that_exists_stays(self) -> None:
        self.output.write_bytes(b"kept")
        self.refused("output.exists", USAGE, "get", self.serve(), "-o", self.output)
        self.assertEqual(self.server.requests, [])
        self.assertEqual(self.output.read_bytes(), b"kept")
        self.succeeds("get", self.serve(), "-o", self.output, "-f")
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_dry_run_writes_nothing(self) -> None:
        address = self.serve()
        with self.nothing_changes():
            self.assertIn("2 entries", self.succeeds("get", address, "-o", self.output, "-n").stderr)
        self.assertLess(len(self.server.requests), 4)

    def test_a_link_in_the_way_is_refused(self) -> None:
        self.on_posix("links")
        victim = self.write("victim", b"kept")
        os.symlink(victim, self.folder / ".out.part")
        self.refused("io.not_a_file", IO, "get", self.serve(), "-o", self.output)
        self.assertEqual(victim.read_bytes(), b"kept")


if __name__ == "__main__":
    main(__doc__)

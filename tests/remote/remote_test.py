"""`get` downloads an archive whole or not at all, and goes on where it was interrupted."""

import functools
import os
import random
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

    def test_the_archive_is_that_of_the_server(self) -> None:
        self.succeeds("get", self.serve(), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertEqual(self.left(), [])

    def test_killed_download_resumes(self) -> None:
        self.kill_download(4)  # head, end, and two ranges
        self.assertFalse(self.output.exists())
        self.server.requests.clear()
        done = self.succeeds("get", self.serve(), "-o", self.output)
        self.assertIn("from an earlier download", done.stderr)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertLess(len(self.server.requests), 1 + len(self.data) // PART)
        self.assertEqual(self.left(), [])

    def kill_after(self, requests: int, address: str) -> None:
        """Starts a download, and kills it when the server has been asked so often."""
        self.server.requests.clear()
        process = start("get", address, "-o", self.output, "-c", 2)
        while len(self.server.requests) < requests and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.wait()

    def test_download_survives_repeated_kills(self) -> None:
        moments = random.Random(25)
        address = self.serve(delay=0.02)
        for _ in range(8):
            self.kill_after(moments.randint(1, 4), address)
            if self.output.exists():
                break
        if not self.output.exists():
            self.succeeds("get", address, "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.succeeds("check", "--data", self.output)

    # The killed download was of an older version.
    def test_download_of_another_version_starts_again(self) -> None:
        other = bytes(Archive([*weights("v", count=9_000_000), model_of(linked("v", 9_000_000))]).file)
        self.kill_after(5, self.serve(delay=0.1))
        self.assertFalse(self.output.exists())
        self.data = other
        done = self.succeeds("get", self.serve(), "-o", self.output)
        self.assertNotIn("from an earlier download", done.stderr)
        self.assertEqual(self.output.read_bytes(), other)
        self.assertEqual(self.left(), [])

    def test_server_that_lost_ranges_sends_the_whole_file(self) -> None:
        self.kill_after(5, self.serve(delay=0.1))
        self.succeeds("get", self.serve(ranges=False), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertEqual(self.left(), [])

        address, file = self.serve(), self.server.files["/m.onnxar"]
        self.server.accepts = lambda _: setattr(file, "ranges", file.answers == 0) is None
        self.succeeds("get", address, "-o", self.output, "-f")
        self.assertEqual(self.output.read_bytes(), self.data)
        self.assertEqual(self.left(), [])

    def test_versionless_server_sends_the_whole_file(self) -> None:
        self.succeeds("get", self.serve(etag="", modified=None), "-o", self.output)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_whole_file_that_does_not_end_is_broken_off(self) -> None:
        self.refused("remote.answer", IO, "get", self.serve(etag="", modified=None, endless=True, honest=1), "-o", self.output)
        self.assertEqual(self.left(), [])

    def test_what_cannot_be_used_again_is_removed(self) -> None:
        self.refused("remote.unreachable", IO, "get", self.serve(ranges=False, fail=0, cut=100), "-o", self.output)
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
        address = self.serve(ranges=False, length="", more={"Connection": "close"})  # which does not tell the size
        self.assertNotIn("0 bytes", self.succeeds("get", address, "-o", self.output, "-f").stderr)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_damaged_archive_gets_no_name(self) -> None:
        damaged = bytearray(self.data)
        damaged[len(damaged) // 2] ^= 1
        self.data = bytes(damaged)
        self.refused("zip.data.crc", FORMAT, "get", self.serve(), "-o", self.output)
        self.assertFalse(self.output.exists())
        self.assertEqual(self.left(), [])

    def test_damaged_entry_ends_the_download_at_once(self) -> None:
        names = [f"w{i}" for i in range(20)]
        archive = Archive([*weights(*names, count=1_000_000), model_of(*(linked(name, 1_000_000) for name in names))])
        damaged = bytearray(archive.file)
        damaged[1000] ^= 1  # in the first of ten pieces
        self.data = bytes(damaged)
        self.refused("zip.data.crc", FORMAT, "get", self.serve(delay=0.3), "-o", self.output, "-c", 2)
        last = len(self.data) // PART * PART
        self.assertNotIn(f"bytes={last}-{len(self.data) - 1}", [request.range for request in self.server.requests])
        self.assertEqual(self.left(), [])

    def test_other_files_are_not_downloaded(self) -> None:
        self.data = b"no archive" * 1_000_000
        self.refused("zip.end.missing", FORMAT, "get", self.serve(), "-o", self.output)
        self.assertEqual(len(self.server.requests), 2)
        self.assertEqual(self.left(), [])

    def test_version_that_changes_meanwhile_is_refused(self) -> None:
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

    def test_archive_that_is_being_edited_is_not_replaced(self) -> None:
        self.on_posix("flock")
        import fcntl

        self.output.write_bytes(self.data)
        address = self.serve()
        with self.output.open("rb+") as edited:
            fcntl.flock(edited, fcntl.LOCK_EX)
            self.refused("archive.busy", IO, "get", address, "-o", self.output, "-f")
            self.assertEqual(self.server.requests, [])
        self.succeeds("get", address, "-o", self.output, "-f")

    def test_pieces_of_another_address_are_not_used(self) -> None:
        other = bytes(Archive([*weights("v", count=10_000_000), model_of(linked("v", 10_000_000))]).file)
        self.assertEqual(len(other), len(self.data))
        tag = '"both"'
        self.kill_after(5, self.server.serve("/other.onnxar", other, etag=tag, delay=0.1))
        self.assertFalse(self.output.exists())
        done = self.succeeds("get", self.serve(etag=tag), "-o", self.output)
        self.assertNotIn("from an earlier download", done.stderr)
        self.assertEqual(self.output.read_bytes(), self.data)

    def test_a_list_without_its_file_is_not_trusted(self) -> None:
        address = self.serve(etag='"v"')
        lines = "".join(f"{piece}\n" for piece in range(-(-len(self.data) // PART)))
        self.write(".out.part.list", f"onnxar part 1 {len(self.data)} {PART} \"v\" {address}\n{lines}".encode())
        self.succeeds("get", address, "-o", self.output)
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

    def test_hard_link_in_the_way_is_refused(self) -> None:
        self.on_posix("names of a file")
        victim = self.write("victim", b"kept")
        os.link(victim, self.folder / ".out.part")
        message = self.refused("io.permission", IO, "get", self.serve(), "-o", self.output)
        self.assertRegex(message, r"\.out\.part: has a second name \(a hard link\)")
        self.assertEqual(victim.read_bytes(), b"kept")


if __name__ == "__main__":
    main()

"""The ring of buffers through which files are copied to devices, with buffers of Python in place of pinned memory."""

from __future__ import annotations

import os
import threading
import time
import unittest
import unittest.mock
import zlib

from support import FolderTest

from onnxar import _core, _ranges, _streaming
from onnxar._streaming import Buffer, Entry, Part, Span

PIECE = 1000


class StreamingTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for name, value in (("PIECE", PIECE), ("GAP", 10)):
            patch = unittest.mock.patch.object(_ranges, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.data = os.urandom(20_500)
        self.threads = threading.active_count()

    def tearDown(self) -> None:
        self.assertEqual(threading.active_count(), self.threads)

    def read(self, view: memoryview, offset: int) -> None:
        view[:] = self.data[offset : offset + len(view)]

    @staticmethod
    def copy(memory: bytearray, parts: list[Part]):
        for part in parts:
            part.use[part.at : part.at + part.end - part.begin] = memory[part.begin : part.end]
        return lambda: None

    def stream(self, targets, entries=(), *, read=None, copy=None, buffers: int = 3, **named) -> list[str]:
        memories = [bytearray(PIECE) for _ in range(buffers)]
        ring = [Buffer(memoryview(each), each) for each in memories]
        pieces = _streaming.pieces_of(targets, entries)
        return _streaming.stream(pieces, read or self.read, ring, copy or self.copy, **named)

    def span(self, start: int, stop: int) -> Span:
        return Span(start, stop, bytearray(stop - start))

    def entry(self, name: str, start: int, stop: int) -> Span:
        return Span(start, stop, Entry(name, stop - start, zlib.crc32(self.data[start:stop])))


class Copies(StreamingTest):
    def test_spans_get_their_bytes(self) -> None:
        bounds = [(17, 5000), (5004, 5005), (5005, 5100), (9000, 20_500), (30, 40), (9000, 20_500), (4990, 5101)]
        targets = [self.span(*each) for each in bounds]
        self.stream(targets)
        for start, stop, target in targets:
            self.assertEqual(target, self.data[start:stop])

    def test_nothing_to_copy_reads_nothing(self) -> None:
        self.assertEqual(self.stream([], read=self.fail), [])

    def test_pieces_are_read_once_and_copied_in_order(self) -> None:
        read, copied, done = [], [], []

        def slow(view: memoryview, offset: int) -> None:
            time.sleep(0.002 * (offset // PIECE % 3))  # so that later pieces are ready earlier
            read.append((offset, len(view)))
            self.read(view, offset)

        def copy(memory: bytearray, parts: list[Part]):
            copied.append(parts[0].at)
            return self.copy(memory, parts)

        target = self.span(0, 20_500)
        self.stream([target, self.span(100, 200)], read=slow, copy=copy, threads=4, progress=done.append)
        self.assertEqual(copied, list(range(0, 20_500, PIECE)))
        self.assertEqual(sorted(read), [(at, min(PIECE, 20_500 - at)) for at in copied])
        self.assertEqual((target.use, sum(done)), (self.data, 20_500))

    def test_bytes_far_from_all_spans_are_not_read(self) -> None:
        pieces = _streaming.pieces_of([self.span(0, 10), self.span(5000, 5010)], [self.entry("e", 4995, 5020)])
        self.assertEqual([(piece.start, piece.stop) for piece in pieces], [(0, 10), (4995, 5020)])

    def test_buffer_is_filled_only_after_its_copy(self) -> None:
        copying = set()

        def read(view: memoryview, offset: int) -> None:
            self.assertNotIn(id(view.obj), copying)
            self.read(view, offset)

        def copy(memory: bytearray, parts: list[Part]):
            copying.add(id(memory))

            def wait() -> None:
                time.sleep(0.001)
                self.copy(memory, parts)  # as late as a device may do it
                copying.discard(id(memory))

            return wait

        target = self.span(3, 20_500)
        self.stream([target], read=read, copy=copy, threads=3)
        self.assertEqual(target.use, self.data[3:])
        self.assertEqual(copying, set())


class Sums(StreamingTest):
    def test_crc32s_combine(self) -> None:
        for size in (0, 1, 7, 8, 1000, 4096, 12_345):
            first, second = self.data[:2345], self.data[2345 : 2345 + size]
            self.assertEqual(_core.crc32_of_both(zlib.crc32(first), zlib.crc32(second), size), zlib.crc32(first + second))

    def test_changed_entries_are_found(self) -> None:
        entries = [self.entry("a", 0, 999), self.entry("b", 999, 7000), self.entry("c", 7002, 7003), self.entry("d", 9000, 20_500)]
        self.assertEqual(self.stream([self.span(10, 500)], entries), [])
        for at, name in ((0, "a"), (998, "a"), (999, "b"), (6999, "b"), (7002, "c"), (20_499, "d")):
            changed = bytearray(self.data)
            changed[at] ^= 1
            with unittest.mock.patch.object(self, "data", changed):
                self.assertEqual(self.stream([], entries), [name])


class Faults(StreamingTest):
    def test_failed_read_is_raised_in_order(self) -> None:
        def read(view: memoryview, offset: int) -> None:
            if offset >= 5000:
                raise OSError(offset)
            self.read(view, offset)

        target = self.span(0, 20_500)
        with self.assertRaisesRegex(OSError, "5000"):
            self.stream([target], read=read)
        self.assertEqual(target.use[:5000], self.data[:5000])

    def test_interrupt_while_copying_stops_readers(self) -> None:
        for error in (KeyboardInterrupt, MemoryError, RuntimeError):
            read = []

            def note(view: memoryview, offset: int, read=read) -> None:
                read.append(offset)

            def copy(memory: bytearray, parts: list[Part], error=error):
                if parts[0].at == 4000:
                    raise error("half-way")
                return lambda: None

            with self.assertRaisesRegex(error, "half-way"):
                self.stream([self.span(0, 20_500)], read=note, copy=copy)
            self.assertLessEqual(max(read), 4000 + 3 * PIECE)

    def test_error_of_the_device_is_raised(self) -> None:
        def wait() -> None:
            raise RuntimeError("the device was lost")

        for size in (900, 20_500):
            with self.assertRaisesRegex(RuntimeError, "lost"):
                self.stream([self.span(0, size)], copy=lambda memory, parts: wait)

    def test_cut_file_is_refused(self) -> None:
        path = self.folder / "data"
        path.write_bytes(self.data)
        target = self.span(0, 20_500)
        with open(path, "rb") as file:
            read = _streaming.reader_of(file.fileno(), self.data, str(path))
            self.stream([target], read=read)
            self.assertEqual(target.use, self.data)
            os.truncate(path, 6000)
            self.assertEqual(self.refused("io.changed", self.stream, [target], read=read).path, str(path))

    def test_system_without_reads_at_offsets(self) -> None:
        with unittest.mock.patch.object(os, "preadv", create=True):
            del os.preadv
            read = _streaming.reader_of(-1, self.data, "data")
        target = self.span(10, 20_500)
        self.stream([target], read=read)
        self.assertEqual(target.use, self.data[10:])


if __name__ == "__main__":
    unittest.main()

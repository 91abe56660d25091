"""Standard streams that fail: full, closed, without a reader."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from functools import partial
from typing import Any

from support import command_line
from support import wire_writer as wire
from support.archives import sound
from support.command_line import FOUND, IO, MIB, ToolCase, run, start


class Streams(ToolCase):
    """Output that cannot be printed is an error."""

    def setUp(self) -> None:
        super().setUp()
        self.source = self.archive("w")
        self.printing = {
            "cat": ("cat", self.source, "w"),
            "cat --model": ("cat", self.source, "--model"),
            "ls": ("ls", self.source),
            "ls --json": ("ls", self.source, "--json"),
            "show": ("show", self.source),
            "show --nodes": ("show", self.source, "--json", "--nodes"),
            "dump": ("dump", self.source, "-q"),
            "check --json": ("check", self.source, "--json", "-q"),
            "--version": ("--version",),
            "--help": ("--help",),
            "ls --help": ("ls", "--help"),
        }

    def judge_unprinted(self, **options: Any) -> None:
        for label, command in self.printing.items():
            with self.subTest(label):
                self.assertEqual(run(*command, **options).returncode, IO)

    def test_full_device(self) -> None:
        with open("/dev/full", "wb") as full:
            self.judge_unprinted(stdout=full)

    def test_full_device_hides_no_findings(self) -> None:
        path = self.write("broken.onnxar", sound().file[:-1])
        with open("/dev/full", "wb") as full:
            done = run("check", path, stdout=full)
        self.assertIn(done.returncode, (FOUND, IO))

    def test_closed_output(self) -> None:
        self.judge_unprinted(preexec_fn=lambda: os.close(1))

    def test_pipe_without_a_reader(self) -> None:
        path = self.folder / "large.onnxar"
        model = self.model(wire.tensor("w", wire.UINT8, 4 * MIB))
        self.succeeds("pack", model, "-o", path)
        process = start("cat", path, "w", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        process.stderr.read()
        process.stderr.close()
        self.assertIn(process.wait(), (-signal.SIGPIPE, IO))

    def test_a_line_is_one_write(self) -> None:
        """Programs that run at the same time then do not mix their lines. A datagram holds one write."""
        self.on_posix("lines are written in parts")
        for command in (("pack", self.source, "-o", self.output), ("--json-errors", "ls", "missing")):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            with ours, theirs:
                run(*command, stderr=theirs)
                self.assertEqual(ours.recv(1 << 16)[-1:], b"\n")

    def test_closed_streams_do_not_become_outputs(self) -> None:
        """An opened file takes the lowest free descriptor: printed output must not go there."""
        self.on_posix("Wine does not start with closed streams")
        self.succeeds("pack", self.source, "-o", self.output)
        expected = self.output.read_bytes()
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed):
                path = self.folder / f"out{closed}"
                close = partial(list, map(os.close, closed))
                self.succeeds("pack", self.source, "-o", path, preexec_fn=close)
                self.assertEqual(path.read_bytes(), expected)


if __name__ == "__main__":
    command_line.main()

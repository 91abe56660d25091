"""Edits that are cut off: interrupted, or with an input that shrinks. tests/faults kills the tool."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import time
from functools import partial

from support import command_line
from support.accounting import written
from support.archives import sound
from support.command_line import DONE, IO, MIB, ToolCase, start


class CutOff(ToolCase):
    """512 MiB are appended; the old state is small and can be compared."""

    SIZE = 512 * MIB

    def setUp(self) -> None:
        super().setUp()
        self.before = bytes(sound().file)
        self.path = self.write("model.onnxar", self.before)
        self.source = self.sparse(self.SIZE)
        self.random = random.Random(1973)

    def start_until(self, part: int) -> subprocess.Popen:
        """A replacement that has written this many bytes."""
        command = ("replace", "--append-external", "--no-sync", self.path, self.source)
        without_core = partial(resource.setrlimit, resource.RLIMIT_CORE, (0, 0))
        process = start(*command, stderr=subprocess.PIPE, preexec_fn=without_core)
        while 0 <= written(process) < part:
            time.sleep(0.001)
        return process

    def state(self) -> str:
        """`old`, `new` or something else."""
        if self.path.stat().st_size < self.SIZE:
            return "old" if self.path.read_bytes() == self.before else "something else"
        names = [each["name"] for each in self.listing(self.path)["entries"]]
        return "new" if names == ["a", "b", "w"] else "something else"

    def start_anew(self) -> None:
        self.path.write_bytes(self.before)

    def test_interrupted(self) -> None:
        hits = 0
        names = "SIGINT SIGTERM SIGHUP SIGQUIT SIGPIPE SIGALRM SIGXCPU SIGUSR1 SIGUSR2"
        for number in [getattr(signal, name) for name in names.split()]:
            self.start_anew()
            process = self.start_until(self.random.randrange(self.SIZE))
            process.send_signal(number)
            process.communicate()
            self.assertIn(process.returncode, (-number, DONE))
            self.assertEqual(self.state(), "new" if process.returncode == DONE else "old")
            hits += process.returncode != DONE
        self.assertGreater(hits, 0)

    def test_input_shrinks(self) -> None:
        hits = 0
        for _ in range(5):
            self.start_anew()
            with open(self.folder / "weights.bin", "r+b") as data:
                data.truncate(self.SIZE)
                process = self.start_until(self.random.randrange(1, self.SIZE // 2))
                data.truncate(MIB)
                told = process.communicate()[1].decode()
            if process.returncode != DONE:
                self.assertEqual(process.returncode, IO)
                self.assertIn("shortened", told)
                self.assertEqual(self.state(), "old")
                hits += 1
        self.assertGreater(hits, 0)


if __name__ == "__main__":
    command_line.main()

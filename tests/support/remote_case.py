"""Tests of the tool with an archive that a server of the loopback has."""

from __future__ import annotations

import re
import time

from support.archives import Archive, linked, model_of, weights
from support.command_line import ToolCase, run, start
from support.web_server import serving


class RemoteCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        names = [f"w{i}" for i in range(40)]
        self.data = bytes(Archive([*weights(*names, count=20_000), model_of(*(linked(name, 20_000) for name in names))]).file)
        self.local = self.write("local.onnxar", self.data)
        server = serving()
        self.server = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)

    def serve(self, **how: object) -> str:
        return self.server.serve("/m.onnxar", self.data, **how)

    def body_bytes(self) -> int:
        """Bytes that were asked for in ranges, after the first request."""
        asked = [request.range.removeprefix("bytes=").split(",") for request in self.server.requests[1:]]
        return sum(int(last) - int(first) + 1 for ranges in asked for first, last in (each.split("-") for each in ranges))

    def left(self) -> list[str]:
        """Files that downloads left beside the output."""
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith(".out"))

    def kill_download(self, parts: int, *words: object) -> None:
        """Starts a download from a slow server and kills it when it has noted so many parts."""
        process = start("get", self.serve(delay=0.3), "-o", self.output, "-c", 1, *words)
        listing = self.folder / ".out.part.list"
        while not listing.exists() or listing.read_bytes().count(b"\n") < parts:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.kill()
        process.wait()

    def refused(self, code: str, status: int, *arguments: object, **options: object) -> str:
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        # The code is behind what the file is, if it is of another kind.
        self.assertRegex(done.stderr, rf"error\[{re.escape(code)}\]|error: .* \({re.escape(code)} ")
        return done.stderr

"""Tests of the tool with an archive that a server of the loopback has."""

from __future__ import annotations

import re

from support.archives import Archive, linked, model_of, weights
from support.command_line import ToolCase, run
from support.web_server import serving


class RemoteCase(ToolCase):
    def setUp(self) -> None:
        super().setUp()
        names = [f"w{i}" for i in range(40)]
        self.data = bytes(Archive([*weights(*names, count=20_000), model_of(*map(lambda n: linked(n, 20_000), names))]).file)
        self.local = self.write("local.onnxar", self.data)
        server = serving()
        self.server = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)

    def serve(self, **how: object) -> str:
        return self.server.serve("/m.onnxar", self.data, **how)

    def refused(self, code: str, status: int, *arguments: object, **options: object) -> str:
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        # The code is behind what the file is, if it is of another kind.
        self.assertRegex(done.stderr, rf"error\[{re.escape(code)}\]|error: .* \({re.escape(code)} ")
        return done.stderr

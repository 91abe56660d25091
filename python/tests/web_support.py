"""A server of files for each test: tests/support/web_server.py, whose folder has modules with the names of ours."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import unittest

SPEC = importlib.util.spec_from_file_location("web_server", pathlib.Path(__file__).parents[2] / "tests/support/web_server.py")
web_server = importlib.util.module_from_spec(SPEC)
sys.modules["web_server"] = web_server
SPEC.loader.exec_module(web_server)


class WebTest(unittest.TestCase):
    """`server` serves files of the test."""

    def setUp(self) -> None:
        super().setUp()
        server = web_server.serving()
        self.server = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)

"""Runs every cell of the table in docs/onnx-tools.md with a model above 2 GiB: an hour, up to 12 GiB of memory and 10 GiB of disk."""

from __future__ import annotations

import unittest

import tools_slow_test


class Over2GiB(tools_slow_test.Table):
    MIB = 2300
    SECONDS = 900


if __name__ == "__main__":
    unittest.main(defaultTest="Over2GiB")

"""Runs the Python blocks of one page, one after another, in one namespace: reads the names of files from its standard
input, and answers each with a line, `ok` or `failed`. What the blocks print goes to the standard error."""

from __future__ import annotations

import contextlib
import sys
import traceback

names = {"__name__": "__main__"}
for line in sys.stdin:
    path = line.rstrip("\n")
    try:
        with open(path) as file, contextlib.redirect_stdout(sys.stderr):
            exec(compile(file.read(), path, "exec"), names)
        print("ok", flush=True)
    except BaseException:
        traceback.print_exc()
        print("failed", flush=True)

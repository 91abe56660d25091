"""Keeps modules in the current folder out of our own commands. Imports nothing that is not loaded when Python starts: any import
before `leave_out` might run such a module."""

import os
import sys


def is_command() -> bool:
    """Returns whether this process is `onnxar-py`, or is about to be `python -m onnxar`."""
    if os.path.basename(sys.argv[0]) == "onnxar-py":
        return True
    if sys.argv[0] != "-m":  # what runpy puts there until it has found the module
        return False
    word = sys.orig_argv[len(sys.orig_argv) - len(sys.argv)]  # also of `-monnxar`
    return word in ("onnxar", "onnxar.__main__") or (word[:1] == "-" and word.endswith(("monnxar", "monnxar.__main__")))


def leave_out() -> None:
    """Removes the current folder from the places for modules: `python -m` puts it there, and so does PYTHONPATH with an empty
    part. If this package itself is there, nothing is removed: what would be protected was run already."""
    try:
        current = os.path.realpath(os.getcwd())
        if os.path.dirname(os.path.dirname(os.path.realpath(__file__))) != current:
            sys.path[:] = [place for place in sys.path if os.path.realpath(place) != current]
    except OSError:  # the current folder was removed, so nothing is in it
        pass

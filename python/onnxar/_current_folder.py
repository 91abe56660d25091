"""Keeps modules in the current folder out of our own commands.

Imports nothing that is not loaded when Python starts: any import before `leave_out` might run such a module.
"""

import os
import sys


def is_command() -> bool:
    """Returns True if this process is `onnxar-py`, or is about to be `python -m onnxar`."""
    arguments = getattr(sys, "argv", None) or [""]  # a program that embeds Python may set none
    if os.path.splitext(os.path.basename(arguments[0]))[0] == "onnxar-py":
        return True
    if arguments[0] != "-m":  # what runpy puts there until it has found the module
        return False
    word = "".join(sys.orig_argv[-len(arguments) :][:1])  # before the arguments of the module: its name, or `-monnxar`
    return word in ("onnxar", "onnxar.__main__") or (word[:1] == "-" and word.endswith(("monnxar", "monnxar.__main__")))


def leave_out() -> None:
    """Removes the current folder from sys.path, where `python -m` puts it, and PYTHONPATH with an empty part. If this package itself
    is in it, removes nothing: the modules to protect against have already run."""
    try:
        current = _real(os.getcwd())
        if _real(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))) != current:
            sys.path[:] = [place for place in sys.path if _real(place) != current]
    except OSError:  # the current folder was removed, so nothing is in it
        pass


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))

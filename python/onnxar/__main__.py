"""`onnxar-py`, or `python -m onnxar`: the command `onnxar` of this installation, and verbs that only the package has."""

from __future__ import annotations

import importlib
import os
import sys

from onnxar._command import executable
from onnxar._errors import Error

# Modules with a function `main(arguments)`, which returns the exit code.
VERBS = {
    "cache": "onnxar._cache_command",
    "sign": "onnxar._sign_command",
    "verify": "onnxar._verify_command",
}


def main() -> None:
    try:
        if len(sys.argv) > 1 and sys.argv[1] in VERBS:
            sys.exit(importlib.import_module(VERBS[sys.argv[1]]).main(sys.argv[2:]))
        command = executable()
    except (Error, ModuleNotFoundError) as error:
        sys.exit(str(error))
    os.execv(command, ["onnxar", *sys.argv[1:]])


if __name__ == "__main__":
    main()

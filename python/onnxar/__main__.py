"""`python -m onnxar`: the command `onnxar` of this installation."""

from __future__ import annotations

import os
import sys

from onnxar._command import executable
from onnxar._errors import Error


def main() -> None:
    try:
        command = executable()
    except Error as error:
        sys.exit(str(error))
    os.execv(command, ["onnxar", *sys.argv[1:]])


if __name__ == "__main__":
    main()

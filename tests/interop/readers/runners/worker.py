"""Runs one tool in its own environment: worker.py RUNNER JOBS. A line of JOBS has the paths of a model, of its input, and of the
output to write, separated by tabs.

The runner is a module beside this file; `run(model, x, folder)` returns y, an array, or what the tool says of the model as
text. `folder` is empty. Whatever it raises is the tool's refusal, and is written to OUTPUT.refused.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import numpy as np


def read_array(path: str) -> np.ndarray:
    dims, values = Path(path).read_text().split("\n")[:2]
    return np.array([float(each) for each in values.split()], np.float32).reshape([int(each) for each in dims.split()])


def write_array(path: str, array: np.ndarray) -> None:
    values = " ".join(f"{value:.9g}" for value in np.asarray(array, np.float64).ravel())
    Path(path).write_text(f"{' '.join(map(str, np.shape(array)))}\n{values}\n")


def do(runner: str, model: str, given: str, output: str) -> None:
    with tempfile.TemporaryDirectory(dir=Path(output).parent) as folder:
        try:
            result = importlib.import_module(f"runners.{runner}").run(model, read_array(given), folder)
        except Exception as error:
            Path(output + ".refused").write_text(f"{type(error).__name__}: {error}")
            return
    if isinstance(result, str):
        Path(output).write_text(result + "\n")
    else:
        write_array(output, result)


def main() -> None:
    runner, jobs = sys.argv[1:]
    for line in Path(jobs).read_text().splitlines():
        do(runner, *line.split("\t"))


if __name__ == "__main__":
    main()

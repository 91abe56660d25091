"""Times opening an archive: opening_worker.py ARCHIVE COUNT prints milliseconds of CPU time. Run by the Python that has onnxar (opening.py)."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import onnxar

RUNS = 15


def milliseconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return statistics.median(times) * 1e3


def main() -> None:
    path, count = sys.argv[1], int(sys.argv[2])

    def arrays() -> None:
        if len([array.size for array in onnxar.open(path).values()]) != count:
            raise SystemExit("the archive has a different number of tensors")

    print("open", milliseconds(lambda: onnxar.open(path)))
    print("names", milliseconds(lambda: list(onnxar.open(path))))
    print("arrays", milliseconds(arrays))


if __name__ == "__main__":
    main()
